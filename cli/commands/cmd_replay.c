/* eenet replay: repeats a server's decisions and training from its log, and compares every bit. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/folder_check.h"
#include "cli/interrupt.h"
#include "data/values/log_time.h"
#include "data/values/text.h"
#include "serve/model/replay.h"
#include "serve/store/place_name.h"
#include "serve/store/places/database_check.h"

enum { BANDIT, FROM, UNTIL, BEGINNING, JSON, FLAGS };

static const flag flags[FLAGS] = {
    [BANDIT] = {'b', "bandit", "BANDIT", "replay only this bandit"},
    [FROM] = {'\0', "from", "TIME", "only decisions from this time on, such as 2026-11-16T08:00:00Z"},
    [UNTIL] = {'\0', "until", "TIME", "only decisions before this time"},
    [BEGINNING] = {'\0', "from-beginning", NULL, "with --from: start at the beginning of the log, not at a checkpoint"},
    [JSON] = {'\0', "json", NULL, "print the result as one line of JSON"},
};

/* ---- arguments ---- */

static int read_time(const command *self, int got, const char *given, int64_t *microseconds)
{
    double seconds;
    if (!given) return EXIT_DONE;
    if (!log_time_parse((json_text){given, strlen(given)}, &seconds))
        return command_misused(self, "--%s: expected a time such as 2026-11-16T08:00:00Z, got '%s'", flags[got].name,
                               given);
    *microseconds = (int64_t)llround(seconds * 1e6);
    return EXIT_DONE;
}

static int read_arguments(const command *self, int argc, char **argv, const char **given, replay_request *out)
{
    arguments from = arguments_of(self, argc, argv);
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

static bool draw(void *context, const char *bandit, double share)
{
    (void)context;
    if (isatty(STDERR_FILENO) == 1) {
        fprintf(stderr, "\r\033[K%s %.0f%%", bandit, 100 * share);
        fflush(stderr);
    }
    return !interrupt_came();
}

static const char *ending(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_found(const replay_result *found)
{
    printf("replayed %" PRIu64 " bandit%s, %" PRIu64 " events in %" PRIu64 " steps: %" PRIu64 " decision%s and %" PRIu64
           " model%s\n",
           found->bandits, ending(found->bandits), found->events, found->steps, found->decisions,
           ending(found->decisions), found->checkpoints, ending(found->checkpoints));
    if (found->skipped)
        printf("%" PRIu64 " decision%s skipped: the log before them has been removed\n", found->skipped,
               ending(found->skipped));
    if (found->erased)
        printf("%" PRIu64 " decision%s erased; %" PRIu64 " decision%s close to them cannot be proven\n", found->erased,
               ending(found->erased), found->unproven, ending(found->unproven));
    if (!found->first[0]) {
        printf("all %sare identical to the log\n", found->erased ? "others " : "");
        return;
    }
    printf("DIFFERENT from the log: %" PRIu64 " decision%s, %" PRIu64 " model%s\nfirst difference: %s\n",
           found->other_decisions, ending(found->other_decisions), found->other_models, ending(found->other_models),
           found->first);
}

/* A time range without a decision is a mistake rather than a success. */
static int fail_empty(const command *self, const replay_result *found)
{
    char first[LOG_TIME_SIZE], last[LOG_TIME_SIZE];
    if (!found->log_last) return command_failed(self, "nothing to replay: the log has no decisions");
    log_time_format((double)found->log_first / 1e6, first);
    log_time_format((double)found->log_last / 1e6, last);
    return command_failed(self, "nothing to replay: no decisions in this time range; the log covers %s to %s", first,
                          last);
}

static void print_json(const replay_result *found)
{
    text line = text_start(NULL);
    text_json(&line, (json_text){found->first, strlen(found->first)});
    printf("{\"bandits\": %" PRIu64 ", \"events\": %" PRIu64 ", \"steps\": %" PRIu64 ", \"decisions\": %" PRIu64
           ", \"checkpoints\": %" PRIu64 ", \"passed_over\": %" PRIu64 ", \"erased\": %" PRIu64
           ", \"unproven\": %" PRIu64 ", \"other_decisions\": %" PRIu64 ", \"other_models\": %" PRIu64
           ", \"first\": %s}\n",
           found->bandits, found->events, found->steps, found->decisions, found->checkpoints, found->skipped,
           found->erased, found->unproven, found->other_decisions, found->other_models,
           found->first[0] && line.bytes ? line.bytes : "null");
    memory_free(line.bytes);
}

static int replay(const command *self, replay_request *request, const char *const *given)
{
    replay_result found;
    ee_error error;
    request->progress = draw;
    ee_status status = replay_run(request, &found, &error);
    if (isatty(STDERR_FILENO) == 1) fprintf(stderr, "\r\033[K");
    if (status && interrupt_came()) return EXIT_INTERRUPTED;
    if (status) return command_failed(self, "%s", error.message);
    bool empty = !found.decisions && !found.checkpoints && !found.skipped && !found.first[0];
    if (given[JSON]) print_json(&found);
    if (empty && (given[FROM] || given[UNTIL])) return fail_empty(self, &found);
    if (!given[JSON]) print_found(&found);
    return found.first[0] ? EXIT_FAILED : EXIT_DONE;
}

static bool still_wanted(void *context, double share)
{
    status_line_draw(context, "copying", share);
    return !interrupt_came();
}

/* Replays a snapshot of a database: what is replayed is what was checked. */
static int replay_database(const command *self, replay_request *request, const char *const *given)
{
    const char *where = request->folder;
    database_snapshot snapshot;
    status_line line = {{0}};
    ee_error error;
    interrupt_catch(self->name);
    interrupt_catch_termination();
    ee_status status = database_snapshot_create(where, still_wanted, &line, &snapshot, &error);
    status_line_clear(&line);
    if (status && interrupt_came()) return EXIT_INTERRUPTED;
    if (status) return command_failed(self, "%s", error.message);
    request->folder = snapshot.folder;
    int code = folder_check(self, snapshot.folder, where);
    if (!code) code = replay(self, request, given);
    database_snapshot_remove(&snapshot);
    return code;
}

static int run(const command *self, int argc, char **argv)
{
    const char *given[FLAGS] = {NULL};
    replay_request request = {.until = INT64_MAX};
    int code = read_arguments(self, argc, argv, given, &request);
    if (code) return code;
    if (place_is_database(request.folder)) return replay_database(self, &request, given);
    code = folder_check(self, request.folder, request.folder);
    return code ? code : replay(self, &request, given);
}

const command command_replay = {
    .name = "replay",
    .form = "DIR [-b BANDIT] [--from TIME] [--until TIME] [--from-beginning] [--json]",
    .summary = "replay a server's decisions and models, and compare them with its log",
    .details =
        "DIR is the folder of 'eenet serve'; the server may be running. Each decision is repeated on the version\n"
        "of the model that made it, and each saved model is trained again from the log. All bits must match.\n"
        "If DIR is a database (postgresql://...), a snapshot of it is copied into a temporary folder ($TMPDIR).\n"
        "The folder is checked first, as by 'eenet check': a damaged one is not replayed.\n"
        "Exit status: 0 if everything is identical, 1 if something differs or is damaged, on failure, or if there is\n"
        "nothing to replay between --from and --until; 2 for wrong usage.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
