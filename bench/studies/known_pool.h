/* Rounds of a data set in which everything is known: the mean reward of each arm, and the probability with which each
 * of some policies chooses it. The value of a policy on them is exact, so estimates from logs can be compared with it.
 *
 * The policies do not learn. They use the scores that a bandit had after the rounds before the pool. */
#ifndef EENET_KNOWN_POOL_H
#define EENET_KNOWN_POOL_H

#include "data/sets/environment.h"
#include "engine/propensity.h"

typedef struct known_plan {
    const dataset *data;
    uint64_t seed;
    size_t training; /* rounds that the bandits learn from first */
    size_t count;    /* rounds of the pool, the next ones */
} known_plan;

typedef struct known_pool {
    size_t count, arms;
    double *expected;  /* (count, arms) the mean reward of each arm */
    double *predicted; /* (count, arms) by a reward model that learned from other rounds, played at random */
    ee_score *trained; /* (count, arms) by eenet after the whole training */
    ee_score *little;  /* (count, arms) by eenet after a twentieth of it */
    bool binary;       /* rewards are 0 or 1, drawn with the expected reward as probability; else they are certain */
    double low, high;  /* range of the rewards */
} known_pool;

/* out starts as zeros; release it, also after a failure. */
ee_status known_pool_create(const known_plan *plan, known_pool *out, ee_error *error);
void known_pool_release(known_pool *self);

/* ---- policies ---- */

typedef enum known_kind {
    KNOWN_UNIFORM,
    KNOWN_LITTLE,  /* the best score of little */
    KNOWN_GREEDY,  /* the best score of trained; the next three use trained too */
    KNOWN_FLOOR,   /* the best, but with probability amount any arm */
    KNOWN_SOFTMAX, /* proportional to exp(score / amount) */
    KNOWN_IGW,     /* 1 / (arms + amount gap) */
    KNOWN_KINDS
} known_kind;

typedef struct known_policy {
    known_kind kind;
    double amount;
} known_policy;

enum { KNOWN_TEXT = 40 };

/* Reads "greedy", "softmax" or "softmax:0.2". */
ee_status known_policy_parse(const char *text, known_policy *out, ee_error *error);
void known_policy_format(known_policy which, char text[KNOWN_TEXT]);

/* Whether every arm has a chance. */
bool known_policy_explores(known_policy which);

/* probabilities is (count, arms). */
void known_pool_probabilities(const known_pool *self, known_policy which, double *probabilities);

/* The mean reward per round of a policy with these probabilities. */
double known_pool_value(const known_pool *self, const double *probabilities);

#endif
