/* Has something changed? Detectors for a mean, for the shares of categories and for numbers out of range, whose
 * false-alarm rate holds over the whole lifetime.
 *
 * Decisions are collected into blocks, and a block has a score: its mean, its distance from the reference shares, or
 * its share of unusual values. A new score gets its rank among all scores before it. If blocks are exchangeable, that
 * is, if nothing changes, ranks are independent and uniform whatever the distribution of scores is (conformal p-values:
 * Vovk, Gammerman, Shafer, "Algorithmic learning in a random world", 2005). A bet on small or large ranks is then fair,
 * and its wealth ever reaches 1 / alpha with probability at most alpha (Ville, 1939). Bets start at every block, with a
 * share of the capital that falls as 1 / (t log^2 t), so that a change is found late in a life too (as Shiryaev's rule;
 * see also Shin, Ramdas, Rinaldo, "E-detectors", 2024).
 *
 * Exact, not asymptotic: P(ever an alarm) <= alpha if blocks are exchangeable, for any number of blocks. Assumed is
 * only that exchangeability, and that blocks of other sizes are alike after a correction. The mean size of the
 * reference is the measure: a block with less than half of it goes on; a smaller one's mean deviates less, and its
 * distance counts less, by the law for independent values; of a larger one, as many unusual values count as it would
 * have at that size, rounded down. Otherwise small blocks would look unusual, because chance weighs more in them.
 * Decisions of one person within a block may depend on each other, and people may return if they do so at random; but a
 * block must cover a whole cycle of whatever repeats. If days differ from nights, a block is a day or several; if
 * weekends differ, a week. The first DRIFT_REFERENCE blocks are the reference: a change among them is not found. A slow
 * trend is a change.
 *
 * An alarm says that something changed, not how much: compare means before and after. After an alarm start again. */
#ifndef EENET_DRIFT_H
#define EENET_DRIFT_H

#include "base/archive.h"

enum { DRIFT_REFERENCE = 20, DRIFT_BINS = 64, DRIFT_BETS = 4, DRIFT_SLOTS = 64, DRIFT_NAME_BYTES = 1024 };

/* Scores of blocks and the wealth of the bets. The first DRIFT_REFERENCE scores only set the scale of the bins. */
typedef struct drift_ranks {
    bool increases; /* bets on increases only */
    uint64_t count; /* scores so far */
    double sum, squares;
    uint64_t bins[DRIFT_BINS]; /* scores after the first ones, a quarter of a standard deviation wide */
    double bets[DRIFT_BETS];
    random_stream random; /* ranks within a bin */
} drift_ranks;

drift_ranks drift_ranks_start(bool increases, uint64_t seed);
void drift_ranks_add(drift_ranks *self, double score);

/* Starting from 0. An alarm at level alpha: above -log(alpha). It may fall again; the first alarm counts. */
double drift_ranks_log_wealth(const drift_ranks *self);

/* ---- all three: block is the number of values per block; 0: blocks end when the caller says so, for example once a
 * day. An empty block is not a block, and one with less than half of the values of the mean block so far goes on. ----
 */

/* The sizes of earlier blocks. */
typedef struct drift_sizes {
    uint64_t blocks, values;
} drift_sizes;

/* Of rewards, or of the logarithm of their delays. */
typedef struct drift_mean {
    uint64_t block, count;
    drift_sizes sizes;
    double sum;
    drift_ranks ranks;
} drift_mean;

drift_mean drift_mean_start(uint64_t block, uint64_t seed);
void drift_mean_add(drift_mean *self, double value); /* ignores values that are not finite */
void drift_mean_end_block(drift_mean *self);
double drift_mean_log_wealth(const drift_mean *self);

/* Of categories: segments, actions available, names of features. Two detectors with half of the capital each: of shares
 * (Hellinger distance from the reference), and of names that the reference does not have. Names are hashes; shares
 * are of DRIFT_SLOTS groups of them. Names that are always new at the same rate are no change. */
typedef struct drift_shares {
    uint64_t block, count, unseen;
    drift_sizes sizes;
    uint64_t reference_count;
    double reference[DRIFT_SLOTS], counts[DRIFT_SLOTS];
    uint8_t names[DRIFT_NAME_BYTES]; /* of the reference: a bit for each hash */
    drift_ranks distances, novelties;
} drift_shares;

drift_shares drift_shares_start(uint64_t block, uint64_t seed);
void drift_shares_add(drift_shares *self, uint64_t name);
void drift_shares_end_block(drift_shares *self);
double drift_shares_log_wealth(const drift_shares *self);

/* Of a numeric feature: the share of values outside the range that the reference had. */
typedef struct drift_range {
    uint64_t block, count, outside;
    drift_sizes sizes;
    double low, high;
    drift_ranks ranks;
} drift_range;

drift_range drift_range_start(uint64_t block, uint64_t seed);
void drift_range_add(drift_range *self, double value); /* a value that is not finite is outside */
void drift_range_end_block(drift_range *self);
double drift_range_log_wealth(const drift_range *self);

void drift_mean_archive(archive *a, drift_mean *self);
void drift_shares_archive(archive *a, drift_shares *self);
void drift_range_archive(archive *a, drift_range *self);

#endif
