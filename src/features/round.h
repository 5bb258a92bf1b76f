/* A round of named features as it was parsed: what the context and each action have, by name. Parsing knows no bandit:
 * which place a name has and how a number is scaled is the business of features.h. */
#ifndef EENET_ROUND_H
#define EENET_ROUND_H

#include "base/json.h"

/* A feature: its name is path, key and value, as "user.geo.city=Bonn", and lies in the round's text. */
typedef struct round_feature {
    uint64_t hash;  /* of its name, see names_hash */
    double value;   /* of a number; 1 of an indicator */
    uint32_t text;  /* where its name starts */
    uint32_t bytes; /* of the whole name */
    uint32_t path;  /* bytes of the namespaces: 8, as in "user.geo" */
    uint32_t inner; /* where the innermost of them starts: 5 */
    uint32_t key;   /* where the key starts: 9 */
    uint32_t key_bytes;
    uint32_t word;    /* where the value starts: 14; at the end where there is none */
    uint32_t element; /* of an array: how many numbers came before it */
    uint32_t sides;   /* of the products: see products.h */
    bool is_number, is_element, has_word;
    bool is_id;      /* it is the id of its action */
    bool is_implied; /* by the id: no feature of the action says it */
} round_feature;

typedef struct feature_list {
    round_feature *items;
    size_t count, capacity;
} feature_list;

/* A feature with its place, while arms are made. */
typedef struct placed_feature {
    uint64_t hash;
    double value;
    uint32_t place, sides;
} placed_feature;

typedef struct feature_pair {
    uint32_t left, right; /* among the placed features */
} feature_pair;

/* Of an entry of an arm: what it is made of. Features are counted from the context's first, the arm's own behind. */
typedef struct feature_term {
    double value; /* as it enters the arm */
    uint32_t place;
    uint32_t left, right; /* NO_FEATURE: it is no product; both: it is the constant */
} feature_term;

static const uint32_t NO_FEATURE = UINT32_MAX;

/* Where arms are made, and lie then. */
typedef struct encoding_room {
    placed_feature *placed; /* of one arm: the context's, then its own */
    uint32_t *rights;       /* what a left side is multiplied with */
    feature_pair *pairs;
    uint64_t *entries, *sorted; /* of one arm: index and value in one word */
    size_t placed_capacity, right_capacity, pair_capacity, entry_capacity, sorted_capacity;
    size_t *starts;
    uint32_t *indices;
    float *values;
    size_t start_capacity, index_capacity, value_capacity;
    feature_term *terms; /* of one arm, where somebody asked */
    size_t term_capacity;
} encoding_room;

struct ee_round {
    memory memory; /* all blocks of the round, itself the first */
    json_room json;
    char *text; /* (text_used) names, one after the other */
    size_t text_used, text_capacity;
    feature_list context, actions; /* the actions' one after the other */
    size_t *ends;                  /* (arms) of each action's */
    uint64_t *ids;                 /* (arms) the hash of its id; its position where it has none */
    size_t arms, end_capacity, id_capacity;
    size_t identified; /* actions that have an id */
    encoding_room room;
};

/* Packing: the parsed features as one block of bytes, which other threads may read. The arms made from them are left
 * out. round_pack writes round_packed_size bytes; round_unpack replaces the features of self. */
size_t round_packed_size(const ee_round *self);
void round_pack(const ee_round *self, void *to);
ee_status round_unpack(ee_round *self, const void *from, ee_error *error);

/* The features of an action, and how many. */
static inline round_feature *round_action(const ee_round *self, size_t arm, size_t *count)
{
    size_t start = arm ? self->ends[arm - 1] : 0;
    *count = self->ends[arm] - start;
    return self->actions.items + start;
}

/* A feature of an arm, as a feature_term counts them; its name lies in the round's text. */
static inline const round_feature *round_feature_at(const ee_round *self, size_t arm, size_t number)
{
    size_t own;
    if (number < self->context.count) return &self->context.items[number];
    return round_action(self, arm, &own) + (number - self->context.count);
}

#endif
