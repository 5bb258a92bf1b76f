/* f3 of EE-Net, the decision maker: combines f1 and f2 of an arm into the score that ranks arms (the paper, section 4).
 * Linear: w1 f1 + w2 f2. Neural: a network that learns from (f1, f2) the probability that the arm is the best of its
 * round. Hybrid: first linear, then neural. theta3 belongs to the caller. */
#ifndef EENET_DECISION_MAKER_H
#define EENET_DECISION_MAKER_H

#include "net/learner.h"
#include "policy/policy.h"

typedef enum decision_kind { DECISION_LINEAR, DECISION_NEURAL, DECISION_HYBRID } decision_kind;
typedef enum optimal_kind { OPTIMAL_BINARY, OPTIMAL_RANGE, OPTIMAL_THRESHOLD } optimal_kind;

typedef struct decision_options {
    option_choice kind;
    int64_t hybrid_after;
    double w1, w2, w2_late;
    int64_t w2_late_after;
    option_choice optimal;
    double reward_low, reward_high, reward_threshold;
    learner_options f3;
} decision_options;

extern const option_table decision_option_table;

typedef struct decision_maker {
    decision_options options;
    float offset; /* added to the output of f2 that a neural f3 sees */
    learner f3;
} decision_maker;

ee_status decision_maker_create(decision_maker *self, memory *owner, const decision_options *options, double offset,
                                uint64_t seed, size_t most_parameters, ee_error *error);
size_t decision_maker_theta_count(const decision_maker *self);

/* Ranks the arms of a round, given their exploitation and exploration, after `round` rewards. room is
 * (decision_maker_scratch_count); scores is (count). */
size_t decision_maker_scratch_count(const decision_maker *self);
/* The linear f3. */
float decision_maker_linear(const decision_maker *self, uint64_t round, ee_score score);

void decision_maker_score(const decision_maker *self, const float *theta3, uint64_t round, float *room,
                          ee_score *scores, size_t count);

/* p_t: the probability that the chosen arm was the best (the paper, section 4). */
float decision_maker_optimal(const decision_maker *self, double reward);

/* Whether it learns; if not, the functions below do nothing. */
bool decision_maker_learns(const decision_maker *self);
ee_status decision_maker_reserve(decision_maker *self, ee_error *error);

/* Learning in two steps, as in exploration.h: take and prepare or descend; then train or undo. */
void decision_maker_take(decision_maker *self, ee_score score, float optimal);
bool decision_maker_prepare(decision_maker *self, float *theta3);
bool decision_maker_descend(decision_maker *self, size_t rounds, float *theta3);
void decision_maker_train(decision_maker *self, float *theta3);
void decision_maker_undo(decision_maker *self, float *theta3);

#endif
