/* Replaces the model of a bandit, perhaps with another policy's: a promotion, an upload or a reset.
 *
 * It is logged as events of one transaction, in this order:
 *
 *   SETTINGS   policy, options and propensity of the successor, and new numbers for the tests of all challengers; left
 *              out if nothing of this changes
 *   MODEL      its model, whose file was written before, or none for a new one of these settings
 *   PROMOTION  why, as JSON; not for uploads and resets
 *
 * A crash leaves all of them or none. */
#ifndef EENET_SUCCESSION_H
#define EENET_SUCCESSION_H

#include <stdatomic.h>

#include "live.h"

typedef struct succession {
    store *kept;
    journal *written;
    served_bandits *bandits;
    served_bandit *bandit;
} succession;

/* next: the bandit's current settings, except for policy, options, propensity, challengers and metrics; its tests are
 * numbered here. model (size): in the library's format; NULL: a new one. why: members of a JSON object without its
 * braces, such as "\"why\":\"asked for\""; NULL: no PROMOTION event. *number becomes the number of the MODEL event.
 * Only for the worker: settings must not change between reading them and this call. */
ee_status succession_write(const succession *self, const bandit_settings *next, const void *model, size_t size,
                           const char *why, uint64_t *number, ee_error *error);

/* A new model of these settings that learns the log. */
typedef struct retraining retraining;

/* Has it learn the settled decisions that the log has from a time on (microseconds since 1970), in their order, with
 * rewards by the objective of next. In any thread: it may take minutes. It fails once *cancelled is set. */
ee_status retraining_start(const succession *self, const bandit_settings *next, int64_t from,
                           const atomic_bool *cancelled, retraining **out, ee_error *error);
/* Has it learn what was settled meanwhile, and writes it as succession_write does. next: as before, except for settings
 * that no model depends on. */
ee_status retraining_write(retraining *self, const bandit_settings *next, const char *why, uint64_t *number,
                           ee_error *error);
/* NULL is allowed. */
void retraining_free(retraining *self);

/* Promotes a challenger, with the evidence of live_find_standing. The former policy becomes a challenger if there is
 * room. by: "auto", the name of the key, or "request". sentence (capacity): the reason, for the operator. */
ee_status succession_promote(const succession *self, const challenger_settings *challenger,
                             const live_standing *standing, const char *by, char *sentence, size_t capacity,
                             uint64_t *number, ee_error *error);

#endif
