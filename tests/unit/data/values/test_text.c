#include "data/values/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
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

static void expect_double(double number, const char *words)
{
    text page = text_start(NULL);
    text_double(&page, number);
    assert_string_equal(page.bytes, words);
    memory_free(page.bytes);
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

static void expect_float(float number, const char *words)
{
    text page = text_start(NULL);
    text_float(&page, number);
    assert_string_equal(page.bytes, words);
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
    expect_double(0, "0");
    expect_double(-0.0, "-0");
    expect_double(0.1, "0.1");
    expect_double(-1234.5, "-1234.5");
    expect_double(100, "100");
    expect_double(0.05000000074505806, "0.05000000074505806");
    expect_double(1.0 / 3, "0.3333333333333333");
    expect_double(5e-324, "4.9406564584124654e-324");
    expect_float(0.1f, "0.1");
    expect_float(16777216.0f, "16777216");
    expect_float(0.333333343f, "0.33333334");
    random_stream stream = random_named(1, "numbers");
    for (size_t i = 0; i < 100000; i++) {
        double number = draw(&stream, i);
        float narrow = (float)(fabs(number) < 1e30 ? number : 1);
        text page = text_start(NULL);
        text_double(&page, number);
        if (strtod(page.bytes, NULL) != number) fail_msg("%.17g is written as %s", number, page.bytes);
        page.length = 0;
        text_float(&page, narrow);
        if ((float)strtod(page.bytes, NULL) != narrow) fail_msg("%.9g is written as %s", (double)narrow, page.bytes);
        memory_free(page.bytes);
    }
}
