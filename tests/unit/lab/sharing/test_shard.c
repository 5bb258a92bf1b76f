/* Which runs are a shard's, and the order in which all were asked for. */
#define _POSIX_C_SOURCE 200809L
#include "lab/sharing/shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "lab/results/run_order.h"
#include "lab/sharing/usual_pace.h"
#include "support.h"

enum { JOBS = 60 };

static char folder[] = "/tmp/eenet-shard-XXXXXX";
static dataset *data;
static run_job jobs[JOBS];

static int set_up(void **state)
{
    (void)state;
    static const char *const policies[] = {"uniform", "eenet", "linucb"};
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    if (!mkdtemp(folder) || dataset_open("synthetic:inner,dim=3,arms=2", NULL, &data, NULL)) return -1;
    for (size_t i = 0; i < JOBS; i++)
        jobs[i] = (run_job){.data = data, .policy = policies[i / 20], .seed = i % 20, .rounds = 100 + 400 * (i % 3)};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[sizeof folder + 20];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    dataset_free(data);
    return system(command);
}

/* ---- whose a job is ---- */

static void choose(size_t index, size_t count, bool *mine)
{
    ok(shard_choose((run_shard){index, count}, jobs, JOBS, mine, NULL));
}

TEST_WITH(every_job_is_of_one_shard, set_up, tear_down)
{
    for (size_t count = 1; count <= JOBS + 2; count++) {
        size_t owners[JOBS] = {0};
        for (size_t index = 0; index < count; index++) {
            bool mine[JOBS];
            choose(index, count, mine);
            for (size_t i = 0; i < JOBS; i++) owners[i] += mine[i];
        }
        for (size_t i = 0; i < JOBS; i++) assert_int_equal(owners[i], 1);
    }
}

TEST_WITH(no_shard_is_all, set_up, tear_down)
{
    bool mine[JOBS];
    choose(0, 0, mine);
    for (size_t i = 0; i < JOBS; i++) assert_true(mine[i]);
}

/* None has more to do than its share and a job. */
TEST_WITH(shards_take_the_same_time, set_up, tear_down)
{
    enum { SHARDS = 7 };
    double all = 0.0, longest = 0.0;
    for (size_t i = 0; i < JOBS; i++) {
        double seconds = usual_pace_seconds(&jobs[i]);
        all += seconds;
        longest = seconds > longest ? seconds : longest;
    }
    for (size_t index = 0; index < SHARDS; index++) {
        bool mine[JOBS];
        double own = 0.0;
        choose(index, SHARDS, mine);
        for (size_t i = 0; i < JOBS; i++) own += mine[i] ? usual_pace_seconds(&jobs[i]) : 0.0;
        assert_true(own < 1.01 * (all / SHARDS + longest));
        assert_true(own > 0.0);
    }
}

/* ---- the order ---- */

static void assert_order(const uint64_t *expected, size_t expected_count)
{
    uint64_t *keys;
    size_t count;
    ee_error error = {EE_OK, ""};
    if (run_order_read(folder, &keys, &count, &error)) fail_msg("%s", error.message);
    assert_int_equal(count, expected_count);
    if (count) assert_memory_equal(keys, expected, count * sizeof *keys);
    memory_free(keys);
}

TEST_WITH(what_is_new_is_added, set_up, tear_down)
{
    const uint64_t first[] = {7, UINT64_MAX, 3}, second[] = {3, 11, 7, 0}, all[] = {7, UINT64_MAX, 3, 11, 0};
    assert_order(NULL, 0);
    ok(run_order_add(folder, first, 3, NULL));
    assert_order(all, 3);
    ok(run_order_add(folder, second, 4, NULL));
    assert_order(all, 5);
    ok(run_order_add(folder, first, 3, NULL));
    assert_order(all, 5);
}

TEST_WITH(a_wrong_order_is_refused, set_up, tear_down)
{
    static const char *const wrong[] = {"0123456789abcde\n", "0123456789abcdefg\n", "0123456789abcdex\n", "\n"};
    char path[sizeof folder + 10];
    snprintf(path, sizeof path, "%s/order", folder);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint64_t *keys;
        size_t count;
        ee_error error;
        ok(file_write(path, wrong[i], strlen(wrong[i]), NULL));
        assert_int_equal(run_order_read(folder, &keys, &count, &error), EE_BAD_INPUT);
        assert_non_null(strstr(error.message, "/order: line 1: expected the key of a run"));
        assert_int_equal(run_order_add(folder, &(uint64_t){1}, 1, &error), EE_BAD_INPUT);
    }
}
