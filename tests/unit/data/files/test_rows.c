/* Rows of separated fields, from bytes that end at a wall but for the zero after them. */
#include "data/files/rows.h"

#include "support.h"

typedef struct reading {
    guard wall;
    source file;
    row_reader rows;
} reading;

static reading *begin(const char *text, size_t size, const char *separator)
{
    reading *r = calloc(1, sizeof *r);
    assert_non_null(r);
    static char name[] = "made.csv";
    r->file = (source){name, guard_end_bytes(&r->wall, size + 1), size};
    memcpy(r->file.bytes, text, size);
    r->file.bytes[size] = 0;
    r->rows = rows_start(&r->file, separator);
    return r;
}

static void end(reading *r)
{
    rows_release(&r->rows);
    guard_free(&r->wall);
    free(r);
}

/* Reads text and writes it as "[a][b]\n", a row a line, with the number of its line in front. */
static void expect_rows(const char *text, const char *separator, const char *expected)
{
    char got[512] = "";
    size_t length = 0;
    reading *r = begin(text, strlen(text), separator);
    for (;;) {
        bool found;
        ok(rows_next(&r->rows, &found, &last_error));
        if (!found) break;
        length += (size_t)snprintf(got + length, sizeof got - length, "%zu:", r->rows.line);
        for (size_t i = 0; i < r->rows.count; i++) {
            const field *f = &r->rows.fields[i];
            assert_int_equal(f->text[f->length], 0);
            length += (size_t)snprintf(got + length, sizeof got - length, "[%s]", f->text);
        }
        length += (size_t)snprintf(got + length, sizeof got - length, "\n");
    }
    end(r);
    assert_string_equal(got, expected);
}

TEST(lines_and_fields)
{
    expect_rows("", ",", "");
    expect_rows("\n\r\n\n", ",", "");
    expect_rows("a", ",", "1:[a]\n");
    expect_rows("a,b\n", ",", "1:[a][b]\n");
    expect_rows("a,b\nc,d", ",", "1:[a][b]\n2:[c][d]\n");
    expect_rows("a,b\r\n\r\nc,d\r\n", ",", "1:[a][b]\n3:[c][d]\n");
    expect_rows(",\n,,", ",", "1:[][]\n2:[][][]\n");
    expect_rows("a,\r\n,b", ",", "1:[a][]\n2:[][b]\n");
    expect_rows("a\rb,c\r\n", ",", "1:[a\rb][c]\n");
    expect_rows("\n\na\n\n\nb\n", ",", "3:[a]\n6:[b]\n");
    expect_rows("\xef\xbb\xbf"
                "a,b\n",
                ",", "1:[a][b]\n");
    expect_rows("\xef\xbb\xbf", ",", "");
}

TEST(quotes)
{
    expect_rows("\"a\",\"b\"\n", ",", "1:[a][b]\n");
    expect_rows("\"a,b\",c\n", ",", "1:[a,b][c]\n");
    expect_rows("\"\",\"\"", ",", "1:[][]\n");
    expect_rows("\"a\"\"b\",\"\"\"\"\n", ",", "1:[a\"b][\"]\n");
    expect_rows("\"a\nb\r\nc\",d\r\ne,f\n", ",", "1:[a\nb\r\nc][d]\n4:[e][f]\n");
    expect_rows("a\"b,c\"\n", ",", "1:[a\"b][c\"]\n"); /* not at the start of a field, it is text */
    expect_rows("\"a\"\r\n\"b\"", ",", "1:[a]\n2:[b]\n");
    expect_rows("\"a b\"   \"c\"  \n", " ", "1:[a b][c]\n");
    expect_rows("\"a::b\"::c\n", "::", "1:[a::b][c]\n");
}

TEST(separators_are_found)
{
    expect_rows("1::2::3\n", NULL, "1:[1][2][3]\n");
    expect_rows("1:a::2:b::\n", NULL, "1:[1:a][2:b][]\n");
    expect_rows("a,b\tc;d\n", NULL, "1:[a,b][c;d]\n");
    expect_rows("a;b,c\n", NULL, "1:[a;b][c]\n");
    expect_rows("a;b\n1,5;2\n", NULL, "1:[a][b]\n2:[1,5][2]\n"); /* the first line tells */
    expect_rows("  a   b \n c\n   \nd", NULL, "1:[a][b]\n2:[c]\n4:[d]\n");
    expect_rows("\r\n\na;b\n", NULL, "3:[a][b]\n");
    expect_rows("\"a,b\";c\n", NULL, "1:[a,b][c]\n"); /* what is quoted does not */
    expect_rows("a::b\n", ":", "1:[a][][b]\n");
    expect_rows("1,5;x\n2;y\n", NULL, "1:[1,5][x]\n2:[2][y]\n"); /* a decimal comma */
    expect_rows("a;b\n1,5;2,25\n", NULL, "1:[a][b]\n2:[1,5][2,25]\n");
    expect_rows("1;2,x\n3;4,y\n", NULL, "1:[1;2][x]\n2:[3;4][y]\n");
    expect_rows("1;2,3\n4,5\n", NULL, "1:[1;2][3]\n2:[4][5]\n");
}

static void expect_failure(const char *text, const char *separator, int good_rows, const char *message)
{
    reading *r = begin(text, strlen(text), separator);
    bool found;
    for (int i = 0; i < good_rows; i++) ok(rows_next(&r->rows, &found, &last_error));
    refuses(rows_next(&r->rows, &found, &last_error), message);
    end(r);
}

TEST(wrong_quotes_are_named)
{
    expect_failure("a,b\nc,\"d\ne,f\n", ",", 1, "made.csv, line 2: a quoted field is not closed");
    expect_failure("\"", ",", 0, "made.csv, line 1: a quoted field is not closed");
    expect_failure("\"a\"\"", ",", 0, "made.csv, line 1: a quoted field is not closed");
    expect_failure("\n\na,\"b\"c\n", ",", 0,
                   "made.csv, line 3: expected a separator after the closing quote of field 2");
    expect_failure("\"a\":b\n", "::", 0, "made.csv, line 1: expected a separator after the closing quote of field 1");
}

/* Most of what reads a field takes a zero for its end. */
TEST(zeros_are_refused)
{
    reading *r = begin("c,d\na,b\0\n", 9, ",");
    bool found;
    ok(rows_next(&r->rows, &found, &last_error));
    refuses(rows_next(&r->rows, &found, &last_error),
            "made.csv, line 2: expected UTF-8 text (export a spreadsheet as CSV first), got a zero byte in field 2");
    end(r);
}

static bool number_of(const char *text, double *number)
{
    return field_number(&(field){text, strlen(text)}, number);
}

TEST(numbers)
{
    static const char *const good[] = {
        "0",  "+1", "007", "1e3", "3.25",     "123456789012345",   "162.05200000000005", "179769313486231570000",
        "1",  ".5", "-.5", " 7 ", "-1E-3",    "99999999999999.9",  "0.0000000000000001", "2.2250738585072014e-308",
        "-0", "5.", "0.1", "7  ", "4.9e-324", "0.000000000000001", "1234567890123456789"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double number, expected = strtod(good[i], NULL);
        assert_true(number_of(good[i], &number));
        assert_memory_equal(&number, &expected, sizeof number);
    }
    static const char *const bad[] = {"",    " ",   "-",   ".",    "-.",   "1.2.3", "1,5", "abc", "1a",
                                      "1 2", "nan", "inf", "-inf", "1e5x", "1e999", "--1", "1-"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double number;
        if (number_of(bad[i], &number)) fail_msg("'%s' is a number", bad[i]);
    }
    double number;
    assert_false(field_number(&(field){"1\0", 2}, &number));
}

/* Short decimals are read without strtod: to the same bits. */
TEST(short_decimals_round_as_strtod)
{
    uint64_t bits = 1;
    for (int i = 0; i < 200000; i++) {
        char text[40];
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        int digits = 1 + (int)(bits >> 33) % 17, places = (int)(bits >> 40) % (digits + 1);
        uint64_t whole = (bits >> 10) % (uint64_t)pow(10, digits);
        int length = snprintf(text, sizeof text, "%s%0*llu", bits & 1 ? "-" : "", digits, (unsigned long long)whole);
        memmove(text + length - places + 1, text + length - places, (size_t)places + 1);
        text[length - places] = '.';
        double number, expected = strtod(text, NULL);
        assert_true(number_of(text, &number));
        assert_memory_equal(&number, &expected, sizeof number);
    }
}
