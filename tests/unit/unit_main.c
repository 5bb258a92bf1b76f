/* Registers tests and runs them: see TEST in support.h. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <sys/wait.h>
#include <unistd.h>

enum { MOST_FILES = 256, MOST_TESTS = 2048 };

typedef struct test_file {
    char name[64]; /* test_rows */
    size_t first, count;
    CMFixtureFunction set_up, tear_down;
    int (*command)(const char *word);
} test_file;

static struct {
    test_file files[MOST_FILES];
    struct CMUnitTest tests[MOST_TESTS];
    size_t file_count, count;
} registered;

/* Constructors of a file run one after the other, so its tests are next to each other. */
static test_file *file_of(const char *path)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    int length = (int)strcspn(name, ".");
    test_file *last = registered.files + registered.file_count;
    if (registered.file_count) {
        last--;
        if (strncmp(last->name, name, (size_t)length) == 0 && !last->name[length]) return last;
        last++;
    }
    if (registered.file_count++ == MOST_FILES) abort();
    snprintf(last->name, sizeof last->name, "%.*s", length, name);
    last->first = registered.count;
    return last;
}

void test_register(const char *file, const struct CMUnitTest *test)
{
    if (registered.count == MOST_TESTS) abort();
    file_of(file)->count++;
    registered.tests[registered.count++] = *test;
}

void test_register_group(const char *file, CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    file_of(file)->set_up = set_up;
    file_of(file)->tear_down = tear_down;
}

void test_register_command(const char *file, int (*run)(const char *word))
{
    file_of(file)->command = run;
}

size_t test_long(size_t usual, size_t longer)
{
    return getenv("EENET_TEST_LONG") ? longer : usual;
}

static int run_file(const test_file *self)
{
    return _cmocka_run_group_tests(self->name, registered.tests + self->first, self->count, self->set_up,
                                   self->tear_down);
}

/* Each file in a process of its own, as ctest runs them. */
static int run_all(void)
{
    int failed = 0;
    for (size_t i = 0; i < registered.file_count; i++) {
        int status = 0;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) exit(run_file(&registered.files[i]) != 0);
        if (child < 0 || waitpid(child, &status, 0) != child || status) {
            fprintf(stderr, "FAILED: %s\n", registered.files[i].name);
            failed++;
        }
    }
    return failed != 0;
}

int main(int count, char **words)
{
    if (count == 1) return run_all();
    bool lists = strcmp(words[1], "--list") == 0;
    for (size_t i = 0; i < registered.file_count; i++) {
        const test_file *file = &registered.files[i];
        if (lists) puts(file->name);
        if (strcmp(words[1], file->name)) continue;
        if (count > 3 && file->command && strcmp(words[2], "--run") == 0) return file->command(words[3]);
        if (count > 2) cmocka_set_test_filter(words[2]);
        return run_file(file);
    }
    if (!lists) fprintf(stderr, "%s: no file '%s'; --list prints the files\n", words[0], words[1]);
    return lists ? 0 : 2;
}
