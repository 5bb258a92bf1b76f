#include "rounds_sums.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "math/doubles.h"

/* Rounds whose products fit in the fastest cache. */
enum { BLOCK = 256 };

_Static_assert(offsetof(rounds_sums, lost) - offsetof(rounds_sums, count) == ROUNDS_SUMS * sizeof(double),
               "the sums lie one after the other");

/* Adds to each sum and keeps its rounding error; on arrays, so that it vectorises. */
static void add_exactly(rounds_sums *restrict self, const rounds_sums *restrict other)
{
    double sums[ROUNDS_SUMS], added[ROUNDS_SUMS];
    memcpy(sums, &self->count, sizeof sums);
    memcpy(added, &other->count, sizeof added);
    for (size_t i = 0; i < ROUNDS_SUMS; i++) {
        double whole = added[i] - other->lost[i] - self->lost[i], total = sums[i] + whole;
        self->lost[i] = (total - sums[i]) - whole;
        sums[i] = total;
    }
    memcpy(&self->count, sums, sizeof sums);
}

static void merge_extremes(rounds_sums *self, const rounds_sums *other)
{
    bool first = !self->events;
    if (first || other->wmax > self->wmax) self->wmax = other->wmax;
    if (first || other->copies_max > self->copies_max) self->copies_max = other->copies_max;
}

void rounds_sums_merge(rounds_sums *self, const rounds_sums *other)
{
    if (!other->events) return;
    merge_extremes(self, other);
    self->events += other->events;
    add_exactly(self, other);
}

void rounds_sums_add(rounds_sums *self, double weight, double reward, double direct, double predicted, double copies)
{
    double w = copies * weight, r = copies * reward, d = copies * direct;
    double x = w * reward, y = w * (reward - predicted), same = weight > 0.0 ? copies : 0.0, same_r = same * reward;
    rounds_sums one = {
        .count = copies,
        .events = 1,
        .wmax = weight,
        .copies_max = copies,
        .w = w,
        .ww = w * w,
        .r = r,
        .wr = x,
        .wwr = w * x,
        .wwrr = x * x,
        .d = d,
        .dd = d * d,
        .we = y,
        .wwe = w * y,
        .wwee = y * y,
        .dwe = d * y,
        .dw = d * w,
        .cc = copies * copies,
        .cw = copies * w,
        .cwr = copies * x,
        .cd = copies * d,
        .cwe = copies * y,
        .same = same,
        .same2 = same * same,
        .same_r = same_r,
        .same2_r = same * same_r,
        .same2_rr = same_r * same_r,
    };
    rounds_sums_merge(self, &one);
}

/* The rounds of a block as parts of the whole arrays. Each is (count); a missing array means zeros, or ones for copies.
 */
typedef struct block {
    size_t count;
    const double *weights, *rewards;
    const double *direct, *predicted, *copies; /* or NULL */
} block;

static void add_rewards(rounds_sums *to, const block *b)
{
    double w[BLOCK], x[BLOCK], r[BLOCK], same[BLOCK], same_r[BLOCK];
    for (size_t i = 0; i < b->count; i++) {
        double copies = b->copies ? b->copies[i] : 1.0;
        w[i] = copies * b->weights[i];
        r[i] = copies * b->rewards[i];
        x[i] = w[i] * b->rewards[i];
        same[i] = b->weights[i] > 0.0 ? copies : 0.0;
        same_r[i] = same[i] * b->rewards[i];
    }
    to->count = b->copies ? doubles_sum(b->copies, b->count) : (double)b->count;
    to->w = doubles_sum(w, b->count);
    to->ww = doubles_dot(w, w, b->count);
    to->r = doubles_sum(r, b->count);
    to->wr = doubles_sum(x, b->count);
    to->wwr = doubles_dot(w, x, b->count);
    to->wwrr = doubles_dot(x, x, b->count);
    to->same = doubles_sum(same, b->count);
    to->same2 = doubles_dot(same, same, b->count);
    to->same_r = doubles_sum(same_r, b->count);
    to->same2_r = doubles_dot(same, same_r, b->count);
    to->same2_rr = doubles_dot(same_r, same_r, b->count);
    to->cc = b->copies ? doubles_dot(b->copies, b->copies, b->count) : to->count;
    to->cw = b->copies ? doubles_dot(b->copies, w, b->count) : to->w;
    to->cwr = b->copies ? doubles_dot(b->copies, x, b->count) : to->wr;
}

static void add_residuals(rounds_sums *to, const block *b)
{
    double w[BLOCK], d[BLOCK], y[BLOCK];
    for (size_t i = 0; i < b->count; i++) {
        double copies = b->copies ? b->copies[i] : 1.0;
        w[i] = copies * b->weights[i];
        d[i] = b->direct ? copies * b->direct[i] : 0.0;
        y[i] = w[i] * (b->predicted ? b->rewards[i] - b->predicted[i] : b->rewards[i]);
    }
    to->d = doubles_sum(d, b->count);
    to->dd = doubles_dot(d, d, b->count);
    to->we = doubles_sum(y, b->count);
    to->wwe = doubles_dot(w, y, b->count);
    to->wwee = doubles_dot(y, y, b->count);
    to->dwe = doubles_dot(d, y, b->count);
    to->dw = doubles_dot(d, w, b->count);
    to->cd = b->copies ? doubles_dot(b->copies, d, b->count) : to->d;
    to->cwe = b->copies ? doubles_dot(b->copies, y, b->count) : to->we;
}

static void add_extremes(rounds_sums *to, const block *b)
{
    double wmax = -INFINITY, copies = b->copies ? -INFINITY : 1.0;
    for (size_t i = 0; i < b->count; i++) wmax = b->weights[i] > wmax ? b->weights[i] : wmax;
    for (size_t i = 0; b->copies && i < b->count; i++) copies = b->copies[i] > copies ? b->copies[i] : copies;
    to->wmax = wmax;
    to->copies_max = copies;
}

void rounds_sums_add_all(rounds_sums *self, const evaluated_rounds *rounds)
{
    for (size_t at = 0; at < rounds->count; at += BLOCK) {
        block b = {.count = rounds->count - at < BLOCK ? rounds->count - at : BLOCK,
                   .weights = rounds->weights + at,
                   .rewards = rounds->rewards + at,
                   .direct = rounds->direct ? rounds->direct + at : NULL,
                   .predicted = rounds->predicted ? rounds->predicted + at : NULL,
                   .copies = rounds->copies ? rounds->copies + at : NULL};
        rounds_sums sums = {.events = b.count};
        add_rewards(&sums, &b);
        if (b.direct || b.predicted) {
            add_residuals(&sums, &b);
        } else { /* a model that predicts 0 */
            sums.we = sums.wr;
            sums.wwe = sums.wwr;
            sums.wwee = sums.wwrr;
            sums.cwe = sums.cwr;
        }
        add_extremes(&sums, &b);
        rounds_sums_merge(self, &sums);
    }
}

double rounds_sums_cressie_read(const rounds_sums *self, double weight_high)
{
    double n = self->count;
    if (!(n > 0.0)) return NAN;
    /* A pretended round, of the extreme weight that draws the mean of the weights to 1. */
    double pretended = self->w < n ? fmax(weight_high, self->wmax) * self->copies_max : 0.0;
    double constant = (1.0 + n) / n, linear = 0.0; /* of the weight, in what a round counts */
    if (!isinf(pretended)) {
        double first = (pretended + self->w) / (1.0 + n), second = (pretended * pretended + self->ww) / (1.0 + n);
        double variance = second - first * first;
        if (variance > 0.0) {
            constant = (second - first) / variance;
            linear = (1.0 - first) / variance;
        }
    }
    double missing = 1.0 - (constant * self->w + linear * self->ww) / (1.0 + n);
    return (constant * self->wr + linear * self->wwr) / (1.0 + n) + fmax(0.0, missing) * self->r / n;
}

double rounds_sums_value(const rounds_sums *self, estimator_kind kind)
{
    double n = self->count;
    switch (kind) {
    case ESTIMATOR_IPS:
        return self->wr / n;
    case ESTIMATOR_SNIPS:
        return self->wr / self->w;
    case ESTIMATOR_DM:
        return self->d / n;
    case ESTIMATOR_DR:
        return (self->d + self->we) / n;
    case ESTIMATOR_SNDR:
        return self->d / n + self->we / self->w;
    case ESTIMATOR_REPLAY:
        return self->same_r / self->same;
    case ESTIMATOR_CRESSIE_READ:
        return rounds_sums_cressie_read(self, INFINITY);
    default:
        return NAN;
    }
}

double rounds_sums_effective(const rounds_sums *self)
{
    return self->w * self->w / self->ww;
}
