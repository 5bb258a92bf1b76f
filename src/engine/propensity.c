#include "propensity.h"

#include <math.h>

/* The best score; NaN if all are NaN. */
static double best_of(const ee_score *scores, size_t count)
{
    double best = NAN;
    for (size_t i = 0; i < count; i++)
        if (isnan(best) || scores[i].score > best) best = scores[i].score;
    return best;
}

static bool is_best(double score, double best)
{
    return score == best || isnan(best);
}

/* The gap of an arm to the best; infinity if its score is NaN but the best is not. */
static double gap_of(double score, double best)
{
    if (is_best(score, best)) return 0;
    return isnan(score) ? INFINITY : best - score;
}

static void fill_argmax(const ee_score *scores, size_t count, double best, double floor, double *probabilities)
{
    size_t ties = 0;
    for (size_t i = 0; i < count; i++) ties += is_best(scores[i].score, best);
    for (size_t i = 0; i < count; i++) {
        double share = is_best(scores[i].score, best) ? 1 / (double)ties : 0;
        probabilities[i] = (1 - floor) * share + floor / (double)count;
    }
}

static void fill_first(const ee_score *scores, size_t count, double best, double *probabilities)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        probabilities[i] = !found && is_best(scores[i].score, best) ? 1 : 0;
        found |= probabilities[i] == 1;
    }
}

static void fill_softmax(const ee_score *scores, size_t count, double best, double temperature, double *probabilities)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += probabilities[i] = exp(-gap_of(scores[i].score, best) / temperature);
    for (size_t i = 0; i < count; i++) probabilities[i] /= sum;
}

static void fill_igw(const ee_score *scores, size_t count, double best, double gamma, double *probabilities)
{
    size_t ties = 0;
    double rest = 1;
    for (size_t i = 0; i < count; i++) ties += is_best(scores[i].score, best);
    for (size_t i = 0; i < count; i++) {
        double gap = gap_of(scores[i].score, best);
        probabilities[i] = gap > 0 ? 1 / ((double)count + (gamma > 0 ? gamma * gap : 0)) : 0;
        rest -= probabilities[i];
    }
    for (size_t i = 0; i < count; i++)
        if (is_best(scores[i].score, best)) probabilities[i] = rest / (double)ties;
}

void propensity_fill(propensity_rule rule, const ee_score *scores, size_t count, double *probabilities)
{
    double best = best_of(scores, count);
    switch (rule.kind) {
    case PROPENSITY_OWN:
    case PROPENSITY_VOTES: /* of one voter */
    case PROPENSITY_ARGMAX:
        fill_argmax(scores, count, best, 0, probabilities);
        break;
    case PROPENSITY_FIRST:
        fill_first(scores, count, best, probabilities);
        break;
    case PROPENSITY_FLOOR:
        fill_argmax(scores, count, best, rule.amount, probabilities);
        break;
    case PROPENSITY_SOFTMAX:
        fill_softmax(scores, count, best, rule.amount, probabilities);
        break;
    case PROPENSITY_IGW:
        fill_igw(scores, count, best, rule.amount, probabilities);
        break;
    case PROPENSITY_LOSS_IGW:
        /* Without a loss gamma is infinite and any gap too large; if both are 0, there is no gap. */
        fill_igw(scores, count, best, rule.amount / fmax(rule.most - best, 0), probabilities);
        break;
    }
}

size_t propensity_draw(const double *probabilities, size_t count, random_stream *stream)
{
    /* If only one arm is possible, nothing is drawn from the stream. */
    for (size_t i = 0; i < count; i++)
        if (probabilities[i] == 1) return i;
    double drawn = random_unit(stream), below = 0;
    size_t last = 0;
    for (size_t i = 0; i < count; i++) {
        if (probabilities[i] <= 0) continue;
        last = i;
        below += probabilities[i];
        if (drawn < below) break;
    }
    return last; /* also if the sum is below one by rounding */
}
