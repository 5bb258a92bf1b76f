/* What is told of a table: its columns, its classes, and what is likely a mistake. */

#include "data/support_sets.h"
#include "data/tables/table.h"
#include "data/values/text.h"
#include "support.h"

/* What was told of a table with this text; to be freed. */
static survey *look(const char *content, const char *options)
{
    static char name[] = "made.csv";
    source file = {.path = name, .size = strlen(content)};
    classes_dataset *data;
    survey *seen;
    ok(memory_create(NULL, &file.bytes, file.size + 1, 1, NULL));
    memcpy(file.bytes, content, file.size);
    ok(survey_create(&seen, NULL));
    ok(table_parse(&file, options, seen, &data, &last_error));
    classes_close(&data->head);
    memory_free(file.bytes); /* what is told does not lie there */
    return seen;
}

/* remark NULL: there is none. */
static void expect_remark(const char *content, const char *options, const char *remark)
{
    auto_survey *seen = look(content, options);
    if (!remark && seen->remark_count) fail_msg("%s", seen->remarks[0]);
    assert_int_equal(seen->remark_count, remark != NULL);
    if (remark) assert_string_equal(seen->remarks[0], remark);
}

TEST(columns_and_classes_are_told)
{
    survey *seen = look("age,sex,gap,id,same,,kind\n"
                        "39.5,f,,a1,s,3,yes\n"
                        "17,m,7,a2,s,2,no\n"
                        "?,f,,a3,s,3,no\n"
                        "55,,7,a4,s,2,no\n",
                        "ignore=id,categorical=6");
    static const survey_column expected[] = {
        {"age", SURVEY_NUMERIC, 1, 0, 2, 17, 55}, {"sex", SURVEY_CATEGORICAL, 1, 2, 3, 1, 0},
        {"gap", SURVEY_NUMERIC, 2, 0, 1, 7, 7},   {"id", SURVEY_IGNORED, 0, 0, 0, 1, 0},
        {"same", SURVEY_CONSTANT, 0, 1, 0, 1, 0}, {"6", SURVEY_CATEGORICAL, 0, 2, 2, 1, 0},
        {"kind", SURVEY_LABEL, 0, 2, 0, 1, 0},
    };
    assert_int_equal(seen->column_count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const survey_column *got = &seen->columns[i], *want = &expected[i];
        assert_string_equal(got->name, want->name);
        assert_int_equal(got->kind, want->kind);
        assert_int_equal(got->missing, want->missing);
        assert_int_equal(got->distinct, want->distinct);
        assert_int_equal(got->features, want->features);
        assert_int_equal(got->low <= got->high, want->low <= want->high);
        if (want->low <= want->high) assert_true(got->low == want->low && got->high == want->high);
    }
    assert_int_equal(seen->class_count, 2);
    assert_string_equal(seen->classes[0].name, "no");
    assert_int_equal(seen->classes[0].count, 3);
    assert_string_equal(seen->classes[1].name, "yes");
    assert_int_equal(seen->classes[1].count, 1);
    assert_int_equal(seen->remark_count, 0);
    survey_free(seen);
}

TEST(names_that_became_a_row)
{
    static const char texts[] = "color,shape,kind\nred,round,a\nblue,square,b\nred,square,a\nblue,round,b\n";
    expect_remark(
        texts, "",
        "the first row (color, shape, kind) was read as values; if it holds the column names, add header=yes");
    expect_remark(texts, "header=yes", NULL);
    expect_remark(texts, "header=no", NULL); /* who says so knows it */
    expect_remark("red,round,a\nblue,square,b\nred,square,a\nblue,round,b\n", "", NULL);
    /* Where texts seldom come again, the first row is as the others. */
    expect_remark("a1,b1,c1\na2,b2,c2\na3,b3,c3\na4,b4,c4\n", "", NULL);
}

/* Rows of a number, a code of few values, and what is written for the label. */
static char *many_rows(const char *head, const char *format, size_t rows)
{
    text made = text_start(NULL);
    text_add(&made, "%s", head);
    for (size_t i = 0; i < rows; i++) {
        int number = (int)(i * 7919 % 1000), code = (int)(i * 31 % 5), row = (int)i;
        text_add(&made, "%s\n", formatted(format, number, code, row));
    }
    ok(made.status);
    return made.bytes;
}

static void expect_many(const char *head, const char *format, const char *options, const char *remark)
{
    auto_memory char *content = many_rows(head, format, 300);
    expect_remark(content, options, remark);
}

TEST(labels_that_are_none)
{
    expect_many("number,code,price\n", "%d,%d,%d.5", "",
                "the label (column 'price') has 300 different values in 300 rows; each becomes a class, though it "
                "looks like a quantity; name another with label=COLUMN");
    expect_many("", "%d,%d,n%d", "",
                "the label (column 3) has 300 different values in 300 rows; each becomes a class; name another with "
                "label=COLUMN");
    expect_many("number,code,price\n", "%1$d,%2$d,%3$d.5", "label=code,ignore=price", NULL);
    expect_many("", "%2$d 1:%1$d 2:%3$d", "", NULL); /* libsvm */
    expect_many(
        "", "%3$d.25 1:%1$d 2:%2$d", "",
        "the label has 300 different values in 300 rows; each becomes a class, though it looks like a quantity");
}

TEST(classes_that_differ_in_capitals)
{
    expect_remark("a,target\n1,Yes\n2,no\n3,yes\n", "",
                  "the classes 'Yes' and 'yes' differ only in case; spell them alike");
}

TEST(values_that_differ_in_capitals_or_spaces)
{
    expect_remark("a,target\n1,New York\n2,no\n3,new  york\n", "",
                  "the classes 'New York' and 'new  york' differ only in case and spaces; spell them alike");
    expect_remark("city,a,target\nBerlin,1,x\nberlin,2,y\nParis,3,x\n", "",
                  "column 'city' has categories that differ only in case, such as 'Berlin' and 'berlin'; each is a "
                  "feature; spell them alike");
    expect_remark("city,plan,b,target\nNewYork,Free,m,x\nParis,pro,n,y\nNew\xc2\xa0York,free,o,x\n", "",
                  "column 'city' and 1 other have categories that differ only in case and spaces, such as 'NewYork' "
                  "and 'New\xc2\xa0York'; each is a feature; spell them alike");
    expect_remark("city,a,target\nBerlin,1,x\nberlin,2,y\nParis,3,x\n", "ignore=city", NULL);
    expect_remark("city,a,target\nBerlin,1,x\n Berlin ,2,y\nParis,3,x\n", "", NULL); /* blanks around are none */
}

TEST(dates_and_times)
{
    expect_remark("first seen,a,target\n2020-01-31,1,x\n2020-02-01,2,y\n2021-01-31,3,x\n", "",
                  "column 'first seen' has dates, such as '2020-01-31', read as 3 categories; leave out with "
                  "ignore=\"first seen\", or replace by numbers such as the weekday or the age in days");
    expect_remark("seen,a,target\n2020-01-31,1,x\nnever,2,y\n2021-01-31,3,x\n", "", NULL);
    expect_remark("seen,a,target\n2020-01-31,1,x\n,2,y\n2021-01-31,3,x\n", "ignore=seen", NULL);
    expect_remark("seen,a,target\n1580463000,1,x\n1580463060,2,y\n1600000000,4,x\n", "",
                  "column 'seen' has numbers that look like timestamps, such as 1580463000, read as plain numbers; "
                  "leave out with ignore=seen, or replace by numbers such as the hour or the weekday");
    expect_remark(
        "seen,at,target\n1580463000000,20200131,x\n1580463060000,20200201,y\n,20210131,x\n", "",
        "column 'seen' and 1 other have numbers that look like timestamps, such as 1580463000000, read as plain "
        "numbers; leave out with ignore=seen+at, or replace by numbers such as the hour or the weekday");
    expect_remark("seen,a,target\n1580463000.5,1,x\n1580463060,2,y\n5,4,x\n", "", NULL);
    /* Of dates that hardly come again nothing else is said. */
    expect_many("number,target,day\n", "%1$d,c%2$d,2020-01-01 00:00:%3$d", "ignore=number",
                "column 'day' has dates, such as '2020-01-01 00:00:0', read as 300 categories; leave out with "
                "ignore=day, or replace by numbers such as the weekday or the age in days");
}

TEST(decimal_commas)
{
    static const char one[] = "a;b;target\n1,5;1;x\n2,25;2;y\n-3,0;3;x\n";
    expect_remark(
        one, "",
        "column 'a' has numbers with a decimal comma, such as '-3,0', read as 3 categories; add decimal=comma");
    expect_remark(one, "categorical=a", NULL);
    expect_remark("1,5;0,1;x\n2,25;0,2;y\n3,0;0,3;x\n", "",
                  "column 1 and 1 other have numbers with a decimal comma, such as '1,5', read as 3 categories; add "
                  "decimal=comma");
    expect_remark(one, "decimal=comma", NULL);
    auto_survey *seen = look(one, "decimal=comma");
    assert_int_equal(seen->columns[0].kind, SURVEY_NUMERIC);
    assert_true(seen->columns[0].low == -3.0 && seen->columns[0].high == 2.25);
}

TEST(ranking_lines)
{
    expect_remark("2 qid:1 1:0.5 2:1 # a\n1 qid:1 1:0.1\n0 qid:2 2:4\n", "",
                  "qid: is ignored in 3 lines: each line becomes a round, and its grade a class; to rank the documents "
                  "of a query as the arms of one round, use rounds:DIR");
    expect_remark("# a comment\n\n2 1:0.5 2:1\n1 1:0.1\n", "", NULL);
    expect_remark("2\t1:0.5\t2:1\n1\t1:0.1\t2:3\n", "",
                  "column 2 has fields such as '1:0.1', which look like libsvm's format but were read as a table; "
                  "libsvm separates fields by spaces and starts each line with the label");
}

TEST(columns_that_tell_nothing_of_others)
{
    expect_many("number,target,name\n", "%d,c%d,n%d", "",
                "column 'name' is almost unique (300 values in 300 rows), and each value is a feature; leave out with "
                "ignore=name");
    expect_many("number,target,full name\n", "%d,c%d,n%d", "ignore=number",
                "column 'full name' is almost unique (300 values in 300 rows), and each value is a feature; leave out "
                "with ignore=\"full name\"");
    expect_many("number,target,id\n", "%d,c%d,%d", "",
                "column 'id' numbers the rows, which says nothing about the class; leave out with ignore=id");
    expect_many("number,target,id\n", "%d,c%d,%d", "ignore=id", NULL);
    expect_many("", "k%3$d,%1$d,m%3$d,%3$d,c%2$d", "ignore=4",
                "column 1 and 1 other are almost unique (300 values in 300 rows), and each value is a feature; leave "
                "out with ignore=1+3");
}

TEST(names_that_come_twice)
{
    expect_remark("a,b,a,target\n1,2,3,x\n2,3,4,y\n", "", "two columns are named 'a'; column 3 becomes 'a.3'");
}

/* A list that grows too long ends in dots, and in nothing worse. */
TEST(many_columns_at_once)
{
    text made = text_start(NULL);
    for (size_t row = 0; row < 40; row++) {
        for (size_t i = 0; i < 30; i++) text_add(&made, row ? "t%zu-%zu," : "column_with_a_name_%zu,", i, row);
        text_add(&made, row ? "%s\n" : "target\n", row % 2 ? "x" : "y");
    }
    auto_survey *seen = look(made.bytes, "");
    assert_int_equal(seen->remark_count, 1);
    assert_string_equal(seen->remarks[0],
                        "column 'column_with_a_name_0' and 29 others are almost unique (39 values in 39 rows), and "
                        "each value is a feature; leave out with ignore=column_with_a_name_0+column_with_a_name_1+...");
    memory_free(made.bytes);
}
