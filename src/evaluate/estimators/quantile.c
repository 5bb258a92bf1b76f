#include "quantile.h"

#include <math.h>
#include <stdbool.h>

static const double HALF_LOG_TWO_PI = 0.91893853320467274178;

static bool is_probability(double number)
{
    return number > 0.0 && number < 1.0;
}

double quantile_normal(double probability)
{
    if (!is_probability(probability)) return NAN;
    double tail = fmin(probability, 1.0 - probability);
    /* Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.23: within 4.5e-4; Halley's steps triple the
     * digits. */
    double s = sqrt(-2.0 * log(tail));
    double z = s - (2.515517 + s * (0.802853 + s * 0.010328)) / (1.0 + s * (1.432788 + s * (0.189269 + s * 0.001308)));
    for (int i = 0; i < 3; i++) {
        double off = (0.5 * erfc(z * sqrt(0.5)) - tail) / exp(-0.5 * z * z - HALF_LOG_TWO_PI);
        z += off / (1.0 - 0.5 * z * off);
    }
    return probability < 0.5 ? -z : z;
}

/* ln Gamma(z) less Stirling's (z - 1/2) ln z - z + ln(2 pi) / 2. Differences of ln Gamma itself would lose as many
 * digits as z has. */
static double stirling_rest(double z)
{
    if (z < 16.0) {
        double product = 1.0, up = z;
        for (; up < 16.0; up += 1.0) product *= up;
        return stirling_rest(up) + (up - 0.5) * log(up) - up - log(product) - (z - 0.5) * log(z) + z;
    }
    double u = 1.0 / (z * z);
    return (1.0 / 12 - u * (1.0 / 360 - u * (1.0 / 1260 - u * (1.0 / 1680 - u / 1188)))) / z;
}

/* The probability of less than x, and x (1 - x) times the density there. */
typedef struct beta_point {
    double below, density;
} beta_point;

/* The continued fraction of the incomplete beta function, DLMF 8.17.22, by Lentz's method. Its steps grow with the root
 * of a and b. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0);
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (double m = 1.0; m < 1e7; m += 1.0) {
        double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 + even * d;
        c = 1.0 + even / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        value *= c * d;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 + odd * d;
        c = 1.0 + odd / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        value *= c * d;
        if (fabs(c * d - 1.0) < 1e-16) break;
    }
    return value;
}

/* ln(1 + off / whole), where 1 + off / whole equals share: uses the form that keeps more digits. */
static double log_of(double off, double whole, double share)
{
    return fabs(off) < 0.5 * whole ? log1p(off / whole) : log(share);
}

/* y is 1 - x, which the caller may know with more digits. */
static beta_point beta_at(double a, double b, double x, double y)
{
    double off = x * b - y * a;
    double log_density = a * log_of(off, a, x * (a + b) / a) + b * log_of(-off, b, y * (a + b) / b) +
                         0.5 * log(a * b / (a + b)) - HALF_LOG_TWO_PI + stirling_rest(a + b) - stirling_rest(a) -
                         stirling_rest(b);
    double density = exp(log_density);
    if (x < (a + 1.0) / (a + b + 2.0)) return (beta_point){density * beta_fraction(a, b, x) / a, density};
    return (beta_point){1.0 - density * beta_fraction(b, a, y) / b, density};
}

double quantile_student(double probability, double freedom)
{
    if (!is_probability(probability) || !(freedom > 0.0)) return NAN;
    double tail = fmin(probability, 1.0 - probability), sign = probability < 0.5 ? -1.0 : 1.0;
    double low = 0.0, high = INFINITY, t = -quantile_normal(tail);
    if (t <= 1e-17) return 0.0;
    /* Cornish and Fisher's expansion, where the continued fraction would lose digits; the next part is below 1e-13. */
    if (freedom > 1e5)
        return sign * t *
               (1.0 + ((t * t + 1.0) + (t * t * (5.0 * t * t + 16.0) + 3.0) / (24.0 * freedom)) / (4.0 * freedom));
    for (int i = 0; i < 2000; i++) {
        double square = t * t;
        beta_point at = beta_at(0.5 * freedom, 0.5, freedom / (freedom + square), square / (freedom + square));
        if (0.5 * at.below > tail)
            low = t;
        else
            high = t;
        double step = (0.5 * at.below - tail) * t / at.density; /* Newton's */
        double next = t + step;
        if (fabs(step) <= 1e-15 * t) return sign * next;
        if (!(next > low && next < high)) next = isinf(high) ? 2.0 * t : low + 0.5 * (high - low);
        if (next == t) break;
        t = next;
    }
    return sign * t;
}

double quantile_beta(double probability, double a, double b)
{
    if (!is_probability(probability) || !(a > 0.0) || !(b > 0.0)) return NAN;
    double low = 0.0, high = 1.0, x = a / (a + b);
    for (int i = 0; i < 2000; i++) {
        beta_point at = beta_at(a, b, x, 1.0 - x);
        if (at.below < probability)
            low = x;
        else
            high = x;
        double step = (probability - at.below) * x * (1.0 - x) / at.density;
        double next = x + step;
        if (fabs(step) <= 1e-16 * x) return x;
        if (!(next > low && next < high)) next = low + 0.5 * (high - low);
        if (next <= low || next >= high) return next; /* no number is left between the two */
        x = next;
    }
    return x;
}
