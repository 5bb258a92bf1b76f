/* Searches eight bytes at once. The first byte of the text is the lowest. */
#ifndef EENET_OCTETS_H
#define EENET_OCTETS_H

#include <stdint.h>
#include <string.h>

/* A word with this byte eight times. */
static inline uint64_t octets_all(unsigned char byte)
{
    return (uint64_t)byte * 0x0101010101010101;
}

static inline uint64_t octets_load(const char *at)
{
    uint64_t octets;
    memcpy(&octets, at, sizeof octets);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    octets = __builtin_bswap64(octets);
#endif
    return octets;
}

/* The index of the first byte with a bit set; octets must not be zero. */
static inline unsigned octets_first(uint64_t octets)
{
    return (unsigned)__builtin_ctzll(octets) / 8;
}

#endif
