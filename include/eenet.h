/* eenet: neural contextual bandits.
 *
 * A bandit sees the arms of a round as feature vectors, decides for one of them, and learns from the reward of that
 * one alone, which may come later and in any order:
 *
 *     ee_settings settings = {.policy = "eenet", .dim = 20, .seed = 1};
 *     ee_bandit *bandit;
 *     if (ee_bandit_create(&settings, &bandit, &error)) ...
 *     ee_arms arms = ee_arms_dense(features, 10, 20);
 *     ee_decision decision;
 *     if (ee_bandit_decide(bandit, &arms, &decision, NULL, &error)) ...
 *     if (ee_bandit_learn(bandit, decision.id, reward, &error)) ...
 *     ee_bandit_free(bandit);
 *
 * Rules that hold for every call:
 *   - It returns EE_OK (zero) or a status, and then error holds a sentence that says what to do. error may be NULL.
 *   - A call that fails has changed nothing.
 *   - The library never prints, exits or aborts, and has no global state: bandits in different threads do not meet.
 *     One bandit is used by one thread at a time.
 *   - The same seed and the same calls give the same bytes on the same machine.
 *   - Structs with reserved words may get new members in their place, where zero means what was so before: programs
 *     that were built with an older header go on working. Start ee_settings from zeros ({0}, or named members as
 *     above); what the library fills in has zeros there. The other structs never change.
 *   - decide, score and learn allocate nothing, but for growth: a round with more arms or more non-zeros than the
 *     options `arms` and `nonzeros` reserve, and a history that the options leave unbounded.
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
    EE_EXPIRED_DECISION = 5,  /* the decision was made too long ago and is no longer kept (option `pending`) */
    EE_REWARDED_DECISION = 6, /* the decision has its reward already */
    EE_FILE_ERROR = 7,        /* the system could not read or write the file */
    EE_BAD_MODEL = 8,         /* the model is cut, damaged, of another version or of another policy */
    EE_DIVERGED = 9           /* a score is not a finite number any more: training diverged */
} ee_status;

/* The name of a status, as "EE_BAD_OPTION"; "unknown" where the number is none. */
EE_API const char *ee_status_name(ee_status status);

typedef struct ee_error {
    ee_status status;
    char message[252];
} ee_error;

typedef struct ee_bandit ee_bandit;

/* Where a bandit's memory comes from. allocate returns NULL where there is none left; what it gives needs no alignment
 * and need not be zero. release gets a block of allocate's with the size that was asked for. Both are called by the
 * thread that calls the library, and must not call it on the same bandit. */
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
    uint64_t reserved[7];          /* must be zero */
} ee_settings;

/* The arms of one round, borrowed for the duration of the call. Make it with ee_arms_dense or ee_arms_sparse. */
typedef struct ee_arms {
    size_t count;            /* arms */
    size_t dim;              /* features of each */
    const float *values;     /* dense: (count, dim) row by row; sparse: (starts[count]) */
    const size_t *starts;    /* dense: NULL; sparse: (count + 1), arm i has the entries starts[i] to starts[i + 1] */
    const uint32_t *indices; /* dense: NULL; sparse: (starts[count]), ascending within an arm, each below dim */
} ee_arms;

static inline ee_arms ee_arms_dense(const float *values, size_t count, size_t dim)
{
    ee_arms arms = {count, dim, values, NULL, NULL};
    return arms;
}

static inline ee_arms ee_arms_sparse(const size_t *starts, const uint32_t *indices, const float *values, size_t count,
                                     size_t dim)
{
    ee_arms arms = {count, dim, values, starts, indices};
    return arms;
}

/* How a policy sees one arm. */
typedef struct ee_score {
    float exploitation; /* f1: the reward that it expects */
    float exploration;  /* f2: the potential gain on top of it; 0 where a policy has none */
    float score;        /* f3: what the arms are ranked by */
} ee_score;

typedef struct ee_decision {
    uint64_t id;        /* 1 for the first decision of a bandit, then 2, 3, ... */
    size_t arm;         /* 0 to count - 1 */
    double probability; /* with which this arm was drawn; not a number where the policy cannot tell, which is a Thompson
                           policy whose option probability_draws is 0 */
} ee_decision;

/* A bandit. On success *out is to be freed with ee_bandit_free; on failure it is NULL. */
EE_API EE_MUST_CHECK ee_status ee_bandit_create(const ee_settings *settings, ee_bandit **out, ee_error *error);
EE_API void ee_bandit_free(ee_bandit *bandit);

/* Chooses an arm and remembers the decision until its reward comes or `pending` more decisions were made.
 * scores, if not NULL, receives arms->count entries. */
EE_API EE_MUST_CHECK ee_status ee_bandit_decide(ee_bandit *bandit, const ee_arms *arms, ee_decision *decision,
                                                ee_score *scores, ee_error *error);

/* The scores that decide would see now, without deciding. scores receives arms->count entries. */
EE_API EE_MUST_CHECK ee_status ee_bandit_score(ee_bandit *bandit, const ee_arms *arms, ee_score *scores,
                                               ee_error *error);

/* Gives a decision its reward, once, and trains when the policy's schedule says so. */
EE_API EE_MUST_CHECK ee_status ee_bandit_learn(ee_bandit *bandit, uint64_t decision_id, double reward, ee_error *error);

/* Saves everything, pending decisions and random state included: a loaded bandit goes on as if it had never stopped.
 * A file is written under a temporary name in the same folder, synced, and renamed: whoever opens path finds the old
 * model or the new one, whole. Where only the folder could not be synced at last, it is the new one. */
EE_API EE_MUST_CHECK ee_status ee_bandit_save(const ee_bandit *bandit, const char *path, ee_error *error);

/* expected is the policy that the caller wants ("eenet" accepts every preset of it), or NULL for any. */
EE_API EE_MUST_CHECK ee_status ee_bandit_load(const char *path, const char *expected, ee_bandit **out, ee_error *error);

/* The same in memory. *bytes is to be freed with ee_bytes_free. */
EE_API EE_MUST_CHECK ee_status ee_bandit_save_bytes(const ee_bandit *bandit, void **bytes, size_t *size,
                                                    ee_error *error);
EE_API EE_MUST_CHECK ee_status ee_bandit_load_bytes(const void *bytes, size_t size, const char *expected,
                                                    ee_bandit **out, ee_error *error);
EE_API void ee_bytes_free(void *bytes);

/* What a bandit is. The strings live as long as the bandit. All is zero and empty where there is none. */
typedef struct ee_info {
    const char *policy;  /* as it was asked for, as "eenet:paper" */
    const char *options; /* every option that acts, with its value; creating a bandit from it gives the same one */
    size_t dim;
    uint64_t seed;
    uint64_t decisions; /* made */
    uint64_t rewards;   /* learned */
    uint64_t reserved[8];
} ee_info;

EE_API ee_info ee_bandit_info(const ee_bandit *bandit);

/* Bytes that the bandit has asked the system for. What is reserved and was never used is counted too. */
EE_API size_t ee_bandit_memory(const ee_bandit *bandit);

/* The policies, presets included, are numbered from 0; EE_BAD_INPUT past the last. The strings are constant. */
typedef struct ee_policy {
    const char *name;    /* "eenet:paper" */
    const char *summary; /* one line */
    const char *paper;   /* where it comes from; "" where there is no paper */
    const char
        *preset; /* the options by which it differs from the policy's defaults, a line for each part; "" for none */
    uint64_t reserved[4];
} ee_policy;

EE_API EE_MUST_CHECK ee_status ee_policy_describe(size_t index, ee_policy *out, ee_error *error);

/* The options of a policy are numbered from 0; EE_BAD_INPUT past the last, EE_BAD_OPTION for an unknown policy. */
typedef struct ee_option {
    char name[32];
    char range[112];
    char value[112]; /* the default: the policy's own, or what its preset sets */
    const char *meaning;
    const char *part; /* of the policy, that the option belongs to, as "f1, the exploitation network" */
    char needs[160];  /* what others must be for it to act, as "exploration=network"; "" where it always acts */
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
