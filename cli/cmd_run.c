/* eenet run: plays policies on a data set and prints what it cost them. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "command.h"
#include "lab/results.h"
#include "progress.h"
#include "run_request.h"

/* What a signal handler may touch is a global. */
static volatile sig_atomic_t interrupted;

static volatile sig_atomic_t interrupted_at; /* second of the clock */

/* A second Ctrl-C ends the program at once, should a round take too long. One that comes within the same second or the
 * next is taken for the first: timeout(1) sends two. */
static void interrupt(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (interrupted && now.tv_sec > interrupted_at + 1) {
        signal(number, SIG_DFL);
        raise(number);
    }
    if (!interrupted) interrupted_at = (sig_atomic_t)now.tv_sec;
    interrupted = 1;
}

static void catch_interrupt(void)
{
    struct sigaction before, action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    /* A program started in the background of a script has it ignored, and should. */
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGINT, &action, NULL);
}

/* ---- while it runs ---- */

typedef struct audience {
    const command *self;
    progress line;
    bool json;
    bool failed; /* a line of JSON could not be written: more of them would have no reader */
    char *text;  /* the line */
    size_t capacity;
} audience;

static bool on_round(void *context, const run_job *job, const run_result *so_far)
{
    audience *who = context;
    progress_round(&who->line, job, so_far);
    return !interrupted;
}

static void print_json(audience *who, const run_report *report)
{
    ee_error error;
    size_t length = results_format(report, who->text, who->capacity);
    if (memory_grow(&who->text, &who->capacity, length + 1, 1, &error)) {
        command_failed(who->self, "%s", error.message);
        who->failed = true;
        return;
    }
    results_format(report, who->text, who->capacity);
    if (fputs(who->text, stdout) >= 0 && fflush(stdout) == 0) return;
    command_failed(who->self, "could not write to standard output: %s", strerror(errno));
    clearerr(stdout); /* it has been told */
    who->failed = true;
}

static bool on_ended(void *context, const run_report *report)
{
    audience *who = context;
    progress_run_ended(&who->line);
    if (report->result->status) {
        progress_clear(&who->line);
        command_failed(who->self, "%s, seed %" PRIu64 ": %s", report->job->policy, report->job->seed,
                       report->error->message);
    }
    if (who->json && report->result->finished) {
        progress_clear(&who->line);
        print_json(who, report);
    }
    return !interrupted && !who->failed;
}

/* ---- the table ---- */

typedef struct row {
    const char *policy;
    run_summary summary;
    bool best;
    char regret[32], deviation[32], optimal[16], seconds[32], runs[48];
} row;

static size_t larger(size_t width, const char *text)
{
    return strlen(text) > width ? strlen(text) : width;
}

static void format_row(row *into, size_t seeds)
{
    const run_summary *summary = &into->summary;
    snprintf(into->runs, sizeof into->runs, "%zu/%zu", summary->runs, seeds);
    if (!summary->runs) {
        strcpy(into->regret, "-");
        strcpy(into->optimal, "-");
        strcpy(into->seconds, "-");
        return;
    }
    snprintf(into->regret, sizeof into->regret, "%.1f", summary->regret);
    snprintf(into->optimal, sizeof into->optimal, "%.1f%%", 100.0 * summary->optimal);
    snprintf(into->seconds, sizeof into->seconds, "%.2f", summary->seconds);
    if (summary->runs > 1) snprintf(into->deviation, sizeof into->deviation, "%.1f", summary->regret_deviation);
}

/* Marks the least regret, among policies that have met the same rounds: all of them. */
static void mark_best(row *rows, size_t count, size_t seeds)
{
    size_t compared = 0;
    double least = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].summary.runs < seeds) continue;
        if (!compared || rows[i].summary.regret < least) least = rows[i].summary.regret;
        compared++;
    }
    for (size_t i = 0; i < count && compared > 1; i++)
        rows[i].best = rows[i].summary.runs == seeds && rows[i].summary.regret <= least;
}

/* The widths in columns of the terminal. The plus-minus sign is two bytes and one column, so printf cannot pad it. */
static void print_rows(const row *rows, size_t count, bool whole)
{
    size_t policy = strlen("policy"), regret = 0, deviation = 0;
    for (size_t i = 0; i < count; i++) {
        policy = larger(policy, rows[i].policy);
        regret = larger(regret, rows[i].regret);
        deviation = larger(deviation, rows[i].deviation);
    }
    size_t both = regret + (deviation ? 3 + deviation : 0);
    if (both < strlen("regret")) both = strlen("regret");
    size_t fill = both - regret - (deviation ? 3 + deviation : 0);
    printf("  %-*s  %*s  optimal  seconds%s\n", (int)policy, "policy", (int)both, "regret", whole ? "" : "  runs");
    for (size_t i = 0; i < count; i++) {
        const row *entry = &rows[i];
        const char *sign = entry->deviation[0] ? " \302\261 " : "   ";
        printf("%c %-*s  %*s%*s", entry->best ? '*' : ' ', (int)policy, entry->policy, (int)fill, "", (int)regret,
               entry->regret);
        if (deviation) printf("%s%*s", sign, (int)deviation, entry->deviation);
        printf("  %7s  %7s", entry->optimal, entry->seconds);
        if (!whole) printf("  %4s", entry->runs);
        printf("\n");
    }
}

static int print_table(const command *self, const run_request *request, const run_result *results)
{
    row *rows;
    ee_error error;
    size_t count = request->policy_count, seeds = request->seeds.count;
    ee_status status = memory_create(&rows, count, sizeof *rows, &error);
    if (status) return command_failed(self, "%s", error.message);
    bool whole = true;
    for (size_t i = 0; i < count && !status; i++) {
        rows[i].policy = request->policies[i].name;
        status = runner_summarize(results + i * seeds, seeds, &rows[i].summary, &error);
        if (!status) format_row(&rows[i], seeds);
        whole = whole && rows[i].summary.runs == seeds;
    }
    if (!status) {
        mark_best(rows, count, seeds);
        printf("%s, %" PRIu64 " rounds, seed%s ", dataset_text(request->data), request->rounds, seeds > 1 ? "s" : "");
        seeds_print(stdout, request->seeds.values, seeds);
        printf("\n\n");
        print_rows(rows, count, whole);
    }
    memory_free(rows);
    return status ? command_failed(self, "%s", error.message) : EXIT_DONE;
}

/* "eenet run: interrupted; missing: greedy seeds 3-4; uniform seeds 0-4" */
static int print_missing(const command *self, const run_request *request, const run_result *results)
{
    ee_error error;
    uint64_t *missing;
    size_t seeds = request->seeds.count, named = 0;
    if (memory_create(&missing, seeds, sizeof *missing, &error)) return command_failed(self, "%s", error.message);
    fprintf(stderr, "eenet %s: interrupted", self->name);
    for (size_t i = 0; i < request->policy_count; i++) {
        size_t count = 0;
        for (size_t k = 0; k < seeds; k++)
            if (!results[i * seeds + k].finished) missing[count++] = request->seeds.values[k];
        if (!count) continue;
        fprintf(stderr, "%s %s seed%s ", named++ ? ";" : "; missing:", request->policies[i].name, count > 1 ? "s" : "");
        seeds_print(stderr, missing, count);
    }
    fprintf(stderr, "\n");
    memory_free(missing);
    return EXIT_INTERRUPTED;
}

static int run(const command *self, int count, char **words)
{
    run_request request = {0};
    run_result *results = NULL;
    audience who = {.self = self};
    ee_error error;
    int code = run_request_read(self, count, words, &request);
    if (code) goto done;
    if (memory_create(&results, request.job_count, sizeof *results, &error)) {
        code = command_failed(self, "%s", error.message);
        goto done;
    }
    catch_interrupt();
    who.json = request.json;
    who.line = progress_start(request.job_count);
    run_watch watch = {on_round, on_ended, &who};
    runner_run_all(request.jobs, request.job_count, &watch, results, NULL); /* on_ended has said what failed */
    progress_clear(&who.line);
    if (!request.json && print_table(self, &request, results)) code = EXIT_FAILED;
    for (size_t i = 0; i < request.job_count; i++)
        if (!results[i].finished || who.failed) code = EXIT_FAILED;
    if (interrupted) code = print_missing(self, &request, results);
done:
    memory_free(who.text);
    memory_free(results);
    run_request_release(&request);
    return code;
}

const command command_run = {
    .name = "run",
    .form = "-d DATASET -p POLICY[,POLICY...] [-T ROUNDS] [-s SEEDS] [--set POLICY.OPTION=VALUE]... [--json]",
    .summary = "play policies on a data set and print their regret",
    .details = "Policies with the same seed meet the same rounds. The table has the mean regret and its standard\n"
               "deviation over the seeds, the share of rounds in which the best arm was played and the seconds of\n"
               "processor time a run; * marks the least regret. 'eenet.f1.width=50' sets the option for every\n"
               "preset of eenet, 'eenet:paper.f1.width=50' for that preset alone; what is given later wins.\n"
               "Ctrl-C ends the runs at the next round and prints what is done.\n"
               "Exit status: 0, 1 where a run failed, 2 for wrong usage, 130 after Ctrl-C.\n",
    .flags = run_request_flags,
    .flag_count = RUN_REQUEST_FLAGS,
    .run = run,
};
