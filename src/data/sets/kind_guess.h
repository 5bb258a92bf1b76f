/* Guesses the kind of a place given without one. */
#ifndef EENET_KIND_GUESS_H
#define EENET_KIND_GUESS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes what was likely meant, as "table:DIR/iris.csv,label=kind" where text is "DIR/iris.csv,label=kind": by the
 * files of a folder, and by the name of a file. False where it is neither there nor called as a data file is, or does
 * not fit. */
bool kind_guess(const char *text, char *meant, size_t capacity);

#endif
