/* What happens to the bandits lately, for those who look on: decisions and rewards of each second, which actions were
 * chosen, and how much was left to chance. It is counted after the journal has written, in its thread, in memory that
 * does not grow with the traffic, and begins anew with the server: nothing depends on it.
 *
 * Which actions are chosen most is known by as many counters as fit, however many actions there are: an action that has
 * none takes over that of the rarest, with its count as the most by which its own may be too high (Space-Saving:
 * Metwally, Agrawal and El Abbadi, ICDT 2005). Shown is what is certain. All counts are halved now and then, so that
 * they are about the last ACTIVITY_DECISIONS / 2 to ACTIVITY_DECISIONS decisions. */
#ifndef EENET_ACTIVITY_H
#define EENET_ACTIVITY_H

#include "event.h"

enum {
    ACTIVITY_SECONDS = 300,     /* that are kept of a bandit */
    ACTIVITY_COUNTERS = 64,     /* of its actions, of which */
    ACTIVITY_SHOWN = 12,        /* so many are shown */
    ACTIVITY_DECISIONS = 20000, /* that shares are of, at most */
    ACTIVITY_BANDITS = 4096,    /* at a time, 10 KB each: beyond, one that was quiet for long is forgotten */
    ACTIVITY_NAME_SIZE = 64     /* of an action: what is longer is cut */
};

typedef struct activity activity;

/* What is counted of a decision; made by the thread that decides. */
typedef struct activity_choice {
    uint64_t action; /* a hash of its name */
    char name[ACTIVITY_NAME_SIZE];
    float probability; /* of what was chosen */
    float entropy;     /* of the probabilities: 1 where all that may be chosen are equal, 0 where one is certain */
    bool explored;     /* another action was more probable */
} activity_choice;

activity_choice activity_choice_of(const decision_body *body);

/* NULL: no memory. */
activity *activity_create(void);
void activity_free(activity *self);

/* time: seconds, never back for a bandit. Where there is no memory nothing is counted. */
void activity_decided(activity *self, uint32_t bandit, int64_t time, const activity_choice *choice);
void activity_rewarded(activity *self, uint32_t bandit, int64_t time);

typedef struct activity_second {
    uint32_t decisions, rewards, explored;
} activity_second;

typedef struct activity_share {
    char name[ACTIVITY_NAME_SIZE];
    double share;       /* of the decisions, at least */
    double probability; /* with which it was chosen, in the mean */
} activity_share;

typedef struct activity_report {
    activity_second seconds[ACTIVITY_SECONDS]; /* whole ones, the oldest first, up to the one before `time` */
    activity_share actions[ACTIVITY_SHOWN];    /* the most frequent first */
    size_t count;
    double others;      /* share of those that are not among them */
    double decisions;   /* that the shares, and what follows, are of */
    double explored;    /* share; not a number where there are no decisions, as the rest */
    double probability; /* of what was chosen, mean */
    double entropy;     /* mean */
} activity_report;

void activity_read(activity *self, uint32_t bandit, int64_t time, activity_report *out);

#endif
