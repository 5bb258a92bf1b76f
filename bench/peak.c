/* KERNELS_NAME is the name of the instruction set, as for kernels.c. */
#include "peak.h"

/* Registers of the set: their bytes, and how many sums, ROWS by COLUMNS, leave room for what is multiplied. */
#if defined(__AVX512F__)
enum { BYTES = 64, ROWS = 5, COLUMNS = 4 };
#elif defined(__AVX__)
enum { BYTES = 32, ROWS = 3, COLUMNS = 3 };
#elif defined(__aarch64__)
enum { BYTES = 16, ROWS = 5, COLUMNS = 4 };
#else
enum { BYTES = 16, ROWS = 3, COLUMNS = 3 };
#endif

enum { LANES = BYTES / sizeof(float), OPERANDS = 16 };

typedef float wide __attribute__((vector_size(BYTES)));

/* Few operands, each used in many sums, as inside a matrix product. They differ from turn to turn, or a compiler would
 * multiply them once; and all are vectors, for there are processors that take a number times a vector half as fast. All
 * loops over sums are unrolled: only then are the sums in registers. */
static double multiply_add(size_t turns, float *out)
{
    static wide columns[OPERANDS + COLUMNS], rows[OPERANDS + ROWS];
    wide sums[ROWS][COLUMNS] = {{{0}}}, all = {0};
    for (size_t i = 0; i < OPERANDS + COLUMNS; i++) columns[i] += out[0];
    for (size_t i = 0; i < OPERANDS + ROWS; i++) rows[i] += out[0];
    for (size_t turn = 0; turn < turns; turn++) {
        const wide *column = columns + turn % OPERANDS;
        const wide *row = rows + turn % OPERANDS;
#pragma GCC unroll 8
        for (size_t i = 0; i < ROWS; i++)
#pragma GCC unroll 8
            for (size_t j = 0; j < COLUMNS; j++) sums[i][j] += row[i] * column[j];
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < ROWS; i++)
#pragma GCC unroll 8
        for (size_t j = 0; j < COLUMNS; j++) all += sums[i][j];
    out[0] = 0;
    for (size_t i = 0; i < LANES; i++) out[0] += 1e-9f * all[i];
    return 2.0 * LANES * ROWS * COLUMNS * (double)turns;
}

static float read_all(const float *a, size_t n)
{
    enum { PARTS = 128 };
    float parts[PARTS] = {0}, sum = 0;
    for (size_t i = 0; i + PARTS <= n; i += PARTS)
        for (size_t j = 0; j < PARTS; j++) parts[j] += a[i + j];
    for (size_t j = 0; j < PARTS; j++) sum += parts[j];
    return sum;
}

static void write_all(float *restrict a, const float *restrict b, const float *restrict c, size_t n)
{
    for (size_t i = 0; i < n; i++) a[i] = b[i] + c[i];
}

#define NAMED(set) peak_##set
#define NAME(set) NAMED(set)
#define QUOTED(set) #set
#define QUOTE(set) QUOTED(set)

extern const peak_table NAME(KERNELS_NAME);
const peak_table NAME(KERNELS_NAME) = {QUOTE(KERNELS_NAME), multiply_add, read_all, write_all};
