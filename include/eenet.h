/* eenet: neural contextual bandits.
 *
 * A bandit sees the arms of a round as feature vectors, decides for one of them, and learns from the reward of that
 * one alone, which may come later and in any order:
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
 * Rules that hold for every call:
 *   - It returns EE_OK (zero), or another status, and then error holds a sentence that says what to do. error may be
 *     NULL.
 *   - A call that fails has changed nothing. (ee_bandit_learn_many says how many rewards it learned before.)
 *   - The library never prints, exits or aborts, and has no global state. One bandit is used by one thread at a time
 *     (calls that take a const bandit compute in its memory, so this holds for them too), different bandits by
 *     different threads as you like; many threads decide on a snapshot of one bandit.
 *   - The same seed and the same calls give the same bytes on the same machine.
 *   - Structs that end in reserved words may get new members in their place, for which zero means what was so before:
 *     programs that were built with an older header go on working. Start ee_settings from zeros ({0}, or named members
 *     as above). The other structs never change.
 *   - decide, score and learn allocate nothing, but for growth: a round with more arms or more non-zeros than the
 *     options `arms` and `nonzeros` reserve, and a history that the options leave unbounded. A bandit with named
 *     features reserves nothing: it grows with the names, the samples and the decisions that wait, up to its options.
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

/* The numbers are pinned: they never change meaning. */
typedef enum ee_status {
    EE_OK = 0,
    EE_BAD_INPUT = 1,         /* an argument: no arms, a wrong dimension, a feature or reward that is not -1e9 to 1e9 */
    EE_BAD_OPTION = 2,        /* an unknown policy or option, a value out of range, an option that cannot act */
    EE_NO_MEMORY = 3,         /* an allocation failed */
    EE_UNKNOWN_DECISION = 4,  /* no decision of this bandit has this id */
    EE_EXPIRED_DECISION = 5,  /* the decision is no longer kept: made too long ago (`pending`, `wait`), or forgotten */
    EE_REWARDED_DECISION = 6, /* the decision has its reward already */
    EE_FILE_ERROR = 7,        /* the system could not read or write the file */
    EE_BAD_MODEL = 8,         /* the model is cut, damaged, of another version or of another policy */
    EE_DIVERGED = 9,          /* learn: training diverged and was taken back; decide, score, save: not finite */
    EE_NO_FILE = 10,          /* there is no file of that name in its folder; see ee_bandit_load */
    EE_BAD_RECORD = 11        /* the record of a decision is cut, damaged, of another version or of another model */
} ee_status;

/* The name of a status, as "EE_BAD_OPTION"; "unknown" where the number is none. */
EE_API const char *ee_status_name(ee_status status);

/* Why a call failed. It is filled in on failure alone. */
typedef struct ee_error {
    ee_status status;
    char message[252]; /* a sentence, as "learn: the reward must be -1e9 to 1e9, got nan" */
} ee_error;

typedef struct ee_bandit ee_bandit;

/* Where a bandit's memory comes from, if not from the C library. allocate returns NULL where there is none left; what
 * it gives needs no alignment and need not be zero. release gets a block of allocate's with the size that was asked
 * for. Both are called in the thread that calls the library, and must not use the same bandit. */
typedef struct ee_allocator {
    void *(*allocate)(void *context, size_t size);
    void (*release)(void *context, void *block, size_t size);
    void *context;
} ee_allocator;

typedef struct ee_settings {
    const char *policy;  /* a name that ee_policy_describe lists, as "eenet" or "eenet:paper" */
    size_t dim;          /* features of an arm, 1 to 2^32 - 1 */
    uint64_t seed;       /* of all randomness */
    const char *options; /* "name=value" separated by commas or white space, as "f1.width=50, w2=0.1"; NULL: none. One
                            that has no effect, given the others, is refused. */
    const ee_allocator *allocator; /* copied; NULL: the C library's */
    const char *features; /* NULL: the bandit takes vectors. Else it takes rounds of named features too, and this
                             is their options, as "names=20000"; "": the defaults. dim is then 0, or theirs */
    uint64_t reserved[6]; /* must be zero */
} ee_settings;

/* The arms of one round, borrowed for the duration of the call. Make it with ee_arms_dense or ee_arms_sparse. */
typedef struct ee_arms {
    size_t count;            /* arms */
    size_t dim;              /* features of each */
    const float *values;     /* dense: (count, dim) row by row; sparse: (starts[count]) */
    const size_t *starts;    /* dense: NULL; sparse: (count + 1), arm i has the entries starts[i] to starts[i + 1] */
    const uint32_t *indices; /* dense: NULL; sparse: (starts[count]), ascending within an arm, each below dim */
    const uint64_t *ids;     /* (optional) NULL, or (count): the identity of each arm, the same in every round */
} ee_arms;

/* Ids say which arm is which, whatever its features and its position are. `ucb1` and `thompson` count rewards by id,
 * and the memory of arms (option `recall`) takes arms for the same only if their ids are. Set arms.ids after
 * ee_arms_dense or ee_arms_sparse:
 *
 *     uint64_t ids[2] = {ee_arm_id("red", 3), ee_arm_id("blue", 4)};
 *     arms.ids = ids;
 *
 * Ids may be any numbers. Arms of a round with the same id are the same arm to `ucb1` and `thompson`. A bandit may get
 * rounds with ids and rounds without: an arm without an id is never taken for one with an id. A decision keeps the id
 * of its arm until its reward comes, and so does a record. */

/* The id of an arm that is known by a text: a 64-bit hash of it, the same in every process. */
EE_API uint64_t ee_arm_id(const char *text, size_t size);

static inline ee_arms ee_arms_dense(const float *values, size_t count, size_t dim)
{
    ee_arms arms = {count, dim, values, NULL, NULL, NULL};
    return arms;
}

static inline ee_arms ee_arms_sparse(const size_t *starts, const uint32_t *indices, const float *values, size_t count,
                                     size_t dim)
{
    ee_arms arms = {count, dim, values, starts, indices, NULL};
    return arms;
}

/* How a policy sees one arm, in rewards as the caller gives them. */
typedef struct ee_score {
    float exploitation; /* f1: the reward that it expects */
    float exploration;  /* f2: the potential gain on top of it; 0 where a policy has none */
    float score;        /* what the arms are ranked by: f3 of the two, and where the very same arm was rewarded before,
                           what came of it (option `recall`); no reward where f3 is a network */
} ee_score;

typedef struct ee_decision {
    uint64_t id;        /* 1 for the first decision of a bandit, then 2, 3, ... */
    size_t arm;         /* 0 to count - 1 */
    double probability; /* with which this arm was drawn; not a number for a Thompson policy (thompson, lints,
                           kernelts, neural-ts, neural-linear) whose option probability_draws is 0 */
} ee_decision;

/* Makes a bandit. On success *out is to be freed with ee_bandit_free; on failure it is NULL. */
EE_API EE_MUST_CHECK ee_status ee_bandit_create(const ee_settings *settings, ee_bandit **out, ee_error *error);
EE_API void ee_bandit_free(ee_bandit *bandit);

/* Chooses an arm and remembers the decision until its reward comes or it expires (see ee_bandit_set_time). Decisions
 * that wait count as tried: before it scores, a policy that can do so is told of those that it does not know of yet, so
 * that it does not choose the same untried arm again and again until rewards come. (This is done also where scoring
 * then fails. The next decision would have done it.) scores and probabilities, where they are not NULL, receive
 * arms->count entries each. The probabilities are those by which the arm was drawn, and not numbers where
 * decision->probability is none. */
EE_API EE_MUST_CHECK ee_status ee_bandit_decide(ee_bandit *bandit, const ee_arms *arms, ee_decision *decision,
                                                ee_score *scores, double *probabilities, ee_error *error);

/* Decides several rounds, all on what the bandit knows when the call begins: the decisions of one call do not know of
 * each other. Otherwise equivalent to a loop of ee_bandit_decide; byte-identical if the policy takes no notice of
 * pending decisions and none expires with a default reward. It costs less if the policy can score the arms of several
 * rounds at once, as `eenet` does with dense ones.
 *
 * rounds and decisions are (count). excluded is NULL, or has one entry for each arm of each round, round after round:
 * not zero for an arm that must not be chosen. A round with exclusions is decided, to the byte, as ee_bandit_decide
 * decides among the remaining arms alone (without ids, `ucb1` and `thompson` know an arm by its position among all of
 * them); decisions[i].arm is the arm's number among all. So this is also how to decide one round with exclusions:
 * count = 1. scores and probabilities, if not NULL, receive one entry for each arm of each round, in the same order, 0
 * for an excluded arm.
 *
 * EE_BAD_INPUT if all arms of a round are excluded, or if there are more rounds than the option `pending` allows
 * decisions to wait. If one round is refused, none is decided; the contents of the three are then undefined. */
EE_API EE_MUST_CHECK ee_status ee_bandit_decide_many(ee_bandit *bandit, const ee_arms *rounds, size_t count,
                                                     const uint8_t *excluded, ee_decision *decisions, ee_score *scores,
                                                     double *probabilities, ee_error *error);

/* Fills several slots, such as places on a page, each with another action: the best first if the slots are alike. slots
 * is (count): the same actions, in the same order, as each slot sees them, so that all have the same number of arms.
 * The very same arms in all slots is "the best few of these" (top-k). The other arguments are those of
 * ee_bandit_decide_many: excluded is NULL or (count, arms), not zero for an action that must not fill a slot.
 *
 * The slots are decided in their order, each among what is left: the actions that it may take and that no slot before
 * it took. That is what ee_bandit_decide would do with these arms alone, and a probability is that of the slot's choice
 * given the choices of the slots before. All are decided on what the bandit knows when the call begins. Each slot is a
 * decision of its own, with an id and a reward: reward them one by one (ee_bandit_learn).
 *
 * EE_BAD_INPUT if there are more slots than arms or than the option `pending`, or nothing is left for a slot.
 *
 * With named features, make a round for each slot whose context includes the slot's features, as {"slot": {"size":
 * "L"}}, and take the arms of each by ee_bandit_arms. */
EE_API EE_MUST_CHECK ee_status ee_bandit_decide_slots(ee_bandit *bandit, const ee_arms *slots, size_t count,
                                                      const uint8_t *excluded, ee_decision *decisions, ee_score *scores,
                                                      double *probabilities, ee_error *error);

/* The scores by what the bandit knows now, without deciding and without a change: those that decide would see, unless
 * decisions wait that it would count as tried first. scores receives arms->count entries. */
EE_API EE_MUST_CHECK ee_status ee_bandit_score(const ee_bandit *bandit, const ee_arms *arms, ee_score *scores,
                                               ee_error *error);

/* The probability with which decide would take each arm, by the same knowledge and as much without a change: what the
 * evaluation of a policy on a log needs. probabilities receives arms->count entries, NaN where ee_decision.probability
 * would be NaN. */
EE_API EE_MUST_CHECK ee_status ee_bandit_probabilities(const ee_bandit *bandit, const ee_arms *arms,
                                                       double *probabilities, ee_error *error);

/* Why an arm is expected to be worth what it is: what each of its entries adds to ee_score.exploitation, in rewards. It
 * is the derivative of the expected reward by the entry, times the entry: what would be missing if the entry were 0,
 * were the rest as straight as it is right here. So it is exact for linear policies, a good guide for the others, and 0
 * for a policy that does not learn. An entry that is 0 contributes 0; of named features that is a number at its mean.
 * What the entries do not explain is not among it: the mean of the rewards, exploration, and what is remembered of the
 * very same arm (ee_score has the parts). contributions receives arms->dim numbers of a dense arm, and one for each
 * entry of a sparse one. It changes nothing, and costs about what scoring the arm costs, twice. */
EE_API EE_MUST_CHECK ee_status ee_bandit_explain(const ee_bandit *bandit, const ee_arms *arms, size_t arm,
                                                 float *contributions, ee_error *error);

/* Gives a decision its reward, once, and trains when the policy's schedule says so. Neural and linear policies learn
 * rewards in units of their own (option `standardize`): but for rounding, what they decide does not depend on the unit
 * or the zero of the rewards. An outlier, far beyond all rewards so far, is limited; when it recurs, it counts in full.
 *
 * The option `rewards=LOW:HIGH` states the range of rewards. One outside it is EE_BAD_INPUT and changes nothing; with
 * `outside=clip` it is learned as the nearest end. ee_info.limited counts rewards that were limited or clipped.
 *
 * EE_DIVERGED: training would have left a parameter that is not a number of reasonable size, so it was taken back, the
 * reward with it. The bandit goes on deciding as before the call, and the decision still waits: forget it, or learn it
 * with another reward. This holds for ee_bandit_learn_from and ee_bandit_learn_record too. */
EE_API EE_MUST_CHECK ee_status ee_bandit_learn(ee_bandit *bandit, uint64_t decision_id, double reward, ee_error *error);

/* Gives several decisions their rewards: a loop of ee_bandit_learn over decision_ids and rewards, both (count), that
 * stops at the first failure. *learned, if learned is not NULL, becomes the number of rewards that were learned: count
 * on success; on failure the index of the one that was refused. The rewards before it stay learned, it and those after
 * it are not. */
EE_API EE_MUST_CHECK ee_status ee_bandit_learn_many(ee_bandit *bandit, const uint64_t *decision_ids,
                                                    const double *rewards, size_t count, size_t *learned,
                                                    ee_error *error);

/* Rewards that do not come.
 *
 * Where a reward is a click, nothing ever says that the click will not come. To learn only the clicks is wrong: the
 * bandit then learns that everything is clicked, and its decisions are worth no more than chance. A reward that is
 * missing must be told as what it is worth, mostly 0. Either the program does so by ee_bandit_learn, or the bandit
 * itself by the option `default_reward`: a decision that expires is learned with this reward. With `none`, which is the
 * default, it is forgotten.
 *
 * A decision expires when `pending` more were made (at the end of the call that makes the last of them), or when more
 * than the option `wait` has passed since it was made, by the time that this call tells: in any unit, from any start
 * that is not below 0, and never less than the last time. It is 0 before the first call, and saved with the model. The
 * decisions that expire do so within this call, the oldest first. A default reward that cannot be learned (training
 * diverges, or there is no memory) is given up, and the decision forgotten. ee_info counts both, `expired` and
 * `defaulted`. The reward of a decision that has expired is refused with EE_EXPIRED_DECISION. */
EE_API EE_MUST_CHECK ee_status ee_bandit_set_time(ee_bandit *bandit, double now, ee_error *error);

/* Forgets a decision whose reward will never be known; one that is known to be missing is learned instead, see above.
 * To learn it later is EE_EXPIRED_DECISION. */
EE_API EE_MUST_CHECK ee_status ee_bandit_forget(ee_bandit *bandit, uint64_t decision_id, ee_error *error);

/* Learns the reward of a decision that somebody else made, as from a log: arm was chosen among arms. The policy sees it
 * as it would have seen a decision of its own for that arm, made now. Draws no random number, gives no id, and counts
 * in ee_info as a reward alone. */
EE_API EE_MUST_CHECK ee_status ee_bandit_learn_from(ee_bandit *bandit, const ee_arms *arms, size_t arm, double reward,
                                                    ee_error *error);

/* Named features: the arms of a round as JSON has them.
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
 * An object within the object is a namespace. A number is a value, also 0, a text an indicator ("plan": "free" is the
 * feature user.plan=free), true an indicator, false and null are nothing. An array holds numbers (user.v[0], user.v[1],
 * ...), texts, or objects, whose features lie in the namespace of the array. Keys that begin with _ are passed over,
 * but for _text, whose words are indicators, and _tag, the id of an action. Arrays within arrays are refused.
 *
 * A bandit gives each name a place among its `dim` features when it first meets it, and where there is room (option
 * `names`) so that no other has it; those that come later share places (`hashes`). Both are limits: memory and model
 * files follow the places that were met. Features of the context are multiplied with those of the action (`products`).
 * Numbers may be on any scale: the bandit follows their means and deviations, and limits values that are far from all
 * others (`standardize`). All this is part of the model. docs/features.md tells more.
 *
 * The id of an action is one more feature of it, _id=a7, with less weight beside others (docs/features.md). It is also
 * arms.ids: ee_arm_id of the text, or the position of an action without one. So actions may have an id alone. An id
 * becomes a feature when it comes again: ids that never recur take no place. The option ids=off passes over ids.
 * Actions with neither an id nor a feature are alike to every policy but `ucb1` and `thompson`, which go by positions.
 *
 * A round is parsed without a bandit, in any thread, and belongs to one thread at a time. After a call that fails it is
 * as it was before. allocator is copied; NULL: the C library's. */
typedef struct ee_round ee_round;

EE_API EE_MUST_CHECK ee_status ee_round_create(const ee_allocator *allocator, ee_round **out, ee_error *error);
EE_API void ee_round_free(ee_round *round);

/* Empties the round, for the next one. It keeps its memory. */
EE_API void ee_round_clear(ee_round *round);

/* Adds features that all arms share, an object; may be called again. json is (size) bytes of UTF-8, without a zero. */
EE_API EE_MUST_CHECK ee_status ee_round_context(ee_round *round, const char *json, size_t size, ee_error *error);

/* Adds an arm, an object with its features. Its key "_tag", a text, is the id of the action (optional). */
EE_API EE_MUST_CHECK ee_status ee_round_action(ee_round *round, const char *json, size_t size, ee_error *error);

/* Gives the action that was added last its id, (size) bytes of UTF-8, where its JSON has no "_tag". */
EE_API EE_MUST_CHECK ee_status ee_round_action_id(ee_round *round, const char *id, size_t size, ee_error *error);

/* Adds both from one object, as Vowpal Wabbit writes them: the arms are the array "_multi", the rest is shared. */
EE_API EE_MUST_CHECK ee_status ee_round_read(ee_round *round, const char *json, size_t size, ee_error *error);

/* How many arms it has: so many entries `scores` and `probabilities` receive of it. */
EE_API size_t ee_round_count(const ee_round *round);

/* Learns the names and the scale of the numbers of a round, and gives its arms by what the bandit then knows. Call it
 * once for each round, in the order in which they came: the same calls give the same places. *arms is valid until the
 * next call with this round; arms may be NULL. New names make the bandit grow: where memory is missing for that, the
 * call succeeds, and learning a reward of these arms is EE_NO_MEMORY. */
EE_API EE_MUST_CHECK ee_status ee_bandit_arms(ee_bandit *bandit, ee_round *round, ee_arms *arms, ee_error *error);

/* What the feature at a place is: places are 0 to dim - 1, EE_BAD_INPUT from there on. */
typedef struct ee_feature {
    const char *name; /* "user.age", "item.id=a7", "user.age*item.id=a7"; "" where it has none: nothing came to this
                         place yet, or it is shared. Valid until the next call on this bandit */
    uint64_t count;   /* how often it came: with a context, an action, or as the product of the two */
    double mean;      /* a number x is x - mean, divided by deviation; 0 of what is no number */
    double deviation; /* 0: all were equal, which is no feature; 1 of what is no number */
    uint64_t limited; /* how many values of a number were more than ten deviations from the mean, and limited */
    uint64_t reserved[3];
} ee_feature;

EE_API EE_MUST_CHECK ee_status ee_bandit_feature(ee_bandit *bandit, size_t index, ee_feature *out, ee_error *error);

/* Saves everything, pending decisions and random state included: a loaded bandit goes on as if it had never stopped.
 * A file is written under a temporary name in the same folder, synced, and renamed: whoever opens path finds the old
 * model or the new one, whole. Where only the folder could not be synced at last, it is the new one. */
EE_API EE_MUST_CHECK ee_status ee_bandit_save(const ee_bandit *bandit, const char *path, ee_error *error);

/* Loads a bandit that ee_bandit_save has written. expected is NULL, or says what the model must be: its policy ("eenet"
 * accepts every preset of it; NULL: any) and its dim (0: any). It also gives the allocator. Nothing else in it is used.
 *
 * EE_NO_FILE means that path's folder is there and has nothing of that name, so that a bandit may be created and saved
 * there. A file that cannot be read, a folder that is not there and a link that leads nowhere are EE_FILE_ERROR. */
EE_API EE_MUST_CHECK ee_status ee_bandit_load(const char *path, const ee_settings *expected, ee_bandit **out,
                                              ee_error *error);

/* The same in memory. *bytes is to be freed with ee_bytes_free. */
EE_API EE_MUST_CHECK ee_status ee_bandit_save_bytes(const ee_bandit *bandit, void **bytes, size_t *size,
                                                    ee_error *error);
EE_API EE_MUST_CHECK ee_status ee_bandit_load_bytes(const void *bytes, size_t size, const ee_settings *expected,
                                                    ee_bandit **out, ee_error *error);
EE_API void ee_bytes_free(void *bytes);

/* What a bandit is. The strings live as long as the bandit. For NULL all is zero and empty. */
typedef struct ee_info {
    const char *policy;  /* as it was asked for, as "eenet:paper" */
    const char *options; /* every option that acts, with its value; creating a bandit from it gives the same one */
    size_t dim;
    uint64_t seed;
    uint64_t decisions;   /* made */
    uint64_t rewards;     /* learned, those of records and logs among them */
    uint64_t pending;     /* decisions that wait for their reward */
    uint64_t expired;     /* decisions that were forgotten because no reward came in time */
    uint64_t defaulted;   /* decisions that were learned with the default reward because none came; among rewards too */
    const char *features; /* every option of the features that acts; NULL where the bandit takes vectors alone */
    uint64_t limited;     /* rewards that were learned as nearer to the others: outliers, and those that were clipped */
    uint64_t reserved[3];
} ee_info;

EE_API ee_info ee_bandit_info(const ee_bandit *bandit);

/* Bytes that the bandit has asked the system for. What is reserved and was never used is counted too. */
EE_API size_t ee_bandit_memory(const ee_bandit *bandit);

/* A snapshot: what a bandit has learned, for other threads. Any number of threads decide on one snapshot while one
 * thread learns with the bandit and publishes:
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
 * Where rewards come late, the learner first takes the record in (ee_bandit_take_record), and then learns by its id.
 *
 * A decision is made on what was published last when the call began, and is what the bandit itself would have decided
 * then. Deciding never waits for the learner. A snapshot lives no longer than its bandit. */
typedef struct ee_snapshot ee_snapshot;
typedef struct ee_scratch ee_scratch;

/* create and update belong to the thread that uses the bandit; update belongs to one thread at a time. Both count the
 * decisions that wait as tried, as the bandit's own next decision would (see ee_bandit_decide). update copies what was
 * learned since (some policies copy everything), and waits only for decisions that began before the last update and
 * have not ended yet. snapshot must be of this bandit. */
EE_API EE_MUST_CHECK ee_status ee_snapshot_create(ee_bandit *bandit, ee_snapshot **out, ee_error *error);
EE_API EE_MUST_CHECK ee_status ee_snapshot_update(ee_snapshot *snapshot, ee_bandit *bandit, ee_error *error);
EE_API void ee_snapshot_free(ee_snapshot *snapshot);

/* What a thread decides with, one for each thread: memory, which grows with the rounds that it meets, a random stream,
 * and the records of the last decisions. The memory comes from the bandit's allocator, which several threads then call
 * at a time. seed starts the stream: give each scratch another one, or they draw alike. */
EE_API EE_MUST_CHECK ee_status ee_scratch_create(const ee_snapshot *snapshot, uint64_t seed, ee_scratch **out,
                                                 ee_error *error);
EE_API void ee_scratch_free(ee_scratch *scratch);

/* Restarts the stream: what the next call draws depends on seed alone, whatever the scratch drew before. For decisions
 * that must be reproducible one by one: take another seed for each. */
EE_API void ee_scratch_seed(ee_scratch *scratch, uint64_t seed);

/* As ee_bandit_score and ee_bandit_probabilities: what the next decision with this scratch sees. */
EE_API EE_MUST_CHECK ee_status ee_snapshot_score(const ee_snapshot *snapshot, ee_scratch *scratch, const ee_arms *arms,
                                                 ee_score *scores, ee_error *error);
EE_API EE_MUST_CHECK ee_status ee_snapshot_probabilities(const ee_snapshot *snapshot, ee_scratch *scratch,
                                                         const ee_arms *arms, double *probabilities, ee_error *error);

/* As ee_bandit_decide, ee_bandit_decide_many and ee_bandit_decide_slots, with any number of rounds; ids of decisions
 * are 0. All decisions of a call are made on the same publication. */
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

/* As ee_bandit_explain. */
EE_API EE_MUST_CHECK ee_status ee_snapshot_explain(const ee_snapshot *snapshot, ee_scratch *scratch,
                                                   const ee_arms *arms, size_t arm, float *contributions,
                                                   ee_error *error);

/* The arms of a round of named features, by the names and scales that were published last. It learns no names: for that
 * the learner calls ee_bandit_arms with the same round, and what it learned is published with the next update. *arms is
 * valid until the next call with this round. */
EE_API EE_MUST_CHECK ee_status ee_snapshot_arms(const ee_snapshot *snapshot, ee_round *round, ee_arms *arms,
                                                ee_error *error);

/* ee_snapshot_arms and ee_snapshot_decide in one, both by the same publication, even if an update comes in between. */
EE_API EE_MUST_CHECK ee_status ee_snapshot_decide_round(const ee_snapshot *snapshot, ee_scratch *scratch,
                                                        ee_round *round, ee_decision *decision, ee_score *scores,
                                                        double *probabilities, ee_error *error);

/* A decision of the last call that decided with this scratch as plain bytes: all that learning needs to know of it,
 * except the reward. index is its place among the decisions of that call, 0 after ee_snapshot_decide. Store the bytes
 * anywhere, for any time; *bytes is valid until the next call that decides with this scratch. EE_BAD_INPUT if there is
 * no such decision: the call made fewer, or it failed. */
EE_API EE_MUST_CHECK ee_status ee_scratch_record(const ee_scratch *scratch, size_t index, const void **bytes,
                                                 size_t *size, ee_error *error);

/* Learns a decision by its record, in any process whose bandit has the same policy, dimension and option `scale` and,
 * if the policy keeps something of a decision, the same options for it. The seed and options about drawing, waiting and
 * memory may differ. If it was a round of named features, the bandit must have learned the same names in the same
 * order. A record that was taken in before (ee_bandit_take_record) and has expired or was forgotten is learned here:
 * the decision counts as tried once. The caller must not learn a record twice. */
EE_API EE_MUST_CHECK ee_status ee_bandit_learn_record(ee_bandit *bandit, const void *record, size_t size, double reward,
                                                      ee_error *error);

/* Takes in a decision by its record as one of this bandit's own that waits, so that what the bandit knows, and
 * publishes by ee_snapshot_update, counts it as tried while its reward is on its way. decision->id becomes its id, by
 * which ee_bandit_learn learns it and ee_bandit_forget forgets it; it counts in ee_info and expires as the others. A
 * record does not know which arm it was nor its probability: these two of *decision stay as they are. */
EE_API EE_MUST_CHECK ee_status ee_bandit_take_record(ee_bandit *bandit, const void *record, size_t size,
                                                     ee_decision *decision, ee_error *error);

/* The policies, presets included, are numbered from 0; EE_BAD_INPUT past the last. The strings are constant. */
typedef struct ee_policy {
    const char *name;    /* "eenet:paper" */
    const char *summary; /* one line */
    const char *paper;   /* where it comes from; "" where there is no paper */
    const char *preset;  /* a preset's options, where they differ from the policy's, a line for each part; else "" */
    uint64_t reserved[4];
} ee_policy;

EE_API EE_MUST_CHECK ee_status ee_policy_describe(size_t index, ee_policy *out, ee_error *error);

/* The options of a policy are numbered from 0; EE_BAD_INPUT past the last, EE_BAD_OPTION for an unknown policy. Those
 * of named features are the options of "features". */
typedef struct ee_option {
    char name[32];
    char range[112];
    char value[112]; /* the default: the policy's own, or what its preset sets */
    const char *meaning;
    const char *part; /* the part of the policy that it belongs to, as "f1, the exploitation network" */
    char needs[160];  /* what other options must be for it to act, as "exploration=network"; "" where it always acts */
    int acts;         /* 1: it acts in this policy or preset; 0: setting it is refused, unless what it needs is set */
    int first;        /* 1: among those that people change first */
    uint64_t reserved[8];
} ee_option;

EE_API EE_MUST_CHECK ee_status ee_option_describe(const char *policy_name, size_t index, ee_option *out,
                                                  ee_error *error);

EE_API const char *ee_version(void);

/* The instruction set that the kernels use on this machine, as "neon" or "avx2". */
EE_API const char *ee_kernels(void);

#ifdef __cplusplus
}
#endif

#endif
