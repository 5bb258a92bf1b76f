#include "random.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

random_stream random_named(uint64_t seed, const char *name)
{
    /* FNV-1a of the name, then the seed mixed in: neighbouring seeds and names give unrelated streams. */
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    uint64_t mix = seed;
    mix = splitmix(&mix) ^ hash;
    random_stream stream;
    for (int i = 0; i < 4; i++) stream.state[i] = splitmix(&mix);
    return stream;
}

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t random_bits(random_stream *stream)
{
    uint64_t *s = stream->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double random_unit(random_stream *stream)
{
    return (double)(random_bits(stream) >> 11) * 0x1p-53;
}

double random_normal(random_stream *stream)
{
    /* Box-Muller. The second normal is dropped, so that the state of a stream is only its four words. */
    double u = 1.0 - random_unit(stream);
    double v = random_unit(stream);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

/* Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. */
double random_gamma(random_stream *stream, double shape)
{
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = random_normal(stream), root = 1 + c * x, v = root * root * root;
        if (root <= 0) continue;
        if (log(1 - random_unit(stream)) < 0.5 * x * x + d * (1 - v + log(v))) return d * v;
    }
}

uint64_t random_below(random_stream *stream, uint64_t bound)
{
    if (!bound) return random_bits(stream);
    /* Draws again below the remainder of 2^64 by bound: the rest divides evenly. */
    uint64_t reject = (0 - bound) % bound;
    uint64_t bits;
    do bits = random_bits(stream);
    while (bits < reject);
    return bits % bound;
}
