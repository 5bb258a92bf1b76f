/* Checksum of a row of the database: its columns in order, each with its storage class. A change within eight bytes of
 * one column always changes it; any other does except with probability 2^-64. It is stored, so it never changes. */
#ifndef EENET_ROW_CHECKSUM_H
#define EENET_ROW_CHECKSUM_H

#include <sqlite3.h>

#include "base/json.h"

enum { ROW_MOST_COLUMNS = 16 };

/* {0} starts it. */
typedef struct row_checksum {
    uint64_t words[ROW_MOST_COLUMNS + 1]; /* one for each column, then their storage classes */
    unsigned count;
} row_checksum;

void row_add_integer(row_checksum *self, int64_t value);
void row_add_real(row_checksum *self, double value);
void row_add_text(row_checksum *self, json_text value); /* NULL if it is empty, as store_bind_text writes it */
void row_add_blob(row_checksum *self, const void *bytes, size_t size); /* NULL if it is empty */
void row_add_null(row_checksum *self);
/* Adds `count` columns of the statement's row from `first` on. */
void row_add_columns(row_checksum *self, sqlite3_stmt *statement, int first, int count);

int64_t row_checksum_end(const row_checksum *self);

/* Adds the SQL function row_checksum(column, ...) to a connection: an SQLite code. */
int row_checksum_register(sqlite3 *database);

#endif
