/* The solved f2 against the plain ridge solution over the same samples. */
#include "policy/gain_regression.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "math/cholesky.h"
#include "support.h"

enum { DIM = 9, SAMPLES = 60 };

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

static void make(gain_regression *self, double lambda)
{
    ee_error error = {0};
    if (gain_regression_create(self, DIM, lambda, &error)) fail_msg("%s", error.message);
}

/* theta = (lambda I + sum phi phi^T)^-1 sum target phi, summed anew */
static void solve_samples(const samples *s, double lambda, double *theta)
{
    double a[DIM * DIM] = {0};
    memset(theta, 0, DIM * sizeof *theta);
    for (size_t i = 0; i < DIM; i++) a[i * DIM + i] = lambda;
    for (size_t k = 0; k < s->count; k++) {
        for (size_t i = 0; i < DIM; i++) {
            for (size_t j = 0; j < DIM; j++) a[i * DIM + j] += (double)s->phi[k][i] * s->phi[k][j];
            theta[i] += (double)s->phi[k][i] * s->target[k];
        }
    }
    assert_true(cholesky_factor(a, DIM, 0));
    cholesky_solve(a, DIM, theta);
}

static void assert_solution(gain_regression *self, const samples *s, double lambda)
{
    float theta[DIM];
    double expected[DIM];
    gain_regression_solve(self, theta);
    solve_samples(s, lambda, expected);
    for (size_t i = 0; i < DIM; i++) assert_close(theta[i], expected[i], 1e-6);
}

static void is_the_ridge_solution_after_each_sample(void **state)
{
    (void)state;
    const double lambdas[] = {0.01, 1, 30};
    for (size_t l = 0; l < 3; l++) {
        samples s;
        draw_samples(&s, SAMPLES, l);
        gain_regression self;
        make(&self, lambdas[l]);
        for (s.count = 0; s.count < SAMPLES;) {
            gain_regression_add(&self, s.phi[s.count], s.target[s.count]);
            s.count++;
            assert_solution(&self, &s, lambdas[l]);
        }
        gain_regression_destroy(&self);
    }
}

static void a_corrected_target_is_as_if_it_had_come_so(void **state)
{
    (void)state;
    samples s;
    draw_samples(&s, 30, 4);
    gain_regression self;
    make(&self, 0.5);
    for (size_t i = 0; i < s.count; i++) gain_regression_add(&self, s.phi[i], s.target[i]);
    const size_t told[] = {7, 29, 7, 0};
    const float targets[] = {3, -2, 0.5f, 1};
    for (size_t k = 0; k < 4; k++) {
        size_t i = told[k];
        gain_regression_correct(&self, s.phi[i], targets[k] - s.target[i]);
        s.target[i] = targets[k];
        assert_solution(&self, &s, 0.5);
    }
    gain_regression_destroy(&self);
}

/* Exactly 0, and not only nearly: an arm like none before is given just the prior gain. */
static void a_direction_that_no_sample_had_gives_nothing(void **state)
{
    (void)state;
    const size_t unseen[] = {0, 4, DIM - 1};
    samples s;
    draw_samples(&s, SAMPLES, 5);
    gain_regression self;
    make(&self, 1);
    float theta[DIM];
    gain_regression_solve(&self, theta);
    for (size_t i = 0; i < DIM; i++) assert_true(theta[i] == 0);
    for (size_t i = 0; i < s.count; i++) {
        for (size_t k = 0; k < 3; k++) s.phi[i][unseen[k]] = 0;
        gain_regression_add(&self, s.phi[i], s.target[i]);
    }
    gain_regression_solve(&self, theta);
    for (size_t i = 0; i < DIM; i++) {
        bool seen = i != unseen[0] && i != unseen[1] && i != unseen[2];
        assert_int_equal(theta[i] != 0, seen);
    }
    assert_solution(&self, &s, 1);
    gain_regression_destroy(&self);
}

/* ---- saving and loading ---- */

static archive save(gain_regression *self, ee_error *error)
{
    archive a = archive_writer(error);
    gain_regression_archive(self, &a);
    assert_int_equal(a.status, EE_OK);
    return a;
}

static void goes_on_after_loading(void **state)
{
    (void)state;
    samples s;
    draw_samples(&s, SAMPLES, 6);
    gain_regression self, loaded;
    ee_error error = {0};
    make(&self, 2);
    make(&loaded, 7); /* what is read replaces all of it */
    size_t half = SAMPLES / 2;
    for (size_t i = 0; i < half; i++) gain_regression_add(&self, s.phi[i], s.target[i]);
    archive written = save(&self, &error);
    archive a = archive_reader(written.bytes, written.size, &error);
    gain_regression_archive(&loaded, &a);
    assert_int_equal(a.status, EE_OK);
    assert_int_equal(archive_remaining(&a), 0);
    for (size_t i = half; i < SAMPLES; i++) {
        gain_regression_add(&self, s.phi[i], s.target[i]);
        gain_regression_add(&loaded, s.phi[i], s.target[i]);
    }
    gain_regression_correct(&self, s.phi[3], 0.7f);
    gain_regression_correct(&loaded, s.phi[3], 0.7f);
    float theta[DIM], again[DIM];
    gain_regression_solve(&self, theta);
    gain_regression_solve(&loaded, again);
    assert_memory_equal(theta, again, sizeof theta);
    s.target[3] += 0.7f;
    assert_solution(&loaded, &s, 2);
    memory_free(written.bytes);
    gain_regression_destroy(&self);
    gain_regression_destroy(&loaded);
}

/* Puts a wrong number into what was saved; it must not be taken. */
static void assert_refused(size_t place, double wrong)
{
    samples s;
    draw_samples(&s, 20, 7);
    gain_regression self;
    ee_error error = {0};
    make(&self, 1);
    for (size_t i = 0; i < s.count; i++) gain_regression_add(&self, s.phi[i], s.target[i]);
    archive written = save(&self, &error);
    assert_true((place + 1) * sizeof wrong <= written.size);
    memcpy(written.bytes + place * sizeof wrong, &wrong, sizeof wrong);
    archive a = archive_reader(written.bytes, written.size, &error);
    gain_regression_archive(&self, &a);
    assert_int_equal(a.status, EE_BAD_MODEL);
    assert_string_equal(error.message, "model: a number of f2's regression is not one that samples make");
    memory_free(written.bytes);
    gain_regression_destroy(&self);
}

static void what_is_damaged_is_refused(void **state)
{
    (void)state;
    const size_t triangle = DIM * (DIM + 1) / 2; /* row 1 begins at DIM; the moments are behind it */
    assert_refused(0, NAN);
    assert_refused(0, 0);
    assert_refused(DIM, -1);
    assert_refused(triangle - 1, 0);
    assert_refused(triangle - 1, INFINITY);
    assert_refused(3, NAN);
    assert_refused(DIM + 2, -INFINITY);
    assert_refused(triangle, NAN);
    assert_refused(triangle + DIM - 1, INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_ridge_solution_after_each_sample),
        cmocka_unit_test(a_corrected_target_is_as_if_it_had_come_so),
        cmocka_unit_test(a_direction_that_no_sample_had_gives_nothing),
        cmocka_unit_test(goes_on_after_loading),
        cmocka_unit_test(what_is_damaged_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
