/* Writes the rounds of a data set to a folder, so that another program can replay what our policies see, and
 * "rounds:FOLDER" deals them again (rounds_file.h has the format). */
#ifndef EENET_ROUNDS_EXPORT_H
#define EENET_ROUNDS_EXPORT_H

#include <stdbool.h>

#include "environment.h"

/* Who looks on: called after every round with how many are written; false ends it. */
typedef struct rounds_watch {
    bool (*wanted)(void *context, uint64_t written);
    void *context;
} rounds_watch;

/* Writes the first rounds of the seed. The folder is made where it is missing. Killed at any moment it leaves arrays
 * under other names alone, or all of them, and rounds.json last: what can be opened is whole. A folder that has other
 * rounds already is EE_BAD_INPUT, and stays as it is; the same rounds are written again. *finished is false, and the
 * folder as it was, where the watch ended it. watch may be NULL. */
ee_status rounds_export(const dataset *data, uint64_t seed, uint64_t rounds, const char *folder,
                        const rounds_watch *watch, bool *finished, ee_error *error);

#endif
