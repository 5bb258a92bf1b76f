/* The training samples of a network, each an input and its target, in the order of arrival.
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

/* A sample without its row. */
typedef struct sample_form {
    uint32_t length; /* entries */
    uint32_t sparse : 1;
    uint32_t ends_round : 1; /* the last sample of a round */
    uint32_t number : 29;    /* of all samples so far, from 0; modulo 2^29 */
    float target;
    float predicted; /* the prediction of f1: at the decision, or when it was last refreshed; 0 before */
} sample_form;

typedef struct displaced_sample {
    size_t index; /* its index */
    sample_form form;
} displaced_sample;

typedef struct history {
    history_kind kind;
    size_t limit; /* most samples kept; ring and reservoir */
    size_t dim;
    bool unordered;     /* the indices of sparse inputs may come in any order */
    size_t count;       /* samples stored */
    uint64_t seen;      /* samples so far */
    size_t newest;      /* index of the latest sample; count if it was not kept */
    size_t capacity;    /* of samples */
    slots rows;         /* (capacity) the values of each sample, followed by its indices if it is sparse */
    sample_form *forms; /* (form_capacity), at least (capacity) */
    size_t form_capacity;
    random_stream draw; /* which samples a reservoir keeps */

    /* To undo appends: the state before, and the samples that were displaced. */
    struct {
        size_t count, newest, displaced;
        uint64_t seen;
        random_stream draw;
    } marked;
    slots displaced_rows;
    displaced_sample *displaced; /* (displaced_capacity) */
    size_t displaced_capacity;
} history;

/* A sparse row of up to `nonzeros` entries, or a dense one of twice as many, is a usual row (slots.h). With grows,
 * memory doubles as samples arrive; otherwise it is reserved for `limit` samples. */
ee_status history_create(history *self, memory *owner, option_choice kind, size_t dim, size_t nonzeros, bool grows,
                         random_stream draw, ee_error *error);

/* Reserves memory for more samples with an input like x or shorter: history_append of them cannot fail. */
ee_status history_reserve(history *self, size_t more, vector x, ee_error *error);
void history_append(history *self, vector x, float target);

/* undo removes the samples appended since history_reserve; settle makes them permanent. */
void history_undo(history *self);
void history_settle(history *self);
void history_clear(history *self);

/* Marks the newest sample as the last of its round. A round may have several. */
void history_end_round(history *self);

/* HISTORY_ALL: the number of samples after this many rounds. */
size_t history_count_after(const history *self, size_t rounds);

/* Stored sample number index, 0 to count - 1. Borrowed until the next append. */
vector history_input(const history *self, size_t index);
/* Prefetches a sample that will be needed soon: a long history does not fit in the cache. */
void history_prefetch(const history *self, size_t index);
float history_target(const history *self, size_t index);
uint32_t history_number(const history *self, size_t index);

/* The prediction for a sample. Setting it for a sample that was not kept (newest == count) does nothing. */
float history_predicted(const history *self, size_t index);
void history_set_predicted(history *self, size_t index, float predicted);

void history_archive(history *self, archive *a);

#endif
