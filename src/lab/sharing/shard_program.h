/* All shards of a folder must use one version of the program and the same kernels; otherwise the last digits differ and
 * they cannot be merged. The first shard records both in a file, so that others fail before they run for hours:
 *
 *     program  "0.1.0 avx2"
 */
#ifndef EENET_SHARD_PROGRAM_H
#define EENET_SHARD_PROGRAM_H

#include "base/status.h"

/* EE_BAD_INPUT if this program differs from the one of the shards, or from all that wrote the runs in the folder.
 * shards is the folder of the shards, which must exist. */
ee_status shard_program_agree(const char *folder, const char *shards, ee_error *error);

#endif
