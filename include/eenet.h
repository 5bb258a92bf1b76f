/* eenet: neural contextual bandits.
 *
 * In each round a bandit gets the feature vectors of the arms, chooses one arm, and learns the reward of that arm.
 * Rewards may arrive later, in any order:
 *
 *     ee_settings settings = {.policy = "eenet", .dim = 20, .seed = 1};
 *     ee_bandit *bandit;
 *     ee_decision decision;
 *     ee_error error;
 *     if (ee_bandit_create(&settings, &bandit, &error)) fail(&error);
 *     ee_arms arms = ee_arms_dense(features, 10, 20);
 *     if (ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &error)) fail(&error);
 *     if (ee_bandit_learn(bandit, decision.id, reward, &error)) fail(&error);
 *     ee_bandit_free(bandit);
 *
 * Rules for every call:
 *   - It returns EE_OK (zero) or another status. On failure, error holds a sentence that says what to do. error may be
 *     NULL.
 *   - A call that fails changes nothing, except that ee_bandit_learn_many keeps the rewards it learned before.
 *   - The library never prints, exits or aborts, and has no global state.
 *   - Only one thread may use a bandit at a time, also for calls that take a const bandit: they compute in its memory.
 *     Different bandits are independent. Many threads can decide at once on a snapshot of one bandit.
 *   - The same seed and the same calls give the same bytes on the same machine.
 *   - Structs that end in `reserved` may get new members there, and zero keeps the old behaviour: programs that
 *     were built with an older header keep working. Start ee_settings from zeros ({0}, or named members as above).
 *     The other structs never change.
 *   - decide, score and learn do not allocate, except to grow: for a round with more arms or more non-zeros than the
 *     options `arms` and `nonzeros` reserve, for the first rounds with limits, or for a history that the options leave
 *     unbounded. A bandit with named features reserves nothing. It grows with its names, samples and pending decisions,
 *     up to its options.
 */
#ifndef EENET_H
#define EENET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EE_VERSION "0.1.0"
#define EE_VERSION_NUMBER 100 /* major * 10000 + minor * 100 + patch, for the preprocessor */

#if defined(__GNUC__)
#define EE_API __attribute__((visibility("default")))
#define EE_MUST_CHECK __attribute__((warn_unused_result))
#else
#define EE_API
#define EE_MUST_CHECK
#endif

/* The numbers never change meaning. */
typedef enum ee_status {
    EE_OK = 0,
    EE_BAD_INPUT = 1,         /* a wrong argument: no arms, wrong dimension, feature or reward outside [-1e9, 1e9] */
    EE_BAD_OPTION = 2,        /* unknown policy or option, value out of range, or option without effect */
    EE_NO_MEMORY = 3,         /* an allocation failed */
    EE_UNKNOWN_DECISION = 4,  /* this bandit made no decision with this id */
    EE_EXPIRED_DECISION = 5,  /* the decision expired (options `pending`, `wait`) or was forgotten */
    EE_REWARDED_DECISION = 6, /* the decision already has its reward */
    EE_FILE_ERROR = 7,        /* the operating system could not read or write the file */
    EE_BAD_MODEL = 8,         /* the model is truncated, damaged, or of another version or policy */
    EE_DIVERGED = 9,          /* learn: training diverged and was undone; decide, score, save: a number is not finite */
    EE_NO_FILE = 10,          /* the folder exists but has no file of that name; see ee_bandit_load */
    EE_BAD_RECORD = 11        /* the decision record is truncated, damaged, or of another version or model */
} ee_status;

/* Returns the name of a status, such as "EE_BAD_OPTION"; "unknown" for any other number. */
EE_API const char *ee_status_name(ee_status status);

/* Why a call failed. Written only on failure. */
typedef struct ee_error {
    ee_status status;
    char message[252]; /* a sentence such as "learn: the reward must be -1e9 to 1e9, got nan" */
} ee_error;

typedef struct ee_bandit ee_bandit;

/* A custom allocator. allocate returns NULL if no memory is left; its blocks need no alignment and need not be zeroed.
 * release gets a block from allocate and the size that was requested. Both run in the thread that calls the library,
 * and must not use the same bandit. */
typedef struct ee_allocator {
    void *(*allocate)(void *context, size_t size);
    void (*release)(void *context, void *block, size_t size);
    void *context;
} ee_allocator;

typedef struct ee_settings {
    const char *policy;  /* a name from ee_policy_describe, such as "eenet" or "eenet:paper" */
    size_t dim;          /* features per arm, 1 to 2^32 - 1 */
    uint64_t seed;       /* determines all randomness */
    const char *options; /* (optional) "name=value" pairs, separated by commas or white space, such as "f1.width=50,
                            w2=0.1". An option that has no effect, given the others, is refused. */
    const ee_allocator *allocator; /* copied; NULL: malloc and free */
    /* NULL: the bandit takes vectors only. Otherwise it also takes rounds of named features, and these are their
       options, such as "names=20000" ("": the defaults). dim is then 0, or theirs. */
    const char *features;
    uint64_t reserved[6]; /* must be zero */
} ee_settings;

/* The arms of one round, borrowed for the duration of the call. Make them with ee_arms_dense or ee_arms_sparse. */
typedef struct ee_arms {
    size_t count;            /* arms */
    size_t dim;              /* features of each */
    const float *values;     /* dense: (count, dim) row by row; sparse: (starts[count]) */
    const size_t *starts;    /* dense: NULL; sparse: (count + 1), arm i has the entries starts[i] to starts[i + 1] */
    const uint32_t *indices; /* dense: NULL; sparse: (starts[count]), ascending within an arm, each below dim */
    const uint64_t *ids;     /* (optional) NULL, or (count): the identity of each arm, the same in every round */
    const struct ee_limits *limits; /* (optional) NULL, or limits on the draw of this round: see ee_limits */
} ee_arms;

/* Ids identify arms across rounds, whatever their features and positions are. `ucb1` and `thompson` count rewards by
 * id; arm memory (option `recall`) treats two arms as the same only if their ids are equal. Set arms.ids after
 * ee_arms_dense or ee_arms_sparse:
 *
 *     uint64_t ids[2] = {ee_arm_id("red", 3), ee_arm_id("blue", 4)};
 *     arms.ids = ids;
 *
 * An id may be any number. To `ucb1` and `thompson`, arms of a round with equal ids are one arm. You can mix rounds
 * with and without ids: an arm without an id never equals an arm with one. A pending decision keeps the id of its arm,
 * and so does a record. */

/* Returns an id for a text: a 64-bit hash, the same in every process. */
EE_API uint64_t ee_arm_id(const char *text, size_t size);

static inline ee_arms ee_arms_dense(const float *values, size_t count, size_t dim)
{
    ee_arms arms = {count, dim, values, NULL, NULL, NULL, NULL};
    return arms;
}

static inline ee_arms ee_arms_sparse(const size_t *starts, const uint32_t *indices, const float *values, size_t count,
                                     size_t dim)
{
    ee_arms arms = {count, dim, values, starts, indices, NULL, NULL};
    return arms;
}

/* Limits on the draw of one round: boosts favour single arms, shares bound the probability of groups of arms. Set
 * arms.limits after ee_arms_dense or ee_arms_sparse; both are borrowed for the duration of the call:
 *
 *     uint32_t groups[3] = {0, 0, EE_NO_GROUP};
 *     double low[1] = {0.1}, high[1] = {0.3};
 *     ee_limits limits = {.groups = groups, .low = low, .high = high, .group_count = 1};
 *     arms.limits = &limits; // the first two arms get a probability of 0.1 to 0.3 together
 *
 * decide, score and probabilities use them; learning ignores them. Scores that you receive include the boosts, and
 * probabilities are exactly those with which the arm was drawn, so a log with limits can be evaluated like any other.
 * What is learned of a decision does not include the boosts.
 *
 * Shares: the probabilities become the nearest ones (least Kullback-Leibler divergence) for which the arms of each
 * group together have a probability from low to high. Within a group, arms keep their proportions. A group whose arms
 * all have probability 0 gets its share spread evenly over its arms. A group without arms in the round is ignored.
 * Bounds that no distribution satisfies are not an error: if the lows sum to more than 1, they are divided by their
 * sum, and if the highs sum to less than 1 and every arm is in a group, they are divided by theirs (ignored if that is
 * 0).
 *
 * Limits refer to all arms of the round. Excluded arms, and arms that an earlier slot took, are left out; the shares
 * then hold among the remaining arms.
 *
 * EE_BAD_INPUT for a boost outside [-1e9, 1e9], a bound outside [0, 1], low above high, or a missing array. Shares need
 * probabilities, so a Thompson policy needs probability_draws above 0; it then draws the arm from its estimated
 * probabilities. */
#define EE_NO_GROUP UINT32_MAX

typedef struct ee_limits {
    const float *boosts;      /* NULL, or (arms): added to the score of each arm, in units of rewards */
    const uint32_t *groups;   /* NULL, or (arms): the group of each arm; group_count or above: none */
    const double *low, *high; /* (group_count): least and greatest probability of the arms of a group together */
    size_t group_count;       /* 0: no shares */
} ee_limits;

/* A policy's view of one arm, in the units of your rewards. */
typedef struct ee_score {
    float exploitation; /* f1: the expected reward */
    float exploration;  /* f2: the exploration bonus; 0 if the policy has none */
    float score;        /* ranks the arms: f3 of the two, adjusted by arm memory for a recurring arm (option `recall`).
                           Not in units of rewards if f3 is a network. Includes the arm's boost (ee_limits) */
} ee_score;

typedef struct ee_decision {
    uint64_t id;        /* 1 for the first decision of a bandit, then 2, 3, ... */
    size_t arm;         /* 0 to count - 1 */
    double probability; /* the propensity: the probability with which this arm was chosen. NaN for a Thompson policy
                           (thompson, lints, kernelts, neural-ts, neural-linear) with probability_draws=0 */
} ee_decision;

/* Creates a bandit. Free *out with ee_bandit_free. On failure *out is NULL. */
EE_API EE_MUST_CHECK ee_status ee_bandit_create(const ee_settings *settings, ee_bandit **out, ee_error *error);
EE_API void ee_bandit_free(ee_bandit *bandit);

/* Chooses an arm, and keeps the decision pending until its reward arrives or it expires (see ee_bandit_set_time).
 * Pending decisions count as tried: policies that can do so take them into account before scoring, so that they do not
 * choose the same untried arm again and again until rewards arrive. (This happens even if scoring then fails; the next
 * decision would have done it anyway.)
 *
 * scores and probabilities are (optional) and receive arms->count entries each. The chosen arm was drawn with these
 * probabilities; they are NaN where decision->probability is NaN. */
EE_API EE_MUST_CHECK ee_status ee_bandit_decide(ee_bandit *bandit, const ee_arms *arms, ee_decision *decision,
                                                ee_score *scores, double *probabilities, ee_error *error);

/* Decides several rounds, all with what the bandit knows when the call begins: the decisions of one call do not affect
 * each other. Otherwise equivalent to a loop of ee_bandit_decide; byte-identical if the policy ignores pending
 * decisions and none expires with a default reward. It is faster if the policy can score the arms of several rounds at
 * once, as `eenet` does with dense arms.
 *
 * rounds and decisions are (count). excluded is NULL, or has one entry for each arm of each round, round after round:
 * non-zero for an arm that must not be chosen. A round with exclusions is decided exactly as ee_bandit_decide decides
 * among the remaining arms, to the byte; decisions[i].arm is still the position among all arms. (Without ids, `ucb1`
 * and `thompson` identify an arm by its position among all arms.) To decide one round with exclusions, use count = 1.
 * scores and probabilities, if not NULL, receive one entry for each arm of each round, in the same order; 0 for an
 * excluded arm.
 *
 * EE_BAD_INPUT if all arms of a round are excluded, or if there are more rounds than the option `pending`. If one round
 * is refused, none is decided; the contents of decisions, scores and probabilities are then undefined. */
EE_API EE_MUST_CHECK ee_status ee_bandit_decide_many(ee_bandit *bandit, const ee_arms *rounds, size_t count,
                                                     const uint8_t *excluded, ee_decision *decisions, ee_score *scores,
                                                     double *probabilities, ee_error *error);

/* Fills several slots, such as places on a page, each with a different action; the best action comes first if the slots
 * are alike. slots is (count): the same actions in the same order, with the features that each slot sees, so all have
 * the same number of arms. For the best few arms (top-k), pass the same arms for every slot. The other arguments are
 * those of ee_bandit_decide_many: excluded is NULL or (count, arms), non-zero for an action that must not fill a slot.
 *
 * Slots are decided in order. Each chooses among the actions that it may take and that no earlier slot took, as
 * ee_bandit_decide would choose among those arms. Its probability is conditional on the choices of the earlier slots.
 * All slots use what the bandit knows when the call begins. Each slot is a separate decision with an id: give each its
 * own reward (ee_bandit_learn).
 *
 * EE_BAD_INPUT if there are more slots than arms, more than the option `pending`, or no arm is left for a slot.
 *
 * With named features, make a round for each slot whose context includes the slot's features, such as {"slot": {"size":
 * "L"}}, and get the arms of each from ee_bandit_arms. */
EE_API EE_MUST_CHECK ee_status ee_bandit_decide_slots(ee_bandit *bandit, const ee_arms *slots, size_t count,
                                                      const uint8_t *excluded, ee_decision *decisions, ee_score *scores,
                                                      double *probabilities, ee_error *error);

/* Scores the arms with what the bandit knows now, without deciding and without changing anything. These are the scores
 * that decide would see, unless it would first count pending decisions as tried. scores receives arms->count entries.
 */
EE_API EE_MUST_CHECK ee_status ee_bandit_score(const ee_bandit *bandit, const ee_arms *arms, ee_score *scores,
                                               ee_error *error);

/* Returns the probability with which decide would choose each arm, for off-policy evaluation. Changes nothing.
 * probabilities receives arms->count entries, NaN where ee_decision.probability would be NaN. */
EE_API EE_MUST_CHECK ee_status ee_bandit_probabilities(const ee_bandit *bandit, const ee_arms *arms,
                                                       double *probabilities, ee_error *error);

/* Explains an arm's expected reward: what each of its entries contributes to ee_score.exploitation, in rewards. A
 * contribution is the derivative of the expected reward with respect to the entry, times the entry: by linear
 * approximation at this arm, what would be missing if the entry were 0. It is exact for linear policies, a good guide
 * for the others, and 0 for a policy that does not learn. An entry of 0 contributes 0; for named features, that is a
 * number at its mean. The mean reward, exploration and arm memory are not included (see ee_score).
 *
 * contributions receives arms->dim numbers for a dense arm, and one per entry for a sparse arm. The call changes
 * nothing and costs about twice as much as scoring the arm. */
EE_API EE_MUST_CHECK ee_status ee_bandit_explain(const ee_bandit *bandit, const ee_arms *arms, size_t arm,
                                                 float *contributions, ee_error *error);

/* Learns the reward of a decision, once, and trains if the policy's schedule says so. Neural and linear policies
 * rescale rewards (option `standardize`): apart from rounding, the scale and offset of your rewards do not change their
 * decisions. An outlier, far beyond all rewards so far, is limited; if it recurs, it counts in full.
 *
 * The option `rewards=LOW:HIGH` states the valid range. A reward outside it is EE_BAD_INPUT and changes nothing; with
 * `outside=clip` it is learned as the nearest end. ee_info.limited counts the rewards that were limited or clipped.
 *
 * EE_DIVERGED: training would have left a parameter that is not finite, or huge, so it was undone. The bandit decides
 * as before the call, and the decision is still pending: forget it, or learn it with another reward. This also holds
 * for ee_bandit_learn_from and ee_bandit_learn_record. */
EE_API EE_MUST_CHECK ee_status ee_bandit_learn(ee_bandit *bandit, uint64_t decision_id, double reward, ee_error *error);

/* Learns the rewards of several decisions: a loop of ee_bandit_learn over decision_ids and rewards, both (count), that
 * stops at the first failure. *learned (optional) becomes the number of rewards learned: count on success, the index of
 * the refused reward on failure. Rewards before that one stay learned. */
EE_API EE_MUST_CHECK ee_status ee_bandit_learn_many(ee_bandit *bandit, const uint64_t *decision_ids,
                                                    const double *rewards, size_t count, size_t *learned,
                                                    ee_error *error);

/* Rewards that never arrive.
 *
 * If the reward is a click, nothing ever reports that no click came. Do not learn only the clicks: the bandit would
 * conclude that everything is clicked, and decide no better than at random. Learn a missing reward as what it is worth,
 * usually 0. Either call ee_bandit_learn yourself, or set the option `default_reward`: the bandit then learns that
 * reward for each decision that expires. Default: none, which forgets expired decisions.
 *
 * A decision expires after `pending` more decisions (at the end of the call that makes the last of them), or when more
 * than the option `wait` has passed since it was made. This call sets the current time: in any unit, from any start
 * that is not negative, and never earlier than the last time. It is 0 before the first call, and saved with the model.
 * Due decisions expire within this call, oldest first. If a default reward cannot be learned (training diverges, or
 * memory runs out), the decision is forgotten. ee_info counts both, as `expired` and `defaulted`. A reward for an
 * expired decision is refused with EE_EXPIRED_DECISION. */
EE_API EE_MUST_CHECK ee_status ee_bandit_set_time(ee_bandit *bandit, double now, ee_error *error);

/* Forgets a decision whose reward will never be known. (If you know that no reward came, learn it instead, see above.)
 * Learning it later is EE_EXPIRED_DECISION. */
EE_API EE_MUST_CHECK ee_status ee_bandit_forget(ee_bandit *bandit, uint64_t decision_id, ee_error *error);

/* Learns a decision that this bandit did not make, for example from a log: arm was chosen among arms. The policy learns
 * it as if it had just made that decision itself. The call draws no random numbers, gives no id, and counts in ee_info
 * only as a reward. */
EE_API EE_MUST_CHECK ee_status ee_bandit_learn_from(ee_bandit *bandit, const ee_arms *arms, size_t arm, double reward,
                                                    ee_error *error);

/* Named features: describe context and actions as JSON instead of vectors.
 *
 *     settings.features = "", settings.dim = 0; // then ee_bandit_create
 *     status = ee_round_create(NULL, &round, &error);
 *     const char *context = "{\"user\": {\"age\": 31, \"plan\": \"free\"}}";
 *     status = ee_round_context(round, context, strlen(context), &error);
 *     const char *action = "{\"item\": {\"id\": \"a7\", \"price\": 9.5}}"; // once for each arm
 *     status = ee_round_action(round, action, strlen(action), &error);
 *     status = ee_bandit_arms(bandit, round, &arms, &error);
 *     status = ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &error); // and the rest as above
 *
 * A nested object is a namespace. A number is a value, including 0. A text is an indicator: "plan": "free" becomes the
 * feature user.plan=free. true is an indicator; false and null are nothing. An array holds numbers (user.v[0],
 * user.v[1], ...), texts, or objects whose features belong to the namespace of the array. Arrays within arrays
 * are refused. Keys that begin with _ are ignored, except _text, whose words become indicators, and _tag, the id of an
 * action.
 *
 * The bandit gives each new name a place among its `dim` features. The first names get a place each (option `names`);
 * later ones share places (`hashes`). Both are limits: memory and model files grow only with the names seen. Features
 * of the context are multiplied with those of the action (`products`). Numbers may have any scale: the bandit tracks
 * their means and deviations, and limits outliers (`standardize`). All this is part of the model. See docs/features.md.
 *
 * The id of an action is also a feature, _id=a7, with less weight if there are others. It also becomes arms.ids:
 * ee_arm_id of the text, or the position of an action without an id. So an action may consist of only an id. An id
 * becomes a feature when it recurs: ids that never recur take no place. The option ids=off ignores ids. Actions with
 * neither id nor features look the same to every policy except `ucb1` and `thompson`, which use their positions.
 *
 * Parsing a round needs no bandit and works in any thread, one thread at a time. A call that fails leaves the round
 * unchanged. allocator is copied; NULL: malloc and free. */
typedef struct ee_round ee_round;

EE_API EE_MUST_CHECK ee_status ee_round_create(const ee_allocator *allocator, ee_round **out, ee_error *error);
EE_API void ee_round_free(ee_round *round);

/* Empties the round for reuse, and removes its limits. It keeps its memory. */
EE_API void ee_round_clear(ee_round *round);

/* Adds an object with features that all arms share. You may call it several times. json is (size) bytes of UTF-8; a
 * terminating zero is not needed. */
EE_API EE_MUST_CHECK ee_status ee_round_context(ee_round *round, const char *json, size_t size, ee_error *error);

/* Adds an arm: an object with its features. Its key "_tag" (optional) is the id of the action, a text. */
EE_API EE_MUST_CHECK ee_status ee_round_action(ee_round *round, const char *json, size_t size, ee_error *error);

/* Sets the id of the last added action, (size) bytes of UTF-8, if its JSON has no "_tag". */
EE_API EE_MUST_CHECK ee_status ee_round_action_id(ee_round *round, const char *id, size_t size, ee_error *error);

/* Adds context and actions from one object in Vowpal Wabbit's form: the array "_multi" holds the arms, the rest is
 * shared. */
EE_API EE_MUST_CHECK ee_status ee_round_read(ee_round *round, const char *json, size_t size, ee_error *error);

/* Returns the number of arms: the number of entries that `scores` and `probabilities` receive. */
EE_API size_t ee_round_count(const ee_round *round);

/* Sets the limits on the draw of this round: they become the limits of its arms. Borrowed until ee_round_clear or the
 * next call of this function; NULL: none. */
EE_API void ee_round_set_limits(ee_round *round, const ee_limits *limits);

/* Learns the names and number scales of a round, and returns its arms. Call it once per round, in the order in which
 * the rounds came: the same calls give the same places. *arms is valid until the next call with this round; arms may be
 * NULL. New names make the bandit grow. If memory runs out for that, this call succeeds, but learning a reward of these
 * arms is EE_NO_MEMORY. */
EE_API EE_MUST_CHECK ee_status ee_bandit_arms(ee_bandit *bandit, ee_round *round, ee_arms *arms, ee_error *error);

/* Describes the feature at a place, 0 to dim - 1; EE_BAD_INPUT beyond that. */
typedef struct ee_feature {
    const char *name; /* "user.age", "item.id=a7", "user.age*item.id=a7"; "" for a place that is unused or shared. Valid
                         until the next call on this bandit */
    uint64_t count;   /* times seen: in a context, in an action, or as a product of the two */
    double mean;      /* a number x becomes (x - mean) / deviation; 0 for an indicator */
    double deviation; /* 0: all values were equal, so it is not a feature; 1 for an indicator */
    uint64_t limited; /* values more than ten deviations from the mean, which were limited */
    uint64_t reserved[3];
} ee_feature;

EE_API EE_MUST_CHECK ee_status ee_bandit_feature(ee_bandit *bandit, size_t index, ee_feature *out, ee_error *error);

/* Saves everything, including pending decisions and random state: a loaded bandit continues as if it had never stopped.
 * The file is written under a temporary name in the same folder, synced, and renamed, so path always holds a complete
 * model, old or new. If only the final sync of the folder fails, it is the new one. */
EE_API EE_MUST_CHECK ee_status ee_bandit_save(const ee_bandit *bandit, const char *path, ee_error *error);

/* Loads a bandit that ee_bandit_save wrote. expected is NULL, or states what the model must be: its policy ("eenet"
 * accepts every preset of it; NULL: any) and its dim (0: any). It also sets the allocator. Its other members are
 * ignored.
 *
 * EE_NO_FILE means that the folder exists but has no file of that name: create a bandit and save it there. An
 * unreadable file, a missing folder and a dangling link are EE_FILE_ERROR. */
EE_API EE_MUST_CHECK ee_status ee_bandit_load(const char *path, const ee_settings *expected, ee_bandit **out,
                                              ee_error *error);

/* The same in memory. Free *bytes with ee_bytes_free. */
EE_API EE_MUST_CHECK ee_status ee_bandit_save_bytes(const ee_bandit *bandit, void **bytes, size_t *size,
                                                    ee_error *error);
EE_API EE_MUST_CHECK ee_status ee_bandit_load_bytes(const void *bytes, size_t size, const ee_settings *expected,
                                                    ee_bandit **out, ee_error *error);
EE_API void ee_bytes_free(void *bytes);

/* The state of a bandit. The strings live as long as the bandit. For NULL, everything is zero or empty. */
typedef struct ee_info {
    const char *policy;  /* as requested, such as "eenet:paper" */
    const char *options; /* every option that has an effect, with its value; they recreate the same bandit */
    size_t dim;
    uint64_t seed;
    uint64_t decisions;   /* decisions made */
    uint64_t rewards;     /* rewards learned, including those of records and logs */
    uint64_t pending;     /* decisions that wait for their reward now */
    uint64_t expired;     /* decisions forgotten because no reward came in time */
    uint64_t defaulted;   /* decisions learned with the default reward; also counted in rewards */
    const char *features; /* options of named features that have an effect; NULL if the bandit takes vectors only */
    uint64_t limited;     /* outliers that were limited, and rewards that were clipped */
    uint64_t reserved[3];
} ee_info;

EE_API ee_info ee_bandit_info(const ee_bandit *bandit);

/* Returns the bytes that the bandit has allocated, including reserved memory that it has not used yet. */
EE_API size_t ee_bandit_memory(const ee_bandit *bandit);

/* A snapshot is a copy of what a bandit has learned. Any number of threads can decide on it, while one thread learns
 * with the bandit and publishes updates:
 *
 *     status = ee_snapshot_create(bandit, &snapshot, &error); // the learner, once
 *
 *     status = ee_scratch_create(snapshot, seed, &scratch, &error); // each thread, once
 *     status = ee_snapshot_decide(snapshot, scratch, &arms, &decision, NULL, NULL, &error); // for each round
 *     status = ee_scratch_record(scratch, 0, &record, &size, &error);
 *
 *     status = ee_bandit_learn_record(bandit, record, size, reward, &error); // the learner, for each reward
 *     status = ee_snapshot_update(snapshot, bandit, &error);                 // now and then
 *
 * If rewards are delayed, the learner first adds the record as a pending decision (ee_bandit_take_record), and later
 * learns it by its id.
 *
 * A decision uses what was published last when the call began. It is the decision that the bandit itself would have
 * made then. Deciding never waits for the learner. Free the snapshot before its bandit. */
typedef struct ee_snapshot ee_snapshot;
typedef struct ee_scratch ee_scratch;

/* Call create and update from the thread that uses the bandit; only one thread may update at a time. Both count pending
 * decisions as tried, as the bandit's own next decision would (see ee_bandit_decide). update copies what was learned
 * since the last update (some policies copy everything). It waits only for decisions that began before the last update
 * and are still running. snapshot must come from this bandit. */
EE_API EE_MUST_CHECK ee_status ee_snapshot_create(ee_bandit *bandit, ee_snapshot **out, ee_error *error);
EE_API EE_MUST_CHECK ee_status ee_snapshot_update(ee_snapshot *snapshot, ee_bandit *bandit, ee_error *error);
EE_API void ee_snapshot_free(ee_snapshot *snapshot);

/* A scratch holds what one thread needs to decide: memory, which grows with its rounds, a random stream, and the
 * records of its last decisions. Create one per thread. The memory comes from the bandit's allocator, so several
 * threads may call the allocator at once. seed starts the random stream: use a different seed for each scratch, or they
 * draw the same numbers. */
EE_API EE_MUST_CHECK ee_status ee_scratch_create(const ee_snapshot *snapshot, uint64_t seed, ee_scratch **out,
                                                 ee_error *error);
EE_API void ee_scratch_free(ee_scratch *scratch);

/* Restarts the random stream: what the next call draws depends only on seed. Use it, with a new seed for each decision,
 * if single decisions must be reproducible. */
EE_API void ee_scratch_seed(ee_scratch *scratch, uint64_t seed);

/* Like ee_bandit_score and ee_bandit_probabilities: what the next decision with this scratch would see. */
EE_API EE_MUST_CHECK ee_status ee_snapshot_score(const ee_snapshot *snapshot, ee_scratch *scratch, const ee_arms *arms,
                                                 ee_score *scores, ee_error *error);
EE_API EE_MUST_CHECK ee_status ee_snapshot_probabilities(const ee_snapshot *snapshot, ee_scratch *scratch,
                                                         const ee_arms *arms, double *probabilities, ee_error *error);

/* Like ee_bandit_decide, ee_bandit_decide_many and ee_bandit_decide_slots, but ids of decisions are 0, and the number
 * of rounds is not limited. All decisions of one call use the same published state. */
EE_API EE_MUST_CHECK ee_status ee_snapshot_decide(const ee_snapshot *snapshot, ee_scratch *scratch, const ee_arms *arms,
                                                  ee_decision *decision, ee_score *scores, double *probabilities,
                                                  ee_error *error);
EE_API EE_MUST_CHECK ee_status ee_snapshot_decide_many(const ee_snapshot *snapshot, ee_scratch *scratch,
                                                       const ee_arms *rounds, size_t count, const uint8_t *excluded,
                                                       ee_decision *decisions, ee_score *scores, double *probabilities,
                                                       ee_error *error);
EE_API EE_MUST_CHECK ee_status ee_snapshot_decide_slots(const ee_snapshot *snapshot, ee_scratch *scratch,
                                                        const ee_arms *slots, size_t count, const uint8_t *excluded,
                                                        ee_decision *decisions, ee_score *scores, double *probabilities,
                                                        ee_error *error);

/* Like ee_bandit_explain. */
EE_API EE_MUST_CHECK ee_status ee_snapshot_explain(const ee_snapshot *snapshot, ee_scratch *scratch,
                                                   const ee_arms *arms, size_t arm, float *contributions,
                                                   ee_error *error);

/* Returns the arms of a round of named features, with the names and scales that were published last. It learns no new
 * names: for that, the learner calls ee_bandit_arms with the same round and publishes with the next update. *arms is
 * valid until the next call with this round. */
EE_API EE_MUST_CHECK ee_status ee_snapshot_arms(const ee_snapshot *snapshot, ee_round *round, ee_arms *arms,
                                                ee_error *error);

/* ee_snapshot_arms and ee_snapshot_decide in one call, on the same published state even if an update happens meanwhile.
 */
EE_API EE_MUST_CHECK ee_status ee_snapshot_decide_round(const ee_snapshot *snapshot, ee_scratch *scratch,
                                                        ee_round *round, ee_decision *decision, ee_score *scores,
                                                        double *probabilities, ee_error *error);

/* Returns a decision as a record: plain bytes with all that learning needs, except the reward. index is the decision's
 * position in the last call that decided with this scratch; 0 after ee_snapshot_decide. Store the bytes anywhere, for
 * any time; *bytes is valid until the next call that decides with this scratch. EE_BAD_INPUT if there is no such
 * decision: the call made fewer, or it failed. */
EE_API EE_MUST_CHECK ee_status ee_scratch_record(const ee_scratch *scratch, size_t index, const void **bytes,
                                                 size_t *size, ee_error *error);

/* Learns the reward of a recorded decision, in any process. The bandit must have the same policy, dimension and option
 * `scale` and, if the policy keeps data of a decision, the same options for it. The seed and the options for drawing,
 * waiting and memory may differ. For a round of named features, the bandit must have learned the same names in the same
 * order. A record that was taken before (ee_bandit_take_record) and expired or was forgotten can still be learned here;
 * the decision counts as tried only once. Do not learn a record twice: the library does not detect it. */
EE_API EE_MUST_CHECK ee_status ee_bandit_learn_record(ee_bandit *bandit, const void *record, size_t size, double reward,
                                                      ee_error *error);

/* Adds a recorded decision to this bandit as a pending decision, so that the bandit, and what it publishes, counts it
 * as tried until its reward arrives. decision->id becomes its id, for ee_bandit_learn and ee_bandit_forget. It counts
 * in ee_info and expires like any other. A record does not hold the arm's position or its probability: decision->arm
 * and decision->probability stay unchanged. */
EE_API EE_MUST_CHECK ee_status ee_bandit_take_record(ee_bandit *bandit, const void *record, size_t size,
                                                     ee_decision *decision, ee_error *error);

/* Lists the policies and presets, numbered from 0; EE_BAD_INPUT after the last. The strings are constant. */
typedef struct ee_policy {
    const char *name;    /* "eenet:paper" */
    const char *summary; /* one line */
    const char *paper;   /* the reference; "" if there is none */
    const char *preset;  /* the options that a preset changes, one line per part; "" for a policy */
    uint64_t reserved[4];
} ee_policy;

EE_API EE_MUST_CHECK ee_status ee_policy_describe(size_t index, ee_policy *out, ee_error *error);

/* Lists the options of a policy, numbered from 0; EE_BAD_INPUT after the last, EE_BAD_OPTION for an unknown policy. The
 * policy name "features" lists the options of named features. */
typedef struct ee_option {
    char name[32];
    char range[112];
    char value[112]; /* the default of this policy or preset */
    const char *meaning;
    const char *part; /* the part of the policy that it belongs to, such as "f1, the exploitation network" */
    char needs[160];  /* other options that it depends on, such as "exploration=network"; "" if none */
    int acts;         /* 1: it has an effect; 0: setting it is refused unless you also set what it needs */
    int first;        /* 1: one of the options to change first */
    uint64_t reserved[8];
} ee_option;

EE_API EE_MUST_CHECK ee_status ee_option_describe(const char *policy_name, size_t index, ee_option *out,
                                                  ee_error *error);

EE_API const char *ee_version(void);

/* Returns the instruction set that the kernels use on this machine, such as "neon" or "avx2". */
EE_API const char *ee_kernels(void);

#ifdef __cplusplus
}
#endif

#endif
