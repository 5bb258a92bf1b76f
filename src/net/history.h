/* What a network trains on: samples of an input and its target, in the order in which they came.
 *
 *   HISTORY_ALL        grows without bound
 *   HISTORY_RING       the last `limit` samples
 *   HISTORY_RESERVOIR  a uniform sample of `limit` of all that came (Vitter's algorithm R, 1985)
 */
#ifndef EENET_HISTORY_H
#define EENET_HISTORY_H

#include "base/archive.h"
#include "base/options.h"
#include "base/slots.h"
#include "math/vector.h"

typedef enum history_kind { HISTORY_ALL, HISTORY_RING, HISTORY_RESERVOIR } history_kind;

/* What is known of a sample beside its row. */
typedef struct sample_form {
    uint32_t length; /* entries */
    uint32_t sparse : 1;
    uint32_t ends_round : 1; /* the last sample of a round */
    uint32_t number : 29;    /* of all that ever came, from 0 on; after 2^29 it begins anew */
    float target;
    float predicted; /* what f1 predicted for it: at the decision, or when that was last refreshed; 0 before */
} sample_form;

typedef struct displaced_sample {
    size_t index; /* where it was */
    sample_form form;
} displaced_sample;

typedef struct history {
    history_kind kind;
    size_t limit; /* samples kept at most; ring and reservoir */
    size_t dim;
    bool unordered;     /* the indices of sparse inputs come in any order */
    size_t count;       /* samples held */
    uint64_t seen;      /* samples that ever came */
    size_t newest;      /* place of the last one that came; count where it was not kept */
    size_t capacity;    /* samples that there is room for */
    slots rows;         /* (capacity) of each sample its values, and behind them the indices where it is sparse */
    sample_form *forms; /* (form_capacity), at least (capacity) */
    size_t form_capacity;
    random_stream draw; /* which samples a reservoir keeps */

    /* To take appends back: how it was, and the samples that they displaced. */
    struct {
        size_t count, newest, displaced;
        uint64_t seen;
        random_stream draw;
    } marked;
    slots displaced_rows;
    displaced_sample *displaced; /* (displaced_capacity) */
    size_t displaced_capacity;
} history;

/* nonzeros: entries that a sparse row may have to be a usual one (slots.h); a dense one twice as many.
 * grows: room doubles with the samples that come, and is not reserved for `limit` of them. */
ee_status history_create(history *self, memory *owner, option_choice kind, size_t dim, size_t nonzeros, bool grows,
                         random_stream draw, ee_error *error);

/* Room for more samples, each with an input like x or shorter: after this history_append of them cannot fail. */
ee_status history_reserve(history *self, size_t more, vector x, ee_error *error);
void history_append(history *self, vector x, float target);

/* Undo takes back the samples that were appended since history_reserve; settle makes them stay. */
void history_undo(history *self);
void history_settle(history *self);
void history_clear(history *self);

/* Marks the newest sample as the last of its round. A round may have several. */
void history_end_round(history *self);

/* HISTORY_ALL: how many samples there were after so many rounds. */
size_t history_count_after(const history *self, size_t rounds);

/* Sample number index of those held, 0 to count - 1. Borrowed until the next append. */
vector history_input(const history *self, size_t index);
/* Prefetches a sample that will be needed soon: a long history fits no cache. */
void history_prefetch(const history *self, size_t index);
float history_target(const history *self, size_t index);
uint32_t history_number(const history *self, size_t index);

/* What was predicted for a sample. Setting it for one that was not kept (newest == count) does nothing. */
float history_predicted(const history *self, size_t index);
void history_set_predicted(history *self, size_t index, float predicted);

void history_archive(history *self, archive *a);

#endif
