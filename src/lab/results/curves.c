/* The header has a fixed size, so that it can be rewritten in place when a row is added. */
#define _POSIX_C_SOURCE 200809L
#include "curves.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/files/npy.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "curves are written as they lie in memory, which must be little-endian"
#endif

static ee_status fail(ee_error *error, const char *verb, const char *path)
{
    return status_fail(error, EE_FILE_ERROR, "file: could not %s %s: %s", verb, path, strerror(errno));
}

static off_t row_start(size_t row, uint64_t rounds)
{
    return (off_t)(NPY_HEADER_SIZE + row * rounds * sizeof(double));
}

static ee_status write_at(int descriptor, const char *path, const void *bytes, size_t size, off_t place,
                          ee_error *error)
{
    const char *from = bytes;
    while (size) {
        ssize_t written = pwrite(descriptor, from, size, place);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return fail(error, "write", path);
        from += written;
        size -= (size_t)written;
        place += written;
    }
    return EE_OK;
}

static ee_status read_at(int descriptor, const char *path, void *bytes, size_t size, off_t place, ee_error *error)
{
    char *into = bytes;
    while (size) {
        ssize_t got = pread(descriptor, into, size, place);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(error, "read", path);
        if (got == 0) return status_fail(error, EE_BAD_INPUT, "curves: %s is truncated", path);
        into += got;
        size -= (size_t)got;
        place += got;
    }
    return EE_OK;
}

static ee_status write_header(int descriptor, const char *path, size_t rows, uint64_t rounds, ee_error *error)
{
    const size_t shape[2] = {rows, rounds};
    uint8_t header[NPY_HEADER_SIZE];
    npy_header(NPY_FLOAT64, shape, 2, header);
    return write_at(descriptor, path, header, sizeof header, 0, error);
}

/* The rows that the header counts. */
static ee_status read_header(int descriptor, const char *path, uint64_t rounds, size_t *rows, ee_error *error)
{
    uint8_t found[NPY_HEADER_SIZE + 1] = "", expected[NPY_HEADER_SIZE];
    ee_status status = read_at(descriptor, path, found, NPY_HEADER_SIZE, 0, error);
    if (status) return status;
    const char *count = memchr(found, '(', NPY_HEADER_SIZE);
    *rows = count ? strtoull(count + 1, NULL, 10) : 0;
    npy_header(NPY_FLOAT64, (const size_t[2]){*rows, rounds}, 2, expected);
    if (memcmp(found, expected, NPY_HEADER_SIZE) != 0)
        return status_fail(error, EE_BAD_INPUT, "curves: %s: expected curves of %" PRIu64 " rounds", path, rounds);
    return EE_OK;
}

static ee_status sync_file(int descriptor, const char *path, ee_error *error)
{
    return fsync(descriptor) ? fail(error, "sync", path) : EE_OK;
}

ee_status curves_write(const char *path, size_t row, const double *curves, size_t count, uint64_t rounds,
                       ee_error *error)
{
    int descriptor = open(path, O_RDWR | O_CLOEXEC | O_CREAT, 0666);
    if (descriptor < 0) return fail(error, "open", path);
    ee_status status = write_header(descriptor, path, row, rounds, error);
    if (!status && ftruncate(descriptor, row_start(row, rounds))) status = fail(error, "cut", path);
    if (!status)
        status = write_at(descriptor, path, curves, count * rounds * sizeof *curves, row_start(row, rounds), error);
    if (!status) status = sync_file(descriptor, path, error);
    if (!status) status = write_header(descriptor, path, row + count, rounds, error);
    if (!status) status = sync_file(descriptor, path, error);
    if (close(descriptor) && !status) status = fail(error, "close", path);
    return status;
}

ee_status curves_cut(const char *path, size_t rows, uint64_t rounds, ee_error *error)
{
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return errno == ENOENT ? EE_OK : fail(error, "open", path);
    size_t counted = 0;
    struct stat about = {0};
    ee_status status = read_header(descriptor, path, rounds, &counted, error);
    if (!status && fstat(descriptor, &about)) status = fail(error, "stat", path);
    bool fewer = status == EE_BAD_INPUT || counted < rows || about.st_size < row_start(rows, rounds);
    bool more = counted > rows || about.st_size > row_start(rows, rounds);
    if (!status && !fewer && more) {
        status = write_header(descriptor, path, rows, rounds, error);
        if (!status && ftruncate(descriptor, row_start(rows, rounds))) status = fail(error, "cut", path);
        if (!status) status = sync_file(descriptor, path, error);
    }
    close(descriptor);
    return status == EE_BAD_INPUT ? EE_OK : status;
}

ee_status curves_has(const char *path, size_t row, uint64_t rounds, double last, bool *there, ee_error *error)
{
    *there = false;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return errno == ENOENT ? EE_OK : fail(error, "open", path);
    size_t rows = 0;
    double found = 0.0;
    ee_status status = read_header(descriptor, path, rounds, &rows, error);
    if (!status && row < rows) {
        off_t place = row_start(row + 1, rounds) - (off_t)sizeof found;
        status = read_at(descriptor, path, &found, sizeof found, place, error);
        *there = !status && found == last;
    }
    close(descriptor);
    return status == EE_BAD_INPUT ? EE_OK : status;
}

ee_status curves_read(const char *path, size_t row, uint64_t rounds, double *out, ee_error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return fail(error, "open", path);
    size_t rows = 0;
    ee_status status = read_header(descriptor, path, rounds, &rows, error);
    if (!status && row >= rows)
        status = status_fail(error, EE_BAD_INPUT, "curves: %s has %zu rows, expected row %zu", path, rows, row);
    if (!status) status = read_at(descriptor, path, out, rounds * sizeof *out, row_start(row, rounds), error);
    close(descriptor);
    return status;
}
