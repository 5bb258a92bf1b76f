/* The slope against the line of least squares through all pairs, each with what is left of its weight. */
#include "math/slope.h"

#include "support.h"

enum { PAIRS = 300 };

typedef struct pairs {
    int count;
    double x[PAIRS], y[PAIRS];
} pairs;

/* The minimum of sum w (y - a - b x)^2 + doubt^2 b^2 over a and b: b, within 0 to 1. */
static double fit(const pairs *p, double span, double doubt)
{
    double total = 0, mean_x = 0, mean_y = 0, up = 0, down = doubt * doubt;
    for (int k = 0; k < p->count; k++) {
        double weight = pow(1 - 1 / span, p->count - 1 - k);
        total += weight;
        mean_x += weight * p->x[k];
        mean_y += weight * p->y[k];
    }
    mean_x /= total;
    mean_y /= total;
    for (int k = 0; k < p->count; k++) {
        double weight = pow(1 - 1 / span, p->count - 1 - k);
        up += weight * (p->x[k] - mean_x) * (p->y[k] - mean_y);
        down += weight * (p->x[k] - mean_x) * (p->x[k] - mean_x);
    }
    return fmin(fmax(up / down, 0), 1);
}

TEST(is_the_weighted_least_squares)
{
    const double spans[] = {3, 50, 1e6}, doubts[] = {0.2, 1, 10}, truths[] = {0, 0.3, 0.8, 1.7, -0.6};
    int inside = 0;
    for (size_t s = 0; s < 3; s++) {
        for (size_t d = 0; d < 3; d++) {
            for (size_t b = 0; b < 5; b++) {
                random_stream draw = random_named(9 * s + 3 * d + b, "pairs");
                pairs p = {0};
                slope self = {0};
                while (p.count < PAIRS) {
                    double x = 5 + random_normal(&draw), y = -2 + truths[b] * x + 0.3 * random_normal(&draw);
                    p.x[p.count] = x;
                    p.y[p.count++] = y;
                    slope_add(&self, x, y, spans[s]);
                    double expected = fit(&p, spans[s], doubts[d]), got = slope_weight(&self, doubts[d]);
                    assert_close(got, expected, 1e-9);
                    assert_true(got >= 0 && got <= 1);
                    inside += got > 0 && got < 1;
                }
            }
        }
    }
    assert_true(inside > 9 * 2 * PAIRS); /* and not only its bounds */
}

TEST(nothing_says_nothing_and_what_overflows_is_left_out)
{
    slope self = {0};
    assert_true(slope_weight(&self, 1) == 0);
    slope_add(&self, 3, 3, 10);
    assert_true(slope_weight(&self, 1) == 0); /* one pair has no slope */
    assert_true(slope_weight(&self, 0) == 0);
    for (int k = 0; k < 20; k++) slope_add(&self, 3, k, 10);
    assert_true(slope_weight(&self, 0) == 0); /* nor have pairs of one x */
    const double absurd[][2] = {{1e160, 0}, {1e160, 1e160}, {1e155, 1e155}, {1e150, 1e170}, {INFINITY, 0}, {0, NAN}};
    slope sound = {0};
    for (int k = 0; k < 10; k++) slope_add(&sound, k, 0.5 * k, 100);
    double before = slope_weight(&sound, 1);
    assert_true(before > 0.4 && before < 0.5);
    for (size_t k = 0; k < sizeof absurd / sizeof *absurd; k++) {
        slope kept = sound;
        slope_add(&sound, absurd[k][0], absurd[k][1], 100);
        assert_memory_equal(&sound, &kept, sizeof sound);
    }
    slope_add(&sound, 3, 1.5, 100); /* and goes on */
    assert_close(slope_weight(&sound, 1), before, 0.05);
}

TEST(goes_on_after_loading)
{
    slope self = {0}, loaded = {9, 9, 9, 9, 9};
    for (int k = 0; k < 10; k++) slope_add(&self, k, 0.3 * k * k, 7);
    auto_archive written = archive_writer(NULL);
    slope_archive(&self, &written);
    ok(written.status);
    archive a = archive_reader(written.bytes, written.size, NULL);
    slope_archive(&loaded, &a);
    ok(a.status);
    assert_int_equal(archive_remaining(&a), 0);
    assert_memory_equal(&self, &loaded, sizeof self);
    for (size_t place = 0; place < 5; place++) { /* none of the sums may be damaged */
        double sums[5] = {1, 1, 1, 1, 1};
        sums[place] = place % 2 ? NAN : INFINITY;
        a = archive_reader((const uint8_t *)sums, sizeof sums, &last_error);
        slope_archive(&loaded, &a);
        fails_with(a.status, EE_BAD_MODEL, "model: a sum of least squares is not a finite number");
    }
}
