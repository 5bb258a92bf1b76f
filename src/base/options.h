/* Options as tables. A table names each option of a struct: its type, range, default and meaning. Parsing, checking,
 * printing and describing all come from the table; nothing else knows a default. */
#ifndef EENET_OPTIONS_H
#define EENET_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

/* A choice is one word of a list; a word that ends in ":N" takes a whole number, as "ring:1000". */
typedef struct option_choice {
    int pick;       /* place in the list */
    int64_t number; /* what follows the colon; 0 where nothing does */
} option_choice;

enum { OPTION_TEXT_SIZE = 96, OPTION_PATH_SIZE = 1024 };

typedef enum option_type {
    OPTION_INTEGER, /* int64_t, low to high */
    OPTION_REAL,    /* double, low to high; or a word, where there is one, which reads as not a number */
    OPTION_FLAG,    /* bool, "on" or "off" */
    OPTION_CHOICE,  /* option_choice; low to high is the range of the number */
    OPTION_TEXT,    /* option_text; whoever uses it checks it */
    OPTION_PATH     /* option_path: the same, longer */
} option_type;

typedef char option_text[OPTION_TEXT_SIZE];
typedef char option_path[OPTION_PATH_SIZE];

typedef struct option {
    const char *name;
    option_type type;
    size_t offset; /* of the field in its struct */
    const char *fallback;
    double low, high;
    const char *choices; /* choice: "all|ring:N"; text: the form, in words; real: the word, or NULL */
    const char *meaning;
    const char *needs; /* see below; NULL for nothing */
} option;

/* What an option needs in order to act, in words that the machine checks and messages show: comparisons of other
 * options with values, as "decision=neural|hybrid", "front!=none", "steps>1", "after<100". They are joined by " or "
 * where one of them is enough, and these by " and ": "optimal=range and decision=neural or extra_until>0" has two
 * parts. A name is that of an option of the same group, else of any. A choice is compared by its word, without the
 * number. */

/* The rows of a table. None builds over a field of another type. What stands last, the meaning, may be followed by
 * `.needs = "..."`. */
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
/* A number that may also be none, as a word says. */
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
/* A choice of which some words take a number, low to high. */
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

/* Where a field lies in its struct; nothing but a field of this type builds. */
#define OPTION_OFFSET(owner, field, type) _Generic(&((owner *)0)->field, type * : offsetof(owner, field))

/* Rows and how many: `static const option rows[] = {...}; const option_table x_option_table = OPTION_TABLE(rows);` */
typedef struct option_table {
    const option *rows;
    size_t count;
} option_table;

#define OPTION_TABLE(rows_)                                                                                            \
    {                                                                                                                  \
        rows_, sizeof(rows_) / sizeof *(rows_)                                                                         \
    }

/* A part of a policy, which brings its own options: f1, f2 and f3 of EE-Net are three groups of the same table. */
typedef struct option_group {
    const char *prefix; /* "f1." */
    const option_table *table;
    size_t offset;        /* of the part's struct in the larger one */
    const char *title;    /* "f1, the exploitation network"; NULL where there is one group alone */
    const char *defaults; /* where they differ from the table's: "width=20 layers=3"; NULL for none */
    const char *needs;    /* of every option of the group; NULL for nothing */
} option_group;

/* The title may be followed by `.defaults = "..."` and `.needs = "..."`. */
#define OPTION_GROUP(owner, field, type, table_, prefix_, ...)                                                         \
    {                                                                                                                  \
        .prefix = prefix_, .table = &(table_), .offset = OPTION_OFFSET(owner, field, type), .title = __VA_ARGS__       \
    }
/* A group whose rows name fields of the larger struct itself. */
#define OPTION_GROUP_OWN(table_, ...)                                                                                  \
    {                                                                                                                  \
        .prefix = "", .table = &(table_), .title = __VA_ARGS__                                                         \
    }

typedef struct option_schema {
    const char *owner; /* for messages: the policy's name */
    const option_group *groups;
    size_t count;
    size_t size;       /* of the larger struct */
    const char *first; /* names of the options that people change first, separated by spaces; NULL for none */
} option_schema;

#define OPTION_SCHEMA(owner_, groups_, type, first_)                                                                   \
    {                                                                                                                  \
        .owner = owner_, .groups = groups_, .count = sizeof(groups_) / sizeof *(groups_), .size = sizeof(type),        \
        .first = first_                                                                                                \
    }

/* Sets every option in target, a struct of schema->size bytes, to its default. */
void options_set_defaults(const option_schema *schema, void *target);

/* Sets the options that text names: "name=value", separated by commas or white space. In double quotes both are text,
 * and
 * "" is one quote: label="Best, or last". A text may have blanks without them: label=Best Offer. On failure target may
 * be half set: parse into a copy. */
ee_status options_parse(const option_schema *schema, const char *text, void *target, ee_error *error);

/* The same, but refuses an option that is given twice. For data sets and logs, which have no presets to override. */
ee_status options_parse_once(const option_schema *schema, const char *text, void *target, ee_error *error);

/* Sets one option. The value may have commas and white space. On failure target is as before. */
ee_status options_set(const option_schema *schema, const char *name, const char *value, void *target, ee_error *error);

/* Removes every assignment to name from text. Returns the number that the last one gives; 0 if there is none. */
double options_remove(char *text, const char *name);

/* After all is parsed: refuses an option that `asked` names and that cannot act, because what it needs is not so; every
 * other one that cannot act gets its default. asked is a text that options_parse has taken. */
ee_status options_settle(const option_schema *schema, const char *asked, void *target, ee_error *error);

/* Where the options begin in "PLACE,name=value,...": the comma before the first, since a path may have commas; NULL
 * where there are none. */
char *options_find(char *place);

/* Every option that acts as "name=value", separated by spaces: options_parse and options_settle take it and give the
 * same target, over the same defaults. Like snprintf, writes at most capacity bytes and returns the length that the
 * whole text has. */
size_t options_format(const option_schema *schema, const void *target, char *text, size_t capacity);

/* Option number index with its value in target; EE_BAD_INPUT past the last. */
ee_status options_describe(const option_schema *schema, const void *target, size_t index, ee_option *description,
                           ee_error *error);

/* The name nearest to a misspelled one, or NULL where none is near. names is (count). */
const char *options_nearest(const char *word, const char *const *names, size_t count);

#endif
