/* How a row of a table becomes the features of a context, and what its classes are called. The first feature is a
 * constant 1, if it is wanted; then come those of the columns, from left to right:
 *
 *     a numeric column       the number less the column's mean, divided by its deviation; where the column misses any,
 *                            a missing one is the mean, and a second feature is 1 where it is missing
 *     a categorical column   a feature for each different value, 1 in the rows that have it; where the column misses
 *                            any, a missing one is a value
 *
 * A column that has the same value in every row tells nothing, and has no feature.
 *
 * The table that it was made from encodes its rows with it, and so does whoever has a row of the same columns later:
 * the features are the same to the last bit. As a file it is JSON:
 *
 *     {"format": "eenet rows", "version": 1, "constant": true, "normalize": "unit", "missing": "auto",
 *      "columns": [{"name": "age", "kind": "numeric", "mean": 38.5, "scale": 13.7, "missing": false},
 *                  {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "missing": true},
 *                  {"name": "id", "kind": "ignored"}, ...],
 *      "classes": ["no", "yes"]}
 *
 * scale is 0 where only whether the number is missing tells something. Categories are in order: as numbers where all
 * are, else as text. The first "missing" says which texts are missing values (missing_words.h; auto where it is not
 * there), that of a column whether a feature tells that there is no value. */
#ifndef EENET_ROW_ENCODING_H
#define EENET_ROW_ENCODING_H

#include "base/json.h"
#include "missing_words.h"
#include "survey.h"
#include "vocabulary.h"

typedef enum row_normalize { NORMALIZE_UNIT, NORMALIZE_STANDARD, NORMALIZE_NONE } row_normalize;

typedef struct row_column {
    const char
        *name; /* of the header, "" where it has none; row_encoding_finish makes one then, and makes all differ */
    survey_kind kind;
    bool missing;       /* numeric, categorical: a feature tells that there is no value */
    size_t first;       /* of its features */
    double mean, scale; /* numeric: what is taken away, and what the rest is divided by; 0: the number is left out */
    category_list categories; /* categorical */
} row_column;

typedef struct row_encoding {
    memory owner; /* of it and all below but the names */
    bool constant;
    row_normalize normalize;
    option_text words;   /* that are missing values, see missing_words.h */
    row_column *columns; /* (width) of the file, those without features too */
    size_t width;
    vocabulary names;      /* a column's number is that of its name */
    category_list classes; /* of the label */
    size_t features, entries;
} row_encoding;

/* Starts with so many columns. Who makes it fills in all but the columns' first, names, features and entries, with
 * texts of its own, and calls row_encoding_finish, which copies the texts and does the rest. */
ee_status row_encoding_create(size_t width, row_encoding **out, ee_error *error);
ee_status row_encoding_finish(row_encoding *self, ee_error *error);
void row_encoding_free(row_encoding *self);

size_t row_encoding_features(const row_encoding *self);
size_t row_encoding_entries(const row_encoding *self); /* the most that a row can have */
size_t row_encoding_classes(const row_encoding *self);
const char *row_encoding_class(const row_encoding *self, size_t index);

/* Where a feature comes from: "age", "sex=f", "age is missing", "constant". */
void row_encoding_feature_name(const row_encoding *self, size_t feature, char *name, size_t capacity);

/* Encodes one row. cells is (width); a value that is none of a column's categories has no feature. indices and
 * values are (row_encoding_entries): ascending, below row_encoding_features. Returns how many there are. */
size_t row_encoding_cells(const row_encoding *self, const cell *cells, uint32_t *indices, float *values);

/* Is called with a value that no row of the table had; hint is "" or "; did you mean 'x'?". */
typedef struct row_unknown {
    void (*report)(void *context, size_t column, const char *value, const char *hint);
    void *context;
} row_unknown;

/* The same of an object {"column": value, ...} in JSON. A column that is null or not named is missing; one without
 * features may have any value. unknown, which may be NULL, is told of values that are of no category. EE_BAD_INPUT,
 * with a sentence that names the column, where there is none of that name, a value is no number where one is expected,
 * or too far from the table's. */
ee_status row_encoding_json(const row_encoding *self, json_text object, const row_unknown *unknown, uint32_t *indices,
                            float *values, size_t *count, ee_error *error);

/* As a file. Writing fails where a name or a category is not UTF-8. */
ee_status row_encoding_write(const row_encoding *self, const char *path, ee_error *error);
ee_status row_encoding_read(const char *path, row_encoding **out, ee_error *error);

/* What the file holds; name is the file's, for messages. */
struct text; /* text.h */
void row_encoding_format(const row_encoding *self, struct text *into);
ee_status row_encoding_parse(const char *bytes, size_t size, const char *name, row_encoding **out, ee_error *error);

/* Divides a row by its length; one of zeros stays. */
void row_scale_to_unit(float *values, size_t count);

#endif
