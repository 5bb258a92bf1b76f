/* A locale where a comma is the decimal point, which the host program may have set. */
#ifndef EENET_TEST_SUPPORT_LOCALE_H
#define EENET_TEST_SUPPORT_LOCALE_H

#include <stdbool.h>

/* folder ends in XXXXXX, as mkdtemp wants it. False where the C library does not take the locale; leave it all the
 * same. */
bool comma_locale_enter(char *folder);
void comma_locale_leave(const char *folder);

#endif
