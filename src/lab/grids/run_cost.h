/* The cost of runs in advance: how many there are, how many a folder has, and how long the rest takes with a number of
 * workers. The time of a run is that of usual_pace, corrected by the runs in the folder: those of the same setting,
 * otherwise of the policy, otherwise all. */
#ifndef EENET_RUN_COST_H
#define EENET_RUN_COST_H

#include "experiment.h"
#include "lab/results/run_index.h"
#include "lab/sharing/pace.h"

enum { RUN_COST_STAGES = 4 }; /* runs of a stage are played together, and all end before those of the next begin */

/* Runs of one policy on one data set that are played together. */
typedef struct cost_group {
    size_t stage;
    run_job job;                /* all but its options and seed */
    const char *const *options; /* (option_count) settings that may play: every option with its value */
    size_t option_count;
    size_t settings; /* that do play, of those: which is known later */
    const uint64_t *seeds;
    size_t seed_count; /* runs of each setting */
} cost_group;

typedef struct cost_stage {
    double *seconds; /* (missing) of each run that is to be played, on one core */
    size_t missing, capacity;
} cost_stage;

/* Starts as zeros. */
typedef struct run_cost {
    size_t tuning, counting; /* tuning runs, and final runs */
    size_t there;            /* of both, in the folder */
    size_t guessed;          /* of those that are not, the ones of policies that the folder has no run of */
    cost_stage stages[RUN_COST_STAGES];

    run_index kept; /* the runs that are there */
    pace known;     /* of them; work is in usual seconds */
} run_cost;

/* Learns what the site has: its folders need not exist, and are only read. Of a shard that is not what other shards
 * have, before it is merged. datasets is (count): of others nothing is learned. out is to be released, on failure too.
 */
ee_status run_cost_start(const experiment_site *site, dataset *const *datasets, size_t count, run_cost *out,
                         ee_error *error);
void run_cost_release(run_cost *self);

ee_status run_cost_add(run_cost *self, const cost_group *group, ee_error *error);

/* Runs that are to be played, in all and in the stage that has most: more workers do not help. */
size_t run_cost_missing(const run_cost *self);
size_t run_cost_widest(const run_cost *self);

/* Seconds that this number of workers needs for the missing runs. */
ee_status run_cost_seconds(const run_cost *self, size_t hands, double *out, ee_error *error);

#endif
