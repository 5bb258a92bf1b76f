/* Runs found by their keys, and jobs as their runs are kept. */
#include "lab/results/job_keys.h"

#include "data/support_sets.h"
#include "lab/results/run_keys.h"
#include "support.h"

/* At every count: the first of each key, and no other key. */
TEST(keys_are_found)
{
    enum { MOST = 70 };
    uint64_t keys[MOST];
    for (size_t i = 0; i < MOST; i++) keys[i] = 10 * ((7 * i) % 23); /* most of them several times */
    for (size_t count = 0; count <= MOST; count++) {
        RELEASED_BY(run_index_release) run_index index;
        ok(run_index_create(keys, count, &index, NULL));
        for (uint64_t key = 0; key < 250; key++) {
            size_t first = 0, place = MOST;
            while (first < count && keys[first] != key) first++;
            assert_int_equal(run_index_find(&index, key, &place), first < count);
            assert_int_equal(run_index_find(&index, key, NULL), first < count);
            assert_int_equal(place, first < count ? first : MOST);
        }
    }
}

TEST(stored_runs_are_found)
{
    stored_run runs[3];
    for (size_t i = 0; i < 3; i++)
        runs[i] = (stored_run){.dataset = "d", .policy = "p", .options = "", .seed = i, .rounds = 5};
    stored_runs list = {runs, 3, 3};
    RELEASED_BY(run_index_release) run_index index;
    ok(run_index_of_stored(&list, &index, NULL));
    for (size_t i = 0; i < 3; i++) {
        size_t place = 3;
        assert_true(run_index_find(&index, run_keys_of_stored(&runs[i]).run, &place));
        assert_int_equal(place, i);
    }
    runs[0].seed = 3;
    assert_false(run_index_find(&index, run_keys_of_stored(&runs[0]).run, NULL));
}

TEST(jobs_have_keys)
{
    RELEASED_BY(job_keys_release) job_keys keys;
    auto_dataset *data = open_data("synthetic:inner,dim=3,arms=2");
    run_job jobs[] = {{.data = data, .policy = "uniform", .seed = 1, .rounds = 5},
                      {.data = data, .policy = "no-such-policy", .seed = 1, .rounds = 5},
                      {.data = data, .policy = "no-such-policy", .seed = 1, .rounds = 5},
                      {.data = data, .policy = "uniform", .seed = 2, .rounds = 5},
                      {.data = data, .policy = "uniform", .options = "pending=1024", .seed = 1, .rounds = 5}};
    ok(job_keys_create(jobs, 5, &keys, NULL));
    const job_key *of = keys.keys;
    assert_string_equal(of[0].options, of[3].options);
    assert_null(of[1].options);
    assert_null(of[2].options);
    assert_true(of[0].run == run_keys_of_job(&jobs[0], of[0].options).run && of[0].run != of[3].run);
    for (size_t i = 0; i < 4; i++) assert_int_equal(of[i].same_as, i); /* those without a key are like no other */
    assert_int_equal(of[4].same_as, 0);                                /* the default, written out */
    assert_true(run_index_find(&keys.index, of[3].run, NULL));
}
