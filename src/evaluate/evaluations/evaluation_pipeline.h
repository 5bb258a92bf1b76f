/* Plays the events of a log in threads. The work is divided into stages, each of which takes the events in the order of
 * the log: one reads them, one per reward model predicts and learns, one per candidate plays and adds up. A stage works
 * on a batch of events at a time, as soon as the stages before it have finished that batch. So the results do not
 * depend on the number of threads, and memory does not grow with the log.
 *
 * The wall-clock time is at least that of the slowest stage, and at least the time of all stages divided by the
 * threads.
 */
#ifndef EENET_EVALUATION_PIPELINE_H
#define EENET_EVALUATION_PIPELINE_H

#include "played_batch.h"

typedef struct pipeline_source {
    /* Adds up to `most` events. *more false: these were the last. Events added before a failure are still played. */
    ee_status (*fill)(void *context, played_batch *batch, size_t most, bool *more, ee_error *error);

    /* Called before each batch of each stage, one call at a time; false stops. finished: how much of the log
     * all stages have played. */
    bool (*next)(void *context, const evaluation_standing *finished);

    /* How much of the log was read. Called after fill. */
    evaluation_standing (*standing)(void *context);
    void *context;
} pipeline_source;

/* Plays all events of the source. The first failure in the order of the log is returned. *stopped: by source->next. */
ee_status evaluation_pipeline_run(evaluation_play *play, const pipeline_source *source, size_t threads, bool *stopped,
                                  double *seconds, ee_error *error);

/* Calls work(context) in this many threads, one of them the caller's, and returns when all have returned. With fewer
 * threads if the system has no more. Adds the processor time of all to *seconds. */
void pipeline_in_threads(size_t threads, void (*work)(void *context), void *context, double *seconds);

#endif
