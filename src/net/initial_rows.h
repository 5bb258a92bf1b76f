/* The initial weights of a network, and those of its first layer row by row.
 *
 * A network whose input has many places, of which few occur, stores rows of its first layer only for those: its columns
 * (policy/parts/columns.h). The initial weights of a row are the same as if all rows were stored. They are drawn in the
 * order of the places, so that a row can be drawn again from the state of the stream before it. */
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

/* The factor of a draw from U(-1, 1) or N(0, 1). last: for the last layer. */
double initial_scale(network_init init, bool last, size_t fan_in, size_t fan_out);

/* values is (count). */
void initial_fill(float *values, size_t count, network_init init, double scale, random_stream *stream);

/* Constant once it is made: many threads may draw from it. */
typedef struct initial_rows {
    network_init init;
    size_t places, out;          /* possible rows, and weights of each */
    random_stream before, after; /* the stream before and after all rows */
    size_t apart;                /* rows between two stored streams */
    random_stream *streams;      /* (places / apart + 1) before every apart-th row */
    struct initial_rows *next;
} initial_rows;

/* How many columns a network stores, and the rows that were made before, which outlive the networks. */
typedef struct column_room {
    size_t capacity;
    memory *memory;
    initial_rows **made;
} column_room;

/* Finds or makes the rows of a stream. */
ee_status initial_rows_make(const column_room *room, network_init init, size_t places, size_t out, random_stream stream,
                            const initial_rows **rows, ee_error *error);

/* The first `count` weights of a row. */
void initial_rows_draw(const initial_rows *self, size_t place, float *row, size_t count);

/* The same in parts: the stream before the row, then the next weights. */
random_stream initial_rows_stream(const initial_rows *self, size_t place);
void initial_rows_draw_on(const initial_rows *self, random_stream *stream, float *row, size_t count);

#endif
