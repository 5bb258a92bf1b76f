/* What EE-Net can be told, and the presets. */
#ifndef EENET_EENET_OPTIONS_H
#define EENET_EENET_OPTIONS_H

#include "gradient_features.h"
#include "net/learner.h"
#include "policy/policy.h"
#include "schedule.h"

typedef enum label_kind { LABEL_GAIN, LABEL_ABS, LABEL_RELU } label_kind;
typedef enum decision_kind { DECISION_LINEAR, DECISION_NEURAL, DECISION_HYBRID } decision_kind;
typedef enum optimal_kind { OPTIMAL_BINARY, OPTIMAL_RANGE, OPTIMAL_THRESHOLD } optimal_kind;
typedef enum exploration_kind { EXPLORATION_NETWORK, EXPLORATION_RIDGE } exploration_kind;
typedef enum keep_kind { KEEP_LAST, KEEP_ALL, KEEP_RESERVOIR } keep_kind;

typedef struct own_options {
    option_choice exploration;
    double prior_gain, ridge;
    int64_t refresh, units, recall;
    option_choice label;
    double label_offset;
    double extra_gain;
    int64_t extra_until;
    option_choice decision;
    int64_t hybrid_after;
    double w1, w2, w2_late;
    int64_t w2_late_after;
    option_choice optimal;
    double reward_low, reward_high, reward_threshold;
    option_choice keep;
} own_options;

typedef struct eenet_options {
    common_options common;
    schedule schedule;
    feature_options features;
    own_options own;
    learner_options f1, f2, f3;
} eenet_options;

extern const option_schema eenet_schema;
extern const policy_presets eenet_presets;

/* What f2 learns of a gain, r - f1. */
float eenet_label(const own_options *o, float gain);

/* Refuses what does not go together. */
ee_status eenet_check(const eenet_options *o, ee_error *error);

#endif
