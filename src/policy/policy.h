/* The interface of a policy. docs/adding-a-policy.md walks through it.
 *
 * What scoring reads (`parameters`) is separate from what training writes. score() is a pure function of parameters and
 * arms, so many threads can score on a copy while one thread trains. The copy is flat memory; parameters_copy makes and
 * refreshes it. Code that scores and trains in one thread uses policy->parameters directly.
 *
 * A decision: score() fills a score for each arm and leaves its intermediate results in the scratch; the engine draws
 * an arm; keep() copies what the policy will need when the reward arrives. A reward: reserve() makes room, and learn()
 * learns it and trains if the schedule says so. If the next decision comes before the reward, await() counts the
 * pending one. */
#ifndef EENET_POLICY_H
#define EENET_POLICY_H

#include "base/archive.h"
#include "base/memory.h"
#include "base/options.h"
#include "math/slope.h"
#include "math/vector.h"
#include "net/initial_rows.h"
#include "parts/arm_length.h"
#include "parts/columns.h"
#include "parts/reward_units.h"

typedef struct policy policy;

/* Every policy's options begin with these; options that its tables do not offer are 0. */
typedef struct common_options {
    int64_t recall;        /* most arms in arm memory */
    int64_t pending;       /* a decision expires after this many more */
    int64_t arms;          /* arms of a round to reserve memory for */
    int64_t nonzeros;      /* entries of a sparse arm to reserve memory for */
    double wait;           /* time after which a decision without its reward expires; 0: none */
    option_text rewards;   /* "LOW:HIGH", the valid range; or "none" */
    option_choice outside; /* reject or clip a reward outside the range */
    double default_reward; /* reward of an expired decision; NaN: it is forgotten */
    int64_t blocks;        /* if a round has one context, and each arm is it in another block of the features */
    bool exclusive;        /* at most one arm of a round has a reward above the minimum */
    bool standardize;      /* rewards are rescaled: see reward_units.h */
    bool scale;            /* arms are divided by a mean length: see arm_length.h */
    option_choice propensity;
    double propensity_epsilon, propensity_temperature, propensity_gamma;
    int64_t probability_draws; /* to estimate probabilities, if the policy draws its scores */
    bool grows;                /* not an option: memory grows with use instead of being reserved */
} common_options;

/* Each policy offers those that have an effect in it. */
extern const option_table scale_option_table;       /* scale */
extern const option_table problem_option_table;     /* with an f1: blocks, exclusive */
extern const option_table standardize_option_table; /* standardize */
extern const option_table recall_option_table;      /* recall */
extern const option_table room_option_table;        /* pending, arms, nonzeros */
extern const option_table reward_option_table;      /* rewards, outside */
extern const option_table late_option_table;        /* wait, default_reward */
extern const option_table propensity_option_table;  /* if scores are not drawn: how an arm is chosen */
extern const option_table estimate_option_table;    /* if scores are drawn: probability_draws */

#define F1_TITLE "f1, the exploitation network"

/* Groups that every policy offers. */
#define REWARD_AND_ROOM_GROUPS(owner, field)                                                                           \
    OPTION_GROUP(owner, field, common_options, reward_option_table, "", "reward range"),                               \
        OPTION_GROUP(owner, field, common_options, late_option_table, "", "delayed rewards"),                          \
        OPTION_GROUP(owner, field, common_options, room_option_table, "", "memory")

/* The groups for common_options, a field of the policy's options. They come last in its schema. Use the first for a
 * policy whose scores are a function of the arms, the second for one that draws them. scale_ is the default, "scale=on"
 * or "scale=off"; the remaining arguments are for the group of arm memory. */
#define COMMON_GROUPS(owner, field, scale_, ...)                                                                       \
    SEEING_GROUPS(owner, field, scale_, __VA_ARGS__),                                                                  \
        OPTION_GROUP(owner, field, common_options, propensity_option_table, "", "choosing an arm"),                    \
        REWARD_AND_ROOM_GROUPS(owner, field)
#define COMMON_GROUPS_OF_DRAWS(owner, field, scale_, ...)                                                              \
    SEEING_GROUPS(owner, field, scale_, __VA_ARGS__),                                                                  \
        OPTION_GROUP(owner, field, common_options, estimate_option_table, "", "choosing an arm"),                      \
        REWARD_AND_ROOM_GROUPS(owner, field)
#define SEEING_GROUPS(owner, field, scale_, ...)                                                                       \
    OPTION_GROUP(owner, field, common_options, scale_option_table, "", "arms", .defaults = scale_),                    \
        OPTION_GROUP(owner, field, common_options, recall_option_table, "", "arm memory", __VA_ARGS__)

/* Everything that a score depends on besides the arms. */
typedef struct parameters {
    const policy *policy; /* for its shapes and options, which never change after creation */
    uint64_t round;       /* rewards learned so far */
    uint64_t changes;     /* decisions that await() has counted so far */
    arm_length length;    /* divisor of arms (option `scale`) */
    double centre;        /* of the rewards (option `standardize`): the policy learns (reward - centre) / spread */
    double spread;        /* 0 before two different rewards; centre 0 and spread 1 without `standardize` */
    size_t count;
    size_t unsaved;  /* the last `unsaved` are not saved: archive() recomputes them */
    size_t floats;   /* the first `floats` are floats that must be finite to be saved or loaded */
    size_t doubles;  /* number of doubles after these; loading requires them to be finite */
    size_t filled;   /* the first `filled` are all written at creation */
    float *values;   /* (count), in the layout of the policy */
    float *recalled; /* (recall_count of the policy's recalled_arms) parts/recall.h */
    columns columns; /* the places stored; without a table, all */
} parameters;

/* Copies the policy's parameters for other threads; `owner` owns the memory. */
ee_status parameters_create(memory *owner, const policy *source, parameters *out, ee_error *error);
void parameters_free(parameters *self);
/* Whether the floats and doubles that must be finite are. */
bool parameters_are_finite(const parameters *self);
/* Refreshes a copy. Returns the number of floats copied: only those that changed, if the policy has copy(). */
size_t parameters_copy(parameters *to, const parameters *from);

/* Memory for what score() computes; one per scoring thread. */
typedef struct scratch {
    float *values;
    size_t capacity;
    random_stream random;    /* for a policy whose score() draws, such as Thompson sampling */
    const size_t *positions; /* positions of the arms, if some of the round are excluded; NULL: none are */
    uint32_t *seen;          /* (seen_capacity) the arms as score() sees them, if the policy stores columns */
    size_t seen_capacity;
} scratch;

ee_status scratch_reserve(scratch *self, memory *owner, size_t floats, ee_error *error);
/* Reserves memory to map these arms to columns: policy_score and policy_explain need it. */
ee_status scratch_reserve_seen(scratch *self, memory *owner, const parameters *learned, const ee_arms *arms,
                               ee_error *error);

/* A decision to learn or to count as tried, with everything as it was when it was made. */
typedef struct observation {
    uint64_t round; /* of the parameters that decided */
    vector x;       /* the chosen arm */
    arm_id id;
    ee_score score;
    const float *kept; /* (kept_count) what keep() wrote */
    size_t kept_count;
    bool awaited;        /* await() has counted it */
    float expected;      /* what await() returned */
    uint64_t awaited_at; /* parameters.round at that time */
} observation;

/* How the scores of a round become the probabilities of its arms. */
typedef enum propensity_kind {
    PROPENSITY_OWN,      /* as the policy does by default */
    PROPENSITY_ARGMAX,   /* the best; ties at random */
    PROPENSITY_FIRST,    /* the best; ties to the first */
    PROPENSITY_FLOOR,    /* the best, but with probability epsilon any arm */
    PROPENSITY_SOFTMAX,  /* proportional to exp(score / temperature) */
    PROPENSITY_IGW,      /* inverse-gap weighting: 1 / (n + gamma (best - score)), the rest to the best */
    PROPENSITY_LOSS_IGW, /* the same with gamma / (largest reward - best score) */
    PROPENSITY_VOTES     /* the share of voters that rank the arm first */
} propensity_kind;

typedef struct propensity_rule {
    propensity_kind kind;
    double amount; /* epsilon, temperature, gamma or number of voters; in units of the spread except for LOSS_IGW */
    double most;   /* the largest reward, for LOSS_IGW */
} propensity_rule;

typedef struct policy_class policy_class;

typedef struct policy_setup {
    const policy_class *class; /* of the policy to create */
    memory *memory;            /* owns all blocks of the policy, and outlives it */
    size_t dim;
    uint64_t seed;
    const void *options;     /* of policy_class->schema, checked */
    size_t most_parameters;  /* limit when a model is loaded */
    const column_room *room; /* for a policy that can store columns; NULL: it stores all places */
    size_t names;            /* places that belong to names, for parts/columns.h */
} policy_setup;

typedef struct policy_preset {
    const char *name; /* "eenet:paper" */
    const char *summary;
    const char *options; /* one line per part */
} policy_preset;

typedef struct policy_presets {
    const policy_preset *rows;
    size_t count;
} policy_presets;

/* How models before this version differ in their options. */
typedef struct earlier_options {
    uint64_t version;
    const char *options; /* options that they lack, with their values then */
    const char *gone;    /* an option that was removed since: archive.gone; NULL: none */
} earlier_options;

enum { ROW_PARTS = 8 }; /* most row_parts of a policy */

/* A part of the parameters that has a row of `width` floats for each column. */
typedef struct row_part {
    size_t start, width;
} row_part;

struct policy_class {
    const char *summary, *paper;
    const option_schema *schema; /* its owner is the policy's name */
    policy_presets presets;      /* {0}: none */
    earlier_options earlier;     /* for models before a version; {0}: nothing differs */

    /* Never NULL; nor is score. Allocates everything, including the policy, from setup->memory,
     * which frees it, also on failure. */
    ee_status (*create)(const policy_setup *setup, policy **out, ee_error *error);

    /* Floats of scratch that score() needs for this number of arms. NULL: none. */
    size_t (*scratch_count)(const policy *self, size_t arms);
    /* scores is (arms->count). Writes nothing but scores and scratch; may draw from scratch.random. */
    void (*score)(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores);

    bool draws;            /* score() draws random numbers */
    bool arms_independent; /* an arm's score is the same, to the last bit, whatever arms it is scored with */

    /* gradient (x.count) = the derivative of ee_score.exploitation with respect to each entry of an arm that score()
     * might see. room has explain_count floats for an arm of this many entries; NULL: none are needed. explain NULL: no
     * feature contributes to the expected reward. */
    size_t (*explain_count)(const policy *self, size_t entries);
    void (*explain)(const parameters *learned, vector x, scratch *room, float *gradient);

    /* The expected reward in a score, before arm memory changes it, if exploration is part of it, as EE-Net's f2 is.
     * NULL: exploitation; exploration is a width or a draw. */
    float (*expected_reward)(const parameters *learned, ee_score score);

    /* How an arm is drawn from the scores with propensity=own. NULL: the best one. */
    propensity_rule (*rule)(const parameters *learned);
    /* For PROPENSITY_VOTES: sets the score of each arm of a round to that of one voter. Called after score() with the
     * same parameters and scratch. */
    void (*vote)(const parameters *learned, size_t voter, const scratch *room, ee_score *scores, size_t count);

    /* What to store with a decision until its reward arrives: kept_count floats, for parameters of this round and this
     * number of arms. keep() is called after score() with the same parameters, arms and scratch, unless the count is 0.
     * Both NULL: nothing is stored. */
    size_t (*kept_count)(const policy *self, uint64_t round, size_t arms);
    void (*keep)(const parameters *learned, const ee_arms *arms, size_t arm, const scratch *room, float *kept);

    /* Reserves all memory that learn() will need. On failure nothing changes. NULL: learn() needs none. */
    ee_status (*reserve)(policy *self, const observation *o, ee_error *error);
    /* Learns a reward, trains if the schedule says so, and increments the round. Returns false, and changes nothing, if
     * training would leave a parameter that is not finite, or huge. NULL: the policy does not learn. */
    bool (*learn)(policy *self, const observation *o, float reward);

    /* Counts a pending decision as tried (GP-BUCB: Desautels, Krause, Burdick, JMLR 2014), so that the policy does not
     * choose the same untried arm again and again until rewards arrive. reserve() was called before, for the same
     * observation. Returns a finite number, which learn() gets as observation.expected. A forgotten decision stays
     * counted as tried. NULL: the policy ignores pending decisions.
     *
     * Called lazily, before the next decision is scored: never if the reward arrives earlier. */
    float (*await)(policy *self, const observation *o);

    /* Copies to `to`, laid out as the parameters, what rewards number `first` and later, and await() since then, have
     * written; first = 0: everything ever written. The first reward is number 1. An await() after reward n counts like
     * reward n + 1: copying it once too often is allowed, missing it is not. Returns the number of floats. NULL: all
     * are copied. */
    size_t (*copy)(const policy *self, uint64_t first, float *to);

    /* For a policy that stores columns: initialises the last of parameters.columns, which is new, to the weights
     * without samples. NULL: the policy stores all places. */
    void (*start_column)(policy *self, size_t place);
    /* Visits the parameters of the columns in use. NULL: they are rows, see policy_add_rows. */
    void (*archive_columns)(policy *self, archive *a);

    /* Reads the parameters from index `at` from a model before earlier.version, which had another layout; archive()
     * recomputes what cannot be read. NULL: the layout has not changed. */
    void (*read_earlier)(policy *self, size_t at, archive *a);

    /* Visits everything that changes after creation, except the parameters. NULL: there is nothing else. */
    void (*archive)(policy *self, archive *a);
};

/* Every policy's struct begins with this. */
struct policy {
    const policy_class *class;
    parameters parameters;
    reward_units units;        /* reward units, including the reward being learned; on with `standardize` */
    reward_units units_before; /* the same without it, to undo a training */
    uint64_t limited;          /* rewards that were limited (outliers) or clipped */
    uint64_t stride;           /* only every stride-th training of the schedule runs; see bandit_set_stride */
    size_t recalled_arms;      /* most arms in arm memory (option `recall`) */
    slope *recall_weights;     /* (RECALL_CLASSES) */
    float recall_width;        /* weight of sqrt(log(1 + rewards)) deviations of a recurring arm's mean; 0: none */
    size_t *recalled_places; /* (RECENT) of the last arms, that of reward number n at n % RECENT, for parameters_copy */

    /* For a policy that stores columns. */
    memory *memory;
    row_part row_parts[ROW_PARTS]; /* the first row_part_count are used, in order */
    size_t row_part_count;
    scratch seen; /* the arm being learned, as the policy sees it */
};

/* For create(): checks that `blocks` divides the number of features. */
ee_status policy_check_blocks(const policy_setup *setup, ee_error *error);

/* For create(): sets the class and allocates the parameters, zeroed. */
ee_status policy_set_parameters(policy *self, const policy_setup *setup, size_t count, ee_error *error);
/* For create(), with setup->room: prepares the columns, none so far. policy_add_rows then names each part of the
 * parameters that has a row per column. */
ee_status policy_store_columns(policy *self, const policy_setup *setup, ee_error *error);
void policy_add_rows(policy *self, row_part part);

/* Gives the next column to a place. Requires columns_fit. */
void policy_add_column(policy *self, uint32_t place);

/* Call it before writing parameters: announces that the first `count` will all be written. */
void policy_fills_parameters(policy *self, size_t count);

/* The functions of its class; 0 if they are NULL. */
size_t policy_scratch_count(const policy *self, size_t arms);
size_t policy_kept_count(const policy *self, uint64_t round, size_t arms);
size_t policy_explain_count(const policy *self, size_t entries);

/* How much arm memory (option `recall`) changes the score of x. */
float policy_recalled(const parameters *learned, vector x, arm_id id, ee_score score);

/* Call a class's functions through these. They add what all policies share, arm memory, and set the floating-point mode
 * (math/float_mode.h). */
void policy_score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores);
void policy_vote(const parameters *learned, const ee_arms *arms, size_t voter, const scratch *room, ee_score *scores);
void policy_explain(const parameters *learned, vector x, scratch *room, float *gradient);
ee_status policy_reserve(policy *self, const observation *o, ee_error *error);
bool policy_learn(policy *self, const observation *o, float reward);
float policy_await(policy *self, const observation *o);

/* The policies, one for each class; registry.c lists them. */
extern const policy_class eenet_class, neural_epsilon_class, neural_ucb_class, neural_ts_class, neural_linear_class,
    neural_linucb_class, neural_ensemble_class, neural_fastcb_class, squarecb_class, linucb_class, lints_class,
    kernelucb_class, kernelts_class, greedy_class, ucb1_class, thompson_class, uniform_class;

/* "eenet:paper" -> the class and the preset's options ("" for none). */
ee_status policy_find(const char *name, const policy_class **class, const char **preset, ee_error *error);

#endif
