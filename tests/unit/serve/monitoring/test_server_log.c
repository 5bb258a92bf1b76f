#include <string.h>

#include "serve/monitoring/server_log.h"
#include "support.h"

static json_text text_of(const char *words)
{
    return (json_text){words, strlen(words)};
}

static void nobody_writes_lines_of_the_log(void **state)
{
    (void)state;
    char out[32];
    server_log_plain(text_of("/v1/bandits/a%20b"), out, sizeof out);
    assert_string_equal(out, "/v1/bandits/a%20b");
    server_log_plain(text_of("/a\tb c\r\nlevel=error \x1b[31m\"\xc3\xa4\x7f"), out, sizeof out);
    assert_string_equal(out, "/a?b?c??level=error??[31m????");
}

static void what_is_long_is_cut(void **state)
{
    (void)state;
    char out[4];
    server_log_plain(text_of("abc"), out, sizeof out);
    assert_string_equal(out, "abc");
    server_log_plain(text_of("abcd"), out, sizeof out);
    assert_string_equal(out, "abc");
    server_log_plain((json_text){NULL, 0}, out, sizeof out);
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_writes_lines_of_the_log),
        cmocka_unit_test(what_is_long_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
