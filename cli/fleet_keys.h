/* The API keys of a fleet, which are in its database: as a file, for 'eenet keys'. */
#ifndef EENET_FLEET_KEYS_H
#define EENET_FLEET_KEYS_H

#include <stdbool.h>

#include "base/status.h"

typedef struct fleet_keys {
    char *path;   /* a private file with a copy of the keys */
    char *before; /* what was copied */
} fleet_keys;

ee_status fleet_keys_open(const char *where, fleet_keys *out, ee_error *error);
/* Writes the file back if `changed`, and removes it. Fails if the database has other keys by now. */
ee_status fleet_keys_close(const char *where, fleet_keys *keys, bool changed, ee_error *error);

#endif
