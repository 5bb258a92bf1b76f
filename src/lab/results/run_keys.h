/* What makes two runs the same: data set by name and fingerprint, policy, options, seed, rounds, delay, slots and
 * tuning. */
#ifndef EENET_RUN_KEYS_H
#define EENET_RUN_KEYS_H

#include "results.h"

/* As checksums. */
typedef struct run_keys {
    uint64_t curves; /* without the seed: equal for runs that share a file of curves */
    uint64_t run;
} run_keys;

/* options: every option with its value. */
run_keys run_keys_of_job(const run_job *job, const char *options);
run_keys run_keys_of_stored(const stored_run *run);

#endif
