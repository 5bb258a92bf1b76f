#include "decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "octets.h"

/* No number that lies half-way between two doubles has more digits than 767: those behind them only say whether the
 * number is above it. */
enum { DIGITS_THAT_COUNT = 768, DIGITS_OF_MANTISSA = 19 };

/* The powers of ten that are doubles. */
static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { MOST_POWER = sizeof power_of_ten / sizeof *power_of_ten - 1 };

/* A number as it is written: the digits from `digits` to `end`, times ten to exponent. */
typedef struct decimal {
    const char *digits, *point, *end; /* the point is among the digits, or at the end where there is none */
    uint64_t mantissa;                /* of all digits, where they are few enough */
    int64_t exponent;
} decimal;

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

/* ---- digits ---- */

/* The number that eight digits (0 to 9, not '0' to '9') make. */
static uint64_t join_digits(uint64_t digits)
{
    digits = digits * 10 + (digits >> 8);
    uint64_t low = (digits & 0x000000ff000000ff) * 0x000f424000000064;
    uint64_t high = ((digits >> 16) & 0x000000ff000000ff) * 0x0000271000000001;
    return (low + high) >> 32;
}

/* mantissa with the digits from `at` on behind it, modulo 2^64. */
static const char *read_digits(const char *at, const char *end, uint64_t *mantissa)
{
    static const uint32_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    for (; end - at >= 8; at += 8) {
        uint64_t digits = octets_load(at) ^ octets_all('0');
        uint64_t others = (((digits & octets_all(0x7f)) + octets_all(0x80 - 10)) | digits) & octets_all(0x80);
        if (others) {
            unsigned count = octets_first(others);
            *mantissa = *mantissa * power[count] + join_digits(digits << (56 - 8 * count) << 8);
            return at + count;
        }
        *mantissa = *mantissa * 100000000 + join_digits(digits);
    }
    for (; is_digit(at, end); at++) *mantissa = *mantissa * 10 + (uint64_t)(*at - '0');
    return at;
}

/* Reads the digits behind an e. Some that no number can have stand for all that are larger. */
static const char *read_exponent(const char *at, const char *end, int64_t *exponent)
{
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (!is_digit(at, end)) return NULL;
    int64_t sum = 0;
    for (; is_digit(at, end); at++)
        if (sum < INT64_MAX / 100) sum = sum * 10 + (*at - '0');
    *exponent += negative ? -sum : sum;
    return at;
}

/* ---- values ---- */

/* The C library reads what is rare: the digits are given to it without their point, which is another in some locales.
 */
static double read_slowly(const decimal *number)
{
    char text[DIGITS_THAT_COUNT + 32];
    size_t length = 0;
    int64_t exponent = number->exponent;
    bool more = false;
    for (const char *at = number->digits; at < number->end; at++) {
        if (*at == '.' || (*at == '0' && length == 0)) continue;
        if (length < DIGITS_THAT_COUNT) {
            text[length++] = *at;
            continue;
        }
        more = more || *at != '0';
        exponent++;
    }
    if (length == 0) return 0;
    if (more) {
        text[length++] = '1';
        exponent--;
    }
    int64_t first = exponent + (int64_t)length; /* the number is 0.1 to 1 times ten to this */
    if (first > 400) return INFINITY;
    if (first < -400) return 0;
    snprintf(text + length, sizeof text - length, "e%d", (int)exponent);
    return strtod(text, NULL);
}

static double value_of(const decimal *number)
{
    const char *digits = number->digits;
    while (number->end - digits > DIGITS_OF_MANTISSA && (*digits == '0' || *digits == '.')) digits++;
    bool has_point = digits < number->point && number->point < number->end;
    if (number->end - digits - has_point > DIGITS_OF_MANTISSA) return read_slowly(number);
    /* Two doubles without an error give one that is rounded once. */
    int64_t exponent = number->exponent;
    if (number->mantissa <= (uint64_t)1 << 53) {
        if (exponent == 0) return (double)number->mantissa;
        if (exponent < 0 && exponent >= -MOST_POWER) return (double)number->mantissa / power_of_ten[-exponent];
        if (exponent > 0 && exponent <= MOST_POWER) return (double)number->mantissa * power_of_ten[exponent];
    }
    return read_slowly(number);
}

static const char *want_digit(const char *at, double *value)
{
    *value = NAN;
    return at;
}

const char *decimal_read(const char *at, const char *end, double *value)
{
    bool negative = at < end && *at == '-';
    at += negative;
    if (!is_digit(at, end)) return want_digit(at, value);
    decimal number = {.digits = at, .mantissa = (uint64_t)(*at - '0')};
    at++;
    if (number.mantissa != 0) at = read_digits(at, end, &number.mantissa); /* a zero in front stands alone */
    number.point = number.end = at;
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        at = read_digits(at, end, &number.mantissa);
        if (at == fraction) return want_digit(at, value);
        number.exponent = fraction - at;
        number.end = at;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        const char *behind = read_exponent(at + 1, end, &number.exponent);
        if (!behind) return want_digit(at + 1 + (at + 1 < end && (at[1] == '-' || at[1] == '+')), value);
        at = behind;
    }
    double positive = value_of(&number);
    *value = negative ? -positive : positive;
    return at;
}
