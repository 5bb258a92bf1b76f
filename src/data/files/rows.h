/* Rows of separated fields: CSV, TSV and similar formats. A field may be in double quotes, in which a separator or a
 * line break is text and "" is one quote (RFC 4180). Lines end in \n or \r\n; blank lines are ignored. */
#ifndef EENET_ROWS_H
#define EENET_ROWS_H

#include <stdbool.h>

#include "base/memory.h"
#include "source.h"

/* A field's text, in the file's bytes; the byte after it is zero once its row has been read. */
typedef struct field {
    const char *text;
    size_t length;
} field;

typedef struct row_reader {
    memory *owner;         /* of the fields; NULL: the caller releases them */
    source *file;          /* borrowed; changed in place: quotes are removed, zeros end the fields */
    const char *separator; /* "," or "\t" or "::", detected or set; " " means any run of spaces */
    size_t position;
    size_t line;   /* of the row that was read last, from 1 */
    field *fields; /* (count) of the row that was read last; valid until the next */
    size_t count, capacity;
    size_t next_line;
} row_reader;

/* Call before reading: if the file has no \n, each \r becomes one, because some programs end lines with \r. */
void rows_fix_line_ends(source *file);

/* Starts at the first byte. separator NULL: the first of "::", tab, comma and semicolon that the first line has, else a
 * space. Semicolon comes before comma if the first lines have equally many semicolons, and commas only in numbers such
 * as 3,14. */
row_reader rows_start(source *file, const char *separator);
void rows_release(row_reader *rows);

/* The next row; *found is false after the last. EE_BAD_INPUT, with the line, if a quote is not closed or a field has a
 * zero byte (UTF-16). */
ee_status rows_next(row_reader *rows, bool *found, ee_error *error);

/* EE_BAD_INPUT with "FILE, line N: " and the sentence. */
__attribute__((format(printf, 3, 4))) ee_status rows_fail(const row_reader *rows, ee_error *error, const char *format,
                                                          ...);

/* Whether the whole field, after trimming, is a finite number. */
bool field_number(const field *from, double *number);

#endif
