/* Rounds of a classification problem: each round shows one row, with one sparse arm per class. Arm i is the row in
 * block i of a vector of (classes x features) entries and zero elsewhere; its reward is 1 if i is the row's class, else
 * 0. Rows come in a random order, each once, then in a new order; or in file order, then from the first again. Used by
 * MNIST and tables. */
#ifndef EENET_CLASSES_H
#define EENET_CLASSES_H

#include "categories.h"
#include "data/kind/kind.h"

typedef struct classes_dataset {
    dataset head;
    size_t rows, features, classes;
    bool in_order;     /* rows come in file order for every seed */
    size_t *starts;    /* (rows + 1) row i has the entries starts[i] to starts[i + 1] */
    uint32_t *indices; /* (starts[rows]) ascending within a row, below features */
    float *values;     /* (starts[rows]) */
    uint32_t *labels;  /* (rows) below classes */
} classes_dataset;

/* Allocates room for the rows and entries. The caller fills in all of the above and the fingerprint, then calls
 * classes_finish. Free with classes_close. */
ee_status classes_create(size_t rows, size_t entries, classes_dataset **out, ee_error *error);

/* Scales each row to length 1; a row of zeros is unchanged. */
void classes_scale_rows(classes_dataset *data);

/* Sets dim, arms and the rest of the head. EE_BAD_INPUT if there is no row, no feature, only one class, or too much of
 * anything. name is the file's. */
ee_status classes_finish(classes_dataset *data, const char *name, ee_error *error);

/* Adds the classes and their number of rows to the survey; names NULL: classes are named by their numbers from 0. */
ee_status classes_report(const classes_dataset *data, const category_list *names, survey *into, ee_error *error);

/* The functions of the kind of every such data set. */
void classes_close(dataset *data);
ee_status classes_start(const dataset *data, uint64_t seed, environment **out, ee_error *error);
ee_status classes_next(environment *world, environment_round *round, ee_error *error);

#endif
