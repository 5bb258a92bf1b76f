/* The bandit of the public header: a policy, pending decisions, and memory to decide with. */
#ifndef EENET_BANDIT_H
#define EENET_BANDIT_H

#include <stdatomic.h>

#include "counted_decisions.h"
#include "deciding.h"
#include "pending.h"
#include "reward_range.h"

enum { POLICY_NAME_SIZE = 64, OPTIONS_SIZE = 8192, FEATURES_SIZE = 512 };

struct features; /* see features/features.h */
struct features_options;

/* A policy with all its memory. If it stores columns and needs more, a larger one replaces it; earlier snapshots keep
 * the one that they know. */
typedef struct policy_arena {
    memory memory; /* all blocks of the policy; this is the first */
    policy *policy;
    atomic_size_t holders;
} policy_arena;

struct ee_bandit {
    memory memory;                       /* all blocks of the bandit, which is the first, except those of its policy */
    char name[POLICY_NAME_SIZE];         /* as requested, with the preset */
    char options[OPTIONS_SIZE];          /* every option that has an effect, with its value */
    char feature_options[FEATURES_SIZE]; /* the same for its features; "" if it takes only vectors */
    size_t dim;
    uint64_t seed;
    uint64_t fingerprint;      /* of what changes the meaning of a record, see bandit.c */
    struct features *features; /* NULL: it takes only vectors */
    char *feature_name;        /* (feature_name_capacity) of the last described feature */
    size_t feature_name_capacity;
    policy_arena *arena;
    policy *policy;             /* the one in the arena */
    initial_rows *initial_rows; /* of the networks of the policy */
    reward_range range;
    size_t named_columns; /* names that are known to have a column */
    decision_rules rules;
    deciding_room *room; /* scoring with a const bandit writes here */
    pending pending;
    counted_decisions counted;
    uint32_t *words; /* (word_capacity) of the decision being learned or added */
    size_t word_capacity;
    uint64_t decisions, rewards;
    uint64_t expired, defaulted; /* decisions without a reward: forgotten, or learned with the default */
    double now;                  /* set by ee_bandit_set_time */
};

/* What a loaded bandit is created with besides its settings. */
typedef struct bandit_origin {
    size_t most_parameters; /* see policy_setup */
    bool stores_all;        /* the policy has all places; otherwise it may store columns */
    const uint32_t *places; /* (count) of its columns */
    size_t count;
} bandit_origin;

ee_status bandit_create(const ee_settings *settings, const bandit_origin *origin, ee_bandit **out, ee_error *error);

/* Refuses settings with non-zero reserved members: the program expects a newer library. verb begins the message. */
ee_status bandit_check_reserved(const ee_settings *settings, const char *verb, ee_error *error);

/* Whether a policy has the option of an assignment such as "blocks=10", and it has an effect with these options. */
bool bandit_takes(const char *policy_name, const char *assignment, const char *options);

/* If the policy stores columns: gives a column to each place of an arm that has none. Call it before the arm is
 * learned. */
ee_status bandit_add_columns(ee_bandit *self, vector x, ee_error *error);

/* The same for a round of named features, and for all known names: learning them then needs no more memory. If memory
 * runs out nothing changes, which does not matter until an arm is learned. */
void bandit_add_round(ee_bandit *self, const ee_arms *arms);

/* Adds or removes a holder of an arena; the last one frees it. */
policy_arena *policy_arena_hold(policy_arena *self);
void policy_arena_release(policy_arena *self);

/* Creates the policy of a bandit. capacity is that of its columns; 0: it stores all places. */
ee_status bandit_create_policy(ee_bandit *self, const policy_class *class, const void *options, size_t capacity,
                               size_t most_parameters, policy_arena **out, ee_error *error);

/* The capacity for this many columns, with room to grow. */
size_t bandit_column_capacity(const ee_bandit *self, size_t count);

/* Visits what the policy has learned. */
void bandit_archive_policy(policy *self, archive *a);

/* The options of the policy; free them with memory_free. */
ee_status bandit_read_options(ee_bandit *self, void **options, ee_error *error);

/* Reserves this many words. */
ee_status bandit_reserve_words(ee_bandit *self, size_t words, ee_error *error);

/* From now on only every stride-th training runs, 1 to 2^20, but all rewards are added: for a caller that cannot keep
 * up. Policies without training are not affected. Not part of the model: a loaded bandit has 1. */
void bandit_set_stride(ee_bandit *self, uint64_t stride);

/* Call it before scoring for a decision: counts pending decisions that the policy does not know yet as tried. */
ee_status bandit_await_pending(ee_bandit *self, ee_error *error);

/* Checks that one call makes at most `pending` decisions. */
ee_status bandit_check_count(const ee_bandit *self, size_t decisions, ee_error *error);

/* The checks of ee_bandit_learn_from that do not need the arms, only their number. */
ee_status bandit_check_logged(const ee_bandit *self, size_t arms, size_t arm, double reward, ee_error *error);

/* Reserves all memory that the policy needs for an observation: policy_reserve, and columns. */
ee_status bandit_reserve(ee_bandit *self, const observation *seen, ee_error *error);

/* Learns the reward of a decision. On failure nothing changes. */
ee_status bandit_learn_seen(ee_bandit *self, const observation *seen, double reward, ee_error *error);

/* Adds a pending decision with its words; pending_reserve must have been called. The decision made `pending` decisions
 * earlier expires. Cannot fail. */
void bandit_add_pending(ee_bandit *self, const kept_decision *kept, const uint32_t *words);

/* Reads the decision of a record into self->words, scaled for this bandit. *length becomes the divisor of arms after it
 * is added. */
ee_status bandit_read_record(ee_bandit *self, const void *record, size_t size, kept_decision *kept, arm_length *length,
                             ee_error *error);

/* More than any bandit can make; a model with more is damaged. */
#define MOST_DECISIONS ((uint64_t)1 << 62)

/* For settings with features: reads their options, which give the dimension; and creates them. */
ee_status bandit_read_features(ee_bandit *self, const ee_settings *settings, struct features_options *options,
                               ee_error *error);
ee_status bandit_create_features(ee_bandit *self, const struct features_options *options, ee_error *error);

/* Visits what changes after creation. */
void bandit_archive(ee_bandit *self, archive *a);

#endif
