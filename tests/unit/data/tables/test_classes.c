/* Rounds of a classification problem: blocks, rewards, and the order of the rows. */
#include "data/tables/classes.h"

#include "data/sets/environment.h"
#include "data/support_sets.h"
#include "support_files.h"

/* Row i has the entries (i % 4: 1 + i) and, unless i is a multiple of 3, (4: -1 - i); class i % 3. */
enum { ROWS = 12, FEATURES = 5, CLASSES = 3 };

static classes_dataset *make(void)
{
    classes_dataset *data;
    ok(classes_create(ROWS, 2 * ROWS, &data, NULL));
    size_t at = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        data->indices[at] = i % 4;
        data->values[at++] = 1.0f + (float)i;
        if (i % 3) {
            data->indices[at] = 4;
            data->values[at++] = -1.0f - (float)i;
        }
        data->starts[i + 1] = at;
        data->labels[i] = i % 3;
    }
    data->features = FEATURES;
    data->classes = CLASSES;
    ok(classes_finish(data, "made", NULL));
    assert_int_equal(data->head.dim, FEATURES * CLASSES);
    assert_int_equal(data->head.arms, CLASSES);
    assert_int_equal(dataset_blocks(&data->head), CLASSES);
    assert_int_equal(data->head.rounds, 0);
    return data;
}

/* Checks the round against the row that it shows, and returns that row. */
static size_t check_round(const environment_round *round)
{
    const ee_arms *arms = &round->arms;
    assert_int_equal(arms->count, CLASSES);
    assert_int_equal(arms->dim, FEATURES * CLASSES);
    assert_ptr_equal(round->rewards, round->expected);
    size_t row = (size_t)arms->values[0] - 1, count = row % 3 ? 2 : 1;
    for (size_t arm = 0; arm < CLASSES; arm++) {
        size_t start = arms->starts[arm];
        assert_int_equal(start, arm * count);
        assert_int_equal(arms->starts[arm + 1], (arm + 1) * count);
        assert_int_equal(arms->indices[start], FEATURES * arm + row % 4);
        assert_true(arms->values[start] == 1.0f + (float)row);
        if (count == 2) {
            assert_int_equal(arms->indices[start + 1], FEATURES * arm + 4);
            assert_true(arms->values[start + 1] == -1.0f - (float)row);
        }
        assert_true(round->rewards[arm] == (arm == row % 3 ? 1.0 : 0.0));
    }
    return row;
}

/* Shows rows of one turn; order is (ROWS). */
static void play_turn(environment *world, size_t *order)
{
    bool seen[ROWS] = {false};
    for (size_t t = 0; t < ROWS; t++) {
        environment_round round;
        ok(classes_next(world, &round, NULL));
        order[t] = check_round(&round);
        assert_false(seen[order[t]]);
        seen[order[t]] = true;
    }
}

TEST(every_row_once_then_in_another_order)
{
    classes_dataset *data = make();
    environment *world, *same, *other;
    ok(classes_start(&data->head, 3, &world, NULL));
    ok(classes_start(&data->head, 3, &same, NULL));
    ok(classes_start(&data->head, 4, &other, NULL));
    size_t last[ROWS] = {0}, order[ROWS], again[ROWS], different[ROWS];
    for (int turn = 0; turn < 5; turn++) {
        play_turn(world, order);
        play_turn(same, again);
        play_turn(other, different);
        assert_memory_equal(order, again, sizeof order);
        assert_memory_not_equal(order, different, sizeof order);
        assert_memory_not_equal(order, last, sizeof order);
        memcpy(last, order, sizeof order);
    }
    environment_free(world);
    environment_free(same);
    environment_free(other);
    classes_close(&data->head);
}

TEST(orders_are_uniform)
{
    enum { TURNS = 6000 };
    classes_dataset *data = make();
    auto_environment *world;
    size_t counts[ROWS][ROWS] = {{0}}, order[ROWS];
    ok(classes_start(&data->head, 1, &world, NULL));
    for (int turn = 0; turn < TURNS; turn++) {
        play_turn(world, order);
        for (size_t t = 0; t < ROWS; t++) counts[t][order[t]]++;
    }
    double expected = (double)TURNS / ROWS; /* 500, with a deviation of 21 */
    for (size_t t = 0; t < ROWS; t++)
        for (size_t row = 0; row < ROWS; row++) assert_true(fabs((double)counts[t][row] - expected) < 100.0);
    classes_close(&data->head);
}

TEST(rows_are_scaled)
{
    classes_dataset *data = make();
    data->values[0] = 0.0f; /* the first row has this entry alone */
    classes_scale_rows(data);
    assert_true(data->values[0] == 0.0f);
    for (size_t i = 1; i < ROWS; i++) {
        float expected = i % 3 ? sqrtf(0.5f) : 1.0f;
        assert_close(data->values[data->starts[i]], expected, 1e-7);
        if (i % 3) assert_close(data->values[data->starts[i] + 1], -expected, 1e-7);
    }
    classes_close(&data->head);
}

static void expect_refusal(size_t rows, size_t features, size_t classes, const char *message)
{
    classes_dataset *data = make();
    data->rows = rows;
    data->features = features;
    data->classes = classes;
    refuses(classes_finish(data, "made", &last_error), message);
    classes_close(&data->head);
}

TEST(what_makes_no_rounds_is_refused)
{
    expect_refusal(0, 5, 3, "made: expected rows, got none");
    expect_refusal((size_t)1 << 32, 5, 3, "made: too many rows: 4294967296");
    expect_refusal(5, 0, 3, "made: every column except the label is constant (5 rows): there are no features");
    expect_refusal(5, 5, 1, "made: expected at least two classes, got the same label in every row");
    expect_refusal(5, (size_t)1 << 31, 2, "made: too many features: 2147483648 for each of 2 classes");
}
