#include "row_checksum.h"

#include <math.h>

#include "base/checksum.h"

enum { NONE = 0, INTEGER = 1, REAL = 2, TEXT = 3, BLOB = 4, CLASS_BITS = 3 };

static void add(row_checksum *self, unsigned class, uint64_t word)
{
    if (self->count == ROW_MOST_COLUMNS) return; /* no table has that many */
    self->words[ROW_MOST_COLUMNS] = self->words[ROW_MOST_COLUMNS] << CLASS_BITS | class;
    self->words[self->count++] = word;
}

void row_add_integer(row_checksum *self, int64_t value)
{
    add(self, INTEGER, (uint64_t)value);
}

void row_add_real(row_checksum *self, double value)
{
    uint64_t bits;
    if (isnan(value)) { /* SQLite stores it as NULL */
        row_add_null(self);
        return;
    }
    value += 0.0; /* SQLite stores -0 as 0 */
    memcpy(&bits, &value, sizeof bits);
    add(self, REAL, bits);
}

void row_add_text(row_checksum *self, json_text value)
{
    if (value.length)
        add(self, TEXT, checksum_64(value.bytes, value.length));
    else
        row_add_null(self);
}

void row_add_blob(row_checksum *self, const void *bytes, size_t size)
{
    if (size)
        add(self, BLOB, checksum_64(bytes, size));
    else
        row_add_null(self);
}

void row_add_null(row_checksum *self)
{
    add(self, NONE, 0);
}

/* As stored: an empty text is a text here. */
static void add_value(row_checksum *self, sqlite3_value *value)
{
    const void *bytes;
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        row_add_integer(self, sqlite3_value_int64(value));
        break;
    case SQLITE_FLOAT:
        row_add_real(self, sqlite3_value_double(value));
        break;
    case SQLITE_TEXT:
        bytes = sqlite3_value_text(value);
        add(self, TEXT, checksum_64(bytes, (size_t)sqlite3_value_bytes(value)));
        break;
    case SQLITE_BLOB:
        bytes = sqlite3_value_blob(value);
        add(self, BLOB, checksum_64(bytes, (size_t)sqlite3_value_bytes(value)));
        break;
    default:
        row_add_null(self);
    }
}

/* Connections are opened without a mutex, so values of columns need no protection from other threads. */
void row_add_columns(row_checksum *self, sqlite3_stmt *statement, int first, int count)
{
    for (int i = first; i < first + count; i++) add_value(self, sqlite3_column_value(statement, i));
}

int64_t row_checksum_end(const row_checksum *self)
{
    uint64_t words[ROW_MOST_COLUMNS + 1];
    memcpy(words, self->words, self->count * sizeof *words);
    words[self->count] = self->words[ROW_MOST_COLUMNS];
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (unsigned i = 0; i <= self->count; i++) words[i] = __builtin_bswap64(words[i]);
#endif
    return (int64_t)checksum_64(words, (self->count + 1) * sizeof *words);
}

static void of_values(sqlite3_context *context, int count, sqlite3_value **values)
{
    row_checksum sum = {0};
    for (int i = 0; i < count; i++) add_value(&sum, values[i]);
    sqlite3_result_int64(context, row_checksum_end(&sum));
}

int row_checksum_register(sqlite3 *database)
{
    return sqlite3_create_function_v2(database, "row_checksum", -1,
                                      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL, of_values, NULL,
                                      NULL, NULL);
}
