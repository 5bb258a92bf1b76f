/* What a kind of data set provides. To add one: write its file in this folder, with a dataset_kind at its end, declare
 * that below and enter it in the table of environment.c. */
#ifndef EENET_KIND_H
#define EENET_KIND_H

#include "base/options.h"
#include "base/random.h"
#include "environment.h"
#include "survey.h"

/* What a data set is opened with: the parts of "KIND:PLACE,OPTION=VALUE,...". */
typedef struct dataset_request {
    const char *place;        /* a folder, a file or a form; the kind's default_place where none was given */
    const char *options;      /* "" where none were given; options_parse reads it */
    const char *cache;        /* a folder that may have what takes long to prepare (cache.h); NULL: none */
    const char *keep_in;      /* the folder that it is kept in when it was prepared; NULL: none */
    const table_cells *cells; /* a table that is in memory; NULL: it is in a file */
    survey *survey;           /* what is read is told here; the caller keeps it with the data set, or frees it */
} dataset_request;

typedef struct dataset_kind {
    const char *name; /* "table"; of a form with options of its own "synthetic:clicks", and then there is no place */
    const char *form;
    const char *summary;
    const option_schema *options; /* what may follow the place; NULL where nothing may */
    const char *default_place;    /* where none is given; NULL: one must be given */
    bool named_by_place;          /* the data set's name has the last part of the place, as "table:shuttle" */

    /* On success sets *out, with its dim, arms, rounds and fingerprint, to the head of the kind's own struct; the
     * caller fills in the rest. Where the kind has no options the caller has made sure that none are given. */
    ee_status (*open)(const dataset_request *request, dataset **out, ee_error *error);
    void (*close)(dataset *data); /* frees all of it but the text, the name and the survey */

    /* start sets *out to the head of the kind's own struct. All that next draws comes from the stream "rounds" of the
     * seed; what belongs to the problem and not to a round comes from the stream "problem". */
    ee_status (*start)(const dataset *data, uint64_t seed, environment **out, ee_error *error);
    ee_status (*next)(environment *world, environment_round *round, ee_error *error);
    void (*stop)(environment *world);
} dataset_kind;

/* The first member of every kind's own struct. */
struct dataset {
    const dataset_kind *kind;
    char *text;
    char *name;
    uint64_t fingerprint; /* source.h mixes it; 0 where there are no files */
    size_t dim;
    size_t arms;
    size_t blocks;          /* environment.h: dataset_blocks; 0 is as 1 */
    bool exclusive;         /* environment.h: dataset_exclusive */
    uint64_t rounds;        /* 0: without end */
    uint64_t rows;          /* environment.h: dataset_rows; 0: none */
    row_encoding *encoding; /* environment.h: dataset_row_encoding */
    survey *survey;         /* set by the caller of open */
};

struct environment {
    const dataset_kind *kind;
};

extern const dataset_kind dataset_synthetic;
extern const dataset_kind dataset_clicks;
extern const dataset_kind dataset_mnist;
extern const dataset_kind dataset_fashion_mnist;
extern const dataset_kind dataset_yelp;
extern const dataset_kind dataset_movielens;
extern const dataset_kind dataset_ratings;
extern const dataset_kind dataset_disin;
extern const dataset_kind dataset_table;
extern const dataset_kind dataset_prepared;

#endif
