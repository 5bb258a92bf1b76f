/* What histories keep, that rows of any length fit in, where rounds end and what was predicted. */
#include "support_network.h"

static void append_number(history *h, size_t number)
{
    float x = (float)number;
    ok(history_reserve(h, 1, vector_dense(&x, 1), &last_error));
    history_append(h, vector_dense(&x, 1), -x);
}

static void fill_history(history *h, memory *owner, const char *kind, size_t samples, uint64_t seed)
{
    char text[64];
    snprintf(text, sizeof text, "history=%s", kind);
    learner_options options = options_from(text);
    ok(history_create(h, owner, options.history, 1, 1, false, random_named(seed, "test"), &last_error));
    for (size_t i = 0; i < samples; i++) append_number(h, i);
}

TEST(histories_keep_what_they_say)
{
    RELEASED_BY(memory_release) memory owner = {0};
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
}

/* Every sample has the number by which it came, wherever it lies. */
TEST(samples_have_numbers)
{
    static const char *const kinds[] = {"all", "ring:7", "reservoir:7"};
    for (size_t k = 0; k < 3; k++) {
        RELEASED_BY(memory_release) memory owner = {0};
        history h;
        float x = 50;
        fill_history(&h, &owner, kinds[k], 50, 1);
        for (size_t i = 0; i < h.count; i++)
            assert_int_equal(history_number(&h, i), (int)history_input(&h, i).values[0]);
        ok(history_reserve(&h, 1, vector_dense(&x, 1), NULL));
        history_append(&h, vector_dense(&x, 1), 0);
        history_undo(&h);
        history_append(&h, vector_dense(&x, 1), 0);
        for (size_t i = 0; i < h.count; i++)
            assert_int_equal(history_number(&h, i), (int)history_input(&h, i).values[0]);
    }
}

TEST(a_reservoir_keeps_each_sample_equally_often)
{
    enum { SAMPLES = 40, KEPT = 10, RUNS = 4000 };
    double counts[SAMPLES] = {0};
    for (uint64_t run = 0; run < RUNS; run++) {
        RELEASED_BY(memory_release) memory owner = {0};
        history h;
        fill_history(&h, &owner, "reservoir:10", SAMPLES, run);
        for (size_t i = 0; i < KEPT; i++) counts[(int)history_input(&h, i).values[0]]++;
    }
    double expected = (double)RUNS * KEPT / SAMPLES, square = 0;
    for (int i = 0; i < SAMPLES; i++) square += (counts[i] - expected) * (counts[i] - expected) / expected;
    assert_true(square < 62); /* chi-square, 39 degrees of freedom: 99% is 62.4 */
    /* Training begins with the newest sample; where a reservoir did not keep it, it must not take another one for it.
     */
    RELEASED_BY(memory_release) memory owner = {0};
    history h;
    fill_history(&h, &owner, "reservoir:5", 5, 1);
    size_t kept = 0;
    for (size_t i = 5; i < 200; i++) {
        append_number(&h, i);
        if (h.newest < h.count) {
            assert_true(history_input(&h, h.newest).values[0] == (float)i);
            kept++;
            continue;
        }
        history_end_round(&h); /* that of a sample which was not kept changes no other sample */
        history_set_predicted(&h, h.newest, 1);
        assert_int_equal(history_count_after(&h, 1), h.count); /* none of those held ends a round */
        for (size_t j = 0; j < h.count; j++) assert_true(history_predicted(&h, j) == 0);
    }
    assert_true(kept > 5 && kept < 40); /* 5 (1/6 + ... + 1/200), about 18 */
}

TEST(rows_of_any_length_fit)
{
    learner_options options = options_from("history=ring:3");
    RELEASED_BY(memory_release) memory owner = {0};
    history h;
    ok(history_create(&h, &owner, options.history, 100, 2, false, random_named(1, "test"), &last_error));
    float values[100];
    uint32_t indices[100];
    for (uint32_t i = 0; i < 100; i++) {
        values[i] = (float)i + 1;
        indices[i] = i;
    }
    vector rows[] = {{values, indices, 2}, {values, NULL, 100}, {values, indices, 0}, {values, indices, 100}};
    for (size_t i = 0; i < 8; i++) {
        vector row = rows[i % 4];
        ok(history_reserve(&h, 1, row, &last_error));
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
}

TEST(clearing_gives_long_rows_back)
{
    enum { LONG = 5000 };
    static const float values[LONG] = {1};
    learner_options options = options_from("history=all");
    RELEASED_BY(memory_release) memory owner = {0};
    history h;
    ok(history_create(&h, &owner, options.history, LONG, 2, false, random_named(1, "test"), NULL));
    size_t before = memory_bytes(&owner);
    for (size_t i = 0; i < 10; i++) {
        ok(history_reserve(&h, 1, vector_dense(values, LONG), NULL));
        history_append(&h, vector_dense(values, LONG), 1);
    }
    assert_true(memory_bytes(&owner) > before + 10 * sizeof values);
    history_clear(&h);
    assert_true(memory_bytes(&owner) < before + 3 * sizeof values); /* one or two are kept for the next */
}

/* ---- rounds of several samples ---- */

/* A history as a policy fills it: rounds of 1, 3, 2, 1, 3, 2, ... samples. */
static size_t samples_of_round(size_t round)
{
    return round % 3 == 0 ? 1 : round % 3 == 1 ? 3 : 2;
}

static void append_round(history *h, size_t round)
{
    for (size_t i = 0; i < samples_of_round(round); i++) append_number(h, 10 * round + i);
    history_end_round(h);
}

TEST(rounds_are_counted_in_their_samples)
{
    enum { MOST = 300 }; /* the history grows on the way */
    RELEASED_BY(memory_release) memory owner = {0};
    history h;
    fill_history(&h, &owner, "all", 0, 1);
    assert_int_equal(history_count_after(&h, 0), 0);
    assert_int_equal(history_count_after(&h, 5), 0);
    for (size_t rounds = 1; rounds <= MOST; rounds++) {
        append_round(&h, rounds - 1);
        size_t samples = 0;
        for (size_t r = 0; rounds % 50 == 1 && r <= rounds; r++) {
            assert_int_equal(history_count_after(&h, r), samples);
            samples += r < rounds ? samples_of_round(r) : 0;
        }
        assert_int_equal(history_count_after(&h, rounds), h.count);
        assert_int_equal(history_count_after(&h, rounds + 7), h.count); /* more than there were: all */
    }
    /* A round ends with its last sample. One that has begun belongs to none that is over; after history_clear there are
     * no rounds. */
    RELEASED_BY(memory_release) memory other = {0};
    history open;
    fill_history(&open, &other, "all", 0, 1);
    append_round(&open, 1);
    append_number(&open, 7);
    assert_int_equal(history_count_after(&open, 1), 3);
    append_number(&open, 8);
    history_end_round(&open);
    assert_int_equal(history_count_after(&open, 1), 3);
    assert_int_equal(history_count_after(&open, 2), 5);
    history_clear(&open);
    assert_int_equal(history_count_after(&open, 2), 0);
    for (size_t i = 0; i < 5; i++) append_number(&open, i); /* where rounds ended before */
    history_end_round(&open);
    assert_int_equal(history_count_after(&open, 1), 5);
}

/* What takes the place of a sample does not take over its prediction; of a sample that was not kept there is none. */
TEST(a_prediction_goes_with_its_sample)
{
    const char *kinds[] = {"ring:5", "reservoir:5", "all"};
    for (size_t k = 0; k < 3; k++) {
        RELEASED_BY(memory_release) memory owner = {0};
        history h;
        size_t dropped = 0;
        fill_history(&h, &owner, kinds[k], 0, 1);
        for (size_t i = 0; i < 200; i++) {
            append_number(&h, i);
            bool kept = h.newest < h.count;
            dropped += !kept;
            if (kept) assert_true(history_predicted(&h, h.newest) == 0);
            history_set_predicted(&h, h.newest, (float)i + 0.5f);
            for (size_t j = 0; j < h.count; j++)
                assert_true(history_predicted(&h, j) == history_input(&h, j).values[0] + 0.5f);
        }
        assert_int_equal(dropped > 0, k == 1);
    }
}
