/* Options as tables. A table names each option of a struct: its type, range, default and meaning. Parsing, checking,
 * printing and describing all come from the table; nothing else knows a default. */
#ifndef EENET_OPTIONS_H
#define EENET_OPTIONS_H

#include <stdbool.h>

#include "status.h"

/* A choice is one word of a list; a word that ends in ":N" takes a whole number, as "ring:1000". */
typedef struct option_choice {
    int pick;       /* place in the list */
    int64_t number; /* what follows the colon; 0 where nothing does */
} option_choice;

enum { OPTION_TEXT_SIZE = 96 };

typedef enum option_type {
    OPTION_INTEGER, /* int64_t, low to high */
    OPTION_REAL,    /* double, low to high */
    OPTION_FLAG,    /* bool, "on" or "off" */
    OPTION_CHOICE,  /* option_choice; low to high is the range of the number */
    OPTION_TEXT     /* char[OPTION_TEXT_SIZE]; whoever uses it checks it */
} option_type;

typedef struct option {
    const char *name;
    option_type type;
    size_t offset; /* of the field in its struct */
    const char *fallback;
    double low, high;
    const char *choices; /* choice: "all|ring:N"; text: the form, in words */
    const char *meaning;
} option;

/* A struct of options inside a larger one: f1, f2 and f3 of EE-Net are three groups of the same table. */
typedef struct option_group {
    const char *prefix; /* "f1." */
    const option *options;
    size_t count;
    size_t offset;        /* of the struct in the larger one */
    const char *defaults; /* where they differ from the table's: "width=20 layers=3"; NULL for none */
} option_group;

typedef struct option_schema {
    const char *owner; /* for messages: the policy's name */
    const option_group *groups;
    size_t count;
    size_t size; /* of the larger struct */
} option_schema;

/* Sets every option in target, a struct of schema->size bytes, to its default. */
void options_set_defaults(const option_schema *schema, void *target);

/* Sets the options that text names: "name=value", separated by commas or white space. On failure target may be half
 * set: parse into a copy. */
ee_status options_parse(const option_schema *schema, const char *text, void *target, ee_error *error);

/* Every option as "name=value", separated by spaces: options_parse reads it back to the same values. Like snprintf,
 * writes at most capacity bytes and returns the length that the whole text has. */
size_t options_format(const option_schema *schema, const void *target, char *text, size_t capacity);

/* Option number index with its value in target; EE_BAD_INPUT past the last. */
ee_status options_describe(const option_schema *schema, const void *target, size_t index, ee_option *description,
                           ee_error *error);

/* The name nearest to a misspelled one, or NULL where none is near. names is (count). */
const char *options_nearest(const char *word, const char *const *names, size_t count);

#endif
