#include <string.h>

#include "serve/monitoring/server_log.h"
#include "support.h"

TEST(nobody_writes_lines_of_the_log)
{
    char out[32];
    server_log_plain(words("/v1/bandits/a%20b"), out, sizeof out);
    assert_string_equal(out, "/v1/bandits/a%20b");
    server_log_plain(words("/a\tb c\r\nlevel=error \x1b[31m\"\xc3\xa4\x7f"), out, sizeof out);
    assert_string_equal(out, "/a?b?c??level=error??[31m????");
}

TEST(what_is_long_is_cut)
{
    char out[4];
    server_log_plain(words("abc"), out, sizeof out);
    assert_string_equal(out, "abc");
    server_log_plain(words("abcd"), out, sizeof out);
    assert_string_equal(out, "abc");
    server_log_plain((json_text){NULL, 0}, out, sizeof out);
    assert_string_equal(out, "");
}

static const log_field some[] = {{"bandit", "shop", 0},
                                 {"path", "/a\\b\"c\n", 0},
                                 {"status", NULL, 503},
                                 {"seconds", NULL, 0.0125},
                                 {NULL, NULL, 0}};

static const char *line_of(server_log_format format, const log_field *fields, const char *message)
{
    static char line[600];
    size_t size = server_log_line(format, INT64_C(1779000000123456), LOG_LEVEL_WARNING, fields, message, line, 500);
    line[size] = '\0';
    return line;
}

TEST(a_line_is_text_or_json)
{
    assert_string_equal(line_of(SERVER_LOG_TEXT, NULL, "the \"disk\""),
                        "time=2026-05-17T06:40:00.123Z level=warning message=\"the \\\"disk\\\"\"\n");
    assert_string_equal(line_of(SERVER_LOG_TEXT, some, "full"),
                        "time=2026-05-17T06:40:00.123Z level=warning message=\"full\" bandit=shop path=/a\\b?c? "
                        "status=503 seconds=0.012500\n");
    assert_string_equal(line_of(SERVER_LOG_JSON, some, "full\n\xff"),
                        "{\"time\":\"2026-05-17T06:40:00.123Z\",\"level\":\"warning\",\"message\":\"full\\n?\","
                        "\"bandit\":\"shop\",\"path\":\"/a\\\\b?c?\",\"status\":503,\"seconds\":0.012500}\n");
}

/* A line that is cut is no JSON: so whole fields are left out. */
TEST(what_does_not_fit_is_left_out)
{
    char longer[400];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    const log_field fields[] = {{"a", longer, 0}, {"b", longer, 0}, {"c", "z", 0}, {NULL, NULL, 0}};
    const char *line = line_of(SERVER_LOG_JSON, fields, "m");
    assert_non_null(strstr(line, "\"a\":\"xxx"));
    assert_null(strstr(line, "\"b\""));
    assert_string_equal(line + strlen(line) - 10, ",\"c\":\"z\"}\n");
}
