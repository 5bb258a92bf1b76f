/* The input of a connection. Its buffer is borrowed from the worker while there is input. */
#include "http_inside.h"

enum { LEAST_ROOM = 16 << 10, KEPT_ROOMS = 64 };

static size_t room_size(const http_server *server)
{
    return server->options.header_bytes > LEAST_ROOM ? server->options.header_bytes : LEAST_ROOM;
}

static bool take_room(http_connection *self)
{
    http_worker *worker = self->worker;
    if (self->room) return true;
    if (!worker->free_rooms) return !memory_create(NULL, &self->room, room_size(self->server), 1, NULL);
    self->room = worker->free_rooms;
    memcpy(&worker->free_rooms, self->room, sizeof worker->free_rooms);
    worker->free_room_count--;
    return true;
}

void http_release_room(http_connection *self)
{
    http_worker *worker = self->worker;
    if (self->room && worker->free_room_count < KEPT_ROOMS) {
        memcpy(self->room, &worker->free_rooms, sizeof worker->free_rooms);
        worker->free_rooms = self->room;
        worker->free_room_count++;
    } else {
        memory_free(self->room);
    }
    self->room = NULL;
    self->start = self->end = 0;
}

void http_free_rooms(http_worker *worker)
{
    while (worker->free_rooms) {
        char *room = worker->free_rooms;
        memcpy(&worker->free_rooms, room, sizeof worker->free_rooms);
        memory_free(room);
    }
}

connection_step http_read_input(http_connection *self)
{
    if (self->start == self->end) self->start = self->end = 0;
    if (!self->is_readable) {
        if (self->start == self->end) http_release_room(self); /* idle connections keep no memory */
        return STEP_WAIT;
    }
    if (!take_room(self)) return STEP_CLOSE;
    if (self->start) memmove(self->room, self->room + self->start, self->end - self->start);
    self->end -= self->start;
    self->start = 0;
    size_t capacity = room_size(self->server) - self->end;
    ssize_t got = http_transport_read(&self->transport, self->room + self->end, capacity);
    if (got == TRANSPORT_LOST) return STEP_CLOSE;
    if (got == TRANSPORT_WAIT) {
        self->is_readable = false;
        return http_read_input(self);
    }
    if (got == 0) self->has_ended = true;
    /* A socket that gave less than asked is empty, and its next bytes are a new event; but its end may be known. */
    if ((size_t)got < capacity && !self->transport.tls && !self->has_ended) self->is_readable = false;
    if (got && !self->end && self->state == CONNECTION_READS_HEAD && !self->refusal) http_start_clock(self, 0);
    self->end += (size_t)got;
    return got ? STEP_ON : STEP_WAIT;
}
