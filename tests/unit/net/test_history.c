/* What histories keep, and that rows of any length fit in. */
#include "support_network.h"

static void fill_history(history *h, memory *owner, const char *kind, size_t samples, uint64_t seed)
{
    char text[64];
    snprintf(text, sizeof text, "history=%s", kind);
    learner_options options = options_from(text);
    ee_error error = {0};
    assert_int_equal(history_create(h, owner, options.history, 1, 1, random_named(seed, "test"), &error), EE_OK);
    for (size_t i = 0; i < samples; i++) {
        float x = (float)i;
        assert_int_equal(history_reserve(h, 1, vector_dense(&x, 1), &error), EE_OK);
        history_append(h, vector_dense(&x, 1), -x);
    }
}

static void histories_keep_what_they_say(void **state)
{
    (void)state;
    memory owner = {0};
    history h;
    fill_history(&h, &owner, "all", 1000, 1);
    assert_int_equal(h.count, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_true(history_input(&h, i).values[0] == (float)i && history_target(&h, i) == -(float)i);
    memory_release(&owner);

    fill_history(&h, &owner, "ring:7", 1000, 1);
    assert_int_equal(h.count, 7);
    bool seen[7] = {false};
    for (size_t i = 0; i < 7; i++) {
        float x = history_input(&h, i).values[0];
        assert_true(x >= 993 && x < 1000 && history_target(&h, i) == -x);
        seen[(int)x - 993] = true;
    }
    for (int i = 0; i < 7; i++) assert_true(seen[i]);
    assert_true(history_input(&h, h.newest).values[0] == 999);
    memory_release(&owner);
}

static void a_reservoir_keeps_each_sample_equally_often(void **state)
{
    (void)state;
    enum { SAMPLES = 40, KEPT = 10, RUNS = 4000 };
    double counts[SAMPLES] = {0};
    for (uint64_t run = 0; run < RUNS; run++) {
        memory owner = {0};
        history h;
        fill_history(&h, &owner, "reservoir:10", SAMPLES, run);
        for (size_t i = 0; i < KEPT; i++) counts[(int)history_input(&h, i).values[0]]++;
        memory_release(&owner);
    }
    double expected = (double)RUNS * KEPT / SAMPLES, square = 0;
    for (int i = 0; i < SAMPLES; i++) square += (counts[i] - expected) * (counts[i] - expected) / expected;
    assert_true(square < 62); /* chi-square, 39 degrees of freedom: 99% is 62.4 */
}

/* Training begins with the newest sample; where a reservoir did not keep it, it must not take another one for it. */
static void a_reservoir_knows_whether_it_kept_the_newest(void **state)
{
    (void)state;
    memory owner = {0};
    history h;
    fill_history(&h, &owner, "reservoir:5", 5, 1);
    size_t kept = 0;
    for (int i = 5; i < 200; i++) {
        float x = (float)i;
        history_append(&h, vector_dense(&x, 1), 0);
        if (h.newest == h.count) continue;
        assert_true(history_input(&h, h.newest).values[0] == x);
        kept++;
    }
    assert_true(kept > 5 && kept < 40); /* 5 (1/6 + ... + 1/200), about 18 */
    memory_release(&owner);
}

static void rows_of_any_length_fit(void **state)
{
    (void)state;
    learner_options options = options_from("history=ring:3");
    memory owner = {0};
    history h;
    ee_error error = {0};
    assert_int_equal(history_create(&h, &owner, options.history, 100, 2, random_named(1, "test"), &error), EE_OK);
    float values[100];
    uint32_t indices[100];
    for (uint32_t i = 0; i < 100; i++) {
        values[i] = (float)i + 1;
        indices[i] = i;
    }
    vector rows[] = {{values, indices, 2}, {values, NULL, 100}, {values, indices, 0}, {values, indices, 100}};
    for (size_t i = 0; i < 8; i++) {
        vector row = rows[i % 4];
        assert_int_equal(history_reserve(&h, 1, row, &error), EE_OK);
        history_append(&h, row, (float)i);
        for (size_t j = 0; j < h.count; j++) {
            vector got = history_input(&h, j);
            vector expected = rows[(size_t)history_target(&h, j) % 4];
            assert_int_equal(got.count, expected.count);
            assert_int_equal(got.indices != NULL, expected.indices != NULL);
            assert_memory_equal(got.values, expected.values, got.count * sizeof(float));
            if (got.indices) assert_memory_equal(got.indices, expected.indices, got.count * sizeof(uint32_t));
        }
    }
    memory_release(&owner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histories_keep_what_they_say),
        cmocka_unit_test(a_reservoir_keeps_each_sample_equally_often),
        cmocka_unit_test(a_reservoir_knows_whether_it_kept_the_newest),
        cmocka_unit_test(rows_of_any_length_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
