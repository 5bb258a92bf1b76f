/* The feature hashing of Vowpal Wabbit (--hash strings), to compare with it or take over the settings of its models:
 * MurmurHash3 of a feature, with the hash of its namespace as the seed. tests/golden/vw_hashes.json has numbers from
 * its reference output. */
#ifndef EENET_VW_HASH_H
#define EENET_VW_HASH_H

#include "round.h"

/* MurmurHash3, x86, 32 bits (Appleby, public domain, described at https://en.wikipedia.org/wiki/MurmurHash). */
uint32_t vw_murmur(const char *bytes, size_t count, uint32_t seed);

/* The hash of a namespace or feature: blanks at the ends do not count, and a text of digits is that number plus the
 * seed. */
uint32_t vw_hash(const char *bytes, size_t count, uint32_t seed);

/* The hash of a feature of a round with this text. chained: like --chain_hash. */
uint32_t vw_feature_hash(const round_feature *feature, const char *text, bool chained);

/* The hash of a product. */
static inline uint32_t vw_product_hash(uint32_t left, uint32_t right)
{
    return (16777619U * left) ^ right;
}

/* The hash of the constant feature. */
static const uint32_t VW_CONSTANT = 11650396;

#endif
