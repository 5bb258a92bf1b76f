#include "share_means.h"

#include <math.h>

/* How far the bound moves for a mean that misses its target. The window corrects itself within a tenth of its length.
 */
static const double GAIN = 10;

static int64_t slice_of(const guard_share *of, int64_t time)
{
    return time / ((of->window + SHARE_SLICES - 1) / SHARE_SLICES);
}

static bool in_window(const share_slice *slice, int64_t index)
{
    return slice->count > 0 && slice->index > index - SHARE_SLICES;
}

static void sum_slices(const share_mean *self, int64_t index, double *mass, double *count)
{
    *mass = *count = 0;
    for (size_t i = 0; i < SHARE_SLICES; i++) {
        if (!in_window(&self->slices[i], index)) continue;
        *mass += self->slices[i].mass;
        *count += self->slices[i].count;
    }
}

/* Sums the slices again when the window moves: rounding errors do not add up. */
static void move_to(share_mean *self, int64_t index)
{
    if (index <= self->index) return;
    self->index = index;
    sum_slices(self, index, &self->mass, &self->count);
}

void share_count(share_mean *self, const guard_share *of, int64_t now, double mass)
{
    if (!of->window) return;
    move_to(self, slice_of(of, now));
    share_slice *slice = &self->slices[self->index % SHARE_SLICES];
    if (slice->index != self->index) *slice = (share_slice){.index = self->index};
    slice->mass += mass;
    slice->count++;
    self->mass += mass;
    self->count++;
}

void share_undo(share_mean *self, const guard_share *of, int64_t decided, double mass)
{
    if (!of->window) return;
    int64_t index = slice_of(of, decided);
    share_slice *slice = &self->slices[index % SHARE_SLICES];
    if (slice->index != index || !in_window(slice, self->index)) return;
    slice->count--;
    slice->mass = slice->count > 0 ? fmax(0, slice->mass - mass) : 0;
    self->count--;
    self->mass = self->count > 0 ? fmax(0, self->mass - mass) : 0;
}

double share_now(const share_mean *self, const guard_share *of, int64_t now)
{
    double mass = self->mass, count = self->count;
    if (!of->window) return NAN;
    int64_t index = slice_of(of, now);
    if (index > self->index) sum_slices(self, index, &mass, &count);
    return count > 0 ? mass / count : NAN;
}

static double clip(double value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

void share_bounds(share_mean *self, const guard_share *of, int64_t now, double *low, double *high)
{
    if (of->window) move_to(self, slice_of(of, now));
    double mean = share_now(self, of, now);
    *low = isnan(mean) ? of->low : clip(of->low + GAIN * (of->low - mean));
    *high = isnan(mean) ? of->high : clip(of->high + GAIN * (of->high - mean));
}

/* Lows above 1 in sum: takes from what was added to make up for the window, then from all in proportion. */
static void reduce_lows(const guard_share *of, size_t count, const bool *present, double *low)
{
    double sum = 0, plain = 0;
    for (size_t i = 0; i < count; i++) {
        if (!present[i]) continue;
        sum += low[i];
        plain += fmin(low[i], of[i].low);
    }
    if (sum <= 1) return;
    double kept = plain < 1 ? (1 - plain) / (sum - plain) : 0, factor = plain > 1 ? 1 / plain : 1;
    for (size_t i = 0; i < count; i++) {
        double base = fmin(low[i], of[i].low);
        low[i] = factor * (base + kept * (low[i] - base));
    }
}

/* Highs below 1 in sum: raises all in proportion to what is missing to 1. */
static void raise_highs(size_t count, const bool *present, double *high)
{
    double sum = 0, room = 0;
    for (size_t i = 0; i < count; i++) {
        if (!present[i]) continue;
        sum += high[i];
        room += 1 - high[i];
    }
    if (sum >= 1 || room <= 0) return;
    double factor = (1 - sum) / room;
    for (size_t i = 0; i < count; i++)
        if (present[i]) high[i] += factor * (1 - high[i]);
}

void shares_reconcile(const guard_share *of, size_t count, const bool *present, bool covers_all, double *low,
                      double *high)
{
    for (size_t i = 0; i < count; i++) {
        if (present[i]) continue;
        low[i] = 0;
        high[i] = 1;
    }
    reduce_lows(of, count, present, low);
    if (covers_all) raise_highs(count, present, high);
}
