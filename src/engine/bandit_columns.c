/* The columns of a bandit's policy, and the larger policy that replaces it when they run out.
 *
 * A policy grows as if it were saved and loaded: a policy with more room is created, and reads what the old one
 * archives. So a bandit that has grown continues unchanged, like a loaded one. */
#include <string.h>

#include "bandit.h"
#include "features/features.h"

policy_arena *policy_arena_hold(policy_arena *self)
{
    atomic_fetch_add(&self->holders, 1);
    return self;
}

void policy_arena_release(policy_arena *self)
{
    if (self && atomic_fetch_sub(&self->holders, 1) == 1) memory_release(&self->memory);
}

size_t bandit_column_capacity(const ee_bandit *self, size_t count)
{
    /* In whole cache lines, so that what follows the rows of all columns stays aligned. */
    enum { LEAST = 64, STEP = 16 };
    /* With the hash of Vowpal Wabbit, names take any place. */
    if (!self->features || features_hash_as_vw(&self->features->options)) return 0;
    if (count < LEAST) count = LEAST;
    if (count > self->dim) count = self->dim;
    return (count + STEP - 1) / STEP * STEP;
}

ee_status bandit_create_policy(ee_bandit *self, const policy_class *class, const void *options, size_t capacity,
                               size_t most_parameters, policy_arena **out, ee_error *error)
{
    policy_arena *arena;
    ee_status status = memory_create_owner(&self->memory.allocator, &arena, sizeof *arena, error);
    if (status) return status;
    arena->holders = 1;
    column_room room = {capacity, &self->memory, &self->initial_rows};
    policy_setup setup = {.class = class,
                          .memory = &arena->memory,
                          .dim = self->dim,
                          .seed = self->seed,
                          .options = options,
                          .room = capacity ? &room : NULL,
                          .names = capacity ? (size_t)self->features->options.names : 0,
                          .most_parameters = most_parameters};
    status = class->create(&setup, &arena->policy, error);
    if (status)
        policy_arena_release(arena);
    else
        *out = arena;
    return status;
}

/* ---- growing ---- */

/* Copies what `from` has learned to `to`. */
static ee_status copy_learned(policy *from, policy *to, ee_error *error)
{
    const columns *stored = &from->parameters.columns;
    archive writer = archive_writer(error);
    bandit_archive_policy(from, &writer);
    if (!writer.status) {
        for (size_t i = 0; i < stored->count; i++) policy_add_column(to, stored->order[i]);
        archive reader = archive_reader(writer.bytes, writer.size, error);
        bandit_archive_policy(to, &reader);
        writer.status = reader.status;
    }
    memory_free(writer.bytes);
    to->stride = from->stride;
    to->limited = from->limited;
    to->parameters.length = from->parameters.length;
    return writer.status;
}

static ee_status grow(ee_bandit *self, size_t capacity, ee_error *error)
{
    void *options;
    policy_arena *larger = NULL;
    ee_status status = bandit_read_options(self, &options, error);
    if (status) return status;
    status = bandit_create_policy(self, self->policy->class, options, capacity, SIZE_MAX, &larger, error);
    memory_free(options);
    if (!status) status = copy_learned(self->policy, larger->policy, error);
    if (status) {
        policy_arena_release(larger);
        return status;
    }
    policy_arena_release(self->arena);
    self->arena = larger;
    self->pending.policy = self->policy = larger->policy;
    return EE_OK;
}

/* Grows by at least a quarter: memory of the square of the columns is then at most 1.6 times what it needs. */
static ee_status reserve_columns(ee_bandit *self, size_t needed, ee_error *error)
{
    size_t capacity = self->policy->parameters.columns.capacity, next = capacity + capacity / 4;
    if (needed <= capacity) return EE_OK;
    return grow(self, bandit_column_capacity(self, needed > next ? needed : next), error);
}

static bool has_column(const columns *stored, size_t place)
{
    return columns_find(stored, (uint32_t)place) < stored->capacity;
}

/* Whether an entry of x needs a column. Zeros of a sparse x do: training reads all entries. */
static bool is_missing(const columns *stored, vector x, size_t entry)
{
    return x.indices ? !has_column(stored, x.indices[entry]) : x.values[entry] != 0 && !has_column(stored, entry);
}

/* The columns needed, including those of the places of x. */
static size_t columns_needed(const columns *stored, vector x)
{
    size_t needed = stored->count;
    for (size_t i = 0; i < x.count; i++) needed += is_missing(stored, x, i);
    return needed;
}

/* The number of names that need a column: all known ones and, if x has a place beyond them (from a record that comes
 * before its names), all up to that one. */
static size_t names_needed(const ee_bandit *self, vector x)
{
    const columns *stored = &self->policy->parameters.columns;
    size_t names = features_count(self->features);
    for (size_t i = 0; i < x.count; i++) {
        size_t place = x.indices ? x.indices[i] : i;
        if (place >= names && place < stored->names && is_missing(stored, x, i)) names = place + 1;
    }
    return names;
}

/* Names in order, so that their columns are their places unless shared places came first. */
static ee_status add_names(ee_bandit *self, size_t names, ee_error *error)
{
    size_t needed = self->policy->parameters.columns.count, first = self->named_columns;
    if (first >= names) return EE_OK;
    for (size_t place = first; place < names; place++) needed += !has_column(&self->policy->parameters.columns, place);
    ee_status status = reserve_columns(self, needed > names ? needed : names, error);
    if (status) return status;
    for (size_t place = first; place < names; place++)
        if (!has_column(&self->policy->parameters.columns, place)) policy_add_column(self->policy, (uint32_t)place);
    self->named_columns = names;
    return EE_OK;
}

ee_status bandit_add_columns(ee_bandit *self, vector x, ee_error *error)
{
    if (!self->policy->parameters.columns.table) return EE_OK;
    ee_status status = add_names(self, names_needed(self, x), error);
    size_t needed = columns_needed(&self->policy->parameters.columns, x);
    if (status || needed == self->policy->parameters.columns.count) return status;
    status = reserve_columns(self, needed, error);
    for (size_t i = 0; i < x.count && !status; i++)
        if (is_missing(&self->policy->parameters.columns, x, i))
            policy_add_column(self->policy, x.indices ? x.indices[i] : (uint32_t)i);
    return status;
}

void bandit_add_round(ee_bandit *self, const ee_arms *arms)
{
    if (!self->policy->parameters.columns.table) return;
    ee_status status = EE_OK;
    for (size_t i = 0; i < arms->count && !status; i++) status = bandit_add_columns(self, vector_of_arm(arms, i), NULL);
}
