#include "history.h"

#include <string.h>

enum { FIRST_SAMPLES = 256 };   /* initial capacity if memory is not reserved at once */
#define NUMBER_MASK 0x1fffffffu /* the bits of a number */

static ee_status grow(history *self, size_t capacity, ee_error *error)
{
    ee_status status = slots_grow(&self->rows, capacity, error);
    if (!status)
        status =
            memory_grow(self->rows.memory, &self->forms, &self->form_capacity, capacity, sizeof *self->forms, error);
    if (!status) self->capacity = capacity;
    return status;
}

/* Doubles the capacity until this many samples fit, or all that are kept. */
static ee_status grow_to(history *self, size_t count, ee_error *error)
{
    size_t capacity = self->capacity;
    while (capacity < count && capacity < self->limit) capacity *= 2;
    if (capacity > self->limit) capacity = self->limit;
    return capacity > self->capacity ? grow(self, capacity, error) : EE_OK;
}

/* Reserves memory for the samples that this many appends may displace. */
static ee_status reserve_displaced(history *self, size_t more, ee_error *error)
{
    if (self->kind == HISTORY_ALL) return EE_OK;
    slots *rows = &self->displaced_rows;
    ee_status status = more > rows->count ? slots_grow(rows, more, error) : EE_OK;
    if (!status) status = slots_follow(rows, &self->rows, error);
    return status ? status
                  : memory_grow(self->rows.memory, &self->displaced, &self->displaced_capacity, more,
                                sizeof *self->displaced, error);
}

ee_status history_create(history *self, memory *owner, option_choice kind, size_t dim, size_t nonzeros, bool grows,
                         random_stream draw, ee_error *error)
{
    *self = (history){.kind = (history_kind)kind.pick, .limit = (size_t)kind.number, .dim = dim, .draw = draw};
    size_t most = nonzeros ? 2 * (nonzeros < dim ? nonzeros : dim) : 1;
    if (self->kind == HISTORY_ALL) self->limit = SIZE_MAX;
    size_t first = self->kind == HISTORY_ALL || grows ? FIRST_SAMPLES : self->limit;
    size_t capacity = first < self->limit ? first : self->limit;
    ee_status status = slots_create(&self->rows, owner, capacity, most, grows, error);
    if (!status) status = grow(self, capacity, error);
    if (!status && self->kind != HISTORY_ALL)
        status = slots_create(&self->displaced_rows, owner, 1, most, grows, error);
    return status ? status : reserve_displaced(self, 1, error);
}

static size_t row_words(vector x)
{
    return x.indices ? 2 * x.count : x.count;
}

void history_settle(history *self)
{
    while (self->marked.displaced) slots_free(&self->displaced_rows, --self->marked.displaced);
    self->marked.count = self->count;
    self->marked.newest = self->newest;
    self->marked.seen = self->seen;
    self->marked.draw = self->draw;
}

ee_status history_reserve(history *self, size_t more, vector x, ee_error *error)
{
    ee_status status = grow_to(self, self->count + more, error);
    if (!status) status = slots_reserve(&self->rows, more, row_words(x), error);
    if (!status) status = reserve_displaced(self, more, error);
    if (!status) history_settle(self);
    return status;
}

static size_t words_of(sample_form form)
{
    return form.length * (form.sparse ? (size_t)2 : 1);
}

/* Saves a sample that is about to be overwritten. */
static void displace(history *self, size_t index)
{
    if (self->marked.displaced == self->displaced_rows.count)
        return; /* appends beyond the reserved ones cannot be undone */
    size_t slot = self->marked.displaced++;
    self->displaced[slot] = (displaced_sample){index, self->forms[index]};
    slots_move(&self->rows, index, &self->displaced_rows, slot, words_of(self->forms[index]));
}

static void place(history *self, size_t index, vector x, float target)
{
    uint32_t *row = slots_take(&self->rows, index, row_words(x));
    if (x.count) memcpy(row, x.values, x.count * sizeof *row);
    if (x.count && x.indices) memcpy(row + x.count, x.indices, x.count * sizeof *row);
    self->forms[index] = (sample_form){.length = (uint32_t)x.count,
                                       .sparse = x.indices != NULL,
                                       .number = (uint32_t)(self->seen - 1) & NUMBER_MASK,
                                       .target = target};
    self->newest = index;
}

void history_append(history *self, vector x, float target)
{
    uint64_t number = self->seen++;
    if (self->kind == HISTORY_ALL || self->count < self->limit) {
        place(self, self->count++, x, target);
    } else if (self->kind == HISTORY_RING) {
        displace(self, (size_t)(number % self->limit));
        place(self, (size_t)(number % self->limit), x, target);
    } else {
        uint64_t chosen = random_below(&self->draw, number + 1);
        self->newest = self->count;
        if (chosen >= self->limit) return;
        displace(self, (size_t)chosen);
        place(self, (size_t)chosen, x, target);
    }
}

void history_undo(history *self)
{
    for (size_t index = self->marked.count; index < self->count; index++) slots_free(&self->rows, index);
    self->count = self->marked.count;
    self->newest = self->marked.newest;
    self->seen = self->marked.seen;
    self->draw = self->marked.draw;
    while (self->marked.displaced) { /* last first: two may have had the same index */
        size_t slot = --self->marked.displaced;
        displaced_sample sample = self->displaced[slot];
        self->forms[sample.index] = sample.form;
        slots_move(&self->displaced_rows, slot, &self->rows, sample.index, words_of(sample.form));
    }
}

void history_clear(history *self)
{
    for (size_t i = 0; i < self->count; i++) slots_free(&self->rows, i);
    self->count = 0;
    self->seen = 0;
    self->newest = 0;
}

void history_end_round(history *self)
{
    if (self->newest < self->count) self->forms[self->newest].ends_round = 1;
}

size_t history_count_after(const history *self, size_t rounds)
{
    size_t count = 0;
    while (rounds && count < self->count) rounds -= self->forms[count++].ends_round;
    return count;
}

vector history_input(const history *self, size_t index)
{
    const uint32_t *row = slots_at(&self->rows, index);
    const sample_form *form = &self->forms[index];
    const float *values = (const float *)(const void *)row;
    return (vector){values, form->sparse ? row + form->length : NULL, form->length};
}

void history_prefetch(const history *self, size_t index)
{
    enum { LINE = 16 }; /* words per cache line */
    const uint32_t *row = slots_at(&self->rows, index);
    size_t words = row_words(history_input(self, index));
    for (size_t i = 0; i < words; i += LINE) __builtin_prefetch(row + i, 0, 3);
}

float history_target(const history *self, size_t index)
{
    return self->forms[index].target;
}

uint32_t history_number(const history *self, size_t index)
{
    return self->forms[index].number;
}

float history_predicted(const history *self, size_t index)
{
    return self->forms[index].predicted;
}

void history_set_predicted(history *self, size_t index, float predicted)
{
    if (index < self->count) self->forms[index].predicted = predicted;
}

/* ---- saving and loading ---- */

static bool is_sound(const history *self, vector x)
{
    return self->unordered && x.indices ? vector_is_below(x, self->dim) : vector_is_sound(x, self->dim);
}

static void archive_row(history *self, size_t index, archive *a)
{
    sample_form *form = &self->forms[index];
    uint32_t flags = form->sparse | (uint32_t)form->ends_round << 1 | (uint32_t)form->number << 2;
    archive_u32s(a, &form->length, 1);
    archive_u32s(a, &flags, 1);
    archive_floats(a, &form->target, 1);
    archive_floats(a, &form->predicted, 1);
    form->sparse = flags & 1;
    form->ends_round = flags >> 1 & 1;
    form->number = flags >> 2 & NUMBER_MASK;
    size_t words = words_of(*form);
    if (a->reading && words > archive_remaining(a) / sizeof(uint32_t))
        archive_fail(a, EE_BAD_MODEL, "model: truncated in a history");
    if (a->reading && !a->status) a->status = slots_reserve(&self->rows, 1, words, a->error);
    if (a->status) return;
    archive_u32s(a, a->reading ? slots_take(&self->rows, index, words) : slots_at(&self->rows, index), words);
    if (a->reading && !is_sound(self, history_input(self, index)))
        archive_fail(a, EE_BAD_MODEL, "model: invalid length or indices of a sample");
}

void history_archive(history *self, archive *a)
{
    enum { ROW_HEAD = 16 }; /* bytes of every row */
    size_t count = self->count, most = self->limit;
    if (a->reading && most > archive_remaining(a) / ROW_HEAD) most = archive_remaining(a) / ROW_HEAD;
    archive_size(a, &count, 0, most, "samples of a history");
    archive_u64(a, &self->seen);
    archive_stream(a, &self->draw);
    archive_size(a, &self->newest, 0, count, "newest sample");
    if (!a->status) a->status = grow_to(self, count, a->error);
    if (a->reading) self->count = a->status ? 0 : count;
    for (size_t i = 0; i < self->count && !a->status; i++) archive_row(self, i, a);
}
