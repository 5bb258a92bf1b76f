#include "confidence_sequence.h"

#include <math.h>

static const double LOG_TWO_PI = 1.83787706640934548356;

/* ---- one end ---- */

/* The sum of 1 / (b + s)^2 for s = 0 .. n - 1, continued to an n that is not whole: a difference of trigamma functions,
 * taken within their asymptotic series, where nothing cancels. */
static double inverse_squares(double b, double n)
{
    double sum = 0.0;
    for (; b < 16.0; b += 1.0) sum += 1.0 / (b * b) - 1.0 / ((b + n) * (b + n));
    /* 1/b + 1/(2 b^2) + sum over k of B_2k / b^(2k + 1), each less the same at b + n. */
    static const double powers[] = {1, 2, 3, 5, 7, 9, 11};
    static const double factors[] = {1, 1.0 / 2, 1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66};
    double step = log1p(-n / (b + n)); /* ln(b / (b + n)) */
    for (size_t k = 0; k < sizeof powers / sizeof *powers; k++)
        sum -= factors[k] * pow(b, -powers[k]) * expm1(powers[k] * step);
    return sum;
}

static double centre_of(const one_sided_sequence *self)
{
    double centre = (self->sum + 0.5) / (self->count + 1.0);
    return self->loose ? centre : fmin(1.0, centre);
}

/* Adds rounds of y = 0, in which the centre falls as 1 / (count + 1). */
static void add_zeros(one_sided_sequence *self, double rounds)
{
    double top = self->sum + 0.5, from = self->count + 1.0;
    double capped = self->loose ? 0.0 : fmin(rounds, ceil(fmax(0.0, top - from)));
    self->variation += capped + top * top * inverse_squares(from + capped, rounds - capped);
    self->count += rounds;
}

void one_sided_add(one_sided_sequence *self, double y, double copies)
{
    if (copies > 1.0) add_zeros(self, copies - 1.0);
    double off = copies * y - centre_of(self);
    self->variation += off * off;
    self->sum += copies * y;
    self->count += 1.0;
}

/* The sum over k >= 0 of x^k / (a (a + 1) ... (a + k)), as its logarithm. */
static double log_series(double a, double x)
{
    double term = 1.0 / a, sum = term;
    for (double k = 1.0; term > 1e-17 * sum && sum < 1e250; k += 1.0) {
        term *= x / (a + k);
        sum += term;
    }
    return log(sum);
}

/* The same for a large a: it is gamma(a, x) x^-a e^x, by the uniform expansion of the incomplete gamma function (Temme,
 * 1979; DLMF 8.12). s = x - a. What is left out is below 1e-10 of it. */
static double log_expansion(double a, double s)
{
    double m = s / a, half = fmax(0.0, m - log1p(m)), eta = sqrt(2.0 * half);
    double first = m > 1e-4 ? 1.0 / m - 1.0 / eta : -1.0 / 3.0 + m / 12.0;
    double second = m > 0.02 ? 1.0 / (eta * eta * eta) - (1.0 / m + 1.0 + m / 12.0) / (m * m) : -1.0 / 540 - m / 288;
    double rest = (first + second / a) * exp(-a * half - 0.5 * (LOG_TWO_PI + log(a)));
    double share = 0.5 * erfc(-eta * sqrt(0.5 * a)) - rest; /* of gamma(a, x) in Gamma(a) */
    return 0.5 * (LOG_TWO_PI - log(a)) + 1.0 / (12.0 * a) + a * half + log(share);
}

/* With a = variation + 1 and s = sum - count mu: the log wealth, up to a constant, of a bet that starts with 1 and wins
 * if the mean is above mu. The mixture in the papers equals this sum once its powers and exponentials, which are huge
 * and cancel, are taken out. */
static double log_wealth(double a, double s)
{
    return a < 1000.0 ? log_series(a, a + s) : log_expansion(a, s);
}

/* log_wealth at a wealth of 1 / alpha. */
static double log_target(double alpha)
{
    return 1.0 - log(alpha) + log1p(-exp(-1.0));
}

/* The s at which the wealth is 1 / alpha. */
static double boundary(double variation, double alpha)
{
    double a = variation + 1.0, target = log_target(alpha);
    double low = 0.0, high = INFINITY;
    double s = sqrt(2.0 * a * fmax(1.0, target + 0.5 * (log(a) - LOG_TWO_PI)));
    for (int i = 0; i < 200; i++) {
        double log_sum = log_wealth(a, s);
        if (log_sum < target)
            low = s;
        else
            high = s;
        double slope = (s + exp(-log_sum)) / (a + s), next = s - (log_sum - target) / slope; /* Newton's */
        if (fabs(next - s) <= 1e-13 * s) return next;
        if (!(next > low && next < high)) next = isinf(high) ? 2.0 * s : low + 0.5 * (high - low);
        if (next <= low || next >= high) break;
        s = next;
    }
    return s;
}

double one_sided_lower(const one_sided_sequence *self, double alpha)
{
    if (!(self->count > 0.0)) return 0.0;
    double lower = (self->sum - boundary(self->variation, alpha)) / self->count;
    return fmin(1.0, fmax(0.0, lower));
}

double one_sided_log_wealth(const one_sided_sequence *self, double mean)
{
    double s = self->sum - self->count * mean;
    return s > 0.0 ? log_wealth(self->variation + 1.0, s) - log_target(1.0) : -INFINITY;
}

/* ---- both ---- */

confidence_sequence confidence_sequence_of_ips(value_range range)
{
    return (confidence_sequence){.range = range};
}

confidence_sequence confidence_sequence_of_dr(value_range range)
{
    return (confidence_sequence){.range = range, .slack = 1.0};
}

confidence_sequence confidence_sequence_of_gain(value_range range)
{
    return (confidence_sequence){.range = range, .slack = 1.0, .gain = true};
}

static double to_unit(value_range range, double reward)
{
    return fmin(1.0, fmax(0.0, (reward - range.reward_low) / (range.reward_high - range.reward_low)));
}

static void add_term(const confidence_sequence *self, one_sided_sequence *end, double x, double copies)
{
    one_sided_add(end, (x + self->slack) / (1.0 + self->slack), copies);
}

void confidence_sequence_add_ips(confidence_sequence *self, double weight, double reward, double copies)
{
    double r = to_unit(self->range, reward);
    add_term(self, &self->below, weight * r, copies);
    add_term(self, &self->above, weight * (1.0 - r), copies);
}

void confidence_sequence_add_gain(confidence_sequence *self, double weight, double reward, double copies)
{
    double r = to_unit(self->range, reward);
    add_term(self, &self->below, (weight - 1.0) * r, copies);
    add_term(self, &self->above, (weight - 1.0) * (1.0 - r), copies);
}

/* The mean of (w - less) r over slots, at both ends. */
static void add_slots(confidence_sequence *self, const double *weights, const double *rewards, size_t count,
                      double less, double copies)
{
    double below = 0.0, above = 0.0;
    for (size_t k = 0; k < count; k++) {
        double r = to_unit(self->range, rewards[k]);
        below += (weights[k] - less) * r;
        above += (weights[k] - less) * (1.0 - r);
    }
    add_term(self, &self->below, below / (double)count, copies);
    add_term(self, &self->above, above / (double)count, copies);
}

void confidence_sequence_add_ips_slots(confidence_sequence *self, const double *weights, const double *rewards,
                                       size_t count, double copies)
{
    add_slots(self, weights, rewards, count, 0.0, copies);
}

void confidence_sequence_add_gain_slots(confidence_sequence *self, const double *weights, const double *rewards,
                                        size_t count, double copies)
{
    add_slots(self, weights, rewards, count, 1.0, copies);
}

/* d + w (r - q(a)) of the rewards, or of 1 - rewards if turned. */
static double robust_term(const confidence_sequence *self, const scored_round *round, bool turned)
{
    double direct = 0.0, cut = 0.0, weight = round->pi[round->action] / round->p[round->action];
    for (size_t a = 0; a < round->count; a++) {
        double q = to_unit(self->range, round->q[a]);
        if (turned) q = 1.0 - q;
        if (q * round->pi[a] > round->p[a]) q = round->p[a] / round->pi[a];
        direct += round->pi[a] * q;
        if (a == round->action) cut = q;
    }
    double r = to_unit(self->range, round->reward);
    return direct + weight * ((turned ? 1.0 - r : r) - cut);
}

void confidence_sequence_add_dr(confidence_sequence *self, const scored_round *round)
{
    add_term(self, &self->below, robust_term(self, round, false), round->copies);
    add_term(self, &self->above, robust_term(self, round, true), round->copies);
}

interval confidence_sequence_interval(const confidence_sequence *self, double alpha)
{
    double low = (1.0 + self->slack) * one_sided_lower(&self->below, 0.5 * alpha) - self->slack;
    double turned = (1.0 + self->slack) * one_sided_lower(&self->above, 0.5 * alpha) - self->slack;
    double start = self->gain ? 0.0 : self->range.reward_low, span = self->range.reward_high - self->range.reward_low;
    double least = self->gain ? -1.0 : 0.0, high = self->gain ? -turned : 1.0 - turned;
    return (interval){start + span * fmax(least, low), start + span * fmin(1.0, high)};
}
