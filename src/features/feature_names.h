/* The dictionary of names: each has a place of its own, in the order in which they came, and so has each product of
 * two. Nothing is ever removed, so that a copy is brought up to date by what was added since. */
#ifndef EENET_FEATURE_NAMES_H
#define EENET_FEATURE_NAMES_H

#include "base/archive.h"
#include "base/memory.h"

static const uint32_t NO_PLACE = UINT32_MAX;

/* What a place is. A product is known by the places of its two, and keeps no text. */
typedef struct named_place {
    uint64_t hash, count;   /* count: how often it came */
    uint32_t first, second; /* where its text starts, and its bytes; of a product the places of left and right */
    uint32_t scale;         /* of a number, counted from 1, see features.h; 0: it has none */
    uint32_t is_product;
} named_place;

typedef struct feature_names {
    memory *memory;
    size_t most; /* places */
    named_place *places;
    size_t count, capacity;
    uint64_t *slots; /* (slot_count) by hash: some of its bits, and the place counted from 1; 0: free */
    size_t slot_count;
    char *text;
    size_t text_used, text_capacity;
} feature_names;

/* Of a name, and of a product of two that have these; the same in every process. */
uint64_t names_hash(const char *bytes, size_t count);
uint64_t names_product_hash(uint64_t left, uint64_t right);

/* At most so many places, of which the first is that of the constant. */
ee_status names_create(feature_names *self, memory *owner, size_t most, ee_error *error);

/* The place of a name or product, or NO_PLACE. */
uint32_t names_find(const feature_names *self, uint64_t hash, const char *bytes, size_t count);
uint32_t names_find_product(const feature_names *self, uint64_t hash, uint32_t left, uint32_t right);

/* Room for so many more names and bytes of them, or for all that may come: then adding cannot fail. */
ee_status names_reserve(feature_names *self, size_t names, size_t bytes, ee_error *error);

/* The place of a new name or product; NO_PLACE where all places are taken. */
uint32_t names_add(feature_names *self, uint64_t hash, const char *bytes, size_t count);
uint32_t names_add_product(feature_names *self, uint64_t hash, uint32_t left, uint32_t right);

/* Takes over what `from` has more. The two were created alike, and this one is added to by this function alone. */
ee_status names_follow(feature_names *self, const feature_names *from, ee_error *error);

/* The name of a place as text, as snprintf does. */
size_t names_format(const feature_names *self, uint32_t place, char *text, size_t capacity);

void names_archive(feature_names *self, archive *a);

#endif
