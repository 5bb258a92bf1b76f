/* A file of ratings, one per row: user, item, rating and optionally more. CSV with or without a header (ratings.csv),
 * "::" between the fields (ratings.dat) or tabs (u.data). */
#ifndef EENET_RATING_LIST_H
#define EENET_RATING_LIST_H

#include "data/files/source.h"
#include "data/kind/survey.h"
#include "data/values/vocabulary.h"

enum { RATING_USER, RATING_ITEM, RATING_VALUE, RATING_COLUMNS };

typedef struct rating {
    uint32_t user, item;
    double value;
} rating;

/* Starts as zeros. */
typedef struct rating_list {
    vocabulary users, items;
    rating *ratings; /* (count) as the file has them */
    size_t count, capacity;
    double lowest, highest;
} rating_list;

/* columns gives for each a name, a number from 1, or "auto": the usual name if there is a header, else the first,
 * second and third. owner is the name of the data set's options. Adds the columns and likely mistakes to the survey.
 * Changes the file's bytes. Release the list, on failure too. */
ee_status rating_list_read(source *file, const char *owner, const char *const columns[RATING_COLUMNS], survey *seen,
                           rating_list *out, ee_error *error);
void rating_list_release(rating_list *list);

#endif
