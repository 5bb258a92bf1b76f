/* Overwrites what SQLite leaves in the unused middle of its pages. When it rearranges a page, copies of rows stay
 * there, and secure_delete does not reach them.
 *
 * The bytes between the list of cells and the first cell mean nothing, so zeros can be written to them in the file at
 * any moment (https://www.sqlite.org/fileformat2.html, section 1.6). Before, the write-ahead log is emptied and the
 * writer forgets its pages: each later version of a page begins with the one that was overwritten. */
#include "store_sqlite.h"

enum { LARGEST_PAGE = 65536, FILE_HEAD = 100 };

static size_t read_two(const uint8_t *at)
{
    return (size_t)at[0] << 8 | at[1];
}

/* The unused middle of a page; false: it is no page with cells. Other pages begin with the number of a page, whose
 * first byte is 0 below 128 GB. */
static bool find_unused(const uint8_t *page, size_t size, bool is_first, size_t *from, size_t *to)
{
    size_t head = is_first ? FILE_HEAD : 0;
    uint8_t kind = page[head];
    bool inner = kind == 2 || kind == 5;
    if (!inner && kind != 10 && kind != 13) return false;
    *from = head + (inner ? 12 : 8) + 2 * read_two(page + head + 3);
    *to = read_two(page + head + 5);
    if (!*to) *to = LARGEST_PAGE;
    return *from < *to && *to <= size;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i]) return false;
    return true;
}

static int scrub_page(sqlite3_file *file, sqlite3_int64 number, uint8_t *page, int size)
{
    static const uint8_t zeros[LARGEST_PAGE];
    size_t from, to;
    int code = file->pMethods->xRead(file, page, size, number * size);
    if (code || !find_unused(page, (size_t)size, number == 0, &from, &to) || is_zero(page + from, to - from))
        return code;
    return file->pMethods->xWrite(file, zeros, (int)(to - from), number * size + (sqlite3_int64)from);
}

static ee_status scrub_pages(sqlite_store *self, uint64_t *page, size_t count, bool *more, ee_error *error)
{
    sqlite3_file *file = NULL;
    sqlite3_int64 bytes = 0;
    uint8_t *room = NULL, head[FILE_HEAD];
    int code = sqlite3_file_control(self->database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (!code) code = file->pMethods->xFileSize(file, &bytes);
    if (!code) code = file->pMethods->xRead(file, head, sizeof head, 0);
    if (code) return status_fail(error, EE_FILE_ERROR, "store: eenet.db could not be overwritten");
    size_t size = read_two(head + 16) == 1 ? LARGEST_PAGE : read_two(head + 16);
    ee_status status = memory_create(NULL, &room, size, 1, error);
    if (status) return status;
    uint64_t all = (uint64_t)bytes / size;
    for (size_t i = 0; i < count && *page < all && !code; i++, ++*page)
        code = scrub_page(file, (sqlite3_int64)*page, room, (int)size);
    *more = *page < all;
    if (!code && !*more) code = file->pMethods->xSync(file, SQLITE_SYNC_FULL);
    memory_free(room);
    return code ? status_fail(error, EE_FILE_ERROR, "store: eenet.db could not be overwritten") : EE_OK;
}

ee_status sqlite_scrub(store *base, uint64_t *page, size_t count, bool *more, ee_error *error)
{
    sqlite_store *self = (sqlite_store *)base;
    bool emptied;
    *more = true;
    ee_status status = sqlite_empty_log(base, &emptied, error);
    if (status || !emptied) return status;
    sqlite3_db_release_memory(self->database);
    return scrub_pages(self, page, count, more, error);
}
