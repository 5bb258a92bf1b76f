/* All shards of a folder are played by one version of the program, with the same kernels: the numbers of others differ
 * in the last digits, and their runs could not be merged. Better to know it before hours than after. The first shard
 * says which, in a file among the shards:
 *
 *     program  "0.1.0 avx2"
 */
#ifndef EENET_SHARD_PROGRAM_H
#define EENET_SHARD_PROGRAM_H

#include "base/status.h"

/* EE_BAD_INPUT where this program is another than that of the shards, or than all that played what the folder has
 * already. shards is the folder of the shards, and is there. */
ee_status shard_program_agree(const char *folder, const char *shards, ee_error *error);

#endif
