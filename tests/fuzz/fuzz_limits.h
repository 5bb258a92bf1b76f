/* Models that fuzz_model does not try: a sound head may rightly ask for gigabytes or hours. make_corpus refuses to
 * write one of them, which would never be tried. */
#ifndef EENET_FUZZ_LIMITS_H
#define EENET_FUZZ_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The number is that of an option; the defaults of those that a seed leaves alone are mostly below it. */
enum { FUZZ_MOST_DIM = 64, FUZZ_LARGEST_NUMBER = 1000 };

/* Takes a u64 from place on; 0 where there is none. */
static inline uint64_t fuzz_take_number(const uint8_t *bytes, size_t size, size_t *place)
{
    uint64_t number = 0;
    if (*place > size || size - *place < sizeof number) return 0;
    memcpy(&number, bytes + *place, sizeof number);
    *place += sizeof number;
    return number;
}

/* Digits after a point do not count. */
static inline bool fuzz_has_large_number(const uint8_t *text, size_t length, uint64_t largest)
{
    uint64_t number = 0;
    bool fraction = false;
    for (size_t i = 0; i < length; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';
        fraction = text[i] == '.' || (fraction && digit);
        number = digit && !fraction ? number * 10 + (uint64_t)(text[i] - '0') : 0;
        if (number > largest) return true;
    }
    return false;
}

/* The head is: 8 bytes, version, policy, options (two texts, each after its length), dimension. */
static inline bool fuzz_asks_for_much(const uint8_t *bytes, size_t size)
{
    size_t place = 16;
    uint64_t length = fuzz_take_number(bytes, size, &place);
    if (length > size) return false;
    place += length;
    length = fuzz_take_number(bytes, size, &place);
    if (length > size || place > size - length) return false;
    if (fuzz_has_large_number(bytes + place, length, FUZZ_LARGEST_NUMBER)) return true;
    place += length;
    return fuzz_take_number(bytes, size, &place) > FUZZ_MOST_DIM;
}

#endif
