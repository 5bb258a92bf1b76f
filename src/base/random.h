/* Random streams. A stream has a name: (seed, name) determines all its draws, so the draws of one part do not change
 * those of another. The generator is xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", 2021), seeded by splitmix64. */
#ifndef EENET_RANDOM_H
#define EENET_RANDOM_H

#include <stddef.h>
#include <stdint.h>

typedef struct random_stream {
    uint64_t state[4];
} random_stream;

random_stream random_named(uint64_t seed, const char *name);
uint64_t random_bits(random_stream *stream);
double random_unit(random_stream *stream);                /* uniform in [0, 1) */
double random_normal(random_stream *stream);              /* mean 0, variance 1 */
double random_gamma(random_stream *stream, double shape); /* of scale 1; shape is finite and at least 1 */
uint64_t random_below(random_stream *stream,
                      uint64_t bound); /* uniform in 0 .. bound - 1, exactly; a bound of 0 is 2^64 */

#endif
