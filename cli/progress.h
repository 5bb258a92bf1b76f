/* How far the runs are, on stderr: a line that is rewritten where that is a terminal, elsewhere a line now and then. */
#ifndef EENET_PROGRESS_H
#define EENET_PROGRESS_H

#include "lab/runs/runner.h"

/* What to call the data set of a job. */
typedef const char *progress_namer(const void *context, const dataset *data);

typedef struct progress {
    const char *verb;
    progress_namer *name;
    const void *context; /* of name */
    bool quiet;          /* nothing is written */
    bool terminal;       /* stderr is one */
    bool drawn;          /* the line is there */
    double started;      /* second of the clock */
    double due;          /* seconds after that, when the next line is written that stays */
    char text[256];      /* the line */
} progress;

progress progress_start(const char *verb, bool quiet, progress_namer *name, const void *context);

/* Draws the line again, or writes one where it is due. */
void progress_draw(progress *line, const run_standing *now);

/* Takes the line away: before anything else is printed, and at the end. */
void progress_clear(progress *line);

#endif
