#include "committee.h"

#include <math.h>
#include <string.h>

static const double WINDOW = 2000, PRIOR = 1.5;

/* Online means and sums of deviations (Welford), with earlier samples fading. A prediction that is not finite is
 * skipped: deep networks with large weights may give one. */
void committee_take(committee *self, const double *predictions, double reward)
{
    size_t count = self->count;
    double off[COMMITTEE_MOST + 1], kept = 1 - 1 / WINDOW;
    for (size_t k = 0; k <= count; k++) {
        off[k] = (k < count ? predictions[k] : reward) - self->mean[k];
        if (!isfinite(off[k])) return;
    }
    self->samples = kept * self->samples + 1;
    double share = 1 / self->samples;
    for (size_t k = 0; k <= count; k++) self->mean[k] += share * off[k];
    for (size_t j = 0; j < count; j++)
        for (size_t k = 0; k <= count; k++) self->sums[j][k] = kept * self->sums[j][k] + (1 - share) * off[j] * off[k];
}

/* Solves the regression for a set of networks, given as bits; b of the others is 0. Gaussian elimination: the matrix is
 * positive definite. Returns by how much that lowers the loss of b = 0; nothing if a b is negative. */
static double solve(const committee *self, unsigned set, double *b)
{
    size_t count = self->count;
    double rows[COMMITTEE_MOST][COMMITTEE_MOST + 1], target[COMMITTEE_MOST], lowered = 0;
    for (size_t j = 0; j < count; j++) {
        bool in = set >> j & 1;
        for (size_t k = 0; k < count; k++) rows[j][k] = in && set >> k & 1 ? self->sums[j][k] : 0;
        rows[j][j] += PRIOR;
        target[j] = rows[j][count] = in ? self->sums[j][count] + PRIOR / (double)count : 0;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            double factor = rows[j][i] / rows[i][i];
            for (size_t k = i; j != i && k <= count; k++) rows[j][k] -= factor * rows[i][k];
        }
    for (size_t k = 0; k < count; k++) {
        b[k] = rows[k][count] / rows[k][k];
        if (!(b[k] >= 0)) return 0;
        lowered += b[k] * target[k];
    }
    return lowered;
}

/* The minimum over b >= 0 is the solution for some set of networks. If the solution for all has no negative b, it is
 * the minimum; otherwise the best of the others. Dropping negative ones one at a time could drop a network that would
 * count without the others. */
void committee_weigh(const committee *self, float *weights)
{
    unsigned everyone = (1u << self->count) - 1;
    double best = 0, sum = 0, found[COMMITTEE_MOST] = {0};
    for (unsigned set = everyone; set; set--) {
        double b[COMMITTEE_MOST] = {0}, lowered = solve(self, set, b);
        if (!(lowered > best && isfinite(lowered))) continue;
        best = lowered;
        memcpy(found, b, sizeof found);
        if (set == everyone) break;
    }
    for (size_t k = 0; k < self->count; k++) sum += found[k];
    for (size_t k = 0; k < self->count; k++)
        weights[k] = (float)(sum > 0 && isfinite(sum) ? found[k] / sum : 1 / (double)self->count);
}

/* Sums of floats are far below this, and further samples cannot overflow a double. */
static bool is_number(double value)
{
    return fabs(value) <= 1e100;
}

static bool is_sound(const committee *self)
{
    bool sound = is_number(self->samples) && self->samples >= 0;
    for (size_t k = 0; k <= self->count; k++) sound &= is_number(self->mean[k]);
    for (size_t j = 0; j < self->count; j++) {
        sound &= self->sums[j][j] >= 0;
        for (size_t k = 0; k <= self->count; k++) sound &= is_number(self->sums[j][k]);
    }
    return sound;
}

void committee_archive(committee *self, archive *a)
{
    size_t count = self->count;
    archive_bytes(a, &self->samples, sizeof self->samples);
    archive_bytes(a, self->mean, (count + 1) * sizeof *self->mean);
    for (size_t k = 0; k < count; k++) archive_bytes(a, self->sums[k], (count + 1) * sizeof *self->sums[k]);
    if (a->reading && !a->status && !is_sound(self))
        archive_fail(a, EE_BAD_MODEL, "model: invalid state of f1's committee");
}
