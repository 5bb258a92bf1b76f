/* Live evaluation: what the online policy earns, what others would have earned, and which challenger is significantly
 * better. One thread evaluates the bandits in turns: those with challengers and those with an open dashboard.
 *
 * The tests are anytime-valid: they may be read after every decision (confidence_sequence.h). Test number j of a bandit
 * has level alpha / (j (j + 1)). So the probability that a bandit ever declares a challenger better that is not is at
 * most alpha = 1 - confidence, for any number of challengers and any duration. A test compares means over all decisions
 * since it started. */
#ifndef EENET_LIVE_H
#define EENET_LIVE_H

#include "live_bandit.h"
#include "serve/model/served_bandit.h"

typedef struct live live;

typedef struct live_options {
    store *kept;
    served_bandits *bandits;
    double save_seconds; /* from one save of a state to the next, at least */
    double idle_seconds; /* without events or requests, after which a state is saved and unloaded */
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

/* The evaluation as JSON (docs/live-evaluation.md), as of the last turn; does not wait. A bandit that is asked about is
 * kept up to date for a while. */
void live_describe(live *self, served_bandit *bandit, text *into);

/* The values of all bandits that are in memory, for metrics. */
typedef void visit_live_value(void *context, const served_bandit *bandit, const char *policy, live_point now);
void live_each_value(live *self, visit_live_value *visit, void *context);

/* The evidence for a promotion, and the challenger's current model, to be freed with ee_bytes_free. test 0: any test.
 * EE_BAD_INPUT if there is no such challenger, or it has not learned the whole log yet. Waits for the end of a turn. */
typedef struct live_standing {
    uint64_t test, events, won; /* won: as in live_track */
    double alpha, evidence;     /* evidence: as live_track_evidence has it */
    estimate now;
    void *model;
    size_t size;
} live_standing;
ee_status live_find_standing(live *self, served_bandit *bandit, const char *challenger, uint64_t test,
                             live_standing *out, ee_error *error);

/* Forgets a bandit that was removed: its state is put away and not saved again. Waits for its turn to end. */
void live_forget(live *self, const served_bandit *bandit);

#endif
