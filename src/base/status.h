/* Reports why a function failed. */
#ifndef EENET_STATUS_H
#define EENET_STATUS_H

#include "eenet.h"

/* Fills error, if there is one, and returns status: `return status_fail(error, EE_BAD_INPUT, "...", ...);` */
__attribute__((format(printf, 3, 4))) ee_status status_fail(ee_error *error, ee_status status, const char *format, ...);

/* Replaces control characters by blanks, as status_fail does in its message. */
void status_keep_in_one_line(char *text);

ee_status status_no_memory(ee_error *error, size_t bytes);

#endif
