/* Ratings as pools: small files made here, in every form; and MovieLens where EENET_DATA names its folder's folder. */
#include <dirent.h>
#include <unistd.h>

#include "data/kind/pool.h"
#include "data/sets/environment.h"
#include "data/support_sets.h"
#include "support_files.h"

/* "movielens:FOLDER/a.csv,users=3" of ("movielens", "a.csv", ",users=3") */
static pool_dataset *open_with(const char *kind, const char *name, const char *options, const char *cache)
{
    dataset *data;
    const char *text = formatted("%s:%s%s", kind, folder_path(&here, name), options);
    if (dataset_open(text, cache, &data, &last_error)) fail_msg("%s: %s", text, last_error.message);
    return (pool_dataset *)data;
}

static pool_dataset *open_ratings(const char *name, const char *options)
{
    return open_with("ratings", name, options, NULL);
}

static void close_pool(pool_dataset *pool)
{
    dataset_free(&pool->head);
}

static void release_pool(pool_dataset **place)
{
    close_pool(*place);
}

#define auto_pool RELEASED_BY(release_pool) pool_dataset

static void expect_refusal(const char *kind, const char *name, const char *options, ee_status status, const char *part)
{
    dataset *data;
    assert_int_equal(
        dataset_open(formatted("%s:%s%s", kind, folder_path(&here, name), options), NULL, &data, &last_error), status);
    assert_null(data);
    if (!strstr(last_error.message, part)) fail_msg("'%s' is not in '%s'", part, last_error.message);
}

static void expect_same(const pool_dataset *one, const pool_dataset *two)
{
    assert_int_equal(one->ordinary_count, two->ordinary_count);
    assert_int_equal(one->wanted_count, two->wanted_count);
    auto_environment *a, *b;
    ok(environment_create(&one->head, 5, &a, NULL));
    ok(environment_create(&two->head, 5, &b, NULL));
    for (int t = 0; t < 100; t++) {
        environment_round x = next_round(a), y = next_round(b);
        assert_int_equal(x.arms.dim, y.arms.dim);
        assert_memory_equal(x.arms.values, y.arms.values, 10 * x.arms.dim * sizeof(float));
        assert_memory_equal(x.rewards, y.rewards, 10 * sizeof(double));
    }
}

enum { USERS = 8, ITEMS = 9 };

/* One to five stars, in no order; some pairs have none (0). */
static int stars(int user, int item)
{
    int mixed = (user * 31 + item * 17 + user * item * 7) % 11;
    return mixed < 5 ? mixed + 1 : mixed < 9 ? 5 : 0;
}

/* Every rating as format has it, with user, item and stars; a format's %3$d may come before its %1$d. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static char *make_text(const char *header, const char *format)
{
    static char text[8192];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", header);
    for (int user = 0; user < USERS; user++)
        for (int item = 0; item < ITEMS; item++)
            if (stars(user, item))
                length += (size_t)snprintf(text + length, sizeof text - length, format, 100 + user, 7000 + item,
                                           stars(user, item));
    assert_true(length < sizeof text);
    return text;
}
#pragma GCC diagnostic pop

TEST_IN_FOLDER(every_form_gives_the_same_rounds)
{
    static const struct {
        const char *name, *header, *format;
    } forms[] = {
        {"ratings.csv", "userId,movieId,rating,timestamp\n", "%1$d,%2$d,%3$d,964982703\n"},
        {"bare.csv", "", "%1$d,%2$d,%3$d\n"},
        {"dos.csv", "userId,movieId,rating\r\n", "%1$d,%2$d,%3$d.0\r\n"},
        {"turned.csv", "Rating,when,item,user\n", "%3$d,now,%2$d,%1$d\n"},
        {"semicolon.csv", "user_id;item_id;rating\n", "%1$d;%2$d;%3$d\n"},
        {"ratings.dat", "", "%1$d::%2$d::%3$d::978300760\n"},
        {"u.data", "", "%1$d\t%2$d\t%3$d\t881250949\n"},
        {"text.csv", "user,item,rating\n", "\"user, %1$d\",  film%2$d ,%3$d\n"},
        {"blanks.txt", "", "u%1$d  i%2$d %3$d\n"},
    };
    auto_pool *first = NULL;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const char *text = make_text(forms[i].header, forms[i].format);
        folder_write_text(&here, forms[i].name, text);
        folder_write_packed(&here, "packed.gz", text, strlen(text));
        auto_pool *plain = open_with("movielens", forms[i].name, ",features=5", NULL);
        auto_pool *packed = open_with("ratings", "packed", ",features=5,good=4,bad=2", NULL);
        if (!first) first = open_with("movielens", forms[i].name, ",features=5", NULL);
        expect_same(first, plain);
        expect_same(first, packed);
        assert_true(dataset_fingerprint(&plain->head) != 0);
        assert_true(dataset_fingerprint(&plain->head) != dataset_fingerprint(&packed->head));
    }
    size_t good = 0, bad = 0;
    for (int user = 0; user < USERS; user++) {
        for (int item = 0; item < ITEMS; item++) {
            good += stars(user, item) == 5;
            bad += stars(user, item) == 1;
        }
    }
    assert_int_equal(first->ordinary_count, good);
    assert_int_equal(first->wanted_count, bad);
    assert_int_equal(first->tables[0].rows, USERS);
    assert_int_equal(first->tables[1].rows, ITEMS);
    assert_int_equal(dataset_dim(&first->head), 10);
    assert_string_equal(dataset_name(&first->head), "movielens,features=5");
}

TEST_IN_FOLDER(folder_is_searched)
{
    dataset *data;
    const char *text = formatted("movielens:%s,features=3", here.path);
    fails_saying(dataset_open(text, NULL, &data, &last_error), EE_FILE_ERROR,
                 "has no ratings.csv, ratings.dat or u.data");
    static const char *const names[] = {"u.data.gz", "u.data", "ratings.dat", "ratings.csv.gz"};
    for (size_t i = 0; i < 4; i++) {
        const char *made = make_text("", "%1$d\t%2$d\t%3$d\n");
        if (strstr(names[i], ".gz"))
            folder_write_packed(&here, names[i], made, strlen(made));
        else
            folder_write_text(&here, names[i], made);
        ok(dataset_open(text, NULL, &data, &last_error));
        assert_int_equal(dataset_dim(data), 6);
        dataset_free(data);
    }
}

/* The stored matrix as ratings: 5 for 1, 1 for -1, 3 for 0. All users and items have as many, so they keep their order.
 */
TEST_IN_FOLDER(features_are_the_stored_ones)
{
    json_auto_t *golden = golden_load("svd_features.json");
    size_t rows = 30, columns = 50, dim = 5, count, length = 0;
    auto_free double *matrix = golden_doubles(golden_member(golden, "matrix"), &count);
    auto_free double *features = golden_doubles(golden_member(golden, "user_features"), NULL);
    assert_int_equal(count, rows * columns);
    auto_free char *text = malloc(count * 16);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        length += (size_t)sprintf(text + length, "%zu,%zu,%g\n", i / columns, i % columns, 3 + 2 * matrix[i]);
    folder_write_text(&here, "golden.csv", text);
    auto_pool *pool = open_ratings("golden.csv", ",features=5");
    assert_int_equal(pool->tables[0].rows, rows);
    assert_int_equal(pool->tables[0].columns, dim);
    for (size_t c = 0; c < dim; c++) {
        double sign = 0;
        for (size_t i = 0; i < rows; i++) {
            double got = (double)pool->tables[0].values[i * dim + c], expected = features[i * dim + c];
            if (sign == 0) sign = got * expected < 0 ? -1 : 1;
            assert_close(sign * got, expected, 1e-6);
        }
    }
    for (size_t i = 0; i < pool->ordinary_count; i++)
        assert_true(matrix[pool->ordinary[i].row[0] * columns + pool->ordinary[i].row[1]] == 1);
    for (size_t i = 0; i < pool->wanted_count; i++)
        assert_true(matrix[pool->wanted[i].row[0] * columns + pool->wanted[i].row[1]] == -1);
    assert_int_equal(pool->tables[1].rows, columns);
    for (size_t j = 0; j < columns; j++) { /* an item: half of its squares are the constant's */
        const float *row = pool->tables[1].values + j * dim;
        double squares = 0;
        for (size_t c = 0; c < dim; c++) squares += (double)row[c] * (double)row[c];
        assert_close(squares, 1, 1e-6);
        assert_close((double)row[dim - 1], sqrt(0.5), 1e-6);
    }
}

/* User c has 4 ratings, a and b 3 each, d 1; item z has 4, x and y 3 each, w 1; the last row of (a, x) counts. */
static const char few[] = "a,x,1\nb,y,5\na,y,5\na,z,5\nb,x,5\nb,z,5\nc,x,5\nc,y,5\nc,z,5\nc,w,1\nd,z,1\na,x,5\n";

TEST_IN_FOLDER(those_with_most_ratings_are_taken)
{
    folder_write_text(&here, "few.csv", few);
    auto_pool *pool = open_ratings("few.csv", ",features=2");
    static const pool_entry ordinary[] = {{{0, 0}}, {{0, 1}}, {{0, 2}}, {{1, 0}}, {{1, 1}},
                                          {{1, 2}}, {{2, 0}}, {{2, 1}}, {{2, 2}}};
    assert_int_equal(pool->ordinary_count, 9);
    assert_memory_equal(pool->ordinary, ordinary, sizeof ordinary);
    assert_int_equal(pool->wanted_count, 2); /* (c, w) and (d, z) */
    assert_int_equal(pool->wanted[0].row[0], 0);
    assert_int_equal(pool->wanted[0].row[1], 3);
    assert_int_equal(pool->wanted[1].row[0], 3);
    assert_int_equal(pool->wanted[1].row[1], 0);
    close_pool(pool);

    pool = open_ratings("few.csv", ",features=2,users=3");
    assert_int_equal(pool->tables[0].rows, 3);
    assert_int_equal(pool->wanted_count, 1);
    expect_refusal("ratings", "few.csv", ",features=2,users=3,items=3", EE_BAD_INPUT, "got 9 and 0");
    expect_refusal("ratings", "few.csv", ",features=2,users=2", EE_BAD_INPUT,
                   "expected at least 9 ratings above 4 and 1 below 2 by the 2 users kept, got 6 and 1");
}

TEST_IN_FOLDER(limits)
{
    /* ten stars, in halves: a quarter is 2.375 */
    char text[512] = "";
    for (int i = 0; i < 20; i++) sprintf(text + strlen(text), "%d,%d,%g\n", i / 5, i % 5, 0.5 + 0.5 * i);
    folder_write_text(&here, "halves.csv", text);
    auto_pool *pool = open_ratings("halves.csv", ",features=3,good=5.5,bad=5.5"); /* 5.5 itself is neither */
    assert_int_equal(pool->ordinary_count, 9);
    assert_int_equal(pool->wanted_count, 10);
    close_pool(pool);
    pool = open_ratings("halves.csv", ",features=3,good=4"); /* bad: 0.5 to 2.5 */
    assert_int_equal(pool->ordinary_count, 12);
    assert_int_equal(pool->wanted_count, 5);
    close_pool(pool);
    expect_refusal("ratings", "halves.csv", ",features=3", EE_BAD_INPUT,
                   "9 ratings above 7.625 and 1 below 2.875 by the 4 users kept, got 5 and 5");
    expect_refusal("ratings", "halves.csv", ",good=3,bad=4", EE_BAD_OPTION, "good must be at least bad, got 3 and 4");
    expect_refusal("ratings", "halves.csv", ",good=some", EE_BAD_OPTION, "good must be a number or auto, got 'some'");
    expect_refusal("movielens", "halves.csv", ",bad=nan", EE_BAD_OPTION, "movielens: bad must be a number or auto");
    expect_refusal("ratings", "halves.csv", ",good=5", EE_BAD_INPUT,
                   "features=10 needs at least 9 users and items, got 4 and 5");

    /* Liked and not: no scale has fewer steps. */
    strcpy(text, "");
    for (int i = 0; i < 20; i++) sprintf(text + strlen(text), "%d,%d,%d\n", i / 5, i % 5, i % 3 != 0);
    folder_write_text(&here, "likes.csv", text);
    pool = open_ratings("likes.csv", ",features=3");
    assert_int_equal(pool->ordinary_count, 13);
    assert_int_equal(pool->wanted_count, 7);
}

TEST_IN_FOLDER(who_has_no_entry_keeps_zeros)
{
    folder_write_text(&here, "nobody.csv",
                      formatted("%snobody,x,3\nnobody,y,3\nnobody,z,3\nnobody,w,3\nnobody,v,3\n", few));
    auto_pool *pool = open_ratings("nobody.csv", ",features=3");
    const float *first = pool->tables[0].values; /* five ratings: more than anyone */
    assert_true(first[0] == 0 && first[1] == 0 && first[2] == (float)sqrt(0.5));
    const float *v = pool->tables[1].values + 3 * (pool->tables[1].rows - 1);
    assert_true(v[0] == 0 && v[1] == 0 && v[2] == (float)sqrt(0.5));
}

TEST_IN_FOLDER(wrong_files_are_named)
{
    expect_refusal("ratings", "absent.csv", "", EE_FILE_ERROR, "absent.csv");
    static const struct {
        const char *text, *part;
    } wrong[] = {
        {"", "bad.csv: expected rows of user, item and rating, got an empty file"},
        {"\n\n", "bad.csv: expected rows of user, item and rating, got an empty file"},
        {"userId,movieId,rating\n", "bad.csv: expected ratings below the header, got none"},
        {"1,2\n", "bad.csv, line 1: expected user, item and rating, at least 3 fields, got 2"},
        {"1,2,3\n\n1,2\n", "bad.csv, line 3: expected user, item and rating, at least 3 fields, got 2"},
        {"when,userId,movieId,rating\n1,2,3,4\n1,2,3\n", "bad.csv, line 3: expected user, item and rating, at least 4"},
        {"1,2,3\n1,3,good\n", "bad.csv, line 2: expected a number for the rating, got 'good'"},
        {"1,2,3\n1,3,\n", "bad.csv, line 2: expected a number for the rating, got ''"},
        {"1,2,3\n1,3,inf\n", "bad.csv, line 2: expected a number for the rating, got 'inf'"},
        {"1,2,3\n1,3,1e300\n", "bad.csv, line 2: expected a rating from -1e9 to 1e9, got '1e300'"},
        {"user;item;rating\n1;2;4,5\n",
         "line 2: expected a number for the rating, got '4,5': write decimals with a point, such as 4.5"},
        {"1;2;4,5\n", "line 1: expected a number for the rating, got '4,5': write decimals with a point, such as 4.5"},
        {"who,what,stars\n1,2,3\n",
         "bad.csv, line 1: expected a number for the rating, got 'stars'; or a header with userId, movieId and rating "
         "(or user, item and rating); name other columns with user=, item= and rating="},
        {"1,2,3\n1,\"2,3\n", "bad.csv, line 2: a quoted field is not closed"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        folder_write_text(&here, "bad.csv", wrong[i].text);
        expect_refusal("ratings", "bad.csv", "", EE_BAD_INPUT, wrong[i].part);
    }
    folder_write_packed(&here, "cut.gz", few, strlen(few));
    auto_memory uint8_t *bytes;
    size_t size;
    ok(file_read(folder_path(&here, "cut.gz"), &bytes, &size, NULL));
    ok(file_write(folder_path(&here, "cut.gz"), bytes, size - 9, NULL));
    expect_refusal("ratings", "cut.gz", "", EE_BAD_INPUT, "cut.gz, byte");
}

TEST_IN_FOLDER(columns_by_name_and_number)
{
    static const struct {
        const char *header, *format, *options;
    } cases[] = {
        {"when,who,grade,what\n", "now,%1$d,%3$d,%2$d\n", "user=who,item=what,rating=grade"},
        {"when, Who , Grade,WHAT\n", "now,%1$d,%3$d,%2$d\n", "user=who,item=what,rating=GRADE"},
        {"when,user,rating,what\n", "now,%1$d,%3$d,%2$d\n", "item=what"},
        {"when,who,rating,item\n", "now,%1$d,%3$d,%2$d\n", "user=2"},
        {"user,item,rating,who,what,grade\n", "x,y,1,%1$d,%2$d,%3$d\n", "user=who,item=what,rating=grade"},
        {"a,b,c,d\n", "%3$d,now,%2$d,%1$d\n", "user=4,item=3,rating=1"},
        {"a,b,7,d\n", "%3$d,now,%2$d,%1$d\n", "user=d,item=7,rating=a"}, /* a name, though it looks like a number */
        {"", "%3$d,now,%2$d,%1$d\n", "user=4,item=3,rating=1"},
        {"", "now,%1$d,%3$d,%2$d\n", "user=2,item=4,rating=3"},
    };
    folder_write_text(&here, "plain.csv", make_text("", "%1$d,%2$d,%3$d\n"));
    auto_pool *plain = open_ratings("plain.csv", ",features=5");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char options[128];
        snprintf(options, sizeof options, ",features=5,%s", cases[i].options);
        folder_write_text(&here, "named.csv", make_text(cases[i].header, cases[i].format));
        auto_pool *named = open_ratings("named.csv", options);
        expect_same(plain, named);
    }
}

TEST_IN_FOLDER(wrong_columns_are_told)
{
    folder_write_text(&here, "bare.csv", make_text("", "%1$d,%2$d,%3$d,4\n"));
    folder_write_text(&here, "named.csv", make_text("when,who,grade,what\n", "now,%1$d,%3$d,%2$d\n"));
    static const struct {
        const char *name, *options, *part;
        ee_status status;
    } wrong[] = {
        {"named.csv", ",user=whom",
         "named.csv has no column 'whom' (option user=); it has 4 columns: when, who, grade, what", EE_BAD_OPTION},
        {"named.csv", ",user=0", "named.csv has no column '0' (option user=); it has 4 columns: when", EE_BAD_OPTION},
        {"named.csv", ",user=5", "named.csv has no column '5' (option user=); it has 4 columns: when", EE_BAD_OPTION},
        {"named.csv", ",user=99999999999999999999999", "has no column '99999999999999999999999' (option user=)",
         EE_BAD_OPTION},
        {"named.csv", ",user=who", "line 1: found no column for the item; name it with item=COLUMN", EE_BAD_INPUT},
        {"named.csv", ",user=who,item=who,rating=3",
         "user and item are both column 2; name another with user= or item=", EE_BAD_OPTION},
        {"bare.csv", ",user=3", "user and rating are both column 3; name another with user= or rating=", EE_BAD_OPTION},
        {"bare.csv", ",rating=9", "bare.csv has no column '9' (option rating=); it has 4 columns", EE_BAD_OPTION},
        {"bare.csv", ",user=who", "bare.csv has no column 'who' (option user=); it has 4 columns: 100, 7",
         EE_BAD_OPTION},
        {"bare.csv", ",want=best", "ratings.want must be good|bad, got best", EE_BAD_OPTION},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect_refusal("ratings", wrong[i].name, wrong[i].options, wrong[i].status, wrong[i].part);
}

TEST_IN_FOLDER(good_ratings_can_be_wanted)
{
    folder_write_text(&here, "a.csv", make_text("", "%1$d,%2$d,%3$d\n"));
    auto_pool *bad = open_ratings("a.csv", ",features=5"), *same = open_ratings("a.csv", ",features=5,want=bad");
    pool_dataset *good = open_ratings("a.csv", ",features=5,want=good,bad=3");
    expect_same(bad, same);
    assert_int_equal(good->wanted_count, bad->ordinary_count);
    assert_memory_equal(good->wanted, bad->ordinary, bad->ordinary_count * sizeof *bad->ordinary);
    assert_true(good->ordinary_count > bad->wanted_count); /* two stars too */
    close_pool(good);
    folder_write_text(&here, "few.csv", few);
    expect_refusal("ratings", "few.csv", ",features=2,want=good", EE_BAD_INPUT,
                   "expected at least 1 ratings above 4 and 9 below 2 by the 4 users kept, got 9 and 2");
}

static void expect_remark(const char *name, const char *options, const char *cache, const char *sentence)
{
    auto_pool *pool = open_with("ratings", name, options, cache);
    const survey *seen = dataset_survey(&pool->head);
    assert_int_equal(seen->remark_count, sentence ? 1 : 0);
    if (sentence) assert_string_equal(seen->remarks[0], sentence);
}

TEST_IN_FOLDER(what_looks_wrong_is_remarked)
{
    static char text[65536];
    size_t length = 0;
    /* A row for each user, with his number first, and a column for each item. */
    for (int user = 0; user < 80; user++)
        for (int item = 0; item <= 100; item++)
            length += (size_t)sprintf(text + length, "%d%c", item ? (user * 31 + item * 17) % 5 + 1 : user % 9,
                                      item == 100 ? '\n' : ' ');
    folder_write_text(&here, "matrix.txt", text);
    static const char matrix[] = "a row has 101 fields, and the first three were read as user, item and rating; a "
                                 "matrix of users and items must become one row per rating";
    char cache[64]; /* folder_path gives one place, which the next call takes */
    snprintf(cache, sizeof cache, "%s/cache", here.path);
    expect_remark("matrix.txt", ",features=2", NULL, matrix);
    expect_remark("matrix.txt", ",features=2", cache, matrix);
    expect_remark("matrix.txt", ",features=2", cache, matrix); /* what was kept says it too */
    expect_remark("matrix.txt", ",features=2,rating=3", NULL, NULL);
    expect_refusal("ratings", "matrix.txt", "", EE_BAD_INPUT, matrix); /* it has five items alone, and that is why */
    expect_refusal("ratings", "matrix.txt", ",rating=3", EE_BAD_INPUT,
                   "features=10 needs at least 9 users and items, got 9 and 5");

    auto_pool *pool = open_ratings("matrix.txt", ",features=2");
    assert_int_equal(dataset_survey(&pool->head)->column_count, 101);
    assert_string_equal(dataset_survey(&pool->head)->columns[100].name, "101"); /* from 1, as options number them */

    folder_write_text(&here, "plain.csv", make_text("user,item,rating\n", "%1$d,%2$d,%3$d\n"));
    expect_remark("plain.csv", ",features=5", NULL, NULL);

    for (int i = 0, at = 0; i < 200; i++)
        at += sprintf(text + at, "%d,%d,%d,%d\n", i % 9, i % 97, 978300000 + 7 * i, i);
    folder_write_text(&here, "times.csv", text);
    expect_remark("times.csv", ",features=2", NULL,
                  "column 3, read as the rating, has more than 100 different whole numbers, 978300000 to 978301393; "
                  "name another with rating=COLUMN");
    expect_remark("times.csv", ",features=2,item=4,rating=2", NULL,
                  "column 4, read as the item, has a different value in every row; name another with item=COLUMN");
    expect_remark("times.csv", ",features=2,user=4,rating=1", NULL,
                  "column 4, read as the user, has a different value in every row; name another with user=COLUMN");
    for (int i = 0, at = 0; i < 200; i++) at += sprintf(text + at, "%d,%d,%g\n", i % 9, i % 97, i * 0.1 - 10);
    folder_write_text(&here, "continuous.csv", text); /* a scale as any other */
    expect_remark("continuous.csv", ",features=2", NULL, NULL);
}

TEST_IN_FOLDER(the_survey_tells_columns_and_counts)
{
    folder_write_text(&here, "a.csv", make_text("when,who,rating,item\n", "now,%1$d,%3$d,%2$d\n"));
    char cache[64]; /* folder_path gives one place, which the next call takes */
    snprintf(cache, sizeof cache, "%s/cache", here.path);
    for (int time = 0; time < 2; time++) {
        auto_pool *pool = open_with("ratings", "a.csv", ",features=5,user=who,users=7", cache);
        const survey *seen = dataset_survey(&pool->head);
        static const char *const names[] = {"when", "who", "rating", "item"};
        static const survey_kind kinds[] = {SURVEY_IGNORED, SURVEY_CATEGORICAL, SURVEY_LABEL, SURVEY_CATEGORICAL};
        static const uint64_t distinct[] = {0, USERS, 5, ITEMS}, features[] = {0, 5, 0, 5};
        assert_int_equal(seen->column_count, 4);
        for (size_t i = 0; i < 4; i++) {
            assert_string_equal(seen->columns[i].name, names[i]);
            assert_int_equal(seen->columns[i].kind, kinds[i]);
            assert_int_equal(seen->columns[i].distinct, distinct[i]);
            assert_int_equal(seen->columns[i].features, features[i]);
        }
        assert_true(seen->columns[2].low == 1 && seen->columns[2].high == 5);
        assert_int_equal(seen->class_count, 2);
        assert_string_equal(seen->classes[0].name, "rated above 4");
        assert_int_equal(seen->classes[0].count, pool->ordinary_count);
        assert_string_equal(seen->classes[1].name, "rated below 2, the reward");
        assert_int_equal(seen->classes[1].count, pool->wanted_count);
        assert_int_equal(seen->number_count, 5);
        assert_string_equal(seen->numbers[3].name, "users taken");
        assert_true(seen->numbers[3].value == 7);
    }
}

TEST_IN_FOLDER(the_real_file)
{
    const char *root = real_data();
    auto_dataset *data = open_data(formatted("movielens:%s/movielens-1m", root));
    pool_dataset *pool = (pool_dataset *)data;
    assert_int_equal(pool->tables[0].rows, 2000);
    assert_int_equal(pool->tables[1].rows, 3706);
    assert_int_equal(pool->ordinary_count, 148257); /* as other programs count them */
    assert_int_equal(pool->wanted_count, 43688);
    assert_int_equal(dataset_dim(data), 20);
    dataset_free(data);

    /* All users: every one-star and five-star rating. */
    ok(dataset_open(formatted("ratings:%s/movielens-1m/ratings.csv.gz,users=6040", root), NULL, &data, &last_error));
    pool = (pool_dataset *)data;
    assert_int_equal(pool->tables[0].rows, 6040);
    assert_int_equal(pool->ordinary_count, 226310);
    assert_int_equal(pool->wanted_count, 56174);
}
