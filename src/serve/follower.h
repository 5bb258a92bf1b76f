/* The model as the log makes it. A follower takes the events of one bandit in their order, and is then what any other
 * follower of the same log is, to the byte: the server's, that of a restart, and that of a replay.
 *
 *   DECISION  names and scales of its features are learned, and it is counted as tried (ee_bandit_take_record)
 *   SETTLED   its reward is learned, by the decision that waits or, where it waits no longer, by its record
 *   MODEL     another model takes the place of this one
 *   SETTINGS  the policy of models that begin anew from then on, and the mode. `apprentice`: each decision is learned
 * when it is made, 1 where the model chose the baseline, else 0. `logging`: nothing is learned
 *
 * Passed over are decisions that another model made, before or while this one took its place, decisions of another mode
 * than now, and what the library refuses.
 *
 * Events are taken in steps: all up to a number, as a STEP event says. A step's stride says how: 1, in full; k > 1,
 * when the model was behind: decisions are not counted as tried, and of the rewards, which it takes all, it trains for
 * one in k. Nothing but the events and the steps has an influence. In particular publishing has none: after each step
 * the follower has told the policy of all decisions that wait, whether somebody publishes then or not. */
#ifndef EENET_FOLLOWER_H
#define EENET_FOLLOWER_H

#include "bandit_settings.h"
#include "store.h"

typedef struct follower follower;

/* Of a bandit whose log begins with these settings: its first event, which is taken by this. */
ee_status follower_create(const bandit_settings *settings, follower **out, ee_error *error);

/* The same without what is before event `number`, a MODEL event that replaces the model: settings are those in force
 * there. */
ee_status follower_create_at(const bandit_settings *settings, uint64_t number, follower **out, ee_error *error);

/* As it was at a checkpoint. bytes (size): the model. EE_BAD_MODEL where it is not the checkpoint's. */
ee_status follower_load(const checkpoint_body *checkpoint, const bandit_settings *settings, const void *bytes,
                        size_t size, follower **out, ee_error *error);
void follower_free(follower *self);

/* Takes all events above those taken so far up to step->upto from the log. cancel, where it is not NULL, is asked now
 * and then: true stops in the midst. After a failure the follower is of no more use. */
ee_status follower_step(follower *self, store_reader *log, uint32_t bandit, const step_body *step,
                        bool (*cancel)(void *context), void *context, ee_error *error);

/* The model after the last step. Only for reading, publishing and saving. Where a step replaces it, the one before
 * lives until the next step. */
ee_bandit *follower_bandit(follower *self);
uint64_t follower_upto(const follower *self);

/* What a checkpoint keeps besides the model's bytes. Valid until the next call. format: FOLLOWER_FORMAT, or an older
 * one, to compare with what was saved then: its first eight bytes are its number. */
enum { FOLLOWER_FORMAT = 2 };
ee_status follower_state(follower *self, uint64_t format, const void **bytes, size_t *size, ee_error *error);

/* What became of the events, since the log's beginning or the last MODEL event. */
typedef struct follower_counts {
    uint64_t decisions; /* DECISION events */
    uint64_t learned;   /* rewards, of which */
    uint64_t defaulted; /* so many are the default, and */
    uint64_t by_record; /* so many were learned by their record */
    uint64_t diverged;  /* rewards that training could not take */
    uint64_t passed_over;
} follower_counts;
follower_counts follower_read_counts(const follower *self);

#endif
