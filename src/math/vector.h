/* A vector for the kernels: dense, or sparse as ascending indices with their values. */
#ifndef EENET_VECTOR_H
#define EENET_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eenet.h"

typedef struct vector {
    const float *values;     /* (count) */
    const uint32_t *indices; /* (count); NULL: dense */
    size_t count;            /* dense: the dimension; sparse: the entries */
} vector;

static inline vector vector_dense(const float *values, size_t count)
{
    return (vector){values, NULL, count};
}

static inline vector vector_of_arm(const ee_arms *arms, size_t arm)
{
    static const uint32_t no_indices[1] = {0}; /* sparse arms without entries need no arrays */
    if (!arms->starts) return vector_dense(arms->values + arm * arms->dim, arms->dim);
    if (!arms->indices || !arms->values) return (vector){NULL, no_indices, 0};
    size_t start = arms->starts[arm];
    return (vector){arms->values + start, arms->indices + start, arms->starts[arm + 1] - start};
}

/* The identity of an arm, the same in every round; `known` is false if the arms have no ids. */
typedef struct arm_id {
    uint64_t value;
    bool known;
} arm_id;

static inline arm_id arm_id_of(const ee_arms *arms, size_t arm)
{
    return arms->ids ? (arm_id){arms->ids[arm], true} : (arm_id){0, false};
}

/* The number of indices after those of a sparse arm: of the arms after it. */
static inline size_t vector_indices_behind(const ee_arms *arms, size_t arm)
{
    return arms->indices && arms->values ? arms->starts[arms->count] - arms->starts[arm + 1] : 0;
}

/* Whether x is a vector of this dimension: dense with as many entries, or sparse with ascending indices below it. */
bool vector_is_sound(vector x, size_t dim);

/* Whether the indices of a sparse vector, in any order, are below dim. */
bool vector_is_below(vector x, size_t dim);

double vector_dot(vector a, vector b);

/* Whether every entry is within -limit to limit. False if one is NaN. values is (count). */
bool vector_is_within(const float *values, size_t count, float limit);

/* out = the vector as (dim) floats */
void vector_expand(vector a, float *out, size_t dim);

#endif
