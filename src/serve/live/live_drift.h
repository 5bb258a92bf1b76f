/* Has the world changed? Watches the settled decisions of a bandit with guardrails (drift.h has the statistics):
 *
 * - "reward": the mean reward; with a control group, of its people, because the bandit's own learning is no change of
 *   the world; in a rollout without one, of the people who wait
 * - "delay": the logarithm of the delay of rewards of the same people; only if the first reward settles a decision
 * - "segment": the shares of the segments
 * - "actions": the shares of the actions that requests offer, by name
 * - "features": the names of context features, to the second level: "user", "user.country"
 * - "feature NAME": values of a numeric context feature outside the range that they had; the first DRIFT_NUMBERS
 *   features. With vectors: "feature vectors", the smallest and the largest value of a decision
 *
 * A block is a day (UTC) of decisions, and several days if it has fewer than DRIFT_BLOCK_LEAST, or if the watch saw
 * less than half of what it saw in a block of its reference. So days and nights are no change, but weekends may be one.
 * The first, partial day does not count.
 *
 * The watches together raise a false alarm in the life of a bandit with probability at most `error`: each has
 * error / DRIFT_WATCHES, and its run number j (it runs again after an alarm, or a change of settings) 1 / (j (j + 1))
 * of it. All of it is a function of the log: an alarm restarts its watch at the decision that raised it. */
#ifndef EENET_LIVE_DRIFT_H
#define EENET_LIVE_DRIFT_H

#include "evaluate/intervals/drift.h"
#include "live_alarm.h"

enum { DRIFT_NUMBERS = 8, DRIFT_BLOCK_LEAST = 100 };

typedef enum drift_subject {
    DRIFT_REWARD,
    DRIFT_DELAY,
    DRIFT_SEGMENT,
    DRIFT_ACTIONS,
    DRIFT_FEATURES,
    DRIFT_NUMBER, /* the first of DRIFT_NUMBERS */
    DRIFT_WATCHES = DRIFT_NUMBER + DRIFT_NUMBERS
} drift_subject;

typedef struct drift_watch {
    char name[ALARM_METRIC_SIZE];
    uint64_t from;      /* it begins with the first block that starts at this event or after it */
    uint64_t runs;      /* how often it was started again */
    uint64_t alarms;    /* of it, in the log */
    bool collects;      /* such a block has started */
    live_alarm pending; /* raised, and not in the log yet */
    drift_mean mean;    /* one of these, by its subject */
    drift_shares shares;
    drift_range range;
} drift_watch;

typedef struct live_drift {
    double error;
    uint64_t from;     /* decisions above this event are watched */
    uint64_t restarts; /* of all watches together */
    int64_t day;       /* of the block, since 1970 */
    uint64_t in_block; /* decisions */
    drift_watch watches[DRIFT_WATCHES];
    size_t count; /* of them in use */
    json_room room;
    memory owner; /* of the room */
} live_drift;

/* Starts all watches after an event. self is zeroed, or was started before. */
void live_drift_start(live_drift *self, double error, uint64_t from);
void live_drift_release(live_drift *self);

/* Starts one of the first watches, those before DRIFT_NUMBER, after an event. */
void live_drift_restart(live_drift *self, drift_subject subject, uint64_t from);

/* What a decision led to, and the guardrails that it was made with. */
typedef struct drift_facts {
    uint64_t number;      /* of its event */
    double reward, delay; /* in seconds; NaN: none */
    bool has_segment, has_control;
} drift_facts;

/* The next decision. */
void live_drift_take(live_drift *self, const log_event *decided, const drift_facts *facts);

/* An alarm that is not in the log; NULL: none. */
const live_alarm *live_drift_alarm(const live_drift *self);
/* It is in the log now. */
void live_drift_logged(live_drift *self, const live_alarm *alarm);

void live_drift_archive(archive *a, live_drift *self);

#endif
