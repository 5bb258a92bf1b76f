/* Someone in front of runs: progress on a terminal, Ctrl-C, failures reported as they come. */
#ifndef EENET_SESSION_H
#define EENET_SESSION_H

#include "command.h"
#include "progress.h"

typedef struct session {
    const command *self;
    progress line;
    run_watch also; /* its ended, unless NULL, is called after ours */
} session;

/* From the first on Ctrl-C ends all runs at their next round; a second ends the program. */
session session_start(const command *self);

/* For experiment_run; valid as long as the session, which must not move. */
run_watch session_watch(session *here);

/* Takes the line of progress away. */
void session_end(session *here);

#endif
