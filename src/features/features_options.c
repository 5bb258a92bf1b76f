#include "features_options.h"

#include "products.h"

static const option rows[] = {
    OPTION_ROW_CHOICE(features_options, hashing, "hashing", "dictionary", "dictionary|vw",
                      "dictionary: a place for each name while there is room; vw: Vowpal Wabbit's hash"),
    OPTION_ROW_INTEGER(features_options, names, "names", "8192", 2, 16777216,
                       "places for names and products of two names, one each", .needs = "hashing=dictionary"),
    OPTION_ROW_INTEGER(features_options, hashes, "hashes", "4096", 0, 16777216,
                       "shared places for names that come when all others are taken; 0: ignore such names",
                       .needs = "hashing=dictionary"),
    OPTION_ROW_INTEGER(features_options, bits, "bits", "18", 1, 24, "size of the hash: 2^bits places",
                       .needs = "hashing=vw"),
    OPTION_ROW_FLAG(features_options, chain_hash, "chain_hash", "off",
                    "hash a string's key first and then its value, instead of both as one", .needs = "hashing=vw"),
    OPTION_ROW_TEXT(features_options, products, "products", "context*action",
                    "none, or terms like user*item+device*item",
                    "products of features to add: of context, action, or namespaces"),
    OPTION_ROW_FLAG(features_options, standardize, "standardize", "on",
                    "standardise numbers by the mean and deviation of their latest values",
                    .needs = "hashing=dictionary"),
    OPTION_ROW_FLAG(features_options, ids, "ids", "on",
                    "identify arms by the ids of their actions, and use recurring ids as features; off: ignore ids"),
};
static const option_table table = OPTION_TABLE(rows);
static const option_group groups[] = {OPTION_GROUP_OWN(table, "named features")};
static const option_schema schema = OPTION_SCHEMA("features", groups, features_options, "names products");

ee_status features_read_options(features_options *self, const char *text, ee_error *error)
{
    product_terms products;
    options_set_defaults(&schema, self);
    ee_status status = options_parse(&schema, text, self, error);
    if (!status) status = options_settle(&schema, text, self, error);
    if (features_hash_as_vw(self)) self->standardize = false; /* an option without effect has its default, on */
    return status ? status : products_read(&products, self->products, error);
}

size_t features_format_options(const features_options *self, char *text, size_t capacity)
{
    return options_format(&schema, self, text, capacity);
}

ee_status features_describe_option(size_t index, ee_option *out, ee_error *error)
{
    features_options defaults;
    options_set_defaults(&schema, &defaults);
    return options_describe(&schema, &defaults, index, out, error);
}

bool features_hash_as_vw(const features_options *self)
{
    return self->hashing.pick == HASHING_VW;
}

size_t features_dim(const features_options *self)
{
    return features_hash_as_vw(self) ? (size_t)1 << self->bits : (size_t)(self->names + self->hashes);
}
