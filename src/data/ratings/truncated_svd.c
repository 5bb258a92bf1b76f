/* Block Krylov spaces with full orthogonalisation and thick restarts. Let B be A A^T, or A^T A where A has fewer
 * columns than rows. An orthonormal basis Q of a Krylov space of B grows by a block at a time; the Ritz vectors of B in
 * it, the eigenvectors of T = Q^T B Q, approach the singular vectors of that side much faster than powers of B alone
 * do. When the basis is full, the best Ritz vectors and the block that comes next are kept, and it grows again (Wu and
 * Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems", 2000). T is computed in full, not
 * taken to have the bands that theory promises, so that any vector may join the basis.
 *
 * B has the squares of the singular values, which costs half of the digits of the small ones. They come back at the
 * end: the images of the vectors on the other side of A are made orthogonal by rotations (one-sided Jacobi), and their
 * lengths are the singular values. */
#include "truncated_svd.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "math/doubles.h"
#include "math/eigen.h"

enum {
    BLOCK = 8,   /* vectors that are multiplied at once: a cache line of doubles */
    TILE = 256,  /* rows of a block that stay in the nearest cache */
    GROUP = 4,   /* vectors of the basis that share one pass over a block: their sums fit the registers */
    PROBE = 4,   /* blocks of a new Krylov space that look for what the first one missed */
    CYCLES = 500 /* restarts, after which the best that there is must do; five have been seen to be enough */
};

/* A bound on ||B u - s^2 u|| over the largest singular value times s, that is on ||A v - s u|| over the largest. */
static const double tolerance = 1e-9;

/* A new direction whose length is below this, relative to that of B, is only rounding. */
static const double noise = 1e-13;

typedef struct krylov {
    const sparse_matrix *matrix;
    sparse_matrix transposed; /* of the three below */
    size_t *starts;
    uint32_t *indices;
    float *values;
    bool wide;         /* B is A A^T */
    size_t near, far;  /* dimensions of the side that B works on and of the other */
    size_t limit;      /* vectors that the basis may have; near where it holds the whole space */
    size_t count;      /* vectors that it has */
    size_t last;       /* vectors that came with the last block */
    double scale;      /* the largest length of B q so far */
    double *basis;     /* (limit, near) and zeros up to a whole GROUP */
    double *block;     /* (near, BLOCK) the next block, orthonormal and orthogonal to the basis */
    double *image;     /* (far, BLOCK) */
    double *weights;   /* (limit up to a whole GROUP, BLOCK) products of the basis with a block */
    double *projected; /* (limit, limit) T */
    double *negated;   /* (limit, limit, and no less than BLOCK) */
    double *ritz;      /* (limit up to a whole GROUP, limit) eigenvectors of T as rows */
    double *squares;   /* (limit) their eigenvalues */
    double *work;
    double rest[BLOCK][BLOCK]; /* what B of the last block has along the next: column j belongs to vector j */
    random_stream draw;
} krylov;

/* starts, indices and values become those of the transposed matrix; starts is (columns + 2), and zero. */
static void transpose(const sparse_matrix *a, size_t *starts, uint32_t *indices, float *values)
{
    size_t *next = starts + 1; /* where column j has its next entry, and in the end, where column j + 1 begins */
    for (size_t e = 0; e < a->starts[a->rows]; e++) next[a->indices[e] + 1]++;
    for (size_t column = 0; column < a->columns; column++) next[column + 1] += next[column];
    for (size_t row = 0; row < a->rows; row++) {
        for (size_t e = a->starts[row]; e < a->starts[row + 1]; e++) {
            size_t place = next[a->indices[e]]++;
            indices[place] = (uint32_t)row;
            values[place] = a->values[e];
        }
    }
}

/* To gather a sum is faster than to scatter its parts, and the transposed matrix is small beside the basis. */
static ee_status create_transposed(krylov *k, ee_error *error)
{
    const sparse_matrix *a = k->matrix;
    size_t entries = a->starts[a->rows];
    ee_status status = memory_create(NULL, &k->starts, a->columns + 2, sizeof *k->starts, error);
    if (!status) status = memory_create(NULL, &k->indices, entries, sizeof *k->indices, error);
    if (!status) status = memory_create(NULL, &k->values, entries, sizeof *k->values, error);
    if (status) return status;
    transpose(a, k->starts, k->indices, k->values);
    k->transposed = (sparse_matrix){a->columns, a->rows, k->starts, k->indices, k->values};
    return EE_OK;
}

static size_t whole_groups(size_t count)
{
    return (count + GROUP - 1) / GROUP * GROUP;
}

static void release(krylov *k)
{
    memory_free(k->starts);
    memory_free(k->indices);
    memory_free(k->values);
    memory_free(k->basis);
    memory_free(k->block);
    memory_free(k->image);
    memory_free(k->weights);
    memory_free(k->projected);
    memory_free(k->negated);
    memory_free(k->ritz);
    memory_free(k->squares);
    memory_free(k->work);
}

static ee_status create(krylov *k, const sparse_matrix *matrix, size_t rank, ee_error *error)
{
    size_t most = (rank * 7 / 5 / BLOCK + 17) * BLOCK; /* found by trying, for texts; room for a small rank */
    bool wide = matrix->rows <= matrix->columns;
    size_t near = wide ? matrix->rows : matrix->columns, far = wide ? matrix->columns : matrix->rows;
    size_t limit = near < most ? near : most;
    *k = (krylov){.matrix = matrix, .wide = wide, .near = near, .far = far, .limit = limit};
    k->draw = random_named(0, "svd");
    ee_status status = create_transposed(k, error);
    if (!status) status = memory_create(NULL, &k->basis, whole_groups(limit) * near, sizeof(double), error);
    if (!status) status = memory_create(NULL, &k->block, near * BLOCK, sizeof(double), error);
    if (!status) status = memory_create(NULL, &k->image, far * BLOCK, sizeof(double), error);
    if (!status) status = memory_create(NULL, &k->weights, whole_groups(limit) * BLOCK, sizeof(double), error);
    if (!status) status = memory_create(NULL, &k->projected, limit * limit, sizeof(double), error);
    if (!status)
        status = memory_create(NULL, &k->negated, limit * (limit > BLOCK ? limit : BLOCK), sizeof(double), error);
    if (!status) status = memory_create(NULL, &k->ritz, whole_groups(limit) * limit, sizeof(double), error);
    if (!status) status = memory_create(NULL, &k->squares, limit, sizeof(double), error);
    if (!status) status = memory_create(NULL, &k->work, eigen_work_count(limit, limit), sizeof(double), error);
    return status;
}

/* ---- products ---- */

/* out (rows, BLOCK) = A x, x is (columns, BLOCK) */
static void multiply(const sparse_matrix *a, const double *x, double *out)
{
    for (size_t row = 0; row < a->rows; row++) {
        double sum[BLOCK] = {0};
        for (size_t e = a->starts[row]; e < a->starts[row + 1]; e++) {
            const double *from = x + (size_t)a->indices[e] * BLOCK;
            for (size_t c = 0; c < BLOCK; c++) sum[c] += (double)a->values[e] * from[c];
        }
        memcpy(out + row * BLOCK, sum, sizeof sum);
    }
}

static void to_far(krylov *k)
{
    multiply(k->wide ? &k->transposed : k->matrix, k->block, k->image);
}

static void to_near(krylov *k)
{
    multiply(k->wide ? k->matrix : &k->transposed, k->image, k->block);
}

/* The two loops that most of the time goes into. Not inlined, because gcc 12 holds the sums in registers only then. */

/* weights (GROUP, BLOCK) += products of GROUP vectors, a stride apart, with a block of n rows */
__attribute__((noinline)) static void add_products(const double *vectors, size_t stride, const double *block, size_t n,
                                                   double *weights)
{
    const double *v[GROUP] = {vectors, vectors + stride, vectors + 2 * stride, vectors + 3 * stride};
    double sum[GROUP][BLOCK];
    memcpy(sum, weights, sizeof sum);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < BLOCK; c++) {
            double x = block[i * BLOCK + c];
            sum[0][c] += v[0][i] * x;
            sum[1][c] += v[1][i] * x;
            sum[2][c] += v[2][i] * x;
            sum[3][c] += v[3][i] * x;
        }
    }
    memcpy(weights, sum, sizeof sum);
}

/* The block loses the GROUP vectors, each so often as its weights say. */
__attribute__((noinline)) static void subtract_products(const double *vectors, size_t stride, double *block, size_t n,
                                                        const double *weights)
{
    const double *v[GROUP] = {vectors, vectors + stride, vectors + 2 * stride, vectors + 3 * stride};
    double by[GROUP][BLOCK];
    memcpy(by, weights, sizeof by);
    for (size_t i = 0; i < n; i++) {
        double row[BLOCK];
        for (size_t c = 0; c < BLOCK; c++)
            row[c] = block[i * BLOCK + c] - v[0][i] * by[0][c] - v[1][i] * by[1][c] - v[2][i] * by[2][c] -
                     v[3][i] * by[3][c];
        memcpy(block + i * BLOCK, row, sizeof row);
    }
}

/* weights = the products of the basis with the block, which loses what it has along the basis */
static void project_out(krylov *k)
{
    size_t count = whole_groups(k->count), n = k->near;
    memset(k->weights, 0, count * BLOCK * sizeof *k->weights);
    for (size_t i = 0; i < n; i += TILE)
        for (size_t j = 0; j < count; j += GROUP)
            add_products(k->basis + j * n + i, n, k->block + i * BLOCK, n - i < TILE ? n - i : TILE,
                         k->weights + j * BLOCK);
    for (size_t i = 0; i < n; i += TILE)
        for (size_t j = 0; j < count; j += GROUP)
            subtract_products(k->basis + j * n + i, n, k->block + i * BLOCK, n - i < TILE ? n - i : TILE,
                              k->weights + j * BLOCK);
}

/* ---- the basis ---- */

static double column_dot(const double *block, size_t n, size_t a, size_t b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += block[i * BLOCK + a] * block[i * BLOCK + b];
    return sum;
}

static void draw_column(krylov *k, size_t column)
{
    for (size_t i = 0; i < k->near; i++) k->block[i * BLOCK + column] = random_normal(&k->draw);
}

/* Column b loses what it has along the columns before it, which are orthonormal; along is (BLOCK, BLOCK). */
static void clear_column(krylov *k, size_t b, double along[BLOCK][BLOCK])
{
    for (size_t a = 0; a < b; a++) {
        along[a][b] = column_dot(k->block, k->near, a, b);
        for (size_t i = 0; i < k->near; i++) k->block[i * BLOCK + b] -= along[a][b] * k->block[i * BLOCK + a];
    }
    along[b][b] = sqrt(column_dot(k->block, k->near, b, b));
}

/* Makes the first width columns of the block orthonormal and the others zero; rest is what makes the old ones of the
 * new. A column that is no longer than floor becomes a random one. Returns whether one did. */
static bool orthonormalize(krylov *k, size_t width, double floor, double rest[BLOCK][BLOCK])
{
    bool replaced = false;
    memset(rest, 0, BLOCK * sizeof rest[0]);
    for (size_t b = 0; b < BLOCK; b++) {
        double ignored[BLOCK][BLOCK], by = 0;
        if (b < width) {
            clear_column(k, b, rest);
            by = 1 / rest[b][b];
        }
        if (b < width && rest[b][b] <= floor) {
            replaced = true;
            rest[b][b] = 0;
            draw_column(k, b);
            clear_column(k, b, ignored);
            by = 1 / ignored[b][b];
        }
        for (size_t i = 0; i < k->near; i++) k->block[i * BLOCK + b] *= by;
    }
    return replaced;
}

/* The block, which has lost what it has along the basis once, becomes the next one: orthogonal to the basis to the last
 * digit. rest becomes what the block had along it. */
static void finish_block(krylov *k)
{
    size_t room = k->near - k->count, width = room < BLOCK ? room : BLOCK;
    double ignored[BLOCK][BLOCK];
    int turns = orthonormalize(k, width, noise * k->scale, k->rest) ? 2 : 1;
    for (int turn = 0; turn < turns; turn++) {
        project_out(k);
        orthonormalize(k, width, 0, ignored);
    }
}

static void draw_block(krylov *k)
{
    for (size_t c = 0; c < BLOCK; c++) draw_column(k, c);
    project_out(k);
    finish_block(k);
}

/* Puts the block into the basis, and B of it, less what that has along the basis, in its place. */
static void extend(krylov *k)
{
    size_t n = k->near, room = k->near - k->count;
    k->last = room < BLOCK ? room : BLOCK;
    for (size_t c = 0; c < k->last; c++)
        for (size_t i = 0; i < n; i++) k->basis[(k->count + c) * n + i] = k->block[i * BLOCK + c];
    size_t first = k->count;
    k->count += k->last;
    to_far(k);
    to_near(k);
    for (size_t c = 0; c < k->last; c++) k->scale = fmax(k->scale, sqrt(column_dot(k->block, n, c, c)));
    project_out(k);
    for (size_t j = 0; j < k->count; j++) {
        for (size_t c = 0; c < k->last; c++) {
            k->projected[j * k->limit + first + c] = k->weights[j * BLOCK + c];
            k->projected[(first + c) * k->limit + j] = k->weights[j * BLOCK + c];
        }
    }
    finish_block(k);
}

/* ---- Ritz vectors ---- */

/* The wanted best of them, with their squared singular values, falling. */
static void find_ritz(krylov *k, size_t wanted)
{
    size_t m = k->count;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) k->negated[i * m + j] = -k->projected[i * k->limit + j];
    eigen_smallest(k->negated, m, wanted, k->ritz, k->work);
    for (size_t r = 0; r < wanted; r++) {
        const double *y = k->ritz + r * m;
        double square = 0;
        for (size_t i = 0; i < m; i++) square += y[i] * doubles_dot(k->projected + i * k->limit, y, m);
        k->squares[r] = fmax(square, 0);
    }
}

static bool is_converged(const krylov *k, size_t rank)
{
    if (k->count == k->near) return true;
    for (size_t r = 0; r < rank; r++) {
        const double *y = k->ritz + r * k->count + k->count - k->last;
        double squares = 0;
        for (size_t a = 0; a < BLOCK; a++) {
            double sum = doubles_dot(k->rest[a], y, k->last);
            squares += sum * sum;
        }
        /* The squares of values below a millionth of the largest are known no better. */
        double size = fmax(sqrt(k->squares[r]), 1e-6 * sqrt(k->squares[0]));
        if (sqrt(squares) > tolerance * sqrt(k->squares[0]) * size) return false;
    }
    return true;
}

/* The basis becomes the best kept Ritz vectors. */
static void restart(krylov *k, size_t kept)
{
    size_t n = k->near, m = k->count;
    double *old = k->negated; /* (m, BLOCK) */
    for (size_t start = 0; start < n; start += BLOCK) {
        size_t width = n - start < BLOCK ? n - start : BLOCK;
        for (size_t j = 0; j < m; j++) memcpy(old + j * BLOCK, k->basis + j * n + start, width * sizeof *old);
        for (size_t r = 0; r < kept; r += GROUP) {
            double sums[GROUP][BLOCK] = {{0}};
            add_products(k->ritz + r * m, m, old, m, sums[0]);
            for (size_t g = 0; g < GROUP && r + g < kept; g++)
                memcpy(k->basis + (r + g) * n + start, sums[g], width * sizeof *old);
        }
    }
    memset(k->basis + kept * n, 0, (m - kept) * n * sizeof *k->basis);
    memset(k->projected, 0, k->limit * k->limit * sizeof *k->projected);
    for (size_t r = 0; r < kept; r++) k->projected[r * k->limit + r] = k->squares[r];
    k->count = kept;
}

/* Whether a Krylov space of new random vectors, orthogonal to the rank Ritz vectors that are the basis, has nothing
 * that belongs among them: of a singular value with more than BLOCK vectors, one space need not have them all. */
static bool is_complete(krylov *k, size_t rank)
{
    double least = k->squares[rank - 1];
    draw_block(k);
    for (int i = 0; i < PROBE; i++) extend(k);
    find_ritz(k, rank);
    return k->squares[rank - 1] <= least + tolerance * k->squares[0];
}

/* The first rank vectors of the basis become the singular vectors of the near side. */
static void find_near(krylov *k, size_t rank)
{
    /* Beyond those that are asked for, a sixth of what there is room for: the ones that converge next. */
    size_t kept = k->limit - (k->limit - rank) * 5 / 6 / BLOCK * BLOCK;
    draw_block(k);
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        while (k->count + BLOCK <= k->limit || (k->limit == k->near && k->count < k->near)) extend(k);
        bool whole = k->count == k->near;
        find_ritz(k, whole ? rank : kept);
        bool converged = whole || is_converged(k, rank);
        restart(k, converged ? rank : kept);
        if (whole || (converged && is_complete(k, rank))) return;
    }
}

/* ---- both sides ---- */

/* far (rank, k->far) = what the first rank vectors of the basis become on the other side */
static void find_images(krylov *k, size_t rank, double *far)
{
    for (size_t first = 0; first < rank; first += BLOCK) {
        size_t width = rank - first < BLOCK ? rank - first : BLOCK;
        memset(k->block, 0, k->near * BLOCK * sizeof *k->block);
        for (size_t c = 0; c < width; c++)
            for (size_t i = 0; i < k->near; i++) k->block[i * BLOCK + c] = k->basis[(first + c) * k->near + i];
        to_far(k);
        for (size_t c = 0; c < width; c++)
            for (size_t i = 0; i < k->far; i++) far[(first + c) * k->far + i] = k->image[i * BLOCK + c];
    }
}

static void rotate(double *x, double *y, size_t n, double cosine, double sine)
{
    for (size_t i = 0; i < n; i++) {
        double kept = x[i];
        x[i] = cosine * kept - sine * y[i];
        y[i] = sine * kept + cosine * y[i];
    }
}

/* Turns pairs of vectors, on both sides alike, until the images are orthogonal. lengths (rank) becomes theirs. Those
 * that are noise are left alone. */
static void rotate_images(krylov *k, size_t rank, double *far, double *lengths)
{
    enum { SWEEPS = 30 };
    const double orthogonal = 1e-13;
    bool rotated = true;
    for (int sweep = 0; sweep < SWEEPS && rotated; sweep++) {
        rotated = false;
        for (size_t r = 0; r < rank; r++) lengths[r] = sqrt(doubles_dot(far + r * k->far, far + r * k->far, k->far));
        double floor = noise * sqrt(k->scale);
        for (size_t a = 0; a < rank; a++) {
            for (size_t b = a + 1; b < rank && lengths[a] > floor; b++) {
                double *x = far + a * k->far, *y = far + b * k->far;
                double product = lengths[b] > floor ? doubles_dot(x, y, k->far) : 0;
                if (fabs(product) <= orthogonal * lengths[a] * lengths[b]) continue;
                double zeta = (lengths[b] - lengths[a]) * (lengths[b] + lengths[a]) / (2 * product);
                double tangent = copysign(1 / (fabs(zeta) + sqrt(1 + zeta * zeta)), zeta);
                double cosine = 1 / sqrt(1 + tangent * tangent), sine = cosine * tangent;
                rotate(x, y, k->far, cosine, sine);
                rotate(k->basis + a * k->near, k->basis + b * k->near, k->near, cosine, sine);
                lengths[a] = sqrt(doubles_dot(x, x, k->far));
                lengths[b] = sqrt(doubles_dot(y, y, k->far));
                rotated = true;
            }
        }
    }
}

static void exchange(double *x, double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
}

static void sort_falling(krylov *k, size_t rank, double *far, double *lengths)
{
    for (size_t a = 0; a < rank; a++) {
        size_t longest = a;
        for (size_t b = a + 1; b < rank; b++)
            if (lengths[b] > lengths[longest]) longest = b;
        if (longest == a) continue;
        exchange(&lengths[a], &lengths[longest], 1);
        exchange(far + a * k->far, far + longest * k->far, k->far);
        exchange(k->basis + a * k->near, k->basis + longest * k->near, k->near);
    }
}

/* The images get length 1. One that has none gets a direction that no other has. */
static void normalize_images(krylov *k, size_t rank, double *far, double *lengths)
{
    for (size_t r = 0; r < rank; r++) {
        double *x = far + r * k->far, length = lengths[r];
        if (length <= noise * sqrt(k->scale)) {
            length = lengths[r] = 0;
            for (size_t i = 0; i < k->far; i++) x[i] = random_normal(&k->draw);
        }
        for (int pass = 0; pass < 3 && lengths[r] == 0; pass++) {
            for (size_t a = 0; a < r; a++)
                doubles_add_scaled(x, -doubles_dot(x, far + a * k->far, k->far), far + a * k->far, k->far);
            length = sqrt(doubles_dot(x, x, k->far));
            for (size_t i = 0; i < k->far && pass < 2; i++) x[i] /= length;
        }
        for (size_t i = 0; i < k->far; i++) x[i] /= length;
    }
}

/* out is (n, rank), from is (rank, n) */
static void put_out(const double *from, size_t n, size_t rank, const double *signs, double *out)
{
    for (size_t i = 0; i < n && out; i++)
        for (size_t r = 0; r < rank; r++) out[i * rank + r] = signs[r] * from[r * n + i];
}

static void find_signs(const double *left, size_t rows, size_t rank, double *signs)
{
    for (size_t r = 0; r < rank; r++) {
        size_t largest = 0;
        for (size_t i = 1; i < rows; i++)
            if (fabs(left[r * rows + i]) > fabs(left[r * rows + largest])) largest = i;
        signs[r] = left[r * rows + largest] < 0 ? -1 : 1;
    }
}

ee_status truncated_svd(const sparse_matrix *matrix, size_t rank, double *left, double *values, double *right,
                        ee_error *error)
{
    if (rank == 0) return EE_OK;
    krylov k;
    double *far = NULL, *lengths = NULL, *signs = NULL;
    ee_status status = create(&k, matrix, rank, error);
    if (!status) status = memory_create(NULL, &far, rank * k.far, sizeof *far, error);
    if (!status) status = memory_create(NULL, &lengths, rank, sizeof *lengths, error);
    if (!status) status = memory_create(NULL, &signs, rank, sizeof *signs, error);
    if (status) goto done;
    find_near(&k, rank);
    find_images(&k, rank, far);
    rotate_images(&k, rank, far, lengths);
    sort_falling(&k, rank, far, lengths);
    normalize_images(&k, rank, far, lengths);
    const double *ours = k.wide ? k.basis : far, *theirs = k.wide ? far : k.basis;
    find_signs(ours, matrix->rows, rank, signs);
    put_out(ours, matrix->rows, rank, signs, left);
    put_out(theirs, matrix->columns, rank, signs, right);
    if (values) memcpy(values, lengths, rank * sizeof *values);
done:
    memory_free(far);
    memory_free(lengths);
    memory_free(signs);
    release(&k);
    return status;
}
