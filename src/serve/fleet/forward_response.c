#define _POSIX_C_SOURCE 200809L
#include "forward_response.h"

#include <strings.h>

#include "serve/http/http_characters.h"

static bool fail(forward_response *self, const char *fault)
{
    self->fault = fault;
    return false;
}

static response_result invalid(forward_response *self, const char *fault)
{
    self->fault = fault;
    return RESPONSE_INVALID;
}

/* ---- lines ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The length of the line without CR and LF; false: it has no end, or a control character. */
static bool find_line_end(json_text lines, size_t *length)
{
    for (size_t i = 0; i + 1 < lines.length; i++) {
        *length = i;
        if (lines.bytes[i] == '\r') return lines.bytes[i + 1] == '\n';
        if (http_is_control((unsigned char)lines.bytes[i])) return false;
    }
    return false;
}

bool forward_next_header(json_text *lines, json_text *name, json_text *value)
{
    const char *line = lines->bytes;
    size_t end, colon = 0;
    if (!lines->length || !find_line_end(*lines, &end)) return false;
    while (colon < end && http_is_token((unsigned char)line[colon])) colon++;
    if (!colon || colon == end || line[colon] != ':') return false;
    size_t from = colon + 1, to = end;
    while (from < to && is_blank(line[from])) from++;
    while (to > from && is_blank(line[to - 1])) to--;
    *name = (json_text){line, colon};
    *value = (json_text){line + from, to - from};
    *lines = (json_text){line + end + 2, lines->length - end - 2};
    return true;
}

static bool is_word(json_text given, const char *word)
{
    return given.length == strlen(word) && strncasecmp(given.bytes, word, given.length) == 0;
}

/* Whether a list, as in "keep-alive, close", has this member. */
static bool has_member(json_text list, const char *member)
{
    for (size_t at = 0, end; at < list.length; at = end + 1) {
        while (at < list.length && (is_blank(list.bytes[at]) || list.bytes[at] == ',')) at++;
        for (end = at; end < list.length && !is_blank(list.bytes[end]) && list.bytes[end] != ',';) end++;
        if (is_word((json_text){list.bytes + at, end - at}, member)) return true;
    }
    return false;
}

/* ---- the head ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool read_status_line(forward_response *self, json_text head)
{
    static const char *const shape = "invalid status line; expected 'HTTP/1.1 200 OK'";
    const char *line = head.bytes;
    size_t end;
    if (!find_line_end(head, &end) || end < 12 || memcmp(line, "HTTP/", 5) != 0) return fail(self, shape);
    if (!is_digit(line[9]) || !is_digit(line[10]) || !is_digit(line[11])) return fail(self, shape);
    if (line[8] != ' ' || (end > 12 && line[12] != ' ')) return fail(self, shape);
    if (line[5] != '1' || line[6] != '.' || (line[7] != '1' && line[7] != '0'))
        return fail(self, "unsupported protocol version; expected HTTP/1.1");
    self->status = 100 * (line[9] - '0') + 10 * (line[10] - '0') + (line[11] - '0');
    self->keeps_open = line[7] == '1';
    self->first_line = end + 2;
    return (self->status >= 100 && self->status < 600 && self->status != 101) || fail(self, "invalid status");
}

static bool read_length(forward_response *self, json_text digits)
{
    if (!digits.length || digits.length > 18) return fail(self, "invalid Content-Length");
    self->body_left = 0;
    for (size_t i = 0; i < digits.length; i++) {
        if (!is_digit(digits.bytes[i])) return fail(self, "invalid Content-Length");
        self->body_left = 10 * self->body_left + (uint64_t)(digits.bytes[i] - '0');
    }
    return true;
}

static bool check_framing(forward_response *self, int lengths, int encodings)
{
    if (lengths + encodings > 1) return fail(self, "more than one header that says where the body ends");
    bool is_interim = self->status < 200, has_none = self->status == 204 || self->status == 304 || self->is_to_head;
    if (is_interim && lengths + encodings) return fail(self, "an interim response with a body");
    if (is_interim || has_none) {
        self->body_left = 0;
        self->is_chunked = false;
        return true;
    }
    if (!lengths && !encodings) return fail(self, "neither Content-Length nor Transfer-Encoding");
    return self->body_left <= self->most_bytes || fail(self, "the body is too large");
}

static bool read_headers(forward_response *self, json_text lines)
{
    json_text name, value;
    int lengths = 0, encodings = 0;
    self->body_left = 0;
    self->is_chunked = false;
    while (forward_next_header(&lines, &name, &value)) {
        if (is_word(name, "Content-Length")) {
            lengths++;
            if (!read_length(self, value)) return false;
        } else if (is_word(name, "Transfer-Encoding")) {
            encodings++;
            self->is_chunked = is_word(value, "chunked");
            if (!self->is_chunked) return fail(self, "unsupported Transfer-Encoding; the only one is 'chunked'");
        } else if (is_word(name, "Connection")) {
            if (has_member(value, "close")) self->keeps_open = false;
        }
    }
    if (lines.length) return fail(self, "invalid header; expected 'Name: value'");
    return check_framing(self, lengths, encodings);
}

/* The size of the head, with the empty line at its end; 0: it is incomplete. */
static size_t find_head(forward_response *self, const char *bytes, size_t size)
{
    for (size_t at = self->searched; at < size;) {
        const char *found = memchr(bytes + at, '\n', size - at);
        at = found ? (size_t)(found - bytes) + 1 : size;
        if (found && at >= 4 && memcmp(bytes + at - 4, "\r\n\r\n", 4) == 0) return at;
    }
    self->searched = size;
    return 0;
}

static void drop_interim(forward_response *self, char *bytes, size_t *size, size_t head)
{
    *size -= head;
    memmove(bytes, bytes + head, *size);
    self->searched = 0;
}

/* Reads the head and what comes before it. */
static response_result read_head(forward_response *self, char *bytes, size_t *size)
{
    for (;;) {
        size_t head = find_head(self, bytes, *size);
        bool is_long = head > RESPONSE_HEAD_BYTES || (!head && *size >= RESPONSE_HEAD_BYTES);
        if (is_long) return invalid(self, "the head is too large");
        if (!head) return RESPONSE_MORE;
        if (!read_status_line(self, (json_text){bytes, head})) return RESPONSE_INVALID;
        json_text lines = {bytes + self->first_line, head - 2 - self->first_line};
        if (!read_headers(self, lines)) return RESPONSE_INVALID;
        if (self->status >= 200) {
            self->head_bytes = head;
            return RESPONSE_END;
        }
        drop_interim(self, bytes, size, head);
    }
}

/* ---- the body ---- */

static response_result end(forward_response *self, const char *bytes, bool has_more)
{
    self->has_more = has_more;
    self->headers = (json_text){bytes + self->first_line, self->head_bytes - 2 - self->first_line};
    self->body = (json_text){bytes + self->head_bytes, self->body_bytes};
    return RESPONSE_END;
}

static response_result read_counted(forward_response *self, const char *bytes, size_t size)
{
    size_t arrived = size - self->head_bytes - self->body_bytes;
    size_t taken = arrived < self->body_left ? arrived : (size_t)self->body_left;
    self->body_bytes += taken;
    self->body_left -= taken;
    return self->body_left ? RESPONSE_MORE : end(self, bytes, taken < arrived);
}

/* Decodes in place: the data is never longer than its chunks. */
static response_result read_chunks(forward_response *self, char *bytes, size_t *size)
{
    char *to = bytes + self->head_bytes + self->body_bytes;
    json_text input = {to, *size - self->head_bytes - self->body_bytes}, data;
    chunks_result result;
    while ((result = http_chunks_next(&self->chunks, &input, &data)) == CHUNKS_DATA) {
        if (data.length > self->most_bytes - self->body_bytes) return invalid(self, "the body is too large");
        memmove(to, data.bytes, data.length);
        to += data.length;
        self->body_bytes += data.length;
    }
    *size = self->head_bytes + self->body_bytes;
    if (result == CHUNKS_END) return end(self, bytes, input.length > 0);
    return result == CHUNKS_MORE ? RESPONSE_MORE : invalid(self, "invalid chunks");
}

response_result forward_response_read(forward_response *self, char *bytes, size_t *size)
{
    if (!self->head_bytes) {
        response_result result = read_head(self, bytes, size);
        if (result != RESPONSE_END) return result;
    }
    return self->is_chunked ? read_chunks(self, bytes, size) : read_counted(self, bytes, *size);
}
