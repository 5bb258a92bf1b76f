/* Reads the settled decisions of a bandit in the order of the decisions, up to the first pending one: an unbiased
 * sample for evaluations. In the order of settlement it would be biased: if the first reward settles a decision,
 * rewarded decisions are settled at once, and the others only at the end of their wait.
 *
 * The reward of a decision with metrics is computed again by the rules of the range, so a change of their weights
 * changes what the whole log says. The decision's metrics are its totals, those that are missing with the value that
 * the rules state, and the plain reward as the metric "reward" if it is not the objective. In a round they are those of
 * the first slot.
 *
 * The result equals what reading the exported line (log_export.h) gives, to the last bit, except for its position and
 * its limits, which the line does not have. In apprentice mode the reward is what the decision really earned. */
#ifndef EENET_SETTLED_READER_H
#define EENET_SETTLED_READER_H

#include "serve/settings/bandit_settings.h"
#include "serve/store/store.h"

typedef struct settled_reader settled_reader;

/* Which decisions to read. */
typedef struct log_range {
    uint64_t after; /* a cursor: read decisions after it; 0: from the start */
    int64_t from,
        until; /* microseconds since 1970: decided at or after from, and before until; INT64_MIN and INT64_MAX: all.
                  With another `until`, decisions made after the reader was created are not read */
    uint64_t limit;      /* maximum number; 0: no limit */
    learning_mode mode;  /* in force now; assumed for decisions whose SETTINGS event has been removed */
    joining_rules rules; /* by which rewards are the objective of the decisions that have metrics; {0}: of no metrics */
} log_range;

/* What a log_event does not contain. */
typedef struct settled_decision {
    uint64_t number;       /* of its event, or of the last slot's in a round: the cursor to continue after */
    uint64_t version;      /* of the model that decided */
    learning_mode mode;    /* at the decision */
    size_t choice;         /* the model's choice; in a round, this and the rest are of the first slot */
    event_outcome outcome; /* why it is settled */
    double delay; /* seconds until its first reward, or that of a slot; NaN if rewards do not settle decisions */
    const double *learned; /* (slots, or 1) in apprentice mode the rewards that the model learned; else NULL */
} settled_decision;

/* Takes over reader, also on failure. */
ee_status settled_reader_create(store_reader *reader, uint32_t bandit, const log_range *range, settled_reader **out,
                                ee_error *error);
void settled_reader_free(settled_reader *self);

/* Reads the next decision; pointers are valid until the next call. *found false: there is none now, but there may be
 * later. A round with slots is one event, once all its slots are settled. The cost does not grow with the log. */
ee_status settled_next(settled_reader *self, log_event *out, settled_decision *facts, bool *found, ee_error *error);

#endif
