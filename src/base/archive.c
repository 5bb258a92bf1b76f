#include "archive.h"

#include <string.h>

#include "memory.h"
#include "octets.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "archives store numbers in memory order, which must be little-endian"
#endif

archive archive_writer(ee_error *error)
{
    return (archive){.version = ARCHIVE_VERSION, .error = error};
}

archive archive_into(void *bytes, size_t capacity)
{
    return (archive){.version = ARCHIVE_VERSION, .bytes = bytes, .capacity = capacity};
}

archive archive_reader(const void *bytes, size_t size, ee_error *error)
{
    return (archive){.reading = true, .version = ARCHIVE_VERSION, .source = bytes, .size = size, .error = error};
}

void archive_fail(archive *a, ee_status status, const char *message)
{
    if (!a->status) a->status = status_fail(a->error, status, "%s", message);
}

size_t archive_remaining(const archive *a)
{
    return a->status ? 0 : a->size - a->position;
}

void archive_bytes(archive *a, void *bytes, size_t size)
{
    if (a->reading) {
        if (!a->status && size > archive_remaining(a)) {
            a->status = status_fail(a->error, EE_BAD_MODEL, "model: truncated: expected %zu more bytes at byte %zu",
                                    size, a->position);
        }
        if (a->status) {
            memset(bytes, 0, size);
            return;
        }
        if (size) memcpy(bytes, a->source + a->position, size);
        a->position += size;
        return;
    }
    if (a->status) return;
    a->status = memory_grow(NULL, &a->bytes, &a->capacity, a->size + size, 1, a->error);
    if (a->status || !size) return;
    memcpy(a->bytes + a->size, bytes, size);
    a->size += size;
}

void archive_u32s(archive *a, uint32_t *values, size_t count)
{
    archive_bytes(a, values, count * sizeof *values);
}

void archive_u64(archive *a, uint64_t *value)
{
    archive_bytes(a, value, sizeof *value);
}

void archive_floats(archive *a, float *values, size_t count)
{
    archive_bytes(a, values, count * sizeof *values);
}

static bool all_zero(const float *values, size_t count)
{
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        found |= bits;
    }
    return !found;
}

void archive_sparse_floats(archive *a, float *values, size_t count)
{
    for (size_t start = 0; start < count && !a->status; start += ARCHIVE_BLOCK) {
        float *block = values + start;
        size_t size = count - start < ARCHIVE_BLOCK ? count - start : ARCHIVE_BLOCK;
        bool zero = all_zero(block, size);
        uint8_t full = !zero;
        archive_bytes(a, &full, 1);
        if (full)
            archive_floats(a, block, size);
        else if (!zero)
            memset(block, 0, size * sizeof *block);
    }
}

void archive_stream(archive *a, random_stream *stream)
{
    const uint64_t *s = stream->state;
    archive_bytes(a, stream->state, sizeof stream->state);
    /* A state of zeros draws only zeros. */
    if (!(s[0] | s[1] | s[2] | s[3])) archive_fail(a, EE_BAD_MODEL, "model: invalid random stream: all zeros");
}

void archive_count(archive *a, uint64_t *value, uint64_t low, uint64_t high, const char *what)
{
    uint64_t count = *value;
    archive_u64(a, &count);
    if (!a->status && (count < low || count > high)) {
        a->status =
            status_fail(a->error, EE_BAD_MODEL, "model: %s must be %llu to %llu, got %llu at byte %zu", what,
                        (unsigned long long)low, (unsigned long long)high, (unsigned long long)count, a->position);
    }
    if (a->reading) *value = a->status ? low : count;
}

void archive_size(archive *a, size_t *value, size_t low, size_t high, const char *what)
{
    uint64_t wide = *value;
    archive_count(a, &wide, low, high, what);
    if (a->reading) *value = (size_t)wide;
}

void archive_text(archive *a, char *text, size_t capacity, const char *what)
{
    size_t length = a->reading ? 0 : strlen(text);
    archive_size(a, &length, 0, capacity - 1, what);
    archive_bytes(a, text, length);
    if (a->reading) text[length] = '\0';
}

/* The checksum of one more byte; of_four has those of four bits. */
static uint64_t add_byte(uint64_t crc, uint8_t byte, const uint64_t *of_four)
{
    crc ^= byte;
    crc = of_four[crc & 15] ^ (crc >> 4);
    return of_four[crc & 15] ^ (crc >> 4);
}

/* Eight bytes at a time: of_byte[k] has the checksums of a byte that is followed by k others. */
static uint64_t checksum_long(const uint8_t *bytes, size_t size, const uint64_t *of_four)
{
    enum { AT_ONCE = 8 };
    uint64_t of_byte[AT_ONCE][256], crc = ~(uint64_t)0;
    for (unsigned i = 0; i < 256; i++) of_byte[0][i] = add_byte(0, (uint8_t)i, of_four);
    for (size_t k = 1; k < AT_ONCE; k++)
        for (size_t i = 0; i < 256; i++)
            of_byte[k][i] = of_byte[0][of_byte[k - 1][i] & 0xff] ^ (of_byte[k - 1][i] >> 8);
    for (; size >= AT_ONCE; bytes += AT_ONCE, size -= AT_ONCE) {
        crc ^= octets_load((const char *)bytes);
        crc = of_byte[7][crc & 0xff] ^ of_byte[6][crc >> 8 & 0xff] ^ of_byte[5][crc >> 16 & 0xff] ^
              of_byte[4][crc >> 24 & 0xff] ^ of_byte[3][crc >> 32 & 0xff] ^ of_byte[2][crc >> 40 & 0xff] ^
              of_byte[1][crc >> 48 & 0xff] ^ of_byte[0][crc >> 56];
    }
    for (; size; bytes++, size--) crc = of_byte[0][(crc ^ *bytes) & 0xff] ^ (crc >> 8);
    return ~crc;
}

uint64_t archive_checksum(const uint8_t *bytes, size_t size)
{
    enum { LONG = 512 }; /* bytes; for fewer, tables cost more than they save */
    uint64_t of_four[16], crc = ~(uint64_t)0;
    for (uint64_t i = 0; i < 16; i++) {
        uint64_t entry = i;
        for (int bit = 0; bit < 4; bit++) entry = (entry >> 1) ^ (entry & 1 ? 0xc96c5795d7870f42u : 0);
        of_four[i] = entry;
    }
    if (size >= LONG) return checksum_long(bytes, size, of_four);
    for (size_t i = 0; i < size; i++) crc = add_byte(crc, bytes[i], of_four);
    return ~crc;
}
