/* Tables as rounds: small ones made here, and the UCI files where EENET_DATA names their folder's folder. */
#include "data/sets/environment.h"
#include "data/tables/table.h"

#include "data/support_sets.h"
#include "support_files.h"

static ee_status parse(const char *text, const char *options, classes_dataset **out, ee_error *error)
{
    static char name[] = "made.csv";
    source file = {.path = name, .size = strlen(text)};
    ok(memory_create(NULL, &file.bytes, file.size + 1, 1, NULL));
    memcpy(file.bytes, text, file.size);
    *out = NULL;
    auto_survey *seen;
    ok(survey_create(&seen, NULL));
    ee_status status = table_parse(&file, options, seen, out, error);
    memory_free(file.bytes);
    return status;
}

/* Writes the rows as "label| index:value index:value", a row a line. */
static void print_rows(const classes_dataset *data, char *text, size_t capacity)
{
    size_t length = 0;
    for (size_t row = 0; row < data->rows; row++) {
        length += (size_t)snprintf(text + length, capacity - length, "%u|", (unsigned)data->labels[row]);
        for (size_t i = data->starts[row]; i < data->starts[row + 1]; i++)
            length += (size_t)snprintf(text + length, capacity - length, " %u:%.5g", (unsigned)data->indices[i],
                                       (double)data->values[i]);
        length += (size_t)snprintf(text + length, capacity - length, "\n");
    }
}

static void expect_rows(const char *text, const char *options, size_t features, size_t classes, const char *expected)
{
    char got[1024];
    classes_dataset *data;
    ok(parse(text, options, &data, &last_error));
    print_rows(data, got, sizeof got);
    assert_string_equal(got, expected);
    assert_int_equal(data->features, features);
    assert_int_equal(data->classes, classes);
    assert_int_equal(data->head.dim, features * classes);
    assert_int_equal(data->head.arms, classes);
    assert_int_equal(dataset_blocks(&data->head), classes);
    classes_close(&data->head);
}

static void expect_failure(const char *text, const char *options, ee_status status, const char *message)
{
    classes_dataset *data;
    assert_int_equal(parse(text, options, &data, &last_error), status);
    assert_null(data);
    assert_string_equal(last_error.message, message);
}

#define PLAIN "normalize=none,constant=off"

TEST(numbers_are_standardised)
{
    /* 1 and 3 have mean 2 and deviation 1; the constant column is left out. */
    static const char text[] = "a,b,c,target\n1,5,10,x\n3,5,30,y\n";
    expect_rows(text, PLAIN, 2, 2, "0| 0:1 1:10\n1| 0:3 1:30\n");
    expect_rows(text, "normalize=standard,constant=off", 2, 2, "0| 0:-1 1:-1\n1| 0:1 1:1\n");
    expect_rows(text, "normalize=standard", 3, 2, "0| 0:1 1:-1 2:-1\n1| 0:1 1:1 2:1\n");
    expect_rows(text, "constant=off", 2, 2, "0| 0:-0.70711 1:-0.70711\n1| 0:0.70711 1:0.70711\n");
    expect_rows(text, "", 3, 2, "0| 0:0.57735 1:-0.57735 2:-0.57735\n1| 0:0.57735 1:0.57735 2:0.57735\n");
}

TEST(zeros_are_not_stored)
{
    expect_rows("a,b,target\n0,1,0\n2,0,1\n", PLAIN, 2, 2, "0| 1:1\n1| 0:2\n");
    expect_rows("a,target\n1,0\n2,1\n3,0\n", "normalize=standard,constant=off", 1, 2,
                "0| 0:-1.2247\n1|\n0| 0:1.2247\n");
}

TEST(missing_numbers_are_the_mean_and_are_told)
{
    static const char *const words[] = {"",    "?",    "NA",   "NaN",  "nan", "null", "  ",   " ? ", "N/A",
                                        "n/a", "None", "none", "NULL", "-",   "#N/A", "#n/a", "na"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *text = formatted("a,b,target\n1,7,x\n%s,8,y\n3,9,y\n", words[i]);
        expect_rows(text, PLAIN, 3, 2, "0| 0:1 2:7\n1| 0:2 1:1 2:8\n1| 0:3 2:9\n");
        expect_rows(text, "normalize=standard,constant=off", 3, 2, "0| 0:-1 2:-1.2247\n1| 1:1\n1| 0:1 2:1.2247\n");
    }
    /* Nothing but missing values, or one value where there is any: only where it is missing can tell something. */
    expect_rows("a,b,c,target\n,5,1,x\n,,2,y\n", PLAIN, 2, 2, "0| 1:1\n1| 0:1 1:2\n");
}

TEST(the_words_for_a_missing_value_are_an_option)
{
    static const char expected[] = "0| 0:1\n1| 0:2 1:1\n1| 0:3\n";
    expect_rows("a,target\n1,x\nunknown,y\n3,y\n", PLAIN ",missing=unknown", 2, 2, expected);
    expect_rows("a,target\n1,x\nUnknown,y\n3,y\n", PLAIN ",missing=N/A+unknown", 2, 2, expected);
    expect_rows("a,target\n1,x\nnot known,y\n3,y\n", PLAIN ",missing=\"not known\"", 2, 2, expected);
    expect_rows("a,target\n1,x\n-999.0,y\n3,y\n", PLAIN ",missing=-999", 2, 2, expected);
    expect_rows("a,target\n1,x\n,y\n3,y\n", PLAIN ",missing=none", 2, 2, expected);
    expect_failure("a,target\n1,x\nNA,y\n3,y\n", "missing=unknown", EE_BAD_INPUT,
                   "made.csv, line 3, column 'a': expected a number, as in 2 other rows, got 'NA'; categorical=COLUMN "
                   "reads the column as text, missing=TEXT counts it as missing");
    /* A text among texts may be meant. */
    expect_rows("a,target\nNone,x\n-,y\nred,y\n", PLAIN, 3, 2, "0| 1:1\n1| 0:1\n1| 2:1\n");
    expect_rows("a,target\nNone,x\n-,y\n", PLAIN, 2, 2, "0| 1:1\n1| 0:1\n");
    expect_rows("a,target\nNA,x\nEU,y\n", PLAIN ",missing=none", 2, 2, "0| 1:1\n1| 0:1\n");
    expect_rows("a,target\n1,-\n2,+\n", PLAIN, 1, 2, "1| 0:1\n0| 0:2\n");                          /* as a class */
    expect_rows("-,1,x\n2,3,y\n4,5,x\n", PLAIN, 3, 2, "0| 0:3 1:1 2:1\n1| 0:2 2:3\n0| 0:4 2:5\n"); /* no header */
}

TEST(texts_are_one_of_their_column)
{
    expect_rows("a,b,target\nred,1,x\nblue,2,y\nred,3,x\n", PLAIN, 3, 2, "0| 1:1 2:1\n1| 0:1 2:2\n0| 1:1 2:3\n");
    expect_rows("a,target\nred,x\n?,y\nblue,x\n", PLAIN, 3, 2, "0| 1:1\n1| 2:1\n0| 0:1\n"); /* missing comes last */
    expect_rows("a,b,target\nred,s,x\nblue,s,y\n", PLAIN, 2, 2, "0| 1:1\n1| 0:1\n");        /* s tells nothing */
    expect_rows("a,target\n\"x, y\",1\n\"say \"\"hi\"\"\",2\n", PLAIN, 2, 2, "0| 1:1\n1| 0:1\n");
}

TEST(codes_are_categories_where_it_is_said)
{
    static const char text[] = "a,b-c,d,target\n10,1,5,x\n9,2,6,y\n10,1,7,y\n";
    expect_rows(text, PLAIN ",categorical=a", 4, 2,
                "0| 1:1 2:1 3:5\n1| 0:1 2:2 3:6\n1| 1:1 2:1 3:7\n"); /* 9 before 10 */
    expect_rows(text, PLAIN ",categorical=a+b-c", 5, 2, "0| 1:1 2:1 4:5\n1| 0:1 3:1 4:6\n1| 1:1 2:1 4:7\n");
    static const char all[] = "0| 1:1 2:1 4:1\n1| 0:1 3:1 5:1\n1| 1:1 2:1 6:1\n";
    expect_rows(text, PLAIN ",categorical=all", 7, 2, all);
    expect_rows(text, PLAIN ",categorical=1-3", 7, 2, all);
    expect_rows(text, PLAIN ",categorical=1+b-c+3", 7, 2, all);
    expect_rows(text, PLAIN ",categorical=all,numeric=d", 5, 2, "0| 1:1 2:1 4:5\n1| 0:1 3:1 4:6\n1| 1:1 2:1 4:7\n");
    expect_rows(text, PLAIN ",ignore=a+2", 1, 2, "0| 0:5\n1| 0:6\n1| 0:7\n");
}

/* A column of numbers in which one is not is a mistake more often than a category. */
TEST(a_text_among_numbers_is_named)
{
    static const char text[] = "age,b,target\n1,1,x\n2,2,y\n\n12x,3,y\n";
    expect_failure(text, "", EE_BAD_INPUT,
                   "made.csv, line 5, column 'age': expected a number, as in 2 other rows, got '12x'; "
                   "categorical=COLUMN reads the column as text, missing=TEXT counts it as missing");
    expect_failure("1,1,0\n12x,2,1\n3,3,1\n", "", EE_BAD_INPUT,
                   "made.csv, line 2, column 1: expected a number, as in 2 other rows, got '12x'; categorical=COLUMN "
                   "reads the column as text, missing=TEXT counts it as missing");
    expect_rows(text, PLAIN ",categorical=age", 4, 2, "0| 0:1 3:1\n1| 2:1 3:2\n1| 1:1 3:3\n");
    expect_failure("a,target\nred,x\nblue,y\n", "numeric=a", EE_BAD_INPUT,
                   "made.csv, line 2, column 'a': expected a number, got 'red'; categorical=COLUMN reads the column as "
                   "text, missing=TEXT counts it as missing");
    expect_failure("a,target\n1,x\n2,y\n1e300,y\n", "", EE_BAD_INPUT,
                   "made.csv, line 4, column 'a': expected a number of at most 3.4e+38, got '1e300'");
    expect_failure("a,target\n1e300,x\n-1e400,y\n", "", EE_BAD_INPUT,
                   "made.csv, line 2, column 'a': expected a number of at most 3.4e+38, got '1e300'");
    expect_failure("a,target\n1,x\nunknown,y\n2,y\n", "", EE_BAD_INPUT,
                   "made.csv, line 3, column 'a': expected a number, as in 2 other rows, got 'unknown'; "
                   "categorical=COLUMN reads the column as text, missing=TEXT counts it as missing");
    expect_failure("a;target\n1;x\n1,5;y\n2;y\n", "", EE_BAD_INPUT,
                   "made.csv, line 3, column 'a': expected a number, as in 2 other rows, got '1,5'; decimal=comma "
                   "reads decimal commas");
    expect_rows("a,target\ninfinity,x\n1e,y\n", PLAIN, 2, 2, "0| 1:1\n1| 0:1\n"); /* words */
}

TEST(headers_are_recognised)
{
    static const char rows[] = "0| 0:1\n1| 0:2\n";
    expect_rows("a,b\n1,x\n2,y\n", PLAIN, 1, 2, rows);                          /* a word over a number */
    expect_rows("1,x\n2,y\n", PLAIN, 1, 2, rows);                               /* none */
    expect_rows("a,Class\nr,x\ns,y\n", PLAIN, 2, 2, "0| 0:1\n1| 1:1\n");        /* a usual name */
    expect_rows("a,b\nr,x\ns,y\n", PLAIN ",label=b", 2, 2, "0| 0:1\n1| 1:1\n"); /* the name that is asked for */
    expect_rows("a,b\nr,x\ns,y\n", PLAIN, 3, 3, "0| 0:1\n1| 1:1\n2| 2:1\n");    /* words over words are values */
    expect_rows("a,b\nr,x\ns,y\n", PLAIN ",header=yes", 2, 2, "0| 0:1\n1| 1:1\n");
    expect_rows("1,2\n3,4\n5,6\n", PLAIN ",header=yes", 1, 2, "0| 0:3\n1| 0:5\n");
    expect_rows("a,1\nb,1\nb,2\n", PLAIN ",header=no", 2, 2, "0| 0:1\n0| 1:1\n1| 1:1\n");
}

TEST(labels_are_found)
{
    static const char first[] = "0| 0:1\n1| 0:2\n";
    expect_rows("target,a\n5,1\n6,2\n", PLAIN, 1, 2, first);
    expect_rows("a,label,class\n1,5,7\n2,6,7\n", PLAIN, 1, 2, first); /* label comes before class */
    expect_rows("b,a\nx,1\ny,2\n", PLAIN ",label=b", 1, 2, first);
    expect_rows("b,a\nx,1\ny,2\n", PLAIN ",label=1", 1, 2, first);
    expect_rows("5,1\n6,2\n", PLAIN ",label=1", 1, 2, first);
    expect_rows("2,a\n5,1\n6,2\n", PLAIN ",label=2,header=yes", 1, 2, first); /* a name before a number */
    expect_rows("target,label\n1,5\n2,6\n", PLAIN, 1, 2, "0| 0:5\n1| 0:6\n");
}

TEST(classes_are_in_order)
{
    expect_rows("a,target\n1,10\n2,9\n3,10\n", PLAIN, 1, 2, "1| 0:1\n0| 0:2\n1| 0:3\n");
    expect_rows("a,target\n1,10\n2,9\n3,b\n", PLAIN, 1, 3, "0| 0:1\n1| 0:2\n2| 0:3\n");
    expect_rows("a,target\n1,1\n2,1.0\n3,-1\n", PLAIN, 1, 2, "1| 0:1\n1| 0:2\n0| 0:3\n");
}

/* The same letters come first. */
TEST(capitals_of_names_do_not_count)
{
    expect_rows("Kind,x\nu,1\nv,2\n", PLAIN ",label=kind", 1, 2, "0| 0:1\n1| 0:2\n");
    expect_rows("KIND,kind,x\np,u,1\np,v,2\n", PLAIN ",label=kind,ignore=KIND", 1, 2, "0| 0:1\n1| 0:2\n");
}

TEST(wrong_columns_are_named)
{
    static const char text[] = "a,b,target\n1,2,x\n2,3,y\n";
    static const char *const wrong[][3] = {
        {"label=c", "c", "label"},
        {"categorical=a+c", "c", "categorical"},
        {"numeric=c", "c", "numeric"},
        {"ignore=c", "c", "ignore"},
        {"label=4", "4", "label"},
        {"label=0", "0", "label"},
        {"label=1-2", "1-2", "label"},
        {"categorical=2-1", "2-1", "categorical"},
        {"categorical=a+", "", "categorical"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char has[100];
        snprintf(has, sizeof has, "table: made.csv has no column '%s' (option %s=); it has 3 columns: a, b, target",
                 wrong[i][1], wrong[i][2]);
        expect_failure(text, wrong[i][0], EE_BAD_OPTION, has);
    }
    expect_failure("1,2,x\n2,3,y\n", "label=a", EE_BAD_OPTION,
                   "table: made.csv has no column 'a' (option label=); it has 3 columns");
    expect_failure(
        "a\033[31m,b\n1,2\n3,4\n", "label=c", EE_BAD_OPTION,
        "table: made.csv has no column 'c' (option label=); it has 2 columns: a [31m, b"); /* nothing for a terminal */
    expect_failure(text, "lable=a", EE_BAD_OPTION, "options: table has no option 'lable'; did you mean 'label'?");
    char wide[600] = "";
    for (int i = 0; i < 100; i++) snprintf(wide + strlen(wide), 20, "%sn%d", i ? "," : "", i);
    classes_dataset *data;
    strcat(wide, "\n");
    assert_int_equal(parse(wide, "header=yes,label=x", &data, &last_error), EE_BAD_INPUT); /* there are no rows */
    fails_saying(parse(formatted("%s%s", wide, wide), "header=yes,label=x", &data, &last_error), EE_BAD_OPTION,
                 "it has 100 columns: n0, n1, ");
    assert_string_equal(last_error.message + strlen(last_error.message) - 3, "...");
}

TEST(wrong_rows_are_named)
{
    expect_failure("a,b\n1,2\n3\n", "", EE_BAD_INPUT, "made.csv, line 3: expected 2 fields as in line 1, got 1");
    expect_failure("\na,b\n1,2,3\n", "", EE_BAD_INPUT, "made.csv, line 3: expected 2 fields as in line 2, got 3");
    expect_failure("a,target\n1,x\n\n2,?\n", "", EE_BAD_INPUT,
                   "made.csv, line 4, column 'target': the label is missing; delete the row or give it a class");
    expect_failure("a,target\n1,\"x\n2,y\n", "", EE_BAD_INPUT, "made.csv, line 2: a quoted field is not closed");
    expect_failure("", "", EE_BAD_INPUT, "made.csv: expected rows, got none");
    expect_failure("\n\n", "", EE_BAD_INPUT, "made.csv: expected rows, got none");
    static const char names_alone[] = "made.csv: expected rows after the column names, got none; columns: a, target";
    expect_failure("a,target\n", "", EE_BAD_INPUT, names_alone);
    expect_failure("a,target", "header=yes", EE_BAD_INPUT, names_alone);
    expect_failure("target,1\n", "", EE_BAD_INPUT,
                   "made.csv: expected rows after the column names, got none; columns: target, 1");
    expect_failure("a,b\n", "", EE_BAD_INPUT,
                   "made.csv: expected rows after the column names, got none; columns: a, b");
    expect_failure("a,b\n", "header=no", EE_BAD_INPUT,
                   "made.csv: every column except the label is constant (1 row): there are no features");
    expect_failure("a,target\n1,x\n2,x\n", "", EE_BAD_INPUT,
                   "made.csv: expected at least two classes, got the same label in every row");
    expect_failure("a,target\n1,x\n1,y\n", "", EE_BAD_INPUT,
                   "made.csv: every column except the label is constant (2 rows): there are no features");
    expect_failure(
        "a|target\n1|x\n2|y\n", "", EE_BAD_INPUT,
        "made.csv: expected two or more columns separated by commas, semicolons, tabs or spaces, got one: a|target");
}

TEST(separators_and_line_ends)
{
    static const char rows[] = "0| 0:1 1:2\n1| 0:3 1:4\n";
    expect_rows("a\tb\ttarget\n1\t2\tx\n3\t4\ty\n", PLAIN, 2, 2, rows);
    expect_rows("a;b;target\r\n1;2;x\r\n3;4;y", PLAIN, 2, 2, rows);
    expect_rows("a;b;target\r1;2;x\r\r3;4;y\r", PLAIN, 2, 2, rows);
    expect_rows("# a, b\rx 1:1 2:2\ry 1:3 2:4\r", PLAIN, 2, 2, rows); /* libsvm's format */
    expect_rows("a b target\n1 2  x\n3  4 y\n", PLAIN, 2, 2, rows);
    expect_rows("a, b, target\n1, 2, x\n3, 4, y\n", PLAIN, 2, 2, rows);
    expect_rows("\xef\xbb\xbf\"a\",b,target\n1,2,x\n3,4,y\n", PLAIN ",label=target", 2, 2, rows);
}

TEST(fractions_may_have_commas)
{
    expect_rows("a;b;target\n1,5;2;x\n-3,25;4;y\n", PLAIN ",decimal=comma", 2, 2, "0| 0:1.5 1:2\n1| 0:-3.25 1:4\n");
    /* Classes and categories, all numbers or not, and what is none. */
    expect_rows("a;target\n1;10,5\n2;9,5\n3;10,5\n", PLAIN ",decimal=comma", 1, 2, "1| 0:1\n0| 0:2\n1| 0:3\n");
    expect_rows("a;target\n1;10,5\n2;9,5\n3;b\n", PLAIN ",decimal=comma", 1, 3, "0| 0:1\n1| 0:2\n2| 0:3\n");
    expect_rows("a;target\n1,;x\n2,;y\n", PLAIN ",decimal=comma", 2, 2, "0| 0:1\n1| 1:1\n");
}

TEST(libsvm)
{
    static const char text[] = "+1 1:2 3:-4\n-1 2:1 # none\n\n# all\n+1 \n-1 1:1 2:0 3:2\n";
    expect_rows(text, PLAIN, 3, 2, "1| 0:2 2:-4\n0| 1:1\n1|\n0| 0:1 2:2\n");
    expect_rows(text, "normalize=standard,constant=off", 3, 2, "1| 0:1 2:-1\n0| 1:1\n1|\n0| 0:0.5 2:0.5\n");
    expect_rows(text, "normalize=standard", 4, 2, "1| 0:1 1:1 3:-1\n0| 0:1 2:1\n1| 0:1\n0| 0:1 1:0.5 3:0.5\n");
    expect_rows("3 1:3 2:4\n1 1:3\n", "constant=off,normalize=unit", 2, 2, "1| 0:0.70711 1:0.70711\n0| 0:1\n");
}

TEST(wrong_libsvm_lines_are_named)
{
    expect_failure("1 1:2\n0 0:1\n", "", EE_BAD_INPUT,
                   "made.csv, line 2: expected an index of 1 to 100000000, got '0:1'");
    expect_failure("1 1:2\n0 3:1 2:1\n", "", EE_BAD_INPUT,
                   "made.csv, line 2: expected an index of 4 to 100000000, got '2:1'");
    expect_failure("1 1:2\n0 3:1 3:1\n", "", EE_BAD_INPUT,
                   "made.csv, line 2: expected an index of 4 to 100000000, got '3:1'");
    expect_failure("1 1:2\n0 99999999999999999999:1\n", "", EE_BAD_INPUT,
                   "made.csv, line 2: expected an index of 1 to 100000000, got '99999999999999999999:1'");
    expect_failure("1 1:2\n\n0 1:x\n", "", EE_BAD_INPUT, "made.csv, line 3: expected a number after '1:', got 'x'");
    expect_failure("1 1:2\n0 1:nan\n", "", EE_BAD_INPUT, "made.csv, line 2: expected a number after '1:', got 'nan'");
    expect_failure("1 1:2\n0 1:\n", "", EE_BAD_INPUT, "made.csv, line 2: expected a number after '1:', got ''");
    expect_failure("1 1:2\n0 1:1e39\n", "", EE_BAD_INPUT,
                   "made.csv, line 2: expected a number of at most 3.4e+38 after '1:', got '1e39'");
    expect_failure("1 1:2\n0 1\n", "", EE_BAD_INPUT, "made.csv, line 2: expected index:value, got '1'");
    expect_failure("1 1:2\n0 -1:1\n", "", EE_BAD_INPUT, "made.csv, line 2: expected index:value, got '-1:1'");
    expect_failure("1 1:2\n1 2:1\n", "", EE_BAD_INPUT,
                   "made.csv: expected at least two classes, got the same label in every row");
    expect_failure("1 1:2\n? 2:1\n", "", EE_BAD_INPUT,
                   "made.csv, line 2: the label is missing; delete the row or give it a class");
    expect_failure("1 1:0\n2\n", "constant=off", EE_BAD_INPUT,
                   "made.csv: every column except the label is constant (2 rows): there are no features");
}

/* As many labels as rows are no classes. */
TEST(too_many_categories)
{
    enum { ROWS = 10001 };
    auto_free char *text = malloc(32 * ROWS);
    assert_non_null(text);
    for (int column = 0; column < 2; column++) {
        size_t length = (size_t)sprintf(text, "a,target\n");
        for (int row = 0; row < ROWS; row++)
            length += (size_t)sprintf(text + length, column ? "%d,n%d\n" : "n%d,%d\n", column ? row % 7 : row,
                                      column ? row : row % 7);
        expect_failure(text, "", EE_BAD_INPUT,
                       column ? "made.csv, column 'target': expected categories, got more than 10000 different values; "
                                "name another label with label=COLUMN"
                              : "made.csv, column 'a': expected categories, got more than 10000 different values; "
                                "leave it out with ignore=COLUMN");
    }
}

TEST_IN_FOLDER(files_are_opened_packed_or_plain)
{
    static const char content[] = "a,target\n1,x\n2,y\n3,x\n";
    size_t size;
    uint8_t *packed = gzip_pack(content, strlen(content), &size);
    folder_write_text(&here, "plain.csv", content);
    folder_write(&here, "packed.csv.gz", packed, size);
    folder_write(&here, "cut.csv.gz", packed, size - 1);
    free(packed);
    static const char *const cases[][2] = {{"plain.csv", "table:plain,label=target"},
                                           {"packed.csv.gz", "table:packed,label=target"},
                                           {"packed.csv", "table:packed,label=target"}};
    dataset *data;
    for (int i = 0; i < 3; i++) {
        ok(dataset_open(formatted("table:%s,label=target", folder_path(&here, cases[i][0])), NULL, &data, &last_error));
        assert_string_equal(dataset_name(data), cases[i][1]);
        assert_int_equal(dataset_dim(data), 4);
        assert_int_equal(dataset_arms(data), 2);
        assert_int_equal(dataset_blocks(data), 2);
        assert_true(dataset_fingerprint(data) != 0);
        environment_round round;
        auto_environment *world = start_rounds(data, 1);
        for (int t = 0; t < 10; t++) {
            ok(environment_next(world, &round, NULL));
            assert_true(round.rewards[0] + round.rewards[1] == 1.0);
        }
        dataset_free(data);
    }
    fails_saying(dataset_open(formatted("table:%s", folder_path(&here, "cut.csv")), NULL, &data, &last_error),
                 EE_BAD_INPUT, "cut.csv.gz, byte ");
    fails_saying(dataset_open(formatted("table:%s", folder_path(&here, "none.csv")), NULL, &data, &last_error),
                 EE_FILE_ERROR, "none.csv");
}

/* Row i has class i % 3 and a feature that tells it from the others: their rewards and values are told by i. */
TEST_IN_FOLDER(rows_come_as_the_file_has_them)
{
    static const char *const contents[] = {"a,target\n5,x\n2,y\n9,z\n1,x\n", "0 1:5\n1 1:2\n2 1:9\n0 1:1\n"};
    static const float numbers[] = {5, 2, 9, 1};
    for (int i = 0; i < 2; i++) {
        folder_write_text(&here, "stream.txt", contents[i]);
        auto_dataset *data = open_data(formatted("table:%s,order=file," PLAIN, folder_path(&here, "stream.txt")));
        assert_string_equal(dataset_name(data), "table:stream,order=file," PLAIN);
        assert_int_equal(dataset_rows(data), 4);
        assert_int_equal(dataset_rounds(data), 0);
        for (uint64_t seed = 0; seed < 3; seed++) {
            auto_environment *world = start_rounds(data, seed);
            for (size_t t = 0; t < 11; t++) {
                environment_round round = next_round(world);
                assert_true(round.rewards[t % 4 % 3] == 1.0);
                assert_true(round.arms.values[0] == numbers[t % 4]);
            }
        }
    }
    expect_failure("a,target\n1,x\n2,y\n", "order=time", EE_BAD_OPTION,
                   "options: table.order must be random|file, got time");
}

TEST(the_uci_files)
{
    const char *root = real_data();
    static const struct {
        const char *name;
        const char *options;
        size_t rows, features, classes;
    } cases[] = {
        {"adult", "", 48842, 15, 2},
        {"adult", ",categorical=workclass+education+marital-status+occupation+relationship+race+sex+native-country",
         48842, 109, 2},
        {"magic", "", 19020, 11, 2},
        {"mushroom", "", 8124, 22, 2}, /* one of the 22 columns has one value */
        {"mushroom", ",categorical=all,constant=off", 8124, 116, 2},
        {"shuttle", "", 58000, 10, 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_dataset *data = open_data(formatted("table:%s/uci/%s.tsv.gz%s", root, cases[i].name, cases[i].options));
        const classes_dataset *rows = (const classes_dataset *)data;
        assert_int_equal(rows->rows, cases[i].rows);
        assert_int_equal(rows->features, cases[i].features);
        assert_int_equal(rows->classes, cases[i].classes);
        for (size_t row = 0; row < rows->rows; row++) {
            double squares = 0.0;
            for (size_t at = rows->starts[row]; at < rows->starts[row + 1]; at++)
                squares += (double)rows->values[at] * (double)rows->values[at];
            assert_close(squares, 1.0, 1e-5);
        }
    }
}

/* The same rows, whether their cells come from a file or stand in memory. */
TEST(cells_in_memory)
{
    cell cells[] = {{"target", NAN}, {"a", NAN}, {"b", NAN}, {"x", NAN}, {"", 5},     {"u", NAN},
                    {"y", NAN},      {"", 2},    {"v", NAN}, {"x", NAN}, {NULL, NAN}, {"u", NAN}};
    table_cells from = {cells, NULL, 4, 3, 77};
    char expected[1024], got[1024];
    classes_dataset *file;
    dataset *data;
    ok(parse("target,a,b\nx,5,u\ny,2,v\nx,,u\n", "normalize=standard", &file, NULL));
    print_rows(file, expected, sizeof expected);
    classes_close(&file->head);
    ok(dataset_open_cells("table:made,normalize=standard", &from, &data, NULL));
    print_rows((const classes_dataset *)data, got, sizeof got);
    assert_string_equal(got, expected);
    assert_string_equal(dataset_name(data), "table:made,normalize=standard");
    assert_int_equal(dataset_fingerprint(data), 77);
    dataset_free(data);
    from.codes = (const char[]){0, 1, 0};
    ok(parse("target,a,b\nx,5,u\ny,2,v\nx,,u\n", "categorical=a", &file, NULL));
    print_rows(file, expected, sizeof expected);
    classes_close(&file->head);
    ok(dataset_open_cells("table:made", &from, &data, NULL));
    print_rows((const classes_dataset *)data, got, sizeof got);
    assert_string_equal(got, expected);
    dataset_free(data);
    cells[6].text = NULL;
    refuses(dataset_open_cells("table:made", &from, &data, &last_error),
            "made, line 2, column 'target': the label is missing; delete the row or give it a class");
    assert_null(data);
}
