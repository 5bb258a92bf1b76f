#include "bench/growth_plot.h"
#include "bench/machine.h"
#include "bench/problem.h"
#include "support.h"

TEST(quantiles_of_what_was_taken)
{
    measurement taken = {.taken = {{.wall = 4}, {.wall = 1}, {.wall = 3}, {.wall = 2}, {.wall = 100}}, .count = 5};
    assert_true(measure_quantile(&taken, 0.5) == 3.0);
    assert_true(measure_quantile(&taken, 0.25) == 2.0);
    assert_true(measure_quantile(&taken, 1) == 100.0);
    taken.count = 4;
    assert_true(measure_quantile(&taken, 0.5) == 2.5);
}

TEST(repeats_end)
{
    measurement taken = {0};
    assert_true(measure_more(&taken, 0)); /* at least one */
    while (measure_more(&taken, 1e9)) measure_add(&taken, measure_start(), 1);
    assert_int_equal(taken.count, MEASURE_REPEATS);
    taken = (measurement){.count = 1, .spent = 2};
    assert_false(measure_more(&taken, 1.5));
}

TEST(slope_of_a_power)
{
    series cubes = {.count = 0};
    for (double size = 1; size < 100; size *= 3) {
        double cost = 5 * size * size * size;
        measurement taken = {.taken = {{.wall = 2, .cpu = cost}, {.wall = 4, .cpu = cost}}, .count = 2};
        series_add(&cubes, size, &taken);
    }
    double factor;
    assert_close(series_slope(&cubes, &factor), 3, 1e-12);
    assert_close(factor, 5, 1e-12);
    assert_close(cubes.spread, 1.0 / 3, 1e-12);
}

/* The slower of computing and moving, at the rate of the smallest memory that holds the work. */
TEST(floor_of_work)
{
    machine peak = {.flops = 100, .spans = {10, 20, 40, 80}, .rates = {8, 4, 2, 1}};
    work computing = {1000, 8, 10}, moving = {100, 8, 11}, far = {0, 8, 1000};
    assert_true(machine_floor(&peak, &computing) == 10.0);
    assert_true(machine_floor(&peak, &moving) == 2.0);
    assert_true(machine_floor(&peak, &far) == 8.0);
}

static void check_problem(const problem_shape *shape)
{
    problem *rounds;
    ok(problem_create(shape, 3, &rounds, &last_error));
    double rewards = 0;
    for (size_t t = 0; t < 3; t++) {
        ee_arms arms = problem_round(rounds, t);
        assert_ptr_equal(problem_round(rounds, t + 3).values, arms.values);
        for (size_t i = 0; i < arms.count; i++) {
            rewards += problem_reward(rounds, t, i);
            for (size_t j = arms.starts[i]; j < arms.starts[i + 1]; j++) {
                assert_true(arms.indices[j] < shape->dim);
                assert_true(j == arms.starts[i] || arms.indices[j - 1] < arms.indices[j]);
                if (shape->blocks > 1) assert_int_equal(arms.indices[j] / (shape->dim / shape->blocks), i);
            }
        }
    }
    assert_true(rewards > 0);
    problem_free(rounds);
}

TEST(sparse_problems_are_well_formed)
{
    check_problem(&(problem_shape){"", 5, 300, 12, 5});
    check_problem(&(problem_shape){"", 7, 100, 9, 1});
}
