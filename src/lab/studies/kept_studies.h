/* Studies that are done, kept in a folder as coverage.jsonl, one line of JSON each (data/files/line_file.h). A line
 * begins with what was asked and goes on with the numbers that were found:
 *
 *     {"dataset":"synthetic:clicks","fingerprint":"0123456789abcdef","version":"0.1.0","kernels":"neon","seed":0,...,
 *      "behaviour_value":0.05,...}
 *
 * A study is the same as a kept one where what was asked is the same to the byte. Numbers read back to the same double;
 * null is one that is not known. */
#ifndef EENET_KEPT_STUDIES_H
#define EENET_KEPT_STUDIES_H

#include "data/files/line_file.h"
#include "data/sets/environment.h"
#include "data/values/text.h"

typedef struct kept_line {
    char *bytes;
    size_t length, number; /* number: in the file, from 1 */
} kept_line;

typedef struct kept_studies { /* it stays where it was opened */
    memory owner;
    line_file file;
    json_room room;
    kept_line *lines; /* (count) */
    size_t count, capacity;
} kept_studies;

/* Reads the folder, which is made where it is missing, and holds it until it is closed. EE_BAD_INPUT names the line
 * that is no JSON. Where folder is NULL, what is kept is forgotten at the end. To be closed, on failure too. */
ee_status kept_studies_open(const char *folder, kept_studies *out, ee_error *error);
void kept_studies_close(kept_studies *self);

/* How what was asked begins; the caller adds members, with a comma after each. */
text kept_asked(const dataset *data, uint64_t seed, ee_error *error);

/* A member, a number, as it is read back. */
void kept_add(text *into, const char *name, double value);

/* The whole line, newline included: it is on the disk when this returns. */
ee_status kept_studies_append(kept_studies *self, const text *line, ee_error *error);

/* The numbers of one line, in the order in which they were written. The first error stays: after it every number is
 * NaN. */
typedef struct kept_reader {
    const kept_line *line; /* NULL where none is kept */
    const char *path;      /* of the file */
    json_reader json;
    size_t asked; /* bytes of the line that say what was asked */
    ee_status status;
    ee_error *error;
} kept_reader;

/* Valid until the next append. */
kept_reader kept_studies_find(kept_studies *self, const text *asked, ee_error *error);
double kept_number(kept_reader *from, const char *name);

#endif
