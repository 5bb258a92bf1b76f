/* The bandit behind the public header: a policy, the decisions that wait for their reward, and room to score in. */
#ifndef EENET_BANDIT_H
#define EENET_BANDIT_H

#include "pending.h"
#include "policy/policy.h"

enum { POLICY_NAME_SIZE = 64, OPTIONS_SIZE = 8192 };

struct ee_bandit {
    memory memory;               /* all blocks of the bandit, itself the first */
    char name[POLICY_NAME_SIZE]; /* as asked for, with the preset */
    char options[OPTIONS_SIZE];  /* every option that acts, with its value */
    size_t dim;
    uint64_t seed;
    policy *policy;
    pending pending;
    scratch scratch;
    ee_score *scores;      /* (score_capacity) */
    ee_score *redrawn;     /* (redrawn_capacity) scores to estimate a probability by */
    double *probabilities; /* (probability_capacity) */
    float *scaled;         /* (scaled_capacity) the values of a round's arms as the policy sees them, where it scales */
    size_t score_capacity, redrawn_capacity, probability_capacity, scaled_capacity;
    bool scales;          /* the option `scale` */
    double length;        /* that the arms are divided by; 0 before the first round that has one */
    propensity_rule rule; /* PROPENSITY_OWN: the policy's */
    uint64_t probability_draws;
    uint64_t decisions, rewards;
    random_stream exploration; /* draws among arms */
    random_stream estimation;  /* draws to estimate a probability by, so that they do not change what is decided */
};

/* most_parameters: see policy_setup. */
ee_status bandit_create(const ee_settings *settings, size_t most_parameters, ee_bandit **out, ee_error *error);

/* Whether a policy has the option that an assignment sets, as "blocks=10", and it acts beside these options. */
bool bandit_takes(const char *policy_name, const char *assignment, const char *options);

/* More than a bandit lives to make; a model that claims more is damaged. */
#define MOST_DECISIONS ((size_t)1 << 62)

/* What changes after creation. */
void bandit_archive(ee_bandit *self, archive *a);

#endif
