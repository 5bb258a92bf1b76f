/* Ratings as a sparse matrix of signs: those users and items that have most ratings. Where two have as many, the one
 * that the file names first. */
#ifndef EENET_RATING_MATRIX_H
#define EENET_RATING_MATRIX_H

#include "rating_list.h"

/* Starts as zeros. Row u is of the user with most ratings but u, column i of such an item. */
typedef struct rating_matrix {
    size_t users, items;
    size_t *starts;    /* (users + 1) */
    uint32_t *indices; /* (starts[users]) ascending in a row */
    float *values;     /* (starts[users]) 1 above good, -1 below bad; what is neither is left out */
} rating_matrix;

/* At most so many users and items. The list is put in another order, and loses all but the last rating of a pair. On
 * failure the matrix is to be released too. */
ee_status rating_matrix_make(rating_list *list, size_t most_users, size_t most_items, double good, double bad,
                             rating_matrix *out, ee_error *error);
void rating_matrix_release(rating_matrix *matrix);

#endif
