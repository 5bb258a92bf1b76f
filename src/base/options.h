/* Option tables. A table has a row for each option of a struct: name, type, range, default, meaning. Parsing, checking,
 * printing and describing all use the table; nothing else knows a default. */
#ifndef EENET_OPTIONS_H
#define EENET_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

/* A choice is one word of a list. A word that ends in ":N" takes a whole number, such as "ring:1000". */
typedef struct option_choice {
    int pick;       /* index in the list */
    int64_t number; /* the number after the colon; 0 without one */
} option_choice;

enum { OPTION_TEXT_SIZE = 96, OPTION_PATH_SIZE = 1024 };

typedef enum option_type {
    OPTION_INTEGER, /* int64_t, low to high */
    OPTION_REAL,    /* double, low to high; or a word, which reads as NaN */
    OPTION_FLAG,    /* bool, "on" or "off" */
    OPTION_CHOICE,  /* option_choice; low to high is the range of the number */
    OPTION_TEXT,    /* option_text; its user checks it */
    OPTION_PATH     /* option_path: a longer text */
} option_type;

typedef char option_text[OPTION_TEXT_SIZE];
typedef char option_path[OPTION_PATH_SIZE];

typedef struct option {
    const char *name;
    option_type type;
    size_t offset; /* of the field in its struct */
    const char *fallback;
    double low, high;
    const char *choices; /* choice: "all|ring:N"; text: its form, for messages; real: the word, or NULL */
    const char *meaning;
    const char *needs; /* see below; NULL: nothing */
} option;

/* What an option needs in order to have an effect: comparisons of other options with values, such as
 * "decision=neural|hybrid", "front!=none", "steps>1" or "after<100". " or " binds more tightly than " and ":
 * "optimal=range and decision=neural or extra_until>0" has two parts. A name is looked up in the same group first. A
 * choice is compared by its word, without the number. Messages quote the text. */

/* The rows of a table. A field of another type does not compile. The meaning comes last and may be followed by `.needs
 * = "..."`. */
#define OPTION_ROW_INTEGER(owner, field, name_, fallback_, low_, high_, ...)                                           \
    {                                                                                                                  \
        .name = name_, .type = OPTION_INTEGER, .offset = OPTION_OFFSET(owner, field, int64_t), .fallback = fallback_,  \
        .low = low_, .high = high_, .meaning = __VA_ARGS__                                                             \
    }
#define OPTION_ROW_REAL(owner, field, name_, fallback_, low_, high_, ...)                                              \
    {                                                                                                                  \
        .name = name_, .type = OPTION_REAL, .offset = OPTION_OFFSET(owner, field, double), .fallback = fallback_,      \
        .low = low_, .high = high_, .meaning = __VA_ARGS__                                                             \
    }
/* A number, or a word that means none. */
#define OPTION_ROW_REAL_OR(owner, field, name_, fallback_, word, low_, high_, ...)                                     \
    {                                                                                                                  \
        .name = name_, .type = OPTION_REAL, .offset = OPTION_OFFSET(owner, field, double), .fallback = fallback_,      \
        .choices = word, .low = low_, .high = high_, .meaning = __VA_ARGS__                                            \
    }
#define OPTION_ROW_FLAG(owner, field, name_, fallback_, ...)                                                           \
    {                                                                                                                  \
        .name = name_, .type = OPTION_FLAG, .offset = OPTION_OFFSET(owner, field, bool), .fallback = fallback_,        \
        .meaning = __VA_ARGS__                                                                                         \
    }
#define OPTION_ROW_CHOICE(owner, field, name_, fallback_, choices_, ...)                                               \
    OPTION_ROW_NUMBERED(owner, field, name_, fallback_, choices_, 0, 0, __VA_ARGS__)
/* A choice in which some words take a number, low to high. */
#define OPTION_ROW_NUMBERED(owner, field, name_, fallback_, choices_, low_, high_, ...)                                \
    {                                                                                                                  \
        .name = name_, .type = OPTION_CHOICE, .offset = OPTION_OFFSET(owner, field, option_choice),                    \
        .fallback = fallback_, .choices = choices_, .low = low_, .high = high_, .meaning = __VA_ARGS__                 \
    }
#define OPTION_ROW_TEXT(owner, field, name_, fallback_, form, ...)                                                     \
    {                                                                                                                  \
        .name = name_, .type = OPTION_TEXT, .offset = OPTION_OFFSET(owner, field, option_text), .fallback = fallback_, \
        .choices = form, .meaning = __VA_ARGS__                                                                        \
    }
#define OPTION_ROW_PATH(owner, field, name_, fallback_, form, ...)                                                     \
    {                                                                                                                  \
        .name = name_, .type = OPTION_PATH, .offset = OPTION_OFFSET(owner, field, option_path), .fallback = fallback_, \
        .choices = form, .meaning = __VA_ARGS__                                                                        \
    }

/* The offset of a field; does not compile for a field of another type. */
#define OPTION_OFFSET(owner, field, type) _Generic(&((owner *)0)->field, type * : offsetof(owner, field))

/* Rows and their number: `static const option rows[] = {...}; const option_table x_option_table =
 * OPTION_TABLE(rows);` */
typedef struct option_table {
    const option *rows;
    size_t count;
} option_table;

#define OPTION_TABLE(rows_)                                                                                            \
    {                                                                                                                  \
        rows_, sizeof(rows_) / sizeof *(rows_)                                                                         \
    }

/* A part of a policy with its options: f1, f2 and f3 of EE-Net are three groups of the same table. */
typedef struct option_group {
    const char *prefix; /* "f1." */
    const option_table *table;
    size_t offset;        /* of the struct of the part in that of the policy */
    const char *title;    /* "f1, the exploitation network"; NULL if the schema has one group */
    const char *defaults; /* defaults that differ from the table, such as "width=20 layers=3"; NULL: none */
    const char *needs;    /* for every option of the group; NULL: nothing */
} option_group;

/* The title may be followed by `.defaults = "..."` and `.needs = "..."`. */
#define OPTION_GROUP(owner, field, type, table_, prefix_, ...)                                                         \
    {                                                                                                                  \
        .prefix = prefix_, .table = &(table_), .offset = OPTION_OFFSET(owner, field, type), .title = __VA_ARGS__       \
    }
/* A group whose rows name fields of the whole struct. */
#define OPTION_GROUP_OWN(table_, ...)                                                                                  \
    {                                                                                                                  \
        .prefix = "", .table = &(table_), .title = __VA_ARGS__                                                         \
    }

typedef struct option_schema {
    const char *owner; /* for messages: the policy's name */
    const option_group *groups;
    size_t count;
    size_t size;       /* of the whole struct */
    const char *first; /* names of the options to change first, separated by spaces; NULL: none */
} option_schema;

#define OPTION_SCHEMA(owner_, groups_, type, first_)                                                                   \
    {                                                                                                                  \
        .owner = owner_, .groups = groups_, .count = sizeof(groups_) / sizeof *(groups_), .size = sizeof(type),        \
        .first = first_                                                                                                \
    }

/* Sets every option in target, a struct of schema->size bytes, to its default. */
void options_set_defaults(const option_schema *schema, void *target);

/* Sets the options in text: "name=value", separated by commas or white space. Separators may be in double quotes, in
 * which "" is one quote: label="Best, or last". A text may contain blanks without quotes: label=Best Offer. On failure
 * target may be partly set: parse into a copy. */
ee_status options_parse(const option_schema *schema, const char *text, void *target, ee_error *error);

/* The same, but refuses an option that is given twice. For data sets and logs, which have no presets. */
ee_status options_parse_once(const option_schema *schema, const char *text, void *target, ee_error *error);

/* Sets one option. The value may contain commas and white space. On failure target is unchanged. */
ee_status options_set(const option_schema *schema, const char *name, const char *value, void *target, ee_error *error);

/* Removes every assignment to name from text. Returns the number in the last one; 0 if there is none. */
double options_remove(char *text, const char *name);

/* Call it after parsing. Refuses an option in `asked` that has no effect because its needs are not met; every other
 * option without effect gets its default. asked is a text that options_parse accepted. */
ee_status options_settle(const option_schema *schema, const char *asked, void *target, ee_error *error);

/* The comma before the first option in "PLACE,name=value,..."; NULL without options. The place, a path, may contain
 * commas. */
char *options_find(char *place);

/* Writes every option that has an effect as "name=value", separated by spaces. options_parse and options_settle turn it
 * into the same target, given the same defaults. Like snprintf, writes at most capacity bytes and returns the length of
 * the whole text. */
size_t options_format(const option_schema *schema, const void *target, char *text, size_t capacity);

/* Describes option number index with its value in target; EE_BAD_INPUT after the last. */
ee_status options_describe(const option_schema *schema, const void *target, size_t index, ee_option *description,
                           ee_error *error);

/* The name nearest to a misspelled one; NULL if none is near. names is (count). */
const char *options_nearest(const char *word, const char *const *names, size_t count);

#endif
