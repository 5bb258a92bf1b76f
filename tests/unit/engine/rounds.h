/* What the tests of a bandit share: rounds to play, a bandit made or the reason printed, and models to compare. */
#ifndef EENET_TEST_ROUNDS_H
#define EENET_TEST_ROUNDS_H

#include "support.h"

/* ---- rounds: the same number gives the same arms, whoever asks and whenever ---- */

enum { ROUND_ARMS = 1000, ROUND_DIM = 32 };

typedef struct round_arms {
    ee_arms dense, sparse; /* the same arms in both forms */
    _Alignas(64) float values[ROUND_ARMS * ROUND_DIM];
    float entries[ROUND_ARMS * ROUND_DIM];
    uint32_t indices[ROUND_ARMS * ROUND_DIM];
    size_t starts[ROUND_ARMS + 1];
} round_arms;

/* The sparse form of the dense values. */
static inline void round_compress(round_arms *self, size_t count, size_t dim)
{
    size_t end = 0;
    for (size_t i = 0; i < count * dim; i++) {
        if (i % dim == 0) self->starts[i / dim] = end;
        if (self->values[i] == 0) continue;
        self->indices[end] = (uint32_t)(i % dim);
        self->entries[end++] = self->values[i];
    }
    self->starts[count] = end;
    self->dense = ee_arms_dense(self->values, count, dim);
    self->sparse = ee_arms_sparse(self->starts, self->indices, self->entries, count, dim);
}

/* Arms with at most so many features that are not zero, each in (-1, 1). */
static inline void round_draw(round_arms *self, uint64_t number, size_t count, size_t dim, size_t nonzeros)
{
    random_stream stream = random_named(number, "round");
    memset(self->values, 0, count * dim * sizeof *self->values);
    for (size_t arm = 0; arm < count; arm++) {
        size_t first = (size_t)random_below(&stream, dim);
        for (size_t i = 0; i < nonzeros; i++)
            self->values[arm * dim + (first + i) % dim] = (float)(2 * random_unit(&stream) - 1);
    }
    round_compress(self, count, dim);
}

/* 0 or 1, by a line that a network finds. */
static inline double round_reward(const round_arms *self, size_t arm)
{
    const float *x = self->values + arm * self->dense.dim;
    return x[0] + 0.5f * x[self->dense.dim - 1] > 0 ? 1 : 0;
}

/* ---- bandits ---- */

static inline ee_bandit *bandit_make(const char *policy, size_t dim, uint64_t seed, const char *options)
{
    ee_settings settings = {.policy = policy, .dim = dim, .seed = seed, .options = options};
    ee_bandit *bandit = NULL;
    ee_error error = {EE_OK, ""};
    if (ee_bandit_create(&settings, &bandit, &error)) fail_msg("create %s: %s", policy, error.message);
    assert_non_null(bandit);
    return bandit;
}

static inline ee_snapshot *snapshot_make(ee_bandit *bandit)
{
    ee_snapshot *snapshot;
    ok(ee_snapshot_create(bandit, &snapshot, &last_error));
    return snapshot;
}

static inline ee_scratch *scratch_make(const ee_snapshot *snapshot, uint64_t seed)
{
    ee_scratch *scratch;
    ok(ee_scratch_create(snapshot, seed, &scratch, &last_error));
    return scratch;
}

/* A bandit, and what decides on its snapshot. */
typedef struct reader {
    ee_bandit *bandit;
    ee_snapshot *snapshot;
    ee_scratch *scratch;
    ee_round *round; /* of named features, or NULL */
    ee_arms arms;    /* of the round, after reader_take_arms */
} reader;

static inline reader reader_make(ee_bandit *bandit, uint64_t seed)
{
    ee_snapshot *snapshot = snapshot_make(bandit);
    return (reader){.bandit = bandit, .snapshot = snapshot, .scratch = scratch_make(snapshot, seed)};
}

static inline void reader_free(reader *self)
{
    ee_scratch_free(self->scratch);
    ee_snapshot_free(self->snapshot);
    ee_bandit_free(self->bandit);
    ee_round_free(self->round);
}

#define auto_reader RELEASED_BY(reader_free) reader

static inline void reader_take_arms(reader *self)
{
    ok(ee_bandit_arms(self->bandit, self->round, &self->arms, &last_error));
}

static inline ee_round *round_make(void)
{
    ee_round *round;
    ok(ee_round_create(NULL, &round, &last_error));
    return round;
}

static inline ee_decision bandit_choose(ee_bandit *bandit, const ee_arms *arms, ee_score *scores)
{
    ee_decision decision = {0, SIZE_MAX, 0};
    ok(ee_bandit_decide(bandit, arms, &decision, scores, NULL, &last_error));
    assert_true(decision.arm < arms->count);
    return decision;
}

static inline void bandit_reward(ee_bandit *bandit, uint64_t id, double reward)
{
    ok(ee_bandit_learn(bandit, id, reward, &last_error));
}

/* Rounds first to last, each rewarded at once; count arms a round, sparse or dense. */
static inline void bandit_play(ee_bandit *bandit, uint64_t first, uint64_t last, size_t count, bool sparse)
{
    static round_arms round;
    size_t dim = ee_bandit_info(bandit).dim;
    for (uint64_t t = first; t <= last; t++) {
        round_draw(&round, t, count, dim, dim / 2);
        ee_decision decision = bandit_choose(bandit, sparse ? &round.sparse : &round.dense, NULL);
        bandit_reward(bandit, decision.id, round_reward(&round, decision.arm));
    }
}

/* ---- models ---- */

typedef struct model {
    void *bytes;
    size_t size;
} model;

static inline model model_save(const ee_bandit *bandit)
{
    model saved = {NULL, 0};
    ok(ee_bandit_save_bytes(bandit, &saved.bytes, &saved.size, &last_error));
    assert_non_null(saved.bytes);
    return saved;
}

static inline void model_free(model *self)
{
    ee_bytes_free(self->bytes);
    *self = (model){NULL, 0};
}

#define auto_model RELEASED_BY(model_free) model

static inline bool model_equal(model a, model b)
{
    return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

/* Whether the bandit is still the one that was saved. */
static inline bool model_is_of(model saved, const ee_bandit *bandit)
{
    auto_model now = model_save(bandit);
    return model_equal(saved, now);
}

static inline ee_bandit *model_load(model saved)
{
    ee_bandit *bandit = NULL;
    ok(ee_bandit_load_bytes(saved.bytes, saved.size, NULL, &bandit, &last_error));
    assert_non_null(bandit);
    return bandit;
}

/* Whether the two save the same bytes. */
static inline bool bandits_equal(const ee_bandit *one, const ee_bandit *other)
{
    auto_model saved = model_save(one);
    return model_is_of(saved, other);
}

/* As saved and loaded, which saves the same bytes again. */
static inline ee_bandit *bandit_copy(const ee_bandit *bandit)
{
    auto_model saved = model_save(bandit);
    ee_bandit *copy = model_load(saved);
    assert_true(model_is_of(saved, copy));
    return copy;
}

static inline ee_bandit *bandit_reload(ee_bandit *bandit)
{
    ee_bandit *copy = bandit_copy(bandit);
    ee_bandit_free(bandit);
    return copy;
}

/* What the bandit saves now is refused, with this sentence. */
static inline void model_not_loaded(ee_bandit *bandit, const char *sentence)
{
    ee_bandit *loaded = bandit;
    auto_model saved = model_save(bandit);
    fails_with(ee_bandit_load_bytes(saved.bytes, saved.size, NULL, &loaded, &last_error), EE_BAD_MODEL, sentence);
    assert_null(loaded);
}

#endif
