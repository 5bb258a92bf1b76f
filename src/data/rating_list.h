/* A file of ratings: a row for each, with user, item, rating and perhaps more, as CSV with or without a header
 * (ratings.csv), with "::" between the fields (ratings.dat) or with tabs (u.data). */
#ifndef EENET_RATING_LIST_H
#define EENET_RATING_LIST_H

#include "source.h"
#include "survey.h"
#include "vocabulary.h"

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

/* Which columns are taken: for each a name, a number from 1, or "auto", which is the one with a usual name where there
 * is a header, and else the first, second and third. owner is whose options they are. The columns are told to the
 * survey, and what looks as if they were others. The file is changed. On failure the list is to be released too. */
ee_status rating_list_read(source *file, const char *owner, const char *const columns[RATING_COLUMNS], survey *seen,
                           rating_list *out, ee_error *error);
void rating_list_release(rating_list *list);

#endif
