#include "lab/results.h"

#include <stdio.h>
#include <string.h>

#include "support.h"

static void a_line_has_it_all(void **state)
{
    (void)state;
    dataset *data;
    assert_int_equal(dataset_open("synthetic:cosine,dim=3", &data, NULL), EE_OK);
    run_job job = {data, "eenet:paper", NULL, 18446744073709551615u, 2000};
    run_result result = {
        .finished = true, .rounds = 2000, .optimal = 500, .regret = 0.1, .reward = -1e-7, .seconds = 1.0 / 3.0};
    run_report report = {&job, &result, "a=1 b=ring:5", NULL};
    char expected[512], line[512];
    snprintf(expected, sizeof expected,
             "{\"dataset\":\"synthetic:cosine,dim=3\",\"policy\":\"eenet:paper\",\"options\":\"a=1 b=ring:5\","
             "\"seed\":18446744073709551615,\"rounds\":2000,\"regret\":0.1,\"reward\":-1e-07,\"optimal\":0.25,"
             "\"seconds\":0.3333333333333333,\"version\":\"%s\"}\n",
             EE_VERSION);
    assert_int_equal(results_format(&report, line, sizeof line), strlen(expected));
    assert_string_equal(line, expected);
    dataset_free(data);
}

/* Whatever the texts hold, a line is one line, and a reader gets back what was put in. */
static void odd_characters_are_escaped(void **state)
{
    (void)state;
    static const char odd[] = "a\"b\\c\nd\te\x01"
                              "f";
    dataset *data;
    assert_int_equal(dataset_open("synthetic:inner", &data, NULL), EE_OK);
    run_job job = {data, "uniform", NULL, 0, 1};
    run_result result = {.finished = true, .rounds = 1};
    run_report report = {&job, &result, odd, NULL};
    char line[512];
    size_t length = results_format(&report, line, sizeof line);
    assert_true(strchr(line, '\n') == line + length - 1);
    json_t *read = json_loads(line, 0, NULL);
    assert_non_null(read);
    assert_string_equal(json_string_value(json_object_get(read, "options")), odd);
    json_decref(read);
    dataset_free(data);
}

/* At every capacity: the length of the whole line, what fits of it, nothing past the end. */
static void short_buffers(void **state)
{
    (void)state;
    dataset *data;
    assert_int_equal(dataset_open("synthetic:inner", &data, NULL), EE_OK);
    run_job job = {data, "uniform", NULL, 0, 1};
    run_result result = {.finished = true, .rounds = 1};
    run_report report = {&job, &result, "", NULL};
    char whole[512];
    size_t length = results_format(&report, whole, sizeof whole);
    assert_int_equal(results_format(&report, NULL, 0), length);
    for (size_t capacity = 1; capacity <= length; capacity++) {
        guard wall;
        char *line = guard_end_bytes(&wall, capacity);
        assert_int_equal(results_format(&report, line, capacity), length);
        assert_int_equal(strlen(line), capacity - 1);
        assert_memory_equal(line, whole, capacity - 1);
        guard_free(&wall);
    }
    dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_it_all),
        cmocka_unit_test(odd_characters_are_escaped),
        cmocka_unit_test(short_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
