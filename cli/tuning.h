/* What `eenet grid` and `eenet paper` share: settings are chosen on tuning seeds, then play the seeds that count. */
#ifndef EENET_TUNING_H
#define EENET_TUNING_H

#include "run_request.h"

/* Their flags follow those of run_request; those from TUNING_PAPER on belong to `eenet grid` only. */
enum { TUNING_SEEDS = REQUEST_FLAGS, TUNING_HALVING, TUNING_PAPER, TUNING_SAVE, TUNING_FLAGS };

extern const flag tuning_flags[TUNING_FLAGS];

typedef struct tuning {
    run_request request; /* zeros, except for defaults that the command sets */
    const char *seeds;
    const char *save; /* the best bandit of the one data set; NULL: nowhere */
    bool halving;
    bool paper;     /* the paper's grids, for the options that --set does not name */
    bool ablations; /* the paper's too */
    bool announced; /* print the plan on stderr before the start */
    bool ended;     /* for tuning_run to set: all was played that could be, even where that was not all */
} tuning;

/* Both return an exit status, after saying on stderr what is wrong where it is not EXIT_DONE. The request of the plan
 * is to be released, then too. */
int tuning_read(const command *self, int argc, char **argv, tuning *plan);

/* Plays all of it, and prints a table for each data set and what was chosen; with --plan it prints what that takes, and
 * plays nothing. EXIT_FAILED where one of the runs that
 * count failed, or none of a policy's settings could be played. */
int tuning_run(const command *self, tuning *plan);

#endif
