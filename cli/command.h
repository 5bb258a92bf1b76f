/* What a verb of the program provides, and what all of them share. */
#ifndef EENET_COMMAND_H
#define EENET_COMMAND_H

#include <stdbool.h>

#include "data/sets/environment.h"
#include "eenet.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

typedef struct flag {
    char letter;         /* '\0' where it has a name only */
    const char *name;    /* "rounds" */
    const char *value;   /* what it takes, as "ROUNDS"; NULL where it takes nothing */
    const char *meaning; /* one line */
} flag;

/* The help of a verb comes from this and nowhere else. */
typedef struct command command;
struct command {
    const char *name;
    const char *form;    /* what follows the name, in one line */
    const char *summary; /* one line */
    const char *details; /* the last part of the help; "" for none */
    const flag *flags;   /* (flag_count) */
    size_t flag_count;
    const struct option_schema *settings;                   /* a flag for each of its options besides; NULL for none */
    int (*run)(const command *self, int argc, char **argv); /* argv is what follows the command; an exit status */
};

extern const command command_run;
extern const command command_grid;
extern const command command_paper;
extern const command command_policies;
extern const command command_describe;
extern const command command_datasets;
extern const command command_inspect;
extern const command command_rounds;
extern const command command_log;
extern const command command_merge;
extern const command command_report;
extern const command command_evaluate;
extern const command command_serve;
extern const command command_keys;
extern const command command_replay;
extern const command command_explain;
extern const command command_decide;
extern const command command_backup;
extern const command command_check;
extern const command command_move;
extern const command command_bench;
extern const command command_complete;

/* The verbs, in the order of the overview; NULL past the last. */
const command *command_at(size_t index);

/* Flag number index, those of the settings after the others; false past the last. */
bool command_flag(const command *self, size_t index, flag *out);

/* Says on stderr what is wrong with the arguments; returns EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) int command_misused(const command *self, const char *format, ...);

/* Says on stderr what failed; returns EXIT_FAILED. */
__attribute__((format(printf, 2, 3))) int command_failed(const command *self, const char *format, ...);

/* Says what an error says: as misuse where a name or a value is wrong, as a failure where a file is. */
int command_refused(const command *self, const ee_error *error);

/* ---- arguments, one by one ---- */

typedef struct arguments {
    const command *owner;
    int count;
    char **argv;
    int next;        /* place in argv */
    bool only_words; /* "--" was passed */
} arguments;

enum { ARGUMENT_WORD = -1, ARGUMENT_END = -2, ARGUMENT_BAD = -3 };

arguments arguments_of(const command *owner, int argc, char **argv);

/* The place of the next flag, as command_flag has it, with *value what it takes; or ARGUMENT_WORD, with *value the
 * word; or ARGUMENT_END; or ARGUMENT_BAD, after saying why on stderr. A list, as "a,b", may be
 * given with blanks after its commas, in one word or in several. */
int arguments_next(arguments *from, const char **value);

/* Frees the lists that were given in several words: they are valid until then. */
void arguments_release(void);

/* For verbs that take flags alone: gives each to take, by its place, until one is refused. take and
 * this return an exit status, after saying on stderr what is wrong where it is not EXIT_DONE. */
typedef int take_flag(const command *owner, int got, const char *value, void *context);
int arguments_each(const command *owner, int argc, char **argv, take_flag *take, void *context);

/* For verbs that take no arguments: EXIT_DONE, or EXIT_USAGE after saying so. */
int arguments_none(const command *owner, int argc, char **argv);

/* Reads the value of a flag as a whole number. Leaves *number as it is where text is NULL: not given. */
int arguments_number(const command *owner, int got, const char *text, uint64_t low, uint64_t high, uint64_t *number);

/* The same as a number that may have a point. */
int arguments_real(const command *owner, int got, const char *text, double low, double high, double *number);

/* ---- what the verbs share besides ---- */

/* Default rounds of a run: 10000, as in the paper, or the rounds or rows of the data set if it has fewer. */
uint64_t command_usual_rounds(const dataset *data);

/* What to call a data set among all: its name, or where another has the same the text that it was opened with. */
const char *command_dataset_label(dataset *const *all, size_t count, const dataset *one);

/* Says on stderr, in a line each, what is likely a mistake in the data set; name: what to call it. */
void command_print_remarks(const command *self, const char *name, const dataset *data);

/* The names of the policies, as the library numbers them; NULL past the last. */
const char *command_policy_name(size_t index);

/* Whether a policy has the name; says so on stderr, with the nearest name, where none has. */
bool command_find_policy(const command *self, const char *name, ee_policy *policy);

/* The larger of width and the length of text. */
size_t command_wider(size_t width, const char *text);

/* Columns of a line: what COLUMNS says, or else the terminal, 60 to 120; 100 where the output is no terminal. */
size_t command_line_width(void);

/* Prints the words of text, and an end of line; where they do not fit the width, goes on in the next line, indented.
 * The first line has begun: its words start where those of the others do, or before. */
void command_print_wrapped(const char *text, size_t indent, size_t width);

#endif
