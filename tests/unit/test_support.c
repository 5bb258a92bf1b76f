/* The helpers of the other tests. */
#define _DEFAULT_SOURCE
#include "support.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(every_golden_file_loads)
{
    static const struct {
        const char *file, *array;
        size_t count;
    } cases[] = {
        {"algorithm1_gradient_descent.json", "inputs", 54},
        {"conv_forward_gradient.json", "conv_weight", 36},
        {"exploration_inputs.json", "conv_weight", 100},
        {"lle.json", "points", 2400},
        {"mlp_forward_gradient.json", NULL, 4},
        {"training.json", NULL, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *root = golden_load(cases[i].file);
        if (cases[i].array) {
            size_t count = 0;
            auto_free double *numbers = golden_doubles(golden_member(root, cases[i].array), &count);
            assert_int_equal(count, cases[i].count);
            for (size_t k = 0; k < count; k++) assert_true(isfinite(numbers[k]));
        } else {
            assert_int_equal(json_array_size(golden_member(root, "cases")), cases[i].count);
        }
    }
}

/* A file of EENET_GOLDEN_DIR comes before the tree's of the same name. */
TEST(the_environment_chooses_golden_files)
{
    const char *before = getenv("EENET_GOLDEN_DIR");
    char *kept = before ? strdup(before) : NULL, folder[] = "golden_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/lle.json", folder);
    json_auto_t *own = json_pack("{s:[i]}", "points", 5);
    assert_int_equal(json_dump_file(own, path, 0), 0);
    assert_int_equal(setenv("EENET_GOLDEN_DIR", folder, 1), 0);
    json_auto_t *there = golden_load("lle.json"), *elsewhere = golden_load("training.json");
    assert_true(json_equal(own, there));
    assert_int_equal(json_array_size(golden_member(elsewhere, "cases")), 5);
    if (kept)
        setenv("EENET_GOLDEN_DIR", kept, 1);
    else
        unsetenv("EENET_GOLDEN_DIR");
    remove(path);
    rmdir(folder);
    free(kept);
}

TEST(nested_arrays_are_read_in_order)
{
    json_auto_t *array = json_loads("[[[1, 2.5], []], [-3e-2], 4, [[[[5]]]]]", 0, NULL), *empty = json_array();
    assert_non_null(array);
    size_t count = 7;
    free(golden_floats(empty, &count));
    assert_int_equal(count, 0);
    auto_free double *wide = golden_doubles(array, &count);
    assert_int_equal(count, 5);
    const double expected[] = {1, 2.5, -3e-2, 4, 5};
    assert_memory_equal(wide, expected, sizeof expected);
    auto_free float *narrow = golden_floats(array, NULL);
    for (size_t i = 0; i < count; i++) assert_true(narrow[i] == (float)expected[i]);
}

TEST(closeness_is_absolute_below_one_and_relative_above)
{
    assert_true(close_enough(0.0, 1e-6, 1e-5));
    assert_false(close_enough(0.0, 1e-4, 1e-5));
    assert_true(close_enough(1000.009, 1000, 1e-5));
    assert_false(close_enough(1000.011, 1000, 1e-5));
    assert_true(close_enough(-1000.009, -1000, 1e-5));
    assert_false(close_enough(-1000, 1000, 1e-5));
    assert_true(close_enough(3, 3, 0));
    assert_false(close_enough(NAN, 0, 1e9));
    assert_false(close_enough(0, NAN, 1e9));
    assert_false(close_enough(INFINITY, 1, 1e9));
}

TEST(the_first_wrong_entry_is_named)
{
    const float expected[] = {1, 2, 3, 4};
    float got[] = {1, 2, 3, 4};
    assert_int_equal(close_first_wrong(got, expected, 4, 0), 4);
    assert_floats_close(got, expected, 4, 0);
    got[3] = NAN;
    assert_int_equal(close_first_wrong(got, expected, 4, 1e-3), 3);
    got[1] = 2.1f;
    assert_int_equal(close_first_wrong(got, expected, 4, 1e-3), 1);
    assert_int_equal(close_first_wrong(got, expected, 1, 1e-3), 1);
    assert_int_equal(close_first_wrong(got, expected, 0, 1e-3), 0);
}

/* The signal that a child process dies of when it reads, or writes, the byte at address; 0 where it lives. */
static int signal_of_touching(volatile char *address, bool writes)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* cmocka and the sanitizers have handlers of their own */
        signal(SIGBUS, SIG_DFL);
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (writes)
            *address = 1;
        else
            (void)*address;
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(a_guarded_array_ends_at_the_wall)
{
    static const size_t counts[] = {0, 1, 2, 3, 67, 1023, 1024, 1025};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        RELEASED_BY(guard_free) guard g;
        float *array = guard_end(&g, counts[i]);
        assert_int_equal((uintptr_t)(array + counts[i]) % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
        for (size_t k = 0; k < counts[i]; k++) assert_true(isnan(array[k]));
        for (size_t k = 0; k < counts[i]; k++) array[k] = 1;
        char *end = (char *)(array + counts[i]);
        assert_int_equal(signal_of_touching(end, false), SIGSEGV);
        assert_int_equal(signal_of_touching(end, true), SIGSEGV);
        if (counts[i]) assert_int_equal(signal_of_touching(end - 1, true), 0);
    }
    for (size_t size = 1; size < 20; size++) { /* bytes can start anywhere */
        RELEASED_BY(guard_free) guard g;
        char *bytes = guard_end_bytes(&g, size);
        memset(bytes, 0, size);
        assert_int_equal(signal_of_touching(bytes + size, false), SIGSEGV);
    }
}
