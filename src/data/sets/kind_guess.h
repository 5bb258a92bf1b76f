/* Guesses the kind of a place given without one. */
#ifndef EENET_KIND_GUESS_H
#define EENET_KIND_GUESS_H

#include <stdbool.h>
#include <stddef.h>

/* Guesses from the files of a folder or from the name of a file: "DIR/iris.csv,label=kind" becomes
 * "table:DIR/iris.csv,label=kind". False if the place neither exists nor has the name of a data file, or if the guess
 * does not fit. */
bool kind_guess(const char *text, char *meant, size_t capacity);

#endif
