#include "drift.h"

#include <math.h>
#include <string.h>

/* ---- ranks and bets ---- */

/* A bet multiplies its wealth by k p^(k - 1), whose mean is 1 if p is uniform: a small k for large changes, a large one
 * for small changes. The first two win if scores increase. */
static const double powers[DRIFT_BETS] = {0.5, 0.8, 0.5, 0.8};

drift_ranks drift_ranks_start(bool increases, uint64_t seed)
{
    return (drift_ranks){.increases = increases, .random = random_named(seed, "drift ranks")};
}

/* The share of the capital that has not been bet after t ranks. */
static double unspent(double t)
{
    return 1.0 / (1.0 + log1p(t));
}

static size_t bin_of(const drift_ranks *self, double score)
{
    double mean = self->sum / DRIFT_REFERENCE, variance = self->squares / DRIFT_REFERENCE - mean * mean;
    /* Scores that were all equal: any other is at an end. */
    double deviation = fmax(sqrt(fmax(0.0, variance)), 1e-12 * fabs(mean) + 1e-300);
    double place = floor(4.0 * (score - mean) / deviation) + DRIFT_BINS / 2;
    return (size_t)fmin(DRIFT_BINS - 1, fmax(0.0, place));
}

/* The share of scores, the new one included, that are larger; equal ones in random order. Strictly within 0 to 1. */
static double rank_of(drift_ranks *self, size_t bin)
{
    uint64_t larger = 0, all = 0;
    for (size_t b = 0; b < DRIFT_BINS; b++) {
        all += self->bins[b];
        if (b > bin) larger += self->bins[b];
    }
    double order = ((double)(random_bits(&self->random) >> 12) + 0.5) * 0x1p-52;
    return ((double)larger + order * ((double)self->bins[bin] + 1.0)) / ((double)all + 1.0);
}

void drift_ranks_add(drift_ranks *self, double score)
{
    if (self->count++ < DRIFT_REFERENCE) {
        self->sum += score;
        self->squares += score * score;
        return;
    }
    double t = (double)(self->count - DRIFT_REFERENCE), spent = unspent(t - 1.0) - unspent(t);
    size_t bin = bin_of(self, score);
    double p = rank_of(self, bin);
    self->bins[bin]++;
    for (size_t k = 0; k < DRIFT_BETS; k++)
        self->bets[k] = fmin(1e300, (self->bets[k] + spent) * powers[k] * pow(k < 2 ? p : 1.0 - p, powers[k] - 1.0));
}

double drift_ranks_log_wealth(const drift_ranks *self)
{
    size_t count = self->increases ? 2 : DRIFT_BETS;
    double ranks = self->count > DRIFT_REFERENCE ? (double)(self->count - DRIFT_REFERENCE) : 0.0, wealth = 0.0;
    for (size_t k = 0; k < count; k++) wealth += self->bets[k] / (double)count;
    return log(wealth + unspent(ranks));
}

/* ---- sizes of blocks ---- */

/* Whether the reference is complete. */
static bool is_known(const drift_sizes *self)
{
    return self->blocks == DRIFT_REFERENCE;
}

/* Whether a block of this many values ends; one of the reference is counted. */
static bool end_block(drift_sizes *self, uint64_t count)
{
    if (!count || count * self->blocks < self->values / 2) return false;
    if (is_known(self)) return true;
    self->blocks++;
    self->values += count;
    return true;
}

/* The size of a block by the mean size of the reference, at most 1. */
static double size_of(const drift_sizes *self, uint64_t count)
{
    return fmin(1.0, (double)count * (double)self->blocks / (double)self->values);
}

/* How many of the unusual values there would be in a block of the mean size of the reference. Rounded down, because
 * they come in clumps, of which a larger block has some more often. A smaller block simply has fewer. */
static double unusual_of(const drift_sizes *self, uint64_t unusual, uint64_t count)
{
    double scale = (double)self->values / ((double)count * (double)self->blocks);
    return scale < 1.0 ? floor((double)unusual * scale) : (double)unusual;
}

/* ---- a mean ---- */

drift_mean drift_mean_start(uint64_t block, uint64_t seed)
{
    return (drift_mean){.block = block, .ranks = drift_ranks_start(false, seed)};
}

void drift_mean_add(drift_mean *self, double value)
{
    if (!isfinite(value)) return;
    self->sum += value;
    if (++self->count == self->block) drift_mean_end_block(self);
}

void drift_mean_end_block(drift_mean *self)
{
    uint64_t count = self->count;
    bool is_ranked = is_known(&self->sizes);
    if (!end_block(&self->sizes, count)) return;
    double mean = self->sum / (double)count, reference = self->ranks.sum / DRIFT_REFERENCE;
    if (is_ranked) mean = reference + (mean - reference) * sqrt(size_of(&self->sizes, count));
    drift_ranks_add(&self->ranks, mean);
    self->sum = 0.0;
    self->count = 0;
}

double drift_mean_log_wealth(const drift_mean *self)
{
    return drift_ranks_log_wealth(&self->ranks);
}

/* ---- shares ---- */

drift_shares drift_shares_start(uint64_t block, uint64_t seed)
{
    return (drift_shares){
        .block = block, .distances = drift_ranks_start(true, seed), .novelties = drift_ranks_start(true, seed + 1)};
}

void drift_shares_add(drift_shares *self, uint64_t name)
{
    /* Other bits than those of the slot, so that names of one slot differ here. */
    uint64_t place = (name * 0x9e3779b97f4a7c15u) >> 51;
    uint8_t *byte = &self->names[place / 8], bit = (uint8_t)(1u << place % 8);
    size_t slot = (name * 0xbf58476d1ce4e5b9u) >> 58;
    if (!is_known(&self->sizes)) {
        *byte |= bit;
        self->reference[slot] += 1.0;
        self->reference_count++;
    }
    self->unseen += !(*byte & bit);
    self->counts[slot] += 1.0;
    if (++self->count == self->block) drift_shares_end_block(self);
}

/* The squared Hellinger distance of the block's shares from those of the reference. Chi-square would divide by the
 * share of the reference: then one session of a person in a rare slot outweighs a change of all others. */
static double distance_of(const drift_shares *self)
{
    double sum = 0.0, count = (double)self->count, reference = (double)self->reference_count;
    for (size_t s = 0; s < DRIFT_SLOTS; s++) {
        double off = sqrt(self->counts[s] / count) - sqrt(self->reference[s] / reference);
        sum += off * off;
    }
    return sum;
}

void drift_shares_end_block(drift_shares *self)
{
    bool is_ranked = is_known(&self->sizes);
    if (!end_block(&self->sizes, self->count)) return;
    if (is_ranked) {
        drift_ranks_add(&self->distances, distance_of(self) * size_of(&self->sizes, self->count));
        drift_ranks_add(&self->novelties, unusual_of(&self->sizes, self->unseen, self->count));
    }
    memset(self->counts, 0, sizeof self->counts);
    self->count = self->unseen = 0;
}

double drift_shares_log_wealth(const drift_shares *self)
{
    double a = drift_ranks_log_wealth(&self->distances), b = drift_ranks_log_wealth(&self->novelties);
    return fmax(a, b) + log1p(exp(-fabs(a - b))) - log(2.0);
}

/* ---- a range ---- */

drift_range drift_range_start(uint64_t block, uint64_t seed)
{
    return (drift_range){.block = block, .low = INFINITY, .high = -INFINITY, .ranks = drift_ranks_start(true, seed)};
}

void drift_range_add(drift_range *self, double value)
{
    if (!is_known(&self->sizes) && isfinite(value)) {
        self->low = fmin(self->low, value);
        self->high = fmax(self->high, value);
    }
    self->outside += !(value >= self->low && value <= self->high);
    if (++self->count == self->block) drift_range_end_block(self);
}

void drift_range_end_block(drift_range *self)
{
    bool is_ranked = is_known(&self->sizes);
    if (!end_block(&self->sizes, self->count)) return;
    if (is_ranked) drift_ranks_add(&self->ranks, unusual_of(&self->sizes, self->outside, self->count));
    self->count = self->outside = 0;
}

double drift_range_log_wealth(const drift_range *self)
{
    return drift_ranks_log_wealth(&self->ranks);
}

/* ---- archive ---- */

static void archive_doubles(archive *a, double *values, size_t count)
{
    archive_bytes(a, values, count * sizeof *values);
}

static void archive_ranks(archive *a, drift_ranks *self)
{
    size_t increases = self->increases;
    archive_size(a, &increases, 0, 1, "drift direction");
    self->increases = increases;
    archive_u64(a, &self->count);
    archive_doubles(a, &self->sum, 1);
    archive_doubles(a, &self->squares, 1);
    for (size_t b = 0; b < DRIFT_BINS; b++) archive_u64(a, &self->bins[b]);
    archive_doubles(a, self->bets, DRIFT_BETS);
    archive_stream(a, &self->random);
}

static void archive_sizes(archive *a, drift_sizes *self)
{
    archive_u64(a, &self->blocks);
    archive_u64(a, &self->values);
}

void drift_mean_archive(archive *a, drift_mean *self)
{
    archive_u64(a, &self->block);
    archive_u64(a, &self->count);
    archive_sizes(a, &self->sizes);
    archive_doubles(a, &self->sum, 1);
    archive_ranks(a, &self->ranks);
}

void drift_shares_archive(archive *a, drift_shares *self)
{
    archive_u64(a, &self->block);
    archive_sizes(a, &self->sizes);
    archive_u64(a, &self->count);
    archive_u64(a, &self->unseen);
    archive_u64(a, &self->reference_count);
    archive_doubles(a, self->reference, DRIFT_SLOTS);
    archive_doubles(a, self->counts, DRIFT_SLOTS);
    archive_bytes(a, self->names, sizeof self->names);
    archive_ranks(a, &self->distances);
    archive_ranks(a, &self->novelties);
}

void drift_range_archive(archive *a, drift_range *self)
{
    archive_u64(a, &self->block);
    archive_sizes(a, &self->sizes);
    archive_u64(a, &self->count);
    archive_u64(a, &self->outside);
    archive_doubles(a, &self->low, 1);
    archive_doubles(a, &self->high, 1);
    archive_ranks(a, &self->ranks);
}
