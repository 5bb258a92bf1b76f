#include "log_flags.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/log_time.h"

static int take_aggregation(const command *self, const char *value, log_options *options)
{
    static const char *const names[] = {
        [LOG_REWARD_LABEL] = "label", [LOG_REWARD_FIRST] = "first", [LOG_REWARD_LAST] = "last",
        [LOG_REWARD_SUM] = "sum",     [LOG_REWARD_MEAN] = "mean",   [LOG_REWARD_MAX] = "max",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], value) != 0) continue;
        options->aggregation = (log_aggregation)i;
        return EXIT_DONE;
    }
    return command_misused(self, "--reward must be label, first, last, sum, mean or max, got '%s'", value);
}

static int take_time(const command *self, int got, const char *value, double *time)
{
    if (log_time_parse((json_text){value, strlen(value)}, time)) return EXIT_DONE;
    return command_misused(self, "--%s must be a time, as 2026-05-18 or 2026-05-18T13:00:00Z, got '%s'",
                           self->flags[got].name, value);
}

int log_flags_take(const command *self, int got, const char *value, log_options *options)
{
    char *end;
    switch (got) {
    case LOG_FLAG_REWARD:
        return take_aggregation(self, value, options);
    case LOG_FLAG_FROM:
        return take_time(self, got, value, &options->from);
    case LOG_FLAG_UNTIL:
        return take_time(self, got, value, &options->until);
    case LOG_FLAG_STRICT:
        options->strict = true;
        return EXIT_DONE;
    default:
        options->default_reward = strtod(value, &end);
        if (end != value && !*end && isfinite(options->default_reward)) return EXIT_DONE;
        return command_misused(self, "--%s must be a number, got '%s'", self->flags[got].name, value);
    }
}
