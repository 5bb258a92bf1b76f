#include <stdlib.h>

#include "serve/http/http_head.h"
#include "support.h"

/* Searches and reads a head that arrives in pieces of this size, each at a wall so that reading past the end shows.
 * Returns the status of the fault; 0: the head is valid, and -1: it is incomplete. *bytes are what *out points into. */
static int read_head(const char *request, size_t piece, http_head *out, char **bytes)
{
    http_head_search search = {0};
    http_fault fault = {0};
    size_t length = strlen(request), size = 0;
    *bytes = NULL;
    for (size_t there = piece < length ? piece : length; !size;
         there = there + piece < length ? there + piece : length) {
        guard wall;
        char *copy = guard_end_bytes(&wall, there);
        memcpy(copy, request, there);
        size = http_head_find(&search, copy, there, &fault);
        guard_free(&wall);
        if (fault.status) return fault.status;
        if (!size && there == length) return -1;
    }
    size -= search.start;
    *bytes = malloc(size);
    memcpy(*bytes, request + search.start, size);
    return http_head_read(out, *bytes, size, &fault) ? 0 : fault.status;
}

static int status_of(const char *request, size_t piece)
{
    http_head head;
    char *bytes;
    int status = read_head(request, piece, &head, &bytes);
    free(bytes);
    return status;
}

static void expect_text(json_text given, const char *wanted)
{
    assert_int_equal(given.length, strlen(wanted));
    assert_memory_equal(given.bytes, wanted, given.length);
}

TEST(a_head_is_read)
{
    const char *request = "\r\nPATCH /a%20b?c=d&e HTTP/1.1\r\nHost: x:80\r\nX-Empty:\r\nX-Word: \t two words \t\r\n"
                          "Content-Length: 0012\r\nExpect: 100-continue\r\n\r\n";
    for (size_t piece = 1; piece <= strlen(request); piece++) {
        http_head head;
        char *bytes;
        assert_int_equal(read_head(request, piece, &head, &bytes), 0);
        assert_int_equal(head.method, HTTP_PATCH);
        expect_text(head.path, "/a%20b");
        expect_text(head.query, "c=d&e");
        assert_int_equal(head.body_bytes, 12);
        assert_true(head.expects_continue && head.keeps_open && !head.is_chunked && !head.is_old);
        assert_int_equal(head.field_count, 5);
        assert_string_equal(http_head_field(&head, "host"), "x:80");
        assert_string_equal(http_head_field(&head, "X-EMPTY"), "");
        assert_string_equal(http_head_field(&head, "x-word"), "two words");
        assert_null(http_head_field(&head, "x-wor"));
        free(bytes);
    }
}

TEST(connections_are_kept_or_closed)
{
    static const struct {
        const char *request;
        bool keeps_open;
    } cases[] = {{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", true},
                 {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", false},
                 {"GET / HTTP/1.1\r\nHost: x\r\nConnection: a ,Close, b\r\n\r\n", false},
                 {"GET / HTTP/1.1\r\nHost: x\r\nConnection: closed\r\n\r\n", true},
                 {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nConnection: keep-alive\r\n\r\n", false},
                 {"GET / HTTP/1.0\r\n\r\n", false},
                 {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        http_head head;
        char *bytes;
        assert_int_equal(read_head(cases[i].request, 1000, &head, &bytes), 0);
        assert_int_equal(head.keeps_open, cases[i].keeps_open);
        free(bytes);
    }
}

/* tests/serve/malformed.py has many more, for the whole server. */
TEST(faults_are_seen_in_any_pieces)
{
    static const struct {
        int status;
        const char *request;
    } cases[] = {{-1, ""},
                 {-1, "GET / HTTP/1.1\r\nHost: x\r\n\r"},
                 {400, "GET /\r\n"},
                 {400, "\r\n\r\n"},
                 {400, "GET / HTTP/1.1\n"},
                 {400, "GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n"},
                 {400, "GET / HTTP/1.1\r\nHost : x\r\n\r\n"},
                 {400, "GET / HTTP/1.1\r\nHost: x\r\n\r\r\n"},
                 {400, "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n"},
                 {400, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"},
                 {413, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000000000\r\n\r\n"},
                 {417, "POST / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n"},
                 {505, "GET / HTTP/2.0\r\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t piece = 1; piece < 100; piece++)
            assert_int_equal(status_of(cases[i].request, piece), cases[i].status);
}

TEST(a_head_has_few_fields)
{
    for (size_t count = HTTP_FIELDS - 1; count <= HTTP_FIELDS; count++) {
        text request = text_start(NULL);
        text_add(&request, "GET / HTTP/1.1\r\nHost: x\r\n");
        for (size_t i = 0; i < count; i++) text_add(&request, "A: b\r\n");
        text_add(&request, "\r\n");
        assert_int_equal(status_of(request.bytes, 100), count < HTTP_FIELDS ? 0 : 431);
        memory_free(request.bytes);
    }
}
