#include "json_writing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool json_writing_grow(json_writing *self, size_t more)
{
    if (more > JSON_WRITING_MOST - self->used) return false;
    size_t needed = self->used + more, capacity = self->capacity ? self->capacity : 1024;
    while (capacity < needed) capacity *= 2;
    char *grown = realloc(self->bytes, capacity);
    if (!grown) return false;
    self->bytes = grown;
    self->capacity = capacity;
    return true;
}

void json_writing_release(json_writing *self)
{
    free(self->bytes);
    *self = (json_writing){0};
}

void json_put_bytes(json_writing *self, const char *bytes, size_t count)
{
    if (count) memcpy(self->bytes + self->used, bytes, count);
    self->used += count;
}

/* ---- numbers ---- */

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                            "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

/* The eight digits of a number below 10^8, with leading zeros. */
static void put_eight(char *digits, uint32_t number)
{
    uint32_t high = number / 10000, low = number % 10000;
    memcpy(digits, pairs + 2 * (high / 100), 2);
    memcpy(digits + 2, pairs + 2 * (high % 100), 2);
    memcpy(digits + 4, pairs + 2 * (low / 100), 2);
    memcpy(digits + 6, pairs + 2 * (low % 100), 2);
}

/* Divides in steps of 32 bits, which is faster than 64. */
static void put_digits(json_writing *self, uint64_t number)
{
    enum { MOST_DIGITS = 24, EIGHT = 100000000 };
    char digits[MOST_DIGITS], *start = digits + sizeof digits;
    for (; number >= EIGHT; number /= EIGHT) put_eight(start -= 8, (uint32_t)(number % EIGHT));
    uint32_t rest = (uint32_t)number;
    for (; rest >= 100; rest /= 100) memcpy(start -= 2, pairs + 2 * (rest % 100), 2);
    if (rest >= 10)
        memcpy(start -= 2, pairs + 2 * rest, 2);
    else
        *--start = (char)('0' + rest);
    json_put_bytes(self, start, (size_t)(digits + sizeof digits - start));
}

void json_put_integer(json_writing *self, int64_t value)
{
    if (value < 0) json_put(self, '-');
    put_digits(self, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Writes digits times a power of ten. A double is c 2^e with c of 53 bits; times 10^k it is c 5^k 2^(e + k), and c
 * 5^k fits in 128 bits up to k = 27. k leaves 18 or 19 digits, truncated; doubles differ in the 17th at the latest. */
static bool put_fraction(json_writing *self, double size)
{
#if defined(__SIZEOF_INT128__)
    enum { MOST_POWER = 27, STEP = 13 }; /* 5^13 has 31 bits */
    static const uint32_t fives[] = {1,     5,      25,      125,     625,      3125,      15625,
                                     78125, 390625, 1953125, 9765625, 48828125, 244140625, 1220703125};
    static const double smallest = 1e-10, largest = 9007199254740992.0; /* 2^53: all larger doubles are integers */
    if (!(size >= smallest && size < largest)) return false;
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023; /* of the highest bit */
    __extension__ unsigned __int128 product = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    int tens = exponent * 1233 >> 12; /* floor(log10(size)), or one less */
    int power = 17 - tens < MOST_POWER ? 17 - tens : MOST_POWER;
    for (int left = power; left > 0; left -= STEP) product *= fives[left < STEP ? left : STEP];
    int shift = 52 - exponent - power;
    put_digits(self, (uint64_t)(shift > 0 ? product >> shift : product << -shift));
    json_put_bytes(self, "e-", 2);
    json_put_bytes(self, pairs + 2 * power, 2);
    return true;
#else
    (void)self, (void)size;
    return false;
#endif
}

bool json_put_double(json_writing *self, double value)
{
    static const double most_whole = 9223372036854775808.0; /* 2^63 */
    size_t start = self->used;
    double size = fabs(value);
    if (signbit(value)) json_put(self, '-');
    bool done = size < most_whole && size == (double)(int64_t)size;
    if (done)
        put_digits(self, (uint64_t)size);
    else
        done = put_fraction(self, size);
    if (!done) self->used = start;
    return done;
}

/* ---- texts ---- */

/* These write at out and return the position after it. A local pointer stays in a register; a struct member would be
 * reloaded after every char that is written. */
static char *put_escape(char *out, uint32_t character)
{
    static const char digits[] = "0123456789abcdef";
    *out++ = '\\';
    if (character == '"' || character == '\\') {
        *out++ = (char)character;
        return out;
    }
    memcpy(out, "u00", 3);
    out[3] = digits[character >> 4];
    out[4] = digits[character & 15];
    return out + 5;
}

static char *put_utf8(char *out, uint32_t character)
{
    if (character < 0x800) {
        *out++ = (char)(0xc0 | character >> 6);
    } else if (character < 0x10000) {
        *out++ = (char)(0xe0 | character >> 12);
        *out++ = (char)(0x80 | (character >> 6 & 0x3f));
    } else {
        *out++ = (char)(0xf0 | character >> 18);
        *out++ = (char)(0x80 | (character >> 12 & 0x3f));
        *out++ = (char)(0x80 | (character >> 6 & 0x3f));
    }
    *out++ = (char)(0x80 | (character & 0x3f));
    return out;
}

static bool is_plain(uint32_t character)
{
    return character - ' ' < 0x80 - ' ' && character != '"' && character != '\\';
}

bool json_put_characters(json_writing *self, const uint32_t *characters, size_t count, bool quoted)
{
    char *out = self->bytes + self->used;
    if (quoted) *out++ = '"';
    for (size_t i = 0; i < count; i++) {
        uint32_t character = characters[i];
        if (is_plain(character))
            *out++ = (char)character;
        else if (character >= 0xd800 && character < 0xe000)
            return false;
        else if (character >= 0x80)
            out = put_utf8(out, character);
        else if (quoted)
            out = put_escape(out, character);
        else
            *out++ = (char)character;
    }
    if (quoted) *out++ = '"';
    self->used = (size_t)(out - self->bytes);
    return true;
}
