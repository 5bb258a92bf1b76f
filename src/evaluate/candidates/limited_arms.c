#include "limited_arms.h"

#include <math.h>
#include <string.h>

#include "math/vector.h"

static ee_status make_room(limited_arms *self, size_t count, size_t entries, bool sparse, ee_error *error)
{
    memory *owner = &self->memory;
    ee_status status = memory_grow(owner, &self->values, &self->value_capacity, entries + 1, sizeof(float), error);
    if (!status) status = memory_grow(owner, &self->starts, &self->start_capacity, count + 1, sizeof(size_t), error);
    if (!status && sparse)
        status = memory_grow(owner, &self->indices, &self->index_capacity, entries + 1, sizeof(uint32_t), error);
    if (!status) status = memory_grow(owner, &self->ids, &self->id_capacity, count, sizeof(uint64_t), error);
    if (!status) status = memory_grow(owner, &self->boosts, &self->boost_capacity, count, sizeof(float), error);
    if (!status) status = memory_grow(owner, &self->groups, &self->group_capacity, count, sizeof(uint32_t), error);
    return status;
}

/* Arm number `to` becomes arm number `from` of all. */
static void copy_arm(limited_arms *self, const ee_arms *all, size_t from, size_t to)
{
    vector x = vector_of_arm(all, from);
    size_t at = self->starts[to];
    if (x.count) memcpy(self->values + at, x.values, x.count * sizeof *x.values);
    if (x.count && x.indices) memcpy(self->indices + at, x.indices, x.count * sizeof *x.indices);
    self->starts[to + 1] = at + x.count;
    if (all->ids) self->ids[to] = all->ids[from];
}

static ee_status copy_arms(limited_arms *self, const log_event *event, const ee_arms *all, ee_arms *out,
                           ee_error *error)
{
    size_t count = all->count, entries = 0, left = 0;
    for (size_t i = 0; i < count; i++) entries += vector_of_arm(all, i).count;
    ee_status status = make_room(self, count, entries, all->starts, error);
    if (status) return status;
    self->starts[0] = 0;
    for (size_t i = 0; i < count; i++)
        if (!log_event_excludes(event, i)) copy_arm(self, all, i, left++);
    *out = all->starts ? ee_arms_sparse(self->starts, self->indices, self->values, left, all->dim)
                       : ee_arms_dense(self->values, left, all->dim);
    out->ids = all->ids ? self->ids : NULL;
    return EE_OK;
}

ee_status limited_arms_make(limited_arms *self, const log_event *event, const ee_arms *all, ee_arms *out,
                            ee_error *error)
{
    const log_limits *limits = event->limits;
    ee_status status = copy_arms(self, event, all, out, error);
    if (status) return status;
    for (size_t i = 0, arm = 0; i < all->count; i++) {
        if (log_event_excludes(event, i)) continue;
        self->boosts[arm] = limits->boosts ? limits->boosts[i] : 0;
        self->groups[arm++] = limits->shares ? limits->shares[i] : EE_NO_GROUP;
    }
    self->limits = (ee_limits){.boosts = limits->boosts ? self->boosts : NULL,
                               .groups = limits->shares ? self->groups : NULL,
                               .low = limits->low,
                               .high = limits->high,
                               .group_count = limits->share_count};
    out->limits = &self->limits;
    return EE_OK;
}

void limited_arms_release(limited_arms *self)
{
    memory_release(&self->memory);
}

size_t limited_arms_number(const log_event *event, size_t action)
{
    size_t number = action;
    for (size_t i = 0; i < action; i++) number -= log_event_excludes(event, i);
    return number;
}

void limited_arms_spread(const log_event *event, double *pi)
{
    size_t left = 0;
    if (!event->limits || !event->limits->excluded) return;
    double other = isnan(pi[0]) ? (double)NAN : 0.0;
    for (size_t i = 0; i < event->count; i++) left += !log_event_excludes(event, i);
    for (size_t i = event->count; i-- > 0;) pi[i] = log_event_excludes(event, i) ? other : pi[--left];
}
