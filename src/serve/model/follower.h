/* Computes the model from the log. A follower processes the events of one bandit in order. All followers of the same
 * log are byte-identical: in the server, after a restart, and in a replay.
 *
 *   DECISION  names and scales of its features are learned, and it is counted as tried (ee_bandit_take_record)
 *   SETTLED   its reward is learned, from the pending decision or, if that is gone, from its record
 *   MODEL     the model is replaced
 *   SETTINGS  the policy of later resets, whether the bandit is held (then nothing is learned), and the mode.
 * `apprentice`: each decision is learned when it is made, with 1 if the model chose the baseline, else 0. `logging`:
 * nothing is learned
 *
 * Skipped are decisions of another model, decisions of another mode, and what the library refuses.
 *
 * Events are processed in steps, each up to the number in its STEP event. The stride of a step is 1 for full training.
 * It is k > 1 if the model was behind: then decisions are not counted as tried, and the model trains on one reward in
 * k, although it takes all of them. The result depends on events and steps only. In particular it does not depend on
 * publishing: after each step the policy knows all pending decisions, whether or not the model is published. */
#ifndef EENET_FOLLOWER_H
#define EENET_FOLLOWER_H

#include "serve/settings/bandit_settings.h"
#include "serve/store/store.h"

typedef struct follower follower;

/* For a bandit whose log begins with these settings; its first event, SETTINGS, counts as processed. */
ee_status follower_create(const bandit_settings *settings, follower **out, ee_error *error);

/* The same from event `number`, a MODEL event that replaces the model; settings: in force there. */
ee_status follower_create_at(const bandit_settings *settings, uint64_t number, follower **out, ee_error *error);

/* The state at a checkpoint. bytes (size): the model. EE_BAD_MODEL if it does not belong to the checkpoint. */
ee_status follower_load(const checkpoint_body *checkpoint, const bandit_settings *settings, const void *bytes,
                        size_t size, follower **out, ee_error *error);
void follower_free(follower *self);

/* Processes the events of the log that follow, up to step->upto. cancel (may be NULL) is called between events; if it
 * returns true, the step fails. After a failure the follower can only be freed. */
ee_status follower_step(follower *self, store_reader *log, uint32_t bandit, const step_body *step,
                        bool (*cancel)(void *context), void *context, ee_error *error);

/* Processes at least one event, up to step->upto at most, until is_over, called between events, returns true.
 * step->upto becomes the number of the last event: follower_step with it has the same result. If the log cannot be read
 * any further, the step ends there. If it cannot be read at all (EE_FILE_ERROR), and step->upto is what it was before,
 * the follower is unchanged. */
ee_status follower_advance(follower *self, store_reader *log, uint32_t bandit, step_body *step,
                           bool (*is_over)(void *context), void *context, ee_error *error);

/* The model after the last step. Only for reading, publishing and saving. If a step replaces it, the previous one lives
 * until the next step. */
ee_bandit *follower_bandit(follower *self);
uint64_t follower_upto(const follower *self);
/* The wall time of the next event that it learns from. false: it has not been read yet. */
bool follower_next_time(const follower *self, int64_t *time);
/* Bytes, including the model. */
size_t follower_memory(const follower *self);

/* What a checkpoint stores besides the model. Valid until the next call. format: FOLLOWER_FORMAT, or an older
 * one, to compare with what was saved then: its first eight bytes are its number. */
enum { FOLLOWER_FORMAT = 2 };
ee_status follower_state(follower *self, uint64_t format, const void **bytes, size_t *size, ee_error *error);

/* Counts of events since the start of the log or the last MODEL event. */
typedef struct follower_counts {
    uint64_t decisions; /* DECISION events */
    uint64_t learned;   /* rewards, of which */
    uint64_t defaulted; /* learned with the default reward */
    uint64_t by_record; /* learned from their record */
    uint64_t diverged;  /* rewards that would have made training diverge */
    uint64_t skipped;
} follower_counts;
follower_counts follower_read_counts(const follower *self);

#endif
