#include "committee.h"

#include <math.h>

static const double WINDOW = 2000, PRIOR = 1.5;

/* Means and sums of deviations as samples come (Welford), all that came before losing a part. */
void committee_take(committee *self, const double *predictions, double reward)
{
    size_t count = self->count;
    double off[COMMITTEE_MOST + 1], kept = 1 - 1 / WINDOW;
    for (size_t k = 0; k <= count; k++) off[k] = (k < count ? predictions[k] : reward) - self->mean[k];
    self->samples = kept * self->samples + 1;
    double share = 1 / self->samples;
    for (size_t k = 0; k <= count; k++) self->mean[k] += share * off[k];
    for (size_t j = 0; j < count; j++)
        for (size_t k = 0; k <= count; k++) self->sums[j][k] = kept * self->sums[j][k] + (1 - share) * off[j] * off[k];
}

/* Solves the regression for those networks that take part; b of the others is 0. By Gauss's elimination: the matrix is
 * positive definite. */
static void solve(const committee *self, const bool *part, double *b)
{
    size_t count = self->count;
    double rows[COMMITTEE_MOST][COMMITTEE_MOST + 1];
    for (size_t j = 0; j < count; j++) {
        for (size_t k = 0; k < count; k++) rows[j][k] = part[j] && part[k] ? self->sums[j][k] : 0;
        rows[j][j] += PRIOR;
        rows[j][count] = part[j] ? self->sums[j][count] + PRIOR / (double)count : 0;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            double factor = rows[j][i] / rows[i][i];
            for (size_t k = i; j != i && k <= count; k++) rows[j][k] -= factor * rows[i][k];
        }
    for (size_t k = 0; k < count; k++) b[k] = rows[k][count] / rows[k][k];
}

void committee_weigh(const committee *self, float *weights)
{
    bool part[COMMITTEE_MOST];
    double b[COMMITTEE_MOST] = {0};
    for (size_t k = 0; k < self->count; k++) part[k] = true;
    for (;;) {
        size_t least = 0;
        double sum = 0;
        solve(self, part, b);
        for (size_t k = 0; k < self->count; k++) {
            sum += b[k];
            if (b[k] < b[least]) least = k;
        }
        if (b[least] < 0) {
            part[least] = false;
            continue;
        }
        for (size_t k = 0; k < self->count; k++)
            weights[k] = (float)(sum > 0 && isfinite(sum) ? b[k] / sum : 1 / (double)self->count);
        return;
    }
}

void committee_archive(committee *self, archive *a)
{
    size_t count = self->count;
    archive_bytes(a, &self->samples, sizeof self->samples);
    archive_bytes(a, self->mean, (count + 1) * sizeof *self->mean);
    for (size_t k = 0; k < count; k++) archive_bytes(a, self->sums[k], (count + 1) * sizeof *self->sums[k]);
    bool sound = isfinite(self->samples);
    for (size_t j = 0; j < count; j++) {
        sound &= isfinite(self->mean[j]) && self->sums[j][j] >= 0;
        for (size_t k = 0; k <= count; k++) sound &= isfinite(self->sums[j][k]);
    }
    if (a->reading && !a->status && !(sound && isfinite(self->mean[count])))
        archive_fail(a, EE_BAD_MODEL, "model: a number of f1's committee is not one that samples make");
}
