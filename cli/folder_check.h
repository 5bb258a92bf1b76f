/* The check of a server's folder, for the commands that run it, and their line on a terminal. */
#ifndef EENET_FOLDER_CHECK_H
#define EENET_FOLDER_CHECK_H

#include <stdio.h>

#include "command.h"
#include "serve/store/places/store_check.h"

/* A line on stderr that says how far a command is, only if that is a terminal. {0} starts it. */
typedef struct status_line {
    char drawn[80]; /* what it shows; "": nothing */
} status_line;

/* what: NULL: only the share; share: negative: not known. */
void status_line_draw(status_line *self, const char *what, double share);
void status_line_clear(status_line *self);

/* Prints each damage to `into`, with the status line taken away before it. */
typedef struct damage_report {
    status_line line;
    FILE *into;
} damage_report;

/* For check_request and its like, with a damage_report as context. */
void damage_report_found(void *context, const char *sentence);
bool damage_report_progress(void *context, const char *what, double share); /* false after Ctrl-C */

/* What to do about the damage, in a sentence. where: the folder or the database that has it. */
const char *damage_remedy(const check_result *of, const char *where);

/* Checks a folder before a command works on it: EXIT_DONE, or the exit status after the damage was printed. where: what
 * the folder is a copy of, or the folder itself. */
int folder_check(const command *self, const char *folder, const char *where);

#endif
