/* eenet run: runs policies on data sets and prints their regret. */
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "cli/interrupt.h"
#include "cli/json_lines.h"
#include "cli/plan.h"
#include "cli/results_table.h"
#include "cli/run_request.h"
#include "cli/session.h"
#include "cli/shards.h"
#include "cli/trained_model.h"
#include "data/logs/log.h"
#include "lab/grids/experiment.h"
#include "ranks/ranks.h"

static ee_status print_tables(const run_request *request, const run_result *results, ee_error *error)
{
    results_series *series;
    size_t policies = request->policy_count, seeds = request->seeds.count;
    ee_status status = memory_create(NULL, &series, policies, sizeof *series, error);
    for (size_t i = 0; i < request->dataset_texts.count && !status; i++) {
        for (size_t k = 0; k < policies; k++)
            series[k] = (results_series){request->policies[k].name, results + (i * policies + k) * seeds};
        const dataset *data = request->datasets[i];
        results_table of = {run_request_label(request, data),
                            data,
                            run_request_rounds(request, data),
                            series,
                            policies,
                            request->seeds.values,
                            seeds,
                            &request->late,
                            request->slots};
        if (i) printf("\n");
        status = results_table_print(&of, error);
    }
    memory_free(series);
    return status;
}

/* "eenet run: interrupted; missing: greedy seeds 3-4; uniform seeds 0-4" */
static ee_status print_missing(const command *self, const run_request *request, const run_result *results,
                               ee_error *error)
{
    uint64_t *missing;
    size_t seeds = request->seeds.count, named = 0;
    ee_status status = memory_create(NULL, &missing, seeds, sizeof *missing, error);
    if (status) return status;
    fprintf(stderr, "eenet %s: interrupted", self->name);
    for (size_t i = 0; i < request->job_count; i += seeds) {
        size_t count = 0;
        for (size_t k = 0; k < seeds; k++)
            if (!results[i + k].finished) missing[count++] = request->seeds.values[k];
        if (!count) continue;
        fprintf(stderr, "%s ", named++ ? ";" : "; missing:");
        if (request->dataset_texts.count > 1) fprintf(stderr, "%s ", run_request_label(request, request->jobs[i].data));
        fprintf(stderr, "%s seed%s ", request->jobs[i].policy, count > 1 ? "s" : "");
        seeds_print(stderr, missing, count);
    }
    fprintf(stderr, "%s\n", request->output ? "; the same command resumes it" : "");
    memory_free(missing);
    return EE_OK;
}

/* ---- the verb ---- */

enum { FLAG_JSON = REQUEST_FLAGS, FLAG_LOG, FLAG_SAVE, FLAGS };

static const flag flags[FLAGS] = {
    REQUEST_FLAG_LIST,
    [FLAG_JSON] = {'\0', "json", NULL, "print one line of JSON per finished run instead of the table"},
    [FLAG_LOG] = {'\0', "log", "FILE", "write a log of the decisions: .dsjson, .eelog or .csv (+ .gz or .zst)"},
    [FLAG_SAVE] = TRAINED_MODEL_FLAG,
};

typedef struct run_arguments {
    run_request request;
    bool json;
    const char *log;  /* NULL: none */
    const char *save; /* the same */
} run_arguments;

static int take(const command *self, int got, const char *value, void *context)
{
    run_arguments *into = context;
    if (got < REQUEST_FLAGS) return run_request_take(self, got, value, &into->request);
    if (got == FLAG_LOG && into->log) return command_misused(self, "--log is given twice");
    if (got == FLAG_SAVE && into->save) return command_misused(self, "--save is given twice");
    if (got == FLAG_LOG) into->log = value;
    if (got == FLAG_SAVE) into->save = value;
    if (got == FLAG_JSON) into->json = true;
    return EXIT_DONE;
}

/* The log of the one job. */
static int open_log(const command *self, const run_arguments *given, log_writer **log)
{
    const run_request *request = &given->request;
    ee_error error;
    *log = NULL;
    if (!given->log) return EXIT_DONE;
    if (request->output) return command_misused(self, "give --log or -o, not both");
    if (ranks_count() > 1) return command_misused(self, "--log does not work under MPI: start it without mpirun");
    if (request->job_count != 1)
        return command_misused(
            self, "--log records one run: expected one data set, one policy and one seed (-s 0), got %zu runs",
            request->job_count);
    run_job *job = &request->jobs[0];
    if (log_create(given->log, dataset_dim(job->data), log, &error)) return command_refused(self, &error);
    job->log = *log;
    return EXIT_DONE;
}

/* One data set has been played: its policies follow each other. */
static int save_best(const command *self, trained_model *model, const run_request *request, const run_result *results,
                     bool json)
{
    size_t seeds = request->seeds.count, count = request->policy_count;
    training_candidate *candidates;
    ee_error error;
    if (!model->path) return EXIT_DONE;
    if (memory_create(NULL, &candidates, count, sizeof *candidates, &error)) return command_refused(self, &error);
    for (size_t i = 0; i < count; i++)
        candidates[i] = (training_candidate){request->jobs[i * seeds], results + i * seeds};
    int code = trained_model_save(self, model, candidates, count, seeds, json ? stderr : stdout);
    memory_free(candidates);
    return code;
}

static bool any_finished(const run_request *request, const run_result *results)
{
    for (size_t i = 0; i < request->job_count; i++)
        if (results[i].finished) return true;
    return false;
}

/* What is played, and what came out. */
typedef struct run_play {
    const command *self;
    const run_arguments *given;
    run_result *results; /* (job_count) */
    json_lines lines;
    trained_model model;
    bool kept;     /* what has finished is in the folder */
    size_t played; /* runs, now */
} run_play;

/* What a shard says in place of the tables, which would have a part of the runs. */
static void print_shard(const run_play *of, int code)
{
    const run_request *request = &of->given->request;
    shard_end end = {.played = of->played, .complete = true};
    for (size_t i = 0; i < request->job_count; i++) end.complete = end.complete && of->results[i].finished;
    if (code == EXIT_INTERRUPTED)
        fprintf(stderr, "eenet %s: interrupted; the same command resumes it\n", of->self->name);
    else if (of->kept && !of->given->json)
        shards_print_end(request, &end);
}

/* Prints what came out: code is the exit status of the runs. */
static ee_status print_results(const run_play *of, int code, ee_error *error)
{
    const run_request *request = &of->given->request;
    bool some = any_finished(request, of->results);
    ee_status status = EE_OK;
    if (shard_is_part(request->shard)) {
        print_shard(of, code);
        return EE_OK;
    }
    if (!of->given->json && (code != EXIT_FAILED || some)) status = print_tables(request, of->results, error);
    if (!of->given->json && !status && of->kept && some) run_request_print_output(request);
    if (!status && code == EXIT_INTERRUPTED) status = print_missing(of->self, request, of->results, error);
    return status;
}

static void leave(void *context)
{
    run_play *of = context;
    of->kept = true;
    if (of->given->json) json_lines_print_rest(&of->lines);
    print_results(of, EXIT_INTERRUPTED, NULL);
    trained_model_release(&of->model);
}

/* Plays the jobs. Returns an exit status; EXIT_INTERRUPTED where what is missing is still to be told. */
static int play(run_play *of)
{
    const run_request *request = &of->given->request;
    bool json = of->given->json;
    int joined = shards_join(of->self, request);
    if (joined) return joined;
    session here = session_start(of->self, request);
    if (!of->given->log) here.leave = leave; /* a log that is cut short is to be taken away: its round is waited for */
    here.leave_context = of;
    ee_error error;
    run_watch watch = session_watch(&here);
    experiment_site site = shards_site(request);
    ee_status status = json ? json_lines_start(&of->lines, &here, request, &error) : EE_OK;
    if (!status) status = experiment_run(&site, request->jobs, request->job_count, &watch, of->results, &error);
    session_end(&here);
    if (json) json_lines_end(&of->lines);
    of->kept = !status;
    of->played = here.played;
    if (status) return command_failed(of->self, "%s", error.message);
    if (of->lines.unheard) return EXIT_FAILED;
    int code = EXIT_DONE;
    bool others_play = shard_is_part(request->shard) && !interrupt_came();
    for (size_t i = 0; i < request->job_count; i++) {
        if (!of->results[i].finished && !of->results[i].status && !others_play) return EXIT_INTERRUPTED;
        if (of->results[i].status) code = EXIT_FAILED;
    }
    return code;
}

static int print_plan(const command *self, const run_request *request)
{
    ee_error error;
    plan_page page = {stdout, NULL};
    return plan_print(page, request, NULL, &error) ? command_refused(self, &error) : EXIT_DONE;
}

static int run(const command *self, int argc, char **argv)
{
    run_arguments given = {0};
    run_request *request = &given.request;
    run_play of = {.self = self, .given = &given};
    log_writer *log = NULL;
    ee_error error;
    ee_status status = EE_OK;
    int code = arguments_each(self, argc, argv, take, &given);
    if (!code) code = shards_read(self, request);
    if (!code) code = shards_refuse_save(self, request, given.save);
    if (!code) code = run_request_open(self, request);
    if (!code) code = run_request_make_jobs(self, request);
    if (!code && request->plan) {
        code = print_plan(self, request);
        goto done;
    }
    if (!code) code = open_log(self, &given, &log);
    if (!code) code = trained_model_open(self, request, given.save, &of.model);
    if (code) goto done;
    status = memory_create(NULL, &of.results, request->job_count, sizeof *of.results, &error);
    if (status) goto done;
    run_request_print_remarks(self, request);
    code = play(&of);
    status = log_end(log, of.results[0].finished, &error);
    log = NULL;
    if (!status) status = print_results(&of, code, &error);
    if (!status && of.kept && code != EXIT_INTERRUPTED) {
        int saved = save_best(self, &of.model, request, of.results, given.json);
        if (saved) code = saved;
    }
done:
    if (status) code = command_failed(self, "%s", error.message);
    log_end(log, false, NULL);
    trained_model_release(&of.model);
    memory_free(of.results);
    run_request_release(request);
    return code;
}

const command command_run = {
    .name = "run",
    .form = "-d DATASET -p POLICY[,...] [-T ROUNDS] [-s SEEDS] [-j JOBS] [-o DIR] [--shard I/N] [--delay DELAY] "
            "[--slots K] [--set SETTING]... [--json] [--log FILE] [--save MODEL] [--plan] [-q]",
    .summary = "compare policies on data sets by their regret",
    .details =
        "Runs every policy on every data set, once per seed. Policies with the same seed see the same rounds.\n"
        "The table shows, over the seeds: the mean regret and its standard deviation, the share of rounds in which\n"
        "the policy chose the best arm, and the processor seconds per run. * marks the lowest regret. Results do not\n"
        "depend on -j.\n"
        "Example: eenet run -d synthetic:cosine -p eenet,linucb,uniform -T 2000 -o results\n"
        "\n"
        "--set: 'eenet.f1.width=50' applies to eenet and all its presets, 'eenet:paper.f1.width=50' to that preset\n"
        "only. The last one wins.\n"
        "--delay: a reward arrives N rounds after its decision, or after a random number of rounds with mean MEAN\n"
        "(geometric). With clicks:MEAN,TIMEOUT, rewards above 0 arrive after a random number of rounds below TIMEOUT;\n"
        "all others arrive as 0 at TIMEOUT. All policies get the same delays.\n"
        "--slots K: a round fills K slots with different arms and learns all their rewards. Regret compares with the\n"
        "K best arms; the table shows it in total and per slot.\n"
        "-o DIR: writes results.jsonl and curves/. The same command again runs only what is missing or damaged.\n"
        "Ctrl-C stops the runs within about a second and prints the finished ones.\n"
        "--log FILE: writes the arms, the chosen arm, all probabilities and the reward of one run, for 'eenet log' "
        "and\n"
        "'eenet evaluate'. Option 'propensity' of a policy sets how it randomises.\n"
        "--save MODEL: runs the policy with the lowest mean regret once more on its first seed and saves the bandit,\n"
        "for 'eenet decide', the library and the server.\n"
        "--shard I/N: shares the runs among N processes, on one or many machines. Each writes to a folder in\n"
        "DIR/shards; 'eenet merge DIR' combines them. Tasks of a Slurm array or an srun step pick their shard\n"
        "automatically; --shard 0/1 runs everything.\n"
        "--plan: prints how many runs there are, how many DIR already has, and, once DIR has a finished run of each\n"
        "policy, how long the rest takes on one core and in parallel.\n"
        "Under mpirun, or srun --mpi=pmix, rank 0 distributes the runs, and prints and keeps the results, which equal\n"
        "those of one machine. Each rank runs -j at a time; default: 1.\n"
        "If stderr is not a terminal, progress is a line from time to time; -q turns it off.\n"
        "Exit status: 0; 1 if a run failed; 2 for wrong usage; 130 after Ctrl-C.\n",
    .flags = flags,
    .flag_count = FLAGS,
    .run = run,
};
