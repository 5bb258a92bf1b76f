#include "data/values/plain_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "support.h"

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
