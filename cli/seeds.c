#include "seeds.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/decimal.h"
#include "base/memory.h"

/* A slip such as 0-99999999 is an error and not a run without end. */
enum { MOST_SEEDS = 100000 };

static ee_status append_range(seed_list *list, uint64_t low, uint64_t high, ee_error *error)
{
    if (high < low)
        return status_fail(error, EE_BAD_OPTION,
                           "seeds: expected an ascending range, got %" PRIu64 "-%" PRIu64 "; write %" PRIu64
                           "-%" PRIu64,
                           low, high, high, low);
    if (high - low >= MOST_SEEDS - list->count)
        return status_fail(error, EE_BAD_OPTION, "seeds: expected at most %d seeds", MOST_SEEDS);
    size_t count = list->count + (size_t)(high - low) + 1;
    ee_status status = memory_grow(NULL, &list->values, &list->capacity, count, sizeof *list->values, error);
    if (status) return status;
    for (uint64_t offset = 0; list->count < count; offset++) list->values[list->count++] = low + offset;
    return EE_OK;
}

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

ee_status seeds_parse(const char *text, seed_list *list, ee_error *error)
{
    const char *rest = text;
    for (;;) {
        uint64_t low = 0, high = 0;
        rest = decimal_whole(rest, &low);
        high = low;
        if (rest && *rest == '-') rest = decimal_whole(rest + 1, &high);
        if (!rest || (*rest && *rest != ','))
            return status_fail(error, EE_BAD_OPTION, "seeds: expected a list such as 0-4 or 0,3,7-9, got '%.80s'",
                               text);
        ee_status status = append_range(list, low, high, error);
        if (status) return status;
        if (!*rest) break;
        rest++;
    }
    qsort(list->values, list->count, sizeof *list->values, ascending);
    for (size_t i = 1; i < list->count; i++)
        if (list->values[i] == list->values[i - 1])
            return status_fail(error, EE_BAD_OPTION, "seeds: %" PRIu64 " is given twice", list->values[i]);
    return EE_OK;
}

void seeds_print(FILE *stream, const uint64_t *values, size_t count)
{
    for (size_t first = 0; first < count;) {
        size_t last = first;
        while (last + 1 < count && values[last + 1] == values[last] + 1) last++;
        fprintf(stream, "%s%" PRIu64, first ? ", " : "", values[first]);
        if (last > first) fprintf(stream, "-%" PRIu64, values[last]);
        first = last + 1;
    }
}
