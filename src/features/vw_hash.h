/* The feature hashing of Vowpal Wabbit (--hash strings), for those who compare with it or bring its models' settings:
 * MurmurHash3 of a feature with the hash of its namespace as the seed. tests/golden/vw_hashes.json has numbers of its
 * own reference output. */
#ifndef EENET_VW_HASH_H
#define EENET_VW_HASH_H

#include "round.h"

/* MurmurHash3, x86, 32 bits (Appleby, public domain, described at https://en.wikipedia.org/wiki/MurmurHash). */
uint32_t vw_murmur(const char *bytes, size_t count, uint32_t seed);

/* Of a namespace or a feature: blanks at the ends do not count, and digits alone are that number plus the seed. */
uint32_t vw_hash(const char *bytes, size_t count, uint32_t seed);

/* Of a feature of a round, whose text is `text`. chained: as --chain_hash has it. */
uint32_t vw_feature_hash(const round_feature *feature, const char *text, bool chained);

/* Of a product. */
static inline uint32_t vw_product_hash(uint32_t left, uint32_t right)
{
    return (16777619U * left) ^ right;
}

/* Of the feature that every example has. */
static const uint32_t VW_CONSTANT = 11650396;

#endif
