/* eenet evaluate: what candidates would have earned in the events of a log. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/evaluate_request.h"
#include "cli/evaluation_table.h"
#include "cli/hint.h"
#include "cli/interrupt.h"
#include "evaluate/evaluations/evaluation_file.h"
#include "evaluate/evaluations/evaluation_warm.h"

/* ---- progress ---- */

typedef struct audience {
    const command *self;
    const evaluate_request *request;
    bool shown;         /* stderr is a terminal */
    const char *action; /* what it is doing: "" or "training: " */
    bool drawn;
    bool failed; /* a candidate failed, or a line could not be printed */
} audience;

static bool on_wanted(void *context)
{
    (void)context;
    return !interrupt_came();
}

static void clear_line(audience *who)
{
    if (who->drawn) fprintf(stderr, "\r\033[K");
    who->drawn = false;
}

/* The share of the log that was read. Small logs are read ahead, so events say more than bytes. NaN: unknown. */
static double share_of(const evaluation_standing *now)
{
    if (now->total_events) return fmin((double)now->events / (double)now->total_events, 1.0);
    return now->total_bytes ? (double)now->bytes / (double)now->total_bytes : (double)NAN;
}

/* "12345 events, 34% of the log, 51000 events/s" */
static void on_standing(void *context, const evaluation_standing *now)
{
    audience *who = context;
    if (!who->shown) return;
    fprintf(stderr, "\r%s%" PRIu64 " events", who->action, now->events);
    if (!isnan(share_of(now))) fprintf(stderr, ", %.0f%% of the log", 100.0 * share_of(now));
    if (now->seconds > 0.0 && now->events) fprintf(stderr, ", %.0f events/s", (double)now->events / now->seconds);
    fprintf(stderr, "\033[K");
    fflush(stderr);
    who->drawn = true;
}

static void on_ended(void *context, size_t place, const evaluation_result *result)
{
    audience *who = context;
    clear_line(who);
    if (!result->failure.status) return;
    command_failed(who->self, "%s: %s", who->request->whole.candidates[place].text, result->failure.message);
    who->failed = true;
}

static evaluation_watch watch_of(audience *who)
{
    return (evaluation_watch){on_wanted, on_standing, on_ended, who};
}

/* ---- the command ---- */

/* After all candidates: each line says whether its candidate is on the Pareto front. */
static ee_status print_lines(const evaluation_request *request, const evaluation_result *results, ee_error *error)
{
    pareto_place *fronts = NULL;
    ee_status status = pareto_create(request, results, &fronts, error);
    for (size_t i = 0; i < request->candidate_count && !status; i++) {
        char *line = NULL;
        size_t length;
        if (!results[i].finished) continue;
        status = evaluations_format(request, &results[i], fronts ? &fronts[i] : NULL, &line, &length, error);
        if (!status) fwrite(line, 1, length, stdout);
        memory_free(line);
    }
    memory_free(fronts);
    return status;
}

/* "eenet evaluate: interrupted; missing: eenet, linucb; the same command resumes it" */
static int tell_interrupted(const command *self, const evaluation_request *request, const evaluation_result *results)
{
    size_t named = 0;
    fprintf(stderr, "eenet %s: interrupted", self->name);
    for (size_t i = 0; i < request->candidate_count; i++)
        if (!results[i].finished) fprintf(stderr, "%s%s", named++ ? ", " : "; missing: ", request->candidates[i].text);
    fprintf(stderr, "%s\n", request->folder ? "; the same command resumes it" : "");
    return EXIT_INTERRUPTED;
}

static int warm(const command *self, const evaluate_request *request, const evaluation_result *results, audience *who)
{
    const evaluation_request *whole = &request->whole;
    ee_error error;
    bool finished;
    size_t place = request->warm_name ? 0 : evaluation_best(whole, results, true);
    while (request->warm_name && strcmp(whole->candidates[place].text, request->warm_name) != 0) place++;
    if (place == whole->candidate_count)
        return command_failed(self, "--warm: no policy has a reliable value; choose one, such as --warm %s=%s",
                              whole->candidates[0].text, request->warm_path);
    evaluation_watch watch = watch_of(who);
    who->action = "training: ";
    ee_status status = evaluation_warm(whole, place, &watch, request->warm_path, &finished, &error);
    clear_line(who);
    if (status) return command_failed(self, "%s", error.message);
    if (!finished) return tell_interrupted(self, whole, results);
    if (!request->given[EVALUATE_JSON])
        printf("\nSaved %s, trained on the whole log, to %s.\n", whole->candidates[place].text, request->warm_path);
    return EXIT_DONE;
}

static bool is_interrupted(const evaluation_request *request, const evaluation_result *results)
{
    bool any = false;
    for (size_t i = 0; i < request->candidate_count; i++)
        any = any || (!results[i].finished && !results[i].failure.status);
    return any;
}

static int play(const command *self, const evaluate_request *request, evaluation_result *results)
{
    const evaluation_request *whole = &request->whole;
    audience who = {.self = self, .request = request, .shown = isatty(STDERR_FILENO) == 1, .action = ""};
    evaluation_watch watch = watch_of(&who);
    ee_error error;
    interrupt_catch(self->name);
    ee_status status = evaluation_run(whole, &watch, results, &error);
    clear_line(&who);
    if (status) return command_refused(self, &error);
    bool json = request->given[EVALUATE_JSON];
    status = json ? print_lines(whole, results, &error) : evaluation_table_print(whole, results, &error);
    if (status) return command_refused(self, &error);
    if (is_interrupted(whole, results)) return tell_interrupted(self, whole, results);
    if (whole->folder && !json) hint_report("evaluations", whole->folder);
    int code = request->warm_path ? warm(self, request, results, &who) : EXIT_DONE;
    return code ? code : who.failed ? EXIT_FAILED : EXIT_DONE;
}

static int run(const command *self, int argc, char **argv)
{
    evaluate_request request = {0};
    evaluation_result *results = NULL;
    ee_error error;
    int code = evaluate_request_read(self, argc, argv, &request);
    if (!code && memory_create(NULL, &results, request.whole.candidate_count, sizeof *results, &error))
        code = command_refused(self, &error);
    if (!code) code = play(self, &request, results);
    if (results) evaluation_release(results, request.whole.candidate_count);
    memory_free(results);
    evaluate_request_release(&request);
    return code;
}

const command command_evaluate = {
    .name = "evaluate",
    .form = "LOG -p CANDIDATE[,...] [-e ESTIMATOR[,...]] [-i INTERVAL] [-m MODE] [-o DIR] [-j JOBS] [--json] "
            "[--warm FILE] [FLAG]...",
    .summary = "estimate from a log what other policies would have earned",
    .details =
        "LOG: a file of dsjson, CSV, Vowpal Wabbit's text or .eelog, compressed or not; - for standard input;\n"
        "open-bandit:DIR; vw:FILE,format=cb|cb_adf|ccb|slates (rewards are negative costs);\n"
        "csv:FILE,action=COLUMN,probability=COLUMN,reward=COLUMN,context=COLUMN+COLUMN,ignore=COLUMN+COLUMN.\n"
        "Candidates: any policy (learns from the log); uniform; first (the baseline: what happens without a bandit);\n"
        "arm:NAME or arm:NUMBER (from 0); logged (the logging policy); model:FILE (a saved bandit, learns nothing\n"
        "more); learning:FILE (a saved bandit that keeps learning); file:FILE (probabilities, one row per\n"
        "event: CSV whose header names the actions, or .npy).\n"
        "Estimators: ips, snips, dm, dr, sndr, switch-dr, dros, sg-ips, sg-dr, clipped, clipped-dr, mrdr, replay, el,\n"
        "cressie-read. Those with a reward model use f1, the exploitation network of EE-Net, or ridge regression.\n"
        "Intervals: cs (anytime-valid: look as often as you like), normal, student, bootstrap, clopper-pearson,\n"
        "hoeffding, bernstein, cressie-read.\n"
        "Modes: progressive (score each event, then learn from it); split (learn from the first part, evaluate on the\n"
        "rest); cross (cross-fitting in folds; reads the log twice).\n"
        "Slots: events with several slots are evaluated slot by slot, given what the log showed in earlier slots. The\n"
        "reward of a slot depends on: cascade, its own action and earlier slots; whole, all slots; own, its own "
        "action\n"
        "only (least variance, strongest assumption). first evaluates only the first slot.\n"
        "Decisions that are not randomised (repeats of sticky decisions; a baseline that does not draw) are left out.\n"
        "Metrics of the log are estimated like the reward: --metrics -refund,margin=0:100 chooses some; - says that\n"
        "smaller values are better, LOW:HIGH gives the possible values. Pareto front: no other candidate is at least\n"
        "as good in the reward and all metrics, and better in one.\n"
        "The table shows the value of each candidate in reward per event and its difference from the logging policy;\n"
        "* marks the best. Read the sentences first: they say if the log's propensities look wrong, or if a candidate\n"
        "chooses actions that never occur in the log.\n"
        "With -o, DIR/evaluations.jsonl stores the results; the same command evaluates only what is missing.\n"
        "Exit status: 0 success, 1 a candidate or file failed, 2 wrong usage, 130 after Ctrl-C.\n",
    .flags = evaluate_flags,
    .flag_count = EVALUATE_FLAGS,
    .run = run,
};
