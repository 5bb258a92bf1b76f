/* The layout of a state of ridge.h, for the files of the ridge. */
#ifndef EENET_RIDGE_STATE_H
#define EENET_RIDGE_STATE_H

#include "vector.h"

static inline const double *ridge_theta(const double *state, size_t dim)
{
    return state + dim * dim;
}

static inline double ridge_prior(const double *state, size_t dim)
{
    return state[dim * dim + dim];
}

/* The first feature of the block of a feature; the feature itself if it was never seen. Stored plus one, because memory
 * begins with zeros. */
static inline size_t ridge_block(const double *state, size_t dim, size_t feature)
{
    if (feature >= dim) return feature;
    double noted = state[dim * dim + dim + 1 + feature];
    return noted == 0 ? feature : (size_t)noted - 1;
}

static inline void ridge_note_block(double *state, size_t dim, size_t feature, size_t head)
{
    state[dim * dim + dim + 1 + feature] = (double)head + 1;
}

/* The number of places if features are columns; otherwise 0. */
static inline size_t ridge_places(const double *state, size_t dim)
{
    return (size_t)state[dim * dim + 2 * dim + 1];
}

static inline void ridge_note_places(double *state, size_t dim, size_t places)
{
    state[dim * dim + 2 * dim + 1] = (double)places;
}

/* The place of a feature, which orders features. */
static inline size_t ridge_place(const double *state, size_t dim, size_t feature)
{
    if (!ridge_places(state, dim)) return feature;
    return feature < dim ? (size_t)state[dim * dim + 2 * dim + 2 + feature] : feature - dim;
}

static inline void ridge_note_place(double *state, size_t dim, size_t column, size_t place)
{
    state[dim * dim + 2 * dim + 2 + column] = (double)place;
}

/* row . x; row is (dim) */
static inline double ridge_dot(const double *row, vector x)
{
    double sums[4] = {0};
    size_t i = 0;
    if (x.indices) {
        for (; i + 4 <= x.count; i += 4)
            for (size_t k = 0; k < 4; k++) sums[k] += row[x.indices[i + k]] * x.values[i + k];
        for (; i < x.count; i++) sums[0] += row[x.indices[i]] * x.values[i];
    } else {
        for (; i + 4 <= x.count; i += 4)
            for (size_t k = 0; k < 4; k++) sums[k] += row[i + k] * x.values[i + k];
        for (; i < x.count; i++) sums[0] += row[i] * x.values[i];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* The same, to the last bit, for a sparse x that may have features from dim on, where row counts as 0. */
static inline double ridge_dot_within(const double *row, size_t dim, vector x)
{
    double sums[4] = {0};
    size_t whole = x.count - x.count % 4;
    for (size_t i = 0; i < x.count; i++)
        if (x.indices[i] < dim) sums[i < whole ? i % 4 : 0] += row[x.indices[i]] * x.values[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

#endif
