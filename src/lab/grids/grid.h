/* Chooses settings by trying them. Each policy has cells, one per combination of the values of its axes. They run on
 * separate tuning seeds, so that reported results are not biased by the choice. */
#ifndef EENET_GRID_H
#define EENET_GRID_H

#include "experiment.h"

typedef struct grid_axis {
    const char *option; /* "nu" */
    const char *values; /* "0.01,0.1,1" */
} grid_axis;

typedef struct grid_policy {
    const char *name;
    const char *options;   /* of all its cells, as ee_settings takes them; NULL: none */
    const grid_axis *axes; /* (axis_count) */
    size_t axis_count;
} grid_policy;

/* What is chosen: a setting for each policy on each data set. */
typedef struct grid_plan {
    dataset *const *datasets; /* (dataset_count) */
    const uint64_t *rounds;   /* (dataset_count) of a run on each */
    size_t dataset_count;
    const grid_policy *policies; /* (policy_count) */
    size_t policy_count;
    const uint64_t *seeds; /* (seed_count) to choose on */
    size_t seed_count;
    bool halving; /* all cells play a ninth of the rounds, the best third of each policy a third, the best ninth all */
    delay late;   /* of all runs */
    size_t slots; /* the same */
} grid_plan;

/* The best cell of a policy on a data set. */
typedef struct grid_choice {
    char *options; /* to be freed with memory_free; NULL where nothing was chosen */
    size_t cells;  /* that there were */
    double
        regret; /* mean over the tuning seeds; NaN where no run says: nothing was chosen, or there was one cell alone */
} grid_choice;

/* Fills choices, (dataset_count, policy_count), zeros at first, with the cell of least mean regret of each policy on
 * each data set; of equals the first. A cell of which a run fails is out; of a policy all of whose cells are out none
 * is chosen. Before anything is played every cell is tried: its options are taken, and the data set has the rounds.
 * site and watch are those of experiment_run, which keeps the runs as tuning runs, and is called once a stage: workers
 * that have nothing left to do wait for the others at the end of a stage alone. Where the watch ended the runs,
 * or other shards have some that are not known yet, *stopped is true and nothing is chosen. */
ee_status grid_choose(const grid_plan *plan, const experiment_site *site, const run_watch *watch, grid_choice *choices,
                      bool *stopped, ee_error *error);

/* Without halving the last stage is the only one. */
enum { GRID_STAGES = 3 };

/* The paper's grid for a policy (appendix, "Configurations"): *count axes, 0 where the paper has none for it. */
const grid_axis *grid_of_paper(const char *policy, size_t *count);

#endif
