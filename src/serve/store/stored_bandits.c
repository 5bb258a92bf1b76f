/* Copies of the bandits that a store has. */
#include <string.h>

#include "store_methods.h"

void stored_bandits_free(stored_bandits *self)
{
    memory_release(&self->memory);
    *self = (stored_bandits){0};
}

static ee_status copy_text(memory *owner, json_text from, json_text *out, ee_error *error)
{
    char *bytes;
    ee_status status = memory_create(owner, &bytes, from.length + 1, 1, error);
    if (status) return status;
    memcpy(bytes, from.bytes, from.length);
    *out = (json_text){bytes, from.length};
    return EE_OK;
}

ee_status stored_bandits_add(stored_bandits *self, const stored_bandit *from, ee_error *error)
{
    stored_bandit added = *from;
    ee_status status = copy_text(&self->memory, from->name, &added.name, error);
    if (!status) status = copy_text(&self->memory, from->settings, &added.settings, error);
    if (!status)
        status = memory_grow(&self->memory, &self->bandits, &self->capacity, self->count + 1, sizeof added, error);
    if (!status) self->bandits[self->count++] = added;
    return status;
}
