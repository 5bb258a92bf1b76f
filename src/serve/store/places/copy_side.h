/* Private to store_copy.c: a store as rows of tables, whether it is a folder or a database. Rows are copied as they
 * are, with their checksums, right or wrong. Blobs and the audit log are tables here too: of the folder's files. */
#ifndef EENET_COPY_SIDE_H
#define EENET_COPY_SIDE_H

#include <stdbool.h>

#include "base/json.h"
#include "base/memory.h"

/* In the order of copying. The files of a folder that change are read before its snapshot, and so never know of events
 * that the snapshot lacks. */
typedef enum copy_table {
    COPY_FILES,  /* blobs that are no models */
    COPY_MODELS, /* blobs that are models */
    COPY_BANDITS,
    COPY_LOG_ENDS,
    COPY_CLOCK,
    COPY_EVENTS,
    COPY_DECISIONS,
    COPY_IDS,
    COPY_REWARD_IDS,
    COPY_UNCLAIMED,
    COPY_AUDIT,
    COPY_TABLES
} copy_table;

enum { COPY_MOST_COLUMNS = 10, COPY_PORTION_ROWS = 2000, COPY_PORTION_BYTES = 4 << 20 };

typedef struct copy_form {
    const char *name;                             /* of the table, without the schema */
    const char *const columns[COPY_MOST_COLUMNS]; /* the primary key first */
    const char *types; /* of each column: i integer, r real, t text, d an id (text in SQLite, bytea in PostgreSQL),
                          b bytes */
    int keys;          /* columns of the primary key */
    const char *large; /* the column by which a portion is limited; NULL: by rows only */
    const char *only;  /* condition; NULL: all rows */
} copy_form;

extern const copy_form copy_forms[COPY_TABLES];

static inline int copy_columns(copy_table table)
{
    int count = 0;
    while (copy_forms[table].types[count]) count++;
    return count;
}

/* Columns of COPY_BANDITS, COPY_LOG_ENDS, COPY_CLOCK, COPY_EVENTS and of the blobs, by their place. */
enum { BANDIT_NUMBER = 0, BANDIT_PURGED = 7 };
enum { END_BANDIT = 0, END_FIRST = 1, END_LAST = 2, END_SUM = 3 };
enum { CLOCK_CHECKSUM = 3 };
enum { EVENT_PLACE = 0, EVENT_CHECKSUM = 9 };
enum { PART_BANDIT = 0, PART_KIND = 1, PART_KEY = 2, PART_NUMBER = 3, PART_BYTES = 4 };
enum { AUDIT_ENTRY = 1 };

/* A stored value. */
typedef enum copy_class { CELL_NULL, CELL_INTEGER, CELL_REAL, CELL_TEXT, CELL_BYTES } copy_class;

typedef struct copy_cell {
    copy_class class;
    int64_t integer;
    double real;
    const void *bytes; /* (size) */
    size_t size;
} copy_cell;

/* Rows of a table. Valid until the next read of the side. */
typedef struct copy_rows {
    copy_cell *cells; /* (count, columns) */
    size_t count, capacity;
} copy_rows;

typedef struct copy_side copy_side;

typedef struct copy_methods {
    void (*free)(copy_side *self); /* what was not kept is gone */

    /* From here on all tables but COPY_FILES are read as they are now. */
    ee_status (*snapshot)(copy_side *self, ee_error *error);
    /* Starts a table; read then gives its rows in portions, none at the end. */
    ee_status (*read_start)(copy_side *self, copy_table table, ee_error *error);
    ee_status (*read)(copy_side *self, copy_table table, copy_rows *out, ee_error *error);
    /* Whether a file that the snapshot needs is gone: the copy has to start again. */
    bool (*vanished)(const copy_side *self);
    /* Fails if the source was written to since the snapshot. */
    ee_status (*unchanged)(copy_side *self, ee_error *error);

    ee_status (*write)(copy_side *self, copy_table table, const copy_rows *rows, ee_error *error);
    ee_status (*write_end)(copy_side *self, copy_table table, ee_error *error);
    /* Before what was written is read again. */
    ee_status (*written)(copy_side *self, ee_error *error);
    /* Makes it durable. */
    ee_status (*keep)(copy_side *self, ee_error *error);
} copy_methods;

struct copy_side {
    memory memory;
    const copy_methods *methods;
    uint64_t skipped; /* lines of the audit log that are damaged */
};

typedef struct copy_watch {
    bool (*progress)(void *context, double share);
    void *context;
} copy_watch;

/* alone: nobody may be writing to it. */
ee_status copy_folder_from(const char *folder, bool alone, copy_side **out, ee_error *error);
ee_status copy_folder_to(const char *folder, copy_side **out, ee_error *error);
/* The folder under its temporary name. */
const char *copy_folder_draft(const copy_side *self);
ee_status copy_database_from(const char *where, bool alone, copy_watch watch, copy_side **out, ee_error *error);
ee_status copy_database_to(const char *where, copy_watch watch, copy_side **out, ee_error *error);

ee_status copy_rows_add(copy_rows *rows, int columns, copy_cell **row, ee_error *error);
void copy_rows_free(copy_rows *rows);

#endif
