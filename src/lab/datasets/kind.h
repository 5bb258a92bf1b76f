/* What a kind of data set provides. To add one: write its file in this folder, with a dataset_kind at its end, declare
 * that below and enter it in the table of environment.c. */
#ifndef EENET_KIND_H
#define EENET_KIND_H

#include "base/options.h"
#include "base/random.h"
#include "lab/environment.h"

typedef struct dataset_kind {
    const char *name;
    const char *form;
    const char *summary;
    const option_schema *options; /* what may follow the place, for describing; NULL where nothing may */

    /* place is what follows the first colon of the text. On success sets *out, with its dim, to the head of the kind's
     * own struct; the caller fills in kind and text. */
    ee_status (*open)(const char *place, dataset **out, ee_error *error);
    void (*close)(dataset *data); /* frees all of it but the text */

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
    size_t dim;
};

struct environment {
    const dataset_kind *kind;
};

extern const dataset_kind dataset_synthetic;
extern const dataset_kind dataset_yelp;

#endif
