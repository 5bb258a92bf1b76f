/* Evaluates candidates on a log: what each would have earned, with intervals and a diagnosis.
 *
 * Events are taken in the order of the log. Events that were never shown (log_event.skipped) are counted and left out.
 * Each slot of an event counts as an event, given what the log showed in earlier slots; candidates decide all slots
 * before they learn one. Of a slate only the first slot is evaluated. */
#ifndef EENET_EVALUATION_H
#define EENET_EVALUATION_H

#include "evaluation_headline.h"

/* Progress, for evaluation_watch. Callbacks may be NULL. They run in any thread, one at a time; wanted may run in
 * several threads at once. */
typedef struct evaluation_standing {
    uint64_t events;             /* of the log that all candidates have played */
    uint64_t bytes, total_bytes; /* of the log; total 0: unknown */
    double seconds;
    uint64_t total_events; /* of the log; 0: unknown */
} evaluation_standing;

typedef struct evaluation_watch {
    bool (*wanted)(void *context);                                   /* after every event; false stops. Must be cheap */
    void (*standing)(void *context, const evaluation_standing *now); /* about ten times a second */
    void (*ended)(void *context, size_t candidate, const evaluation_result *result); /* in the candidates' order */
    void *context;
} evaluation_watch;

/* False: the watch asks to stop. */
static inline bool evaluation_is_wanted(const evaluation_watch *watch)
{
    return !watch || !watch->wanted || watch->wanted(watch->context);
}

/* Evaluates the candidates. results is (candidate_count); release it, also after a failure. A candidate that fails
 * (results[i].failure) does not make the call fail. Stopped by the watch: EE_OK, with finished false where results are
 * missing.
 *
 * The log is read once for all candidates: see evaluation_pipeline.h. */
ee_status evaluation_run(const evaluation_request *request, const evaluation_watch *watch, evaluation_result *results,
                         ee_error *error);

/* The candidate with the highest value by that estimator, among the finished and reliable ones; saved_only: only those
 * that can be trained and saved. candidate_count if there is none. */
size_t evaluation_best(const evaluation_request *request, const evaluation_result *results, bool saved_only);

#endif
