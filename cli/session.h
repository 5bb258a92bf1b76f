/* Someone in front of runs: progress, remarks, Ctrl-C, failures reported as they come. */
#ifndef EENET_SESSION_H
#define EENET_SESSION_H

#include "progress.h"
#include "run_request.h"

typedef struct session {
    const command *self;
    const run_request *request;
    progress line;
    run_watch also;  /* its ended, unless NULL, is called after ours */
    size_t played;   /* runs that have finished now, and were not read */
    double stopping; /* the standing's seconds when Ctrl-C was seen; 0 before */

    /* Says what is done, as at the end of the verb. Called when a round takes too long after Ctrl-C: then the program
     * ends without it. All that had ended is kept. NULL: every round is waited for. */
    void (*leave)(void *context);
    void *leave_context;
} session;

/* From the first on Ctrl-C ends all runs at their next round; a second ends the program. */
session session_start(const command *self, const run_request *request);

/* For experiment_run; valid as long as the session, which must not move. */
run_watch session_watch(session *here);

/* Takes the line of progress away. */
void session_end(session *here);

#endif
