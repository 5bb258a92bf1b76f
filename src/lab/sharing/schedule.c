#include "schedule.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

typedef struct timed_job {
    double seconds;
    size_t place;
} timed_job;

static int compare(const void *left_job, const void *right_job)
{
    const timed_job *left = left_job, *right = right_job;
    if (left->seconds != right->seconds) return left->seconds > right->seconds ? -1 : 1;
    return left->place < right->place ? -1 : left->place > right->place;
}

ee_status schedule_sort(const double *seconds, size_t count, size_t *places, ee_error *error)
{
    timed_job *sorted;
    ee_status status = memory_create(NULL, &sorted, count, sizeof *sorted, error);
    if (status) return status;
    for (size_t i = 0; i < count; i++) sorted[i] = (timed_job){seconds[i], i};
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count; i++) places[i] = sorted[i].place;
    memory_free(sorted);
    return EE_OK;
}

/* ---- the hands ---- */

typedef struct hand {
    double busy; /* seconds of the jobs that it has */
    size_t number;
} hand;

static bool is_freer(const hand *left, const hand *right)
{
    return left->busy != right->busy ? left->busy < right->busy : left->number < right->number;
}

/* The first of a heap has got more to do: puts it where it belongs. */
static void sink_first(hand *heap, size_t count)
{
    for (size_t at = 0, next; (next = 2 * at + 1) < count; at = next) {
        if (next + 1 < count && is_freer(&heap[next + 1], &heap[next])) next++;
        if (!is_freer(&heap[next], &heap[at])) return;
        hand moved = heap[at];
        heap[at] = heap[next];
        heap[next] = moved;
    }
}

/* owner may be NULL. */
static ee_status deal(const double *seconds, size_t count, size_t hands, size_t *owner, double *longest,
                      ee_error *error)
{
    hand *heap = NULL; /* the freest on top */
    size_t *places = NULL;
    if (!hands) hands = 1;
    if (hands > count) hands = count; /* the others never get one */
    ee_status status = memory_create(NULL, &heap, hands, sizeof *heap, error);
    if (!status) status = memory_create(NULL, &places, count, sizeof *places, error);
    if (!status) status = schedule_sort(seconds, count, places, error);
    for (size_t i = 0; i < hands && !status; i++) heap[i].number = i;
    *longest = 0.0;
    for (size_t i = 0; i < count && !status; i++) {
        if (owner) owner[places[i]] = heap->number;
        heap->busy += seconds[places[i]];
        if (heap->busy > *longest) *longest = heap->busy;
        sink_first(heap, hands);
    }
    memory_free(places);
    memory_free(heap);
    return status;
}

ee_status schedule_assign(const double *seconds, size_t count, size_t hands, size_t *owner, ee_error *error)
{
    double longest;
    return deal(seconds, count, hands, owner, &longest, error);
}

ee_status schedule_seconds(const double *seconds, size_t count, size_t hands, double *out, ee_error *error)
{
    return deal(seconds, count, hands, NULL, out, error);
}
