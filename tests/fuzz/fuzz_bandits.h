/* The bandits whose records fuzz_record learns and make_corpus makes. */
#ifndef EENET_FUZZ_BANDITS_H
#define EENET_FUZZ_BANDITS_H

#include "fuzz.h"

enum { FUZZ_DIM = 6, FUZZ_ARMS = 3 };

static const struct {
    const char *policy, *options;
} fuzz_bandits[] = {
    {"uniform", "pending=4 arms=3 nonzeros=4"},
    {"linucb", "pending=4 arms=3 nonzeros=4 scale=on"},
    {"kernelts", "pending=4 arms=3 nonzeros=2 max_contexts=9"},
    {"neural-ucb", "pending=4 arms=3 f1.width=3 f1.steps=2 f1.batch=2 f1.history=ring:6"},
    {"eenet", "pending=4 arms=3 f1.width=3 f1.steps=2 f1.batch=2 f1.history=ring:6 units=2 recall=9 blocks=2"},
    {"eenet", "pending=4 arms=3 f1.width=3 f1.steps=2 f1.batch=2 f1.history=ring:6 exploration=network f2.width=3 "
              "f2.steps=2 f2.batch=2 f2.history=ring:9 features=sketch:2 extra_until=30"},
    {"eenet", "pending=4 arms=3 f1.width=3 f1.steps=2 f1.batch=2 f1.history=ring:6 exploration=network f2.width=3 "
              "f2.steps=2 f2.batch=2 f2.history=ring:9 features=lle:2 lle_window=8 lle_neighbors=4"},
    {"thompson", "pending=4 arms=3 nonzeros=4 blocks=2"},
};
enum { FUZZ_BANDITS = sizeof fuzz_bandits / sizeof *fuzz_bandits };

/* The arms of a round, odd ones sparse. values is (FUZZ_ARMS, FUZZ_DIM). */
static inline ee_arms fuzz_bandit_arms(int round, float *values)
{
    static const size_t starts[FUZZ_ARMS + 1] = {0, 2, 3, 4};
    static const uint32_t indices[4] = {0, 3, 1, 5};
    for (size_t i = 0; i < FUZZ_ARMS * FUZZ_DIM; i++) values[i] = (float)((i * 5 + (size_t)round * 7) % 13) / 8;
    return round % 2 ? ee_arms_sparse(starts, indices, values, FUZZ_ARMS, FUZZ_DIM)
                     : ee_arms_dense(values, FUZZ_ARMS, FUZZ_DIM);
}

static inline ee_status fuzz_bandit_play(ee_bandit *bandit, int round, ee_error *error)
{
    float values[FUZZ_ARMS * FUZZ_DIM];
    ee_arms arms = fuzz_bandit_arms(round, values);
    ee_decision decision;
    ee_status status = ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, error);
    return status ? status : ee_bandit_learn(bandit, decision.id, round % 3 == 0, error);
}

/* NULL where that failed. */
static inline ee_bandit *fuzz_bandit_make(size_t kind, ee_error *error)
{
    ee_settings settings = {.policy = fuzz_bandits[kind].policy, .dim = FUZZ_DIM, .seed = 7};
    settings.options = fuzz_bandits[kind].options;
    ee_bandit *bandit = NULL;
    ee_status status = ee_bandit_create(&settings, &bandit, error);
    for (int round = 0; round < 10 && !status; round++) status = fuzz_bandit_play(bandit, round, error);
    if (!status) return bandit;
    ee_bandit_free(bandit);
    return NULL;
}

/* ---- what is saved of a bandit ---- */

typedef struct fuzz_saved {
    void *bytes;
    size_t size;
} fuzz_saved;

static inline fuzz_saved fuzz_save(const ee_bandit *bandit)
{
    fuzz_saved saved;
    ee_error error = {EE_OK, ""};
    require_error(ee_bandit_save_bytes(bandit, &saved.bytes, &saved.size, &error) == EE_OK, "does not save", &error);
    return saved;
}

/* Whether the bandit is still the one that was saved, which is freed. */
static inline bool fuzz_is_of(fuzz_saved saved, const ee_bandit *bandit)
{
    fuzz_saved now = fuzz_save(bandit);
    bool same = saved.size == now.size && memcmp(saved.bytes, now.bytes, saved.size) == 0;
    ee_bytes_free(saved.bytes);
    ee_bytes_free(now.bytes);
    return same;
}

/* What is saved of it loads to the same. */
static inline void fuzz_save_twice(const ee_bandit *bandit)
{
    ee_error error = {EE_OK, ""};
    ee_bandit *again = NULL;
    fuzz_saved saved = fuzz_save(bandit);
    require_error(ee_bandit_load_bytes(saved.bytes, saved.size, NULL, &again, &error) == EE_OK, "does not load again",
                  &error);
    require(fuzz_is_of(saved, again), "saves as another");
    ee_bandit_free(again);
}

#endif
