/* The solved f2 against the plain ridge solution over the same samples. */
#include "policy/parts/gain_regression.h"

#include "math/cholesky.h"
#include "support.h"

enum { DIM = 9, SAMPLES = 60, HEADS = 3 };

typedef struct samples {
    size_t count;
    float phi[SAMPLES][DIM], target[SAMPLES];
} samples;

static void draw_samples(samples *s, size_t count, uint64_t seed)
{
    random_stream draw = random_named(seed, "gains");
    *s = (samples){.count = count};
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < DIM; j++) s->phi[i][j] = random_unit(&draw) < 0.3 ? 0 : (float)random_normal(&draw);
        s->target[i] = (float)random_normal(&draw);
    }
}

/* A regression, and the theta that it solves for. */
typedef struct solved {
    memory owner;
    gain_regression gains;
    float theta[HEADS][DIM];
} solved;

static void make_with(solved *self, const gain_regression_setup *setup)
{
    memset(self, 0, sizeof *self);
    ok(gain_regression_create(&self->gains, &self->owner, setup, &last_error));
}

static void make(solved *self, size_t heads, double lambda)
{
    make_with(self, &(gain_regression_setup){.heads = heads, .dim = DIM, .lambda = lambda});
    assert_int_equal(gain_regression_theta_count(&self->gains), heads * DIM);
}

static void release(solved *self)
{
    memory_release(&self->owner);
}

static void add(solved *self, size_t head, const samples *s, size_t i)
{
    gain_regression_add(&self->gains, head, s->phi[i]);
    gain_regression_correct(&self->gains, head, s->phi[i], s->target[i]);
}

static void solve(solved *self)
{
    gain_regression_solve(&self->gains, 0, 1, self->theta[0]);
}

/* lambda I + sum w phi phi^T; weights is NULL for 1 each */
static void sum_samples(const samples *s, const double *weights, double lambda, double *a)
{
    memset(a, 0, DIM * DIM * sizeof *a);
    for (size_t i = 0; i < DIM; i++) a[i * DIM + i] = lambda;
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < DIM; i++)
            for (size_t j = 0; j < DIM; j++)
                a[i * DIM + j] += (weights ? weights[k] : 1) * (double)s->phi[k][i] * (double)s->phi[k][j];
}

/* theta = (lambda I + sum w phi phi^T)^-1 sum w target phi, summed anew */
static void solve_weighted(const samples *s, const double *weights, double lambda, double *theta)
{
    double a[DIM * DIM];
    sum_samples(s, weights, lambda, a);
    memset(theta, 0, DIM * sizeof *theta);
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < DIM; i++)
            theta[i] += (weights ? weights[k] : 1) * (double)s->phi[k][i] * (double)s->target[k];
    assert_true(cholesky_factor(a, DIM, 0));
    cholesky_solve(a, DIM, theta);
}

static void assert_solution(const solved *self, size_t head, const samples *s, double lambda)
{
    double expected[DIM];
    solve_weighted(s, NULL, lambda, expected);
    for (size_t i = 0; i < DIM; i++) assert_close(self->theta[head][i], expected[i], 1e-6);
}

TEST(is_the_ridge_solution_after_each_sample)
{
    const double lambdas[] = {0.01, 1, 30};
    for (size_t l = 0; l < 3; l++) {
        samples s;
        draw_samples(&s, SAMPLES, l);
        RELEASED_BY(release) solved self;
        make(&self, 1, lambdas[l]);
        for (s.count = 0; s.count < SAMPLES;) {
            add(&self, 0, &s, s.count++);
            solve(&self);
            assert_solution(&self, 0, &s, lambdas[l]);
        }
    }
}

/* theta in a unit is that of gains over the unit, less the prior. */
TEST(gains_are_over_the_unit_and_less_the_prior)
{
    const double priors[] = {0.7, -2, 0}, units[] = {4, 0.01, 1000};
    samples s, reported;
    draw_samples(&s, 40, 11);
    RELEASED_BY(release) solved self;
    make(&self, 1, 0.5);
    for (size_t i = 0; i < s.count; i++) add(&self, 0, &s, i);
    for (size_t k = 0; k < 3; k++) {
        reported = s;
        for (size_t i = 0; i < s.count; i++) reported.target[i] = (float)((double)s.target[i] / units[k] - priors[k]);
        gain_regression_correct(&self.gains, 0, s.phi[0], 0); /* a head without news is left alone */
        gain_regression_solve(&self.gains, priors[k], units[k], self.theta[0]);
        assert_solution(&self, 0, &reported, 0.5);
    }
    /* Where gains have no unit yet they say nothing. */
    memset(reported.target, 0, sizeof reported.target);
    gain_regression_correct(&self.gains, 0, s.phi[0], 0);
    gain_regression_solve(&self.gains, 0, 0, self.theta[0]);
    assert_solution(&self, 0, &reported, 0.5);
}

/* ---- heads ---- */

TEST(each_head_is_the_solution_over_its_own_samples)
{
    samples s, own[HEADS] = {{0}};
    draw_samples(&s, SAMPLES, 8);
    random_stream draw = random_named(8, "heads");
    RELEASED_BY(release) solved self;
    make(&self, HEADS, 0.7);
    for (size_t i = 0; i < SAMPLES; i++) {
        size_t head = (size_t)random_below(&draw, HEADS);
        add(&self, head, &s, i);
        memcpy(own[head].phi[own[head].count], s.phi[i], sizeof *s.phi);
        own[head].target[own[head].count++] = s.target[i];
        if (i % 3 == 2) { /* several heads may wait for the same solve */
            float more = 0.25f;
            gain_regression_correct(&self.gains, head, s.phi[i], more);
            own[head].target[own[head].count - 1] += more;
            solve(&self);
            for (size_t h = 0; h < HEADS; h++) assert_solution(&self, h, &own[h], 0.7);
        }
    }
    for (size_t h = 0; h < HEADS; h++) assert_true(own[h].count > SAMPLES / 6);
}

static void assert_only_touched(solved *self, size_t head)
{
    for (size_t h = 0; h < HEADS; h++)
        for (size_t i = 0; i < DIM; i++) self->theta[h][i] = 1000;
    solve(self);
    for (size_t h = 0; h < HEADS; h++)
        for (size_t i = 0; i < DIM; i++) assert_int_equal(self->theta[h][i] != 1000, h == head);
}

TEST(a_head_without_news_is_left_alone)
{
    enum { NONE = HEADS };
    samples s;
    draw_samples(&s, SAMPLES, 9);
    RELEASED_BY(release) solved self;
    make(&self, HEADS, 1);
    assert_only_touched(&self, NONE);
    for (size_t i = 0; i < SAMPLES; i++) {
        size_t head = i * i % HEADS;
        add(&self, head, &s, i);
        assert_only_touched(&self, head);
        assert_only_touched(&self, NONE);
        gain_regression_correct(&self.gains, (head + 1) % HEADS, s.phi[i], 1);
        assert_only_touched(&self, (head + 1) % HEADS);
    }
}

/* ---- forgetting ---- */

/* The samples of all heads, each of which fades with every one that comes, and the head of each. */
typedef struct faded {
    samples all;
    size_t heads[SAMPLES];
} faded;

/* In units of 2 and beside a prior: of a head that was brought to scale all sums were. */
static const double FADED_PRIOR = 0.7, FADED_UNIT = 2;

/* The solution over a head's own samples, each with (1 - 1 / window)^age. */
static void assert_faded(const solved *self, size_t head, const faded *f, double lambda, double window)
{
    samples own = {0};
    double weights[SAMPLES], expected[DIM];
    for (size_t i = 0; i < f->all.count; i++) {
        if (f->heads[i] != head) continue;
        memcpy(own.phi[own.count], f->all.phi[i], sizeof *own.phi);
        own.target[own.count] = (float)((double)f->all.target[i] / FADED_UNIT - FADED_PRIOR);
        weights[own.count++] = pow(1 - 1 / window, (double)(f->all.count - 1 - i));
    }
    solve_weighted(&own, weights, lambda, expected);
    for (size_t i = 0; i < DIM; i++) assert_close(self->theta[head][i], expected[i], 1e-5);
}

/* Until a head is brought back to scale lambda fades too, to half at most. */
static double lambda_now(const solved *self, size_t head, double lambda, double window)
{
    double since = (double)(self->gains.time - self->gains.scaled_at[head]), weight = pow(1 - 1 / window, -since);
    assert_true(weight >= 1 && weight <= 2 / (1 - 1 / window));
    return lambda / weight;
}

TEST(old_samples_fade)
{
    const double windows[] = {2, 7, 30, 1000};
    for (size_t w = 0; w < 4; w++) {
        for (size_t heads = 1; heads <= HEADS; heads += HEADS - 1) {
            faded f = {0};
            RELEASED_BY(release) solved self;
            int whole = 0;
            make_with(&self, &(gain_regression_setup){heads, DIM, 1.5, windows[w], false, 0});
            draw_samples(&f.all, SAMPLES, w);
            for (f.all.count = 0; f.all.count < SAMPLES;) {
                size_t head = f.heads[f.all.count] = f.all.count * f.all.count % heads;
                add(&self, head, &f.all, f.all.count);
                f.all.count++;
                gain_regression_solve(&self.gains, FADED_PRIOR, FADED_UNIT, self.theta[0]);
                whole += self.gains.scaled_at[head] == f.all.count;
                assert_faded(&self, head, &f, lambda_now(&self, head, 1.5, windows[w]), windows[w]);
            }
            assert_true(whole > 0 || windows[w] > SAMPLES); /* lambda was all there in some of them */
        }
    }
}

/* ---- sketches ---- */

/* (g . phi)^2 */
static double sketched(const float *theta, const float *phi)
{
    double product = 0;
    for (size_t i = 0; i < DIM; i++) product += (double)theta[DIM + i] * (double)phi[i];
    return product * product;
}

/* phi^T A^-1 phi */
static double form(const double *a, const float *phi)
{
    double copy[DIM * DIM], x[DIM], sum = 0;
    memcpy(copy, a, sizeof copy);
    for (size_t i = 0; i < DIM; i++) x[i] = (double)phi[i];
    assert_true(cholesky_factor(copy, DIM, 0));
    cholesky_solve(copy, DIM, x);
    for (size_t i = 0; i < DIM; i++) sum += x[i] * (double)phi[i];
    return sum;
}

/* Arms 0 to 2 are scored, the others are samples. */
enum { SEEDS = 8000, SCORED = 3 };

/* phi^T A^-1 phi of a scored arm. */
static double variance_of(const solved *self, const samples *s, size_t arm)
{
    samples seen = {.count = s->count - SCORED};
    double window = self->gains.setup.window, lambda = self->gains.setup.lambda, a[DIM * DIM], weights[SAMPLES];
    memcpy(seen.phi, s->phi + SCORED, seen.count * sizeof *s->phi);
    for (size_t i = 0; i < seen.count; i++)
        weights[i] = window > 0 ? pow(1 - 1 / window, (double)(seen.count - 1 - i)) : 1;
    sum_samples(&seen, weights, window > 0 ? lambda_now(self, 0, lambda, window) : lambda, a);
    return form(a, s->phi[arm]);
}

/* The mean of sketches of many seeds: with no sample, then with all of them. The mean of so many squares of roughly
 * normal numbers has a relative deviation of sqrt(2 / SEEDS), about 0.016. */
static void check_sketches(double window)
{
    samples s;
    draw_samples(&s, 20, 21);
    double before[SCORED] = {0}, after[SCORED] = {0}, none[DIM * DIM], expected[SCORED];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        float theta[2 * DIM] = {0};
        RELEASED_BY(release) solved self;
        make_with(&self, &(gain_regression_setup){1, DIM, 2, window, true, seed});
        assert_int_equal(gain_regression_theta_count(&self.gains), 2 * DIM);
        gain_regression_start(&self.gains, theta);
        for (size_t i = 0; i < SCORED; i++) before[i] += sketched(theta, s.phi[i]) / SEEDS;
        for (size_t i = SCORED; i < s.count; i++) add(&self, 0, &s, i);
        gain_regression_solve(&self.gains, 0, 1, theta);
        for (size_t i = 0; i < SCORED; i++) after[i] += sketched(theta, s.phi[i]) / SEEDS;
        for (size_t i = 0; i < SCORED; i++) expected[i] = variance_of(&self, &s, i);
    }
    sum_samples(&(samples){0}, NULL, 2, none);
    for (size_t i = 0; i < SCORED; i++) {
        assert_true(fabs(before[i] / form(none, s.phi[i]) - 1) < 0.08);
        assert_true(fabs(after[i] / expected[i] - 1) < 0.08);
        assert_true(after[i] < 0.9 * before[i]);
    }
}

TEST(a_sketch_is_the_variance_on_average_with_new_signs_each_time)
{
    check_sketches(0);
    check_sketches(12);
    /* A sample without features changes no variance, so the mean over solutions is over signs alone. */
    samples s;
    draw_samples(&s, 20, 22);
    RELEASED_BY(release) solved self;
    float theta[2 * DIM] = {0}, nothing[DIM] = {0};
    make_with(&self, &(gain_regression_setup){1, DIM, 2, 0, true, 5});
    for (size_t i = SCORED; i < s.count; i++) add(&self, 0, &s, i);
    double mean[SCORED] = {0};
    for (size_t t = 0; t < SEEDS; t++) {
        gain_regression_add(&self.gains, 0, nothing);
        gain_regression_solve(&self.gains, 0, 1, theta);
        for (size_t i = 0; i < SCORED; i++) mean[i] += sketched(theta, s.phi[i]) / SEEDS;
    }
    for (size_t i = 0; i < SCORED; i++) assert_true(fabs(mean[i] / variance_of(&self, &s, i) - 1) < 0.08);
}

/* ---- saving and loading ---- */

/* Puts a wrong number into what was saved; it must not be taken. */
static void assert_refused(const gain_regression_setup *setup, size_t place, const void *wrong)
{
    samples s;
    draw_samples(&s, 20, 7);
    RELEASED_BY(release) solved self;
    make_with(&self, setup);
    for (size_t i = 0; i < s.count; i++) add(&self, i % setup->heads, &s, i);
    auto_archive written = archive_writer(NULL);
    gain_regression_archive(&self.gains, &written);
    ok(written.status);
    assert_true((place + 1) * sizeof(double) <= written.size);
    memcpy(written.bytes + place * sizeof(double), wrong, sizeof(double));
    archive a = archive_reader(written.bytes, written.size, &last_error);
    gain_regression_archive(&self.gains, &a);
    fails_with(a.status, EE_BAD_MODEL, "model: invalid state of f2's regression");
}

TEST(what_is_damaged_is_refused)
{
    /* Before all there is the time. Row 1 begins at DIM; the moments are behind those of all heads, and then what was
     * seen. */
    const size_t triangle = DIM * (DIM + 1) / 2;
    for (size_t heads = 1; heads <= HEADS; heads += HEADS - 1) {
        for (size_t head = 0; head < heads; head++) {
            size_t first = 1 + head * triangle, moments = 1 + heads * triangle + head * DIM;
            size_t seen = moments + heads * DIM;
            const struct {
                size_t place;
                double wrong;
            } cases[] = {{first, NAN},
                         {first, 0},
                         {first + DIM, -1},
                         {first + triangle - 1, 0},
                         {first + triangle - 1, INFINITY},
                         {first + 3, NAN},
                         {first + DIM + 2, -INFINITY},
                         {moments, NAN},
                         {moments + DIM - 1, INFINITY},
                         {seen, NAN},
                         {seen + DIM - 1, -INFINITY}};
            const gain_regression_setup setup = {.heads = heads, .dim = DIM, .lambda = 1};
            for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
                assert_refused(&setup, cases[i].place, &cases[i].wrong);
        }
    }
    /* A head cannot have been brought to scale after the last sample. */
    const uint64_t future = 21;
    assert_refused(&(gain_regression_setup){1, DIM, 1, 9, 0, 0}, 1, &future);
}
