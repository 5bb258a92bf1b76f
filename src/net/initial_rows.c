#include "initial_rows.h"

#include <math.h>
#include <string.h>

/* A stream is stored every few rows: 8 bytes per row, and at most three rows to skip. If there are very many rows they
 * are further apart, so that rows that may never occur take little memory. */
enum { LEAST_APART = 4, MOST_STREAMS = 32768 };

/* More would take seconds to go through. */
static const uint64_t MOST_WEIGHTS = (uint64_t)1 << 32;

static double variance_of(network_init init, bool last, double fan_in, double fan_out)
{
    switch (init) {
    case INIT_PAPER:
        return last ? 1 / fan_in : 2 / fan_out;
    case INIT_UNIFORM: /* times the deviation of U(-1, 1) */
        return 1 / fan_in;
    case INIT_GLOROT:
        return 2 / (fan_in + fan_out);
    }
    return 0;
}

double initial_scale(network_init init, bool last, size_t fan_in, size_t fan_out)
{
    return sqrt(variance_of(init, last, (double)fan_in, (double)fan_out));
}

void initial_fill(float *values, size_t count, network_init init, double scale, random_stream *stream)
{
    for (size_t i = 0; i < count; i++) {
        double draw = init == INIT_UNIFORM ? 2 * random_unit(stream) - 1 : random_normal(stream);
        values[i] = (float)(scale * draw);
    }
}

/* Skips this many weights: a uniform number takes one step of the stream, a normal one two. */
static void skip(network_init init, size_t count, random_stream *stream)
{
    size_t steps = init == INIT_UNIFORM ? count : 2 * count;
    for (size_t i = 0; i < steps; i++) random_bits(stream);
}

static bool is_same(const initial_rows *self, network_init init, size_t places, size_t out, const random_stream *stream)
{
    return self->init == init && self->places == places && self->out == out &&
           memcmp(&self->before, stream, sizeof *stream) == 0;
}

ee_status initial_rows_make(const column_room *room, network_init init, size_t places, size_t out, random_stream stream,
                            const initial_rows **rows, ee_error *error)
{
    for (*rows = *room->made; *rows; *rows = (*rows)->next)
        if (is_same(*rows, init, places, out, &stream)) return EE_OK;
    initial_rows *self;
    random_stream *streams;
    size_t apart = places / MOST_STREAMS + 1;
    if (apart < LEAST_APART) apart = LEAST_APART;
    if (places > MOST_WEIGHTS / out) return status_no_memory(error, SIZE_MAX);
    ee_status status = memory_create(room->memory, &self, 1, sizeof *self, error);
    if (status) return status;
    status = memory_create(room->memory, &streams, places / apart + 1, sizeof *streams, error);
    if (status) {
        memory_free(self);
        return status;
    }
    *self = (initial_rows){
        .init = init, .places = places, .out = out, .before = stream, .apart = apart, .streams = streams};
    for (size_t place = 0; place < places; place++) {
        if (place % apart == 0) streams[place / apart] = stream;
        skip(init, out, &stream);
    }
    self->after = stream;
    self->next = *room->made;
    *room->made = self;
    *rows = self;
    return EE_OK;
}

random_stream initial_rows_stream(const initial_rows *self, size_t place)
{
    random_stream stream = self->streams[place / self->apart];
    skip(self->init, place % self->apart * self->out, &stream);
    return stream;
}

void initial_rows_draw_on(const initial_rows *self, random_stream *stream, float *row, size_t count)
{
    initial_fill(row, count, self->init, initial_scale(self->init, false, self->places, self->out), stream);
}

void initial_rows_draw(const initial_rows *self, size_t place, float *row, size_t count)
{
    random_stream stream = initial_rows_stream(self, place);
    initial_rows_draw_on(self, &stream, row, count);
}
