/* Texts that grow, and what is written into them: HTML, CSV, numbers; and texts and numbers that are dates. */
#include "data/values/text.h"

#include "base/random.h"
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

TEST(html_is_harmless)
{
    text out = text_start(NULL);
    text_html(&out, "a<b>&\"c'");
    assert_written(&out, "a&lt;b&gt;&amp;&quot;c&#39;");
    text_html(&out, "Z\303\274rich \342\210\222 \360\237\231\202");
    assert_written(&out, "Z\303\274rich \342\210\222 \360\237\231\202");
    /* A byte that begins nothing, a character that is cut by the end, a control character. */
    text_html(&out, "a\377b\303");
    assert_written(&out, "a?b?");
    text_html(&out, "a\nb\x01");
    assert_written(&out, "a?b?");
}

TEST(csv_is_quoted_where_needed)
{
    text out = text_start(NULL);
    text_csv(&out, "plain words");
    assert_written(&out, "plain words");
    text_csv(&out, "a,b");
    assert_written(&out, "\"a,b\"");
    text_csv(&out, "say \"x\"");
    assert_written(&out, "\"say \"\"x\"\"\"");
    text_csv(&out, "two\nlines");
    assert_written(&out, "\"two\nlines\"");
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

TEST(seeds_and_shell_words)
{
    text out = text_start(NULL);
    uint64_t seeds[] = {7, 1, 0, 2, 7, 9};
    page_seeds(&out, seeds, 6);
    assert_written(&out, "0-2,7,9");
    page_shell_word(&out, "table:a,label=b");
    assert_written(&out, "table:a,label=b");
    page_shell_word(&out, "a b'c");
    assert_written(&out, "&#39;a b&#39;\\&#39;&#39;c&#39;");
}

TEST(numbers_of_json_are_finite)
{
    text page = text_start(NULL);
    text_number(&page, 0.25);
    text_number(&page, (double)NAN);
    text_number(&page, -INFINITY);
    assert_string_equal(page.bytes, "0.25nullnull");
    memory_free(page.bytes);
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
    text page = text_start(NULL);
    text_double(&page, 0);
    assert_written(&page, "0");
    text_double(&page, -0.0);
    assert_written(&page, "-0");
    text_double(&page, 0.1);
    assert_written(&page, "0.1");
    text_double(&page, -1234.5);
    assert_written(&page, "-1234.5");
    text_double(&page, 100);
    assert_written(&page, "100");
    text_double(&page, 0.05000000074505806);
    assert_written(&page, "0.05000000074505806");
    text_double(&page, 1.0 / 3);
    assert_written(&page, "0.3333333333333333");
    text_double(&page, 5e-324);
    assert_written(&page, "4.9406564584124654e-324");
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

static void assert_plain(double value, int digits, const char *expected)
{
    assert_string_equal(plain_number_of(value, digits).text, expected);
}

TEST(no_exponents)
{
    assert_plain(1486.4, 3, "1486");
    assert_plain(-1486.4, 3, "-1486");
    assert_plain(123456789.0, 4, "123456789");
    assert_plain(0.00002, 3, "0.00002");
    assert_plain(1.2345e-7, 2, "0.00000012");
    assert_plain(999999999999999.0, 3, "999999999999999");
}

TEST(as_many_digits_as_asked_for)
{
    assert_plain(14.864, 3, "14.9");
    assert_plain(14.864, 4, "14.86");
    assert_plain(0.25, 4, "0.25");
    assert_plain(3.0, 4, "3");
    assert_plain(100.0, 2, "100");
    assert_plain(9.996, 3, "10");
    assert_plain(0.0, 3, "0");
    assert_plain(-0.0, 3, "0");
}

TEST(what_nobody_counts_the_zeros_of)
{
    assert_plain(1.5e15, 3, "1.5e+15");
    assert_plain(1.5e-10, 3, "1.5e-10");
    assert_plain(INFINITY, 3, "inf");
    assert_plain(NAN, 3, "nan");
}

/* Between the two it is the number that printf's %g has, written otherwise. */
TEST(the_same_number_as_printf)
{
    random_stream stream = random_named(7, "numbers");
    for (int i = 0; i < 2000; i++) {
        double value = random_normal(&stream) * pow(10.0, -8.0 + 12.0 * random_unit(&stream));
        char expected[40];
        snprintf(expected, sizeof expected, "%.5g", value);
        double got = strtod(plain_number_of(value, 5).text, NULL);
        if (fabs(value) < 99999.0) assert_true(got == strtod(expected, NULL));
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
