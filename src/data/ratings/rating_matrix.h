/* Ratings as a sparse matrix of signs, of the users and items with the most ratings. Ties go to the first in the
 * file. */
#ifndef EENET_RATING_MATRIX_H
#define EENET_RATING_MATRIX_H

#include "rating_list.h"

/* Starts as zeros. Rows are users by falling number of ratings, columns items in the same way. */
typedef struct rating_matrix {
    size_t users, items;
    size_t *starts;    /* (users + 1) */
    uint32_t *indices; /* (starts[users]) ascending in a row */
    float *values;     /* (starts[users]) 1 above good, -1 below bad; others are left out */
} rating_matrix;

/* Keeps at most this many users and items. Reorders the list and keeps only the last rating of each pair. Release the
 * matrix, on failure too. */
ee_status rating_matrix_make(rating_list *list, size_t most_users, size_t most_items, double good, double bad,
                             rating_matrix *out, ee_error *error);
void rating_matrix_release(rating_matrix *matrix);

#endif
