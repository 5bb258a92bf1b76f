#include "idx.h"

#include "base/file.h"

enum { MAGIC_SIZE = 4, NUMBER_SIZE = 4, TYPE_BYTES = 8 };

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

ee_status idx_parse(const source *file, size_t rank, idx_array *out, ee_error *error)
{
    const char *name = file_tail(file->path);
    const uint32_t expected = TYPE_BYTES << 8 | (uint32_t)rank;
    if (file->size < MAGIC_SIZE)
        return status_fail(error, EE_BAD_INPUT, "idx: %s, byte %zu: the file ends inside its magic number", name,
                           file->size);
    if (big_endian(file->bytes) != expected)
        return status_fail(error, EE_BAD_INPUT, "idx: %s, byte 0: expected the magic number %08x, got %08x", name,
                           (unsigned)expected, (unsigned)big_endian(file->bytes));
    *out = (idx_array){.offset = MAGIC_SIZE + rank * NUMBER_SIZE};
    if (file->size < out->offset)
        return status_fail(error, EE_BAD_INPUT, "idx: %s, byte %zu: the file ends inside its header of %zu bytes", name,
                           file->size, out->offset);
    out->data = file->bytes + out->offset;
    size_t follow = file->size - out->offset, count = 1;
    for (size_t i = 0; i < rank; i++) {
        size_t place = MAGIC_SIZE + i * NUMBER_SIZE;
        out->shape[i] = big_endian(file->bytes + place);
        /* More than the file has is refused at once: the product of the others could not be held. */
        if (out->shape[i] == 0 || out->shape[i] > follow)
            return status_fail(error, EE_BAD_INPUT, "idx: %s, byte %zu: expected a dimension of 1 to %zu, got %zu",
                               name, place, follow, out->shape[i]);
        count = count > follow ? count : count * out->shape[i];
    }
    if (count != follow)
        return status_fail(error, EE_BAD_INPUT, "idx: %s, byte %zu: expected %s%zu bytes of data, got %zu", name,
                           out->offset, count > follow ? "at least " : "", count, follow);
    return EE_OK;
}
