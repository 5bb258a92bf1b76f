/* Tables as classification problems (classes.h): CSV, TSV and similar formats, and libsvm's format. */
#ifndef EENET_TABLE_H
#define EENET_TABLE_H

#include "categories.h"
#include "classes.h"
#include "missing_words.h"
#include "row_encoding.h"

enum { ORDER_RANDOM, ORDER_FILE };
enum { DECIMAL_POINT, DECIMAL_COMMA };

typedef struct table_options {
    char label[OPTION_TEXT_SIZE];
    char categorical[OPTION_TEXT_SIZE];
    char numeric[OPTION_TEXT_SIZE];
    char ignore[OPTION_TEXT_SIZE];
    option_text missing;
    option_choice header;
    option_choice normalize;
    bool constant;
    option_choice order;
    option_choice decimal;
} table_options;

/* A table in memory. The texts of the cells are borrowed. */
struct table_cells {
    cell *cells;       /* (height, width) the first row has the names of the columns */
    const char *codes; /* (width) 1: a column whose numbers are codes, unless the options say otherwise */
    size_t height, width;
    uint64_t fingerprint;
};

/* Parses the decompressed bytes of a file and changes them. options is their text. Describes the table in seen. Close
 * *out with classes_close; its fingerprint is not set. */
ee_status table_parse(source *file, const char *options, survey *seen, classes_dataset **out, ee_error *error);

/* Whether the first line, comments aside, is of libsvm's format: a label, perhaps qid:N, then at least one index:value.
 */
bool libsvm_recognize(const source *file);

/* The same as table_parse, for a file in libsvm's format. */
ee_status libsvm_parse(source *file, const table_options *options, survey *seen, classes_dataset **out,
                       ee_error *error);

#endif
