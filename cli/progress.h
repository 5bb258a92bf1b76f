/* One line on stderr that tells how far the runs are. Where stderr is no terminal, nothing is written. */
#ifndef EENET_PROGRESS_H
#define EENET_PROGRESS_H

#include "lab/runner.h"

typedef struct progress {
    bool shown;       /* stderr is a terminal */
    bool drawn;       /* the line is there */
    size_t runs;      /* all */
    size_t ended;     /* of them */
    double run_start; /* in seconds */
    double last_draw;
} progress;

progress progress_start(size_t runs);

/* After every round: draws the line anew, some times a second. */
void progress_round(progress *line, const run_job *job, const run_result *so_far);

/* After every run. */
void progress_run_ended(progress *line);

/* Takes the line away: before anything else is printed, and at the end. */
void progress_clear(progress *line);

#endif
