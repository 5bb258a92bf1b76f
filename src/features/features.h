/* Named features: from a parsed round to sparse arms, in separate steps.
 *
 *   parse   JSON to names and values: round.h. Needs no state; works in any thread.
 *   learn   gives new names their places and tracks the scale of the numbers. Changes the state, in one thread and in
 * the order of the rounds, so that a replay gives the same state. encode  a round to arms. Only reads the state: many
 * threads at once, each with its own round.
 *
 * Places. The constant has place 0. Each name, and each product of two names, takes the next place while there is room
 * (`names`). Later ones, names that a read-only state does not know, and names of more than 1,024 bytes go by hash to
 * one of `hashes` further places, which several may share; with hashes=0 they are left out.
 *
 * Ids. The id of an action is a feature of it, `_id=a7`, unless a feature with the key "id" has the same value; then
 * that is the feature of the id. If the action has no other feature, `_id=a7` is 1 and multiplied like other features
 * of the action. Otherwise it is 1/4 and not multiplied: the features say what is alike, the id what is left. It gets a
 * place when it comes in a second round (new_ids.h), and is left out before that; once the names are full it goes to a
 * shared place. With ids=off, and with hashing of Vowpal Wabbit, there is no `_id=a7`.
 *
 * Numbers. They are brought to one scale that adapts to the values: number_scale.h. */
#ifndef EENET_FEATURES_H
#define EENET_FEATURES_H

#include "feature_names.h"
#include "features_options.h"
#include "new_ids.h"
#include "number_scale.h"
#include "products.h"

typedef struct features {
    memory *memory;
    features_options options;
    product_terms products;
    size_t dim;
    feature_names names;        /* hashing=dictionary */
    uint64_t contexts, actions; /* learned so far */
    number_scale *scales;
    size_t scale_count, scale_capacity;
    new_ids new_ids;         /* NULL in a copy that only encodes */
    uint64_t *shared_counts; /* (hashes) times that a shared place was used */
    uint32_t *shared_scales; /* (hashes) from 1; 0: none */
} features;

ee_status features_create(features *self, memory *owner, const features_options *options, ee_error *error);

/* Learns the names and numbers of a round with at least one action. On failure nothing changes. */
ee_status features_learn(features *self, ee_round *round, ee_error *error);

/* The arms of a round, in the memory of the round until the next call with it. */
ee_status features_encode(const features *self, ee_round *round, ee_arms *arms, ee_error *error);

/* After features_encode: the terms of the entries of an arm, in the memory of the round until the next call with it.
 * Several may share a place. Zeros are left out. */
ee_status features_terms(const features *self, ee_round *round, size_t arm, const feature_term **terms, size_t *count,
                         ee_error *error);

/* The places taken by a name or product, including the constant: the smallest `names` with which these rounds share no
 * place. */
size_t features_count(const features *self);

/* Describes a place below dim. Writes the name like snprintf, "" if there is none. */
size_t features_describe(const features *self, size_t place, ee_feature *out, char *name, size_t capacity);

/* Copies what `from` has learned since. Both have the same options, and this one learns only by this function. */
ee_status features_follow(features *self, const features *from, ee_error *error);

void features_archive(features *self, archive *a);

#endif
