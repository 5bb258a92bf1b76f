/* Live evaluation: what the online policy earns, what others would have earned in its place, and which challenger is
 * shown to be better. One thread does it, beside those that serve, in turns over the bandits that have challengers or
 * that somebody looks at.
 *
 * The tests of challengers may be looked at after every decision (confidence_sequence.h). Test number j of a bandit has
 * alpha / (j (j + 1)), so the chance that a bandit ever finds one better that is not is at most alpha, one less the
 * confidence, however many challengers there are and however long it goes on. What is measured is the mean over the
 * decisions of the test: better on the whole since it began. */
#ifndef EENET_LIVE_H
#define EENET_LIVE_H

#include "live_bandit.h"
#include "served_bandit.h"

typedef struct live live;

typedef struct live_options {
    store *kept;
    served_bandits *bandits;
    double save_seconds; /* from one save of a state to the next, at least */
    double idle_seconds; /* without news or somebody who looks, after which a state is put away */
    /* A challenger has passed its test, and is to be promoted without asking: called in the thread of live evaluation,
     * without waiting, again and again until the settings say that it was. */
    void (*passed)(void *context, served_bandit *bandit, const char *challenger, uint64_t test);
    /* What cannot be done, for the operator. */
    void (*trouble)(void *context, const served_bandit *bandit, const ee_error *error);
    void *context;
} live_options;

ee_status live_start(const live_options *options, live **out, ee_error *error);
/* Ends the thread, and saves the states; hurry: without. */
void live_stop(live *self, bool hurry);
void live_free(live *self);

/* The bandit has new events. Does not wait. */
void live_appended(live *self, uint32_t bandit);

/* The evaluation as JSON (docs/live-evaluation.md), as of the last turn; does not wait. Who asks is kept up to date for
 * a while. */
void live_describe(live *self, served_bandit *bandit, text *into);

/* The values of all bandits that are in memory, for metrics. */
typedef void visit_live_value(void *context, const served_bandit *bandit, const char *policy, live_point now);
void live_each_value(live *self, visit_live_value *visit, void *context);

/* What a promotion stands on, and the model of the challenger as it is now, to be freed with ee_bytes_free. test 0: of
 * whatever test. EE_BAD_INPUT where there is no such challenger, or it has not learned yet what the log has. For
 * threads that may wait: for the end of a turn. */
typedef struct live_standing {
    uint64_t test, events, won; /* won: as in live_track */
    double alpha, evidence;     /* evidence: as live_track_evidence has it */
    estimate now;
    void *model;
    size_t size;
} live_standing;
ee_status live_find_standing(live *self, served_bandit *bandit, const char *challenger, uint64_t test,
                             live_standing *out, ee_error *error);

#endif
