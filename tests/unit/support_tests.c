#include "support.h"

#include <stdlib.h>

enum { MOST_TESTS = 256 };

static struct {
    struct CMUnitTest tests[MOST_TESTS];
    size_t count;
    CMFixtureFunction set_up, tear_down;
} registered;

void test_register(const struct CMUnitTest *test)
{
    if (registered.count == MOST_TESTS) abort();
    registered.tests[registered.count++] = *test;
}

void test_register_group(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    registered.set_up = set_up;
    registered.tear_down = tear_down;
}

int test_run(const char *pattern)
{
    if (pattern) cmocka_set_test_filter(pattern);
    return _cmocka_run_group_tests("tests", registered.tests, registered.count, registered.set_up,
                                   registered.tear_down);
}

void ok_assert(ee_status status, const char *call, const char *file, int line)
{
    if (status == EE_OK) return;
    print_error("%s: %s\n", call, ee_status_name(status));
    _fail(file, line);
}
