/* The shard of this program: from --shard, or from Slurm's environment. */
#ifndef EENET_SHARD_CLAIM_H
#define EENET_SHARD_CLAIM_H

#include "base/status.h"
#include "shard.h"

/* "3/16": number 3 of 16, from 0. EE_BAD_OPTION for anything else. */
ee_status shard_parse(const char *text, run_shard *out, ee_error *error);

/* Slurm's environment variables; NULL if not set. */
typedef struct slurm_words {
    const char *array_id, *array_count, *array_min, *array_max, *array_step; /* SLURM_ARRAY_TASK_ID and so on */
    const char *step_id, *step_tasks; /* SLURM_STEP_ID, SLURM_STEP_NUM_TASKS: srun sets them for each of its tasks */
    const char *process;              /* SLURM_PROCID */
} slurm_words;

/* Each task of an array is a shard, each task of an srun step, and with both each task of each step. count is 1 without
 * Slurm or with one task. An array with uneven gaps, such as 1,5,9, is EE_BAD_OPTION: its task number does not
 * determine the shard. */
ee_status shard_of_slurm(const slurm_words *words, run_shard *out, ee_error *error);

#endif
