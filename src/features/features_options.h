/* The options of named features. */
#ifndef EENET_FEATURES_OPTIONS_H
#define EENET_FEATURES_OPTIONS_H

#include "base/options.h"

typedef struct features_options {
    option_choice hashing;
    int64_t names, hashes, bits;
    option_text products;
    bool standardize; /* off where hashing is Vowpal Wabbit's */
    bool chain_hash;
    bool ids;
} features_options;

enum { HASHING_DICTIONARY, HASHING_VW };

/* Reads options as text, "" being the defaults. */
ee_status features_read_options(features_options *self, const char *text, ee_error *error);

/* Every option that acts, as snprintf does. */
size_t features_format_options(const features_options *self, char *text, size_t capacity);

/* Option number index with its default; EE_BAD_INPUT past the last. */
ee_status features_describe_option(size_t index, ee_option *out, ee_error *error);

bool features_hash_as_vw(const features_options *self);

/* How many places features with these options have. */
size_t features_dim(const features_options *self);

#endif
