#include <stdlib.h>

#include "serve/fleet/forward_response.h"
#include "support.h"

/* Reads a response that arrives in pieces of this size; *bytes is the room that it points into. */
static response_result read_in_pieces(forward_response *self, const char *given, size_t piece, char **bytes)
{
    size_t length = strlen(given), there = 0, size = 0;
    response_result result = RESPONSE_MORE;
    *bytes = malloc(length + 1);
    while (there < length && result == RESPONSE_MORE) {
        size_t more = length - there < piece ? length - there : piece;
        memcpy(*bytes + size, given + there, more);
        there += more;
        size += more;
        result = forward_response_read(self, *bytes, &size);
    }
    return result;
}

static void expect_text(json_text got, const char *expected)
{
    assert_int_equal(got.length, strlen(expected));
    assert_memory_equal(got.bytes, expected, got.length);
}

typedef struct valid_case {
    const char *given;
    int status;
    const char *headers, *body;
    bool keeps_open, is_to_head;
} valid_case;

TEST(valid_responses)
{
    static const valid_case cases[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "Content-Length: 5\r\n", "hello", true, false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, "Content-Length: 0\r\n", "", true, false},
        {"HTTP/1.1 404 Not Found\r\ncontent-length:  2 \r\nX: \r\n\r\n{}", 404, "content-length:  2 \r\nX: \r\n", "{}",
         true, false},
        {"HTTP/1.1 204\r\n\r\n", 204, "", "", true, false},
        {"HTTP/1.1 304 \r\nContent-Length: 9\r\n\r\n", 304, "Content-Length: 9\r\n", "", true, false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 200, "Content-Length: 9\r\n", "", true, true},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nT: 1\r\n\r\n", 200,
         "Transfer-Encoding: Chunked\r\n", "abcdefg", true, false},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200, "Transfer-Encoding: chunked\r\n", "",
         true, false},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: "
         "2\r\n\r\nok",
         201, "Content-Length: 2\r\n", "ok", true, false},
        {"HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 1\r\n\r\nx", 200,
         "Connection: foo, Close\r\nContent-Length: 1\r\n", "x", false, false},
        {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "Content-Length: 1\r\n", "x", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t piece = 1; piece < 200; piece += piece < 8 ? 1 : 37) {
            char *bytes;
            forward_response response = {.most_bytes = 9, .is_to_head = cases[i].is_to_head};
            assert_int_equal(read_in_pieces(&response, cases[i].given, piece, &bytes), RESPONSE_END);
            assert_int_equal(response.status, cases[i].status);
            assert_int_equal(response.keeps_open, cases[i].keeps_open);
            assert_false(response.has_more);
            expect_text(response.headers, cases[i].headers);
            expect_text(response.body, cases[i].body);
            free(bytes);
        }
}

TEST(invalid_responses)
{
    static const struct {
        const char *given, *fault;
    } cases[] = {
        {"HTTP/1.1 20 OK\r\n\r\n", "status line"},
        {"HTTP/1.1 2000 OK\r\n\r\n", "status line"},
        {"HTTP/1.1\r\n\r\n", "status line"},
        {"\r\n\r\n", "status line"},
        {"SSH-2.0-OpenSSH_9\r\n\r\n", "status line"},
        {"HTTP/2.0 200 OK\r\n\r\n", "version"},
        {"HTTP/1.1 600 OK\r\n\r\n", "status"},
        {"HTTP/1.1 099 OK\r\n\r\n", "status"},
        {"HTTP/1.1 101 Switching\r\n\r\n", "status"},
        {"HTTP/1.1 200 OK\r\n\r\n", "neither Content-Length"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", "more than one"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "more than one"},
        {"HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx", "invalid Content-Length"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n\r\nx", "invalid Content-Length"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789", "too large"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n5\r\nfghij\r\n0\r\n\r\n", "too large"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "invalid chunks"},
        {"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n", "invalid header"},
        {"HTTP/1.1 200 OK\r\nX : a\r\nContent-Length: 0\r\n\r\n", "invalid header"},
        {"HTTP/1.1 200 OK\r\nX: a\nContent-Length: 0\r\n\r\n", "invalid header"},
        {"HTTP/1.1 200 OK\r\nX: a\x01\r\nContent-Length: 0\r\n\r\n", "invalid header"},
        {"HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n", "status line"},
        {"HTTP/1.1 100 Continue\r\nContent-Length: 1\r\n\r\nx", "interim"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t piece = 1; piece < 200; piece += piece < 8 ? 1 : 37) {
            char *bytes;
            forward_response response = {.most_bytes = 9};
            assert_int_equal(read_in_pieces(&response, cases[i].given, piece, &bytes), RESPONSE_INVALID);
            assert_non_null(strstr(response.fault, cases[i].fault));
            free(bytes);
        }
}

TEST(heads_are_limited)
{
    char *given = calloc(RESPONSE_HEAD_BYTES + 200, 1), *bytes;
    strcpy(given, "HTTP/1.1 200 OK\r\nX: ");
    size_t start = strlen(given), fits = RESPONSE_HEAD_BYTES - start - strlen("\r\nContent-Length: 0\r\n\r\n");
    for (size_t over = 0; over < 2; over++) {
        memset(given + start, 'x', fits + over);
        strcpy(given + start + fits + over, "\r\nContent-Length: 0\r\n\r\n");
        for (size_t piece = 1000; piece < RESPONSE_HEAD_BYTES * 4; piece *= 400) {
            forward_response response = {.most_bytes = 9};
            assert_int_equal(read_in_pieces(&response, given, piece, &bytes), over ? RESPONSE_INVALID : RESPONSE_END);
            if (over) assert_non_null(strstr(response.fault, "head is too large"));
            free(bytes);
        }
    }
    free(given);
}

TEST(what_follows_is_seen)
{
    static const char *const given[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy",
        "HTTP/1.1 204 No Content\r\n\r\nH",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n\r",
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        char *bytes;
        forward_response response = {.most_bytes = 9};
        assert_int_equal(read_in_pieces(&response, given[i], 1000, &bytes), RESPONSE_END);
        assert_true(response.has_more);
        free(bytes);
    }
}
