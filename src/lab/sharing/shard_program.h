/* All shards of a folder are played by one version of the program, with the same kernels: the numbers of others differ
 * in the last digits, and their runs could not be merged. Better to know it before hours than after. The first shard
 * says which, in a file among the shards:
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
