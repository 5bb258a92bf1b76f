/* eenet replay: proof that a server's log is whole, and that its models and answers are what the log makes. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "command.h"
#include "data/log_time.h"
#include "data/text.h"
#include "serve/replay.h"

enum { BANDIT, FROM, UNTIL, BEGINNING, JSON, FLAGS };

static const flag flags[FLAGS] = {
    [BANDIT] = {'b', "bandit", "BANDIT", "this one alone"},
    [FROM] = {'\0', "from", "TIME", "decisions from this time on, as 2026-11-16T08:00:00Z"},
    [UNTIL] = {'\0', "until", "TIME", "decisions before this time"},
    [BEGINNING] = {'\0', "from-beginning", NULL, "with --from: from the log's beginning, not from a checkpoint"},
    [JSON] = {'\0', "json", NULL, "what was found as a line of JSON"},
};

/* ---- arguments ---- */

static int read_time(const command *self, int got, const char *given, int64_t *microseconds)
{
    double seconds;
    if (!given) return EXIT_DONE;
    if (!log_time_parse((json_text){given, strlen(given)}, &seconds))
        return command_misused(self, "--%s must be a time as 2026-11-16T08:00:00Z, got '%s'", flags[got].name, given);
    *microseconds = (int64_t)llround(seconds * 1e6);
    return EXIT_DONE;
}

static int read_arguments(const command *self, int count, char **words, const char **given, replay_request *out)
{
    arguments from = arguments_of(self, count, words);
    const char *value;
    int got;
    while ((got = arguments_next(&from, &value)) != ARGUMENT_END) {
        if (got == ARGUMENT_BAD) return EXIT_USAGE;
        if (got != ARGUMENT_WORD)
            given[got] = value ? value : "";
        else if (!out->folder)
            out->folder = value;
        else
            return command_misused(self, "expected one folder, got '%s' too", value);
    }
    if (!out->folder) return command_misused(self, "expected the server's folder");
    out->bandit = given[BANDIT];
    out->from_beginning = given[BEGINNING];
    int code = read_time(self, FROM, given[FROM], &out->from);
    return code ? code : read_time(self, UNTIL, given[UNTIL], &out->until);
}

/* ---- printing ---- */

static void draw(void *context, const char *bandit, double share)
{
    (void)context;
    fprintf(stderr, "\r\033[K%s %.0f%%", bandit, 100 * share);
    fflush(stderr);
}

static const char *ending(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_found(const replay_result *found)
{
    printf("%" PRIu64 " bandit%s, %" PRIu64 " events in %" PRIu64 " steps: %" PRIu64 " decision%s and %" PRIu64
           " model%s made again\n",
           found->bandits, ending(found->bandits), found->events, found->steps, found->decisions,
           ending(found->decisions), found->checkpoints, ending(found->checkpoints));
    if (found->passed_over)
        printf("%" PRIu64 " decision%s not made again: the log before them is no longer kept\n", found->passed_over,
               ending(found->passed_over));
    if (!found->first[0]) {
        printf("all of them are as the log says\n");
        return;
    }
    printf("NOT as the log says: %" PRIu64 " decision%s, %" PRIu64 " model%s\n%s\n", found->other_decisions,
           ending(found->other_decisions), found->other_models, ending(found->other_models), found->first);
}

static void print_json(const replay_result *found)
{
    text line = text_start(NULL);
    text_json(&line, (json_text){found->first, strlen(found->first)});
    printf("{\"bandits\": %" PRIu64 ", \"events\": %" PRIu64 ", \"steps\": %" PRIu64 ", \"decisions\": %" PRIu64
           ", \"checkpoints\": %" PRIu64 ", \"passed_over\": %" PRIu64 ", \"other_decisions\": %" PRIu64
           ", \"other_models\": %" PRIu64 ", \"first\": %s}\n",
           found->bandits, found->events, found->steps, found->decisions, found->checkpoints, found->passed_over,
           found->other_decisions, found->other_models, found->first[0] && line.bytes ? line.bytes : "null");
    memory_free(line.bytes);
}

static int run(const command *self, int count, char **words)
{
    const char *given[FLAGS] = {NULL};
    replay_request request = {.until = INT64_MAX};
    replay_result found;
    ee_error error;
    int code = read_arguments(self, count, words, given, &request);
    if (code) return code;
    bool shown = isatty(STDERR_FILENO) == 1;
    if (shown) request.progress = draw;
    ee_status status = replay_run(&request, &found, &error);
    if (shown) fprintf(stderr, "\r\033[K");
    if (status) return command_failed(self, "%s", error.message);
    if (given[JSON])
        print_json(&found);
    else
        print_found(&found);
    return found.first[0] ? EXIT_FAILED : EXIT_DONE;
}

const command command_replay = {
    .name = "replay",
    .form = "DIR [-b BANDIT] [--from TIME] [--until TIME] [--from-beginning] [--json]",
    .summary = "make a server's decisions and models again, and compare",
    .details = "DIR is what 'eenet serve --folder' was given; a server may be using it. Every decision is made again\n"
               "on the version of the model that made it, and every model that was saved is made again from the log.\n"
               "The exit status is 0 where all of it is equal, to the last bit, and 1 where something is not.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
