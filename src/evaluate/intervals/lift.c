#include "lift.h"

#include <math.h>

/* A bet on effects of this size, relative to the mean absolute value. Guardrails are about 10%; the others find large
 * harm in few events. */
enum { BETS = 3 };
static const double sizes[BETS] = {0.1, 0.5, 2.5};
static const double shares[BETS] = {0.5, 0.25, 0.25};

lift lift_start(double low, double high)
{
    return (lift){.low = low, .high = high};
}

/* ---- adding ---- */

/* The finaliser of splitmix64. Buckets must not depend on how the caller made its keys or drew its groups. */
static uint64_t mix(uint64_t key)
{
    key += 0x9e3779b97f4a7c15u;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    return key ^ (key >> 31);
}

static void count_person(lift_group *group, uint64_t hash)
{
    uint64_t rest = hash >> 20;
    uint8_t *reg = &group->registers[(hash >> 9) % LIFT_REGISTERS], rank = 1;
    for (; !(rest & 1) && rank < 45; rest >>= 1) rank++;
    if (rank <= *reg) return;
    group->used += *reg == 0;
    group->filled += ldexp(1.0, -*reg) - ldexp(1.0, -rank);
    *reg = rank;
}

static double count_people(const lift_group *group)
{
    double registers = LIFT_REGISTERS, empty = registers - (double)group->used;
    double estimate = 0.7213 / (1.0 + 1.079 / registers) * registers * registers / (registers - group->filled);
    bool few = estimate <= 2.5 * registers && empty > 0.0;
    return few ? registers * log(registers / empty) : estimate;
}

void lift_add(lift *self, uint64_t key, bool treated, double share, double value)
{
    if (!isfinite(value) || !(share > 0.0 && share < 1.0)) return;
    if (self->low < self->high) value = fmin(self->high, fmax(self->low, value));
    lift_group *group = treated ? &self->treated : &self->control;
    double weight = treated ? 1.0 - share : share;
    uint64_t hash = mix(key);
    group->decisions++;
    group->weight += weight;
    group->weight_squares += weight * weight;
    group->sum += weight * value;
    group->weights[hash % LIFT_BUCKETS] += weight;
    group->sums[hash % LIFT_BUCKETS] += weight * value;
    count_person(group, hash);
    self->absolute += fabs(value);
}

/* ---- means and their covariance ---- */

typedef struct group_moments {
    double mean;
    double variance;  /* of the mean */
    double effective; /* lift_side.effective */
} group_moments;

typedef struct lift_moments {
    group_moments treated, control;
    double covariance;
    double ratio; /* variance of the treated mean by that of the control mean, if values vary equally in both */
    double scale; /* mean absolute value */
    bool enough;
} lift_moments;

/* What a bucket has above the mean of its group. */
static inline double above_mean(const lift_group *group, double mean, size_t bucket)
{
    return group->sums[bucket] - mean * group->weights[bucket];
}

/* Sums over the buckets. Several at once hide the latency of additions. */
enum { LANES = 8 };
typedef struct bucket_sums {
    double squares[2][LANES], fourths[2][LANES], products[LANES];
} bucket_sums;

static void sum_buckets(const lift *self, double treated, double control, bucket_sums *out)
{
    *out = (bucket_sums){0};
    for (size_t b = 0; b < LIFT_BUCKETS; b += LANES)
        for (size_t j = 0; j < LANES; j++) {
            double t = above_mean(&self->treated, treated, b + j), c = above_mean(&self->control, control, b + j);
            out->squares[0][j] += t * t;
            out->squares[1][j] += c * c;
            out->fourths[0][j] += t * t * t * t;
            out->fourths[1][j] += c * c * c * c;
            out->products[j] += t * c;
        }
}

static double total(const double *lanes)
{
    double sum = 0.0;
    for (size_t j = 0; j < LANES; j++) sum += lanes[j];
    return sum;
}

static group_moments moments_of(const lift_group *group, double mean, const double *squares, const double *fourths)
{
    double square = total(squares), fourth = total(fourths);
    return (group_moments){mean, square / (group->weight * group->weight),
                           fourth > 0.0 ? square * square / fourth : 0.0};
}

static bool enough_people(const lift *self)
{
    return count_people(&self->treated) >= LIFT_LEAST_PEOPLE && count_people(&self->control) >= LIFT_LEAST_PEOPLE;
}

/* Values that are all the same within each group have no variance to measure. They count as if one person of each
 * group had differed by the mean absolute value. */
static void vary_constants(const lift *self, lift_moments *m)
{
    const double rounding = 1e-18;
    double treated = count_people(&self->treated), control = count_people(&self->control), square = m->scale * m->scale;
    if (fmax(m->treated.variance, m->control.variance) > rounding * square) return;
    m->treated = (group_moments){m->treated.mean, square / (treated * treated), treated};
    m->control = (group_moments){m->control.mean, square / (control * control), control};
    m->covariance = 0.0;
}

static lift_moments find_moments(const lift *self)
{
    const lift_group *t = &self->treated, *c = &self->control;
    double treated = t->sum / t->weight, control = c->sum / c->weight, share = c->weight / t->weight;
    bucket_sums sums;
    sum_buckets(self, treated, control, &sums);
    lift_moments out = {.treated = moments_of(t, treated, sums.squares[0], sums.fourths[0]),
                        .control = moments_of(c, control, sums.squares[1], sums.fourths[1]),
                        .covariance = total(sums.products) / (t->weight * c->weight),
                        .ratio = t->weight_squares / c->weight_squares * share * share,
                        .scale = self->absolute / (double)(t->decisions + c->decisions)};
    vary_constants(self, &out);
    out.enough = enough_people(self) && out.scale > 0.0 &&
                 fmax(out.treated.effective, out.control.effective) >= LIFT_LEAST_EFFECTIVE;
    return out;
}

/* The share of one bucket in the variance. */
static double largest_share(const lift_group *group)
{
    double most = 0.0, sum = 0.0;
    for (size_t b = 0; b < LIFT_BUCKETS; b++) {
        double off = above_mean(group, group->sum / group->weight, b);
        most = fmax(most, off * off);
        sum += off * off;
    }
    return sum > 0.0 ? most / sum : 0.0;
}

/* Of a times the treated mean - f times the control mean. */
static double variance_of(const lift_moments *m, double a, double f)
{
    double treated = a * a * m->treated.variance, control = f * f * m->control.variance;
    double own = treated - 2.0 * a * f * m->covariance + control, borrowed = 0.0;
    if (a > 0.0 && m->treated.effective < LIFT_LEAST_EFFECTIVE) borrowed += fmax(0.0, control * m->ratio - treated);
    if (m->control.effective < LIFT_LEAST_EFFECTIVE)
        borrowed += fmax(0.0, (a > 0.0 ? treated : m->treated.variance) / m->ratio - control);
    return own + borrowed;
}

/* ---- bets ---- */

typedef enum bet_side { BET_BOTH, BET_ABOVE } bet_side;

/* Of an estimate that is z standard errors above 0. A bet on effects of size s is a normal mixture with variance s^2 of
 * bets exp(x S - x^2 I / 2), S = estimate * I, I = 1 / variance; above 0 only the positive half. */
static double log_wealth(double z, double variance, double scale, bet_side side)
{
    double logs[BETS], most = -INFINITY, sum = 0.0;
    for (size_t k = 0; k < BETS; k++) {
        double prior = sizes[k] * scale * sizes[k] * scale, gain = prior / (prior + variance);
        logs[k] = log(shares[k]) + 0.5 * log(variance / (prior + variance)) + 0.5 * z * z * gain;
        if (side == BET_ABOVE) logs[k] += log(erfc(-z * sqrt(0.5 * gain))); /* twice the normal distribution function */
        most = fmax(most, logs[k]);
    }
    if (!(most > -INFINITY)) return -INFINITY;
    for (size_t k = 0; k < BETS; k++) sum += exp(logs[k] - most);
    return most + log(sum);
}

/* The z at which a bet on both sides has the wealth 1 / alpha. */
static double boundary(double variance, double scale, double alpha)
{
    double prior = sizes[0] * scale * sizes[0] * scale, low = 0.0;
    double high = sqrt((2.0 * log(1.0 / (alpha * shares[0])) + log1p(prior / variance)) * (prior + variance) / prior);
    for (size_t i = 0; i < 60; i++) {
        double z = 0.5 * (low + high);
        *(log_wealth(z, variance, scale, BET_BOTH) < -log(alpha) ? &low : &high) = z;
    }
    return high;
}

/* Of a bet on treated mean - factor times control mean being above 0, or below. */
static double one_sided_wealth(const lift_moments *m, double factor, bool below)
{
    double variance = m->enough ? variance_of(m, 1.0, factor) : 0.0;
    if (!(variance > 0.0)) return 0.0;
    double z = (m->treated.mean - factor * m->control.mean) / sqrt(variance);
    return log_wealth(below ? -z : z, variance, m->scale, BET_ABOVE);
}

/* c + m |c| is the larger of (1 + m) c and (1 - m) c, and c - m |c| is the smaller, so a bound is violated if the
 * treated mean is beyond both. If it is not, one of the two bets is fair, and the smaller wealth is at most that bet's.
 */
double lift_log_wealth(const lift *self, double margin, bool below)
{
    if (!enough_people(self)) return 0.0;
    lift_moments m = find_moments(self);
    double wealth = one_sided_wealth(&m, 1.0 + margin, below);
    return margin > 0.0 ? fmin(wealth, one_sided_wealth(&m, 1.0 - margin, below)) : wealth;
}

double lift_violation(const lift *self, double margin, bool below, double alpha)
{
    return fmin(1.0, fmax(0.0, lift_log_wealth(self, margin, below) / -log(alpha)));
}

/* ---- estimates ---- */

static lift_side side_of(const lift_group *group, const group_moments *m)
{
    return (lift_side){group->decisions, count_people(group), m->effective, m->mean};
}

/* Of a times the treated mean - f times the control mean. */
static interval interval_of(const lift_moments *m, double a, double f, double alpha)
{
    double variance = variance_of(m, a, f), centre = (a > 0.0 ? a * m->treated.mean : 0.0) - f * m->control.mean;
    if (!(variance > 0.0)) return (interval){NAN, NAN};
    double half = boundary(variance, m->scale, alpha) * sqrt(variance);
    return (interval){centre - half, centre + half};
}

static bool rejects(const lift_moments *m, double factor, double alpha)
{
    double variance = variance_of(m, 1.0, factor), z = (m->treated.mean - factor * m->control.mean) / sqrt(variance);
    return log_wealth(z, variance, m->scale, BET_BOTH) >= -log(alpha);
}

/* The end of the factors that are not rejected, in the direction of step. */
static double last_factor(const lift_moments *m, double step, double alpha)
{
    double inside = m->treated.mean / m->control.mean, outside = inside + step;
    for (size_t i = 0; i < 60 && !rejects(m, outside, alpha); i++) {
        inside = outside;
        outside += step *= 2.0;
    }
    for (size_t i = 0; i < 60; i++) {
        double factor = 0.5 * (inside + outside);
        *(rejects(m, factor, alpha) ? &outside : &inside) = factor;
    }
    return outside;
}

/* All factors that a test at level alpha does not reject (Fieller, 1954). Bounded if the control mean is not 0. */
static interval relative_interval(const lift_moments *m, double alpha)
{
    interval control = interval_of(m, 0.0, 1.0, alpha);
    if (!(control.low > 0.0 || control.high < 0.0)) return (interval){NAN, NAN};
    double low = last_factor(m, -0.01, alpha) - 1.0, high = last_factor(m, 0.01, alpha) - 1.0;
    return m->control.mean > 0.0 ? (interval){low, high} : (interval){-high, -low};
}

lift_estimate lift_now(const lift *self, double alpha)
{
    lift_moments m = find_moments(self);
    lift_estimate out = {.treated = side_of(&self->treated, &m.treated),
                         .control = side_of(&self->control, &m.control),
                         .lift = m.treated.mean - m.control.mean,
                         .interval = {NAN, NAN},
                         .relative_interval = {NAN, NAN},
                         .largest = fmax(largest_share(&self->treated), largest_share(&self->control))};
    out.relative = m.control.mean != 0.0 ? out.lift / fabs(m.control.mean) : NAN;
    if (!m.enough) return out;
    out.interval = interval_of(&m, 1.0, 1.0, alpha);
    out.relative_interval = relative_interval(&m, alpha);
    return out;
}

/* ---- archive ---- */

static void archive_group(archive *a, lift_group *group)
{
    archive_u64(a, &group->decisions);
    archive_bytes(a, &group->weight, sizeof group->weight);
    archive_bytes(a, &group->weight_squares, sizeof group->weight_squares);
    archive_bytes(a, &group->sum, sizeof group->sum);
    archive_bytes(a, group->weights, sizeof group->weights);
    archive_bytes(a, group->sums, sizeof group->sums);
    archive_bytes(a, group->registers, sizeof group->registers);
    archive_bytes(a, &group->filled, sizeof group->filled);
    archive_u64(a, &group->used);
}

void lift_archive(archive *a, lift *self)
{
    archive_bytes(a, &self->low, sizeof self->low);
    archive_bytes(a, &self->high, sizeof self->high);
    archive_bytes(a, &self->absolute, sizeof self->absolute);
    archive_group(a, &self->treated);
    archive_group(a, &self->control);
}
