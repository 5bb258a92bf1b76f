#include "recall.h"

#include <math.h>
#include <string.h>

enum {
    PROBES = 8,
    MOST_TIMES = 64,  /* a mean covers about this many rewards */
    MOST_AGAIN = 4096 /* weights and noise cover about this many recurring arms */
};

/* memory: the noise, how often an arm recurred, at most MOST_AGAIN, the weights, the places. A tag is a whole number
 * that a float holds exactly; 0: the place is free. */
enum { NOISE, AGAIN, WEIGHTS, PLACES = WEIGHTS + RECALL_CLASSES };
enum { TAG, MEAN, TIMES, PLACE };

size_t recall_count(size_t arms)
{
    return arms ? PLACES + arms * PLACE : 0;
}

static uint64_t hash_of(vector x, arm_id id)
{
    const uint64_t odd = UINT64_C(0xd6e8feb86659fd93);
    uint64_t hash = odd;
    if (id.known) hash = ((hash ^ id.value) * odd) ^ (id.value >> 32);
    for (size_t i = 0; i < x.count; i++) {
        uint32_t bits;
        if (x.values[i] == 0) continue;
        memcpy(&bits, &x.values[i], sizeof bits);
        hash = (hash ^ ((uint64_t)(x.indices ? x.indices[i] : i) << 32 | bits)) * odd;
    }
    /* A product spreads a bit only to higher ones. */
    hash = (hash ^ (hash >> 32)) * odd;
    return hash ^ (hash >> 32);
}

/* The place of an arm; if it has none, the one that it would take. */
static size_t place_of(const float *memory, size_t arms, vector x, arm_id id, float *tag)
{
    uint64_t hash = hash_of(x, id);
    size_t home = (size_t)((hash >> 24) % arms);
    *tag = (float)(hash & 0xffffff ? hash & 0xffffff : 1);
    for (size_t probe = 0; probe < PROBES; probe++) {
        size_t place = PLACES + (home + probe) % arms * PLACE;
        if (memory[place + TAG] == *tag || memory[place + TAG] == 0) return place;
    }
    return PLACES + home * PLACE;
}

/* The class of arms with this many rewards. */
static size_t class_of(float times)
{
    return times < MOST_TIMES ? (size_t)ilogbf(times) : RECALL_CLASSES - 1;
}

recalled_arm recall_find(const float *memory, size_t arms, vector x, arm_id id)
{
    recalled_arm none = {0};
    /* Before any arm recurs there is no weight and no noise, and scoring an arm costs nothing here. */
    if (!arms || memory[AGAIN] == 0) return none;
    float tag;
    const float *place = memory + place_of(memory, arms, x, id, &tag);
    if (place[TAG] != tag) return none;
    return (recalled_arm){place[MEAN], memory[WEIGHTS + class_of(place[TIMES])], sqrtf(memory[NOISE] / place[TIMES])};
}

float recall_expect(const float *memory, size_t arms, vector x, arm_id id, float expected)
{
    recalled_arm found = recall_find(memory, arms, x, id);
    return expected + found.weight * (found.mean - expected);
}

/* The number of rewards in a mean. */
static float in_mean(float times)
{
    return times < MOST_TIMES ? times : MOST_TIMES;
}

/* Adds the deviation of a reward from the mean of those before it. */
static void add_noise(float *memory, const float *place, float reward)
{
    float off = reward - place[MEAN], count = in_mean(place[TIMES]), square = off * off * count / (count + 1);
    if (memory[AGAIN] < MOST_AGAIN) memory[AGAIN]++;
    if (isfinite(square)) memory[NOISE] += (square - memory[NOISE]) / memory[AGAIN];
}

size_t recall_add(float *memory, size_t arms, const recall_sample *sample, slope *weights)
{
    float tag, expected = sample->expected;
    float *place = memory + place_of(memory, arms, sample->x, sample->id, &tag);
    if (place[TAG] == tag) {
        size_t class = class_of(place[TIMES]);
        slope_add(&weights[class], (double)(place[MEAN] - expected), (double)(sample->reward - expected), MOST_AGAIN);
        memory[WEIGHTS + class] = (float)slope_weight(&weights[class], sample->spread);
        add_noise(memory, place, sample->reward);
    } else {
        memset(place, 0, PLACE * sizeof *place);
        place[TAG] = tag;
    }
    place[TIMES]++; /* a float stops at 2^24, when it no longer matters */
    place[MEAN] += (sample->reward - place[MEAN]) / in_mean(place[TIMES]);
    return (size_t)(place - memory - PLACES) / PLACE;
}

bool recall_is_sound(const float *memory, size_t arms)
{
    if (arms && !(memory[NOISE] >= 0 && isfinite(memory[NOISE]))) return false;
    if (arms && !(memory[AGAIN] >= 0 && memory[AGAIN] <= MOST_AGAIN)) return false;
    for (size_t i = WEIGHTS; arms && i < PLACES; i++)
        if (!(memory[i] >= 0 && memory[i] <= 1)) return false;
    for (size_t i = 0; i < arms; i++) {
        const float *place = memory + PLACES + i * PLACE;
        if (place[TAG] == 0) continue;
        if (!(place[TIMES] >= 1) || !isfinite(place[TIMES]) || !isfinite(place[MEAN])) return false;
    }
    return true;
}

size_t recall_copy_weights(const float *memory, size_t arms, float *to)
{
    if (!arms) return 0;
    memcpy(to, memory, PLACES * sizeof *to);
    return PLACES;
}

size_t recall_copy_place(const float *memory, size_t place, float *to)
{
    size_t start = PLACES + place * PLACE;
    memcpy(to + start, memory + start, PLACE * sizeof *to);
    return PLACE;
}

size_t recall_copy_places(const float *memory, size_t arms, float *to)
{
    size_t copied = 0;
    for (size_t place = 0; place < arms; place++)
        if (memory[PLACES + place * PLACE + TAG] != 0) copied += recall_copy_place(memory, place, to);
    return copied;
}
