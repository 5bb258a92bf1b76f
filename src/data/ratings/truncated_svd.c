/* Block Krylov spaces with full orthogonalisation and thick restarts. Let B be A A^T, or A^T A if A has fewer columns
 * than rows. An orthonormal basis Q of a Krylov space of B grows by one block at a time; the Ritz vectors of B in it,
 * the eigenvectors of T = Q^T B Q, approach the singular vectors of that side much faster than powers of B do. When the
 * basis is full, the best Ritz vectors and the next block are kept, and it grows again (Wu and Simon, "Thick-restart
 * Lanczos method for large symmetric eigenvalue problems", 2000). T is computed in full, so any vector may join.
 *
 * B has the squares of the singular values, which costs half of the digits of small ones. One-sided Jacobi rotations
 * restore them: they make the images of the vectors under A orthogonal, whose lengths are the singular values. */
#include "truncated_svd.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "math/doubles.h"
#include "math/eigen.h"

enum {
    BLOCK = 8,   /* vectors multiplied at once: a cache line of doubles */
    TILE = 256,  /* rows of a block that stay in the first-level cache */
    GROUP = 4,   /* vectors of the basis that share one pass over a block: their sums fit the registers */
    PROBE = 4,   /* blocks of a new Krylov space that look for what the first one missed */
    CYCLES = 500 /* most restarts; five have been enough so far */
};

/* Bound on ||A v - s u||, relative to the largest singular value. */
static const double tolerance = 1e-9;

/* A new direction whose length, relative to that of B, is below this is rounding error. */
static const double noise = 1e-13;

typedef struct krylov {
    memory owner; /* of the arrays */
    const sparse_matrix *matrix;
    bool wide;                 /* B is A A^T */
    size_t near, far;          /* dimension of B, and of the other side of A */
    size_t limit;              /* most vectors in the basis; near if it holds the whole space */
    size_t count;              /* vectors in the basis */
    size_t last;               /* of these, the vectors of the last block */
    double scale;              /* largest length of B q so far */
    double *basis;             /* (limit + GROUP, near) */
    double *block;             /* (near, BLOCK) the next block, orthonormal and orthogonal to the basis */
    double *image;             /* (far, BLOCK) */
    double *weights;           /* (limit + GROUP, BLOCK) products of the basis with a block */
    double *projected;         /* (limit, limit) T */
    double *scratch;           /* (limit, limit, and no less than BLOCK) */
    double *ritz;              /* (limit + GROUP, limit) eigenvectors of T as rows */
    double *squares;           /* (limit) their eigenvalues */
    double *work;              /* of eigen_smallest */
    double *images;            /* (rank, far) of the singular vectors under A, as rows */
    double *lengths;           /* (rank) theirs */
    double rest[BLOCK][BLOCK]; /* B of the last block along the next one: column j belongs to vector j */
    random_stream draw;
} krylov;

static ee_status create(krylov *k, const sparse_matrix *matrix, size_t rank, ee_error *error)
{
    size_t most = (rank * 7 / 5 / BLOCK + 17) * BLOCK; /* found by trying, for texts; room for a small rank */
    bool wide = matrix->rows <= matrix->columns;
    size_t near = wide ? matrix->rows : matrix->columns, far = wide ? matrix->columns : matrix->rows;
    size_t limit = near < most ? near : most;
    *k = (krylov){.matrix = matrix, .wide = wide, .near = near, .far = far, .limit = limit};
    k->draw = random_named(0, "svd");
    const struct {
        double **array;
        size_t count;
    } arrays[] = {{&k->basis, (limit + GROUP) * near},
                  {&k->block, near * BLOCK},
                  {&k->image, far * BLOCK},
                  {&k->weights, (limit + GROUP) * BLOCK},
                  {&k->projected, limit * limit},
                  {&k->scratch, limit * (limit > BLOCK ? limit : BLOCK)},
                  {&k->ritz, (limit + GROUP) * limit},
                  {&k->squares, limit},
                  {&k->images, rank * far},
                  {&k->lengths, rank},
                  {&k->work, eigen_work_count(limit, limit)}};
    ee_status status = EE_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && !status; i++)
        status = memory_create(&k->owner, arrays[i].array, arrays[i].count, sizeof(double), error);
    return status;
}

/* ---- products ---- */

/* out = A x, or A^T x if transposed; both have BLOCK columns. */
static void multiply(const sparse_matrix *a, bool transposed, const double *restrict x, double *restrict out)
{
    memset(out, 0, (transposed ? a->columns : a->rows) * BLOCK * sizeof *out);
    for (size_t row = 0; row < a->rows; row++) {
        for (size_t e = a->starts[row]; e < a->starts[row + 1]; e++) {
            size_t column = a->indices[e];
            const double *from = x + BLOCK * (transposed ? row : column);
            double *to = out + BLOCK * (transposed ? column : row);
            for (size_t c = 0; c < BLOCK; c++) to[c] += (double)a->values[e] * from[c];
        }
    }
}

/* Most of the time goes into the next two. They are not inlined, because gcc 12 keeps the sums in registers only then.
 */

/* weights (GROUP, BLOCK) += products of GROUP vectors, a stride apart, with n rows of a block */
__attribute__((noinline)) static void add_products(const double *vectors, size_t stride, const double *block, size_t n,
                                                   double *weights)
{
    const double *v[GROUP] = {vectors, vectors + stride, vectors + 2 * stride, vectors + 3 * stride};
    double sum[GROUP][BLOCK];
    memcpy(sum, weights, sizeof sum);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < BLOCK; c++) {
            double x = block[i * BLOCK + c];
            for (size_t g = 0; g < GROUP; g++) sum[g][c] += v[g][i] * x;
        }
    }
    memcpy(weights, sum, sizeof sum);
}

/* n rows of a block -= GROUP vectors times their weights */
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

/* weights = the products of the basis with the block, which becomes orthogonal to the basis */
static void project_out(krylov *k)
{
    size_t n = k->near;
    memset(k->weights, 0, (k->limit + GROUP) * BLOCK * sizeof *k->weights);
    for (size_t i = 0; i < n; i += TILE)
        for (size_t j = 0; j < k->count; j += GROUP)
            add_products(k->basis + j * n + i, n, k->block + i * BLOCK, n - i < TILE ? n - i : TILE,
                         k->weights + j * BLOCK);
    memset(k->weights + k->count * BLOCK, 0, GROUP * BLOCK * sizeof *k->weights); /* vectors of an earlier cycle */
    for (size_t i = 0; i < n; i += TILE)
        for (size_t j = 0; j < k->count; j += GROUP)
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

/* Makes column b orthogonal to the columns before it, which are orthonormal. along (BLOCK, BLOCK) gets what it had
 * along them and its length. */
static void clear_column(krylov *k, size_t b, double along[BLOCK][BLOCK])
{
    for (size_t a = 0; a < b; a++) {
        along[a][b] = column_dot(k->block, k->near, a, b);
        for (size_t i = 0; i < k->near; i++) k->block[i * BLOCK + b] -= along[a][b] * k->block[i * BLOCK + a];
    }
    along[b][b] = sqrt(column_dot(k->block, k->near, b, b));
}

/* Makes the first width columns of the block orthonormal and the others zero; the old block is the new one times rest.
 * A column no longer than floor is replaced by a random one. Returns whether one was. */
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

/* Completes the next block, which is projected out once: makes it orthonormal, and orthogonal to the basis to the last
 * digit. Sets rest. */
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

/* Moves the block into the basis; B times it becomes the next block. */
static void extend(krylov *k)
{
    size_t n = k->near, room = k->near - k->count;
    k->last = room < BLOCK ? room : BLOCK;
    for (size_t c = 0; c < k->last; c++)
        for (size_t i = 0; i < n; i++) k->basis[(k->count + c) * n + i] = k->block[i * BLOCK + c];
    size_t first = k->count;
    k->count += k->last;
    multiply(k->matrix, k->wide, k->block, k->image);
    multiply(k->matrix, !k->wide, k->image, k->block);
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

/* Sets the wanted best ones and their squared singular values, falling. */
static void find_ritz(krylov *k, size_t wanted)
{
    size_t m = k->count;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) k->scratch[i * m + j] = -k->projected[i * k->limit + j];
    eigen_smallest(k->scratch, m, wanted, k->ritz, k->work);
    for (size_t r = 0; r < wanted; r++) {
        const double *y = k->ritz + r * m;
        double square = 0;
        for (size_t i = 0; i < m; i++) square += y[i] * doubles_dot(k->projected + i * k->limit, y, m);
        k->squares[r] = fmax(square, 0);
    }
}

static bool is_converged(const krylov *k, size_t rank)
{
    for (size_t r = 0; r < rank; r++) {
        const double *y = k->ritz + r * k->count + k->count - k->last;
        double squares = 0;
        for (size_t a = 0; a < BLOCK; a++) {
            double sum = doubles_dot(k->rest[a], y, k->last);
            squares += sum * sum;
        }
        /* The squares of values below a millionth of the largest are no more precise. */
        double size = fmax(sqrt(k->squares[r]), 1e-6 * sqrt(k->squares[0]));
        if (sqrt(squares) > tolerance * sqrt(k->squares[0]) * size) return false;
    }
    return true;
}

/* Replaces the basis by its best Ritz vectors. */
static void restart(krylov *k, size_t kept)
{
    size_t n = k->near, m = k->count;
    double *old = k->scratch; /* (m, BLOCK) */
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
    memset(k->projected, 0, k->limit * k->limit * sizeof *k->projected);
    for (size_t r = 0; r < kept; r++) k->projected[r * k->limit + r] = k->squares[r];
    k->count = kept;
}

/* Whether the basis, which is the best Ritz vectors, lacks none: one Krylov space may miss some vectors of a singular
 * value that has more than BLOCK of them. Looks for them in a space of new random vectors. */
static bool is_complete(krylov *k, size_t rank)
{
    double least = k->squares[rank - 1];
    draw_block(k);
    for (int i = 0; i < PROBE; i++) extend(k);
    find_ritz(k, rank);
    return k->squares[rank - 1] <= least + tolerance * k->squares[0];
}

/* Makes the first rank vectors of the basis the singular vectors of the near side. */
static void find_near(krylov *k, size_t rank)
{
    /* A sixth of the remaining room goes to the vectors that converge next. */
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

/* Sets the images of the first rank vectors of the basis. */
static void find_images(krylov *k, size_t rank)
{
    for (size_t first = 0; first < rank; first += BLOCK) {
        size_t width = rank - first < BLOCK ? rank - first : BLOCK;
        memset(k->block, 0, k->near * BLOCK * sizeof *k->block);
        for (size_t c = 0; c < width; c++)
            for (size_t i = 0; i < k->near; i++) k->block[i * BLOCK + c] = k->basis[(first + c) * k->near + i];
        multiply(k->matrix, k->wide, k->block, k->image);
        for (size_t c = 0; c < width; c++)
            for (size_t i = 0; i < k->far; i++) k->images[(first + c) * k->far + i] = k->image[i * BLOCK + c];
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

/* Rotates vectors a and b on both sides. */
static void rotate_pair(krylov *k, size_t a, size_t b, double cosine, double sine)
{
    double *x = k->images + a * k->far, *y = k->images + b * k->far;
    rotate(x, y, k->far, cosine, sine);
    rotate(k->basis + a * k->near, k->basis + b * k->near, k->near, cosine, sine);
    k->lengths[a] = sqrt(doubles_dot(x, x, k->far));
    k->lengths[b] = sqrt(doubles_dot(y, y, k->far));
}

/* Rotates pairs of vectors until the images are orthogonal. Images that are rounding error are left as they are.
 * Returns whether one was rotated. */
static bool rotate_images(krylov *k, size_t rank)
{
    const double orthogonal = 1e-13, floor = noise * sqrt(k->scale);
    bool rotated = false;
    for (size_t r = 0; r < rank; r++)
        k->lengths[r] = sqrt(doubles_dot(k->images + r * k->far, k->images + r * k->far, k->far));
    for (size_t a = 0; a < rank; a++) {
        for (size_t b = a + 1; b < rank && k->lengths[a] > floor; b++) {
            double long_a = k->lengths[a], long_b = k->lengths[b];
            double product = long_b > floor ? doubles_dot(k->images + a * k->far, k->images + b * k->far, k->far) : 0;
            if (fabs(product) <= orthogonal * long_a * long_b) continue;
            double zeta = (long_b - long_a) * (long_b + long_a) / (2 * product);
            double tangent = copysign(1 / (fabs(zeta) + sqrt(1 + zeta * zeta)), zeta);
            double cosine = 1 / sqrt(1 + tangent * tangent);
            rotate_pair(k, a, b, cosine, cosine * tangent);
            rotated = true;
        }
    }
    return rotated;
}

/* In falling order. */
static void sort_images(krylov *k, size_t rank)
{
    for (size_t a = 0; a < rank; a++) {
        size_t longest = a;
        for (size_t b = a + 1; b < rank; b++)
            if (k->lengths[b] > k->lengths[longest]) longest = b;
        if (longest != a) rotate_pair(k, a, longest, 0, 1); /* swaps them, except for the signs */
    }
}

/* Scales the images to length 1. One that is rounding error gets length 0 and a direction that no other has. */
static void normalize_images(krylov *k, size_t rank)
{
    for (size_t r = 0; r < rank; r++) {
        double *x = k->images + r * k->far;
        bool empty = k->lengths[r] <= noise * sqrt(k->scale);
        if (empty) k->lengths[r] = 0;
        for (size_t i = 0; i < k->far && empty; i++) x[i] = random_normal(&k->draw);
        for (int pass = 0; pass < (empty ? 3 : 1); pass++) {
            for (size_t a = 0; a < r && empty; a++)
                doubles_add_scaled(x, -doubles_dot(x, k->images + a * k->far, k->far), k->images + a * k->far, k->far);
            double length = sqrt(doubles_dot(x, x, k->far));
            for (size_t i = 0; i < k->far; i++) x[i] /= length;
        }
    }
}

/* The sign that makes the entry that is largest in size positive. */
static double find_sign(const double *vector, size_t n)
{
    size_t largest = 0;
    for (size_t i = 1; i < n; i++)
        if (fabs(vector[i]) > fabs(vector[largest])) largest = i;
    return vector[largest] < 0 ? -1 : 1;
}

ee_status truncated_svd(const sparse_matrix *matrix, size_t rank, double *left, double *values, double *right,
                        ee_error *error)
{
    enum { SWEEPS = 30 };
    if (rank == 0) return EE_OK;
    size_t rows = matrix->rows, columns = matrix->columns;
    krylov k;
    ee_status status = create(&k, matrix, rank, error);
    if (!status) find_near(&k, rank);
    if (!status) find_images(&k, rank);
    for (int sweep = 0; sweep < SWEEPS && !status && rotate_images(&k, rank);) sweep++;
    if (!status) sort_images(&k, rank);
    if (!status) normalize_images(&k, rank);
    for (size_t r = 0; r < rank && !status; r++) {
        const double *ours = (k.wide ? k.basis : k.images) + r * rows;
        const double *theirs = (k.wide ? k.images : k.basis) + r * columns;
        double sign = find_sign(ours, rows);
        for (size_t i = 0; i < rows && left; i++) left[i * rank + r] = sign * ours[i];
        for (size_t i = 0; i < columns && right; i++) right[i * rank + r] = sign * theirs[i];
        if (values) values[r] = k.lengths[r];
    }
    memory_release(&k.owner);
    return status;
}
