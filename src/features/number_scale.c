#include "number_scale.h"

#include <math.h>

static const double MOST_DEVIATIONS = 10, MOST_STANDARD = 5;
/* A smaller deviation, relative to the mean, is rounding error. */
static const double LEAST_DEVIATION = 1e-9;

enum { FIRST_BLOCK = 8, BLOCK_GROWTH = 8, LARGEST_BLOCK = 4096 };
enum { SMALL = 16, SMALL_IN_A_ROW = 128 };
static const double KEPT_BY_LIMITED = 7.0 / 8, KEPT_BY_SMALL = 0.5;

/* ---- learning ---- */

/* Mean and variance of both blocks together. */
static void merge(number_scale *self)
{
    const number_sums *older = &self->older, *newer = &self->newer;
    double weight = older->weight + newer->weight, apart = newer->mean - older->mean;
    self->mean = older->weight > 0 ? older->mean + apart * (newer->weight / weight) : newer->mean;
    self->variance =
        (older->squares + newer->squares + apart * apart * (older->weight * newer->weight / weight)) / weight;
}

static void fade_block(number_sums *sums, double kept, double all)
{
    sums->weight *= kept;
    sums->squares *= kept;
    sums->since = all - (all - sums->since) * kept;
}

/* Once a round, so that a round with many actions counts as one. */
static void fade(number_scale *self, double kept, uint64_t all)
{
    if (self->faded_at == all) return;
    self->faded_at = all;
    fade_block(&self->older, kept, (double)all);
    fade_block(&self->newer, kept, (double)all);
}

/* The squared distance from the mean that is allowed; 0: any, since the size is not known yet. */
static double square_of_reach(const number_scale *self)
{
    double size = self->mean * self->mean;
    bool varies = self->variance > LEAST_DEVIATION * LEAST_DEVIATION * size;
    if (!(self->older.weight > 0)) return 0;
    return MOST_DEVIATIONS * MOST_DEVIATIONS * (varies ? self->variance : size);
}

/* The value to add to the sums. */
static double limit(number_scale *self, double x, uint64_t all)
{
    double away = x - self->mean, reach = square_of_reach(self);
    if (!(reach > 0) || away * away <= reach) return x;
    self->limited++;
    fade(self, KEPT_BY_LIMITED, all);
    return self->mean + copysign(sqrt(reach), away);
}

static void notice_small(number_scale *self, double x, uint64_t all)
{
    if (x == 0) return;
    bool small = x * x * (SMALL * SMALL) < self->variance + self->mean * self->mean;
    if (!small)
        self->small = 0;
    else if (self->small < SMALL_IN_A_ROW)
        self->small++;
    else
        fade(self, KEPT_BY_SMALL, all);
}

static void add(number_sums *sums, double x)
{
    double before = x - sums->mean;
    sums->weight++;
    sums->mean += before / sums->weight;
    sums->squares += before * (x - sums->mean);
}

void number_scale_learn(number_scale *self, double x, uint64_t all)
{
    double entering = limit(self, x, all);
    notice_small(self, x, all);
    add(&self->newer, entering);
    double full = fmax(FIRST_BLOCK, fmin(BLOCK_GROWTH * self->older.weight, LARGEST_BLOCK));
    if (self->newer.weight >= full) {
        self->older = self->newer;
        self->newer = (number_sums){.since = (double)all};
    }
    merge(self);
}

/* ---- using ---- */

void number_scale_standard(const number_scale *self, uint64_t all, double *mean, double *deviation)
{
    double weight = self->older.weight + self->newer.weight, possible = (double)all - self->older.since;
    double share = weight < possible ? weight / possible : 1; /* an object may have the same name several times */
    double missing = (1 - share) * self->mean;
    *mean = share * self->mean;
    *deviation = sqrt(self->variance + missing * missing);
    if (*deviation <= LEAST_DEVIATION * fabs(self->mean)) *deviation = 0;
}

double number_scale_standardised(const number_scale *self, double x, uint64_t all)
{
    double mean, deviation;
    number_scale_standard(self, all, &mean, &deviation);
    if (deviation == 0) return 0;
    double value = (x - mean) / deviation;
    return fmax(-MOST_STANDARD, fmin(MOST_STANDARD, value));
}

/* ---- saving and loading ---- */

/* Bounds for what numbers of rounds can produce; a model beyond them is refused. */
#define MOST_NUMBERS ((uint64_t)1 << 62)
static const double LARGEST_MEAN = 1e100, LARGEST_SQUARES = 1e240;

static void archive_sums(number_sums *sums, archive *a)
{
    archive_bytes(a, &sums->weight, sizeof sums->weight);
    archive_bytes(a, &sums->since, sizeof sums->since);
    archive_bytes(a, &sums->mean, sizeof sums->mean);
    archive_bytes(a, &sums->squares, sizeof sums->squares);
}

static bool are_sound(const number_sums *sums, double all)
{
    return sums->weight >= 0 && sums->weight < LARGEST_BLOCK + 1 && sums->since >= 0 && sums->since <= all &&
           fabs(sums->mean) <= LARGEST_MEAN && sums->squares >= 0 && sums->squares <= LARGEST_SQUARES;
}

/* Before version 11 there was one sum of all values. It becomes the older block with a smaller weight: mean, variance
 * and share stay the same, and adapt from there. */
static bool read_single_sum(number_scale *self, uint64_t contexts, uint64_t actions, archive *a)
{
    uint64_t count = 0;
    number_sums all = {0};
    archive_u64(a, &count);
    archive_bytes(a, &all.mean, sizeof all.mean);
    archive_bytes(a, &all.squares, sizeof all.squares);
    archive_u32s(a, &self->place, 1);
    archive_u32s(a, &self->of_action, 1);
    all.weight = (double)count;
    if (all.weight > LARGEST_BLOCK)
        fade_block(&all, LARGEST_BLOCK / all.weight, (double)(self->of_action ? actions : contexts));
    *(count < FIRST_BLOCK ? &self->newer : &self->older) = all;
    return count && count <= MOST_NUMBERS;
}

size_t number_scale_bytes(const archive *a)
{
    return a->version < 11 ? 3 * 8 + 2 * 4 : 2 * 8 + 2 * 4 * 8 + 3 * 4;
}

void number_scale_archive(number_scale *self, uint64_t contexts, uint64_t actions, archive *a)
{
    bool sound = true;
    if (a->reading) *self = (number_scale){0};
    if (a->version < 11) {
        sound = read_single_sum(self, contexts, actions, a);
    } else {
        archive_u64(a, &self->limited);
        archive_u64(a, &self->faded_at);
        archive_sums(&self->older, a);
        archive_sums(&self->newer, a);
        archive_u32s(a, &self->small, 1);
        archive_u32s(a, &self->place, 1);
        archive_u32s(a, &self->of_action, 1);
    }
    if (!a->reading || a->status) return;
    double all = (double)(self->of_action ? actions : contexts);
    sound = sound && self->of_action <= 1 && self->limited <= MOST_NUMBERS && self->small <= SMALL_IN_A_ROW &&
            are_sound(&self->older, all) && are_sound(&self->newer, all) &&
            self->older.weight + self->newer.weight >= 1;
    if (sound)
        merge(self);
    else
        archive_fail(a, EE_BAD_MODEL, "model: invalid scale of a number");
}
