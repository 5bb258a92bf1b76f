/* Models and records of decisions that this and older versions of the library wrote, tests/models/VERSION: models load,
 * expect what they expected when they were stored, learn the record's reward, and go on learning. */
#define _GNU_SOURCE
#include "support.h"

#include "../../models/play_models.h"
#include "base/file.h"
#include "base/octets.h"

static void assert_same_expectation(const char *name, ee_bandit *bandit, const model_case *c, const float *stored)
{
    float expected[MODEL_ARMS];
    ee_error error = {0};
    if (model_expect(bandit, c, expected, &error)) fail_msg("%s: %s", name, error.message);
    for (size_t i = 0; i < MODEL_ARMS; i++)
        if (fabsf(expected[i] - stored[i]) > 1e-3f * fmaxf(1, fabsf(stored[i])))
            fail_msg("%s: arm %zu is expected to be worth %g, but it was %g when it was stored", name, i,
                     (double)expected[i], (double)stored[i]);
}

/* Formats up to 11 are older than the first release: no record of theirs is kept. */
static void learn_record(unsigned version, const char *name, ee_bandit *bandit)
{
    if (version < 12) return;
    char path[4096];
    auto_memory uint8_t *bytes;
    size_t size;
    ee_error error = {0};
    uint64_t rewards = ee_bandit_info(bandit).rewards;
    snprintf(path, sizeof path, "%s/%u/%s.record", EENET_MODELS_DIR, version, name);
    if (file_read(path, &bytes, &size, &error)) fail_msg("%s: %s", path, error.message);
    if (ee_bandit_learn_record(bandit, bytes, size, 5, &error)) fail_msg("%s: %s", path, error.message);
    assert_int_equal(ee_bandit_info(bandit).rewards, rewards + 1);
    bytes[size / 2] ^= 1;
    assert_int_equal(ee_bandit_learn_record(bandit, bytes, size, 5, &error), EE_BAD_RECORD);
}

static void load_one(unsigned version, const model_case *c, const float *stored)
{
    char path[4096], name[128];
    ee_error error = {0};
    auto_bandit *bandit, *again;
    void *bytes;
    size_t size;
    snprintf(path, sizeof path, "%s/%u/%s.model", EENET_MODELS_DIR, version, c->name);
    snprintf(name, sizeof name, "%s of version %u", c->name, version);
    if (ee_bandit_load(path, NULL, &bandit, &error)) fail_msg("%s: %s", name, error.message);
    assert_int_equal(ee_bandit_info(bandit).decisions, MODEL_ROUNDS);
    assert_int_equal(ee_bandit_info(bandit).pending, MODEL_PENDING);
    assert_same_expectation(name, bandit, c, stored);
    learn_record(version, c->name, bandit);
    ok(ee_bandit_learn(bandit, MODEL_ROUNDS, 5, &error));
    if (model_play(bandit, c, 0, MODEL_ROUNDS, &error)) fail_msg("%s: %s", name, error.message);
    ok(ee_bandit_save_bytes(bandit, &bytes, &size, &error));
    assert_int_equal(octets_load((const char *)bytes + 8), ARCHIVE_VERSION);
    if (ee_bandit_load_bytes(bytes, size, NULL, &again, &error)) fail_msg("%s, saved again: %s", name, error.message);
    ee_bytes_free(bytes);
}

static void load_version(unsigned version)
{
    char path[4096], name[64];
    float stored[MODEL_ARMS];
    size_t found = 0;
    snprintf(path, sizeof path, "%s/%u/expected.txt", EENET_MODELS_DIR, version);
    FILE *list = fopen(path, "r");
    if (!list) fail_msg("no models of version %u are stored: run make_models, see CONTRIBUTING.md", version);
    while (fscanf(list, "%63s %f %f %f %f", name, &stored[0], &stored[1], &stored[2], &stored[3]) == 5)
        for (size_t i = 0; i < sizeof model_cases / sizeof *model_cases; i++)
            if (strcmp(model_cases[i].name, name) == 0) {
                load_one(version, &model_cases[i], stored);
                found++;
            }
    fclose(list);
    assert_true(found >= 10);
}

TEST(test_every_version_loads)
{
    for (unsigned version = ARCHIVE_OLDEST_VERSION; version <= ARCHIVE_VERSION; version++) load_version(version);
}

/* ---- f2 of version 11 ---- */

enum { VERSION_AT = 8, POLICY_AT = 16 };

/* Loads a model of version 11 to whose options more are added. */
static ee_bandit *load_with_options(const char *model, const char *more)
{
    char path[4096];
    auto_memory uint8_t *bytes, *longer;
    size_t size, added = strlen(more);
    ee_bandit *bandit;
    ee_error error = {0};
    snprintf(path, sizeof path, "%s/11/%s", EENET_MODELS_DIR, model);
    ok(file_read(path, &bytes, &size, &error));
    size_t options = POLICY_AT + 8 + octets_load((const char *)bytes + POLICY_AT);
    uint64_t length = octets_load((const char *)bytes + options);
    size_t end = options + 8 + length;
    ok(memory_create(NULL, &longer, size + added, 1, &error));
    memcpy(longer, bytes, end);
    memcpy(longer + end, more, added);
    memcpy(longer + end + added, bytes + end, size - end);
    length += added;
    memcpy(longer + options, &length, sizeof length);
    uint64_t checksum = archive_checksum(longer, size + added - sizeof checksum);
    memcpy(longer + size + added - sizeof checksum, &checksum, sizeof checksum);
    if (ee_bandit_load_bytes(longer, size + added, NULL, &bandit, &error)) fail_msg("%s: %s", model, error.message);
    return bandit;
}

/* theta2 had another length. It is computed again: without a width, scores are those of the library that stored the
 * model, which had alpha=0. */
TEST(test_f2_predicts_what_it_did)
{
    static const float exploration[MODEL_ARMS] = {2.47050858f, 1.7586832f, 0.573793232f, -0.451110184f};
    static const float score[MODEL_ARMS] = {10.3949795f, 7.66034508f, 10.9839478f, 7.62789536f};
    auto_bandit *bandit = load_with_options("eenet-alpha.model", " width=0 recall_width=0");
    model_case plain = {"eenet-alpha", "eenet", "", NULL};
    float values[MODEL_ARMS * MODEL_DIM];
    ee_arms arms;
    ee_score scores[MODEL_ARMS];
    ok(model_arms(bandit, &plain, MODEL_ROUNDS, NULL, values, &arms, NULL));
    ok(ee_bandit_score(bandit, &arms, scores, NULL));
    for (size_t i = 0; i < MODEL_ARMS; i++) {
        assert_float_equal(scores[i].exploration, exploration[i], 1e-4f);
        assert_float_equal(scores[i].score, score[i], 1e-4f);
    }
}

/* What the options say of alpha decides how long theta2 is taken to be: the rest is then read from elsewhere, and the
 * model is refused or sound. */
TEST(test_another_alpha_does_no_harm)
{
    char path[4096];
    auto_memory uint8_t *bytes;
    size_t size;
    ee_bandit *bandit;
    ee_error error = {0};
    snprintf(path, sizeof path, "%s/11/eenet-alpha.model", EENET_MODELS_DIR);
    ok(file_read(path, &bytes, &size, &error));
    char *alpha = memmem(bytes, size, "alpha=0", 7);
    assert_non_null(alpha);
    for (const char *value = "1x-"; *value; value++) {
        alpha[6] = *value;
        uint64_t checksum = archive_checksum(bytes, size - sizeof checksum);
        memcpy(bytes + size - sizeof checksum, &checksum, sizeof checksum);
        ee_status status = ee_bandit_load_bytes(bytes, size, NULL, &bandit, &error);
        assert_true(status == EE_OK || status == EE_BAD_MODEL);
        if (*value == '1') assert_int_equal(status, EE_BAD_MODEL);
        ee_bandit_free(bandit);
    }
    /* The option is one of older models alone. */
    uint64_t version = ARCHIVE_VERSION;
    memcpy(bytes + VERSION_AT, &version, sizeof version);
    uint64_t checksum = archive_checksum(bytes, size - sizeof checksum);
    memcpy(bytes + size - sizeof checksum, &checksum, sizeof checksum);
    assert_int_equal(ee_bandit_load_bytes(bytes, size, NULL, &bandit, &error), EE_BAD_MODEL);
    assert_non_null(strstr(error.message, "no option 'alpha'"));
}
