/* What eenet.mjs calls in WebAssembly: the library with plain numbers and pointers instead of structs. A handle is a
 * bandit with its present round. Calls that can fail return 0 (or NULL), and error_text says why. */
#include <stdlib.h>
#include <string.h>

#include "eenet.h"

#define EXPORT(name) __attribute__((export_name(#name))) module_##name

typedef struct handle {
    ee_bandit *bandit;
    ee_round *round; /* of named features; NULL before the first */
    ee_arms arms;    /* of the present round */
} handle;

static ee_error failure;

const char *EXPORT(error_text)(void)
{
    return failure.message;
}

const char *EXPORT(error_name)(void)
{
    return ee_status_name(failure.status);
}

const char *EXPORT(version)(void)
{
    return ee_version();
}

const char *EXPORT(kernels)(void)
{
    return ee_kernels();
}

/* Memory for arguments and results; NULL: there is none. */
void *EXPORT(allocate)(size_t size)
{
    void *block = malloc(size ? size : 1);
    if (block) return block;
    failure.status = EE_NO_MEMORY;
    strcpy(failure.message, "memory: the page has no memory left");
    return NULL;
}

void EXPORT(release)(void *block)
{
    free(block);
}

void EXPORT(bandit_free)(handle *self)
{
    if (!self) return;
    ee_round_free(self->round);
    ee_bandit_free(self->bandit);
    free(self);
}

/* features is NULL for a bandit that takes vectors; otherwise its options. */
handle *EXPORT(bandit_create)(const char *policy, size_t dim, uint64_t seed, const char *options, const char *features)
{
    ee_settings settings = {.policy = policy, .dim = dim, .seed = seed, .options = options, .features = features};
    handle *self = module_allocate(sizeof *self);
    if (!self) return NULL;
    *self = (handle){0};
    if (!ee_bandit_create(&settings, &self->bandit, &failure)) return self;
    module_bandit_free(self);
    return NULL;
}

handle *EXPORT(bandit_load)(const void *bytes, size_t size)
{
    handle *self = module_allocate(sizeof *self);
    if (!self) return NULL;
    *self = (handle){0};
    if (!ee_bandit_load_bytes(bytes, size, NULL, &self->bandit, &failure)) return self;
    module_bandit_free(self);
    return NULL;
}

/* Returns the model; release it. */
void *EXPORT(bandit_save)(const handle *self, size_t *size)
{
    void *bytes = NULL, *copy = NULL;
    if (ee_bandit_save_bytes(self->bandit, &bytes, size, &failure)) return NULL;
    copy = module_allocate(*size);
    if (copy) memcpy(copy, bytes, *size);
    ee_bytes_free(bytes);
    return copy;
}

/* ---- the present round ---- */

/* values is (count, dim) and borrowed until the next round. */
void EXPORT(round_vectors)(handle *self, const float *values, size_t count, size_t dim)
{
    self->arms = ee_arms_dense(values, count, dim);
}

int EXPORT(round_begin)(handle *self)
{
    if (self->round)
        ee_round_clear(self->round);
    else if (ee_round_create(NULL, &self->round, &failure))
        return 0;
    return 1;
}

int EXPORT(round_context)(handle *self, const char *json, size_t size)
{
    return !ee_round_context(self->round, json, size, &failure);
}

int EXPORT(round_action)(handle *self, const char *json, size_t size)
{
    return !ee_round_action(self->round, json, size, &failure);
}

int EXPORT(round_action_id)(handle *self, const char *id, size_t size)
{
    return !ee_round_action_id(self->round, id, size, &failure);
}

int EXPORT(round_end)(handle *self)
{
    return !ee_bandit_arms(self->bandit, self->round, &self->arms, &failure);
}

/* ---- deciding and learning ---- */

/* decision receives id, arm and probability; scores and probabilities one entry for each arm. */
int EXPORT(bandit_decide)(handle *self, double decision[3], ee_score *scores, double *probabilities)
{
    ee_decision made;
    if (ee_bandit_decide(self->bandit, &self->arms, &made, scores, probabilities, &failure)) return 0;
    decision[0] = (double)made.id;
    decision[1] = (double)made.arm;
    decision[2] = made.probability;
    return 1;
}

int EXPORT(bandit_score)(const handle *self, ee_score *scores)
{
    return !ee_bandit_score(self->bandit, &self->arms, scores, &failure);
}

int EXPORT(bandit_learn)(handle *self, double id, double reward)
{
    return !ee_bandit_learn(self->bandit, (uint64_t)id, reward, &failure);
}

int EXPORT(bandit_learn_from)(handle *self, size_t arm, double reward)
{
    return !ee_bandit_learn_from(self->bandit, &self->arms, arm, reward, &failure);
}

int EXPORT(bandit_forget)(handle *self, double id)
{
    return !ee_bandit_forget(self->bandit, (uint64_t)id, &failure);
}

/* ---- describing ---- */

const char *EXPORT(bandit_policy)(const handle *self)
{
    return ee_bandit_info(self->bandit).policy;
}

const char *EXPORT(bandit_options)(const handle *self)
{
    return ee_bandit_info(self->bandit).options;
}

uint64_t EXPORT(bandit_seed)(const handle *self)
{
    return ee_bandit_info(self->bandit).seed;
}

/* counts receives dim, decisions, rewards, pending decisions, whether it takes named features, and bytes. */
void EXPORT(bandit_counts)(const handle *self, double counts[6])
{
    ee_info info = ee_bandit_info(self->bandit);
    counts[0] = (double)info.dim;
    counts[1] = (double)info.decisions;
    counts[2] = (double)info.rewards;
    counts[3] = (double)info.pending;
    counts[4] = info.features != NULL;
    counts[5] = (double)ee_bandit_memory(self->bandit);
}
