/* One line on stderr that shows how far the runs are. Where stderr is no terminal, nothing is written. */
#ifndef EENET_PROGRESS_H
#define EENET_PROGRESS_H

#include "lab/runner.h"

typedef struct progress {
    bool shown;     /* stderr is a terminal */
    bool drawn;     /* the line is there */
    char text[256]; /* the line */
} progress;

progress progress_start(void);

/* Draws the line again. */
void progress_draw(progress *line, const run_standing *now);

/* Takes the line away: before anything else is printed, and at the end. */
void progress_clear(progress *line);

#endif
