/* A growing text buffer. Errors stick: after the first one nothing more is added. */
#ifndef EENET_TEXT_H
#define EENET_TEXT_H

#include <stdbool.h>

#include "base/json.h"

typedef struct text {
    memory *owner; /* of the bytes; NULL: the caller frees them with memory_free */
    char *bytes;   /* (length) and a zero; NULL while it is empty */
    size_t length, capacity;
    ee_status status;
    ee_error *error;
} text;

text text_start(ee_error *error);
__attribute__((format(printf, 2, 3))) void text_add(text *into, const char *format, ...);
void text_bytes(text *into, const char *bytes, size_t size);

/* Escapes untrusted text for HTML, inside and outside of tags; bytes that are not UTF-8 or not allowed in HTML become
 * question marks. */
void text_html(text *into, const char *string);

/* Quotes a word for a shell if necessary. */
void text_shell(text *into, const char *word);

/* A field of a CSV file (RFC 4180), quoted if necessary, without a comma after it. */
void text_csv(text *into, const char *string);

/* A string of JSON, in its quotes. */
void text_json(text *into, json_text string);

/* Copies JSON and replaces line ends by spaces; they can occur only between values. */
void text_one_line(text *into, json_text json);

/* The shortest digits that read back as the same double, or the same float. */
void text_double(text *into, double number);
void text_float(text *into, float number);
/* The same for JSON: null if it is not finite. */
void text_number(text *into, double number);

/* Writes the file and frees the bytes. Returns the first error there was. */
ee_status text_save(text *from, const char *path);

#endif
