/* Another model takes the place of a bandit's, perhaps of another policy: a promotion, an upload, a reset.
 *
 * It is told by events of one transaction, in this order:
 *
 *   SETTINGS   policy, options and propensity of the successor, and new numbers for the tests of all challengers; not
 *              where nothing of this changes
 *   MODEL      its model, whose file was written before, or none for a new one of these settings
 *   PROMOTION  why, as JSON; not for uploads and resets
 *
 * A crash leaves all of them or none. */
#ifndef EENET_SUCCESSION_H
#define EENET_SUCCESSION_H

#include "live.h"

typedef struct succession {
    store *kept;
    journal *written;
    served_bandits *bandits;
    served_bandit *bandit;
} succession;

/* next: as the bandit's settings now, but for policy, options, propensity and challengers; the numbers of its tests are
 * given here. model (size): as the library saves it; NULL: a new one. why: members of a JSON object without its braces,
 * as "\"why\":\"asked for\""; NULL: there is no PROMOTION event. *number becomes that of the MODEL event. For the
 * worker alone: no other change of settings may come between reading them and this. */
ee_status succession_write(const succession *self, const bandit_settings *next, const void *model, size_t size,
                           const char *why, uint64_t *number, ee_error *error);

/* The same with a new model that has learned the settled decisions that the log has from a time on (microseconds since
 * 1970), in their order. */
ee_status succession_retrain(const succession *self, const bandit_settings *next, int64_t from, const char *why,
                             uint64_t *number, ee_error *error);

/* A challenger takes over, by what is known of it (live_find_standing). The former becomes a challenger, where there is
 * room. by: "auto" or whoever asked. sentence (capacity) is what an operator is told. */
ee_status succession_promote(const succession *self, const challenger_settings *challenger,
                             const live_standing *standing, const char *by, char *sentence, size_t capacity,
                             uint64_t *number, ee_error *error);

#endif
