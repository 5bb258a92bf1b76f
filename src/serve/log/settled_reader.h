/* Reads the settled decisions of a bandit in the order of the decisions, up to the first pending one: an unbiased
 * sample for evaluations. In the order of settlement it would be biased: if the first reward settles a decision,
 * rewarded decisions are settled at once, and the others only at the end of their wait.
 *
 * The result equals what reading the exported line (log_export.h) gives, to the last bit, except for its position. In
 * apprentice mode the reward is what the decision really earned. */
#ifndef EENET_SETTLED_READER_H
#define EENET_SETTLED_READER_H

#include "serve/settings/bandit_settings.h"
#include "serve/store/store.h"

typedef struct settled_reader settled_reader;

/* Which of them. */
typedef struct log_range {
    uint64_t after;      /* a cursor: what was decided after it; 0: from the beginning */
    int64_t from, until; /* microseconds since 1970: decided at or after, and before; INT64_MIN and INT64_MAX: all. With
                            another `until`, decisions that are made after the reader is are not read */
    uint64_t limit;      /* at most; 0: any number */
    learning_mode mode;  /* in force now; assumed for decisions whose SETTINGS event has been removed */
} log_range;

/* What the event of a log does not say. */
typedef struct settled_decision {
    uint64_t number;       /* of its event; in a round of slots, of the last slot's: the cursor to go on after */
    uint64_t version;      /* of the model that decided */
    learning_mode mode;    /* in which it was made */
    size_t choice;         /* the model's choice; in a round of slots, of the first, as all that follows */
    event_outcome outcome; /* why it is settled */
    const double *learned; /* (slots, or 1) the rewards that the model learned, where they are not the event's: in
                              apprentice mode; else NULL */
} settled_decision;

/* reader is this one's from now on, also where this fails. */
ee_status settled_reader_create(store_reader *reader, uint32_t bandit, const log_range *range, settled_reader **out,
                                ee_error *error);
void settled_reader_free(settled_reader *self);

/* The next one; pointers are valid until the next call. *found false: there is none now, and later there may be. A
 * round of slots is one event, once all its slots are settled. Looks at few rows, however long the log is. */
ee_status settled_next(settled_reader *self, log_event *out, settled_decision *facts, bool *found, ee_error *error);

#endif
