/* The bandit behind the public header: a policy, the decisions that wait for their reward, and room to decide in. */
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

/* A policy with all its blocks. Where it stores columns and more are needed, a larger one takes its place; snapshots
 * that were published before go on with the one that they know. */
typedef struct policy_arena {
    memory memory; /* all blocks of the policy, this the first */
    policy *policy;
    atomic_size_t holders;
} policy_arena;

struct ee_bandit {
    memory memory;                       /* all blocks of the bandit, itself the first, but for those of its policy */
    char name[POLICY_NAME_SIZE];         /* as asked for, with the preset */
    char options[OPTIONS_SIZE];          /* every option that acts, with its value */
    char feature_options[FEATURES_SIZE]; /* the same of its features; "" where it takes vectors alone */
    size_t dim;
    uint64_t seed;
    uint64_t fingerprint;      /* of what changes a record's meaning, see bandit.c */
    struct features *features; /* NULL: it takes vectors alone */
    char *feature_name;        /* (feature_name_capacity) that was read back last */
    size_t feature_name_capacity;
    policy_arena *arena;
    policy *policy;             /* the arena's */
    initial_rows *initial_rows; /* that the policy's networks were made with */
    reward_range range;
    size_t named_columns; /* so many names are known to have a column */
    decision_rules rules;
    deciding_room *room; /* what scoring with a constant bandit changes */
    pending pending;
    counted_decisions counted;
    uint32_t *words; /* (word_capacity) of a decision that is being learned or taken in */
    size_t word_capacity;
    uint64_t decisions, rewards;
    uint64_t expired, defaulted; /* of decisions whose reward did not come: forgotten, learned as the default */
    double now;                  /* as ee_bandit_set_time says */
};

/* What a bandit is created with beside its settings where it is loaded. */
typedef struct bandit_origin {
    size_t most_parameters; /* see policy_setup */
    bool stores_all;        /* the policy has all places; else it may store columns */
    const uint32_t *places; /* (count) of the columns that it has */
    size_t count;
} bandit_origin;

ee_status bandit_create(const ee_settings *settings, const bandit_origin *origin, ee_bandit **out, ee_error *error);

/* A program that sets them means something that this library does not know yet. verb: what the sentence begins with. */
ee_status bandit_check_reserved(const ee_settings *settings, const char *verb, ee_error *error);

/* Whether a policy has the option that an assignment sets, as "blocks=10", and it acts beside these options. */
bool bandit_takes(const char *policy_name, const char *assignment, const char *options);

/* Gives the places of an arm that have none a column, where the policy stores columns: before the arm is learned. */
ee_status bandit_add_columns(ee_bandit *self, vector x, ee_error *error);

/* The same of a round of named features, and of all names that are known: learning them then needs no more memory. If
 * there is none, nothing has changed, and nothing depends on it before an arm is learned. */
void bandit_add_round(ee_bandit *self, const ee_arms *arms);

/* One more holder of an arena; one less, the last of which frees it. */
policy_arena *policy_arena_hold(policy_arena *self);
void policy_arena_release(policy_arena *self);

/* Makes the policy of a bandit; capacity: columns that it has room for, 0: it stores all places. */
ee_status bandit_create_policy(ee_bandit *self, const policy_class *class, const void *options, size_t capacity,
                               size_t most_parameters, policy_arena **out, ee_error *error);

/* As much room as so many columns need, and more may come soon. */
size_t bandit_column_capacity(const ee_bandit *self, size_t count);

/* Visits what the policy has learned. */
void bandit_archive_policy(policy *self, archive *a);

/* The policy's options, to be freed with memory_free. */
ee_status bandit_read_options(ee_bandit *self, void **options, ee_error *error);

/* Room for so many words. */
ee_status bandit_reserve_words(ee_bandit *self, size_t words, ee_error *error);

/* From now on it trains for one in so many of the rewards that it would train for, 1 to 2^20, and takes in all of them:
 * for whoever cannot keep up. Policies that need no training, as those that solve exactly, learn as ever. It is no part
 * of the model: one that is loaded has 1. */
void bandit_set_stride(ee_bandit *self, uint64_t stride);

/* Before anything is scored for a decision: tells the policy of the decisions that wait and that it was not told of. */
ee_status bandit_tell(ee_bandit *self, ee_error *error);

/* Whether one call may make so many decisions: no more than may wait (option `pending`). */
ee_status bandit_check_count(const ee_bandit *self, size_t decisions, ee_error *error);

/* What ee_bandit_learn_from checks before it looks at the arms, of which there are so many. */
ee_status bandit_check_logged(const ee_bandit *self, size_t arms, size_t arm, double reward, ee_error *error);

/* Makes room for the policy to be told of an observation: policy_reserve, and columns. */
ee_status bandit_reserve(ee_bandit *self, const observation *seen, ee_error *error);

/* Has the policy learn the reward of a decision. If it fails, nothing has changed. */
ee_status bandit_learn_seen(ee_bandit *self, const observation *seen, double reward, ee_error *error);

/* A decision was made and now waits, with its words; pending_reserve has made room. The one that was made so many
 * decisions before as the option `pending` says expires. Cannot fail. */
void bandit_remember(ee_bandit *self, const kept_decision *kept, const uint32_t *words);

/* Reads the record's decision into self->words, scaled as the bandit's own. *length: what the bandit's arms are divided
 * by once it is taken in. */
ee_status bandit_read_record(ee_bandit *self, const void *record, size_t size, kept_decision *kept, arm_length *length,
                             ee_error *error);

/* More than a bandit lives to make; a model that claims more is damaged. */
#define MOST_DECISIONS ((size_t)1 << 62)

/* Of settings with features: reads their options, which give the dimension; and creates them. */
ee_status bandit_read_features(ee_bandit *self, const ee_settings *settings, struct features_options *options,
                               ee_error *error);
ee_status bandit_create_features(ee_bandit *self, const struct features_options *options, ee_error *error);

/* What changes after creation. */
void bandit_archive(ee_bandit *self, archive *a);

#endif
