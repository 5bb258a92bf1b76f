/* Which features the model looks at: over a sample of the decisions of a time, the mean size of what each contributed
 * to the reward that was expected of the answer, as the model is now. A feature is a name without its value: user.plan
 * is what user.plan=free and user.plan=paid are together. A product counts half for each of its two. */
#ifndef EENET_IMPORTANCE_H
#define EENET_IMPORTANCE_H

#include <stdatomic.h>

#include "data/values/text.h"
#include "served_bandit.h"

typedef struct importance_request {
    int64_t from, until;       /* times of decisions, microseconds since 1970; until is not among them */
    size_t most;               /* decisions that are looked at, evenly spread over the time; 0: 2000 */
    const atomic_bool *cancel; /* set to true: ends soon, with EE_FILE_ERROR; may be NULL */
} importance_request;

typedef struct feature_importance {
    const char *name;    /* "user.geo.city"; "[3]" of a vector */
    const char *space;   /* "user.geo"; "" if it has none */
    const char *feature; /* "city" */
    double importance;   /* in rewards */
} feature_importance;

typedef struct importance {
    memory memory;                /* of what follows */
    uint64_t decisions;           /* that were looked at */
    int64_t first, last;          /* their times; 0: there are none */
    uint64_t version;             /* of the model */
    feature_importance *features; /* (count) the largest first */
    size_t count;
} importance;

/* For threads that may wait: it reads the store, and wakes the bandit. *out is to be freed with importance_free. */
ee_status importance_measure(store *kept, served_bandit *bandit, const importance_request *request, importance *out,
                             ee_error *error);
void importance_free(importance *self);

/* As the API answers it. */
void importance_answer(text *into, const importance *self);

#endif
