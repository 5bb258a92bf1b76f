/* Which features of an arm are multiplied: "context*action", "user*item+device*item", "none". A word is `context` (all
 * that the arms share), `action` (all of the action), or the name of a namespace, with everything in it at any
 * depth. */
#ifndef EENET_PRODUCTS_H
#define EENET_PRODUCTS_H

#include "round.h"

enum { MOST_PRODUCTS = 16, PRODUCTS_SIZE = 96 };

typedef struct product_word {
    const char *bytes; /* in the text */
    size_t length;
} product_word;

typedef struct product_terms {
    char text[PRODUCTS_SIZE];
    product_word words[2 * MOST_PRODUCTS]; /* left and right of each term */
    bool squares[MOST_PRODUCTS];           /* left and right are the same word */
    size_t count;
} product_terms;

ee_status products_read(product_terms *self, const char *text, ee_error *error);

/* Sets the `sides` of features: bit 2t + s if the feature belongs to side s of term t. text is that of the round. */
void products_mark(const product_terms *self, const char *text, round_feature *features, size_t count, bool of_action);

/* The most pairs that features with these sides can make. */
size_t products_most(const product_terms *self, const round_feature *context, size_t context_count,
                     const round_feature *action, size_t action_count);

/* Lists the pairs among the placed features of an arm, (count), in pairs; rights has room for count. Returns their
 * number. No feature is multiplied with itself, and if both sides are the same word, each pair comes once. */
size_t products_list(const product_terms *self, const placed_feature *placed, size_t count, uint32_t *rights,
                     feature_pair *pairs);

#endif
