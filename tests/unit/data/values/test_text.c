/* Texts that grow, and what is written into them: HTML, CSV, numbers; and texts and numbers that are dates. */
#include "data/values/text.h"

#include "base/random.h"
#include "data/support_sets.h"
#include "data/values/date_text.h"
#include "data/values/plain_number.h"
#include "lab/report/page.h"
#include "support.h"

static void assert_written(text *got, const char *expected)
{
    ok(got->status);
    assert_string_equal(got->bytes, expected);
    memory_free(got->bytes);
    *got = text_start(NULL);
}

TEST(grows)
{
    text out = text_start(NULL);
    for (int i = 0; i < 1000; i++) text_add(&out, "%03d", i);
    assert_int_equal(out.length, 3000);
    assert_memory_equal(out.bytes, "000001002", 9);
    assert_string_equal(out.bytes + 2994, "998999");
    memory_free(out.bytes);
}

TEST(words_are_quoted_where_needed)
{
    static const struct {
        void (*add)(text *, const char *);
        const char *words, *written;
    } cases[] = {
        {text_html, "a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&#39;"},
        {text_html, "Z\303\274rich \342\210\222 \360\237\231\202", "Z\303\274rich \342\210\222 \360\237\231\202"},
        {text_html, "a\377b\303", "a?b?"}, /* a byte that begins nothing, a character that is cut by the end */
        {text_html, "a\nb\x01", "a?b?"},   /* control characters */
        {text_csv, "plain words", "plain words"},
        {text_csv, "a,b", "\"a,b\""},
        {text_csv, "say \"x\"", "\"say \"\"x\"\"\""},
        {text_csv, "two\nlines", "\"two\nlines\""},
        {page_shell_word, "table:a,label=b", "table:a,label=b"},
        {page_shell_word, "a b'c", "&#39;a b&#39;\\&#39;&#39;c&#39;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text out = text_start(NULL);
        cases[i].add(&out, cases[i].words);
        assert_written(&out, cases[i].written);
    }
}

TEST(numbers)
{
    text out = text_start(NULL);
    page_number(&out, -12.345, 1);
    assert_written(&out, "−12.3");
    page_signed(&out, 12.345, 2);
    assert_written(&out, "+12.35");
    page_signed(&out, -0.001, 1);
    assert_written(&out, "0.0");
    page_amount(&out, 0.01234);
    assert_written(&out, "0.012");
    page_amount(&out, 0.0004);
    assert_written(&out, "&lt;0.001");
    page_amount(&out, 99.96);
    assert_written(&out, "100");
    page_share(&out, 0.125);
    assert_written(&out, "12.5%");
    page_p(&out, 0.0004);
    assert_written(&out, "&lt;0.001");
    page_p(&out, 0.05);
    assert_written(&out, "0.050");
}

TEST(seeds)
{
    text out = text_start(NULL);
    uint64_t seeds[] = {7, 1, 0, 2, 7, 9};
    page_seeds(&out, seeds, 6);
    assert_written(&out, "0-2,7,9");
}

TEST(numbers_of_json_are_finite)
{
    text page = text_start(NULL);
    text_number(&page, 0.25);
    text_number(&page, (double)NAN);
    text_number(&page, -INFINITY);
    assert_written(&page, "0.25nullnull");
}

/* Bits at random, and numbers of few digits. */
static double draw(random_stream *stream, size_t i)
{
    if (i % 2) return (double)(int64_t)random_below(stream, 2000000) / 1e3 - 1000;
    uint64_t bits = random_bits(stream);
    double number;
    memcpy(&number, &bits, sizeof number);
    return isfinite(number) ? number : 0;
}

TEST(numbers_are_read_as_the_same)
{
    static const struct {
        double number;
        const char *written;
    } cases[] = {{0, "0"},
                 {-0.0, "-0"},
                 {0.1, "0.1"},
                 {-1234.5, "-1234.5"},
                 {100, "100"},
                 {0.05000000074505806, "0.05000000074505806"},
                 {1.0 / 3, "0.3333333333333333"},
                 {5e-324, "4.9406564584124654e-324"}};
    text page = text_start(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text_double(&page, cases[i].number);
        assert_written(&page, cases[i].written);
    }
    text_float(&page, 0.1f);
    assert_written(&page, "0.1");
    text_float(&page, 16777216.0f);
    assert_written(&page, "16777216");
    text_float(&page, 0.333333343f);
    assert_written(&page, "0.33333334");
    random_stream stream = random_named(1, "numbers");
    for (size_t i = 0; i < 100000; i++) {
        double number = draw(&stream, i);
        float narrow = (float)(fabs(number) < 1e30 ? number : 1);
        page = text_start(NULL);
        text_double(&page, number);
        if (strtod(page.bytes, NULL) != number) fail_msg("%.17g is written as %s", number, page.bytes);
        page.length = 0;
        text_float(&page, narrow);
        if ((float)strtod(page.bytes, NULL) != narrow) fail_msg("%.9g is written as %s", (double)narrow, page.bytes);
        memory_free(page.bytes);
    }
}

TEST(plain_numbers)
{
    static const struct {
        double value;
        int digits;
        const char *text;
    } cases[] = {
        /* No exponents. */
        {1486.4, 3, "1486"},
        {-1486.4, 3, "-1486"},
        {123456789.0, 4, "123456789"},
        {0.00002, 3, "0.00002"},
        {1.2345e-7, 2, "0.00000012"},
        {999999999999999.0, 3, "999999999999999"},
        /* As many digits as asked for. */
        {14.864, 3, "14.9"},
        {14.864, 4, "14.86"},
        {0.25, 4, "0.25"},
        {3.0, 4, "3"},
        {100.0, 2, "100"},
        {9.996, 3, "10"},
        {0.0, 3, "0"},
        {-0.0, 3, "0"},
        /* Not written as plain digits. */
        {1.5e15, 3, "1.5e+15"},
        {1.5e-10, 3, "1.5e-10"},
        {INFINITY, 3, "inf"},
        {NAN, 3, "nan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(plain_number_of(cases[i].value, cases[i].digits).text, cases[i].text);
}

/* Between the two it is the number that printf's %g has, written otherwise. */
TEST(the_same_number_as_printf)
{
    random_stream stream = random_named(7, "numbers");
    for (int i = 0; i < 2000; i++) {
        double value = random_normal(&stream) * pow(10.0, -8.0 + 12.0 * random_unit(&stream));
        double got = strtod(plain_number_of(value, 5).text, NULL);
        if (fabs(value) < 99999.0) assert_true(got == strtod(formatted("%.5g", value), NULL));
        assert_close(got, value, 1e-4);
    }
}

TEST(dates)
{
    static const char *const dates[] = {"31/1/20",   "31.01.2020",           "2020/1/31",  "31.1.2020 9:05",
                                        "1/31/2020", "2020-01-31T10:15:00Z", "2020-01-31", "2020-01-31 10:15:00.5"};
    static const char *const others[] = {
        "",           "2020",        "2020-13-01",  "2020-01-32",   "2020-01",   "1.2.3",
        "10.0.0.1",   "555-12-3456", "12-34-56",    "2020-01/31",   "1-2-2020x", "2020-01-31x",
        "99/99/99",   "0/1/2020",    "123-1-2020",  "1-2-3-4",      "a-b-c",     "-1-2-2020",
        "2020.1.31 ", "20200131",    "12345-01-01", "2020-01-31 am"};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
        if (!date_text_is(dates[i])) fail_msg("'%s' is a date", dates[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (date_text_is(others[i])) fail_msg("'%s' is no date", others[i]);
}

TEST(numbers_that_are_dates)
{
    static const double dates[] = {20200131, 19000101, 21001231},
                        others[] = {20201301, 20200100, 20200131.5, 2020, 2e9, -20200131, NAN};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) assert_true(date_number_is(dates[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_false(date_number_is(others[i]));
}
