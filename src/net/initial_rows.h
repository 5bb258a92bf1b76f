/* The first weights of a network, and those of its first layer one row at a time.
 *
 * A network whose input has many places, of which few are met, stores a row of its first layer for those alone: its
 * columns (policy/parts/columns.h). The weights that a row begins with are the same as if all rows were there. They are
 * drawn in the order of the places, so that a row is drawn again from where the stream was before it. */
#ifndef EENET_INITIAL_ROWS_H
#define EENET_INITIAL_ROWS_H

#include <stdbool.h>

#include "base/memory.h"
#include "base/random.h"

typedef enum network_init {
    INIT_PAPER,   /* N(0, 2/m), last layer N(0, 1/m), biases 0: m is the width (the paper, section 5) */
    INIT_UNIFORM, /* U(-1/sqrt(fan in), 1/sqrt(fan in)), biases too */
    INIT_GLOROT   /* N(0, 2/(fan in + fan out)), biases 0 (Glorot, Bengio 2010) */
} network_init;

/* What a draw of U(-1, 1) or N(0, 1) is multiplied by. last: of the last layer. */
double initial_scale(network_init init, bool last, size_t fan_in, size_t fan_out);

/* values is (count). */
void initial_fill(float *values, size_t count, network_init init, double scale, random_stream *stream);

/* It never changes once it is made: many threads may draw from it. */
typedef struct initial_rows {
    network_init init;
    size_t places, out;          /* rows that there could be, and weights of each */
    random_stream before, after; /* all rows */
    size_t apart;                /* rows of two streams that are kept */
    random_stream *streams;      /* (places / apart + 1) before such a row */
    struct initial_rows *next;
} initial_rows;

/* How many columns a network stores, and the rows that were made before: they outlive the networks. */
typedef struct column_room {
    size_t capacity;
    memory *memory;
    initial_rows **made;
} column_room;

/* Finds or makes the rows that a stream gives. */
ee_status initial_rows_make(const column_room *room, network_init init, size_t places, size_t out, random_stream stream,
                            const initial_rows **rows, ee_error *error);

/* The first `count` weights of a row. */
void initial_rows_draw(const initial_rows *self, size_t place, float *row, size_t count);

/* The same in parts, one after the other: the stream before the row, and then the next weights of it. */
random_stream initial_rows_stream(const initial_rows *self, size_t place);
void initial_rows_draw_on(const initial_rows *self, random_stream *stream, float *row, size_t count);

#endif
