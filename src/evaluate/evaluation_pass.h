/* Plays a group of candidates over a log, in one thread. */
#ifndef EENET_EVALUATION_PASS_H
#define EENET_EVALUATION_PASS_H

#include "evaluation_play.h"

/* Called as the log is read; false ends the pass. */
typedef struct pass_watch {
    bool (*next)(void *context, const log_counts *read);
    void *context;
} pass_watch;

typedef enum pass_end {
    PASS_FINISHED,
    PASS_STOPPED,     /* by the watch */
    PASS_OTHER_RANGE, /* a reward is outside the assumed range */
} pass_end;

/* Plays candidates number places[0] ... of the request (count), and fills results[place] of each. opened: the log at
 * its first event, closed at the end; NULL: open it here. */
ee_status evaluation_pass(const evaluation_frame *frame, log_reader *opened, const size_t *places, size_t count,
                          const pass_watch *watch, evaluation_result *results, pass_end *end, ee_error *error);

/* Whether evaluating this candidate needs vectors or named features. */
ee_status evaluation_needs_arms(const evaluation_request *request, size_t place, bool *needs, ee_error *error);

#endif
