/* Restores a follower: from the last readable checkpoint, and then by the steps in the log. */
#ifndef EENET_RESTORING_H
#define EENET_RESTORING_H

#include "follower.h"

/* The follower of a bandit at its last checkpoint at or below event `upto` whose model can be read. If there is none,
 * or upto is 0: at the start of the log. If that was removed: before the last event up to `upto` that replaces the
 * model. EE_BAD_MODEL if there is none either. settings: in force now. *version: number of its STEP event; 0: none. */
ee_status restore_at(store_reader *log, uint32_t bandit, const bandit_settings *settings, uint64_t upto, follower **out,
                     uint64_t *version, ee_error *error);

/* The first STEP event above `after`; *number is 0 if there is none. */
ee_status restore_next_step(store_reader *log, uint32_t bandit, uint64_t after, uint64_t *number, step_body *step,
                            ee_error *error);

/* Takes all steps in the log after *version, which becomes the last one's. cancel: as in follower_step. */
ee_status restore_steps(follower *self, store_reader *log, uint32_t bandit, bool (*cancel)(void *context),
                        void *context, uint64_t *version, ee_error *error);

#endif
