/* The columns of a CSV log: their roles, which of them are context, and why the others are not. */
#ifndef EENET_CSV_COLUMNS_H
#define EENET_CSV_COLUMNS_H

#include "csv_sample.h"
#include "log_rows.h"

typedef enum csv_role {
    CSV_ACTION,
    CSV_PROBABILITY,
    CSV_REWARD,
    CSV_TIME_COLUMN,
    CSV_ID,
    CSV_COUNT,
    CSV_COPIES,
    CSV_SKIPPED,
    CSV_GROUP,
    CSV_TREATED_SHARE,
    CSV_BASELINE_UNIFORM,
    CSV_PERSON,
    CSV_SEGMENT,
    CSV_RULES,
    CSV_REPEATS,
    CSV_ROLES
} csv_role;

typedef struct csv_options {
    option_text columns[CSV_ROLES];
    option_path context, ignore;
    option_path actions;
} csv_options;

ee_status csv_options_read(const char *text, csv_options *out, ee_error *error);

/* The name of the option that gives the role. */
const char *csv_role_name(csv_role role);

typedef struct csv_columns {
    size_t roles[CSV_ROLES]; /* SIZE_MAX: none */
    log_column *all;         /* (width) */
    size_t width;
    bool given;       /* the options name the context */
    size_t *features; /* (feature_count) the columns of the context by name, so that their order does not matter */
    size_t feature_count;
    size_t *metrics; /* (metric_count) the columns "metric.NAME" */
    size_t metric_count;
} csv_columns;

/* The start of the name of a column with a metric. */
extern const char csv_metric_start[];

/* Finds the columns by the options or by their usual names, which are judged later. Warns in the reader's remarks if
 * several have usual names of one role. */
ee_status csv_columns_find(log_reader *log, const log_rows *rows, const csv_options *asked, csv_columns *out,
                           ee_error *error);

/* Whether any column may be context. */
bool csv_columns_any(const csv_columns *self);

/* Settles the features: removes columns from the context that the sample shows to be no context. Columns named in the
 * options stay; the reader's remarks warn of those that predict the reward. sample may be NULL if no column may be
 * context. */
ee_status csv_columns_judge(csv_columns *self, log_reader *log, const csv_sample *sample, ee_error *error);

#endif
