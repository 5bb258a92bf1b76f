/* Names from files on a terminal. */
#ifndef EENET_SHOWN_NAME_H
#define EENET_SHOWN_NAME_H

#include "base/json.h"

enum { SHOWN_NAME_MOST = 40, SHOWN_NAME_SIZE = 4 * SHOWN_NAME_MOST + 1 }; /* characters; bytes */

/* The name for a terminal, at most SHOWN_NAME_MOST characters; control characters become question marks. Returns the
 * number of characters. */
size_t show_name(json_text name, char shown[SHOWN_NAME_SIZE]);

/* Prints it, and blanks up to the width. */
void print_name(json_text name, size_t width);

#endif
