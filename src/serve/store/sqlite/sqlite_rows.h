/* Arrays in memory as tables of SQLite, so that one statement reads or writes all rows of a group instead of one
 * statement for each row. They are virtual tables of the connection: nothing of them is in the file. */
#ifndef EENET_SQLITE_ROWS_H
#define EENET_SQLITE_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/status.h"

/* Lives as long as the connection. The rowid is the place in the array. */
typedef struct sqlite_rows {
    const char *name;
    const char *columns;                         /* "bandit, id, ..." */
    size_t (*count)(const void *source);         /* when a statement starts */
    bool (*has)(const void *source, size_t row); /* whether the table has this row; NULL: all */
    void (*column)(const void *source, size_t row, int column, sqlite3_context *out);
    const void *source;
} sqlite_rows;

ee_status sqlite_rows_add(sqlite3 *database, sqlite_rows *table, ee_error *error);

#endif
