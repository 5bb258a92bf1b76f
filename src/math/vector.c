#include "vector.h"

#include <string.h>

bool vector_is_sound(vector x, size_t dim)
{
    if (!x.indices) return x.count == dim;
    if (!x.count) return true;
    /* If indices ascend, the last is the largest. Without an early exit the loop vectorises. */
    bool ascend = true;
    for (size_t i = 1; i < x.count; i++) ascend &= x.indices[i - 1] < x.indices[i];
    return ascend && x.indices[x.count - 1] < dim;
}

bool vector_is_below(vector x, size_t dim)
{
    bool below = true;
    for (size_t i = 0; i < x.count; i++) below &= x.indices[i] < dim;
    return below;
}

static double dot_sparse_dense(vector sparse, vector dense)
{
    double sum = 0;
    for (size_t i = 0; i < sparse.count; i++) sum += (double)sparse.values[i] * dense.values[sparse.indices[i]];
    return sum;
}

double vector_dot(vector a, vector b)
{
    double sum = 0;
    if (a.indices && b.indices) {
        for (size_t i = 0, j = 0; i < a.count && j < b.count;) {
            if (a.indices[i] == b.indices[j]) sum += (double)a.values[i] * b.values[j];
            uint32_t left = a.indices[i], right = b.indices[j];
            i += left <= right;
            j += right <= left;
        }
        return sum;
    }
    if (a.indices) return dot_sparse_dense(a, b);
    if (b.indices) return dot_sparse_dense(b, a);
    for (size_t i = 0; i < a.count; i++) sum += (double)a.values[i] * b.values[i];
    return sum;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x7fffffffu; /* without the sign */
}

bool vector_is_within(const float *values, size_t count, float limit)
{
    /* Compares bits, because integer comparisons vectorise. Without the sign bit they have the order of the numbers,
     * then infinity, then NaN. */
    uint32_t most = bits_of(limit), found = 0;
    for (size_t i = 0; i < count; i++) found |= bits_of(values[i]) > most;
    return !found;
}

void vector_expand(vector a, float *out, size_t dim)
{
    if (!a.indices) {
        memcpy(out, a.values, dim * sizeof *out);
        return;
    }
    memset(out, 0, dim * sizeof *out);
    for (size_t i = 0; i < a.count; i++) out[a.indices[i]] = a.values[i];
}
