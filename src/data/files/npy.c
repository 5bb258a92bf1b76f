/* The format: six bytes "\x93NUMPY", a byte each for the major and minor version, the length of the header (two bytes
 * in version 1, four in 2 and 3, little-endian), the header, the entries. The header is a Python dictionary:
 *
 *     {'descr': '<f8', 'fortran_order': False, 'shape': (2000, 10), }
 *
 * padded with spaces and ended by a newline. Version 3 differs from 2 in the text's encoding only.
 * (numpy.org, "NEP 1 - A simple file format for NumPy arrays") */
#include "npy.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

static const char magic[] = "\x93NUMPY";

enum { MAGIC_SIZE = sizeof magic - 1, VERSION_END = MAGIC_SIZE + 2 };

typedef struct header {
    npy_type type;
    bool big_endian;
    bool fortran_order;
    size_t rank;
    size_t shape[NPY_MOST_DIMENSIONS];
} header;

/* Where the parser is in the file. */
typedef struct cursor {
    const uint8_t *bytes;
    size_t position;
    size_t end;       /* of the header */
    const char *name; /* of the file */
    ee_error *error;
} cursor;

static ee_status fail_at(const cursor *at, const char *expected)
{
    if (at->position >= at->end)
        return status_fail(at->error, EE_BAD_INPUT, "npy: %s, byte %zu: expected %s, found the end of the header",
                           file_tail(at->name), at->position, expected);
    char found[16];
    uint8_t byte = at->bytes[at->position];
    snprintf(found, sizeof found, byte > 32 && byte < 127 ? "'%c'" : "byte 0x%02x", byte);
    return status_fail(at->error, EE_BAD_INPUT, "npy: %s, byte %zu: expected %s, found %s", file_tail(at->name),
                       at->position, expected, found);
}

/* ---- the header's dictionary ---- */

static void skip_space(cursor *at)
{
    while (at->position < at->end && strchr(" \t\r\n", at->bytes[at->position]) && at->bytes[at->position])
        at->position++;
}

static bool accept(cursor *at, char wanted)
{
    skip_space(at);
    if (at->position >= at->end || at->bytes[at->position] != (uint8_t)wanted) return false;
    at->position++;
    return true;
}

static bool accept_word(cursor *at, const char *word)
{
    skip_space(at);
    size_t length = strlen(word);
    if (at->end - at->position < length || memcmp(at->bytes + at->position, word, length) != 0) return false;
    at->position += length;
    return true;
}

/* A quoted text without escapes; *start and *length are in the file. */
static ee_status parse_text(cursor *at, const char *expected, const char **start, size_t *length)
{
    skip_space(at);
    char quote = at->position < at->end ? (char)at->bytes[at->position] : '\0';
    if (quote != '\'' && quote != '"') return fail_at(at, expected);
    size_t first = ++at->position;
    while (at->position < at->end && at->bytes[at->position] != (uint8_t)quote) at->position++;
    if (at->position >= at->end) return fail_at(at, "a closing quote");
    *start = (const char *)at->bytes + first;
    *length = at->position++ - first;
    return EE_OK;
}

static ee_status parse_type(cursor *at, header *into)
{
    const char *text = "";
    size_t length = 0;
    ee_status status = parse_text(at, "a quoted type", &text, &length);
    if (status) return status;
    if (npy_find_type(text, length, &into->type, &into->big_endian)) return EE_OK;
    at->position -= length + 1;
    return status_fail(at->error, EE_BAD_INPUT,
                       "npy: %s, byte %zu: expected a numeric type such as <f8, <f2, <i4, |u1 or |b1, got %.*s; "
                       "convert the array first: array.astype('float64')",
                       file_tail(at->name), at->position, length > 20 ? 20 : (int)length, text);
}

static ee_status parse_order(cursor *at, header *into)
{
    into->fortran_order = accept_word(at, "True");
    if (into->fortran_order || accept_word(at, "False")) return EE_OK;
    return fail_at(at, "True or False");
}

static ee_status parse_length(cursor *at, size_t *length)
{
    skip_space(at);
    size_t first = at->position;
    *length = 0;
    for (; at->position < at->end; at->position++) {
        uint8_t byte = at->bytes[at->position];
        if (byte < '0' || byte > '9') break;
        size_t digit = byte - (size_t)'0';
        if (*length > (SIZE_MAX - digit) / 10) return fail_at(at, "a smaller number");
        *length = *length * 10 + digit;
    }
    return at->position > first ? EE_OK : fail_at(at, "a number");
}

static ee_status parse_shape(cursor *at, header *into)
{
    if (!accept(at, '(')) return fail_at(at, "'('");
    for (into->rank = 0; !accept(at, ')'); into->rank++) {
        if (into->rank == NPY_MOST_DIMENSIONS) return fail_at(at, "at most 8 dimensions");
        ee_status status = parse_length(at, &into->shape[into->rank]);
        if (status) return status;
        bool comma = accept(at, ',');
        skip_space(at);
        bool closed = at->position < at->end && at->bytes[at->position] == ')';
        if (!comma && !closed) return fail_at(at, "',' or ')'");
    }
    return EE_OK;
}

static ee_status parse_entry(cursor *at, header *into, bool seen[3])
{
    static const char *const keys[3] = {"descr", "fortran_order", "shape"};
    const char *key = "";
    size_t length = 0;
    ee_status status = parse_text(at, "a quoted name", &key, &length);
    if (status) return status;
    int which = 0;
    while (which < 3 && (length != strlen(keys[which]) || memcmp(key, keys[which], length) != 0)) which++;
    if (which == 3 || seen[which]) {
        at->position -= length + 1;
        return fail_at(at, "descr, fortran_order and shape, once each");
    }
    seen[which] = true;
    if (!accept(at, ':')) return fail_at(at, "':'");
    return which == 0 ? parse_type(at, into) : which == 1 ? parse_order(at, into) : parse_shape(at, into);
}

static ee_status parse_dictionary(cursor *at, header *into)
{
    bool seen[3] = {false, false, false};
    if (!accept(at, '{')) return fail_at(at, "'{'");
    while (!accept(at, '}')) {
        ee_status status = parse_entry(at, into, seen);
        if (status) return status;
        bool comma = accept(at, ',');
        skip_space(at);
        bool closed = at->position < at->end && at->bytes[at->position] == '}';
        if (!comma && !closed) return fail_at(at, "',' or '}'");
    }
    if (!seen[0] || !seen[1] || !seen[2]) {
        at->position--;
        return fail_at(at, "descr, fortran_order and shape, once each");
    }
    skip_space(at);
    return at->position < at->end ? fail_at(at, "nothing after the '}'") : EE_OK;
}

/* ---- the file ---- */

static uint64_t little_endian(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;) value = value << 8 | bytes[i];
    return value;
}

/* Finds the header's text and leaves the cursor at its start. */
static ee_status find_header(cursor *at, size_t size)
{
    if (size < MAGIC_SIZE || memcmp(at->bytes, magic, MAGIC_SIZE) != 0)
        return status_fail(at->error, EE_BAD_INPUT, "npy: %s is not an .npy file: expected \\x93NUMPY at byte 0",
                           file_tail(at->name));
    uint8_t major = size < VERSION_END ? 1 : at->bytes[MAGIC_SIZE];
    uint8_t minor = size < VERSION_END ? 0 : at->bytes[MAGIC_SIZE + 1];
    if (major < 1 || major > 3 || minor != 0)
        return status_fail(at->error, EE_BAD_INPUT, "npy: %s, byte %d: expected version 1.0, 2.0 or 3.0, got %d.%d",
                           file_tail(at->name), MAGIC_SIZE, major, minor);
    size_t width = major == 1 ? 2 : 4;
    at->position = VERSION_END + width;
    if (size < at->position)
        return status_fail(at->error, EE_BAD_INPUT,
                           "npy: %s is truncated: expected %zu bytes before the header, got %zu", file_tail(at->name),
                           at->position, size);
    uint64_t length = little_endian(at->bytes + VERSION_END, width);
    if (length > size - at->position)
        return status_fail(at->error, EE_BAD_INPUT, "npy: %s is truncated: expected a header of %llu bytes, got %zu",
                           file_tail(at->name), (unsigned long long)length, size - at->position);
    at->end = at->position + (size_t)length;
    return EE_OK;
}

/* The number of entries of the shape, if it does not overflow. */
static bool count_entries(const header *head, size_t *count)
{
    bool none = false;
    for (size_t i = 0; i < head->rank; i++) none = none || head->shape[i] == 0;
    *count = none ? 0 : 1;
    for (size_t i = 0; i < head->rank && !none; i++) {
        if (*count > SIZE_MAX / 8 / head->shape[i]) return false;
        *count *= head->shape[i];
    }
    return true;
}

/* bytes is in the file's order, data in C order. Counts through the indices, the last fastest, and keeps the place that
 * each has in the file. */
static void decode_all(const header *head, const uint8_t *bytes, size_t count, void *data)
{
    size_t steps[NPY_MOST_DIMENSIONS] = {0}, index[NPY_MOST_DIMENSIONS] = {0};
    size_t step = npy_size(head->type), place = 0;
    for (size_t i = 0; i < head->rank; i++) {
        size_t axis = head->fortran_order ? i : head->rank - 1 - i;
        steps[axis] = step;
        step *= head->shape[axis];
    }
    for (size_t entry = 0; entry < count; entry++) {
        npy_decode(head->type, head->big_endian, bytes + place, data, entry);
        for (size_t axis = head->rank; axis-- > 0;) {
            place += steps[axis];
            if (++index[axis] < head->shape[axis]) break;
            place -= steps[axis] * head->shape[axis];
            index[axis] = 0;
        }
    }
}

ee_status npy_parse(const uint8_t *bytes, size_t size, const char *name, npy_array *out, ee_error *error)
{
    memset(out, 0, sizeof *out);
    cursor at = {bytes, 0, 0, name, error};
    header head = {0};
    ee_status status = find_header(&at, size);
    if (!status) status = parse_dictionary(&at, &head);
    if (status) return status;

    size_t count, got = size - at.end;
    if (!count_entries(&head, &count))
        return status_fail(error, EE_BAD_INPUT, "npy: %s: the array is too large for memory", file_tail(name));
    size_t promised = count * npy_size(head.type);
    if (got != promised)
        return status_fail(error, EE_BAD_INPUT, "npy: %s %s: expected %zu bytes after byte %zu, got %zu",
                           file_tail(name), got < promised ? "is truncated" : "is too long", promised, at.end, got);
    status = memory_create(NULL, &out->data, count, npy_size(head.type), error);
    if (status) return status;
    decode_all(&head, bytes + at.end, count, out->data);
    out->type = head.type;
    out->rank = head.rank;
    memcpy(out->shape, head.shape, sizeof head.shape);
    out->count = count;
    return EE_OK;
}

ee_status npy_read(const char *path, npy_array *out, ee_error *error)
{
    memset(out, 0, sizeof *out);
    uint8_t *bytes;
    size_t size;
    ee_status status = file_read(path, &bytes, &size, error);
    if (status) return status;
    status = npy_parse(bytes, size, path, out, error);
    memory_free(bytes);
    return status;
}

void npy_release(npy_array *array)
{
    memory_free(array->data);
    memset(array, 0, sizeof *array);
}

/* ---- entries ---- */

ee_status npy_expect_table(const npy_array *array, size_t columns, bool whole, const char *name, ee_error *error)
{
    if (whole && !npy_is_whole(array->type))
        return status_fail(error, EE_BAD_INPUT, "npy: %s: expected whole numbers such as int64, got %s",
                           file_tail(name), npy_type_name(array->type));
    if (array->rank != 2)
        return status_fail(error, EE_BAD_INPUT, "npy: %s: expected 2 dimensions, rows and columns, got %zu",
                           file_tail(name), array->rank);
    if (columns && array->shape[1] != columns)
        return status_fail(error, EE_BAD_INPUT, "npy: %s: expected %zu columns, got %zu", file_tail(name), columns,
                           array->shape[1]);
    if (array->count == 0)
        return status_fail(error, EE_BAD_INPUT, "npy: %s: expected at least one row and one column, got %zu x %zu",
                           file_tail(name), array->shape[0], array->shape[1]);
    return EE_OK;
}

double npy_real(const npy_array *array, size_t index)
{
    return npy_entry_real(array->type, array->data, index);
}

int64_t npy_whole(const npy_array *array, size_t index)
{
    return npy_entry_whole(array->type, array->data, index);
}

/* ---- writing ---- */

void npy_header(npy_type type, const size_t *shape, size_t rank, uint8_t bytes[NPY_HEADER_SIZE])
{
    char text[NPY_HEADER_SIZE - VERSION_END - 2 + 1], descr[NPY_DESCR_SIZE];
    size_t room = sizeof text, used;
    npy_describe_type(type, descr);
    used = (size_t)snprintf(text, room, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (size_t i = 0; i < rank && used < room; i++) {
        const char *separator = rank == 1 ? "," : i + 1 < rank ? ", " : "";
        used += (size_t)snprintf(text + used, room - used, "%zu%s", shape[i], separator);
    }
    if (used < room) used += (size_t)snprintf(text + used, room - used, "), }");
    if (used < room) snprintf(text + used, room - used, "%*s\n", (int)(room - used - 2), "");
    memcpy(bytes, magic, MAGIC_SIZE);
    bytes[MAGIC_SIZE] = 1;
    bytes[MAGIC_SIZE + 1] = 0;
    bytes[VERSION_END] = (uint8_t)(room - 1);
    bytes[VERSION_END + 1] = 0;
    memcpy(bytes + VERSION_END + 2, text, room - 1);
}

ee_status npy_write(const char *path, npy_type type, const size_t *shape, size_t rank, const void *data,
                    ee_error *error)
{
    uint8_t *bytes;
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) count *= shape[i];
    size_t size = NPY_HEADER_SIZE + count * npy_size(type);
    ee_status status = memory_create(NULL, &bytes, size, 1, error);
    if (status) return status;
    npy_header(type, shape, rank, bytes);
    npy_encode(type, data, count, bytes + NPY_HEADER_SIZE);
    status = file_write(path, bytes, size, error);
    memory_free(bytes);
    return status;
}
