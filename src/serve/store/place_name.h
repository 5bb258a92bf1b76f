/* How a place of a store, a folder or a database, is shown to people. */
#ifndef EENET_PLACE_NAME_H
#define EENET_PLACE_NAME_H

#include <stdbool.h>

/* Whether it is a database: it begins with postgresql:// or postgres://. */
bool place_is_database(const char *where);

enum { PLACE_NAME_SIZE = 300 };

/* Without its password: user, hosts, ports and database only. Cut off if it is longer than PLACE_NAME_SIZE - 1. */
void place_name(const char *where, char out[PLACE_NAME_SIZE]);

#endif
