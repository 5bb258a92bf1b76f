/* How long a run takes, by the table alone. */
#include "lab/usual_pace.h"

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

/* Every policy that there is has its own row: the quick ones are told from the slow. */
static void every_policy_has_a_pace(void **state)
{
    (void)state;
    ee_policy policy;
    size_t slow = 0, count = 0;
    for (; !ee_policy_describe(count, &policy, NULL); count++) {
        assert_true(seconds(small, policy.name, 1000) > 0.0);
        slow += seconds(small, policy.name, 1000) > 2.0 * seconds(small, "uniform", 1000);
    }
    assert_true(slow > 10 && slow < count);
    assert_true(seconds(small, "kernelucb", 1000) > seconds(small, "eenet", 1000));
    assert_true(seconds(small, "eenet", 1000) > seconds(small, "linucb", 1000));
}

static void more_takes_longer(void **state)
{
    (void)state;
    ee_policy policy;
    for (size_t i = 0; !ee_policy_describe(i, &policy, NULL); i++) {
        assert_true(seconds(wide, policy.name, 1000) > seconds(small, policy.name, 1000));
        assert_true(seconds(small, policy.name, 2000) > 1.9 * seconds(small, policy.name, 1000));
        assert_true(seconds(small, policy.name, 0) > 0.0);
    }
    assert_true(seconds(small, "kernelucb", 2000) > 3.0 * seconds(small, "kernelucb", 1000)); /* keeps all rounds */
}

/* A preset is as its policy, and what nobody knows is a guess too. */
static void any_name_has_a_pace(void **state)
{
    (void)state;
    assert_true(seconds(small, "greedy:paper", 1000) > seconds(small, "uniform", 1000));
    assert_true(seconds(small, "no such policy", 1000) > 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_has_a_pace),
        cmocka_unit_test(more_takes_longer),
        cmocka_unit_test(any_name_has_a_pace),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
