/* Every policy and preset, small enough to be played in a moment, and what they do only with other options. */
#ifndef EENET_TEST_EVERY_POLICY_H
#define EENET_TEST_EVERY_POLICY_H

#include "rounds.h"

typedef struct policy_case {
    const char *name, *options;
} policy_case;

static const policy_case smaller[] = {
    {"eenet:paper", "f1.width=6 f2.width=6 f3.width=4 f1.steps=3 f2.steps=3 f3.steps=3 hybrid_after=12"},
    {"eenet:authors", "f1.width=6 f2.width=6 f2.front=none f1.steps=20 f2.steps=20"},
    {"eenet", "f1.width=6 f1.deep_width=12 units=4 recall=40"},
    {"eenet:fast", "f1.width=6 units=4"},
    {"linucb", "refresh=5"},
    {"lints", "refresh=5 probability_draws=3"},
    {"linucb:paper", ""},
    {"lints:paper", "probability_draws=3"},
    {"kernelucb", "max_contexts=20"},
    {"kernelts", "max_contexts=20 probability_draws=3"},
    {"neural-ts", "f1.width=6 f1.deep_width=12 probability_draws=3"},
    {"ucb1", ""},
    {"thompson", "probability_draws=3"},
    {"neural-ensemble", "f1.width=6 f1.deep_width=12 members=3 prior_width=4"},
    {"neural-ensemble:paper", "f1.width=6 members=4 prior_width=5"},
    {"uniform", ""},
};

static const policy_case variants[] = {
    {"eenet", "f1.width=6 f1.deep_width=12 blocks=2 refresh=3 f1.lazy=on"},
    {"eenet", "f1.width=6 f1.deep_width=12 exploration=network f2.width=6 decision=hybrid f3.width=4 features=sketch:8 "
              "hybrid_after=20"},
    {"eenet",
     "f1.width=6 f1.deep_width=12 exploration=network f2.width=6 features=pooled:2 keep=reservoir:5 extra_until=1000"},
    {"eenet", "f1.width=6 f1.deep_width=12 exploration=network f2.width=6 features=lle:3 lle_window=8 lle_neighbors=4"},
    {"eenet", "f1.width=6 f1.deep_width=12 units=4 propensity=softmax"},
    {"neural-ucb", "f1.width=4 f1.deep_width=12 covariance=full"},
    {"neural-linear", "f1.width=6 f1.deep_width=12 rebuild=7"},
    {"greedy", "f1.width=6 f1.deep_width=12 scale=off f1.order=shuffle f1.optimizer=adam propensity=igw"},
    {"linucb", "scale=on propensity=floor"},
    {"ucb1", "blocks=2 propensity=softmax"},
    {"thompson", "positions=3"},
    {"neural-ensemble", "f1.width=6 f1.deep_width=12 members=5 prior_width=4 decision=thompson"},
    {"neural-ensemble", "f1.width=6 f1.deep_width=12 members=3 blocks=2 exclusive=on propensity=softmax"},
    {"greedy", "f1.width=6 f1.deep_width=12 f1.loss=cross_entropy"},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Case number index; false past the last. */
static inline bool policy_case_at(size_t index, policy_case *out)
{
    ee_policy described;
    if (index < VARIANTS) {
        *out = variants[index];
        return true;
    }
    if (ee_policy_describe(index - VARIANTS, &described, NULL)) return false;
    *out = (policy_case){described.name, strchr(described.name, ':') ? "f1.width=6" : "f1.width=6 f1.deep_width=12"};
    for (size_t i = 0; i < sizeof smaller / sizeof *smaller; i++)
        if (strcmp(smaller[i].name, described.name) == 0) *out = smaller[i];
    return true;
}

/* The case after that one, the first after NULL; NULL after the last. */
static inline const policy_case *policy_case_next(const policy_case *last)
{
    static policy_case every[128];
    const policy_case *next = last ? last + 1 : every;
    return policy_case_at((size_t)(next - every), &every[next - every]) ? next : NULL;
}

#endif
