/* Models that nobody saved: loading ends with a status or with a bandit that decides, learns and can be saved again.
 *
 * Each input is tried as it is, and once more with its last eight bytes made the checksum of the others: without that
 * next to nothing would get past the checksum. */
#include "base/archive.h"
#include "fuzz.h"
#include "fuzz_bandits.h"
#include "fuzz_limits.h"

enum { CHECKSUM_SIZE = 8, ARMS = 3 };

/* Far under the counts that a model is refused for: six rounds more do not get there. */
static const uint64_t COUNT_END = (uint64_t)1 << 61;

/* ---- what a bandit that was loaded must do ---- */

/* Learns, or diverges and is as it was. */
static void learn(ee_bandit *bandit, uint64_t decision, double reward)
{
    ee_error error = {EE_OK, ""};
    fuzz_saved before = fuzz_save(bandit);
    ee_status status = ee_bandit_learn(bandit, decision, reward, &error);
    require_error(status == EE_OK || status == EE_DIVERGED, "does not learn", &error);
    require_error(fuzz_is_of(before, bandit) == (status == EE_DIVERGED), "has learned nothing, or what it refused",
                  &error);
}

static void play(ee_bandit *bandit, bool sparse, int round)
{
    static const size_t starts[ARMS + 1] = {0, 1, 1, 2};
    static const uint32_t indices[2] = {0, 0};
    float values[ARMS * FUZZ_MOST_DIM];
    size_t dim = ee_bandit_info(bandit).dim;
    for (size_t i = 0; i < ARMS * dim; i++) values[i] = (float)((i * 7 + (size_t)round * 3) % 11) / 11;
    ee_arms arms = sparse ? ee_arms_sparse(starts, indices, values, ARMS, dim) : ee_arms_dense(values, ARMS, dim);
    ee_score scores[ARMS];
    ee_decision decision;
    ee_error error = {EE_OK, ""};
    /* Parameters may be any numbers: what comes of them need not be finite. */
    ee_status status = ee_bandit_score(bandit, &arms, scores, &error);
    require_error(status == EE_OK || status == EE_DIVERGED, "does not score", &error);
    status = ee_bandit_decide(bandit, &arms, &decision, scores, NULL, &error);
    require_error(status == EE_OK || status == EE_DIVERGED, "does not decide", &error);
    if (status) return;
    require_error(decision.arm < ARMS, "decides for an arm that there is not", &error);
    if (round % 3 == 2) return; /* this one stays pending */
    learn(bandit, decision.id, round % 2);
}

/* A round of names, some of which the model may have; and every place is read back. */
static void play_named(ee_bandit *bandit)
{
    static const char json[] = "{\"u\":{\"n\":-5},\"w\":\"v1\",\"_multi\":[{\"a\":2},{\"v\":[1,7],\"c\":true}]}";
    ee_error error = {EE_OK, ""};
    ee_round *round;
    ee_arms arms;
    ee_decision decision;
    require_error(ee_round_create(NULL, &round, &error) == EE_OK, "no round", &error);
    require_error(ee_round_read(round, json, strlen(json), &error) == EE_OK, "does not read", &error);
    require_error(ee_bandit_arms(bandit, round, &arms, &error) == EE_OK, "has no arms", &error);
    ee_status status = ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &error);
    require_error(status == EE_OK || status == EE_DIVERGED, "does not decide", &error);
    for (size_t i = 0; i < arms.dim; i++) {
        ee_feature feature;
        require_error(ee_bandit_feature(bandit, i, &feature, &error) == EE_OK, "does not name a place", &error);
        require_error(feature.mean == feature.mean && feature.deviation >= 0, "scales by nothing", &error);
    }
    ee_round_free(round);
}

static void try_model(const uint8_t *bytes, size_t size)
{
    ee_error error = {EE_OK, ""};
    ee_bandit *bandit;
    ee_status status = ee_bandit_load_bytes(bytes, size, NULL, &bandit, &error);
    require_error(status == error.status, "a status without its error", &error);
    require_error(status == EE_OK || status == EE_BAD_MODEL || status == EE_NO_MEMORY, "an odd status", &error);
    require_error((status == EE_OK) == (bandit != NULL), "a bandit where there is none", &error);
    if (status) return;
    fuzz_save_twice(bandit);
    ee_info info = ee_bandit_info(bandit);
    bool lives = info.decisions < COUNT_END && info.rewards < COUNT_END;
    for (int round = 0; lives && round < 6; round++) {
        play(bandit, round >= 3, round);
        /* Time goes on, and decisions expire; it may have been later already. */
        status = ee_bandit_set_time(bandit, 20.0 + round, &error);
        require_error(status == EE_OK || status == EE_BAD_INPUT, "does not take the time", &error);
        if (info.features) play_named(bandit);
    }
    fuzz_save_twice(bandit);
    ee_bandit_free(bandit);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (fuzz_asks_for_much(bytes, size)) return 0;
    try_model(bytes, size);
    if (size < CHECKSUM_SIZE) return 0;
    uint8_t *repaired = copy_of(bytes, size);
    uint64_t checksum = archive_checksum(bytes, size - CHECKSUM_SIZE);
    memcpy(repaired + size - CHECKSUM_SIZE, &checksum, CHECKSUM_SIZE);
    if (memcmp(repaired, bytes, size) != 0) try_model(repaired, size);
    free(repaired);
    return 0;
}
