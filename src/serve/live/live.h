/* Live evaluation: what the online policy earns, what others would have earned, and which challenger is significantly
 * better. One thread evaluates the bandits in turns: those with challengers or guardrails and those with an open
 * dashboard.
 *
 * The tests are anytime-valid: they may be read after every decision (confidence_sequence.h). Test number j of a bandit
 * has level alpha / (j (j + 1)). So the probability that a bandit ever declares a challenger better that is not is at
 * most alpha = 1 - confidence, for any number of challengers and any duration. A test compares means over all decisions
 * since it started. */
#ifndef EENET_LIVE_H
#define EENET_LIVE_H

#include "guard_report.h"
#include "live_bandit.h"
#include "serve/model/served_bandit.h"

typedef struct live live;

typedef struct live_options {
    store *kept;
    served_bandits *bandits;
    double save_seconds; /* minimum time between two saves of a state */
    double idle_seconds; /* without events or requests, after which a state is saved and unloaded */
    /* Called when a challenger has passed its test and promotion is automatic, in the thread of live evaluation,
     * repeatedly until the settings show the promotion. Must not wait. */
    void (*passed)(void *context, served_bandit *bandit, const char *challenger, uint64_t test);
    /* Called with an alarm that is not in the log, in the same way, until the log has it. followed: the last SETTINGS,
     * MODEL or ALARM event that was known when it was raised. */
    void (*alarmed)(void *context, served_bandit *bandit, const live_alarm *alarm, uint64_t followed);
    /* Called with a failure, for the operator. */
    void (*trouble)(void *context, const served_bandit *bandit, const ee_error *error);
    void *context;
} live_options;

ee_status live_start(const live_options *options, live **out, ee_error *error);
/* Ends the thread and saves the states; hurry: does not save. */
void live_stop(live *self, bool hurry);
void live_free(live *self);

/* The bandit has new events. Does not wait. */
void live_appended(live *self, uint32_t bandit);

/* Adds the evaluation as JSON (docs/live-evaluation.md), as of the last turn; does not wait. The bandit is kept up to
 * date for a while. */
void live_describe(live *self, served_bandit *bandit, text *into);

/* Visits the values of all bandits in memory, for metrics. */
typedef void visit_live_value(void *context, const served_bandit *bandit, const char *policy, live_point now);
void live_each_value(live *self, visit_live_value *visit, void *context);
typedef void visit_guard_numbers(void *context, const served_bandit *bandit, const guard_numbers *now);
void live_each_guard(live *self, visit_guard_numbers *visit, void *context);

/* The evidence for a promotion, and the challenger's model; free it with ee_bytes_free. test 0: any test. EE_BAD_INPUT
 * if there is no such challenger or it has not learned the whole log yet. Waits for the end of a turn. */
typedef struct live_standing {
    uint64_t test, events, won; /* won: as in live_track */
    double alpha, evidence;     /* evidence: as live_track_evidence has it */
    estimate now;
    void *model;
    size_t size;
} live_standing;
ee_status live_find_standing(live *self, served_bandit *bandit, const char *challenger, uint64_t test,
                             live_standing *out, ee_error *error);

/* Forgets a bandit that was removed from the table: its state is unloaded. save: it is saved before; it is not saved
 * again. Waits for its turn to end. */
void live_forget(live *self, const served_bandit *bandit, bool save);

#endif
