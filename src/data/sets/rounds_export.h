/* Writes the rounds of a data set to a folder, for other programs and for "rounds:FOLDER" (format: rounds_file.h). */
#ifndef EENET_ROUNDS_EXPORT_H
#define EENET_ROUNDS_EXPORT_H

#include <stdbool.h>

#include "environment.h"

/* Progress callback: called after every round with the number written; returning false stops. */
typedef struct rounds_watch {
    bool (*wanted)(void *context, uint64_t written);
    void *context;
} rounds_watch;

/* Writes the first rounds of the seed. Creates the folder if it is missing. If the process is killed, the folder holds
 * only temporary files or all arrays, with rounds.json written last: a folder that opens is complete. EE_BAD_INPUT if
 * the folder already has other rounds, which stay; the same rounds are written again. If the callback stops it,
 * *finished is false and the folder is unchanged. watch may be NULL. */
ee_status rounds_export(const dataset *data, uint64_t seed, uint64_t rounds, const char *folder,
                        const rounds_watch *watch, bool *finished, ee_error *error);

#endif
