/* Plays candidates over a log. */
#ifndef EENET_EVALUATION_PASS_H
#define EENET_EVALUATION_PASS_H

#include "evaluation_play.h"

/* Either returning false ends the pass. */
typedef struct pass_watch {
    bool (*wanted)(void *context); /* after every event that is read, by any thread; must be cheap */
    bool (*standing)(void *context,
                     const evaluation_standing *now); /* often, one call at a time; sets events and bytes */
    void *context;
} pass_watch;

typedef enum pass_end {
    PASS_FINISHED,
    PASS_STOPPED,     /* by the watch */
    PASS_OTHER_RANGE, /* a reward is outside the assumed range */
    PASS_NEW_METRIC,  /* an event has a metric whose range is not known yet */
} pass_end;

/* Plays candidates number places[0] ... of the request (count) in as many threads as the request says, and fills
 * results[place] of each. opened: the log at its first event, closed at the end; NULL: open it here. */
ee_status evaluation_pass(const evaluation_frame *frame, log_reader *opened, const size_t *places, size_t count,
                          const pass_watch *watch, evaluation_result *results, pass_end *end, ee_error *error);

/* Whether evaluating this candidate needs vectors or named features. */
ee_status evaluation_needs_arms(const evaluation_request *request, size_t place, bool *needs, ee_error *error);

#endif
