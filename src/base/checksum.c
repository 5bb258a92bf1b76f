/* Two independent 64-bit sums. The first folds products of 128 bits, the second multiplies
 * and rotates, which loses nothing: two inputs of one length that differ in one word of eight bytes never agree in
 * it. */
#include "checksum.h"

#include "octets.h"

/* Odd numbers without a pattern: the fractions of the roots of the first primes. */
static const uint64_t ROOT_2 = 0x6a09e667f3bcc909, ROOT_3 = 0xbb67ae8584caa73b, ROOT_5 = 0x3c6ef372fe94f82b,
                      ROOT_7 = 0xa54ff53a5f1d36f1;

/* The exclusive or of both halves of the product. */
static uint64_t fold(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else /* a 32-bit machine: of four smaller products */
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low = a_low * b_low, cross = a_high * b_low + (low >> 32);
    uint64_t middle = a_low * b_high + (uint32_t)cross;
    return (middle << 32 | (uint32_t)low) ^ (a_high * b_high + (cross >> 32) + (middle >> 32));
#endif
}

static uint64_t rotate(uint64_t word, unsigned by)
{
    return word << by | word >> (64 - by);
}

/* Every bit of the result depends on every bit of the word. */
static uint64_t spread(uint64_t word)
{
    word = (word ^ word >> 32) * ROOT_2;
    word = (word ^ word >> 29) * ROOT_5;
    return word ^ word >> 32;
}

static void take(uint64_t sum[2], uint64_t first, uint64_t second)
{
    sum[0] = fold(first ^ ROOT_2, second ^ sum[0]) ^ rotate(sum[0], 23);
    sum[1] = rotate((sum[1] ^ first) * ROOT_3, 29);
    sum[1] = rotate((sum[1] ^ second) * ROOT_7, 31);
}

void checksum_128(const void *bytes, size_t size, uint64_t out[2])
{
    uint64_t sum[2] = {ROOT_5 ^ size, ROOT_7 + size};
    const char *at = bytes;
    size_t left = size;
    for (; left >= 16; at += 16, left -= 16) take(sum, octets_load(at), octets_load(at + 8));
    char rest[16] = {0}; /* the length, which is in the sums, tells how much of it counts */
    if (left) memcpy(rest, at, left);
    take(sum, octets_load(rest), octets_load(rest + 8));
    out[0] = spread(sum[0] ^ rotate(sum[1], 17));
    out[1] = spread(sum[1]);
}

uint64_t checksum_64(const void *bytes, size_t size)
{
    uint64_t both[2];
    checksum_128(bytes, size, both);
    return both[1];
}
