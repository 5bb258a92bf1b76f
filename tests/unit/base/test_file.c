/* Whole files: what is written is there whole or not at all, and nothing else is left behind. */
#define _GNU_SOURCE
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

/* ---- the system calls of file.c, seen and made to fail ----
 *
 * A program's own definition of these goes before the C library's. */

static char trace[256];         /* what was called: "sync-file rename sync-folder" */
static const char *fail_call;   /* the call that fails, with EIO */
static bool stutter;            /* every second write is interrupted, the others write one byte */
static unsigned stutter_writes; /* so far */

static bool note(const char *call)
{
    size_t length = strlen(trace);
    snprintf(trace + length, sizeof trace - length, "%s%s", length ? " " : "", call);
    bool fails = fail_call && strcmp(call, fail_call) == 0;
    if (fails) errno = EIO;
    return !fails;
}

int fsync(int descriptor)
{
    struct stat about;
    bool folder = fstat(descriptor, &about) == 0 && S_ISDIR(about.st_mode);
    return note(folder ? "sync-folder" : "sync-file") ? (int)syscall(SYS_fsync, descriptor) : -1;
}

int rename(const char *from, const char *to)
{
    return note("rename") ? (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0) : -1;
}

ssize_t write(int descriptor, const void *bytes, size_t size)
{
    if (stutter && stutter_writes++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_write, descriptor, bytes, stutter && size > 1 ? 1 : size);
}

static char folder[64];
static char path[128];

static int folder_create(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/eenet-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/model", folder);
    trace[0] = '\0';
    return 0;
}

/* The entries of the folder; deletes them where asked to. */
static size_t folder_entries(bool deletes)
{
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        count++;
        if (!deletes) continue;
        char name[sizeof folder + 1 + sizeof entry->d_name];
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        assert_int_equal(remove(name), 0);
    }
    closedir(listing);
    return count;
}

static int folder_delete(void **state)
{
    (void)state;
    fail_call = NULL;
    stutter = false;
    folder_entries(true);
    return rmdir(folder);
}

#define FOLDER_TEST(name) TEST_WITH(name, folder_create, folder_delete)

static void assert_content(const void *expected, size_t size)
{
    auto_memory uint8_t *bytes = NULL;
    size_t got = SIZE_MAX;
    ee_error error = {EE_OK, ""};
    ee_status status = file_read(path, &bytes, &got, &error);
    assert_string_equal(error.message, "");
    ok(status);
    assert_int_equal(got, size);
    assert_non_null(bytes);
    assert_memory_equal(bytes, expected, size);
}

/* file_write fails with "file: could not <verb> <path>: <reason>": the temporary name says nothing to anybody. */
static void assert_write_fails(const char *at, const char *verb, const char *reason)
{
    char expected[512];
    snprintf(expected, sizeof expected, "file: could not %s %s: %s", verb, at, reason);
    fails_with(file_write(at, "new content", 11, &last_error), EE_FILE_ERROR, expected);
    assert_int_equal(file_write(at, "new content", 11, NULL), EE_FILE_ERROR);
}

FOLDER_TEST(what_is_written_is_read_back_and_replaced)
{
    static const size_t sizes[] = {0, 1, 255, 4096, 100001};
    auto_free uint8_t *bytes = malloc(100001);
    assert_non_null(bytes);
    for (size_t i = 0; i < 100001; i++) bytes[i] = (uint8_t)(i * 31 + (i >> 8));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ok(file_write(path, bytes, sizes[i], NULL));
        assert_content(bytes, sizes[i]);
        assert_int_equal(folder_entries(false), 1);
    }
    ok(file_write(path, "a long old content", 18, NULL));
    int old = open(path, O_RDONLY);
    assert_true(old >= 0);
    ok(file_write(path, "new", 3, NULL));
    assert_content("new", 3);
    assert_int_equal(folder_entries(false), 1);
    char still[32];
    assert_int_equal(read(old, still, sizeof still), 18); /* whoever has the old file open keeps it whole */
    assert_memory_equal(still, "a long old content", 18);
    close(old);
}

FOLDER_TEST(the_mode_is_the_users_or_the_old_files)
{
    struct stat about;
    mode_t mask = umask(027);
    ok(file_write(path, "x", 1, NULL));
    umask(mask);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0640);
    assert_int_equal(chmod(path, 0604), 0);
    ok(file_write(path, "y", 1, NULL));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0604);
    /* A path without a folder is beside us. */
    int here = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir(folder), 0);
    ee_status status = file_write("model", "x", 1, NULL);
    assert_int_equal(fchdir(here), 0);
    close(here);
    ok(status);
    assert_content("x", 1);
}

/* The order that makes a crash harmless: content on the disk, then the name, then the folder that holds the name. */
FOLDER_TEST(interrupted_and_short_writes_go_on_to_a_synced_file)
{
    static const char content[] = "one byte at a time";
    stutter = true;
    ee_status status = file_write(path, content, sizeof content, NULL);
    stutter = false;
    ok(status);
    assert_content(content, sizeof content);
    assert_int_equal(stutter_writes, 2 * sizeof content);
    assert_string_equal(trace, "sync-file rename sync-folder");
}

FOLDER_TEST(a_folder_must_be_there_and_is_not_overwritten)
{
    char missing[256];
    struct stat about;
    snprintf(missing, sizeof missing, "%s/missing/model", folder);
    assert_write_fails(missing, "create", "No such file or directory");
    assert_int_equal(folder_entries(false), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_write_fails(path, "replace", "Is a directory");
    assert_int_equal(stat(path, &about), 0);
    assert_true(S_ISDIR(about.st_mode));
    assert_int_equal(folder_entries(false), 1);
}

/* A rename would put a file in the place of a device, as /dev/full is. */
FOLDER_TEST(a_pipe_is_not_replaced)
{
    struct stat about;
    char expected[256];
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(expected, sizeof expected, "file: %s is not a regular file; it was not changed", path);
    fails_with(file_write(path, "x", 1, &last_error), EE_FILE_ERROR, expected);
    assert_int_equal(stat(path, &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
    assert_int_equal(folder_entries(false), 1);
}

/* The limit lets a part of the file be written, as a full disk does. */
FOLDER_TEST(a_cut_write_or_a_failed_step_keeps_a_whole_file)
{
    static const uint8_t large[10000] = {1};
    ok(file_write(path, "old", 3, NULL));
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ee_status status = file_write(path, large, sizeof large, &last_error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    char expected[256];
    snprintf(expected, sizeof expected, "file: could not write %s: File too large", path);
    fails_with(status, EE_FILE_ERROR, expected);
    assert_content("old", 3);
    assert_int_equal(folder_entries(false), 1);
    /* If syncing the folder fails, the new file is in place, but a power cut may take it back: the caller must hear of
     * it. */
    static const char *const cases[][3] = {{"sync-file", "sync %s/model", "old"},
                                           {"rename", "replace %s/model", "old"},
                                           {"sync-folder", "sync %s", "new"}};
    for (size_t i = 0; i < 3; i++) {
        char step[128];
        fail_call = NULL;
        ok(file_write(path, "old", 3, NULL));
        fail_call = cases[i][0];
        snprintf(step, sizeof step, cases[i][1], folder);
        snprintf(expected, sizeof expected, "file: could not %s: Input/output error", step);
        fails_with(file_write(path, "new", 3, &last_error), EE_FILE_ERROR, expected);
        assert_content(cases[i][2], 3);
        assert_int_equal(folder_entries(false), 1);
    }
}

static void assert_read_fails(const char *format)
{
    uint8_t *bytes = (uint8_t *)folder;
    size_t size = 7;
    char expected[256];
    snprintf(expected, sizeof expected, format, path);
    fails_with(file_read(path, &bytes, &size, &last_error), EE_FILE_ERROR, expected);
    assert_null(bytes);
    assert_int_equal(file_read(path, &bytes, &size, NULL), EE_FILE_ERROR);
}

/* Opening a pipe that nobody writes to does not wait for a writer. */
FOLDER_TEST(only_files_are_read)
{
    assert_read_fails("file: could not open %s: No such file or directory");
    assert_int_equal(folder_entries(false), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_read_fails("file: %s is not a regular file");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_read_fails("file: %s is not a regular file");
}

enum { NOBODY = 65534 };

FOLDER_TEST(what_one_may_not_do_is_an_error)
{
    bool root = geteuid() == 0; /* root may do everything */
    ok(file_write(path, "x", 1, NULL));
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    if (root && seteuid(NOBODY)) skip();
    ee_error of_reading, of_writing;
    uint8_t *bytes = NULL;
    size_t size;
    ee_status reading = file_read(path, &bytes, &size, &of_reading), writing = file_write(path, "y", 1, &of_writing);
    if (root) assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_true(reading == EE_FILE_ERROR && writing == EE_FILE_ERROR);
    assert_null(bytes);
    char expected[256];
    snprintf(expected, sizeof expected, "file: could not open %s: Permission denied", path);
    assert_string_equal(of_reading.message, expected);
    assert_non_null(strstr(of_writing.message, ": Permission denied"));
    assert_int_equal(folder_entries(false), 1);
}

FOLDER_TEST(folders_are_made_with_those_they_lie_in)
{
    char inner[sizeof path + 8];
    struct stat about;
    snprintf(path, sizeof path, "%s/one", folder);
    snprintf(inner, sizeof inner, "%s/two//", path);
    for (int i = 0; i < 2; i++) ok(file_make_folder(inner, NULL)); /* the second time it is there */
    assert_int_equal(stat(inner, &about), 0);
    assert_true(S_ISDIR(about.st_mode));
    assert_int_equal(rmdir(inner), 0);
    assert_int_equal(rmdir(path), 0);
    ee_error error = {EE_OK, ""}; /* and a file is no folder */
    ok(file_write(path, "x", 1, NULL));
    snprintf(inner, sizeof inner, "%s/two", path);
    assert_int_equal(file_make_folder(path, &error), EE_FILE_ERROR);
    assert_non_null(strstr(error.message, "could not create the folder /tmp/eenet-test-"));
    assert_non_null(strstr(error.message, "/one: Not a directory"));
    assert_int_equal(file_make_folder(inner, &error), EE_FILE_ERROR);
    assert_non_null(strstr(error.message, "/one: Not a directory"));
}

TEST(tails_are_short_and_whole_letters)
{
    char long_path[300], expected[256];
    memset(long_path, 'x', sizeof long_path);
    long_path[299] = '\0';
    assert_ptr_equal(file_tail(long_path), long_path + 199);
    memcpy(long_path + 198, "\xc3\xa9", 2); /* a letter of two bytes, of which the tail would start with the second */
    assert_ptr_equal(file_tail(long_path), long_path + 200);
    assert_string_equal(file_tail("short"), "short");

    /* A message that says why, whatever the length of the path. */
    uint8_t *bytes;
    size_t size;
    snprintf(expected, sizeof expected, "file: could not open %s: File name too long", long_path + 200);
    fails_with(file_read(long_path, &bytes, &size, &last_error), EE_FILE_ERROR, expected);
    auto_memory char *joined;
    ok(file_join("a/b", "c.txt", &joined, NULL));
    assert_string_equal(joined, "a/b/c.txt");
}
