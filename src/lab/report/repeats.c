#include "repeats.h"

#include <inttypes.h>
#include <stdio.h>

/* How often each row appears, at least twice; as a word if it is the same for all. */
static void format_times(uint64_t rows, uint64_t rounds, char *text, size_t capacity)
{
    static const char *const numbers[] = {"three", "four", "five", "six",    "seven",
                                          "eight", "nine", "ten",  "eleven", "twelve"};
    uint64_t times = rounds / rows;
    double average = (double)rounds / (double)rows;
    if (rounds % rows)
        snprintf(text, capacity, "%.*f times on average", average < 100.0 ? 1 : 0, average);
    else if (times == 2)
        snprintf(text, capacity, "twice");
    else if (times - 3 < sizeof numbers / sizeof *numbers)
        snprintf(text, capacity, "%s times", numbers[times - 3]);
    else
        snprintf(text, capacity, "%" PRIu64 " times", times);
}

size_t repeats_format(uint64_t rows, uint64_t rounds, char *line, size_t capacity)
{
    char times[64];
    if (!rows || rounds <= rows) return (size_t)snprintf(line, capacity, "%s", "");
    if (rounds / rows < 2)
        snprintf(times, sizeof times, "%" PRIu64 " row%s twice", rounds - rows,
                 rounds - rows == 1 ? " appears" : "s appear");
    else
        format_times(rows, rounds, times, sizeof times);
    return (size_t)snprintf(line, capacity, "%" PRIu64 " rounds from %" PRIu64 " row%s: %s%s", rounds, rows,
                            rows == 1 ? "" : "s", rounds / rows < 2 ? "" : "each row appears ", times);
}
