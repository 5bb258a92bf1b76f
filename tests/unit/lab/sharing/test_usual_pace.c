/* How long a run takes, by the table alone. */
#include "lab/sharing/usual_pace.h"

#include <math.h>

#include "support.h"

static dataset *small, *wide;

static int set_up(void **state)
{
    (void)state;
    ee_status status = dataset_open("synthetic:inner,dim=20,arms=10", NULL, &small, NULL);
    return status || dataset_open("synthetic:inner,dim=400,arms=10", NULL, &wide, NULL) ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    dataset_free(small);
    dataset_free(wide);
    return 0;
}

static double seconds(const dataset *data, const char *policy, uint64_t rounds)
{
    return usual_pace_seconds(&(run_job){.data = data, .policy = policy, .rounds = rounds});
}

static void assert_near(double got, double expected)
{
    if (!(fabs(got - expected) < 1e-6 * expected)) fail_msg("got %.9g seconds, expected %.9g", got, expected);
}

/* By the table: 64 + 0.13 * 10 + 1.5 * 20 + 0.057 * 10 * 20 microseconds a round; with blocks 65 more. */
TEST(a_round_is_a_sum)
{
    assert_near(seconds(small, "eenet", 1000), 106.7e-3);
    dataset *blocks;
    ok(dataset_open("synthetic:clicks,dim=20,arms=10,blocks=on", NULL, &blocks, NULL));
    assert_int_equal(dataset_blocks(blocks), 10);
    assert_near(seconds(blocks, "eenet", 1000), 171.7e-3); /* features are those of a block */
    dataset_free(blocks);
    run_job job = {.data = small, .policy = "eenet", .rounds = 1000, .slots = 3};
    assert_near(usual_pace_seconds(&job), 3 * 106.7e-3);
}

/* 420 + 98 * 10 + 2.8 * 20 microseconds in round 1000 and later; (t / 1000)^1.5 of that before. */
TEST(kernels_grow_with_what_they_keep)
{
    assert_near(seconds(small, "kernelucb", 1000), 1456e-3 / 2.5);
    assert_near(seconds(small, "kernelucb", 250), 1456e-3 / 2.5 * pow(0.25, 2.5));
    assert_near(seconds(small, "kernelucb", 3000), 1456e-3 / 2.5 + 2 * 1456e-3);
    assert_near(seconds(small, "eenet:paper", 2000), 4 * seconds(small, "eenet:paper", 1000)); /* without end */
}

/* Every policy that there is has a row of its own: what is not known is as the first. */
TEST(every_policy_has_a_pace)
{
    ee_policy policy;
    for (size_t i = 0; !ee_policy_describe(i, &policy, NULL); i++) {
        double one = seconds(small, policy.name, 1), many = seconds(small, policy.name, 1000);
        assert_true(one > 0.0 && one < many && many < seconds(wide, policy.name, 1000));
        assert_true(one == seconds(small, policy.name, 0));
        if (i) assert_true(many != seconds(small, "eenet", 1000));
    }
    assert_true(seconds(small, "neural-ucb:paper", 1000) < seconds(small, "neural-ucb", 1000));
    assert_true(seconds(small, "kernelucb:other", 1000) == seconds(small, "kernelucb", 1000));
    assert_true(seconds(small, "no such policy", 1000) == seconds(small, "eenet", 1000));
}

TEST_GROUP(set_up, tear_down)
