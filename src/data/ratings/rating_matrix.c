#include "rating_matrix.h"

#include <stdlib.h>

#include "base/memory.h"

/* ---- selection ---- */

/* Those with most ratings. */
typedef struct selection {
    uint32_t *numbers; /* (count) by falling count of ratings */
    uint32_t *places;  /* (all) position of a number in numbers; count: not selected */
    size_t count;
} selection;

/* Sorts by user, stably, and keeps only the last rating of each pair. Sets starts (users + 1) to the first rating of
 * each user. */
static ee_status sort_ratings(memory *owner, rating_list *list, size_t *starts, ee_error *error)
{
    rating *sorted;
    uint32_t *rated_by; /* (items) 1 + the last user whose rating of the item was seen */
    size_t kept = 0, users = list->users.count;
    ee_status status = memory_create(owner, &sorted, list->count, sizeof *sorted, error);
    if (!status) status = memory_create(owner, &rated_by, list->items.count, sizeof *rated_by, error);
    if (status) return status;
    for (size_t i = 0; i < list->count; i++) starts[list->ratings[i].user + 1]++;
    for (size_t u = 0; u < users; u++) starts[u + 1] += starts[u];
    /* From the last to the first; each moves its user's end down, so that in the end starts are starts again. */
    for (size_t i = list->count; i-- > 0;) sorted[--starts[list->ratings[i].user + 1]] = list->ratings[i];
    for (size_t u = 0; u < users; u++) starts[u] = starts[u + 1];
    starts[users] = list->count;
    for (size_t u = 0; u < users; u++) {
        size_t start = starts[u], end = starts[u + 1];
        starts[u] = kept;
        for (size_t i = end; i-- > start;) {
            if (rated_by[sorted[i].item] == u + 1) continue;
            rated_by[sorted[i].item] = (uint32_t)(u + 1);
            list->ratings[kept++] = sorted[i];
        }
    }
    starts[users] = list->count = kept;
    return EE_OK;
}

typedef struct tally {
    size_t ratings;
    uint32_t number;
} tally;

static int compare_tallies(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    if (x->ratings != y->ratings) return x->ratings > y->ratings ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* which is RATING_USER or RATING_ITEM */
static ee_status select_most_rated(memory *owner, const rating_list *list, int which, size_t most, selection *out,
                                   ee_error *error)
{
    size_t all = which == RATING_USER ? list->users.count : list->items.count;
    tally *tallies;
    out->count = all < most ? all : most;
    ee_status status = memory_create(owner, &tallies, all, sizeof *tallies, error);
    if (!status) status = memory_create(owner, &out->numbers, out->count, sizeof *out->numbers, error);
    if (!status) status = memory_create(owner, &out->places, all, sizeof *out->places, error);
    if (status) return status;
    for (size_t i = 0; i < all; i++) tallies[i].number = (uint32_t)i;
    for (size_t i = 0; i < list->count; i++)
        tallies[which == RATING_USER ? list->ratings[i].user : list->ratings[i].item].ratings++;
    qsort(tallies, all, sizeof *tallies, compare_tallies);
    for (size_t i = 0; i < all; i++) out->places[tallies[i].number] = (uint32_t)(i < out->count ? i : out->count);
    for (size_t i = 0; i < out->count; i++) out->numbers[i] = tallies[i].number;
    return EE_OK;
}

/* ---- the matrix ---- */

void rating_matrix_release(rating_matrix *matrix)
{
    memory_free(matrix->starts);
    memory_free(matrix->indices);
    memory_free(matrix->values);
    *matrix = (rating_matrix){0};
}

static int compare_items(const void *a, const void *b)
{
    const rating *x = a, *y = b;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* list is sorted by user, with the first rating of each in starts. Replaces item numbers by positions. */
static ee_status fill(rating_list *list, const size_t *starts, const selection *users, const selection *items,
                      double good, double bad, rating_matrix *out, ee_error *error)
{
    size_t count = 0;
    ee_status status = memory_create(NULL, &out->starts, users->count + 1, sizeof *out->starts, error);
    if (!status) status = memory_create(NULL, &out->indices, list->count, sizeof *out->indices, error);
    if (!status) status = memory_create(NULL, &out->values, list->count, sizeof *out->values, error);
    if (status) return status;
    for (size_t i = 0; i < list->count; i++) list->ratings[i].item = items->places[list->ratings[i].item];
    for (size_t place = 0; place < users->count; place++) {
        size_t user = users->numbers[place];
        rating *rated = list->ratings + starts[user];
        size_t rated_count = starts[user + 1] - starts[user];
        qsort(rated, rated_count, sizeof *rated, compare_items);
        for (size_t i = 0; i < rated_count && rated[i].item < items->count; i++) {
            if (rated[i].value <= good && rated[i].value >= bad) continue;
            out->indices[count] = rated[i].item;
            out->values[count++] = rated[i].value > good ? 1.0f : -1.0f;
        }
        out->starts[place + 1] = count;
    }
    return EE_OK;
}

ee_status rating_matrix_make(rating_list *list, size_t most_users, size_t most_items, double good, double bad,
                             rating_matrix *out, ee_error *error)
{
    memory owner = {0}; /* of what is needed only here */
    selection users = {0}, items = {0};
    size_t *starts;
    ee_status status = memory_create(&owner, &starts, list->users.count + 1, sizeof *starts, error);
    if (!status) status = sort_ratings(&owner, list, starts, error);
    if (!status) status = select_most_rated(&owner, list, RATING_USER, most_users, &users, error);
    if (!status) status = select_most_rated(&owner, list, RATING_ITEM, most_items, &items, error);
    if (!status) status = fill(list, starts, &users, &items, good, bad, out, error);
    out->users = users.count;
    out->items = items.count;
    memory_release(&owner);
    return status;
}
