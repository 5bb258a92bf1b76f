/* Rows of a CSV file with a header, read one at a time from a stream. */
#ifndef EENET_LOG_ROWS_H
#define EENET_LOG_ROWS_H

#include "data/files/rows.h"
#include "data/values/text.h"
#include "log_kind.h"

typedef struct log_rows {
    byte_stream *stream; /* borrowed */
    source record;       /* the bytes of the row */
    row_reader rows;     /* rows.fields (rows.count) and rows.line are those of the row */
    char *header;        /* a copy of its bytes */
    field *columns;      /* (width) the names */
    size_t width;
    bool utf8; /* the row is */
} log_rows;

/* Reads the header. The owner frees what it holds. */
ee_status log_rows_start(memory *owner, byte_stream *stream, log_rows *out, ee_error *error);

/* The next row. Problems of the row go into the note. */
ee_status log_rows_next(log_rows *self, log_note *note, bool *found, ee_error *error);

/* Lines that were read so far. */
size_t log_rows_lines(const log_rows *self);

/* The number of the column with this name, in any case; SIZE_MAX if there is none. */
size_t log_rows_find(const log_rows *self, const char *name);

/* Adds "NAME":VALUE, the field of this column of the row, for JSON. */
void log_rows_add_member(const log_rows *self, size_t column, text *into);

/* EE_BAD_OPTION: "FILE: " and the sentence, then the names of the columns. */
__attribute__((format(printf, 3, 4))) ee_status log_rows_fail(const log_rows *self, ee_error *error, const char *format,
                                                              ...);

#endif
