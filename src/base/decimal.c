#include "decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decimal_table.h"
#include "octets.h"

/* No number half-way between two doubles has more than 767 digits: further digits only say whether the number is above
 * it. */
enum { DIGITS_THAT_COUNT = 768, DIGITS_OF_MANTISSA = 19 };

/* The powers of ten that are doubles. */
static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { MOST_POWER = sizeof power_of_ten / sizeof *power_of_ten - 1 };

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

/* Adds the digits from `at` on to the mantissa, modulo 2^64. Inline, so that it stays in a register. */
static inline __attribute__((always_inline)) const char *read_digits(const char *at, const char *end,
                                                                     uint64_t *mantissa)
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

/* Adds the exponent after an e. Sums beyond any useful exponent are capped. */
static const char *read_exponent(const char *at, const char *end, bool negative, int64_t *exponent)
{
    int64_t sum = 0;
    for (; is_digit(at, end); at++)
        if (sum < INT64_MAX / 100) sum = sum * 10 + (*at - '0');
    *exponent += negative ? -sum : sum;
    return at;
}

/* ---- values ---- */

/* Rare numbers go to the C library. They are passed without the point, which depends on the locale. */
static double read_slowly(const char *digits, const char *end, int64_t exponent)
{
    char text[DIGITS_THAT_COUNT + 32];
    size_t length = 0;
    bool more = false;
    for (const char *at = digits; at < end; at++) {
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

/* For numbers of sixteen and more digits, as programs print doubles: mantissa / 10^tenths, mantissa not zero, from the
 * first 64 bits of the product with 1/5^tenths (Lemire, Number parsing at a gigabyte per second, 2021). Returns false
 * if these bits do not determine the nearest double, about once in a thousand numbers. */
static bool scale_down(uint64_t mantissa, int64_t tenths, double *value)
{
#if defined(__SIZEOF_INT128__)
    if (tenths > (int64_t)(sizeof power_of_fifth / sizeof *power_of_fifth)) return false;
    int zeros = __builtin_clzll(mantissa);
    __extension__ unsigned __int128 product = (unsigned __int128)(mantissa << zeros) * power_of_fifth[tenths - 1];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    /* The whole product is above high by less than two: one for low, one for what the table cuts off. */
    int shift = 10 + (int)(high >> 63);
    uint64_t kept = high >> shift, half = (uint64_t)1 << (shift - 1), rest = high & (2 * half - 1);
    if (rest == half - 1 || (rest == half && low == 0)) return false;
    kept += rest >= half;
    /* kept is 2^52 to 2^53, whose first bit is not stored; 217706/65536 is the binary logarithm of ten. */
    int64_t exponent = shift + 1 - zeros + ((-tenths * 217706) >> 16);
    uint64_t bits = ((uint64_t)(exponent + 52 + 1023) << 52) + (kept - ((uint64_t)1 << 52));
    memcpy(value, &bits, sizeof bits);
    return true;
#else
    (void)mantissa, (void)tenths, (void)value;
    return false;
#endif
}

/* mantissa times 10^exponent, if a few steps give the nearest double. */
static inline bool scale(uint64_t mantissa, int64_t exponent, double *value)
{
    bool exact = mantissa <= (uint64_t)1 << 53; /* both are exact doubles, and the result is rounded once */
    if (exponent == 0)
        *value = (double)mantissa;
    else if (exact && exponent < 0 && exponent >= -MOST_POWER)
        *value = (double)mantissa / power_of_ten[-exponent];
    else if (exact && exponent > 0 && exponent <= MOST_POWER)
        *value = (double)mantissa * power_of_ten[exponent];
    else
        return mantissa && exponent < 0 && scale_down(mantissa, -exponent, value);
    return true;
}

/* Whether the digits from `digits` to end, including any point, fit into a mantissa. */
static inline bool are_few(const char *digits, const char *point, const char *end)
{
    while (end - digits > DIGITS_OF_MANTISSA && (*digits == '0' || *digits == '.')) digits++;
    return end - digits - (digits < point && point < end) <= DIGITS_OF_MANTISSA;
}

static decimal_end end_at(const char *at, decimal_fault fault)
{
    return (decimal_end){at, fault};
}

/* Faults are detected from the characters, not from the value, so that nothing waits for a division. */
decimal_end decimal_read(const char *at, const char *end, double *value)
{
    bool negative = at < end && *at == '-';
    at += negative;
    if (!is_digit(at, end)) return end_at(at, DECIMAL_NO_DIGIT);
    const char *digits = at;
    uint64_t mantissa = (uint64_t)(*at++ - '0');
    int64_t exponent = 0;
    if (is_digit(at, end) && mantissa != 0) at = read_digits(at, end, &mantissa); /* a leading zero is a whole number */
    const char *point = at, *behind = at;
    if (at < end && *at == '.') {
        at = behind = read_digits(point + 1, end, &mantissa);
        if (at == point + 1) return end_at(at, DECIMAL_NO_DIGIT);
        exponent = point + 1 - at;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        bool below = at < end && *at == '-';
        at += at < end && (*at == '-' || *at == '+');
        if (!is_digit(at, end)) return end_at(at, DECIMAL_NO_DIGIT);
        at = read_exponent(at, end, below, &exponent);
    }
    double positive;
    if (!are_few(digits, point, behind) || !scale(mantissa, exponent, &positive)) {
        positive = read_slowly(digits, behind, exponent);
        if (isinf(positive)) return end_at(at, DECIMAL_TOO_LARGE);
    }
    *value = negative ? -positive : positive;
    return end_at(at, DECIMAL_FINE);
}

/* ---- whole numbers ---- */

static bool is_plain_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

static bool append_digit(char digit, uint64_t *value)
{
    uint64_t last = (uint64_t)(digit - '0');
    if (*value > (UINT64_MAX - last) / 10) return false;
    *value = 10 * *value + last;
    return true;
}

/* The digits after the point that the exponent moves before it, and zeros; the remaining digits must be zeros. */
static bool move_point(const char *fraction, size_t places, uint64_t exponent, uint64_t *value)
{
    size_t moved = 0;
    for (; moved < exponent; moved++) {
        if (moved >= places && *value == 0) break;
        if (!append_digit(moved < places ? fraction[moved] : '0', value)) return false;
    }
    for (; moved < places; moved++)
        if (fraction[moved] != '0') return false;
    return true;
}

const char *decimal_whole(const char *at, uint64_t *value)
{
    uint64_t number = 0, exponent = 0;
    if (!is_plain_digit(*at)) return NULL;
    for (; is_plain_digit(*at); at++)
        if (!append_digit(*at, &number)) return NULL;
    const char *fraction = at + 1, *end = fraction;
    if (*at == '.') {
        while (is_plain_digit(*end)) end++;
        if (end == fraction) return NULL;
        at = end;
    }
    size_t places = (size_t)(end - fraction);
    if (*at == 'e' || *at == 'E') {
        at += at[1] == '+' ? 2 : 1;
        if (!is_plain_digit(*at)) return NULL;
        for (; is_plain_digit(*at); at++)
            if (!append_digit(*at, &exponent)) return NULL;
    }
    if (!move_point(fraction, places, exponent, &number)) return NULL;
    *value = number;
    return at;
}
