/* Models that older versions of the library wrote, tests/models/VERSION: they load, expect what they expected when they
 * were stored, and go on learning. */
#define _GNU_SOURCE
#include "support.h"

#include <math.h>

#include "../../models/play_models.h"
#include "base/archive.h"

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

static void load_one(unsigned version, const model_case *c, const float *stored)
{
    char path[4096], name[128];
    ee_error error = {0};
    ee_bandit *bandit, *again;
    void *bytes;
    size_t size;
    snprintf(path, sizeof path, "%s/%u/%s.model", EENET_MODELS_DIR, version, c->name);
    snprintf(name, sizeof name, "%s of version %u", c->name, version);
    if (ee_bandit_load(path, NULL, &bandit, &error)) fail_msg("%s: %s", name, error.message);
    assert_int_equal(ee_bandit_info(bandit).decisions, MODEL_ROUNDS);
    assert_int_equal(ee_bandit_info(bandit).pending, MODEL_PENDING);
    assert_same_expectation(name, bandit, c, stored);
    assert_int_equal(ee_bandit_learn(bandit, MODEL_ROUNDS, 5, &error), EE_OK);
    if (model_play(bandit, c, 0, MODEL_ROUNDS, &error)) fail_msg("%s: %s", name, error.message);
    assert_int_equal(ee_bandit_save_bytes(bandit, &bytes, &size, &error), EE_OK);
    if (ee_bandit_load_bytes(bytes, size, NULL, &again, &error)) fail_msg("%s, saved again: %s", name, error.message);
    ee_bytes_free(bytes);
    ee_bandit_free(again);
    ee_bandit_free(bandit);
}

static void load_version(unsigned version)
{
    char path[4096], name[64];
    float stored[MODEL_ARMS];
    size_t found = 0;
    snprintf(path, sizeof path, "%s/%u/expected.txt", EENET_MODELS_DIR, version);
    FILE *list = fopen(path, "r");
    if (!list) fail_msg("no models of version %u are stored: run make_models with a library of that version", version);
    while (fscanf(list, "%63s %f %f %f %f", name, &stored[0], &stored[1], &stored[2], &stored[3]) == 5)
        for (size_t i = 0; i < sizeof model_cases / sizeof *model_cases; i++)
            if (strcmp(model_cases[i].name, name) == 0) {
                load_one(version, &model_cases[i], stored);
                found++;
            }
    fclose(list);
    assert_true(found >= 10);
}

static void test_every_version_loads(void **state)
{
    (void)state;
    for (unsigned version = ARCHIVE_OLDEST_VERSION; version < ARCHIVE_VERSION; version++) load_version(version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_version_loads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
