#include <string.h>

#include "serve/monitoring/trace_context.h"
#include "support.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"

TEST(a_trace_continues_with_another_span)
{
    trace_context trace;
    char header[TRACE_PARENT_SIZE + 1];
    assert_true(trace_context_read("00-" TRACE "-" PARENT "-01", 0xabc, &trace));
    assert_string_equal(trace.trace, TRACE);
    assert_string_equal(trace.parent, PARENT);
    assert_string_equal(trace.span, "0000000000000abc");
    assert_true(trace.sampled);
    trace_context_write(&trace, header);
    assert_string_equal(header, "00-" TRACE "-0000000000000abc-01");
    assert_true(trace_context_read("00-" TRACE "-" PARENT "-02", 1, &trace));
    assert_false(trace.sampled);
    trace_context_write(&trace, header); /* flags that we do not know are not passed on */
    assert_string_equal(header, "00-" TRACE "-0000000000000001-00");
}

TEST(later_versions_may_have_more_fields)
{
    trace_context trace;
    assert_true(trace_context_read("cc-" TRACE "-" PARENT "-01", 1, &trace));
    assert_true(trace_context_read("cc-" TRACE "-" PARENT "-01-what-comes", 1, &trace));
    assert_false(trace_context_read("cc-" TRACE "-" PARENT "-01.what-comes", 1, &trace));
    assert_false(trace_context_read("00-" TRACE "-" PARENT "-01-what-comes", 1, &trace));
}

/* The cases of the W3C's test suite for traceparent. */
TEST(what_is_not_valid_is_ignored)
{
    static const char *const headers[] = {
        "",
        "00",
        "00-" TRACE "-" PARENT,
        "00-" TRACE "-" PARENT "-",
        "00-" TRACE "-" PARENT "-0",
        "00-" TRACE "-" PARENT "-0g",
        "00-" TRACE "-" PARENT "-010",
        "ff-" TRACE "-" PARENT "-01",
        "0-" TRACE "-" PARENT "-001",
        ".0-" TRACE "-" PARENT "-01",
        "0A-" TRACE "-" PARENT "-01",
        "00-00000000000000000000000000000000-" PARENT "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" PARENT "-01",
        "00-.bf92f3577b34da6a3ce929d0e0e4736-" PARENT "-01",
        "00-" TRACE "-.0f067aa0ba902b7-01",
        "00-" TRACE "-00F067AA0BA902B7-01",
        "00_" TRACE "_" PARENT "_01",
        "00-" TRACE "0-" PARENT "-1",
        "00--" TRACE "-" PARENT "-1",
    };
    trace_context trace;
    assert_false(trace_context_read(NULL, 1, &trace));
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (trace_context_read(headers[i], 1, &trace)) fail_msg("accepted: '%s'", headers[i]);
}
