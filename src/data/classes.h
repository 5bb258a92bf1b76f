/* Rounds made of a classification problem: each round shows one row, as one arm a class. Arm i is the row in block i of
 * a vector of (classes x features) entries that are zero elsewhere, a sparse arm; it has reward 1 where i is the row's
 * class, and 0 else. Rows come in a random order, each once, then in another order; or as they stand, then from the
 * first again. MNIST and tables are such. */
#ifndef EENET_CLASSES_H
#define EENET_CLASSES_H

#include "categories.h"
#include "kind.h"

typedef struct classes_dataset {
    dataset head;
    size_t rows, features, classes;
    bool in_order;     /* rows come as they stand, whatever the seed */
    size_t *starts;    /* (rows + 1) row i has the entries starts[i] to starts[i + 1] */
    uint32_t *indices; /* (starts[rows]) ascending within a row, below features */
    float *values;     /* (starts[rows]) */
    uint32_t *labels;  /* (rows) below classes */
} classes_dataset;

/* Makes room for so many rows and entries. What creates it fills in all of the above and the fingerprint, and calls
 * classes_finish; it is freed with classes_close. */
ee_status classes_create(size_t rows, size_t entries, classes_dataset **out, ee_error *error);

/* Divides each row by its length; a row of zeros stays. */
void classes_scale_rows(classes_dataset *data);

/* Sets dim, arms and the rest of the head; EE_BAD_INPUT where there is no row, no feature, only one class, or more than
 * can be numbered. name is the file's. */
ee_status classes_finish(classes_dataset *data, const char *name, ee_error *error);

/* Tells the classes and how many rows each has; names NULL: they are called by their numbers from 0. */
ee_status classes_tell(const classes_dataset *data, const category_list *names, survey *into, ee_error *error);

/* The functions of the kind of every such data set. */
void classes_close(dataset *data);
ee_status classes_start(const dataset *data, uint64_t seed, environment **out, ee_error *error);
ee_status classes_next(environment *world, environment_round *round, ee_error *error);
void classes_stop(environment *world);

#endif
