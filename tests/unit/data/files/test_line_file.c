/* Files of lines: what is half is cut off, and two programs do not write at a time. Crashes are tried in
 * test_experiment.c. */
#define _DEFAULT_SOURCE /* for flock */
#include "data/files/line_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "data/support_sets.h"
#include "support_files.h"

static void expect_bytes(const char *path, const char *expected)
{
    auto_memory uint8_t *bytes;
    size_t size;
    ok(file_read(path, &bytes, &size, NULL));
    assert_string_equal((const char *)bytes, expected);
}

TEST_IN_FOLDER(test_lines)
{
    line_file lines;
    folder_write_text(&here, "lines", "first\nhal");
    ok(line_file_open(here.path, "lines", &lines, &last_error));
    expect_bytes(lines.path, "first\n");
    ok(line_file_append(&lines, "second\n", 7, &last_error));
    expect_bytes(lines.path, "first\nsecond\n");

    RELEASED_BY(line_file_close) line_file other;
    fails_saying(line_file_open(here.path, "lines", &other, &last_error), EE_FILE_ERROR,
                 "another run is writing results there");
    line_file_close(&other);
    line_file_close(&lines);
    ok(line_file_open(here.path, "lines", &other, &last_error));
    expect_bytes(other.path, "first\nsecond\n");
}

/* Machines that share a folder know of each other by the lock of the file alone. */
TEST_IN_FOLDER(test_other_machine)
{
    line_file lines;
    folder_write_text(&here, "lines", "first\n");
    int other = open(folder_path(&here, "lines"), O_RDWR);
    assert_int_equal(flock(other, LOCK_EX), 0);
    fails_saying(line_file_open(here.path, "lines", &lines, &last_error), EE_FILE_ERROR,
                 "another run is writing results there");
    line_file_close(&lines);
    close(other);

    ok(line_file_open(here.path, "lines", &lines, &last_error));
    ok(line_file_replace(&lines, "second\n", 7, &last_error));
    other = open(folder_path(&here, "lines"), O_RDWR);
    assert_int_not_equal(flock(other, LOCK_EX | LOCK_NB), 0);
    line_file_close(&lines);
    assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
    close(other);
}

TEST_IN_FOLDER(test_new_folder)
{
    line_file lines;
    ok(line_file_open(folder_path(&here, "deep"), "lines", &lines, &last_error));
    expect_bytes(lines.path, "");
    line_file_close(&lines);
    folder_write_text(&here, "file", "");
    assert_int_equal(line_file_open(folder_path(&here, "file"), "lines", &lines, &last_error), EE_FILE_ERROR);
    line_file_close(&lines);
    assert_int_equal(remove(folder_path(&here, "deep/lines")), 0);
    assert_int_equal(remove(folder_path(&here, "deep")), 0);
}

static ee_status take(void *context, const char *line, size_t length, size_t number, ee_error *error)
{
    char *into = context;
    snprintf(into + strlen(into), 64 - strlen(into), "%zu:%.*s ", number, (int)length, line);
    return length == 4 ? status_fail(error, EE_BAD_INPUT, "line %zu", number) : EE_OK;
}

TEST_IN_FOLDER(test_each)
{
    char taken[64] = "";
    folder_write_text(&here, "lines", "first\n\nthird\nhal");
    ok(line_file_each(here.path, "lines", take, taken, &last_error));
    assert_string_equal(taken, "1:first 2: 3:third ");
    taken[0] = '\0';
    folder_write_text(&here, "lines", "first\nlast\nnever\n");
    assert_int_equal(line_file_each(here.path, "lines", take, taken, &last_error), EE_BAD_INPUT);
    assert_string_equal(taken, "1:first 2:last ");
    assert_string_equal(last_error.message, formatted("%s/lines: line 2; delete that line to continue", here.path));
    assert_int_equal(line_file_each(here.path, "none", take, taken, &last_error), EE_FILE_ERROR);

    taken[0] = '\0';
    ok(line_file_each_if_any(here.path, "none", take, taken, &last_error));
    assert_string_equal(taken, "");
    assert_int_equal(line_file_each_if_any(here.path, "lines", take, taken, &last_error), EE_BAD_INPUT);
    assert_string_equal(taken, "1:first 2:last ");
}
