#include "event_batch.h"

#include <string.h>

void event_batch_clear(event_batch *self)
{
    self->count = self->size = 0;
    self->last = 0;
}

static json_text text_at(const uint8_t *bytes, size_t length)
{
    return (json_text){length ? (const char *)bytes : "", length};
}

/* Points the event to its bytes, which begin at `at`. Returns where they end. */
static uint8_t *point_to(event *self, uint8_t *at)
{
    self->id = text_at(at, self->id.length);
    at += self->id.length;
    self->reward_id = text_at(at, self->reward_id.length);
    at += self->reward_id.length;
    self->body = self->size ? at : NULL;
    return at + self->size;
}

/* Bytes may move when the batch grows. */
static ee_status make_room(event_batch *self, size_t more, ee_error *error)
{
    ee_status status = memory_grow(NULL, &self->events, &self->event_capacity, self->count + 1, sizeof(event), error);
    if (status || self->size + more < self->capacity) return status;
    status = memory_grow(NULL, &self->bytes, &self->capacity, self->size + more + 1, 1, error);
    uint8_t *at = self->bytes;
    for (size_t i = 0; !status && i < self->count; i++) at = point_to(&self->events[i], at);
    return status;
}

static void copy(uint8_t *to, const void *from, size_t size)
{
    if (size) memcpy(to, from, size);
}

ee_status event_batch_add(event_batch *self, const event *from, ee_error *error)
{
    size_t texts = from->id.length + from->reward_id.length;
    ee_status status = make_room(self, texts + from->size, error);
    if (status) return status;
    uint8_t *at = self->bytes + self->size;
    copy(at, from->id.bytes, from->id.length);
    copy(at + from->id.length, from->reward_id.bytes, from->reward_id.length);
    copy(at + texts, from->body, from->size);
    event *added = &self->events[self->count++];
    *added = *from;
    point_to(added, at);
    self->size += texts + from->size;
    return EE_OK;
}

void event_batch_free(event_batch *self)
{
    memory_free(self->events);
    memory_free(self->bytes);
    *self = (event_batch){0};
}
