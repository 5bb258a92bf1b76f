#include "serve/http/http_chunks.h"
#include "support.h"

/* Decodes a body that arrives in pieces of this size, each at a wall. out gets the data; *used becomes the bytes of the
 * body if it is complete. */
static chunks_result decode(const char *body, size_t piece, char *out, size_t *used)
{
    http_chunks chunks = {0};
    chunks_result result = CHUNKS_MORE;
    size_t length = strlen(body), written = 0;
    for (size_t at = 0; at < length && result == CHUNKS_MORE; at += piece) {
        size_t size = length - at < piece ? length - at : piece;
        guard wall;
        char *copy = guard_end_bytes(&wall, size);
        memcpy(copy, body + at, size);
        json_text input = {copy, size}, data;
        while ((result = http_chunks_next(&chunks, &input, &data)) == CHUNKS_DATA) {
            memcpy(out + written, data.bytes, data.length);
            written += data.length;
        }
        *used = at + size - input.length;
        guard_free(&wall);
    }
    out[written] = '\0';
    return result;
}

TEST(bodies_are_decoded)
{
    static const struct {
        const char *body, *data;
    } cases[] = {{"0\r\n\r\n", ""},
                 {"5\r\nhello\r\n0\r\n\r\n", "hello"},
                 {"A\r\n0123456789\r\n00b;x=\"y z\"\r\n\r\n0\r\n\r\nabcd\r\n000;\r\nA: b\r\nC:\r\n\r\n",
                  "0123456789\r\n0\r\n\r\nabcd"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[256], out[256];
        size_t used, length = strlen(cases[i].body);
        snprintf(body, sizeof body, "%sGET / HTTP/1.1", cases[i].body);
        for (size_t piece = 1; piece <= strlen(body); piece++) {
            assert_int_equal(decode(body, piece, out, &used), CHUNKS_END);
            assert_string_equal(out, cases[i].data);
            assert_int_equal(used, length); /* the rest is the next request's */
        }
    }
}

TEST(other_bodies_are_invalid)
{
    static const char *const bodies[] = {"\r\n",        ";\r\n",    "g\r\n",
                                         "1 \r\n",      "0x1\r\n",  "-1\r\n",
                                         "1\n",         "1\r1",     "1000000000000000\r\n",
                                         "1\r\nxy",     "1\r\nx\n", "1\r\nx\rx",
                                         "1;\x01",      "1;a\n",    "0\r\n\n",
                                         "0\r\n\rx",    "0\r\n:",   "0\r\n A",
                                         "0\r\nA B",    "0\r\nA\r", "0\r\nA: b\n",
                                         "0\r\nA: \x7f"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char out[256];
        size_t used;
        for (size_t piece = 1; piece <= strlen(bodies[i]); piece++)
            assert_int_equal(decode(bodies[i], piece, out, &used), CHUNKS_INVALID);
    }
}

TEST(what_is_ignored_is_limited)
{
    static const struct {
        const char *first, *repeated;
    } cases[] = {{"1;", "x"}, {"", "1;x\r\na\r\n"}, {"0\r\n", "A: b\r\n"}, {"0\r\nA:", "b"}, {"0\r\n", "A"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[40000] = "", out[40000];
        size_t used, length = strlen(cases[i].first);
        memcpy(body, cases[i].first, length);
        for (size_t size = strlen(cases[i].repeated); length + size < sizeof body; length += size)
            memcpy(body + length, cases[i].repeated, size);
        body[length] = '\0';
        assert_int_equal(decode(body, 1000, out, &used), CHUNKS_INVALID);
    }
}
