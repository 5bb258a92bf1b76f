/* The solved f2 against the plain ridge solution over the same samples. */
#include "policy/parts/gain_regression.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
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

static void make(solved *self, size_t heads, double lambda)
{
    ee_error error = {0};
    memset(self, 0, sizeof *self);
    if (gain_regression_create(&self->gains, &self->owner, heads, DIM, lambda, &error)) fail_msg("%s", error.message);
}

static void release(solved *self)
{
    memory_release(&self->owner);
}

static void add(solved *self, size_t head, const samples *s, size_t i)
{
    gain_regression_add(&self->gains, head, s->phi[i], s->target[i]);
}

static void solve(solved *self)
{
    gain_regression_solve(&self->gains, self->theta[0]);
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

static void assert_solution(const solved *self, size_t head, const samples *s, double lambda)
{
    double expected[DIM];
    solve_samples(s, lambda, expected);
    for (size_t i = 0; i < DIM; i++) assert_close(self->theta[head][i], expected[i], 1e-6);
}

static void is_the_ridge_solution_after_each_sample(void **state)
{
    (void)state;
    const double lambdas[] = {0.01, 1, 30};
    for (size_t l = 0; l < 3; l++) {
        samples s;
        draw_samples(&s, SAMPLES, l);
        solved self;
        make(&self, 1, lambdas[l]);
        for (s.count = 0; s.count < SAMPLES;) {
            add(&self, 0, &s, s.count++);
            solve(&self);
            assert_solution(&self, 0, &s, lambdas[l]);
        }
        release(&self);
    }
}

static void a_corrected_target_is_as_if_it_had_come_so(void **state)
{
    (void)state;
    samples s;
    draw_samples(&s, 30, 4);
    solved self;
    make(&self, 1, 0.5);
    for (size_t i = 0; i < s.count; i++) add(&self, 0, &s, i);
    const size_t told[] = {7, 29, 7, 0};
    const float targets[] = {3, -2, 0.5f, 1};
    for (size_t k = 0; k < 4; k++) {
        size_t i = told[k];
        gain_regression_correct(&self.gains, 0, s.phi[i], targets[k] - s.target[i]);
        s.target[i] = targets[k];
        solve(&self);
        assert_solution(&self, 0, &s, 0.5);
    }
    release(&self);
}

/* Exactly 0, and not only nearly: an arm like none before is given just the prior gain. */
static void a_direction_that_no_sample_had_gives_nothing(void **state)
{
    (void)state;
    const size_t unseen[] = {0, 4, DIM - 1};
    samples s;
    draw_samples(&s, SAMPLES, 5);
    solved self;
    make(&self, 1, 1);
    solve(&self);
    for (size_t i = 0; i < DIM; i++) assert_true(self.theta[0][i] == 0);
    for (size_t i = 0; i < s.count; i++) {
        for (size_t k = 0; k < 3; k++) s.phi[i][unseen[k]] = 0;
        add(&self, 0, &s, i);
    }
    solve(&self);
    for (size_t i = 0; i < DIM; i++) {
        bool seen = i != unseen[0] && i != unseen[1] && i != unseen[2];
        assert_int_equal(self.theta[0][i] != 0, seen);
    }
    assert_solution(&self, 0, &s, 1);
    release(&self);
}

/* ---- heads ---- */

static void each_head_is_the_solution_over_its_own_samples(void **state)
{
    (void)state;
    samples s, own[HEADS] = {{0}};
    draw_samples(&s, SAMPLES, 8);
    random_stream draw = random_named(8, "heads");
    solved self;
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
    release(&self);
}

static void assert_only_touched(solved *self, size_t head)
{
    for (size_t h = 0; h < HEADS; h++)
        for (size_t i = 0; i < DIM; i++) self->theta[h][i] = 1000;
    solve(self);
    for (size_t h = 0; h < HEADS; h++)
        for (size_t i = 0; i < DIM; i++) assert_int_equal(self->theta[h][i] != 1000, h == head);
}

static void a_head_without_news_is_left_alone(void **state)
{
    (void)state;
    enum { NONE = HEADS };
    samples s;
    draw_samples(&s, SAMPLES, 9);
    solved self;
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
    release(&self);
}

/* ---- saving and loading ---- */

static archive save(solved *self, ee_error *error)
{
    archive a = archive_writer(error);
    gain_regression_archive(&self->gains, &a);
    assert_int_equal(a.status, EE_OK);
    return a;
}

static void load(solved *self, archive written, ee_error *error)
{
    archive a = archive_reader(written.bytes, written.size, error);
    gain_regression_archive(&self->gains, &a);
    assert_int_equal(a.status, EE_OK);
    assert_int_equal(archive_remaining(&a), 0);
}

static void goes_on_after_loading(void **state)
{
    (void)state;
    samples s;
    draw_samples(&s, SAMPLES, 6);
    solved self, loaded;
    ee_error error = {0};
    make(&self, 1, 2);
    make(&loaded, 1, 7); /* what is read replaces all of it */
    size_t half = SAMPLES / 2;
    for (size_t i = 0; i < half; i++) add(&self, 0, &s, i);
    archive written = save(&self, &error);
    load(&loaded, written, &error);
    for (size_t i = half; i < SAMPLES; i++) {
        add(&self, 0, &s, i);
        add(&loaded, 0, &s, i);
    }
    gain_regression_correct(&self.gains, 0, s.phi[3], 0.7f);
    gain_regression_correct(&loaded.gains, 0, s.phi[3], 0.7f);
    solve(&self);
    solve(&loaded);
    assert_memory_equal(self.theta, loaded.theta, sizeof self.theta);
    s.target[3] += 0.7f;
    assert_solution(&loaded, 0, &s, 2);
    memory_free(written.bytes);
    release(&self);
    release(&loaded);
}

/* What waits to be solved when it is saved is solved after it was loaded, and nothing else is. */
static void heads_go_on_waiting_after_loading(void **state)
{
    (void)state;
    samples s;
    draw_samples(&s, SAMPLES, 10);
    solved self, loaded;
    ee_error error = {0};
    make(&self, HEADS, 2);
    make(&loaded, HEADS, 7);
    add(&loaded, 0, &s, 1);
    for (size_t i = 0; i + 1 < SAMPLES; i++) add(&self, i % HEADS, &s, i);
    solve(&self);
    add(&self, 2, &s, SAMPLES - 1);
    archive written = save(&self, &error);
    load(&loaded, written, &error);
    assert_only_touched(&loaded, 2);
    solve(&self);
    assert_memory_equal(self.theta[2], loaded.theta[2], sizeof self.theta[2]);
    memory_free(written.bytes);
    release(&self);
    release(&loaded);
}

/* Puts a wrong number into what was saved; it must not be taken. */
static void assert_refused(size_t heads, size_t place, double wrong)
{
    samples s;
    draw_samples(&s, 20, 7);
    solved self;
    ee_error error = {0};
    make(&self, heads, 1);
    for (size_t i = 0; i < s.count; i++) add(&self, i % heads, &s, i);
    archive written = save(&self, &error);
    assert_true((place + 1) * sizeof wrong <= written.size);
    memcpy(written.bytes + place * sizeof wrong, &wrong, sizeof wrong);
    archive a = archive_reader(written.bytes, written.size, &error);
    gain_regression_archive(&self.gains, &a);
    assert_int_equal(a.status, EE_BAD_MODEL);
    assert_string_equal(error.message, "model: a number of f2's regression is not one that samples make");
    memory_free(written.bytes);
    release(&self);
}

static void what_is_damaged_is_refused(void **state)
{
    (void)state;
    const size_t triangle = DIM * (DIM + 1) / 2; /* row 1 begins at DIM; the moments are behind those of all heads */
    for (size_t heads = 1; heads <= HEADS; heads += HEADS - 1) {
        for (size_t head = 0; head < heads; head++) {
            size_t first = head * triangle, moments = heads * triangle + head * DIM;
            assert_refused(heads, first, NAN);
            assert_refused(heads, first, 0);
            assert_refused(heads, first + DIM, -1);
            assert_refused(heads, first + triangle - 1, 0);
            assert_refused(heads, first + triangle - 1, INFINITY);
            assert_refused(heads, first + 3, NAN);
            assert_refused(heads, first + DIM + 2, -INFINITY);
            assert_refused(heads, moments, NAN);
            assert_refused(heads, moments + DIM - 1, INFINITY);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_ridge_solution_after_each_sample),
        cmocka_unit_test(a_corrected_target_is_as_if_it_had_come_so),
        cmocka_unit_test(a_direction_that_no_sample_had_gives_nothing),
        cmocka_unit_test(each_head_is_the_solution_over_its_own_samples),
        cmocka_unit_test(a_head_without_news_is_left_alone),
        cmocka_unit_test(goes_on_after_loading),
        cmocka_unit_test(heads_go_on_waiting_after_loading),
        cmocka_unit_test(what_is_damaged_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
