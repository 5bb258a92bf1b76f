/* The dictionary of names: each name, and each product of two, has its place, in the order of first use. Nothing is
 * ever removed, so that a copy is updated with what was added since. */
#ifndef EENET_FEATURE_NAMES_H
#define EENET_FEATURE_NAMES_H

#include "base/archive.h"
#include "base/memory.h"

static const uint32_t NO_PLACE = UINT32_MAX;

/* The contents of a place. A product is identified by the places of its two names, and has no text. */
typedef struct named_place {
    uint64_t hash, count;   /* count: times seen */
    uint32_t first, second; /* offset and length of its text; for a product, the places of left and right */
    uint32_t scale;         /* of a number, from 1, see features.h; 0: none */
    uint32_t is_product;
} named_place;

typedef struct feature_names {
    memory *memory;
    size_t most; /* places */
    named_place *places;
    size_t count, capacity;
    uint64_t *slots; /* (slot_count) by hash: some bits of it, and the place plus 1; 0: free */
    size_t slot_count;
    char *text;
    size_t text_used, text_capacity;
} feature_names;

/* The hash of a name, and of a product of two names with these hashes; the same in every process. */
uint64_t names_hash(const char *bytes, size_t count);
uint64_t names_product_hash(uint64_t left, uint64_t right);

/* At most this many places; the first is that of the constant. */
ee_status names_create(feature_names *self, memory *owner, size_t most, ee_error *error);

/* The place of a name or product; NO_PLACE if it has none. */
uint32_t names_find(const feature_names *self, uint64_t hash, const char *bytes, size_t count);
uint32_t names_find_product(const feature_names *self, uint64_t hash, uint32_t left, uint32_t right);

/* Reserves memory for this many more names and bytes, or for all that may come: adding them cannot fail. */
ee_status names_reserve(feature_names *self, size_t names, size_t bytes, ee_error *error);

/* Adds a name or product and returns its place; NO_PLACE if all places are taken. */
uint32_t names_add(feature_names *self, uint64_t hash, const char *bytes, size_t count);
uint32_t names_add_product(feature_names *self, uint64_t hash, uint32_t left, uint32_t right);

/* Adds what `from` has more. Both were created alike, and only this function adds to this one. */
ee_status names_follow(feature_names *self, const feature_names *from, ee_error *error);

/* Writes the name of a place, like snprintf. */
size_t names_format(const feature_names *self, uint32_t place, char *text, size_t capacity);

void names_archive(feature_names *self, archive *a);

#endif
