#include "policy_work.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = sizeof(float) };

/* What a policy's defaults say: f1's first width, batch and layers, how many networks it has and the width of the
 * others; where f2 is solved, the units that it sees, those of the recent gains, the gains that are computed again, and
 * whether it has a random width. */
typedef struct preset {
    double width, batch, layers, committee, deep_width;
    double units, recent_units, refresh, random_width;
} preset;

static preset preset_of(const char *policy)
{
    preset found = {0};
    const struct {
        const char *name;
        double *value;
    } read[] = {
        {"f1.width", &found.width},
        {"f1.batch", &found.batch},
        {"f1.layers", &found.layers},
        {"f1.committee", &found.committee},
        {"f1.deep_width", &found.deep_width},
        {"units", &found.units},
        {"recent_units", &found.recent_units},
        {"refresh", &found.refresh},
        {"width", &found.random_width},
    };
    ee_option option;
    bool solved = false;
    for (size_t i = 0; ee_option_describe(policy, i, &option, NULL) == EE_OK; i++) {
        for (size_t k = 0; k < sizeof read / sizeof *read; k++)
            if (strcmp(option.name, read[k].name) == 0) *read[k].value = atof(option.value);
        if (strcmp(option.name, "exploration") == 0) solved = strcmp(option.value, "ridge") == 0;
    }
    if (!solved) found.units = found.recent_units = found.refresh = 0;
    return found;
}

/* A parameter of Adam: 13 operations; three arrays are read and written. */
enum { ADAM_FLOPS = 13, ADAM_BYTES = 6 * CELL, SGD_FLOPS = 2, SGD_BYTES = 2 * CELL };

/* The authors' f2: a convolution over the pooled gradient, then a layer of width m. Their trainings are of 2000
 * single-sample steps, every tenth round to 1000, then every hundredth. */
enum { KERNEL = 100, STRIDE = 50, STEPS = 2000, EVERY = 10, LATE_EVERY = 100, LATE_AFTER = 1000 };

typedef struct sizes {
    double arms, dim, width;
    double stored; /* entries of an arm */
    double rows;   /* of the first layer that a round touches */
    double side;   /* features that are seen together: those of a block */
    double heads;  /* blocks, each with its own last row of f1 and its own regression */
} sizes;

static sizes sizes_of(const problem_shape *shape, const preset *own, size_t width)
{
    double arms = (double)shape->arms, dim = (double)shape->dim, nonzeros = (double)shape->nonzeros;
    double stored = shape->nonzeros ? nonzeros : dim;
    double rows = shape->nonzeros && arms * nonzeros < dim ? arms * nonzeros : dim;
    double heads = (double)shape->blocks;
    return (sizes){arms, dim, width ? (double)width : own->width, stored, rows, dim / heads, heads};
}

static work sum(work a, work b)
{
    return (work){a.flops + b.flops, a.bytes + b.bytes, a.span + b.span};
}

static work times(work a, double count)
{
    return (work){a.flops * count, a.bytes * count, a.span};
}

static double parameters(double in, double width)
{
    return (in + 1) * width + width + 1;
}

/* Entries of the gradient to a mean of the authors' f2: on Yelp and MNIST as they have it, beyond so that f2 sees about
 * a thousand means. */
static int pooled_by(double dim)
{
    return dim > 10000 ? 8192 : dim > 1000 ? 50 : 2;
}

const char *policy_work_options(const char *policy, const problem_shape *shape)
{
    if (shape->blocks == 10 && preset_of(policy).units > 0) return "blocks=10 exclusive=on";
    bool large = strcmp(policy, "eenet:authors") == 0 && pooled_by((double)shape->dim) == 8192;
    return large ? "features=pooled:8192" : "";
}

static double authors_outputs(const sizes *s)
{
    return (parameters(s->dim, s->width) / pooled_by(s->dim) - KERNEL) / STRIDE + 1;
}

/* ---- decide ---- */

/* f1 of every arm. */
static work decide_greedy(const sizes *s)
{
    double first = s->stored * s->width;
    return (work){s->arms * 2 * (first + s->width), CELL * (parameters(s->rows, s->width) + s->arms * s->stored),
                  CELL * parameters(s->dim, s->width)};
}

/* EE-Net's f1 has a last row for each block and sees the context once: then an arm is a row of it. */
static sizes trunk_of(sizes s, const preset *own)
{
    if (own->units > 0 && s.side < s.dim) {
        s.dim = s.side;
        s.rows = s.stored;
    }
    return s;
}

/* The width of network number k of f1, and the parameters of its layers between the first and the last. */
static double width_of(const sizes *s, const preset *own, int k)
{
    return k ? own->deep_width : s->width;
}

static double middle_of(const sizes *s, const preset *own, int k)
{
    double width = width_of(s, own, k);
    return (own->layers - 2 + k) * (width + 1) * width;
}

static double units_of(const sizes *s, const preset *own)
{
    return own->units < s->width ? own->units : s->width;
}

static double regressions_of(const preset *own)
{
    return own->random_width > 0 ? 2 : 1;
}

/* A network of f1: every arm or the context through all layers but the last, then a row of the last for each arm. */
static work decide_network(const sizes *s, const preset *own, int k)
{
    double contexts = s->heads > 1 ? 1 : s->arms, width = width_of(s, own, k), middle = middle_of(s, own, k);
    sizes seen = trunk_of(*s, own);
    return (work){2 * (contexts * (seen.stored * width + middle) + s->arms * width),
                  CELL * (width * (seen.rows + 1 + s->heads) + middle),
                  CELL * (width * (seen.dim + 1 + s->heads) + middle)};
}

/* f1; then phi, which is a pass through the first network at theta_0, and its length; and for each arm a row of each
 * regression. The recent gains see units of f1, and their length. */
static work decide_solved(const sizes *s, const preset *own)
{
    double contexts = s->heads > 1 ? 1 : s->arms, units = units_of(s, own), middle = middle_of(s, own, 0);
    double each = regressions_of(own) * units + own->recent_units;
    sizes seen = trunk_of(*s, own);
    work sum_of = {2 * (contexts * (units * (seen.stored + 1) + middle + own->recent_units) + s->arms * each),
                   CELL * (units * (seen.rows + 1) + middle + s->heads * each),
                   CELL * (units * (seen.dim + 1) + middle + s->heads * each)};
    for (int k = 0; k < (int)own->committee; k++) sum_of = sum(sum_of, decide_network(s, own, k));
    return sum_of;
}

/* A non-zero of the gradient is one product and lies in two windows of the convolution. */
static work decide_pooled(const sizes *s)
{
    double outputs = authors_outputs(s), second = parameters(outputs, s->width);
    double entries = s->stored * s->width, windows = KERNEL * outputs < 2 * entries ? KERNEL * outputs : 2 * entries;
    return (work){s->arms * (entries + 2 * windows + 2 * second), CELL * second, CELL * second};
}

/* The inverse is symmetric: half of it says all. In doubles. */
static work decide_linear(const sizes *s)
{
    double square = s->stored * s->stored, read = s->stored < s->dim ? s->arms * square : square;
    return (work){2 * s->arms * (square + 2 * s->stored), CELL * read, CELL * s->dim * s->side};
}

static bool is_one_of(const char *policy, const char *first, const char *second)
{
    return strcmp(policy, first) == 0 || strcmp(policy, second) == 0;
}

work policy_work_decide(const char *policy, const problem_shape *shape, size_t width)
{
    preset own = preset_of(policy);
    sizes s = sizes_of(shape, &own, width);
    work f1 = decide_greedy(&s);
    if (strcmp(policy, "greedy:paper") == 0) return f1;
    if (own.units > 0) return decide_solved(&s, &own);
    if (strcmp(policy, "eenet:authors") == 0) return sum(f1, decide_pooled(&s));
    /* A width is a second pass, with the squares, through as many numbers as there are weights. */
    if (is_one_of(policy, "neural-ucb:paper", "neural-ts:paper")) return sum(f1, f1);
    if (strcmp(policy, "linucb") == 0) return decide_linear(&s);
    return (work){0};
}

/* ---- learn ---- */

/* One step of AdamW on the gradient of a batch: each sample forward and into the gradient, then every parameter. */
static work learn_batch(const sizes *s, double batch)
{
    double count = parameters(s->dim, s->width), touched = parameters(s->stored, s->width);
    return (work){batch * 4 * touched + ADAM_FLOPS * count, ADAM_BYTES * count, 4 * CELL * count};
}

/* The same for a network of f1, but rows that no sample of the batch has stand still; all that moves goes into the
 * average; and a layer between others also passes deltas down. Then the reward's arm and the gains that are computed
 * again: one pass each. */
static work learn_network(const sizes *whole, const preset *own, int k)
{
    sizes s = trunk_of(*whole, own);
    double rows = s.stored < s.dim && own->batch * s.stored < s.dim ? own->batch * s.stored : s.dim;
    double width = width_of(&s, own, k), middle = middle_of(&s, own, k), last = (s.heads - 1) * (width + 1);
    double touched = parameters(s.stored, width), moved = parameters(rows, width) + last + middle;
    double passes = own->refresh + (own->committee > 1 || own->recent_units > 0 ? 1 : 0);
    return (work){own->batch * (4 * touched + 6 * middle) + passes * 2 * (touched + middle) + (ADAM_FLOPS + 3) * moved,
                  (ADAM_BYTES + 3 * CELL) * moved, 6 * CELL * (parameters(s.dim, width) + last + middle)};
}

/* An operation on doubles counts as two. */
enum { DOUBLE_FLOPS = 2, ROTATION_FLOPS = 6 * DOUBLE_FLOPS, SOLVE_FLOPS = 2 * DOUBLE_FLOPS };

/* A regression on so many units: the reward's arm is rotated into the factor of its head; then, in each of so many
 * heads, a transposed solve and one for each solution. The factor is read once for those, and once for the transposed
 * one. */
static work learn_regression(double units, double heads, double solved, double solutions)
{
    double triangle = units * (units + 1) / 2, cell = sizeof(double);
    return (work){(ROTATION_FLOPS + solved * (1 + solutions) * SOLVE_FLOPS) * triangle,
                  (2 + solved * 2) * cell * triangle, heads * cell * triangle};
}

/* phi of the reward's arm and of the gains that are computed again; the moments, to which they are added; and the heads
 * that these gains are expected to fall on, which are solved. */
static work learn_solved(const sizes *s, const preset *own)
{
    sizes seen = trunk_of(*s, own);
    double units = units_of(s, own), samples = 1 + own->refresh;
    double solved = s->heads * (1 - pow(1 - 1 / s->heads, samples));
    double phi = 2 * (units * (seen.stored + 2) + middle_of(s, own, 0)), moments = 2 * DOUBLE_FLOPS * units;
    work sum_of = learn_regression(units, s->heads, solved, regressions_of(own));
    sum_of.flops += samples * (phi + moments);
    sum_of = sum(sum_of, learn_regression(own->recent_units, s->heads, 1, 1));
    for (int k = 0; k < (int)own->committee; k++) sum_of = sum(sum_of, learn_network(s, own, k));
    return sum_of;
}

/* 2000 steps: f1 forward, and its weights moved; f2 forward, backward to the convolution, and Adam on all of it. */
static work learn_authors(const sizes *s)
{
    double first = parameters(s->stored, s->width), outputs = authors_outputs(s);
    double second = parameters(outputs, s->width), entries = parameters(s->dim, s->width) / 2;
    double windows = KERNEL * outputs;
    work f1 = {2 * first + SGD_FLOPS * first, SGD_BYTES * first, CELL * parameters(s->dim, s->width)};
    work f2 = {4 * windows + 6 * second + ADAM_FLOPS * second, CELL * entries + ADAM_BYTES * second, 4 * CELL * second};
    return times(sum(f1, f2), STEPS);
}

/* The inverse times the arm, then a rank-one change of the half of a block that says all. In doubles. */
static work learn_linear(const sizes *s)
{
    double square = s->side * s->side;
    return (work){2 * (2 * s->side * s->stored + square), 2 * CELL * square, CELL * square};
}

work policy_work_learn(const char *policy, const problem_shape *shape, size_t width)
{
    preset own = preset_of(policy);
    sizes s = sizes_of(shape, &own, width);
    work f1 = learn_batch(&s, own.batch);
    if (strcmp(policy, "greedy:paper") == 0) return f1;
    if (own.units > 0) return learn_solved(&s, &own);
    if (strcmp(policy, "eenet:authors") == 0) return times(learn_authors(&s), 1.0 / EVERY);
    if (is_one_of(policy, "neural-ucb:paper", "neural-ts:paper")) {
        double touched = parameters(s.stored, s.width);
        return sum(f1, (work){4 * touched, 2 * CELL * touched, CELL * parameters(s.dim, s.width)});
    }
    if (strcmp(policy, "linucb") == 0) return learn_linear(&s);
    return (work){0};
}

work policy_work_run(const char *policy, const problem_shape *shape, size_t width, double rounds)
{
    work decisions = times(policy_work_decide(policy, shape, width), rounds);
    double late = rounds > LATE_AFTER ? rounds - LATE_AFTER : 0, learned = rounds;
    if (strcmp(policy, "eenet:authors") == 0) learned = rounds - late + late * EVERY / LATE_EVERY;
    return sum(decisions, times(policy_work_learn(policy, shape, width), learned));
}
