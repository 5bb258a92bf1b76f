#include "sliding_count.h"

sliding_shape sliding_shape_of(uint64_t most, int64_t per, uint32_t groups)
{
    sliding_shape shape = {.per = per, .most = most, .group = (most + groups - 1) / groups};
    shape.capacity = (uint32_t)((most + shape.group - 1) / shape.group) + (shape.group > 1);
    return shape;
}

size_t sliding_size(const sliding_shape *shape)
{
    return sizeof(sliding_count) + shape->capacity * sizeof(sliding_group);
}

static sliding_group *group_at(sliding_count *self, const sliding_shape *shape, uint32_t place)
{
    return &self->groups[(self->first + place) % shape->capacity];
}

static void drop_first(sliding_count *self, const sliding_shape *shape)
{
    self->first = (self->first + 1) % shape->capacity;
    self->used--;
}

void sliding_expire(sliding_count *self, const sliding_shape *shape, int64_t now)
{
    while (self->used && group_at(self, shape, 0)->newest <= now - shape->per) {
        self->total -= group_at(self, shape, 0)->count;
        drop_first(self, shape);
    }
}

/* Two groups become one. It leaves when the newer one would have. */
static void join_first(sliding_count *self, const sliding_shape *shape)
{
    if (self->used > 1) {
        group_at(self, shape, 1)->count += group_at(self, shape, 0)->count;
        drop_first(self, shape);
    }
}

void sliding_add(sliding_count *self, const sliding_shape *shape, int64_t now)
{
    sliding_expire(self, shape, now);
    sliding_group *last = self->used ? group_at(self, shape, self->used - 1) : NULL;
    if (last && last->count >= shape->group && self->used == shape->capacity) join_first(self, shape);
    self->total++;
    if (last && (last->count < shape->group || self->used == shape->capacity)) {
        last->count++;
        last->newest = now;
        return;
    }
    self->used++;
    *group_at(self, shape, self->used - 1) = (sliding_group){now, 1};
}

void sliding_remove(sliding_count *self, const sliding_shape *shape, int64_t added, int64_t now)
{
    uint32_t place = 0;
    if (added <= now - shape->per) return;
    /* If several groups have its time, the oldest of them: what remains then leaves too late, not too early. */
    while (place < self->used && group_at(self, shape, place)->newest < added) place++;
    if (place == self->used) return;
    self->total--;
    if (--group_at(self, shape, place)->count) return;
    for (; place + 1 < self->used; place++) *group_at(self, shape, place) = *group_at(self, shape, place + 1);
    self->used--;
}
