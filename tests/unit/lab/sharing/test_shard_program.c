#include "lab/sharing/shard_program.h"

#include <dirent.h>

#include "data/support_sets.h"
#include "lab/results/result_folder.h"
#include "math/kernels.h"
#include "support_files.h"

static test_folder folder, shards;

static int set_up(void **state)
{
    (void)state;
    folder = folder_make();
    shards = folder_make();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove(&folder);
    folder_remove(&shards);
    return 0;
}

static ee_status agree(void)
{
    return shard_program_agree(folder.path, shards.path, &last_error);
}

static size_t count_files(const char *path)
{
    size_t count = 0;
    DIR *open = opendir(path);
    assert_non_null(open);
    for (struct dirent *entry; (entry = readdir(open));) count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

TEST_WITH(test_the_first_says_it, set_up, tear_down)
{
    ok(agree());
    ok(agree());
    assert_int_equal(count_files(shards.path), 1); /* and no draft of it */
}

TEST_WITH(test_other_kernels, set_up, tear_down)
{
    const char *others = strcmp(ee_kernels(), "reference") == 0 ? "avx2" : "reference";
    folder_write_text(&shards, "program", formatted("%s %s\n", ee_version(), others));
    fails_saying(agree(), EE_BAD_INPUT, formatted("set EENET_KERNELS=%s", others));
    assert_message_has(last_error.message, shards.path);
    if (!kernels_use("reference") || strcmp(others, "reference") != 0) return;
    ok(agree());
}

TEST_WITH(test_another_version, set_up, tear_down)
{
    folder_write_text(&shards, "program", "0.0.1 avx2\n");
    fails_saying(agree(), EE_BAD_INPUT, "was run by eenet 0.0.1 with kernels avx2, but this is ");
    assert_message_has(last_error.message, "use that program, or another folder");
}

static void add_run(const char *version, const char *kernels, uint64_t seed)
{
    RELEASED_BY(result_folder_close) result_folder into = {0};
    double curve[2] = {0.5, 1.0};
    stored_run run = {.dataset = "a",
                      .policy = "b",
                      .options = "",
                      .seed = seed,
                      .rounds = 2,
                      .version = version,
                      .kernels = kernels,
                      .result = {.finished = true, .rounds = 2, .regret = 1.0}};
    ok(result_folder_open(folder.path, NULL, &into, NULL));
    ok(result_folder_add(&into, &run, curve, NULL));
}

/* What was merged is looked at too; one run of this program among them will do, as for whoever merges. */
TEST_WITH(test_runs_that_are_there, set_up, tear_down)
{
    add_run("0.0.1", "avx2", 1);
    fails_saying(agree(), EE_BAD_INPUT, "0.0.1");
    assert_message_has(last_error.message, folder.path);
    assert_int_equal(count_files(shards.path), 0);
    add_run(ee_version(), ee_kernels(), 2);
    ok(agree());
}
