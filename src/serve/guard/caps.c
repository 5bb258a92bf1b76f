#include "caps.h"

#include <math.h>

static ee_status create_counts(cap_state *self, ee_error *error)
{
    const guard_cap *of = self->of;
    self->shape = sliding_shape_of(of->most, of->per, of->each_key ? CAP_PERSON_GROUPS : CAP_GROUPS);
    size_t size = sliding_size(&self->shape);
    if (!of->each_key) return memory_create(&self->owner, &self->all, size, 1, error);
    return key_table_create(&self->owner, size, CAP_BYTES / key_table_entry_size(size), &self->persons, error);
}

ee_status cap_create(const guard_cap *of, cap_state **out, ee_error *error)
{
    cap_state *self;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->of = of;
    self->full_until = INT64_MIN;
    status = create_counts(self, error);
    if (status)
        cap_free(self);
    else
        *out = self;
    return status;
}

void cap_free(cap_state *self)
{
    if (self) memory_release(&self->owner);
}

/* Forgets a few persons whose decisions have left the span: more than one decision adds, and not so many that one
 * decision waits for them. */
static void forget_persons(cap_state *self, int64_t now)
{
    int64_t used;
    for (int i = 0; i < 8; i++) {
        void *oldest = key_table_oldest(self->persons, &used);
        if (!oldest || used > now - self->of->per) return;
        key_table_remove(self->persons, oldest);
    }
}

/* NULL: nothing is counted for this person. */
static sliding_count *find_count(const cap_state *self, cap_person person)
{
    if (self->all) return self->all;
    return person.known ? key_table_find(self->persons, person.key, 0) : NULL;
}

bool cap_reached(cap_state *self, int64_t now, cap_person person)
{
    sliding_count *count = find_count(self, person);
    if (!self->all && !person.known) return false;
    if (!count) return now < self->full_until;
    sliding_expire(count, &self->shape, now);
    return count->total >= self->of->most;
}

ee_status cap_reserve(cap_state *self, int64_t now, cap_person person, ee_error *error)
{
    void *count;
    if (self->all || !person.known) return EE_OK;
    forget_persons(self, now);
    ee_status status = key_table_take(self->persons, person.key, 0, &count, error);
    if (!status && !count) self->full_until = now + self->of->per;
    return status;
}

void cap_count(cap_state *self, int64_t now, cap_person person)
{
    sliding_count *count = find_count(self, person);
    if (!count) return;
    sliding_add(count, &self->shape, now);
    if (!self->all) key_table_touch(self->persons, count, now);
}

void cap_undo(cap_state *self, int64_t decided, int64_t now, cap_person person)
{
    sliding_count *count = find_count(self, person);
    if (count) sliding_remove(count, &self->shape, decided, now);
}

double cap_total(const cap_state *self, int64_t now)
{
    double total = 0;
    if (!self->all) return NAN;
    for (uint32_t i = 0; i < self->all->used; i++) {
        const sliding_group *group = &self->all->groups[(self->all->first + i) % self->shape.capacity];
        if (group->newest > now - self->shape.per) total += (double)group->count;
    }
    return total;
}
