/* Pools as bytes and back, and the rounds of one table. The rounds of two are test_yelp.c's. */

#include "data/kind/pool.h"
#include "data/support_sets.h"
#include "support.h"

enum { ROWS = 20, ORDINARY = 14, WANTED = 6 };

/* Row i of the first table is i and -i, of the second, if there is one, 100 + i. */
static pool_dataset *make_pool(size_t second_columns)
{
    pool_dataset *pool;
    ok(memory_create_owner(NULL, &pool, sizeof *pool, NULL));
    pool->tables[0] = (pool_table){NULL, ROWS, 2};
    pool->tables[1] = (pool_table){NULL, second_columns ? ROWS : 0, second_columns};
    for (int i = 0; i < POOL_TABLES; i++) {
        pool_table *table = &pool->tables[i];
        ok(memory_create(&pool->head.owner, &table->values, table->rows * table->columns, sizeof(float), NULL));
    }
    for (size_t i = 0; i < ROWS; i++) {
        pool->tables[0].values[2 * i] = (float)i;
        pool->tables[0].values[2 * i + 1] = -(float)i;
        if (second_columns) pool->tables[1].values[i] = 100.0f + (float)i;
    }
    ok(pool_reserve(pool, ROWS, NULL));
    for (uint32_t i = 0; i < ROWS; i++)
        pool_add(pool, (pool_entry){{i, second_columns ? ROWS - 1 - i : 0}}, i >= ORDINARY);
    assert_int_equal(pool->ordinary_count, ORDINARY);
    assert_int_equal(pool->wanted_count, WANTED);
    return pool;
}

static void expect_same_rounds(const pool_dataset *one, const pool_dataset *two)
{
    environment *a, *b;
    ok(pool_start(&one->head, 3, &a, NULL));
    ok(pool_start(&two->head, 3, &b, NULL));
    for (int t = 0; t < 50; t++) {
        environment_round x, y;
        ok(pool_next(a, &x, NULL));
        ok(pool_next(b, &y, NULL));
        assert_memory_equal(x.arms.values, y.arms.values, 10 * one->head.dim * sizeof(float));
        assert_memory_equal(x.rewards, y.rewards, 10 * sizeof(double));
    }
    memory_release(&a->owner);
    memory_release(&b->owner);
}

static survey *make_survey(void)
{
    survey *seen;
    survey_column user = {.name = "user", .kind = SURVEY_LABEL, .missing = 3, .distinct = 40, .low = -0.5, .high = 7};
    ok(survey_create(&seen, NULL));
    ok(survey_add_column(seen, &user, NULL));
    ok(survey_add_column(seen, &(survey_column){.name = "", .features = 9}, NULL));
    ok(survey_add_class(seen, "wanted", WANTED, NULL));
    ok(survey_add_number(seen, "rows", ROWS, NULL));
    ok(survey_remark(seen, NULL, "column %d is odd", 7));
    return seen;
}

static void expect_made_survey(const survey *seen)
{
    assert_int_equal(seen->column_count, 2);
    const survey_column *user = &seen->columns[0];
    assert_string_equal(user->name, "user");
    assert_int_equal(user->kind, SURVEY_LABEL);
    assert_int_equal(user->missing, 3);
    assert_int_equal(user->distinct, 40);
    assert_true(user->low == -0.5 && user->high == 7);
    assert_string_equal(seen->columns[1].name, "");
    assert_int_equal(seen->columns[1].features, 9);
    assert_int_equal(seen->class_count, 1);
    assert_string_equal(seen->classes[0].name, "wanted");
    assert_int_equal(seen->classes[0].count, WANTED);
    assert_int_equal(seen->number_count, 1);
    assert_string_equal(seen->numbers[0].name, "rows");
    assert_true(seen->numbers[0].value == ROWS);
    assert_int_equal(seen->remark_count, 1);
    assert_string_equal(seen->remarks[0], "column 7 is odd");
}

TEST(bytes_give_the_same_pool)
{
    auto_survey *seen = make_survey();
    for (size_t second = 0; second < 2; second++) {
        pool_dataset *pool = make_pool(second), *back;
        auto_memory uint8_t *bytes;
        size_t size;
        ok(pool_finish(pool, "file", NULL));
        survey *again, *none;
        ok(survey_create(&again, NULL));
        ok(survey_create(&none, NULL));
        ok(pool_save(pool, seen, &bytes, &size, NULL));
        ok(pool_load(bytes, size, again, &back, NULL));
        expect_made_survey(again);
        assert_int_equal(back->head.dim, 2 + second);
        expect_same_rounds(pool, back);
        memory_release(&back->head.owner);
        /* A wall stands where the bytes end. */
        for (size_t cut = 0; cut < size; cut++) {
            RELEASED_BY(guard_free) guard wall;
            uint8_t *part = guard_end_bytes(&wall, cut);
            memcpy(part, bytes, cut);
            assert_int_equal(pool_load(part, cut, none, &back, NULL), EE_BAD_MODEL);
            assert_null(back);
            assert_int_equal(none->column_count + none->class_count + none->number_count + none->remark_count, 0);
        }
        survey_free(again);
        survey_free(none);
        memory_release(&pool->head.owner);
    }
}

TEST(wrong_bytes_are_refused)
{
    pool_dataset *pool = make_pool(1), *back;
    auto_memory uint8_t *bytes;
    auto_survey *seen;
    ok(survey_create(&seen, NULL));
    size_t size;
    pool->wanted[3].row[1] = ROWS;
    assert_int_equal(pool_save(pool, seen, &bytes, &size, NULL), EE_BAD_MODEL);
    assert_null(bytes);
    pool->wanted[3].row[1] = 0;
    ok(pool_save(pool, seen, &bytes, &size, NULL));
    size_t last = size - 4 * sizeof(uint64_t) - 1; /* of the last entry's second row: the survey's counts follow */
    bytes[last] ^= 0x80;
    assert_int_equal(pool_load(bytes, size, seen, &back, NULL), EE_BAD_MODEL);
    bytes[last] ^= 0x80;
    memset(bytes, 0xff, 8); /* the first table's rows */
    assert_int_equal(pool_load(bytes, size, seen, &back, NULL), EE_BAD_MODEL);
    memory_release(&pool->head.owner);
}

TEST(everything_is_kept_in_order)
{
    auto_survey *seen;
    enum { MANY = 100 };
    char text[32];
    ok(survey_create(&seen, NULL));
    for (size_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "name %zu", i); /* the same room each time: what is kept is a copy */
        survey_column column = {text, (survey_kind)(i % SURVEY_KINDS), i, 2 * i, 1, -(double)i, (double)i};
        ok(survey_add_column(seen, &column, NULL));
        ok(survey_add_class(seen, text, i, NULL));
        ok(survey_add_number(seen, text, (double)i / 2, NULL));
        ok(survey_remark(seen, NULL, "%s is odd", text));
    }
    assert_int_equal(seen->column_count, MANY);
    assert_int_equal(seen->class_count, MANY);
    assert_int_equal(seen->number_count, MANY);
    assert_int_equal(seen->remark_count, MANY);
    for (size_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "name %zu", i);
        assert_string_equal(seen->columns[i].name, text);
        assert_int_equal(seen->columns[i].kind, i % SURVEY_KINDS);
        assert_int_equal(seen->columns[i].distinct, 2 * i);
        assert_string_equal(seen->classes[i].name, text);
        assert_int_equal(seen->classes[i].count, i);
        assert_string_equal(seen->numbers[i].name, text);
        assert_true(seen->numbers[i].value == (double)i / 2);
        strcat(text, " is odd");
        assert_string_equal(seen->remarks[i], text);
    }
    survey_free(NULL);
}

TEST(a_remark_may_be_long)
{
    auto_survey *seen;
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ok(survey_create(&seen, NULL));
    ok(survey_remark(seen, NULL, "%s", text));
    assert_string_equal(seen->remarks[0], text);
}

TEST(a_remark_is_one_line)
{
    auto_survey *seen;
    ok(survey_create(&seen, NULL));
    ok(survey_remark(seen, NULL, "column '%s'", "a\nb\x1b[1m\x7f"));
    assert_string_equal(seen->remarks[0], "column 'a b [1m '");
}

TEST(kinds_have_names)
{
    for (int i = 0; i < SURVEY_KINDS; i++) assert_true(strlen(survey_kind_name((survey_kind)i)) > 3);
}
