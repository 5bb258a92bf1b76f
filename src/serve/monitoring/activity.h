/* Recent activity of the bandits, for the dashboard: decisions and rewards per second, the most frequent actions, and
 * the share of exploration. The journal's thread counts after each write. Memory does not grow with the traffic, and
 * counts start at zero with the server: nothing depends on them.
 *
 * A fixed number of counters finds the most frequent actions, however many there are: an action without a counter takes
 * over the one of the rarest action, and that count bounds its error (Space-Saving: Metwally, Agrawal and El Abbadi,
 * ICDT 2005). Reports have the lower bound. All counts are halved from time to time, so that they cover the last
 * ACTIVITY_DECISIONS / 2 to ACTIVITY_DECISIONS decisions. */
#ifndef EENET_ACTIVITY_H
#define EENET_ACTIVITY_H

#include "serve/store/event.h"

enum {
    ACTIVITY_SECONDS = 300,     /* kept per bandit */
    ACTIVITY_COUNTERS = 64,     /* of actions, per bandit */
    ACTIVITY_SHOWN = 12,        /* actions in a report */
    ACTIVITY_DECISIONS = 20000, /* that shares cover, at most */
    ACTIVITY_SLOTS = 16,        /* per bandit; decisions of others are counted together */
    ACTIVITY_BANDITS = 4096,    /* 12 KB each; above, the one idle for longest is dropped */
    ACTIVITY_NAME_SIZE = 64     /* longer names are truncated */
};

typedef struct activity activity;

/* What is counted of a decision; computed by the thread that decides. */
typedef struct activity_choice {
    uint64_t action; /* a hash of its name */
    char name[ACTIVITY_NAME_SIZE];
    float probability; /* of what was chosen */
    float entropy;     /* normalised: 1 if all allowed actions are equally probable, 0 if one is certain */
    bool explored;     /* another action was more probable */
} activity_choice;

activity_choice activity_choice_of(const decision_body *body);

/* NULL: no memory. */
activity *activity_create(void);
void activity_free(activity *self);

/* time: seconds, never decreasing for a bandit. Without memory nothing is counted. */
void activity_decided(activity *self, uint32_t bandit, int64_t time, const activity_choice *choice);
void activity_rewarded(activity *self, uint32_t bandit, int64_t time);

/* Of a round with slots: in addition to the two above. value: of a reward that was joined with the slot's decision. */
void activity_slot_decided(activity *self, uint32_t bandit, json_text slot, bool explored);
void activity_slot_rewarded(activity *self, uint32_t bandit, json_text slot, double value);

/* Forgets a bandit that was removed. */
void activity_forget(activity *self, uint32_t bandit);

typedef struct activity_second {
    uint32_t decisions, rewards, explored;
} activity_second;

typedef struct activity_share {
    char name[ACTIVITY_NAME_SIZE];
    double share;       /* of the decisions; a lower bound */
    double probability; /* mean, of its decisions */
} activity_share;

/* Since the server started. */
typedef struct activity_slot {
    char name[ACTIVITY_NAME_SIZE];
    uint64_t decisions, explored, rewards;
    double reward_sum; /* of the rewards that named the slot */
} activity_slot;

typedef struct activity_report {
    activity_second seconds[ACTIVITY_SECONDS]; /* whole ones, the oldest first, up to the one before `time` */
    activity_share actions[ACTIVITY_SHOWN];    /* the most frequent first */
    size_t count;
    double others;                       /* share of all other actions */
    activity_slot slots[ACTIVITY_SLOTS]; /* in the order in which they were first seen */
    size_t slot_count;
    uint64_t other_slots; /* decisions of further slots */
    double decisions;     /* that the shares and the means below cover */
    double explored;      /* share; NaN without decisions, like the rest */
    double probability;   /* mean, of the chosen actions */
    double entropy;       /* mean */
} activity_report;

void activity_read(activity *self, uint32_t bandit, int64_t time, activity_report *out);

#endif
