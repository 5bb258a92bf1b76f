/* What a policy is. docs/adding-a-policy.md walks through it.
 *
 * What scoring reads, `parameters`, is apart from what training writes: score() is a pure function of (parameters,
 * arms), so many threads may score on a copy while one thread trains. parameters_copy makes and refreshes one: it is
 * flat memory. Whoever does both in one thread scores on policy->parameters directly.
 *
 * How a decision flows: score() fills a score for each arm and leaves what it computed on the way in the scratch; the
 * engine draws an arm; keep() copies what the policy will need to know of this decision when its reward comes. Then,
 * for the reward, reserve() makes room, and learn() adds it to what the policy has seen and trains when its schedule
 * says so. Where the next decision comes before the reward, await() is told of the one that waits. */
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

/* Every policy's options begin with these; what its tables do not offer is 0. */
typedef struct common_options {
    int64_t recall;        /* arms whose own rewards are remembered, at most */
    int64_t pending;       /* decisions that wait for their reward, at most */
    int64_t arms;          /* of a round that room is reserved for */
    int64_t nonzeros;      /* of a sparse arm that room is reserved for */
    double wait;           /* the time after which a decision without its reward expires; 0: none */
    option_text rewards;   /* "LOW:HIGH", the range that the user states; or "none" */
    option_choice outside; /* what becomes of a reward that is not within it */
    double default_reward; /* that a decision which expires is learned with; not a number: it is forgotten */
    int64_t blocks;   /* that the features are cut into: a round has one context, and each arm is it in another block */
    bool exclusive;   /* of the arms of a round at most one has a reward that is not the least */
    bool standardize; /* rewards are learned in units of their own */
    bool scale;       /* arms are divided by a mean length: see arm_length.h */
    option_choice propensity;
    double propensity_epsilon, propensity_temperature, propensity_gamma;
    int64_t probability_draws; /* by which the probability of a policy that draws its scores is estimated */
    bool grows; /* no option: memory follows what comes, and is not reserved for what the options allow */
} common_options;

/* Each policy offers those that act in it. */
extern const option_table scale_option_table;       /* scale */
extern const option_table problem_option_table;     /* where there is an f1: blocks, exclusive */
extern const option_table standardize_option_table; /* standardize */
extern const option_table recall_option_table;      /* recall */
extern const option_table room_option_table;        /* pending, arms, nonzeros */
extern const option_table reward_option_table;      /* rewards, outside */
extern const option_table late_option_table;        /* wait, default_reward */
extern const option_table propensity_option_table;  /* where scores are not drawn: how an arm is drawn from them */
extern const option_table estimate_option_table;    /* where scores are drawn: probability_draws */

#define F1_TITLE "f1, the exploitation network"

/* Those that every policy offers. */
#define REWARD_AND_ROOM_GROUPS(owner, field)                                                                           \
    OPTION_GROUP(owner, field, common_options, reward_option_table, "", "reward range"),                               \
        OPTION_GROUP(owner, field, common_options, late_option_table, "", "delayed rewards"),                          \
        OPTION_GROUP(owner, field, common_options, room_option_table, "", "memory")

/* The groups for common_options, a field of the policy's options. They come last in its schema. The first is for a
 * policy whose scores are a function of the arms, the second for one that draws them. scale_ is the default, "scale=on"
 * or "scale=off"; what comes after it is for the group of the memory of arms. */
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

/* All that a score depends on besides the arms. */
typedef struct parameters {
    const policy *policy; /* the shapes and options in it, which never change after its creation */
    uint64_t round;       /* rewards learned so far */
    uint64_t changes;     /* decisions that await() was told of so far */
    arm_length length;    /* that arms are divided by (option `scale`) */
    double centre;        /* of the rewards (option `standardize`): the policy learns (reward - centre) / spread */
    double spread;        /* 0 before two different rewards came; centre 0 and spread 1 where they are as they are */
    size_t count;
    size_t unsaved;  /* so many of them, the last ones, are not saved: archive() makes them again */
    size_t floats;   /* so many of them, from the first on, are floats that must be finite to be saved or loaded */
    size_t filled;   /* so many of them, from the first on, are all written from the beginning */
    float *values;   /* (count), in the policy's own layout */
    float *recalled; /* (recall_count of the policy's recalled_arms) parts/recall.h */
    columns columns; /* the places that are stored; without a table all are */
} parameters;

/* A copy of the policy's parameters as they are now, for other threads; its room is the owner's. */
ee_status parameters_create(memory *owner, const policy *source, parameters *out, ee_error *error);
void parameters_free(parameters *self);
/* Brings a copy up to date. Returns how many floats were copied: only those that have changed, where the policy has
 * copy(). */
size_t parameters_copy(parameters *to, const parameters *from);

/* Room for what score() computes; one for each thread that scores. */
typedef struct scratch {
    float *values;
    size_t capacity;
    random_stream random;    /* for a policy whose score() draws, as Thompson sampling does */
    const size_t *positions; /* of the arms, where some of their round were left out; NULL: they are all of it */
    uint32_t *seen;          /* (seen_capacity) the arms as score() sees them, where the policy stores columns */
    size_t seen_capacity;
} scratch;

ee_status scratch_reserve(scratch *self, memory *owner, size_t floats, ee_error *error);
/* Room to see these arms by these parameters: policy_score and policy_explain need it besides what score() does. */
ee_status scratch_reserve_seen(scratch *self, memory *owner, const parameters *learned, const ee_arms *arms,
                               ee_error *error);

/* A decision whose reward has come, or is awaited: everything is as it was when the decision was made. */
typedef struct observation {
    uint64_t round; /* of the parameters that decided */
    vector x;       /* the played arm */
    arm_id id;
    ee_score score;
    const float *kept; /* (kept_count) what keep() wrote */
    size_t kept_count;
    bool awaited;        /* await() was told of it */
    float expected;      /* what await() returned */
    uint64_t awaited_at; /* parameters.round at that time */
} observation;

/* How the scores of a round become the probabilities of its arms. */
typedef enum propensity_kind {
    PROPENSITY_OWN,      /* as the policy has it */
    PROPENSITY_ARGMAX,   /* the best; equal ones share */
    PROPENSITY_FIRST,    /* the best; of equal ones the first */
    PROPENSITY_FLOOR,    /* the best, but with probability epsilon any arm */
    PROPENSITY_SOFTMAX,  /* proportional to exp(score / temperature) */
    PROPENSITY_IGW,      /* inverse-gap weighting: 1 / (n + gamma (best - score)), the rest to the best */
    PROPENSITY_LOSS_IGW, /* the same, gamma divided by what the best falls short of the largest reward by */
    PROPENSITY_VOTES     /* the share of voters, each with scores of its own, of which it is the best */
} propensity_kind;

typedef struct propensity_rule {
    propensity_kind kind;
    double
        amount;  /* epsilon; temperature or gamma, of scores in units of the rewards' spread; gamma of LOSS_IGW; voters
                  */
    double most; /* the largest reward: LOSS_IGW alone */
} propensity_rule;

typedef struct policy_setup {
    memory *memory; /* whose blocks all of the policy's are; it outlives the policy */
    size_t dim;
    uint64_t seed;
    const void *options;     /* of policy_class->schema, checked */
    size_t most_parameters;  /* a model that is being loaded has no more than this */
    const column_room *room; /* that a policy may use which can store columns; NULL: it stores all places */
    size_t names;            /* of the places those that names have, for parts/columns.h */
} policy_setup;

typedef struct policy_preset {
    const char *name; /* "eenet:paper" */
    const char *summary;
    const char *options; /* a line for each part */
} policy_preset;

typedef struct policy_presets {
    const policy_preset *rows;
    size_t count;
} policy_presets;

/* How the options of models before this version differ. */
typedef struct earlier_options {
    uint64_t version;
    const char *options; /* that they do not name, as they acted then */
    const char *gone;    /* an option that they may name and that is gone: archive.gone; NULL: none */
} earlier_options;

enum { ROW_PARTS = 8 }; /* of the parameters, at most */

/* A part of the parameters that has a row of `width` floats for each column. */
typedef struct row_part {
    size_t start, width;
} row_part;

typedef struct policy_class {
    const char *summary, *paper;
    const option_schema *schema;   /* its owner is the policy's name */
    const policy_presets *presets; /* NULL: none */
    earlier_options earlier;       /* of models before a version; {0}: they name all that differs from the defaults */

    /* Never NULL, as scratch_count and score. Takes all that it allocates, the policy too, from setup->memory, which
     * frees it, also on failure. */
    ee_status (*create)(const policy_setup *setup, policy **out, ee_error *error);

    /* Floats of scratch that score() needs for so many arms. */
    size_t (*scratch_count)(const policy *self, size_t arms);
    /* scores is (arms->count). Changes nothing but scratch, of which random may be drawn from. */
    void (*score)(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores);

    bool draws; /* score() draws: given the arms, which one is best is a matter of chance */
    bool alone; /* to the last bit, an arm's score is the same whatever arms it is scored with */

    /* gradient (x.count) = the derivative of ee_score.exploitation by each entry of an arm that score() might see. room
     * has explain_count floats for an arm of so many entries; NULL: none are needed. explain NULL: no feature has a
     * part in what is expected. */
    size_t (*explain_count)(const policy *self, size_t entries);
    void (*explain)(const parameters *learned, vector x, scratch *room, float *gradient);

    /* What a score of score() expects, before the memory of arms changed it, where exploration is a part of that, as
     * EE-Net's f2 is. NULL: exploitation; exploration is a width or a draw. */
    float (*own_score)(const parameters *learned, ee_score score);

    /* How an arm is drawn from the scores where the option `propensity` is `own`. NULL: the best one. */
    propensity_rule (*rule)(const parameters *learned);
    /* Where that says PROPENSITY_VOTES: sets the score of each arm of a round to that by one of the voters. It comes
     * after score() on the same parameters and scratch. */
    void (*vote)(const parameters *learned, size_t voter, const scratch *room, ee_score *scores, size_t count);

    /* What to store with a decision until its reward comes: kept_count floats, for parameters of this round and so many
     * arms. keep() comes after score() on the same parameters, arms and scratch, and not where the count is 0. Both
     * NULL: nothing is stored. */
    size_t (*kept_count)(const policy *self, uint64_t round, size_t arms);
    void (*keep)(const parameters *learned, const ee_arms *arms, size_t arm, const scratch *room, float *kept);

    /* Makes all the room that learn() will need. On failure nothing has changed. reserve and learn both NULL: the
     * policy does not learn. */
    ee_status (*reserve)(policy *self, const observation *o, ee_error *error);
    /* Takes in a reward, trains where the schedule says so, and counts the round up. Returns false where training would
     * have left a parameter that is not a number of reasonable size; then nothing has changed. */
    bool (*learn)(policy *self, const observation *o, float reward);

    /* A decision was made and its reward is not there yet: what the policy knows should count it as tried (GP-BUCB:
     * Desautels, Krause, Burdick, JMLR 2014), so that until rewards come it does not play the same untried arm again
     * and again. reserve() came before, for the same observation. Returns a finite number that learn() is given back as
     * observation.expected. A decision that is forgotten stays counted as tried. NULL: the policy does not care.
     *
     * It is called lazily, before the next decision is scored: where the reward comes earlier, never. */
    float (*await)(policy *self, const observation *o);

    /* Copies to `to`, laid out as the parameters, what the rewards from number first on, and awaits since then, have
     * written; first = 0: all that was ever written. The first reward of a policy is number 1. An await since reward
     * number n counts as reward n + 1 would: it may be copied once more than needed, never once less. Returns how many
     * floats. NULL: all is copied. */
    size_t (*copy)(const policy *self, uint64_t first, float *to);

    /* For a policy that stores columns: one more has a place, the last of parameters.columns. Its weights become those
     * of no samples. NULL: it stores all places. */
    void (*start_column)(policy *self, size_t place);
    /* Visits the parameters of the columns that have a place. NULL: they are rows, see policy_add_rows. */
    void (*archive_columns)(policy *self, archive *a);

    /* Reads the parameters from number `at` on from a model before earlier.version, in which they lay otherwise;
     * archive() makes what cannot be read. NULL: they have not changed. */
    void (*read_earlier)(policy *self, size_t at, archive *a);

    /* Visits all that changes after creation, but for the parameters. NULL: there is nothing else. */
    void (*archive)(policy *self, archive *a);
} policy_class;

/* Every policy's struct begins with this. */
struct policy {
    const policy_class *class;
    parameters parameters;
    reward_units units;        /* of the rewards, the one that is being learned among them; on with `standardize` */
    reward_units units_before; /* the same without it, for a training that is taken back */
    uint64_t limited;          /* rewards that were learned as less than they were, or more: outliers, or clipped */
    uint64_t stride;           /* one in so many trainings of the schedule takes place; see bandit_set_stride */
    size_t recalled_arms;      /* that are remembered, at most (option `recall`) */
    slope *recall_weights;     /* (RECALL_CLASSES) */
    float recall_width;        /* weight of sqrt(log(1 + rewards)) deviations of a recurring arm's mean; 0: none */
    size_t *recalled_places; /* (RECENT) of the last arms, that of reward number n at n % RECENT, for parameters_copy */

    /* For a policy that stores columns. */
    memory *memory;
    row_part row_parts[ROW_PARTS]; /* the first row_part_count of them are there, in their order */
    size_t row_part_count;
    scratch seen; /* the arm that is being learned, as the policy sees it */
};

/* For a policy's create(): whether the features can be cut into the blocks that the options name. */
ee_status policy_check_blocks(const policy_setup *setup, ee_error *error);

/* For a policy's create(): the parameters, zeroed. */
ee_status policy_set_parameters(policy *self, const policy_setup *setup, size_t count, ee_error *error);
/* For a policy's create(), where it uses setup->room: the columns, none so far. policy_add_rows then names each part of
 * the parameters that has a row for each column. */
ee_status policy_store_columns(policy *self, const policy_setup *setup, ee_error *error);
void policy_add_rows(policy *self, row_part part);

/* Gives the next column to a place; columns_fit. */
void policy_add_column(policy *self, uint32_t place);

/* After that and before it writes any: it is going to write the first `count` of them all. */
void policy_fills_parameters(policy *self, size_t count);

/* The kept_count of its class; 0 where that is NULL. */
size_t policy_kept_count(const policy *self, uint64_t round, size_t arms);

/* The explain_count of its class; 0 where that is NULL. */
size_t policy_explain_count(const policy *self, size_t entries);

/* How much of a score of x is due to what came of this very arm before (option `recall`). */
float policy_recalled(const parameters *learned, vector x, arm_id id, ee_score score);

/* The doors to a class's functions, with what all policies have in common: the memory of arms; and they compute as
 * math/float_mode.h says, whoever calls. */
void policy_score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores);
void policy_vote(const parameters *learned, const ee_arms *arms, size_t voter, const scratch *room, ee_score *scores);
void policy_explain(const parameters *learned, vector x, scratch *room, float *gradient);
ee_status policy_reserve(policy *self, const observation *o, ee_error *error);
bool policy_learn(policy *self, const observation *o, float reward);
float policy_await(policy *self, const observation *o);

/* "eenet:paper" -> the class and the preset's options ("" for none). */
ee_status policy_find(const char *name, const policy_class **class, const char **preset, ee_error *error);

#endif
