#include "machine.h"

#include <string.h>

#include "base/memory.h"
#include "measure.h"
#include "peak.h"

/* In the first cache of any machine, in the second of most, in the third, in none. */
static const size_t spans[MACHINE_LEVELS] = {24u << 10, 384u << 10, 6u << 20, 192u << 20};

enum { TRIALS = 15 };

/* The most that any trial reached: what holds it up is somebody else. */
static double measure_flops(const peak_table *loops)
{
    double best = 0;
    float out = 1e-3f;
    for (int trial = 0; trial < TRIALS; trial++) {
        stretch start = measure_start();
        double done = loops->multiply_add(100000, &out);
        double rate = done / measure_since(start).wall;
        if (rate > best) best = rate;
    }
    return best;
}

/* Whichever of reading and writing goes faster. room is (span) bytes, in three arrays for the writing. */
static double measure_rate(const peak_table *loops, float *room, size_t span)
{
    double best = 0;
    size_t count = span / sizeof(float), third = count / 3, passes = ((size_t)16 << 20) / span + 1;
    for (int trial = 0; trial < TRIALS; trial++) {
        stretch start = measure_start();
        float sum = 0;
        for (size_t pass = 0; pass < passes; pass++) sum += loops->read(room, count);
        double read = (double)(passes * span) / measure_since(start).wall;
        room[0] = 1e-30f * sum;
        start = measure_start();
        for (size_t pass = 0; pass < passes; pass++) loops->write(room, room + third, room + 2 * third, third);
        double written = (double)(passes * span) / measure_since(start).wall;
        if (read > best) best = read;
        if (written > best) best = written;
    }
    return best;
}

ee_status machine_measure(machine *out, ee_error *error)
{
    const peak_table *loops = peak_of(ee_kernels());
    if (!loops) return status_fail(error, EE_BAD_INPUT, "bench: no loops for the kernels %s", ee_kernels());
    float *room;
    ee_status status = memory_create(NULL, &room, spans[MACHINE_LEVELS - 1], 1, error);
    if (status) return status;
    memset(room, 0, spans[MACHINE_LEVELS - 1]); /* the system hands memory out when it is first written to */
    out->flops = measure_flops(loops);
    for (size_t i = 0; i < MACHINE_LEVELS; i++) {
        out->spans[i] = spans[i];
        out->rates[i] = measure_rate(loops, room, spans[i]);
    }
    memory_free(room);
    return EE_OK;
}

double machine_rate(const machine *self, double span)
{
    size_t level = 0;
    while (level + 1 < MACHINE_LEVELS && (double)self->spans[level] < span) level++;
    return self->rates[level];
}

double machine_floor(const machine *self, const work *needed)
{
    double computed = needed->flops / self->flops;
    double moved = needed->bytes / machine_rate(self, needed->span);
    return computed > moved ? computed : moved;
}
