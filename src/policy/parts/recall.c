#include "recall.h"

#include <math.h>
#include <string.h>

/* memory: the two sums, then the places. A tag is a whole number that a float holds exactly; 0: the place is free. */
enum { AGREED, SPREAD, SUMS };
enum { TAG, MEAN, TIMES, PLACE };
enum {
    PROBES = 8,
    MOST_TIMES = 64,  /* a mean is of about the last so many rewards */
    MOST_AGAIN = 4096 /* the sums are over about the last so many arms that came again */
};

size_t recall_count(size_t arms)
{
    return arms ? SUMS + arms * PLACE : 0;
}

static uint64_t hash_of(vector x)
{
    const uint64_t odd = UINT64_C(0xd6e8feb86659fd93);
    uint64_t hash = odd;
    for (size_t i = 0; i < x.count; i++) {
        uint32_t bits;
        if (x.values[i] == 0) continue;
        memcpy(&bits, &x.values[i], sizeof bits);
        hash = (hash ^ ((uint64_t)(x.indices ? x.indices[i] : i) << 32 | bits)) * odd;
    }
    /* A product spreads a bit to those above it alone. */
    hash = (hash ^ (hash >> 32)) * odd;
    return hash ^ (hash >> 32);
}

/* The place of an arm; where it has none, the one that it would take. */
static size_t place_of(const float *memory, size_t arms, vector x, float *tag)
{
    uint64_t hash = hash_of(x);
    size_t home = (size_t)((hash >> 24) % arms);
    *tag = (float)(hash & 0xffffff ? hash & 0xffffff : 1);
    for (size_t probe = 0; probe < PROBES; probe++) {
        size_t place = SUMS + (home + probe) % arms * PLACE;
        if (memory[place + TAG] == *tag || memory[place + TAG] == 0) return place;
    }
    return SUMS + home * PLACE;
}

float recall_expect(const float *memory, size_t arms, vector x, float expected)
{
    /* A weight below 0 counts as 0. Before any arm came again there is no weight, and an arm costs nothing here. */
    if (!arms || memory[AGREED] <= 0) return expected;
    float tag;
    const float *place = memory + place_of(memory, arms, x, &tag);
    if (place[TAG] != tag) return expected;
    return expected + fminf(memory[AGREED] / (memory[SPREAD] + 1), 1) * (place[MEAN] - expected);
}

/* Takes an arm that came again into the sums, but for one of which so much was expected that they would overflow. */
static void add_again(float *memory, float mean, float expected, float reward)
{
    float more = mean - expected;
    float agreed = memory[AGREED] + (more * (reward - expected) - memory[AGREED] / MOST_AGAIN);
    float spread = memory[SPREAD] + (more * more - memory[SPREAD] / MOST_AGAIN);
    if (!isfinite(agreed) || !isfinite(spread)) return;
    memory[AGREED] = agreed;
    memory[SPREAD] = spread;
}

size_t recall_add(float *memory, size_t arms, vector x, float expected, float reward)
{
    if (!arms) return 0;
    float tag;
    float *place = memory + place_of(memory, arms, x, &tag);
    if (place[TAG] == tag) {
        add_again(memory, place[MEAN], expected, reward);
    } else {
        memset(place, 0, PLACE * sizeof *place);
        place[TAG] = tag;
    }
    if (place[TIMES] < MOST_TIMES) place[TIMES]++;
    place[MEAN] += (reward - place[MEAN]) / place[TIMES];
    return (size_t)(place - memory - SUMS) / PLACE;
}

size_t recall_copy_sums(const float *memory, size_t arms, float *to)
{
    if (!arms) return 0;
    memcpy(to, memory, SUMS * sizeof *to);
    return SUMS;
}

size_t recall_copy_place(const float *memory, size_t place, float *to)
{
    size_t start = SUMS + place * PLACE;
    memcpy(to + start, memory + start, PLACE * sizeof *to);
    return PLACE;
}

size_t recall_copy_places(const float *memory, size_t arms, float *to)
{
    size_t copied = 0;
    for (size_t place = 0; place < arms; place++)
        if (memory[SUMS + place * PLACE + TAG] != 0) copied += recall_copy_place(memory, place, to);
    return copied;
}
