/* Which parameters decide. Algorithm 1 draws them uniformly from those of all rounds so far, 0 to t: (theta1, theta2)
 * together, theta3 separately.
 *
 *   DRAWING_LAST       no draw: the latest
 *   DRAWING_ALL        a round is drawn, and descent from theta_0 on the samples of that many rounds computes its
 *                      parameters: nothing is stored, and every draw equals that from stored parameters
 *   DRAWING_RESERVOIR  a uniform sample of N of all trained parameters is stored (Vitter's algorithm R), and one of
 *                      those is drawn; training continues from the latest */
#ifndef EENET_DRAWING_H
#define EENET_DRAWING_H

#include "base/archive.h"
#include "base/memory.h"
#include "base/options.h"

typedef enum drawing_kind { DRAWING_LAST, DRAWING_ALL, DRAWING_RESERVOIR } drawing_kind;

typedef struct drawing_options {
    option_choice keep;
} drawing_options;

extern const option_table drawing_option_table;

typedef struct drawing {
    drawing_kind kind;
    random_stream stream;

    /* DRAWING_RESERVOIR: the parameters are (theta1, theta2), theta12_count floats, then theta3. */
    size_t theta12_count, theta3_count, limit;
    float *latest;         /* training continues from these */
    float *stored_theta12; /* (limit, theta12_count) */
    float *stored_theta3;  /* (limit, theta3_count) */
    size_t stored;         /* number of each */
    uint64_t trainings;
} drawing;

ee_status drawing_create(drawing *self, memory *owner, const drawing_options *options, size_t theta12_count,
                         size_t theta3_count, uint64_t seed, ee_error *error);

/* theta is (theta1, theta2, theta3) at theta_0, the first parameters that may be drawn. */
void drawing_start(drawing *self, const float *theta);

/* DRAWING_ALL: draws a round, 0 to rounds. */
size_t drawing_round(drawing *self, size_t rounds);

/* DRAWING_RESERVOIR: store adds the latest parameters; draw sets theta to a draw from those stored. */
void drawing_store(drawing *self);
void drawing_draw(drawing *self, float *theta);

void drawing_archive(drawing *self, archive *a);

#endif
