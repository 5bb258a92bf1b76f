/* How a row of a table becomes the features of a context, and the names of the classes. The first feature is a constant
 * 1 (optional); then come the columns, from left to right:
 *
 *     a numeric column       (number - mean) / deviation. If the column has missing values, they count as the mean, and
 *                            a second feature is 1 for them
 *     a categorical column   a feature for each different value, 1 in the rows that have it. If the column has missing
 *                            values, missing is one more value
 *
 * A column with the same value in every row has no feature.
 *
 * The table itself and later rows of the same columns are encoded alike, to the last bit. As a file it is JSON:
 *
 *     {"format": "eenet rows", "version": 1, "constant": true, "normalize": "unit", "missing": "auto",
 *      "columns": [{"name": "age", "kind": "numeric", "mean": 38.5, "scale": 13.7, "missing": false},
 *                  {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "missing": true},
 *                  {"name": "id", "kind": "ignored"}, ...],
 *      "classes": ["no", "yes"]}
 *
 * scale is 0 if all numbers of the column are equal. Categories are in order: as numbers if all are numbers, else as
 * text. The first "missing" lists the texts that are missing values (missing_words.h; default: auto); in a column,
 * "missing" says whether a feature marks missing values. */
#ifndef EENET_ROW_ENCODING_H
#define EENET_ROW_ENCODING_H

#include "base/json.h"
#include "data/kind/survey.h"
#include "data/values/vocabulary.h"
#include "missing_words.h"

typedef enum row_normalize { NORMALIZE_UNIT, NORMALIZE_STANDARD, NORMALIZE_NONE } row_normalize;

typedef struct row_column {
    const char *name; /* of the header, or ""; row_encoding_finish makes all names different and not empty */
    survey_kind kind;
    bool missing;             /* numeric, categorical: one feature marks missing values */
    size_t first;             /* of its features */
    double mean, scale;       /* numeric: (value - mean) / scale; scale 0: no such feature */
    category_list categories; /* categorical */
} row_column;

typedef struct row_encoding {
    memory owner; /* of it and all below */
    bool constant;
    row_normalize normalize;
    option_text words;   /* texts for missing values, see missing_words.h */
    row_column *columns; /* (width) all columns of the file */
    size_t width;
    vocabulary names;      /* the number of a name is its column */
    category_list classes; /* of the label */
    size_t features, entries;
} row_encoding;

/* Starts with this many columns. The caller fills in everything except the columns' first, names, features and entries,
 * then calls row_encoding_finish, which copies the texts and computes the rest. */
ee_status row_encoding_create(size_t width, row_encoding **out, ee_error *error);
ee_status row_encoding_finish(row_encoding *self, ee_error *error);
void row_encoding_free(row_encoding *self);

size_t row_encoding_features(const row_encoding *self);
size_t row_encoding_entries(const row_encoding *self); /* the largest number of entries of a row */
size_t row_encoding_classes(const row_encoding *self);
const char *row_encoding_class(const row_encoding *self, size_t index);

/* The name of a feature: "age", "sex=f", "age is missing", "constant". */
void row_encoding_feature_name(const row_encoding *self, size_t feature, char *name, size_t capacity);

/* Encodes one row and returns the number of entries. cells is (width); a value outside a column's categories has no
 * feature. indices and values are (row_encoding_entries): ascending, below row_encoding_features. */
size_t row_encoding_cells(const row_encoding *self, const cell *cells, uint32_t *indices, float *values);

/* Called with a value that is not in the table; hint is "" or "; did you mean 'x'?". */
typedef struct row_unknown {
    void (*report)(void *context, size_t column, const char *value, const char *hint);
    void *context;
} row_unknown;

/* The same for a JSON object {"column": value, ...}. A column that is null or absent is missing; one without features
 * may have any value. unknown (may be NULL) is called for values outside the categories. EE_BAD_INPUT, naming the
 * column, if the column is unknown, or its value is not a number or too far outside the table's range. */
ee_status row_encoding_json(const row_encoding *self, json_text object, const row_unknown *unknown, uint32_t *indices,
                            float *values, size_t *count, ee_error *error);

/* Writes and reads the file. Writing fails if a name or a category is not UTF-8. */
ee_status row_encoding_write(const row_encoding *self, const char *path, ee_error *error);
ee_status row_encoding_read(const char *path, row_encoding **out, ee_error *error);

/* The content of the file; messages call it name. */
struct text; /* text.h */
void row_encoding_format(const row_encoding *self, struct text *into);
ee_status row_encoding_parse(const char *bytes, size_t size, const char *name, row_encoding **out, ee_error *error);

/* Scales a row to length 1; a row of zeros is unchanged. */
void row_scale_to_unit(float *values, size_t count);

#endif
