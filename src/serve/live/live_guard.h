/* Watches the guardrails of a bandit while its log grows: the lift of people that the bandit decides for over the
 * others, bounds on it, and drift. All of it is a function of the log, as in live_bandit.h.
 *
 * The comparison starts again when it changes its meaning: with another model, policy, propensity, mode or range of
 * rewards, other metrics or rules of joining, another share of the control group or another baseline, other rules,
 * shares, caps, budgets or stickiness. A stage of the rollout changes nothing: see lift.h.
 *
 * Each bound is a test that may look after every decision. A test starts with the comparison, when its bound or `error`
 * is changed, and when an operator releases the bandit after its alarm. All tests of a bandit together raise a false
 * alarm with probability at most `error`: those that start at the j-th time share error / (j (j + 1)). */
#ifndef EENET_LIVE_GUARD_H
#define EENET_LIVE_GUARD_H

#include "evaluate/intervals/lift.h"
#include "live_drift.h"
#include "serve/log/settled_reader.h"

enum { GUARD_VALUES = 1 + MOST_METRICS, GUARD_SEGMENTS = 16, GUARD_SEGMENT_SIZE = 64, GUARD_GROUPS = 5 };

/* What is measured in all decisions, or in a segment. */
typedef struct guard_part {
    char name[GUARD_SEGMENT_SIZE]; /* of the segment, shortened if necessary */
    uint64_t hash;                 /* of its whole name */
    uint64_t decisions;
    lift *lifts; /* (values) of the reward, then of each metric; NULL: none yet */
} guard_part;

/* The test of a bound. */
typedef struct guard_test {
    live_alarm alarm; /* its bound; and if it is violated, the decision */
    uint64_t from;    /* it counts decisions above this event */
    uint64_t logged;  /* number of its ALARM event; 0: none */
    lift *measured;
} guard_test;

typedef struct live_guard {
    bool started;
    uint64_t followed;      /* events up to here have been looked at */
    uint64_t taken;         /* number of the last decision taken */
    bandit_settings known;  /* in force there */
    guard_settings *tables; /* of its guardrails; NULL: it has none */

    uint64_t from;                 /* decisions above this event are compared */
    uint64_t groups[GUARD_GROUPS]; /* decisions of each log_group since then */
    guard_part
        parts[1 + GUARD_SEGMENTS]; /* (part_count) all decisions; then segments in the order of their first one */
    guard_part other;              /* further segments */
    size_t part_count;

    guard_test tests[GUARD_BOUNDS]; /* (test_count) in the order of the bounds */
    size_t test_count;
    uint64_t numbered;           /* tests so far */
    uint64_t starts, last_start; /* how often tests started; the event at which they did last */
    uint64_t alarms;             /* in the log */
    live_drift drift;
} live_guard;

/* Looks at events that it has not seen, up to `last` at least: the last SETTINGS, MODEL or ALARM. in_force: used if the
 * log has no settings. *changed becomes true if there were any. */
ee_status live_guard_follow(live_guard *self, store_reader *log, uint32_t bandit, const bandit_settings *in_force,
                            uint64_t last, bool *changed, ee_error *error);
void live_guard_release(live_guard *self);

/* The next decision; one that it has taken is skipped. */
ee_status live_guard_take(live_guard *self, const log_event *decided, const settled_decision *facts, ee_error *error);

/* An alarm that is not in the log yet; NULL: none. */
const live_alarm *live_guard_alarm(const live_guard *self);

/* Whether the bandit has guardrails. */
static inline bool live_guard_is_active(const live_guard *self)
{
    return self->tables != NULL;
}

/* The number of measured values, and the name of each. */
static inline size_t live_guard_values(const live_guard *self)
{
    return 1 + self->known.joining.metric_count;
}
static inline const char *live_guard_value_name(const live_guard *self, size_t place)
{
    return place ? self->known.joining.metrics[place - 1].name : "reward";
}

/* Progress of a test from 0 to 1: violated. */
double live_guard_evidence(const guard_test *test);

/* ---- guard_state.c: saving ---- */

void live_guard_archive(live_guard *self, archive *a);

/* ---- for guard_state.c ---- */

/* Reads the guardrails of self->known. */
ee_status live_guard_read_tables(const bandit_settings *of, guard_settings **out, ee_error *error);

#endif
