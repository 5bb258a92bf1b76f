/* Names from files on a terminal. */
#ifndef EENET_SHOWN_NAME_H
#define EENET_SHOWN_NAME_H

#include "base/json.h"

enum { SHOWN_NAME_MOST = 40, SHOWN_NAME_SIZE = 4 * SHOWN_NAME_MOST + 1 }; /* characters; bytes */

/* What a terminal shows of it: so many characters, of which those that would move the cursor become question marks.
 * Returns the characters. */
size_t show_name(json_text name, char shown[SHOWN_NAME_SIZE]);

/* Prints it, and blanks up to the width. */
void print_name(json_text name, size_t width);

#endif
