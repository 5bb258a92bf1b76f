#include "estimator.h"

#include <math.h>
#include <string.h>

#include "empirical_likelihood.h"
#include "math/doubles.h"
#include "quantile.h"
#include "rounds_sums.h"

/* Rounds whose terms fit in the fastest cache. */
enum { BLOCK = 512 };

static const estimator_info infos[ESTIMATOR_KINDS] = {
    [ESTIMATOR_IPS] = {"ips", "inverse propensity scoring: unbiased if the propensities are right", .streams = true},
    [ESTIMATOR_CLIPPED] = {"clipped",
                           "IPS with weights clipped at lambda: less variance, biased low for positive rewards",
                           .tuned = true},
    [ESTIMATOR_SNIPS] = {"snips", "self-normalised IPS: slightly biased, far less variance if weights vary",
                         .streams = true},
    [ESTIMATOR_DM] = {"dm", "direct method: the reward model's prediction, only as accurate as the model",
                      .models = true, .streams = true},
    [ESTIMATOR_DR] = {"dr", "doubly robust: right if the propensities or the reward model are right", .models = true,
                      .streams = true},
    [ESTIMATOR_CLIPPED_DR] = {"clipped-dr", "DR with weights clipped at lambda", .models = true, .tuned = true},
    [ESTIMATOR_SNDR] = {"sndr", "self-normalised DR", .models = true, .streams = true},
    [ESTIMATOR_SWITCH_DR] = {"switch-dr", "DR if the weight is at most lambda, else the reward model", .models = true,
                             .tuned = true},
    [ESTIMATOR_DROS] = {"dros", "DR with weights shrunk towards 0, large weights most", .models = true, .tuned = true},
    [ESTIMATOR_SG_IPS] = {"sg-ips", "sub-Gaussian IPS: weights shrunk so that they have no heavy tail", .tuned = true},
    [ESTIMATOR_SG_DR] = {"sg-dr", "sub-Gaussian DR", .models = true, .tuned = true},
    [ESTIMATOR_REPLAY] = {"replay", "mean reward where a deterministic policy agrees with a uniform log",
                          .streams = true},
    [ESTIMATOR_EL] = {"el", "empirical likelihood: the most likely reweighting with mean weight 1", .models = false},
    [ESTIMATOR_CRESSIE_READ] = {"cressie-read", "empirical likelihood with a divergence that needs only sums",
                                .streams = true},
};

const estimator_info *estimator_describe(estimator_kind kind)
{
    return &infos[kind];
}

estimator_kind estimator_find(const char *name)
{
    size_t kind = 0;
    while (kind < ESTIMATOR_KINDS && strcmp(infos[kind].name, name)) kind++;
    return (estimator_kind)kind;
}

static bool is_normalised(estimator_kind kind)
{
    return kind == ESTIMATOR_SNIPS || kind == ESTIMATOR_SNDR || kind == ESTIMATOR_REPLAY;
}

/* Whether a kind uses w unchanged. */
static bool is_plain(estimator_kind kind, double lambda)
{
    return kind == ESTIMATOR_IPS || kind == ESTIMATOR_SNIPS || kind == ESTIMATOR_DR || kind == ESTIMATOR_SNDR ||
           (kind == ESTIMATOR_DROS && isinf(lambda));
}

/* out = the weights by the kind. */
static void weigh(estimator_kind kind, double lambda, const double *w, size_t count, double *out)
{
    switch (kind) {
    case ESTIMATOR_CLIPPED:
    case ESTIMATOR_CLIPPED_DR:
        for (size_t i = 0; i < count; i++) out[i] = w[i] < lambda ? w[i] : lambda;
        break;
    case ESTIMATOR_SWITCH_DR:
        for (size_t i = 0; i < count; i++) out[i] = w[i] <= lambda ? w[i] : 0.0;
        break;
    case ESTIMATOR_DROS:
        for (size_t i = 0; i < count; i++) out[i] = lambda * w[i] / (w[i] * w[i] + lambda);
        break;
    case ESTIMATOR_SG_IPS:
    case ESTIMATOR_SG_DR:
        for (size_t i = 0; i < count; i++) out[i] = w[i] / (1.0 - lambda + lambda * w[i]);
        break;
    case ESTIMATOR_REPLAY:
        for (size_t i = 0; i < count; i++) out[i] = w[i] > 0.0 ? 1.0 : 0.0;
        break;
    default:
        memset(out, 0, count * sizeof *out); /* the direct method uses no outcomes */
    }
}

/* Some rounds, as a kind sees them. */
typedef struct weighed {
    size_t count;
    const double *weights;  /* without copies */
    const double *outcomes; /* rewards, or residuals */
    const double *direct;   /* NULL if the kind has none */
    const double *copies;   /* or NULL */
    double weights_room[BLOCK], outcomes_room[BLOCK];
} weighed;

static void weighed_fill(weighed *to, estimator_kind kind, double lambda, const evaluated_rounds *rounds, size_t at)
{
    bool models = infos[kind].models;
    const double *w = rounds->weights + at, *r = rounds->rewards + at;
    const double *q = models && kind != ESTIMATOR_DM && rounds->predicted ? rounds->predicted + at : NULL;
    to->count = rounds->count - at < BLOCK ? rounds->count - at : BLOCK;
    to->weights = is_plain(kind, lambda) ? w : to->weights_room;
    to->outcomes = q ? to->outcomes_room : r;
    to->direct = models && rounds->direct ? rounds->direct + at : NULL;
    to->copies = rounds->copies ? rounds->copies + at : NULL;
    if (to->weights != w) weigh(kind, lambda, w, to->count, to->weights_room);
    for (size_t i = 0; q && i < to->count; i++) to->outcomes_room[i] = r[i] - q[i];
}

/* Sums over rounds, each times its copies. */
typedef struct totals {
    double count, weights, outcomes, direct; /* outcomes: weighed ones */
} totals;

static totals total(estimator_kind kind, double lambda, const evaluated_rounds *rounds)
{
    totals sums = {0};
    weighed part;
    for (size_t at = 0; at < rounds->count; at += BLOCK) {
        weighed_fill(&part, kind, lambda, rounds, at);
        const double *weights = part.copies ? part.weights_room : part.weights;
        for (size_t i = 0; part.copies && i < part.count; i++) part.weights_room[i] = part.weights[i] * part.copies[i];
        sums.count += part.copies ? doubles_sum(part.copies, part.count) : (double)part.count;
        if (kind != ESTIMATOR_DM) sums.outcomes += doubles_dot(weights, part.outcomes, part.count);
        if (is_normalised(kind)) sums.weights += doubles_sum(weights, part.count);
        if (part.direct)
            sums.direct +=
                part.copies ? doubles_dot(part.copies, part.direct, part.count) : doubles_sum(part.direct, part.count);
    }
    return sums;
}

double estimator_value(estimator_kind kind, double lambda, const evaluated_rounds *rounds)
{
    if (kind == ESTIMATOR_EL) return empirical_likelihood_value(rounds, lambda);
    if (kind == ESTIMATOR_CRESSIE_READ) {
        rounds_sums sums = {0};
        rounds_sums_add_all(&sums, rounds);
        return rounds_sums_cressie_read(&sums, lambda);
    }
    totals sums = total(kind, lambda, rounds);
    return sums.direct / sums.count + sums.outcomes / (is_normalised(kind) ? sums.weights : sums.count);
}

/* Turns the weighted rounds of a kind into terms: centre + d + scale w (outcome - centre). */
typedef struct term_form {
    double centre, scale;
} term_form;

static term_form form_of(estimator_kind kind, double lambda, const evaluated_rounds *rounds)
{
    if (!is_normalised(kind)) return (term_form){0.0, 1.0};
    totals sums = total(kind, lambda, rounds);
    return (term_form){sums.outcomes / sums.weights, sums.count / sums.weights};
}

static void fill_terms(term_form form, const weighed *part, double *terms)
{
    for (size_t i = 0; i < part->count; i++) {
        double rest = form.scale * part->weights[i] * (part->outcomes[i] - form.centre);
        terms[i] = form.centre + (part->direct ? part->direct[i] : 0.0) + rest;
    }
}

void estimator_terms(estimator_kind kind, double lambda, const evaluated_rounds *rounds, double *terms)
{
    bool none = kind == ESTIMATOR_EL || kind == ESTIMATOR_CRESSIE_READ;
    term_form form = none ? (term_form){NAN, NAN} : form_of(kind, lambda, rounds);
    weighed part;
    for (size_t at = 0; at < rounds->count; at += BLOCK) {
        weighed_fill(&part, kind, lambda, rounds, at);
        fill_terms(form, &part, terms + at);
    }
}

/* ---- tuning ---- */

typedef struct moments {
    double count, mean, variance; /* the squares divided by count */
} moments;

/* Of the terms of a kind without self-normalisation. */
static moments moments_of(estimator_kind kind, double lambda, const evaluated_rounds *rounds)
{
    double mean = estimator_value(kind, lambda, rounds), squares = 0.0, count = 0.0, terms[BLOCK];
    weighed part;
    for (size_t at = 0; at < rounds->count; at += BLOCK) {
        weighed_fill(&part, kind, lambda, rounds, at);
        fill_terms((term_form){0.0, 1.0}, &part, terms);
        for (size_t i = 0; i < part.count; i++) {
            double copies = part.copies ? part.copies[i] : 1.0, off = copies * (terms[i] - mean);
            squares += off * off;
            count += copies;
        }
    }
    return (moments){count, mean, squares / count};
}

double estimator_mse(estimator_kind kind, double lambda, const evaluated_rounds *rounds)
{
    const double bound = log(2.0 / 0.1);
    double bias = 0.0, squares = 0.0, highest = 0.0;
    weighed part;
    for (size_t at = 0; at < rounds->count; at += BLOCK) {
        weighed_fill(&part, kind, lambda, rounds, at);
        for (size_t i = 0; i < part.count; i++) {
            double copies = part.copies ? part.copies[i] : 1.0, w = copies * rounds->weights[at + i];
            bias += (w - copies * part.weights[i]) * part.outcomes[i];
            squares += w * w;
            highest = w > highest ? w : highest;
        }
    }
    moments terms = moments_of(kind, lambda, rounds);
    double n = terms.count;
    double high = fabs(bias) / n + sqrt(2.0 * squares / n * bound / n) + 2.0 * highest * bound / (3.0 * n);
    return terms.variance / n + high * high;
}

enum { GRID = 8 };

/* The lambdas to choose from; returns how many. */
static size_t grid_of(estimator_kind kind, double grid[GRID])
{
    static const double cuts[] = {1, 5, 10, 50, 100, 500, 1000, INFINITY}, shares[] = {0, 0.001, 0.01, 0.05, 0.1, 0.5};
    bool shared = kind == ESTIMATOR_SG_IPS || kind == ESTIMATOR_SG_DR;
    memcpy(grid, shared ? shares : cuts, shared ? sizeof shares : sizeof cuts);
    return shared ? sizeof shares / sizeof *shares : sizeof cuts / sizeof *cuts;
}

static double least_mse(estimator_kind kind, const evaluated_rounds *rounds, const double *grid, size_t count)
{
    double best = grid[0], least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        double score = estimator_mse(kind, grid[i], rounds);
        if (score < least) {
            least = score;
            best = grid[i];
        }
    }
    return best;
}

static double last_that_agrees(estimator_kind kind, const evaluated_rounds *rounds, const double *grid, size_t count)
{
    double values[GRID], widths[GRID], lambdas[GRID];
    size_t used = 0; /* from the widest to the narrowest */
    for (size_t i = 0; i < count; i++) {
        moments terms = moments_of(kind, grid[i], rounds);
        double width = quantile_student(0.9, terms.count - 1.0) * sqrt(terms.variance / (terms.count - 1.0));
        if (isnan(width)) continue;
        size_t place = used++;
        for (; place && widths[place - 1] <= width; place--) {
            values[place] = values[place - 1];
            widths[place] = widths[place - 1];
            lambdas[place] = lambdas[place - 1];
        }
        values[place] = terms.mean;
        widths[place] = width;
        lambdas[place] = grid[i];
    }
    double best = used ? lambdas[0] : grid[0];
    for (size_t i = 1; i < used; i++) {
        for (size_t j = 0; j < i; j++)
            if (fabs(values[i] - values[j]) > widths[i] + (sqrt(6.0) - 1.0) * widths[j]) return best;
        best = lambdas[i];
    }
    return best;
}

ee_status estimator_tune(estimator_kind kind, estimator_tuning by, const evaluated_rounds *rounds, double *lambda,
                         ee_error *error)
{
    if (!infos[kind].tuned)
        return status_fail(error, EE_BAD_OPTION, "estimator %s has no parameter to tune", infos[kind].name);
    if (rounds->count < 2)
        return status_fail(error, EE_BAD_INPUT, "estimator %s: tuning needs at least 2 rounds, got %zu",
                           infos[kind].name, rounds->count);
    double grid[GRID];
    size_t count = grid_of(kind, grid);
    *lambda = by == TUNING_MSE ? least_mse(kind, rounds, grid, count) : last_that_agrees(kind, rounds, grid, count);
    return EE_OK;
}
