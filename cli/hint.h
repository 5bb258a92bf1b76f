/* What to do next, for those who see results for the first time: commands as a shell takes them. */
#ifndef EENET_HINT_H
#define EENET_HINT_H

#include <stdio.h>

/* " WORD", in quotes where a shell needs them; after "--" where it looks like a flag. */
void hint_path(FILE *stream, const char *path);

/* Says on stdout where they are, and the command that shows them as a web page. what: "results". */
void hint_report(const char *what, const char *folder);

#endif
