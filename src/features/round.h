/* A parsed round of named features: those of the context and of each action. Parsing needs no bandit: features.h gives
 * names their places and scales numbers. */
#ifndef EENET_ROUND_H
#define EENET_ROUND_H

#include "base/json.h"

/* A feature. Its name is path, key and value, such as "user.geo.city=Bonn", in the text of the round. */
typedef struct round_feature {
    uint64_t hash;  /* of its name: names_hash */
    double value;   /* the number; 1 for an indicator */
    uint32_t text;  /* start of its name */
    uint32_t bytes; /* length of the whole name */
    uint32_t path;  /* length of the namespaces: 8, for "user.geo" */
    uint32_t inner; /* start of the innermost namespace: 5 */
    uint32_t key;   /* start of the key: 9 */
    uint32_t key_bytes;
    uint32_t word;    /* start of the value: 14; the end if there is none */
    uint32_t element; /* in an array: the numbers before it */
    uint32_t sides;   /* for products, see products.h */
    bool is_number, is_element, has_word;
    bool is_id;      /* it is the id of its action */
    bool is_implied; /* added for the id: no feature of the action has its value */
} round_feature;

typedef struct feature_list {
    round_feature *items;
    size_t count, capacity;
} feature_list;

/* A feature with its place, while arms are encoded. */
typedef struct placed_feature {
    uint64_t hash;
    double value;
    uint32_t place, sides;
} placed_feature;

typedef struct feature_pair {
    uint32_t left, right; /* index among the placed features */
} feature_pair;

/* A term of an entry of an arm. Features are numbered from the first of the context; those of the arm follow. */
typedef struct feature_term {
    double value; /* its value in the arm */
    uint32_t place;
    uint32_t left, right; /* right NO_FEATURE: not a product; both: the constant */
} feature_term;

static const uint32_t NO_FEATURE = UINT32_MAX;

/* Memory in which arms are encoded. */
typedef struct encoding_room {
    placed_feature *placed; /* of one arm: those of the context, then its own */
    uint32_t *rights;       /* right sides of products */
    feature_pair *pairs;
    uint64_t *entries, *sorted; /* of one arm: index and value in one word */
    size_t placed_capacity, right_capacity, pair_capacity, entry_capacity, sorted_capacity;
    size_t *starts;
    uint32_t *indices;
    float *values;
    size_t start_capacity, index_capacity, value_capacity;
    feature_term *terms; /* of one arm, if requested */
    size_t term_capacity;
} encoding_room;

struct ee_round {
    memory memory; /* all blocks of the round; it is the first */
    json_room json;
    char *text; /* (text_used) names, one after the other */
    size_t text_used, text_capacity;
    feature_list context, actions; /* of all actions */
    size_t *ends;                  /* (arms) the end of each action */
    uint64_t *ids;                 /* (arms) the hash of its id; its position without one */
    size_t arms, end_capacity, id_capacity;
    size_t identified;       /* actions with an id */
    const ee_limits *limits; /* of the caller; NULL: none */
    encoding_room room;
};

/* Packing: the parsed features, without the encoded arms, as one block of bytes that other threads may read. round_pack
 * writes round_packed_size bytes; round_unpack replaces the features of self. */
size_t round_packed_size(const ee_round *self);
void round_pack(const ee_round *self, void *to);
ee_status round_unpack(ee_round *self, const void *from, ee_error *error);

/* The features of an action, and their number. */
static inline round_feature *round_action(const ee_round *self, size_t arm, size_t *count)
{
    size_t start = arm ? self->ends[arm - 1] : 0;
    *count = self->ends[arm] - start;
    return self->actions.items + start;
}

/* A feature of an arm by its number in a feature_term; its name is in the text of the round. */
static inline const round_feature *round_feature_at(const ee_round *self, size_t arm, size_t number)
{
    size_t count;
    if (number < self->context.count) return &self->context.items[number];
    return round_action(self, arm, &count) + (number - self->context.count);
}

#endif
