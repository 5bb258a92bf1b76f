/* The interface of a kind of data set. To add one, write a file in one of the folders above with a dataset_kind at its
 * end, declare that below and add it to the table in sets/environment.c. */
#ifndef EENET_KIND_H
#define EENET_KIND_H

#include "base/options.h"
#include "base/random.h"
#include "environment_round.h"
#include "survey.h"

/* The parts of "KIND:PLACE,OPTION=VALUE,...". */
typedef struct dataset_request {
    const char *place;        /* a folder, a file or a form; default: the kind's default_place */
    const char *options;      /* "" if none were given; for options_parse */
    const char *cache;        /* folder of cached preparations (cache.h); NULL: none */
    const char *keep_in;      /* folder to write new preparations to; NULL: none */
    const table_cells *cells; /* a table in memory; NULL: it is in a file */
    survey *survey;           /* open describes the data here; the caller keeps it with the data set, or frees it */
} dataset_request;

typedef struct dataset_kind {
    const char *name; /* "table"; a form with separate options is "synthetic:clicks", and then there is no place */
    const char *form;
    const char *summary;
    const option_schema *options; /* options after the place; NULL: none */
    const char *default_place;    /* used if no place is given; NULL: a place is required */
    bool named_by_place;          /* the data set's name includes the last part of the place, such as "table:shuttle" */

    /* Creates the kind's struct with memory_create_owner and sets its dim, arms, rounds and fingerprint; the caller
     * fills in the rest of the head. On failure *out may be set: the caller closes it. If the kind has no options, the
     * caller has checked that none are given. */
    ee_status (*open)(const dataset_request *request, dataset **out, ee_error *error);
    void (*close)(dataset *data); /* frees everything except the text, the name and the survey; NULL: the owner's blocks
                                   * are everything */

    /* start creates the kind's struct with memory_create_owner, which frees all of it; on failure *out may be set. It
     * draws what belongs to the whole problem from the stream "problem" of the seed; next draws only from "rounds". */
    ee_status (*start)(const dataset *data, uint64_t seed, environment **out, ee_error *error);
    ee_status (*next)(environment *world, environment_round *round, ee_error *error);
} dataset_kind;

/* The first member of every kind's struct. */
struct dataset {
    memory owner;
    const dataset_kind *kind;
    char *text;
    char *name;
    bool reopens;         /* environment.h: dataset_source */
    uint64_t fingerprint; /* computed by source.h; 0 without files */
    size_t dim;
    size_t arms;
    size_t blocks;          /* environment.h: dataset_blocks; 0 means 1 */
    bool exclusive;         /* environment.h: dataset_exclusive */
    uint64_t rounds;        /* 0: unlimited */
    uint64_t rows;          /* environment.h: dataset_rows; 0: none */
    row_encoding *encoding; /* environment.h: dataset_row_encoding */
    survey *survey;         /* set by the caller of open */
};

struct environment {
    memory owner;
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
