#include "columns.h"

ee_status columns_create(columns *self, memory *owner, size_t places, size_t names, size_t capacity, ee_error *error)
{
    *self = (columns){.places = places, .names = names, .capacity = capacity};
    ee_status status = memory_create(owner, &self->table, columns_table_count(self), sizeof *self->table, error);
    return status ? status : memory_create(owner, &self->order, capacity, sizeof *self->order, error);
}

void columns_add(columns *self, uint32_t place)
{
    size_t at = place < self->names ? place : columns_named(self) + place - self->names;
    self->order[self->count++] = place;
    self->table[at] = (uint32_t)self->count;
}
