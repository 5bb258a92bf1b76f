/* Responses of other servers as bytes: however they arrive in pieces, the same response is found, or the same fault. */
#include "fuzz.h"
#include "serve/fleet/forward_response.h"

/* Reads in pieces, each time in a block of the exact size, whose end is watched; *room is the last one. */
static response_result read_all(forward_response *self, const uint8_t *bytes, size_t size, size_t piece, char **room)
{
    response_result result = RESPONSE_MORE;
    size_t length = 0;
    *room = NULL;
    for (size_t at = 0; at < size && result == RESPONSE_MORE; at += piece) {
        size_t more = size - at < piece ? size - at : piece;
        char *larger = malloc(length + more);
        if (length) memcpy(larger, *room, length);
        free(*room);
        *room = larger;
        memcpy(larger + length, bytes + at, more);
        length += more;
        size_t before = length;
        result = forward_response_read(self, larger, &length);
        require(length <= before, "more bytes than there were");
    }
    return result;
}

static bool is_same(json_text a, json_text b)
{
    return a.length == b.length && (!a.length || memcmp(a.bytes, b.bytes, a.length) == 0);
}

static void check(const forward_response *self)
{
    json_text lines = self->headers, name, value;
    require(self->status >= 200 && self->status < 600, "a wrong status");
    require(self->body.length <= self->most_bytes, "a body beyond the limit");
    require(!self->is_to_head || !self->body.length, "a body for HEAD");
    while (forward_next_header(&lines, &name, &value)) require(name.length, "a header without a name");
    require(!lines.length, "an invalid header");
}

static void compare(const uint8_t *bytes, size_t size, size_t most, bool is_to_head)
{
    forward_response whole = {.most_bytes = most, .is_to_head = is_to_head}, pieces = whole;
    char *room, *other_room;
    response_result result = read_all(&whole, bytes, size, size ? size : 1, &room);
    require(read_all(&pieces, bytes, size, 1 + size / 7, &other_room) == result, "pieces change the result");
    require((result == RESPONSE_INVALID) == (whole.fault != NULL), "invalid without a reason");
    if (result == RESPONSE_INVALID) require(!strcmp(whole.fault, pieces.fault), "pieces change the reason");
    if (result == RESPONSE_END) {
        require(whole.status == pieces.status && whole.keeps_open == pieces.keeps_open, "pieces change the head");
        require(is_same(whole.headers, pieces.headers), "pieces change the headers");
        require(is_same(whole.body, pieces.body), "pieces change the body");
        check(&whole);
    }
    free(room);
    free(other_room);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    compare(bytes, size, 1 << 20, false);
    compare(bytes, size, 10, false);
    compare(bytes, size, 1 << 20, true);
    return 0;
}
