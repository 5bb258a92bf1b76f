/* The files beside a model:
 *
 *     MODEL.lock       one program at a time writes a model: it has this file locked meanwhile, and removes it. What a
 *                      program that was killed left behind locks nothing
 *     MODEL.rows.json  of a model of a table: how a row becomes its arms (data/tables/row_encoding.h) */
#ifndef EENET_MODEL_FILES_H
#define EENET_MODEL_FILES_H

#include "data/sets/environment.h"

typedef struct model_lock {
    char *path; /* of the lock; NULL: nothing is locked */
    int file;
} model_lock;

/* EE_FILE_ERROR where another program has it. */
ee_status model_lock_take(const char *model, model_lock *out, ee_error *error);

/* One that is all zeros, or was not taken, is allowed. */
void model_lock_release(model_lock *self);

/* Whether it can be written, before there is a model: what is not UTF-8 cannot. rows NULL is allowed. */
ee_status model_rows_check(const row_encoding *rows, ee_error *error);

/* Writes it; where rows is NULL, removes what an earlier model left there. */
ee_status model_rows_write(const char *model, const row_encoding *rows, ee_error *error);

/* *out, to be freed with row_encoding_free, is NULL where there is none. EE_BAD_INPUT where it is of another model. */
ee_status model_rows_read(const char *model, const ee_bandit *bandit, row_encoding **out, ee_error *error);

#endif
