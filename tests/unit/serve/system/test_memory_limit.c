/* The memory that control groups leave to the process. */
#define _POSIX_C_SOURCE 200809L
#include "serve/system/memory_limit.h"

#include <sys/stat.h>

#include "support_files.h"

static int set_up(void **state)
{
    test_folder *folder = malloc(sizeof *folder);
    *folder = folder_make();
    *state = folder;
    return 0;
}

static int tear_down(void **state)
{
    folder_remove(*state);
    free(*state);
    return 0;
}

static void make_folder(const test_folder *folder, const char *name)
{
    assert_int_equal(mkdir(folder_path(folder, name), 0700), 0);
}

TEST_WITH(version_2, set_up, tear_down)
{
    const test_folder *folder = *state;
    make_folder(folder, "a");
    make_folder(folder, "a/b");
    assert_true(memory_limit_of_groups("0::/a/b\n", folder->path) == UINT64_MAX);
    folder_write_text(folder, "a/b/memory.max", "max\n");
    folder_write_text(folder, "a/memory.max", "3000000\n");
    assert_int_equal(memory_limit_of_groups("0::/a/b\n", folder->path), 3000000); /* the group above limits it */
    folder_write_text(folder, "a/b/memory.max", "2000000\n");
    assert_int_equal(memory_limit_of_groups("0::/a/b\n", folder->path), 2000000);
    assert_int_equal(memory_limit_of_groups("0::/a\n", folder->path), 3000000);
    folder_write_text(folder, "memory.max", "1000000\n"); /* as a container sees its own group */
    assert_int_equal(memory_limit_of_groups("0::/\n", folder->path), 1000000);
    assert_int_equal(memory_limit_of_groups("0::/not/visible/here\n", folder->path), 1000000);
}

TEST_WITH(version_1, set_up, tear_down)
{
    const test_folder *folder = *state;
    make_folder(folder, "memory");
    make_folder(folder, "memory/unit");
    folder_write_text(folder, "memory/memory.limit_in_bytes", "9223372036854771712\n");
    folder_write_text(folder, "memory/unit/memory.limit_in_bytes", "5000000\n");
    assert_int_equal(memory_limit_of_groups("3:cpu,cpuacct:/\n2:hugetlb,memory:/unit\n0::/\n", folder->path), 5000000);
    assert_true(memory_limit_of_groups("3:cpu,cpuacct:/unit\n2:memory_other:/unit\n", folder->path) == UINT64_MAX);
}

TEST_WITH(what_is_no_list_of_groups, set_up, tear_down)
{
    const test_folder *folder = *state;
    folder_write_text(folder, "memory.max", "1000000\n");
    assert_true(memory_limit_of_groups("", folder->path) == UINT64_MAX);
    assert_true(memory_limit_of_groups("\n\nx\n0:\n", folder->path) == UINT64_MAX);
}

TEST(the_machine_has_some)
{
    assert_in_range(memory_limit(), 1 << 20, (uint64_t)1 << 50);
}
