#include "log_flags.h"

#include <string.h>

#include "data/values/log_time.h"

int log_flags_collect(const command *self, int argc, char **argv, const char **log, const char **given,
                      take_again *more, void *context)
{
    arguments from = arguments_of(self, argc, argv);
    const char *value;
    for (int got, code = EXIT_DONE; (got = arguments_next(&from, &value)) != ARGUMENT_END;) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (got == ARGUMENT_WORD && *log) return command_misused(self, "expected one log, got '%s' too", value);
        if (got == ARGUMENT_WORD) {
            *log = value;
            continue;
        }
        if (more && more(self, got, value, context, &code)) {
            if (code) return code;
            continue;
        }
        if (given[got]) return command_misused(self, "--%s is given twice", self->flags[got].name);
        given[got] = value ? value : "";
    }
    return *log ? EXIT_DONE
                : command_misused(self, "expected a log: a file, '-', csv:FILE,..., vw:FILE,... or open-bandit:DIR");
}

int log_flags_time(const command *self, int got, const char *value, double *seconds)
{
    if (!value || log_time_parse((json_text){value, strlen(value)}, seconds)) return EXIT_DONE;
    return command_misused(self, "--%s: expected a time such as 2021-05-18 or 2021-05-18T13:28:29Z, got '%s'",
                           self->flags[got].name, value);
}

static int read_reward(const command *self, const char *value, log_aggregation *way)
{
    static const char *const words[] = {"label", "first", "last", "sum", "mean", "max"};
    if (!value) return EXIT_DONE;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i], value) != 0) continue;
        *way = (log_aggregation)i;
        return EXIT_DONE;
    }
    return command_misused(self, "--reward: expected label, first, last, sum, mean or max, got '%s'", value);
}

int log_flags_read(const command *self, const char *const *given, log_options *options)
{
    const char *missing = given[LOG_FLAG_DEFAULT_REWARD];
    options->strict = given[LOG_FLAG_STRICT] != NULL;
    int code = log_flags_time(self, LOG_FLAG_FROM, given[LOG_FLAG_FROM], &options->from);
    if (!code) code = log_flags_time(self, LOG_FLAG_UNTIL, given[LOG_FLAG_UNTIL], &options->until);
    if (!code) code = read_reward(self, given[LOG_FLAG_REWARD], &options->aggregation);
    if (!code) code = arguments_real(self, LOG_FLAG_DEFAULT_REWARD, missing, -1e9, 1e9, &options->default_reward);
    if (!code && missing && options->aggregation == LOG_REWARD_LABEL)
        code = command_misused(self, "--default-reward needs --reward first, last, sum, mean or max");
    return code;
}
