#include "drawing.h"

#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "math/vector.h"

static const option rows[] = {
    OPTION_ROW_NUMBERED(drawing_options, keep, "keep", "last", "last|all|reservoir:N", 1, 1e6,
                        "parameters that decide. last: the latest; all: drawn from those of all rounds; reservoir: "
                        "drawn from those of N rounds",
                        .needs = "exploration=network and features!=lle"),
};
const option_table drawing_option_table = OPTION_TABLE(rows);

ee_status drawing_create(drawing *self, memory *owner, const drawing_options *options, size_t theta12_count,
                         size_t theta3_count, uint64_t seed, ee_error *error)
{
    *self = (drawing){.kind = (drawing_kind)options->keep.pick,
                      .stream = random_named(seed, "drawing"),
                      .theta12_count = theta12_count,
                      .theta3_count = theta3_count,
                      .limit = (size_t)options->keep.number};
    if (self->kind != DRAWING_RESERVOIR) return EE_OK;
    ee_status status = memory_create(owner, &self->latest, theta12_count + theta3_count, sizeof(float), error);
    if (!status)
        status = memory_create(owner, &self->stored_theta12, self->limit, theta12_count * sizeof(float), error);
    if (!status) status = memory_create(owner, &self->stored_theta3, self->limit, theta3_count * sizeof(float), error);
    return status;
}

/* Adds an item to a reservoir that holds self->stored items. */
static void put(drawing *self, float *items, const float *item, size_t size)
{
    size_t place = self->stored < self->limit ? self->stored : (size_t)random_below(&self->stream, self->trainings + 1);
    if (place < self->limit) memcpy(items + place * size, item, size * sizeof *item);
}

void drawing_store(drawing *self)
{
    put(self, self->stored_theta12, self->latest, self->theta12_count);
    put(self, self->stored_theta3, self->latest + self->theta12_count, self->theta3_count);
    if (self->stored < self->limit) self->stored++;
    self->trainings++;
}

void drawing_start(drawing *self, const float *theta)
{
    if (self->kind != DRAWING_RESERVOIR) return;
    memcpy(self->latest, theta, (self->theta12_count + self->theta3_count) * sizeof *theta);
    drawing_store(self);
}

size_t drawing_round(drawing *self, size_t rounds)
{
    return (size_t)random_below(&self->stream, rounds + 1);
}

void drawing_draw(drawing *self, float *theta)
{
    size_t drawn = (size_t)random_below(&self->stream, self->stored), count = self->theta12_count;
    memcpy(theta, self->stored_theta12 + drawn * count, count * sizeof *theta);
    drawn = (size_t)random_below(&self->stream, self->stored);
    memcpy(theta + count, self->stored_theta3 + drawn * self->theta3_count, self->theta3_count * sizeof *theta);
}

/* The stored parameters of a model must be finite: each may be drawn. */
static void archive_finite(float *values, size_t count, archive *a)
{
    archive_floats(a, values, count);
    if (a->reading && !a->status && !vector_is_within(values, count, FLT_MAX))
        archive_fail(a, EE_BAD_MODEL, "model: a stored parameter is not a finite number");
}

void drawing_archive(drawing *self, archive *a)
{
    archive_stream(a, &self->stream);
    if (self->kind != DRAWING_RESERVOIR) return;
    archive_finite(self->latest, self->theta12_count + self->theta3_count, a);
    archive_size(a, &self->stored, 0, self->limit, "stored parameters");
    archive_finite(self->stored_theta12, self->stored * self->theta12_count, a);
    archive_finite(self->stored_theta3, self->stored * self->theta3_count, a);
    archive_u64(a, &self->trainings);
}
