/* How a loader read its files: counts, columns, classes, and remarks about likely mistakes. The loader fills it in
 * while it opens (kind.h: dataset_request); dataset_survey returns it. Texts are copied; names have the file's bytes,
 * even if they are not UTF-8. */
#ifndef EENET_SURVEY_H
#define EENET_SURVEY_H

#include "base/memory.h"

typedef enum survey_kind {
    SURVEY_NUMERIC,
    SURVEY_CATEGORICAL,
    SURVEY_TEXT,     /* words in any number */
    SURVEY_LABEL,    /* what the rewards come from */
    SURVEY_IGNORED,  /* left out by an option or the kind */
    SURVEY_CONSTANT, /* left out: the same value in every row */
    SURVEY_KINDS
} survey_kind;

typedef struct survey_column {
    const char *name; /* "" if it has none */
    survey_kind kind;
    uint64_t missing;  /* rows without a value */
    uint64_t distinct; /* different values; 0: not counted */
    uint64_t features; /* that it became */
    double low, high;  /* of the numbers; low > high if there are none */
} survey_column;

typedef struct survey_class {
    const char *name;
    uint64_t count; /* rows that have it */
} survey_class;

/* Another count or limit of the kind: "users" 2000. */
typedef struct survey_number {
    const char *name;
    double value;
} survey_number;

typedef struct survey {
    memory owner; /* of it and all below */
    survey_column *columns;
    size_t column_count, column_capacity;
    survey_class *classes;
    size_t class_count, class_capacity;
    survey_number *numbers;
    size_t number_count, number_capacity;
    char **remarks; /* whole sentences, without a full stop */
    size_t remark_count, remark_capacity;
    const char *ignore; /* a value for a table's option `ignore` that follows the remarks; NULL: none to suggest */
} survey;

ee_status survey_create(survey **out, ee_error *error);
void survey_free(survey *of);

ee_status survey_add_column(survey *into, const survey_column *column, ee_error *error);
ee_status survey_add_class(survey *into, const char *name, uint64_t count, ee_error *error);
ee_status survey_add_number(survey *into, const char *name, double value, ee_error *error);

/* Adds a sentence that says what looks wrong and what to do. Users see it after the data set's name. */
__attribute__((format(printf, 3, 4))) ee_status survey_remark(survey *into, ee_error *error, const char *format, ...);

/* Suggests a value for a table's option `ignore`. */
ee_status survey_suggest_ignore(survey *into, const char *columns, ee_error *error);

/* "numeric", "categorical" and so on. */
const char *survey_kind_name(survey_kind kind);

#endif
