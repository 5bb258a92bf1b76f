/* RFC 9112, sections 2 to 7, and RFC 9110 for names, values and hosts. */
#define _POSIX_C_SOURCE 200809L
#include "http_head.h"

#include <strings.h>

#include "http_characters.h"

static bool fail(http_fault *fault, int status, const char *message)
{
    *fault = (http_fault){status, message};
    return false;
}

/* ---- characters ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The length of the token that bytes (length) begin with. */
static size_t token_length(const char *bytes, size_t length)
{
    size_t count = 0;
    while (count < length && http_is_token((unsigned char)bytes[count])) count++;
    return count;
}

/* ---- the request line ---- */

typedef struct request_line {
    json_text method, target;
    bool is_old;
} request_line;

static bool read_version(const char *bytes, size_t length, request_line *out, http_fault *fault)
{
    bool is_version = length == 8 && memcmp(bytes, "HTTP/", 5) == 0 && bytes[5] >= '0' && bytes[5] <= '9' &&
                      bytes[6] == '.' && bytes[7] >= '0' && bytes[7] <= '9';
    if (!is_version) return fail(fault, 400, "invalid request line: expected 'METHOD /path HTTP/1.1'");
    out->is_old = bytes[7] == '0';
    if (bytes[5] != '1' || bytes[7] > '1')
        return fail(fault, 505, "unsupported protocol version; use HTTP/1.1 or HTTP/1.0");
    return true;
}

static bool read_request_line(const char *bytes, size_t length, request_line *out, http_fault *fault)
{
    static const char *const shape = "invalid request line: expected 'METHOD /path HTTP/1.1'";
    size_t method = token_length(bytes, length), target = method + 1, end = target;
    if (!method || method == length || bytes[method] != ' ') return fail(fault, 400, shape);
    while (end < length && bytes[end] > ' ' && bytes[end] < 127) end++;
    if (end == target || end == length || bytes[end] != ' ') return fail(fault, 400, shape);
    out->method = (json_text){bytes, method};
    out->target = (json_text){bytes + target, end - target};
    return read_version(bytes + end + 1, length - end - 1, out, fault);
}

static http_method method_of(json_text word)
{
    static const char *const words[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
    for (int i = 0; i < HTTP_OTHER; i++)
        if (json_is(word, words[i])) return (http_method)i;
    return HTTP_OTHER;
}

/* The authority of "http://host/path", and the target without it; NULL for "/path" and "*". */
static json_text cut_authority(json_text *target)
{
    size_t scheme = target->length >= 7 && strncasecmp(target->bytes, "http://", 7) == 0    ? 7
                    : target->length >= 8 && strncasecmp(target->bytes, "https://", 8) == 0 ? 8
                                                                                            : 0;
    if (!scheme) return (json_text){NULL, 0};
    const char *from = target->bytes + scheme;
    size_t rest = target->length - scheme, length = 0;
    while (length < rest && from[length] != '/' && from[length] != '?') length++;
    *target = (json_text){from + length, rest - length};
    return (json_text){from, length};
}

static bool read_target(http_head *out, const request_line *line, json_text *authority, http_fault *fault)
{
    json_text target = line->target;
    *authority = cut_authority(&target);
    if (memchr(target.bytes, '#', target.length)) return fail(fault, 400, "invalid request target: it contains '#'");
    const char *mark = target.length ? memchr(target.bytes, '?', target.length) : NULL;
    size_t path = mark ? (size_t)(mark - target.bytes) : target.length;
    out->path = (json_text){target.bytes, path};
    out->query = mark ? (json_text){mark + 1, target.length - path - 1} : (json_text){"", 0};
    if (authority->bytes && !path) out->path = (json_text){"/", 1};
    if (out->path.length && out->path.bytes[0] == '/') return true;
    if (json_is(target, "*") && json_is(line->method, "OPTIONS")) return true;
    return fail(fault, 400, "invalid request target: expected a path that begins with '/'");
}

/* ---- what the fields mean ---- */

/* Fields that determine the end of a message or its host. */
typedef struct field_counts {
    int hosts, lengths, encodings;
    const char *host, *length, *encoding;
} field_counts;

/* A host with an optional port, as in "example.org:80" and "[::1]:80". Empty is allowed. */
static bool is_host(const char *value)
{
    const char *at = value;
    if (*at == '[') {
        at += 1 + strspn(at + 1, "0123456789abcdefABCDEF:.");
        if (*at++ != ']') return false;
    } else {
        while (http_is_alphanumeric((unsigned char)*at) || (*at && strchr("-._~!$&'()*+,;=%", *at))) at++;
    }
    if (*at == ':') at += 1 + strspn(at + 1, "0123456789");
    return !*at;
}

static bool check_host(const http_head *head, const field_counts *seen, json_text authority, http_fault *fault)
{
    if (seen->hosts > 1) return fail(fault, 400, "more than one Host header");
    if (!seen->hosts && !head->is_old) return fail(fault, 400, "missing Host header");
    if (seen->hosts && !is_host(seen->host)) return fail(fault, 400, "invalid Host header");
    if (!authority.bytes) return true;
    bool same = authority.length && seen->hosts && strlen(seen->host) == authority.length &&
                strncasecmp(seen->host, authority.bytes, authority.length) == 0;
    return same || fail(fault, 400, "the host of the request target differs from the Host header");
}

static bool read_length(http_head *out, const char *value, http_fault *fault)
{
    size_t digits = strspn(value, "0123456789");
    if (!digits || value[digits]) return fail(fault, 400, "invalid Content-Length: expected decimal digits");
    while (*value == '0') value++;
    if (strlen(value) > 18) return fail(fault, 413, "Content-Length is too large");
    for (; *value; value++) out->body_bytes = 10 * out->body_bytes + (uint64_t)(*value - '0');
    return true;
}

static bool check_framing(http_head *out, const field_counts *seen, http_fault *fault)
{
    if (seen->lengths > 1) return fail(fault, 400, "more than one Content-Length header");
    if (seen->lengths && seen->encodings) return fail(fault, 400, "both Content-Length and Transfer-Encoding");
    if (seen->lengths) return read_length(out, seen->length, fault);
    if (!seen->encodings) return true;
    if (out->is_old) return fail(fault, 400, "Transfer-Encoding is not allowed in HTTP/1.0");
    if (seen->encodings > 1 || strcasecmp(seen->encoding, "chunked") != 0)
        return fail(fault, 400, "unsupported Transfer-Encoding; the only one is 'chunked'");
    out->is_chunked = true;
    return true;
}

/* Whether a list, as in "keep-alive, close", has this member. */
static bool has_member(const char *list, const char *member)
{
    size_t length = strlen(member);
    while (*list) {
        list += strspn(list, ", \t");
        size_t size = strcspn(list, ", \t");
        if (size == length && strncasecmp(list, member, length) == 0) return true;
        list += size;
    }
    return false;
}

static bool take_field(http_head *out, field_counts *seen, const http_field *field, http_fault *fault)
{
    const char *name = field->name, *value = field->value;
    if (strcasecmp(name, "Host") == 0) {
        seen->hosts++;
        seen->host = value;
    } else if (strcasecmp(name, "Content-Length") == 0) {
        seen->lengths++;
        seen->length = value;
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        seen->encodings++;
        seen->encoding = value;
    } else if (strcasecmp(name, "Connection") == 0) {
        if (out->is_old && has_member(value, "keep-alive")) out->keeps_open = true;
        if (has_member(value, "close")) out->keeps_open = false;
    } else if (strcasecmp(name, "Expect") == 0) {
        if (strcasecmp(value, "100-continue") != 0)
            return fail(fault, 417, "unsupported Expect header; the only one is '100-continue'");
        out->expects_continue = !out->is_old;
    }
    return true;
}

/* ---- the fields ---- */

/* Ends name and value of a line (length) by zeros; line[length] is the first byte of its line end. */
static bool read_field(http_head *out, char *line, size_t length, http_fault *fault)
{
    if (is_blank(line[0])) return fail(fault, 400, "invalid header: a line begins with a space or a tab");
    size_t name = token_length(line, length), from = name + 1, to = length;
    if (name && name < length && is_blank(line[name]))
        return fail(fault, 400, "invalid header: space before the colon");
    if (!name || name == length || line[name] != ':') return fail(fault, 400, "invalid header: expected 'Name: value'");
    if (out->field_count == HTTP_FIELDS) return fail(fault, 431, "more than 100 headers");
    while (from < to && is_blank(line[from])) from++;
    while (to > from && is_blank(line[to - 1])) to--;
    line[name] = line[to] = '\0';
    out->fields[out->field_count++] = (http_field){line, line + from};
    return true;
}

static size_t line_length(const char *bytes, size_t length)
{
    const char *end = memchr(bytes, '\r', length);
    return end ? (size_t)(end - bytes) : length;
}

bool http_head_read(http_head *out, char *bytes, size_t length, http_fault *fault)
{
    request_line line;
    field_counts seen = {0};
    json_text authority;
    size_t at = line_length(bytes, length);
    out->method = HTTP_OTHER;
    out->path = out->query = (json_text){"", 0};
    out->field_count = 0;
    out->is_chunked = out->expects_continue = false;
    out->body_bytes = 0;
    if (!read_request_line(bytes, at, &line, fault)) return false;
    out->method = method_of(line.method);
    out->is_old = line.is_old;
    out->keeps_open = !line.is_old;
    if (!read_target(out, &line, &authority, fault)) return false;
    for (at += 2; at + 2 < length;) {
        size_t size = line_length(bytes + at, length - at);
        if (!read_field(out, bytes + at, size, fault)) return false;
        if (!take_field(out, &seen, &out->fields[out->field_count - 1], fault)) return false;
        at += size + 2;
    }
    return check_host(out, &seen, authority, fault) && check_framing(out, &seen, fault);
}

/* Called at the end of each line. Returns the size of the head at its end, else 0. */
static size_t end_line(http_head_search *self, const char *bytes, size_t end, http_fault *fault)
{
    request_line first;
    if (end == self->line && self->lines) return end + 2;
    if (end == self->line) { /* before the request line: one is ignored, for old clients */
        if (self->start) fail(fault, 400, "invalid request line: expected 'METHOD /path HTTP/1.1'");
        self->start = end + 2;
    } else if (!self->lines++) {
        read_request_line(bytes + self->line, end - self->line, &first, fault);
    }
    self->line = end + 2;
    return 0;
}

size_t http_head_find(http_head_search *self, const char *bytes, size_t length, http_fault *fault)
{
    *fault = (http_fault){0, NULL};
    while (self->seen < length && !fault->status) {
        size_t at = self->seen, size;
        if (bytes[at] == '\r' && at + 1 == length) return 0;
        if (bytes[at] == '\r' && bytes[at + 1] == '\n') {
            self->seen = at + 2;
            size = end_line(self, bytes, at, fault);
            if (size) return size;
        } else if (http_is_control((unsigned char)bytes[at])) {
            fail(fault, 400,
                 bytes[at] == '\n' ? "invalid line end: LF without CR" : "invalid control character in the request");
        } else {
            self->seen++;
        }
    }
    return 0;
}

const char *http_head_field(const http_head *head, const char *name)
{
    for (size_t i = 0; i < head->field_count; i++)
        if (strcasecmp(head->fields[i].name, name) == 0) return head->fields[i].value;
    return NULL;
}
