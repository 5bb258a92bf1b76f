/* What is kept from one run to the next. */
#define _DEFAULT_SOURCE
#include "data/files/cache.h"

#include <dirent.h>
#include <unistd.h>

#include "support_files.h"

static const uint8_t kept[] = {1, 0, 255, 7, 7};

static void expect_found(const char *folder, const char *kind, uint64_t key, bool expected)
{
    uint8_t *bytes;
    size_t size;
    assert_int_equal(cache_read(folder, kind, key, &bytes, &size), expected);
    assert_true((bytes != NULL) == expected);
    if (!expected) return;
    assert_int_equal(size, sizeof kept);
    assert_memory_equal(bytes, kept, sizeof kept);
    memory_free(bytes);
}

/* The name of the only file in the folder. */
static void only_file(const char *folder, char name[256])
{
    DIR *files = opendir(folder);
    assert_non_null(files);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(files));) {
        if (entry->d_name[0] == '.') continue;
        snprintf(name, 256, "%s", entry->d_name);
        count++;
    }
    closedir(files);
    assert_int_equal(count, 1);
}

TEST_IN_FOLDER(what_is_kept_comes_back)
{
    rmdir(here.path); /* it is made when something is written, not before */
    expect_found(here.path, "ratings", 5, false);
    assert_int_not_equal(access(here.path, F_OK), 0);
    cache_write(here.path, "ratings", 5, kept, sizeof kept);
    expect_found(here.path, "ratings", 5, true);
    expect_found(here.path, "ratings", 6, false);
    expect_found(here.path, "disin", 5, false);
    cache_write(here.path, "ratings", 5, kept, sizeof kept); /* again */
    expect_found(here.path, "ratings", 5, true);
    char name[256];
    only_file(here.path, name);
    assert_string_equal(name, "ratings-0000000000000005.prepared");
}

TEST(nothing_is_kept_without_a_folder)
{
    cache_write(NULL, "ratings", 5, kept, sizeof kept);
    expect_found(NULL, "ratings", 5, false);
}

TEST_IN_FOLDER(what_is_damaged_is_not_found)
{
    cache_write(here.path, "ratings", 5, kept, sizeof kept);
    char name[256], path[300];
    only_file(here.path, name);
    snprintf(path, sizeof path, "%s", folder_path(&here, name));
    auto_memory uint8_t *bytes;
    size_t size;
    ok(file_read(path, &bytes, &size, NULL));
    for (size_t cut = 0; cut < size; cut++) {
        folder_write(&here, name, bytes, cut);
        expect_found(here.path, "ratings", 5, false);
    }
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        folder_write(&here, name, bytes, size);
        expect_found(here.path, "ratings", 5, false);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    folder_write(&here, name, bytes, size);
    expect_found(here.path, "ratings", 5, true);
}

/* The file cannot take its place, which a folder has: nothing else is left there. */
TEST_IN_FOLDER(what_cannot_be_written_leaves_nothing)
{
    char name[256];
    ok(file_make_folder(folder_path(&here, "ratings-0000000000000005.prepared"), NULL));
    cache_write(here.path, "ratings", 5, kept, sizeof kept);
    expect_found(here.path, "ratings", 5, false);
    only_file(here.path, name);
}

TEST(keys_tell_files_versions_and_options)
{
    uint64_t keys[] = {cache_key(1, 1, "users=10"), cache_key(2, 1, "users=10"), cache_key(1, 2, "users=10"),
                       cache_key(1, 1, "users=11"), cache_key(1, 1, "")};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < i; j++) assert_true(keys[i] != keys[j]);
    assert_true(cache_key(1, 1, "users=10") == keys[0]);
}
