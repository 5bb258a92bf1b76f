/* A row by itself has the features that the table gave it, from memory and from a file. */
#include "data/sets/environment.h"
#include "data/tables/row_encoding.h"

#include "data/support_sets.h"
#include "data/tables/classes.h"
#include "support_files.h"

enum { MOST = 32 };

/* Every kind of column: numbers with and without gaps, one that only its gaps tell of, codes, texts with and without
 * gaps, one value alone, no name, a name twice, one that is left out, and words that numbers are among. */
static const char csv[] = "age,sex,gap,code,id,same,,age,mixed,kind\n"
                          "39.5,f,,1,a1,s,0.1,1e-3,red,yes\n"
                          "17,m,7,2.0,a2,s,0.3,3,12,no\n"
                          "?,f,,10,a3,s,0.7,-5,12,no\n"
                          "55,,7,1,a4,s,0.2,1e20,red,maybe\n";
/* The same rows, in other words and in another order. */
static const char *const objects[] = {
    "{\"age\":39.5,\"sex\":\"f\",\"code\":1.0,\"id\":\"a1\",\"same\":\"t\",\"7\":1e-1,\"age.8\":0.001,\"mixed\":"
    "\"red\"}",
    "{\"mixed\":12,\"age\":\" 17 \",\"sex\":\"m\",\"gap\":7,\"code\":\"2\",\"7\":\"0.3\",\"age.8\":3,\"kind\":\"no\"}",
    "{\"age\":null,\"sex\":\"f\",\"gap\":\"\",\"code\":10,\"7\":0.7,\"age.8\":-5.0,\"mixed\":\"12\"}",
    "{\"age\":5.5e1,\"gap\":7,\"code\":\"1\",\"7\":0.2,\"age.8\":1e20,\"mixed\":\"r\\u0065d\",\"sex\":\"NA\"}",
};

enum { OBJECTS = sizeof objects / sizeof objects[0] };

static json_text text_of(const char *words)
{
    return (json_text){words, strlen(words)};
}

static dataset *open_table(test_folder *folder, const char *content, const char *options)
{
    folder_write_text(folder, "made.csv", content);
    return open_data(formatted("table:%s%s", folder_path(folder, "made.csv"), options));
}

static void expect_rows(const row_encoding *encoding, const classes_dataset *rows)
{
    assert_int_equal(row_encoding_features(encoding), rows->features);
    assert_int_equal(row_encoding_classes(encoding), rows->classes);
    assert_true(row_encoding_entries(encoding) <= MOST);
    for (size_t row = 0; row < OBJECTS; row++) {
        uint32_t indices[MOST];
        float values[MOST];
        size_t count, start = rows->starts[row];
        if (row_encoding_json(encoding, text_of(objects[row]), NULL, indices, values, &count, &last_error))
            fail_msg("row %zu: %s", row, last_error.message);
        assert_int_equal(count, rows->starts[row + 1] - start);
        assert_memory_equal(indices, rows->indices + start, count * sizeof *indices);
        assert_memory_equal(values, rows->values + start, count * sizeof *values);
    }
}

TEST_IN_FOLDER(rows_are_those_of_the_table)
{
    static const char *const options[] = {"", ",normalize=standard", ",normalize=none,constant=off",
                                          ",categorical=code+7", ",categorical=all,ignore=age+id"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char all[128];
        snprintf(all, sizeof all, "%s%s", i == 4 ? "" : ",ignore=id", options[i]);
        auto_dataset *data = open_table(&here, csv, all);
        const classes_dataset *rows = (const classes_dataset *)data;
        row_encoding *again = NULL;
        expect_rows(dataset_row_encoding(data), rows);
        const char *path = folder_path(&here, "rows.json");
        ok(row_encoding_write(dataset_row_encoding(data), path, NULL));
        ok(row_encoding_read(path, &again, &last_error));
        expect_rows(again, rows);
        row_encoding_free(again);
    }
}

TEST_IN_FOLDER(files_are_readable)
{
    auto_dataset *data = open_table(&here, "a,b,c,target\n1,x,5,yes\n3,\"y \"\"z\",5,no\n,y,5,yes\n", ",header=yes");
    const char *path = folder_path(&here, "rows.json");
    ok(row_encoding_write(dataset_row_encoding(data), path, NULL));
    auto_memory uint8_t *written;
    size_t size;
    ok(file_read(path, &written, &size, NULL));
    assert_string_equal((const char *)written,
                        "{\"format\": \"eenet rows\", \"version\": 1, \"constant\": true, \"normalize\": \"unit\", "
                        "\"missing\": \"auto\",\n"
                        " \"columns\": [\n"
                        "   {\"name\": \"a\", \"kind\": \"numeric\", \"mean\": 2, \"scale\": 1, \"missing\": true},\n"
                        "   {\"name\": \"b\", \"kind\": \"categorical\", \"categories\": [\"x\", \"y\", \"y \\\"z\"], "
                        "\"missing\": false},\n"
                        "   {\"name\": \"c\", \"kind\": \"constant\"},\n"
                        "   {\"name\": \"target\", \"kind\": \"label\"}],\n"
                        " \"classes\": [\"no\", \"yes\"]}\n");
}

TEST_IN_FOLDER(features_and_classes_have_names)
{
    static const char *const expected[] = {
        "constant", "age", "age is missing", "sex=f",    "sex=m",    "sex is missing", "gap is missing",
        "code",     "7",   "age.8",          "mixed=12", "mixed=red"};
    auto_dataset *data = open_table(&here, csv, ",ignore=id");
    const row_encoding *encoding = dataset_row_encoding(data);
    assert_int_equal(row_encoding_features(encoding), sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char name[64];
        row_encoding_feature_name(encoding, i, name, sizeof name);
        assert_string_equal(name, expected[i]);
    }
    assert_int_equal(row_encoding_classes(encoding), 3);
    assert_string_equal(row_encoding_class(encoding, 0), "maybe");
    assert_string_equal(row_encoding_class(encoding, 1), "no");
    assert_string_equal(row_encoding_class(encoding, 2), "yes");
    dataset_free(data);
    data = open_table(&here, csv, ",ignore=id,normalize=none,constant=off");
    char name[64];
    row_encoding_feature_name(dataset_row_encoding(data), 0, name, sizeof name);
    assert_string_equal(name, "age");
}

/* Numbers are the mean, texts are none of the categories. */
TEST_IN_FOLDER(what_was_never_missing_may_be)
{
    auto_dataset *data = open_table(&here, "a,b,target\n1,x,yes\n4,y,no\n", ",normalize=none,constant=off");
    uint32_t indices[MOST];
    float values[MOST];
    size_t count;
    ok(row_encoding_json(dataset_row_encoding(data), text_of("{}"), NULL, indices, values, &count, NULL));
    assert_int_equal(count, 1);
    assert_int_equal(indices[0], 0);
    assert_true(values[0] == 2.5f);
    dataset_free(data);
    data = open_table(&here, "a,b,target\n1,x,yes\n4,y,no\n", ",constant=off");
    ok(row_encoding_json(dataset_row_encoding(data), text_of("{}"), NULL, indices, values, &count, NULL));
    assert_int_equal(count, 0);
}

TEST_IN_FOLDER(wrong_rows_are_named)
{
    static const char *const cases[][2] = {
        {"{\"aeg\":1}", "unknown column 'aeg'; did you mean 'age'?"},
        {"{\"something else\":1}", "unknown column 'something else'"},
        {"{\"age\":\"old\"}", "column 'age': expected a number, got 'old'"},
        {"{\"age\":true}", "column 'age': expected a number, got 'true'"},
        {"{\"age\":1e300}", "column 'age': expected a number of at most 3.4e+38, got '1e300'"},
        {"{\"age\":\"1e400\"}", "column 'age': expected a number of at most 3.4e+38, got '1e400'"},
        {"{\"age\":[1]}", "column 'age': expected a number, a string or null"},
        {"{\"age\":1,\"sex\":\"f\",\"age\":2}", "column 'age' is given twice"},
        {"{\"mixed\":\"a\\u0000\"}", "column 'mixed': expected a string without zero bytes"},
        {"[1]", "expected an object of columns and values, such as {\"age\": 38}"},
        {"{\"age\":1", "invalid JSON at byte 9: unexpected end of input"},
    };
    auto_dataset *data = open_table(&here, csv, "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t indices[MOST];
        float values[MOST];
        size_t count;
        refuses(row_encoding_json(dataset_row_encoding(data), text_of(cases[i][0]), NULL, indices, values, &count,
                                  &last_error),
                cases[i][1]);
    }
}

/* What was reported of unknown values, a line each. */
static void report(void *context, size_t column, const char *value, const char *hint)
{
    char *said = context;
    sprintf(said + strlen(said), "%zu %s%s\n", column, value, hint);
}

static void expect_unknown(const row_encoding *encoding, const char *object, size_t entries, const char *reported)
{
    char said[200] = "";
    row_unknown unknown = {report, said};
    uint32_t indices[MOST];
    float values[MOST];
    size_t count;
    if (row_encoding_json(encoding, text_of(object), &unknown, indices, values, &count, &last_error))
        fail_msg("%s: %s", object, last_error.message);
    assert_int_equal(count, entries);
    assert_string_equal(said, reported);
}

/* They have no feature, not even that of a missing value. */
TEST_IN_FOLDER(categories_that_no_row_had_are_unknown)
{
    auto_dataset *data = open_table(&here, "a,b,c,target\n1,red,x,x\n2,blue,,y\n9,red,y,x\n", ",categorical=a");
    const row_encoding *encoding = dataset_row_encoding(data);
    expect_unknown(encoding, "{\"a\":\"2.0\",\"b\":\"red\",\"c\":\"x\"}", 4, "");
    expect_unknown(encoding, "{\"a\":3,\"b\":\"red\",\"c\":\"x\"}", 3, "0 3\n");
    expect_unknown(encoding, "{\"a\":\"one\",\"b\":\"rde\"}", 2, "0 one\n1 rde; did you mean 'red'?\n");
    expect_unknown(encoding, "{\"a\":345,\"b\":\"zebra\",\"c\":\"zebra\"}", 1, "0 345\n1 zebra\n2 zebra\n");
    expect_unknown(encoding, "{\"a\":1,\"b\":\"red\",\"c\":null}", 4, "");
}

TEST_IN_FOLDER(words_for_a_missing_value_are_kept)
{
    static const struct {
        const char *options, *object;
        size_t entries; /* without the constant: the number, or that it is missing; and the color */
    } cases[] = {
        {"", "{\"a\":2,\"b\":\"red\"}", 2},
        {"", "{\"a\":null,\"b\":\"red\"}", 2},
        {"", "{\"a\":\"N/A\",\"b\":\"red\"}", 2},
        {"", "{\"a\":\"-\",\"b\":\"NA\"}", 1},
        {",missing=unknown+9", "{\"a\":\"Unknown\",\"b\":\"red\"}", 2},
        {",missing=unknown+9", "{\"a\":9.0,\"b\":\"unknown\"}", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_dataset *data = open_table(&here, "a,b,target\n1,red,x\n,blue,y\n4,red,x\n", cases[i].options);
        const char *path = folder_path(&here, "rows.json");
        row_encoding *again;
        ok(row_encoding_write(dataset_row_encoding(data), path, NULL));
        ok(row_encoding_read(path, &again, NULL));
        expect_unknown(again, cases[i].object, 1 + cases[i].entries, "");
        expect_unknown(dataset_row_encoding(data), cases[i].object, 1 + cases[i].entries, "");
        row_encoding_free(again);
    }
}

TEST_IN_FOLDER(numbers_that_are_too_far)
{
    auto_dataset *data = open_table(&here, "a,target\n1e-20,x\n2e-20,y\n", "");
    uint32_t indices[MOST];
    float values[MOST];
    size_t count;
    refuses(row_encoding_json(dataset_row_encoding(data), text_of("{\"a\":1e38}"), NULL, indices, values, &count,
                              &last_error),
            "column 'a': '1e38' is too far outside the table's range");
    ok(row_encoding_json(dataset_row_encoding(data), text_of("{\"a\":1}"), NULL, indices, values, &count, &last_error));
    assert_true(values[1] == 1.0f);
}

#define HEAD "{\"format\":\"eenet rows\",\"version\":1,\"constant\":true,\"normalize\":\"unit\",\"columns\":["
#define NUMBER "{\"name\":\"a\",\"kind\":\"numeric\",\"mean\":1,\"scale\":2,\"missing\":false}"
#define TAIL "],\"classes\":[\"no\",\"yes\"]}"

TEST_IN_FOLDER(wrong_files_are_named)
{
    static const char *const cases[][2] = {
        {"", "invalid JSON at byte 1"},
        {"[]", "expected a file of row encodings"},
        {"{\"format\":\"eenet rows\",\"version\":2}", "expected version 1"},
        {"{\"format\":\"eenet rows\",\"version\":1,\"columns\":[]}", "'columns'"},
        {HEAD "3" TAIL, "a name in each of 'columns'"},
        {HEAD "{\"name\":\"a\",\"kind\":\"number\"}" TAIL, "'kind'"},
        {HEAD "{\"name\":\"a\",\"kind\":\"numeric\",\"mean\":\"1\",\"scale\":2,\"missing\":false}" TAIL, "'mean'"},
        {HEAD "{\"name\":\"a\",\"kind\":\"numeric\",\"mean\":1,\"scale\":-2,\"missing\":false}" TAIL, "'scale'"},
        {HEAD "{\"name\":\"a\",\"kind\":\"numeric\",\"mean\":1,\"scale\":2,\"missing\":0}" TAIL, "'missing'"},
        {HEAD "{\"name\":\"a\",\"kind\":\"categorical\",\"categories\":[\"b\",\"a\"],\"missing\":true}" TAIL,
         "ascending order"},
        {HEAD "{\"name\":\"a\",\"kind\":\"categorical\",\"categories\":[\"10\",\"9\"],\"missing\":true}" TAIL,
         "ascending order"},
        {HEAD "{\"name\":\"a\",\"kind\":\"categorical\",\"categories\":[1],\"missing\":true}" TAIL, "only strings"},
        {HEAD "{\"name\":\"a\",\"kind\":\"categorical\",\"categories\":[\"\"],\"missing\":true}" TAIL, "empty strings"},
        {HEAD NUMBER "],\"classes\":[\"no\"]}", "'classes'"},
        {HEAD NUMBER "]}", "'classes'"},
        {"{\"format\":\"eenet rows\",\"version\":1,\"constant\":true,\"missing\":true,\"columns\":[" NUMBER TAIL,
         "'missing' to be a value of the option missing="},
    };
    row_encoding *encoding;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        folder_write_text(&here, "rows.json", cases[i][0]);
        fails_saying(row_encoding_read(folder_path(&here, "rows.json"), &encoding, &last_error), EE_BAD_INPUT,
                     "rows.json");
        assert_null(encoding);
        assert_message_has(last_error.message, cases[i][1]);
    }
    folder_write_text(&here, "rows.json", HEAD NUMBER TAIL);
    ok(row_encoding_read(folder_path(&here, "rows.json"), &encoding, &last_error));
    row_encoding_free(encoding);
    assert_int_equal(row_encoding_read(folder_path(&here, "none.json"), &encoding, &last_error), EE_FILE_ERROR);
}

TEST_IN_FOLDER(names_that_are_not_utf8_are_not_written)
{
    auto_dataset *data = open_table(&here, "a,target\nm\xfcller,x\nmaier,y\n", "");
    fails_saying(row_encoding_write(dataset_row_encoding(data), folder_path(&here, "rows.json"), &last_error),
                 EE_BAD_INPUT, "is not UTF-8");
}

TEST(other_kinds_have_none)
{
    auto_dataset *data = open_data("synthetic:inner");
    assert_null(dataset_row_encoding(data));
}
