/* The arguments that `eenet run`, `grid` and `paper` share. A command reads its arguments with arguments_each, passes
 * the flags below REQUEST_FLAGS to run_request_take, and opens the request after the last. */
#ifndef EENET_RUN_REQUEST_H
#define EENET_RUN_REQUEST_H

#include "command.h"
#include "lab/runs/runner.h"
#include "lab/sharing/shard.h"
#include "seeds.h"

/* The shared flags. They come first in a command's list, as in REQUEST_FLAG_LIST. */
enum {
    REQUEST_DATASET,
    REQUEST_POLICIES,
    REQUEST_ROUNDS,
    REQUEST_SEEDS,
    REQUEST_DELAY,
    REQUEST_SLOTS,
    REQUEST_SET,
    REQUEST_JOBS,
    REQUEST_OUTPUT,
    REQUEST_SHARD,
    REQUEST_PLAN,
    REQUEST_QUIET,
    REQUEST_FLAGS
};

/* clang-format off */
#define REQUEST_FLAG_LIST                                                                                              \
    [REQUEST_DATASET] = {'d', "dataset", "DATASET", "data set to run on, from 'eenet datasets'; repeatable"}, \
    [REQUEST_POLICIES] = {'p', "policies", "POLICY[,POLICY...]", "policies to run, from 'eenet policies'; 'all' excludes presets"}, \
    [REQUEST_ROUNDS] = {'T', "rounds", "ROUNDS", "rounds per run (default: 10000, or the data set's rows if fewer)"},   \
    [REQUEST_SEEDS] = {'s', "seeds", "SEEDS", "one run per seed, such as 0-4 or 0,3,7-9 (default: 0-9)"},                \
    [REQUEST_DELAY] = {'\0', "delay", "DELAY", "reward delay in rounds: N, geometric:MEAN or clicks:MEAN,TIMEOUT"}, \
    [REQUEST_SLOTS] = {'\0', "slots", "SLOTS", "slots per round, each filled with a different arm (default: 1)"},             \
    [REQUEST_SET] = {'\0', "set", "POLICY.OPTION=VALUE", "set an option of a policy; repeatable"},                 \
    [REQUEST_JOBS] = {'j', "jobs", "JOBS", "runs in parallel (default: one per core, 1 per MPI rank)"},                          \
    [REQUEST_OUTPUT] = {'o', "output", "DIR", "keep results in DIR, and run only what is missing there"},               \
    [REQUEST_SHARD] = {'\0', "shard", "I/N", "run only part I of N (0/N to N-1/N), into DIR/shards; then 'eenet merge'"},        \
    [REQUEST_PLAN] = {'\0', "plan", NULL, "print the number of runs and the time they need; run nothing"},            \
    [REQUEST_QUIET] = {'q', "quiet", NULL, "print only results and errors: no progress, warnings or hints"}
/* clang-format on */

typedef struct requested_policy {
    const char *name; /* the library's own */
    char *options;    /* from --set, as ee_settings takes them; NULL for none */
    size_t capacity;
} requested_policy;

/* Words as they were given. */
typedef struct word_list {
    const char **words; /* (count) */
    size_t count, capacity;
} word_list;

typedef struct run_request {
    const char *given[REQUEST_FLAGS]; /* those that are given once; NULL where they are not */
    word_list dataset_texts, sets;
    bool plan; /* only print the number of runs and their time */
    bool quiet;
    bool lists; /* for the verb to set: the value of a --set may be a list, as "0.1,1" */

    run_shard shard;    /* the part of the runs that is played: see shards_read */
    char *shard_folder; /* where that is kept, within the output; NULL where all are played */

    /* From here on for run_request_open to fill. */
    dataset **datasets;         /* (dataset_texts.count) */
    requested_policy *policies; /* (policy_count) */
    size_t policy_count, policy_capacity;
    seed_list seeds;
    uint64_t rounds;    /* 0 for the default; see run_request_rounds */
    size_t threads;     /* runs at a time; of each rank, where there are several (ranks.h) */
    delay late;         /* when rewards come */
    size_t slots;       /* of a round, where there are several; else 0 */
    const char *output; /* a folder; NULL: none */
    char *cache;        /* a folder in it, of what takes long to prepare; NULL: none */

    run_job *jobs; /* (datasets, policies, seeds): run_request_make_jobs */
    size_t job_count;
} run_request;

/* Each of the following returns an exit status, after saying on stderr what is wrong where it is not EXIT_DONE. request
 * starts as zeros, and is to be released, then too. */

/* Takes flag number got, one of those above, with its value. */
int run_request_take(const command *self, int got, const char *value, run_request *request);

/* Checks the arguments; data sets and policies are required (a command may set default policies first). Opens the
 * data sets, with their cache in the output folder. The folder is created when it is first written to, so a request
 * that is refused leaves none behind. */
int run_request_open(const command *self, run_request *request);

/* The length of the longest policy, or part of one before its colon, that a --set starts with before a dot; 0 for none.
 */
size_t run_request_target(const char *text);

/* Whether such a target, as "eenet" or "eenet:paper", means the policy: by its name, or by the part before its colon.
 */
bool run_request_means(const char *target, size_t length, const char *policy);

/* Makes the jobs, and makes sure that each policy can be created for each data set. */
int run_request_make_jobs(const command *self, run_request *request);

void run_request_release(run_request *request);

/* Rounds of a run on the data set; default: command_usual_rounds. */
uint64_t run_request_rounds(const run_request *request, const dataset *data);

/* The displayed name of a data set: its full text if two have the same name. */
const char *run_request_label(const run_request *request, const dataset *data);

/* Says on stderr, in a line each, what is likely a mistake in the data sets, whose rows come again, and that ranks have
 * fewer cores than runs. */
void run_request_print_remarks(const command *self, const run_request *request);

/* Says where the results are, if they are anywhere. */
void run_request_print_output(const run_request *request);

#endif
