/* How often guardrails raise a false alarm, and how soon they find harm, on simulated bandits of known truth.
 *
 * People come back: a decision is of a new person with probability 0.2, else of one of the people so far. Each person
 * has an own probability of an event (a refund), so decisions of one person are alike: the correlation between two of
 * them is about 1/3. Treatment multiplies that probability by 1 + harm. The share of people who are treated grows. */
#ifndef EENET_GUARDRAIL_STUDY_H
#define EENET_GUARDRAIL_STUDY_H

#include "evaluate/intervals/lift.h"

typedef enum guardrail_method {
    GUARDRAIL_LIFT,       /* lift.h */
    GUARDRAIL_DECISIONS,  /* the same with every decision as a person of its own: not valid if people come back */
    GUARDRAIL_UNWEIGHTED, /* the same with plain means of the two groups: not valid if shares change */
    GUARDRAIL_FIRST,      /* an exact betting test on the first decision of each person */
    GUARDRAIL_METHODS
} guardrail_method;

extern const char *const guardrail_names[GUARDRAIL_METHODS];

typedef struct guardrail_plan {
    size_t bandits, decisions;
    double rate, harm, bound; /* of an event without treatment; relative increase by treatment; and the allowed one */
    double trend;             /* the rate grows by this share of itself over the life */
    double share;             /* of people treated all the time; 0: 1%, 5%, 25%, 95% from 0, 10, 30, 60% of the life */
    size_t harmless;          /* decisions before the harm begins */
    double look;              /* tests look when the log has grown by this share; 0: after every decision */
    bool until_found;         /* end at the alarm of the lift and the exact test; the other two are not played */
    bool loyal;               /* people return the more often the more they have: a few make many decisions */
    bool intervals;           /* also check the intervals of the lift, whenever the log has grown by 2% */
    uint64_t seed;
} guardrail_plan;

/* Of one bandit. */
typedef struct guardrail_result {
    size_t alarm[GUARDRAIL_METHODS]; /* the decision with the first alarm; 0: none */
    bool covered, relative_covered;  /* at all looks */
    double width;                    /* of the relative interval in the end; NaN: none */
} guardrail_result;

/* Lifetime error of tests and intervals. */
extern const double guardrail_alpha;

/* Sets results (bandits). They do not depend on the number of threads. */
ee_status guardrail_run(const guardrail_plan *plan, size_t threads, guardrail_result *results, ee_error *error);

#endif
