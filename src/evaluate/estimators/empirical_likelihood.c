#include "empirical_likelihood.h"

#include <math.h>

static double copies_of(const evaluated_rounds *rounds, size_t i)
{
    return rounds->copies ? rounds->copies[i] : 1.0;
}

/* The share of a round is copies / (n + beta (w - 1)). Computes the slope of the dual, which falls with beta, and its
 * derivative. */
static double slope_at(const evaluated_rounds *rounds, double n, double beta, double *falls)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < rounds->count; i++) {
        double off = rounds->weights[i] - 1.0, part = off / (off * beta + n), copies = copies_of(rounds, i);
        sum += copies * part;
        squares += copies * part * part;
    }
    *falls = squares;
    return sum;
}

/* The beta between low and high at which the slope is 0, or the nearest end. */
static double find_beta(const evaluated_rounds *rounds, double n, double low, double high)
{
    double falls;
    if (!(slope_at(rounds, n, low, &falls) > 0.0)) return low;
    if (!(slope_at(rounds, n, high, &falls) < 0.0)) return high;
    double beta = low + 0.5 * (high - low);
    for (int i = 0; i < 200; i++) {
        double slope = slope_at(rounds, n, beta, &falls);
        if (slope > 0.0)
            low = beta;
        else
            high = beta;
        double next = beta + slope / falls; /* Newton's */
        if (fabs(next - beta) <= 1e-15 * n) return next;
        if (!(next > low && next < high)) next = low + 0.5 * (high - low);
        if (next <= low || next >= high) break;
        beta = next;
    }
    return beta;
}

double empirical_likelihood_value(const evaluated_rounds *rounds, double weight_high)
{
    double n = 0.0, rewards = 0.0;
    for (size_t i = 0; i < rounds->count; i++) {
        n += copies_of(rounds, i);
        rewards += copies_of(rounds, i) * rounds->rewards[i];
    }
    if (!(n > 0.0)) return NAN;
    /* No share may be above 1 or below 0, of the rounds and of the weights 0 and weight_high. */
    double low = isinf(weight_high) ? 0.0 : n / (1.0 - fmax(weight_high, 1.0 + 1e-9)), high = n;
    for (size_t i = 0; i < rounds->count; i++) {
        double end = (n - copies_of(rounds, i)) / (1.0 - rounds->weights[i]);
        if (rounds->weights[i] < 1.0) high = fmin(high, end);
        if (rounds->weights[i] > 1.0) low = fmax(low, end);
    }
    double beta = find_beta(rounds, n, low, high), value = 0.0, mass = 0.0;
    for (size_t i = 0; i < rounds->count; i++) {
        double w = rounds->weights[i], share = copies_of(rounds, i) * w / ((w - 1.0) * beta + n);
        value += share * rounds->rewards[i];
        mass += share;
    }
    return value + fmax(0.0, 1.0 - mass) * rewards / n;
}
