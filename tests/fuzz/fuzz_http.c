/* Requests as bytes: however they arrive in pieces, the same head and the same body are found, or the same fault. */
#include "fuzz.h"
#include "serve/http/http_characters.h"
#include "serve/http/http_chunks.h"
#include "serve/http/http_head.h"

/* The size of the head, with the search and the fault. */
static size_t find(const uint8_t *bytes, size_t size, size_t piece, http_head_search *search, http_fault *fault)
{
    size_t found = 0;
    *search = (http_head_search){0};
    *fault = (http_fault){0, NULL};
    for (size_t there = piece; !found && !fault->status; there += piece) {
        size_t length = there < size ? there : size;
        char *copy = copy_of(bytes, length);
        found = http_head_find(search, copy, length, fault);
        free(copy);
        if (there >= size) break;
    }
    return found;
}

static void check_fields(const http_head *head)
{
    require(head->field_count <= HTTP_FIELDS, "too many fields");
    for (size_t i = 0; i < head->field_count; i++) {
        const char *name = head->fields[i].name;
        require(*name != '\0', "an empty name");
        for (; *name; name++) require(http_is_token((unsigned char)*name), "a name with another character");
        for (const char *value = head->fields[i].value; *value; value++)
            require(!http_is_control((unsigned char)*value), "a control character in a value");
    }
    require(!head->is_chunked || !head->body_bytes, "two lengths");
    require(head->path.length && (head->path.bytes[0] == '/' || head->path.bytes[0] == '*'), "a path without a slash");
}

static void check_head(const uint8_t *bytes, size_t size)
{
    http_head_search search, other_search;
    http_fault fault, other;
    size_t found = find(bytes, size, size ? size : 1, &search, &fault);
    size_t again = find(bytes, size, 1 + size / 7, &other_search, &other);
    require(found == again && fault.status == other.status, "pieces change the result");
    require(!found || !fault.status, "a head with a fault");
    if (!found) return;
    require(found <= size && search.start < found, "a wrong size");
    http_head *head = malloc(sizeof *head);
    char *copy = copy_of(bytes + search.start, found - search.start);
    if (!head) abort();
    if (http_head_read(head, copy, found - search.start, &fault))
        check_fields(head);
    else
        require(fault.status >= 400 && fault.status < 600 && fault.message, "no reason");
    free(copy);
    free(head);
}

/* Decodes in pieces; *length becomes the bytes of data. */
static chunks_result decode(const uint8_t *bytes, size_t size, size_t piece, size_t *length, size_t *used)
{
    http_chunks chunks = {0};
    chunks_result result = CHUNKS_MORE;
    *length = *used = 0;
    for (size_t at = 0; at < size && result == CHUNKS_MORE; at += piece) {
        size_t count = size - at < piece ? size - at : piece;
        char *copy = copy_of(bytes + at, count);
        json_text input = {copy, count}, data;
        while ((result = http_chunks_next(&chunks, &input, &data)) == CHUNKS_DATA) *length += data.length;
        *used = at + count - input.length;
        free(copy);
    }
    return result;
}

static void check_chunks(const uint8_t *bytes, size_t size)
{
    size_t length, used, other_length, other_used;
    chunks_result result = decode(bytes, size, size ? size : 1, &length, &used);
    require(decode(bytes, size, 1 + size / 7, &other_length, &other_used) == result, "pieces change the result");
    require(length == other_length && used == other_used, "pieces change the body");
    require(used <= size && length <= used, "more than there is");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    check_head(bytes, size);
    check_chunks(bytes, size);
    return 0;
}
