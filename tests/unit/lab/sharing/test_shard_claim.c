#include "lab/sharing/shard_claim.h"

#include "data/support_sets.h"
#include "support_files.h"

static void assert_shard(run_shard shard, size_t index, size_t count)
{
    assert_int_equal(shard.index, index);
    assert_int_equal(shard.count, count);
}

TEST(test_as_it_is_written)
{
    run_shard shard;
    ok(shard_parse("0/1", &shard, NULL));
    assert_shard(shard, 0, 1);
    ok(shard_parse("15/16", &shard, NULL));
    assert_shard(shard, 15, 16);
    ok(shard_parse("999999/1000000", &shard, NULL));
    assert_shard(shard, 999999, 1000000);
}

TEST(test_written_wrongly)
{
    static const char *const wrong[] = {"",     "3",     "/",   "3/",  "/4",   "-1/4",
                                        "1/4 ", "1/4/2", "a/b", "0/0", "1 /4", "0/1000001"};
    run_shard shard;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fails_saying(shard_parse(wrong[i], &shard, &last_error), EE_BAD_OPTION, "--shard: expected I/N such as 0/16");
    }
    fails_with(shard_parse("16/16", &shard, &last_error), EE_BAD_OPTION,
               "--shard 16/16: expected 0/16 to 15/16; shards are numbered from 0");
}

static run_shard told(slurm_words words)
{
    run_shard shard = {99, 99};
    ok(shard_of_slurm(&words, &shard, NULL));
    return shard;
}

static void refused(slurm_words words, const char *part)
{
    run_shard shard;
    fails_saying(shard_of_slurm(&words, &shard, &last_error), EE_BAD_OPTION, part);
    assert_message_has(last_error.message, "--shard");
}

TEST(test_nothing_said)
{
    assert_shard(told((slurm_words){0}), 0, 1);
}

TEST(test_array)
{
    assert_shard(told((slurm_words){.array_id = "3", .array_count = "16"}), 3, 16);
    slurm_words from_one = {"16", "16", "1", "16", "1", NULL, NULL, NULL};
    assert_shard(told(from_one), 15, 16);
    slurm_words in_steps = {"18", "4", "10", "22", "4", NULL, NULL, NULL};
    assert_shard(told(in_steps), 2, 4);
    slurm_words alone = {"5", "1", "5", "5", "1", NULL, NULL, NULL};
    assert_shard(told(alone), 0, 1);
}

TEST(test_array_with_gaps)
{
    slurm_words gaps = {"5", "3", "1", "9", "1", NULL, NULL, NULL};
    refused(gaps, "the 3 tasks of this array, 1 to 9, are not evenly spaced");
    refused(gaps, "task 5");
    slurm_words between = {"11", "4", "10", "22", "4", NULL, NULL, NULL};
    refused(between, "not evenly spaced");
    slurm_words outside = {"4", "4", "0", "3", "1", NULL, NULL, NULL};
    refused(outside, "not evenly spaced");
    slurm_words before = {"0", "4", "1", "4", "1", NULL, NULL, NULL};
    refused(before, "not evenly spaced");
    slurm_words still = {"0", "4", "0", "3", "0", NULL, NULL, NULL};
    refused(still, "not evenly spaced");
    refused((slurm_words){.array_id = "x", .array_count = "4"},
            "SLURM_ARRAY_TASK_ID: expected a whole number, got 'x'");
    refused((slurm_words){.array_id = "0", .array_count = "0"}, "not evenly spaced");
}

TEST(test_step)
{
    assert_shard(told((slurm_words){.step_id = "0", .step_tasks = "4", .process = "2"}), 2, 4);
    assert_shard(told((slurm_words){.step_id = "7", .step_tasks = "1", .process = "0"}), 0, 1);
    /* A batch script, which has a process and tasks too. */
    assert_shard(told((slurm_words){.process = "0", .step_tasks = "4"}), 0, 1);
    assert_shard(told((slurm_words){.step_id = "batch", .step_tasks = "4", .process = "0"}), 0, 1);
    assert_shard(told((slurm_words){.step_id = "4294967291", .step_tasks = "4", .process = "0"}), 0, 1);
    refused((slurm_words){.step_id = "0", .step_tasks = "4", .process = "4"}, "SLURM_PROCID is 4 of 4 tasks");
    refused((slurm_words){.step_id = "0", .step_tasks = "four", .process = "0"}, "SLURM_STEP_NUM_TASKS");
}

/* Every task of every array task has a number of its own. */
TEST(test_both)
{
    static const char *const numbers[] = {"0", "1", "2", "3"};
    bool seen[12] = {false};
    for (size_t task = 0; task < 3; task++) {
        for (size_t process = 0; process < 4; process++) {
            slurm_words words = {numbers[task], "3", "0", "2", "1", "0", "4", numbers[process]};
            run_shard shard = told(words);
            assert_int_equal(shard.count, 12);
            assert_in_range(shard.index, 0, 11);
            assert_false(seen[shard.index]);
            seen[shard.index] = true;
        }
    }
}
