/* The options of named features. */
#ifndef EENET_FEATURES_OPTIONS_H
#define EENET_FEATURES_OPTIONS_H

#include "base/options.h"

typedef struct features_options {
    option_choice hashing;
    int64_t names, hashes, bits;
    option_text products;
    bool standardize; /* off if hashing is that of Vowpal Wabbit */
    bool chain_hash;
    bool ids;
} features_options;

enum { HASHING_DICTIONARY, HASHING_VW };

/* Reads options from text; "": the defaults. */
ee_status features_read_options(features_options *self, const char *text, ee_error *error);

/* Writes every option that has an effect, like snprintf. */
size_t features_format_options(const features_options *self, char *text, size_t capacity);

/* Describes option number index with its default; EE_BAD_INPUT after the last. */
ee_status features_describe_option(size_t index, ee_option *out, ee_error *error);

bool features_hash_as_vw(const features_options *self);

/* The number of places with these options. */
size_t features_dim(const features_options *self);

#endif
