/* A follower as it was: at the last checkpoint that can be read, and then by the steps that the log tells of. */
#ifndef EENET_RESTORING_H
#define EENET_RESTORING_H

#include "follower.h"

/* The follower of a bandit at its last checkpoint whose event is not above `upto` and whose model can be read; where
 * there is none, or with upto 0, at the log's beginning; where that is no longer kept, before the last event up to
 * `upto` that replaces the model, as a reset; EE_BAD_MODEL where there is none either. settings are those
 * in force now. *version is the number of its STEP event; 0: there was none. */
ee_status restore_at(store_reader *log, uint32_t bandit, const bandit_settings *settings, uint64_t upto, follower **out,
                     uint64_t *version, ee_error *error);

/* The first STEP event above `after`; *number is 0 where there is none. */
ee_status restore_next_step(store_reader *log, uint32_t bandit, uint64_t after, uint64_t *number, step_body *step,
                            ee_error *error);

/* Takes all steps that the log tells of after *version, which becomes the last one's. cancel as in follower_step. */
ee_status restore_steps(follower *self, store_reader *log, uint32_t bandit, bool (*cancel)(void *context),
                        void *context, uint64_t *version, ee_error *error);

#endif
