/* Rounds written and dealt again, and arrays that other programs might have made. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "data/files/npy.h"
#include "data/sets/environment.h"
#include "data/sets/rounds_export.h"
#include "data/sets/rounds_file.h"
#include "data/support_sets.h"
#include "support_files.h"

static char here_text[48]; /* "rounds:" and the path */
static dataset *set;       /* the last that open_set opened */

static void drop(const char *name)
{
    unlink(folder_path(&here, name));
}

static void empty_folder(void)
{
    for (int i = 0; i < ROUNDS_ARRAYS; i++) drop(rounds_array_names[i]);
    drop("rounds.json");
}

static int set_up(void **state)
{
    folder_enter(state);
    snprintf(here_text, sizeof here_text, "rounds:%s", here.path);
    return 0;
}

/* Fails where something is left that no test has put there. */
static int tear_down(void **state)
{
    (void)state;
    dataset_free(set);
    set = NULL;
    empty_folder();
    return rmdir(here.path);
}

#define TEST_OF_ROUNDS(name) TEST_WITH(name, set_up, tear_down)

static void put_text(const char *name, const char *content)
{
    folder_write_text(&here, name, content);
}

static void open_set(const char *content)
{
    dataset_free(set);
    set = open_data(content);
}

static void refuse(ee_status status, const char *message)
{
    dataset *data;
    assert_int_equal(dataset_open(here_text, NULL, &data, &last_error), status);
    assert_string_equal(last_error.message, message);
}

static void assert_same_arms(const ee_arms *a, const ee_arms *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->dim, b->dim);
    assert_int_equal(!a->starts, !b->starts);
    if (!a->starts) {
        assert_memory_equal(a->values, b->values, a->count * a->dim * sizeof(float));
        return;
    }
    size_t count = a->starts[a->count] - a->starts[0];
    for (size_t i = 0; i <= a->count; i++) assert_int_equal(a->starts[i] - a->starts[0], b->starts[i]);
    assert_memory_equal(a->values + a->starts[0], b->values, count * sizeof(float));
    assert_memory_equal(a->indices + a->starts[0], b->indices, count * sizeof(uint32_t));
}

/* Both deal the same rounds; the second is prepared, and ends. */
static void assert_same_rounds(const dataset *first, uint64_t seed, const dataset *second, size_t rounds)
{
    auto_environment *one, *two;
    environment_round a, b;
    assert_int_equal(dataset_rounds(second), rounds);
    assert_int_equal(dataset_arms(first), dataset_arms(second));
    assert_int_equal(dataset_dim(first), dataset_dim(second));
    assert_int_equal(dataset_blocks(first), dataset_blocks(second));
    ok(environment_create(first, seed, &one, NULL));
    ok(environment_create(second, 77, &two, NULL));
    for (size_t t = 0; t < rounds; t++) {
        ok(environment_next(one, &a, NULL));
        ok(environment_next(two, &b, NULL));
        assert_same_arms(&a.arms, &b.arms);
        assert_memory_equal(a.rewards, b.rewards, a.arms.count * sizeof(double));
        assert_memory_equal(a.expected, b.expected, a.arms.count * sizeof(double));
    }
    fails_saying(environment_next(two, &b, &last_error), EE_BAD_INPUT, "rounds have been used");
}

static void there_and_back(const char *content, uint64_t seed, size_t rounds)
{
    bool finished;
    auto_dataset *data = open_data(content);
    empty_folder();
    ok(rounds_export(data, seed, rounds, here.path, NULL, &finished, NULL));
    assert_true(finished);
    open_set(here_text);
    assert_same_rounds(data, seed, set, rounds);
}

TEST_OF_ROUNDS(dense_rounds_come_back)
{
    there_and_back("synthetic:cosine,dim=7,arms=4", 3, 200);
    there_and_back("synthetic:inner,dim=1,arms=2,noise=2", 9, 1);
}

/* More of every arm than is held before it is written, in pieces that do not divide it, or that are larger. */
TEST_OF_ROUNDS(long_planes_come_back)
{
    there_and_back("synthetic:quadratic,dim=3,arms=5000", 1, 150);
    there_and_back("synthetic:quadratic,dim=65535,arms=20", 1, 2);
}

TEST_OF_ROUNDS(sparse_rounds_come_back)
{
    put_text("table.csv", "a,b,label\n0,1.5,x\n2,0,y\n0,0,z\n-3,0.25,x\n");
    there_and_back(formatted("table:%s/table.csv,label=label", here.path), 5, 11);
    drop("table.csv");
}

TEST_OF_ROUNDS(prepared_rounds_are_written_again)
{
    bool finished;
    auto_dataset *data = open_data("synthetic:inner,dim=3,arms=4");
    ok(rounds_export(data, 2, 30, here.path, NULL, &finished, NULL));
    auto_dataset *once = open_data(here_text);
    empty_folder();
    ok(rounds_export(once, 0, 20, here.path, NULL, &finished, NULL));
    open_set(here_text);
    assert_same_rounds(data, 2, set, 20);
    fails_saying(rounds_export(once, 0, 31, "test_rounds_nowhere", NULL, &finished, &last_error), EE_BAD_INPUT,
                 "has 30 rounds, cannot write 31");
    assert_int_not_equal(access("test_rounds_nowhere", F_OK), 0);
}

static bool until_tenth(void *context, uint64_t written)
{
    (void)context;
    return written < 10;
}

static bool not_at_all(void *context, uint64_t written)
{
    (void)context;
    (void)written;
    return false;
}

TEST_OF_ROUNDS(what_was_stopped_leaves_nothing)
{
    open_set("synthetic:inner");
    rounds_watch watch = {until_tenth, NULL};
    bool finished = true;
    ok(rounds_export(set, 0, 1000, here.path, &watch, &finished, NULL));
    assert_false(finished);
    assert_int_equal(rmdir(here.path), 0); /* it was there before, and is empty */
    ok(rounds_export(set, 0, 1000, here.path, &watch, &finished, NULL));
    assert_int_not_equal(access(here.path, F_OK), 0);
    ok(rounds_export(set, 0, 10, here.path, &watch, &finished, NULL));
    assert_true(finished);

    /* Stopped on the same rounds again, those that were there stay. */
    rounds_watch at_once = {not_at_all, NULL};
    ok(rounds_export(set, 0, 10, here.path, &at_once, &finished, NULL));
    assert_false(finished);
    open_set(here_text);
}

TEST_OF_ROUNDS(other_rounds_are_not_overwritten)
{
    char expected[256];
    bool finished;
    auto_dataset *other = open_data("synthetic:inner,noise=0.2");
    open_set("synthetic:inner");
    ok(rounds_export(set, 3, 10, here.path, NULL, &finished, NULL));
    ok(rounds_export(set, 3, 10, here.path, NULL, &finished, NULL));
    snprintf(expected, sizeof expected,
             "rounds: %s already holds other rounds (synthetic:inner, seed 3, 10 rounds); choose another folder",
             here.path);
    refuses(rounds_export(set, 4, 10, here.path, NULL, &finished, &last_error), expected);
    refuses(rounds_export(set, 3, 11, here.path, NULL, &finished, &last_error), expected);
    refuses(rounds_export(other, 3, 10, here.path, NULL, &finished, &last_error), expected);
    assert_false(finished);
    auto_dataset *again = open_data(here_text);
    assert_same_rounds(set, 3, again, 10);

    /* Arrays of which nobody says what they are may be someone's work. */
    drop("rounds.json");
    snprintf(expected, sizeof expected,
             "rounds: %s already holds a contexts.npy but no rounds.json; remove it or choose another folder",
             here.path);
    refuses(rounds_export(set, 3, 10, here.path, NULL, &finished, &last_error), expected);
}

TEST_OF_ROUNDS(what_cannot_be_written_is_told)
{
    bool finished;
    open_set("synthetic:inner");
    fails_with(rounds_export(set, 0, 5, "no/such/folder", NULL, &finished, &last_error), EE_FILE_ERROR,
               "rounds: could not create the folder no/such/folder: No such file or directory");
    fails_saying(rounds_export(set, 0, UINT64_MAX, "test_rounds_nowhere", NULL, &finished, &last_error), EE_BAD_INPUT,
                 "are too large for a file");
    refuses(rounds_export(set, UINT64_MAX, 5, "test_rounds_nowhere", NULL, &finished, &last_error),
            "rounds: the seed must be below 2^63");
    assert_int_not_equal(access("test_rounds_nowhere", F_OK), 0);
}

/* Two arms, three rounds, two features. */
enum { ARMS = 2, ROUNDS = 3, DIM = 2 };

static const size_t cube[3] = {ARMS, ROUNDS, DIM};
static const double contexts[12] = {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6};
static const int64_t rewards[6] = {0, 1, 0, 1, 0, 1};
static const double expected_rewards[6] = {0.25, 0.5, 0.125, 1, 0, 1};

/* The sparse form: the second arm of the first round has no feature but zeros. */
static const double values[5] = {1, 2, 3, 4, 5};
static const int64_t indices[5] = {0, 4, 1, 3, 2};
static const int32_t starts[7] = {0, 2, 2, 3, 4, 4, 5};

static void put_array(rounds_array which, npy_type type, const size_t *shape, size_t rank, const void *content)
{
    const char *path = folder_path(&here, rounds_array_names[which]);
    ok(npy_write(path, type, shape, rank, content, NULL));
}

static void make_dense(void)
{
    empty_folder();
    put_array(ROUNDS_CONTEXTS, NPY_FLOAT64, cube, 3, contexts);
    put_array(ROUNDS_REWARDS, NPY_INT64, cube, 2, rewards);
}

static void make_sparse(void)
{
    static const size_t count = 5, boundaries = ARMS * ROUNDS + 1;
    empty_folder();
    put_array(ROUNDS_VALUES, NPY_FLOAT64, &count, 1, values);
    put_array(ROUNDS_INDICES, NPY_INT64, &count, 1, indices);
    put_array(ROUNDS_STARTS, NPY_INT32, &boundaries, 1, starts);
    put_array(ROUNDS_REWARDS, NPY_INT64, cube, 2, rewards);
    put_text("rounds.json", "{\"dim\": 5, \"author\": \"another\"}");
}

TEST_OF_ROUNDS(two_arrays_are_enough)
{
    make_dense();
    environment_round round;
    open_set(here_text);
    uint64_t fingerprint = dataset_fingerprint(set);
    auto_environment *world = start_rounds(set, 0);
    for (size_t t = 0; t < ROUNDS; t++) {
        ok(environment_next(world, &round, NULL));
        for (size_t arm = 0; arm < ARMS; arm++) {
            assert_true(round.rewards[arm] == (double)rewards[arm * ROUNDS + t]);
            assert_true(round.expected[arm] == (double)rewards[arm * ROUNDS + t]);
            for (size_t i = 0; i < DIM; i++)
                assert_true((double)round.arms.values[arm * DIM + i] == contexts[(arm * ROUNDS + t) * DIM + i]);
        }
    }
    environment_free(world);

    put_array(ROUNDS_EXPECTED, NPY_FLOAT64, cube, 2, expected_rewards);
    open_set(here_text);
    assert_true(dataset_fingerprint(set) != fingerprint);
    ok(environment_create(set, 0, &world, NULL));
    ok(environment_next(world, &round, NULL));
    assert_true(round.rewards[0] == 0.0 && round.expected[0] == 0.25);
}

TEST_OF_ROUNDS(sparse_arrays)
{
    make_sparse();
    open_set(here_text);
    assert_int_equal(dataset_dim(set), 5);
    auto_environment *world = start_rounds(set, 0);
    environment_round round = next_round(world);
    assert_int_equal(round.arms.starts[0], 0);
    assert_int_equal(round.arms.starts[1], 2);
    assert_int_equal(round.arms.starts[2], 2);
    assert_int_equal(round.arms.indices[1], 4);
    ok(environment_next(world, &round, NULL));
    ok(environment_next(world, &round, NULL));
    assert_int_equal(round.arms.starts[0], 0);
    assert_int_equal(round.arms.starts[1], 0);
    assert_int_equal(round.arms.starts[2], 1);
    assert_int_equal(round.arms.indices[0], 2);
    assert_true(round.arms.values[0] == 5.0f && round.rewards[1] == 1.0);
}

TEST_OF_ROUNDS(wrong_numbers_have_their_place)
{
    static const struct {
        rounds_array which;
        size_t entry;
        double number;
        const char *message;
    } cases[] = {
        {ROUNDS_CONTEXTS, 9, NAN, "rounds: contexts.npy, entry (1, 1, 1): expected a number from -1e9 to 1e9, got nan"},
        {ROUNDS_CONTEXTS, 0, INFINITY,
         "rounds: contexts.npy, entry (0, 0, 0): expected a number from -1e9 to 1e9, got inf"},
        {ROUNDS_CONTEXTS, 11, -1.5e9,
         "rounds: contexts.npy, entry (1, 2, 1): expected a number from -1e9 to 1e9, got -1.5e+09"},
        {ROUNDS_REWARDS, 4, 2e9, "rounds: rewards.npy, entry (1, 1): expected a number from -1e9 to 1e9, got 2e+09"},
        {ROUNDS_EXPECTED, 2, NAN, "rounds: expected.npy, entry (0, 2): expected a number from -1e9 to 1e9, got nan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double numbers[12] = {0};
        numbers[cases[i].entry] = cases[i].number;
        make_dense();
        put_array(cases[i].which, NPY_FLOAT64, cube, cases[i].which == ROUNDS_CONTEXTS ? 3 : 2, numbers);
        refuse(EE_BAD_INPUT, cases[i].message);
    }
}

#define ARMS_FIRST ": in every array the first axis is the arms, the second the rounds"

TEST_OF_ROUNDS(wrong_shapes_are_told)
{
    static const struct {
        rounds_array which;
        size_t rank, shape[3];
        const char *message;
    } cases[] = {
        {ROUNDS_REWARDS, 1, {6}, "rounds: rewards.npy: expected the shape (arms, rounds), got (6)"},
        {ROUNDS_REWARDS, 2, {2, 0}, "rounds: rewards.npy: expected the shape (arms, rounds), got (2, 0)"},
        {ROUNDS_REWARDS, 2, {3, 2}, "rounds: contexts.npy: expected the shape (3, 2, 2), got (2, 3, 2)" ARMS_FIRST},
        {ROUNDS_EXPECTED, 2, {3, 2}, "rounds: expected.npy: expected the shape (2, 3), got (3, 2)" ARMS_FIRST},
        {ROUNDS_EXPECTED, 3, {2, 3, 1}, "rounds: expected.npy: expected the shape (2, 3), got (2, 3, 1)"},
        {ROUNDS_CONTEXTS, 2, {6, 2}, "rounds: contexts.npy: expected the shape (arms, rounds, features), got (6, 2)"},
        {ROUNDS_CONTEXTS, 3, {3, 2, 2}, "rounds: contexts.npy: expected the shape (2, 3, 2), got (3, 2, 2)" ARMS_FIRST},
        {ROUNDS_CONTEXTS, 3, {1, 6, 2}, "rounds: contexts.npy: expected the shape (2, 3, 2), got (1, 6, 2)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_dense();
        put_array(cases[i].which, NPY_FLOAT64, cases[i].shape, cases[i].rank, contexts);
        refuse(EE_BAD_INPUT, cases[i].message);
    }
}

TEST_OF_ROUNDS(description_must_be_true)
{
    static const char *const cases[][2] = {
        {"{\"arms\": 3}", "rounds: rounds.json says 3 arms, the arrays have 2"},
        {"{\"rounds\": 10000}", "rounds: rounds.json says 10000 rounds, the arrays have 3"},
        {"{\"dim\": 20}", "rounds: rounds.json says 20 features (dim), the arrays have 2"},
        {"{\"blocks\": 3}", "rounds: rounds.json says 3 blocks, but 2 features cannot be divided by that"},
        {"{\"blocks\": 2}", "rounds: rounds.json says 2 blocks, but arm 0 of round 0 has features in several: an arm "
                            "must be the context in one block and zero elsewhere"},
    };
    dataset *none;
    make_dense();
    put_text("rounds.json", "{\"arms\": 2, \"rounds\": 3, \"dim\": 2, \"form\": \"dense\"}");
    open_set(here_text);
    assert_int_equal(dataset_blocks(set), 1);
    assert_false(dataset_exclusive(set));
    put_text("rounds.json", "{\"exclusive\": true}");
    open_set(here_text);
    assert_true(dataset_exclusive(set));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_text("rounds.json", cases[i][0]);
        refuse(EE_BAD_INPUT, cases[i][1]);
    }
    static const int64_t two_rewards[6] = {0, 1, 0, 1, 2, 1}, costs[6] = {-3, -1, -3, -1, -3, -2};
    const size_t shape[2] = {2, 3};
    put_text("rounds.json", "{\"exclusive\": true}");
    put_array(ROUNDS_REWARDS, NPY_INT64, shape, 2, two_rewards);
    refuse(EE_BAD_INPUT,
           "rounds: rounds.json says exclusive, but 2 arms of round 1 have more than the smallest reward");
    put_array(ROUNDS_REWARDS, NPY_INT64, shape, 2, costs);
    open_set(here_text);
    assert_true(dataset_exclusive(set));
    put_array(ROUNDS_REWARDS, NPY_INT64, shape, 2, rewards);
    char expected[256];
    put_text("rounds.json", "{\"files\": {\"rewards.npy\": \"0123456789abcdef\"}}");
    snprintf(expected, sizeof expected, "rounds: %s/rewards.npy does not match rounds.json: its checksum is ",
             here.path);
    assert_int_equal(dataset_open(here_text, NULL, &none, &last_error), EE_BAD_INPUT);
    assert_memory_equal(last_error.message, expected, strlen(expected));
    assert_non_null(strstr(last_error.message, ", expected 0123456789abcdef"));
    put_text("rounds.json", "{\"form\": \"sparse\"}");
    snprintf(expected, sizeof expected, "file: could not open %s/values.npy: No such file or directory", here.path);
    refuse(EE_FILE_ERROR, expected);
    put_text("rounds.json", "{\"arms\": 2,}");
    snprintf(expected, sizeof expected, "rounds: %s/rounds.json: invalid JSON at byte ", here.path);
    assert_int_equal(dataset_open(here_text, NULL, &none, &last_error), EE_BAD_INPUT);
    assert_memory_equal(last_error.message, expected, strlen(expected));
}

/* An arm of blocks has its features in one of them, dense or sparse; an arm of zeros is in any. */
TEST_OF_ROUNDS(blocks_are_checked)
{
    static const double good[12] = {1, 0, 3, 0, 0, 6, 0, -2, 0, 0, -5, 0},
                        bad[12] = {1, 0, 3, 0, 0, 6, 0, -2, 1, 1, -5, 0};
    make_dense();
    put_text("rounds.json", "{\"blocks\": 2}");
    put_array(ROUNDS_CONTEXTS, NPY_FLOAT64, cube, 3, good);
    open_set(here_text);
    assert_int_equal(dataset_blocks(set), 2);
    put_array(ROUNDS_CONTEXTS, NPY_FLOAT64, cube, 3, bad);
    refuse(EE_BAD_INPUT,
           "rounds: rounds.json says 2 blocks, but arm 1 of round 1 has features in several: an arm must be the "
           "context in one block and zero elsewhere");

    make_sparse();
    put_text("rounds.json", "{\"dim\": 6, \"blocks\": 3}");
    refuse(EE_BAD_INPUT,
           "rounds: rounds.json says 3 blocks, but arm 0 of round 0 has features in several: an arm must be the "
           "context in one block and zero elsewhere");
    static const double zero_value[5] = {1, 0, 3, 4, 5}; /* the second was in the way, and is nothing */
    const size_t count = 5;
    put_array(ROUNDS_VALUES, NPY_FLOAT64, &count, 1, zero_value);
    open_set(here_text);
    assert_int_equal(dataset_blocks(set), 3);
}

static void expect_remark(const char *sentence)
{
    open_set(here_text);
    const survey *seen = dataset_survey(set);
    for (size_t i = 0; !sentence && i < seen->remark_count; i++) fail_msg("%s", seen->remarks[i]);
    assert_int_equal(seen->remark_count, sentence ? 1 : 0);
    if (sentence) assert_string_equal(seen->remarks[0], sentence);
}

TEST_OF_ROUNDS(misspelled_members_are_remarked)
{
    static const char *const cases[][2] = {
        {"{\"block\": 2}", "rounds.json: the unknown key 'block' is ignored; did you mean 'blocks'?"},
        {"{\"Exclusive\": true}", "rounds.json: the unknown key 'Exclusive' is ignored; did you mean 'exclusive'?"},
        {"{\"exlusive\": 7}", "rounds.json: the unknown key 'exlusive' is ignored; did you mean 'exclusive'?"},
        {"{\"dimensions\": 9}", "rounds.json: the unknown key 'dimensions' is ignored; did you mean 'dim'?"},
        {"{\"n_arms\": 9}", "rounds.json: the unknown key 'n_arms' is ignored; did you mean 'arms'?"},
        {"{\"files\": {\"reward.npy\": \"x\"}}",
         "rounds.json: the unknown key 'reward.npy' is ignored; did you mean 'rewards.npy'?"},
        {"{\"author\": 1, \"time\": 2, \"name\": 3, \"arms\": 2, \"form\": \"dense\"}", NULL},
        {"{\"files\": {\"notes.txt\": 3}}", NULL},
    };
    make_dense();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_text("rounds.json", cases[i][0]);
        expect_remark(cases[i][1]);
    }
    drop("rounds.json");
    expect_remark(NULL);
    put_text("notes.npy", "");
    put_text("expected.npy.unfinished", "");
    expect_remark(NULL);
    drop("expected.npy.unfinished");
    put_text("expectd.npy", "");
    expect_remark("the file 'expectd.npy' is ignored; did you mean 'expected.npy'?");
    drop("expectd.npy");
    drop("notes.npy");

    /* Where the misspelling is why it fails, the message says so. */
    make_sparse();
    put_text("rounds.json", "{\"dims\": 5}");
    refuse(EE_BAD_INPUT,
           "rounds: sparse arms need a rounds.json with \"dim\", the number of features of an arm; rounds.json: the "
           "unknown key 'dims' is ignored; did you mean 'dim'?");
    char expected[256];
    empty_folder();
    put_array(ROUNDS_CONTEXTS, NPY_FLOAT64, cube, 3, contexts);
    put_text("reward.npy", "");
    snprintf(expected, sizeof expected,
             "file: could not open %s/rewards.npy: No such file or directory; the file 'reward.npy' is ignored; did "
             "you mean 'rewards.npy'?",
             here.path);
    refuse(EE_FILE_ERROR, expected);
    drop("reward.npy");
}

TEST_OF_ROUNDS(swapped_dimensions_are_remarked)
{
    const size_t swapped[3] = {ROUNDS, ARMS, DIM};
    make_dense();
    put_array(ROUNDS_CONTEXTS, NPY_FLOAT64, swapped, 3, contexts);
    put_array(ROUNDS_REWARDS, NPY_INT64, swapped, 2, rewards);
    expect_remark("there are 3 arms and only 2 rounds; are the axes swapped? In every array the first is the "
                  "arms, the second the rounds");
    put_text("rounds.json", "{\"arms\": 3}");
    expect_remark(NULL);
}

TEST_OF_ROUNDS(the_survey_tells_rewards_and_features)
{
    static const uint8_t equal[6] = {1, 1, 1, 1, 1, 1};
    make_dense();
    open_set(here_text);
    const survey *seen = dataset_survey(set);
    assert_int_equal(seen->number_count, 4);
    assert_string_equal(seen->numbers[1].name, "mean reward");
    assert_true(seen->numbers[0].value == 0 && seen->numbers[1].value == 0.5 && seen->numbers[2].value == 1);
    assert_true(seen->numbers[3].value == DIM);
    assert_int_equal(seen->column_count, DIM);
    assert_string_equal(seen->columns[1].name, "1"); /* from 0, as features are numbered */
    assert_true(seen->columns[0].low == -5 && seen->columns[0].high == 5);
    assert_true(seen->columns[1].low == -6 && seen->columns[1].high == 6);
    put_array(ROUNDS_REWARDS, NPY_BOOL, cube, 2, equal);
    expect_remark("every reward is 1, so all policies get the same result");

    make_sparse();
    open_set(here_text);
    seen = dataset_survey(set);
    assert_int_equal(seen->column_count, 0);
    assert_close(seen->numbers[3].value, 5.0 / 6, 1e-12);
}

#define STARTS "rounds: starts.npy: expected "
#define ENDS STARTS "0 first and 5 (the number of values) last, got "
#define ORDER ": indices ascend within an arm and are below dim"

TEST_OF_ROUNDS(wrong_sparse_arrays_are_told)
{
    static const struct {
        rounds_array which;
        npy_type type;
        size_t count;
        int64_t numbers[8];
        const char *message;
    } cases[] = {
        {ROUNDS_STARTS, NPY_INT64, 6, {0, 2, 2, 3, 4, 5}, "rounds: starts.npy: expected the shape (7), got (6)"},
        {ROUNDS_STARTS, NPY_FLOAT64, 7, {0}, STARTS "one row of whole numbers such as int64, got (7) of float64"},
        {ROUNDS_STARTS, NPY_INT64, 7, {1, 2, 2, 3, 4, 4, 5}, ENDS "1 and 5"},
        {ROUNDS_STARTS, NPY_INT64, 7, {0, 2, 2, 3, 4, 4, 6}, ENDS "0 and 6"},
        {ROUNDS_STARTS, NPY_INT64, 7, {0, 2, 1, 3, 4, 4, 5}, "rounds: starts.npy, entry 2: expected 2 to 5, got 1"},
        {ROUNDS_STARTS, NPY_INT64, 7, {0, 2, 900, 3, 4, 4, 5}, "rounds: starts.npy, entry 2: expected 2 to 5, got 900"},
        {ROUNDS_STARTS, NPY_INT64, 7, {0, -2, 2, 3, 4, 4, 5}, "rounds: starts.npy, entry 1: expected 0 to 5, got -2"},
        {ROUNDS_INDICES, NPY_INT64, 4, {0, 4, 1, 3}, "rounds: values.npy: expected the shape (4), got (5)"},
        {ROUNDS_INDICES, NPY_INT64, 5, {0, 5, 1, 3, 2}, "rounds: indices.npy, entry 1: expected 1 to 4, got 5" ORDER},
        {ROUNDS_INDICES, NPY_INT64, 5, {4, 4, 1, 3, 2}, "rounds: indices.npy, entry 1: expected 5 to 4, got 4" ORDER},
        {ROUNDS_INDICES, NPY_INT64, 5, {0, 4, -1, 3, 2}, "rounds: indices.npy, entry 2: expected 0 to 4, got -1" ORDER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_sparse();
        put_array(cases[i].which, cases[i].type, &cases[i].count, 1, cases[i].numbers);
        refuse(EE_BAD_INPUT, cases[i].message);
    }
    make_sparse();
    drop("rounds.json");
    refuse(EE_BAD_INPUT, "rounds: sparse arms need a rounds.json with \"dim\", the number of features of an arm");
}

TEST_OF_ROUNDS(missing_files_are_told)
{
    refuse(EE_FILE_ERROR, formatted("rounds: %s: found neither contexts.npy nor values.npy", here.path));
    put_array(ROUNDS_CONTEXTS, NPY_FLOAT64, cube, 3, contexts);
    refuse(EE_FILE_ERROR, formatted("file: could not open %s/rewards.npy: No such file or directory", here.path));
}
