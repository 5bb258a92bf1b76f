/* Which runs are a shard's, and the order in which all were asked for. */
#include "lab/sharing/shard.h"

#include "data/support_sets.h"
#include "lab/results/run_order.h"
#include "support_files.h"

static const char *const folder = here.path;

/* Each job is of one shard, and no shard has more than one job more than another. */
TEST(every_job_is_of_one_shard)
{
    enum { JOBS = 60 };
    for (size_t count = 1; count <= JOBS + 2; count++) {
        size_t owners[JOBS] = {0};
        for (size_t index = 0; index < count; index++) {
            size_t jobs = 0;
            for (size_t i = 0; i < JOBS; i++) {
                owners[i] += shard_has((run_shard){index, count}, i);
                jobs += shard_has((run_shard){index, count}, i);
            }
            assert_true(jobs == JOBS / count || jobs == JOBS / count + 1);
        }
        for (size_t i = 0; i < JOBS; i++) assert_int_equal(owners[i], 1);
    }
}

/* Ten seeds of a policy are spread over the shards. */
TEST(shards_share_each_policy)
{
    for (size_t index = 0; index < 5; index++) {
        size_t seeds = 0;
        for (size_t i = 30; i < 40; i++) seeds += shard_has((run_shard){index, 5}, i);
        assert_int_equal(seeds, 2);
    }
}

TEST(no_shard_is_all)
{
    for (size_t i = 0; i < 60; i++) assert_true(shard_has((run_shard){0, 0}, i));
}

static void assert_order(const uint64_t *expected, size_t expected_count)
{
    auto_memory uint64_t *keys;
    size_t count;
    ok(run_order_read(folder, &keys, &count, NULL));
    assert_int_equal(count, expected_count);
    if (count) assert_memory_equal(keys, expected, count * sizeof *keys);
}

TEST_IN_FOLDER(what_is_new_is_added)
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

TEST_IN_FOLDER(a_wrong_order_is_refused)
{
    static const char *const wrong[] = {"0123456789abcde\n", "0123456789abcdefg\n", "0123456789abcdex\n", "\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint64_t *keys;
        size_t count;
        folder_write_text(&here, "order", wrong[i]);
        fails_saying(run_order_read(folder, &keys, &count, &last_error), EE_BAD_INPUT,
                     "/order: line 1: expected the key of a run");
        assert_int_equal(run_order_add(folder, &(uint64_t){1}, 1, &last_error), EE_BAD_INPUT);
    }
}
