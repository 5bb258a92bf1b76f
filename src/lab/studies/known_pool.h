/* Rounds of a data set of which all is known: what each arm gives on average, and with which probability each of some
 * policies plays it. So the value of a policy on them is exact, and what is estimated from logs of them can be compared
 * with it.
 *
 * The policies do not learn. They are made of the scores that a bandit had after the rounds that came before. */
#ifndef EENET_KNOWN_POOL_H
#define EENET_KNOWN_POOL_H

#include "data/sets/environment.h"
#include "engine/propensity.h"
#include "lab/runs/parallel.h"

typedef struct known_plan {
    const dataset *data;
    uint64_t seed;
    size_t training; /* rounds that the bandits learn from first */
    size_t count;    /* rounds of the pool, those that follow */
} known_plan;

typedef struct known_pool {
    size_t count, arms;
    double *expected;  /* (count, arms) the mean reward of each arm */
    double *predicted; /* (count, arms) what a reward model says that has learned from other rounds, played at random */
    ee_score *trained; /* (count, arms) by eenet after all of the training */
    ee_score *little;  /* (count, arms) by eenet after a twentieth of it */
    bool binary;       /* rewards are 0 or 1, and drawn with the expected one as probability; else they are certain */
    double low, high;  /* what rewards can be */
} known_pool;

/* out starts as zeros, and is to be released, on failure too. *finished is false where the watch ended it. */
ee_status known_pool_create(const known_plan *plan, const parallel_watch *watch, known_pool *out, bool *finished,
                            ee_error *error);
void known_pool_release(known_pool *self);

/* ---- policies ---- */

typedef enum known_kind {
    KNOWN_UNIFORM,
    KNOWN_FIRST,   /* the first arm */
    KNOWN_LITTLE,  /* the best score of little */
    KNOWN_GREEDY,  /* the best score of trained, as of the three below */
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

/* "greedy", "softmax" or "softmax:0.2"; text is (length). */
ee_status known_policy_parse(const char *text, size_t length, known_policy *out, ee_error *error);
void known_policy_format(known_policy who, char text[KNOWN_TEXT]);

/* Whether it plays every arm now and then. */
bool known_policy_explores(known_policy who);

/* probabilities is (count, arms). */
void known_pool_probabilities(const known_pool *self, known_policy who, double *probabilities);

/* The mean over rounds of what a policy with these probabilities gets. */
double known_pool_value(const known_pool *self, const double *probabilities);

#endif
