#include "router.h"

#include <stdio.h>

const char *router_method_name(http_method method)
{
    static const char *const names[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OTHER"};
    return names[method];
}

const char *router_limit(const route *of)
{
    if (of->method == HTTP_GET || of->method == HTTP_DELETE) return NULL;
    return of->traits & ROUTE_MODEL ? "model-bytes" : "body-bytes";
}

int router_hex_value(char digit)
{
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

bool router_decode(json_text from, char *out, size_t capacity, size_t *length)
{
    size_t written = 0;
    for (size_t i = 0; i < from.length; i++) {
        char byte = from.bytes[i];
        if (byte == '%') {
            int high = i + 2 < from.length ? router_hex_value(from.bytes[i + 1]) : -1;
            int low = i + 2 < from.length ? router_hex_value(from.bytes[i + 2]) : -1;
            if (high < 0 || low < 0) return false;
            byte = (char)(high * 16 + low);
            i += 2;
        }
        if (!byte || written + 1 >= capacity) return false;
        out[written++] = byte;
    }
    if (!capacity) return false;
    out[written] = '\0';
    *length = written;
    return true;
}

/* Cuts the first part of "/a/b" off: returns "a" and leaves "/b". */
static json_text cut_part(json_text *path)
{
    json_text part = {path->bytes + 1, 0};
    while (part.length + 1 < path->length && part.bytes[part.length] != '/') part.length++;
    path->bytes += part.length + 1;
    path->length -= part.length + 1;
    return part;
}

/* A path begins with a slash; its parts are neither empty nor dots, which no name of ours is, and decode. */
static bool is_good(json_text path)
{
    if (!path.length || path.bytes[0] != '/') return false;
    if (path.length == 1) return true;
    while (path.length) {
        char decoded[ROUTE_PART_SIZE];
        size_t length;
        json_text part = cut_part(&path);
        if (!router_decode(part, decoded, sizeof decoded, &length) || !length) return false;
        if (decoded[0] == '.' && (!decoded[1] || (decoded[1] == '.' && !decoded[2]))) return false;
    }
    return true;
}

static bool matches(const char *pattern, json_text path, route_match *out)
{
    json_text rest = {pattern, strlen(pattern)};
    out->count = 0;
    while (rest.length && path.length) {
        json_text wanted = cut_part(&rest), part = cut_part(&path);
        size_t length;
        if (wanted.length && wanted.bytes[0] == '{') {
            if (out->count == ROUTE_PARTS) return false;
            if (!router_decode(part, out->parts[out->count], ROUTE_PART_SIZE, &length)) return false;
            out->count++;
        } else if (wanted.length != part.length || memcmp(wanted.bytes, part.bytes, part.length) != 0) {
            return false;
        }
    }
    return !rest.length && !path.length;
}

static void add_allowed(char allowed[64], http_method method)
{
    size_t used = strlen(allowed);
    snprintf(allowed + used, 64 - used, "%s%s", used ? ", " : "", router_method_name(method));
    if (method == HTTP_GET) add_allowed(allowed, HTTP_HEAD);
}

route_result router_find(const route_table *table, http_method method, json_text path, route_match *out,
                         char allowed[64])
{
    allowed[0] = '\0';
    if (!is_good(path)) return ROUTE_BAD_PATH;
    for (size_t i = 0; i < table->count; i++) {
        const route *at = &table->routes[i];
        if (!matches(at->pattern, path, out)) continue;
        out->route = at;
        if (at->method == method || (method == HTTP_HEAD && at->method == HTTP_GET)) return ROUTE_FOUND;
        add_allowed(allowed, at->method);
    }
    return allowed[0] ? ROUTE_OTHER_METHOD : ROUTE_NONE;
}
