/* Named features: from a parsed round to sparse arms, in steps that stay apart.
 *
 *   parse    JSON to names and values: round.h. Needs no state, any thread.
 *   learn    gives new names their places and follows the scale of the numbers. Changes the state, in one thread and in
 *            the order of the rounds, so that a replay gives the same state.
 *   encode   a round to arms, by a state that it only reads. Many threads, each with its own round.
 *
 * Places. The constant has place 0; each name, and each product of two names, takes the next one while there is room
 * (`names`). What comes later, what a state that is only read does not know, and a name of more than 1,024 bytes goes
 * by its hash to one of `hashes` more places, which several may share; with none it is left out.
 *
 * Ids. The id of an action is a feature of it, `_id=a7`, unless a feature with the key "id" says the same, which then
 * is the id's. Where the action has no other feature, `_id=a7` is 1 and multiplied as other features of the action;
 * beside others it is 1/4 and multiplied with nothing: features say what is alike, the id what is left. It gets a place
 * when it comes in a second round (new_ids.h), and is nothing before that; once the names are full it goes to a shared
 * place. With ids=off, and of Vowpal Wabbit's hashing, there is no `_id=a7`.
 *
 * Numbers. They are brought to one scale, which follows what came: number_scale.h. */
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
    uint64_t contexts, actions; /* that were learned */
    number_scale *scales;
    size_t scale_count, scale_capacity;
    new_ids new_ids;         /* for those that learn: a copy that only encodes has none */
    uint64_t *shared_counts; /* (hashes) how often something came to a shared place */
    uint32_t *shared_scales; /* (hashes) counted from 1; 0: none */
} features;

ee_status features_create(features *self, memory *owner, const features_options *options, ee_error *error);

/* Learns the names and numbers of a round with at least one action. If it fails, nothing has changed. */
ee_status features_learn(features *self, ee_round *round, ee_error *error);

/* The arms of a round, which lie in it until the next call with it. */
ee_status features_encode(const features *self, ee_round *round, ee_arms *arms, ee_error *error);

/* After features_encode of the round: what the entries of an arm are made of, in the round until the next call with it.
 * Several may share a place. What is 0 is none of them. */
ee_status features_terms(const features *self, ee_round *round, size_t arm, const feature_term **terms, size_t *count,
                         ee_error *error);

/* How many places are taken by a name or product of their own, the constant among them: what `names` must be at least
 * so that a log of these rounds shares no place. */
size_t features_count(const features *self);

/* What is at a place below dim; the name as snprintf does, "" where there is none. */
size_t features_describe(const features *self, size_t place, ee_feature *out, char *name, size_t capacity);

/* Takes over what `from` has learned since. The two have the same options, and this one learns by this alone. */
ee_status features_follow(features *self, const features *from, ee_error *error);

void features_archive(features *self, archive *a);

#endif
