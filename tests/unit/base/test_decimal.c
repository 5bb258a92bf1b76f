/* Numbers of JSON: the nearest double, as the C library finds it, and exactly the bytes that belong to the number. */
#include "support.h"
#include "support_locale.h"

#include <float.h>

#include "base/decimal.h"
#include "base/decimal_table.h"

static double read_all(const char *text)
{
    double value;
    const char *end = text + strlen(text);
    decimal_end got = decimal_read(text, end, &value);
    if (got.at != end) fail_msg("%s: %zu bytes were read", text, (size_t)(got.at - text));
    if (got.fault != DECIMAL_FINE) value = text[0] == '-' ? -INFINITY : INFINITY;
    return value;
}

static void assert_as_library(const char *text)
{
    double got = read_all(text), expected = strtod(text, NULL);
    if (memcmp(&got, &expected, sizeof got) != 0)
        fail_msg("%s: got %.17g, the C library has %.17g", text, got, expected);
}

TEST(borders_are_as_the_library_reads_them)
{
    static const char texts[] =
        "0 -0 0.0 -0.0e5 0e999999999999999999999 1 -1 10 1e0 1E+2 1e-2 12345678 123456789 0.1 "
        "0.12345678 0.123456789012345678 1234567.1234567 9007199254740991 9007199254740992 "
        "9007199254740993 9007199254740993.0000000000000000000000000000001 9007199254740995 "
        "18446744073709551615 18446744073709551616 36893488147419103232 9999999999999999999 "
        "99999999999999999999 12345678901234567.89 1e22 1e23 1e-22 1e-23 9007199254740992e22 "
        "9007199254740993e-22 1.7976931348623157e308 1.7976931348623158e308 17976931348623157e292 "
        "2.2250738585072011e-308 2.2250738585072014e-308 4.9406564584124654e-324 "
        "2.4703282292062327e-324 2.4703282292062328e-324 1e-400 1e-99999999999999999999999 "
        "0.000000000000000000000000000000012345678901234567890 "
        "100000000000000000000000000000000000000000000000000000000000000000000000e-71 8.5 "
        "0.50000000000000000000000000000000000000000001 "
        "1.00000000000000011102230246251565404236316680908203125 "
        "1.00000000000000011102230246251565404236316680908203124 "
        "1.00000000000000011102230246251565404236316680908203126";
    for (const char *at = texts; *at; at += strspn(at, " ")) {
        char text[128];
        int length = (int)strcspn(at, " ");
        snprintf(text, sizeof text, "%.*s", length, at);
        assert_as_library(text);
        at += length;
    }
    static const char *const large[] = {"1e309", "1.7976931348623159e308", "123456789e301",
                                        "1e99999999999999999999999"};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) assert_true(isinf(read_all(large[i])));
    /* The point half-way between two doubles has up to 767 digits; one more digit, far behind, decides. */
    static char text[4096];
    double low = DBL_MIN * 3, high = nextafter(low, 1);
    snprintf(text, sizeof text, "%.1200f", low / 2 + high / 2);
    assert_as_library(text);
    for (int zeros = 0; zeros < 2000; zeros += 111) {
        snprintf(text, sizeof text, "1.00000000000000011102230246251565404236316680908203125%0*d", zeros + 1, 1);
        assert_as_library(text);
    }
    memset(text, '0', 3000);
    memcpy(text, "0.", 2);
    snprintf(text + 3000, sizeof text - 3000, "1234e3001");
    assert_as_library(text);
    memset(text, '1', 3000);
    snprintf(text + 3000, sizeof text - 3000, "e-2999");
    assert_as_library(text);
}

TEST(random_doubles_come_back)
{
    random_stream stream = random_named(1, "decimal");
    for (size_t i = 0; i < test_long(4000, 40000); i++) {
        uint64_t bits = random_bits(&stream);
        double any, unit = random_normal(&stream) * pow(10, (double)random_below(&stream, 12) - 6);
        char text[64];
        memcpy(&any, &bits, sizeof any);
        if (!isfinite(any)) continue;
        snprintf(text, sizeof text, "%.17g", any);
        assert_true(read_all(text) == any);
        snprintf(text, sizeof text, "%.17g", unit);
        assert_true(read_all(text) == unit);
        snprintf(text, sizeof text, "%.*g", (int)random_below(&stream, 19) + 1, random_below(&stream, 2) ? any : unit);
        assert_as_library(text);
        snprintf(text, sizeof text, "%.*f", (int)random_below(&stream, 24), unit);
        assert_as_library(text);
        /* Nineteen digits next to where the nearest double changes. */
        double low = random_normal(&stream) * pow(10, (double)random_below(&stream, 60) - 40);
        long double middle = ((long double)low + (long double)nextafter(low, INFINITY)) / 2;
        snprintf(text, sizeof text, "%.*Le", 15 + (int)random_below(&stream, 4), middle);
        assert_as_library(text);
    }
}

/* Digits as they come: up to thirty of them, the point anywhere, exponents that reach out of the doubles. */
TEST(random_digits_are_as_the_library_reads_them)
{
    random_stream stream = random_named(2, "decimal");
    for (size_t i = 0; i < test_long(4000, 40000); i++) {
        char text[64];
        size_t length = 0, digits = 1 + random_below(&stream, 30), point = random_below(&stream, digits + 10);
        if (random_below(&stream, 2)) text[length++] = '-';
        for (size_t d = 0; d < digits; d++) {
            text[length++] =
                (char)('0' + (d == 0 && point != 0 ? 1 + random_below(&stream, 9) : random_below(&stream, 10)));
            if (d == 0 && point == 0) text[length - 1] = '0';
            if (d == point && d + 1 < digits) text[length++] = '.';
        }
        if (random_below(&stream, 2))
            length += (size_t)snprintf(text + length, 8, "e%d", (int)random_below(&stream, 660) - 330);
        text[length] = 0;
        assert_as_library(text);
    }
}

TEST(the_locale_does_not_matter)
{
    char folder[] = "/tmp/eenet-test-XXXXXX";
    bool entered = comma_locale_enter(folder);
    double value = read_all("0.12345678901234567890123"), library = strtod("0.5", NULL);
    comma_locale_leave(folder);
    if (!entered) skip();
    assert_true(library == 0);
    assert_true(value == 0.12345678901234567890123);
}

enum { LIMBS = 8 };

static void multiply_by_five(uint32_t number[LIMBS])
{
    uint64_t carry = 0;
    for (size_t i = 0; i < LIMBS; i++) {
        carry += (uint64_t)number[i] * 5;
        number[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void add(uint32_t number[LIMBS], const uint32_t other[LIMBS])
{
    uint64_t carry = 0;
    for (size_t i = 0; i < LIMBS; i++) {
        carry += (uint64_t)number[i] + other[i];
        number[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static size_t bits_of(const uint32_t number[LIMBS])
{
    size_t bits = LIMBS * 32;
    while (bits > 0 && !(number[(bits - 1) / 32] >> (bits - 1) % 32 & 1)) bits--;
    return bits;
}

/* n = floor(2^b / 5^k) for some b: n * 5^k is below 2^b, and (n + 1) * 5^k is not. */
TEST(the_powers_of_a_fifth_are_cut_off_at_64_bits)
{
    uint32_t power[LIMBS] = {1};
    for (size_t i = 0; i < sizeof power_of_fifth / sizeof *power_of_fifth; i++) {
        uint64_t entry = power_of_fifth[i];
        uint32_t product[LIMBS] = {(uint32_t)entry, (uint32_t)(entry >> 32)};
        multiply_by_five(power);
        for (size_t k = 0; k <= i; k++) multiply_by_five(product);
        size_t bits = bits_of(product);
        add(product, power);
        assert_int_equal(entry >> 63, 1);
        assert_int_equal(bits_of(product), bits + 1);
    }
}

/* A value of NAN: a digit is missing at this place. */
TEST(stops_where_the_number_ends_or_a_digit_is_missing)
{
    static const struct {
        const char *text;
        size_t length;
        double value;
    } cases[] = {{"01", 1, 0},      {"1.5.5", 3, 1.5},    {"-0x1", 2, 0},   {"12 3456789", 2, 12}, {"1e5e5", 3, 1e5},
                 {"", 0, NAN},      {"-", 1, NAN},        {"-a", 1, NAN},   {"1.", 2, NAN},        {"1.e5", 2, NAN},
                 {"1e", 2, NAN},    {"1e+", 3, NAN},      {"1E-x", 3, NAN}, {".5", 0, NAN},        {"+1", 0, NAN},
                 {"1.5ee", 4, NAN}, {"3,444444444", 1, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value;
        const char *text = cases[i].text;
        bool fine = !isnan(cases[i].value);
        decimal_end got = decimal_read(text, text + strlen(text), &value);
        assert_int_equal(got.at - text, cases[i].length);
        assert_int_equal(got.fault, fine ? DECIMAL_FINE : DECIMAL_NO_DIGIT);
        assert_true(!fine || value == cases[i].value);
    }
    /* Nothing is read past the end. */
    static const char sample[] = "-12345678.9012345678901234567890e-12";
    for (size_t length = 0; length < sizeof sample; length++) {
        RELEASED_BY(guard_free) guard g;
        char *bytes = guard_end_bytes(&g, length), copy[sizeof sample] = "";
        memcpy(bytes, sample, length);
        memcpy(copy, sample, length);
        double value = 0, expected = 0;
        decimal_end got = decimal_read(bytes, bytes + length, &value);
        decimal_end there = decimal_read(copy, copy + length, &expected);
        assert_int_equal(got.at - bytes, there.at - copy);
        assert_int_equal(got.fault, there.fault);
        assert_true(value == expected);
    }
}

TEST(whole_numbers_as_people_write_them)
{
    static const struct {
        const char *text;
        uint64_t value;
        const char *rest;
    } fine[] = {{"0", 0, ""},
                {"10000", 10000, ""},
                {"007", 7, ""},
                {"1e4", 10000, ""},
                {"1E+4", 10000, ""},
                {"2.5e3", 2500, ""},
                {"12.50e1", 125, ""},
                {"3.0", 3, ""},
                {"0e99999", 0, ""},
                {"0.001e3", 1, ""},
                {"18446744073709551615", UINT64_MAX, ""},
                {"1.8446744073709551615e19", UINT64_MAX, ""},
                {"5x", 5, "x"},
                {"1e2,3", 100, ",3"}};
    static const char *const wrong[] = {"",  "-1", " 1", "1.5", ".5e1", "1.e2", "1e20",   "18446744073709551616",
                                        "x", "+1", "1e", "1ex", "1e-2", "2e19", "1.25e1", "1e99999999999999999999"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        uint64_t value = 77;
        const char *end = decimal_whole(fine[i].text, &value);
        if (!end || value != fine[i].value) fail_msg("%s: got %llu", fine[i].text, (unsigned long long)value);
        assert_string_equal(end, fine[i].rest);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t value = 77;
        if (decimal_whole(wrong[i], &value)) fail_msg("%s is no whole number", wrong[i]);
        assert_int_equal(value, 77);
    }
}
