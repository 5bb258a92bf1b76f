/* Every kernel of every table that this machine runs, at every length from 0 to 67 and some beyond, at unaligned
 * starts, between marks and against a wall. The reference is held to sums in double written here, the other tables to
 * the reference. */
#define _DEFAULT_SOURCE
#include "math/kernels.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/random.h"
#include "eenet.h"
#include "support.h"

enum {
    LONGEST = 67,
    ARGUMENTS = 5,
    ROWS = 256,           /* of the largest matrix */
    CAPACITY = ROWS * 68, /* elements of an argument */
    MARKS = 32,           /* elements kept under watch in front of an argument */
    PLACEMENTS = 3,
    TABLES = 8 /* more than any machine has */
};

/* How many elements lie between the end of each argument and the wall. First none: one element too far is a fault. */
static const size_t gaps[PLACEMENTS][ARGUMENTS] = {{0, 0, 0, 0, 0}, {1, 2, 3, 5, 6}, {7, 4, 9, 2, 3}};

/* Lengths past 67 at which the blocks of the fast kernels follow each other in other orders. */
static const size_t long_lengths[] = {79, 85, 100, 128, 149, 191, 192};

/* A kernel with its arguments. Those that are written come first. */
typedef struct problem problem;
struct problem {
    const char *kernel;
    void (*run)(const kernel_table *kernels, void *const *arguments, const problem *p);
    void (*expect)(const problem *p);
    size_t outputs;
    size_t in, out; /* a kernel on vectors has in alone; of a sparse input, in is the count of its entries */
    size_t stride;  /* of the rows of a matrix; 0: out */
    size_t rows;    /* of a product of matrices, and how its arguments lie, in the order c, a, b */
    size_t row[3], column[3];
    float a;
    bool bias;
    adam_step step;
    size_t count[ARGUMENTS];
    const void *contents[ARGUMENTS];
};

/* The arguments, where they lie safely. */
static float numbers[ARGUMENTS][CAPACITY];
enum { BEHIND = 90 }; /* indices behind those of a sparse input, at most */
static uint32_t indices[LONGEST + 1 + BEHIND];

/* What the outputs must be, and the sum of the magnitudes of what was added up: rounding is measured by it. Where it
 * is 0 the output must be exact. */
static double expected[ARGUMENTS][CAPACITY], magnitude[ARGUMENTS][CAPACITY];
static float by_reference[ARGUMENTS][CAPACITY];
static float first_placed[ARGUMENTS][CAPACITY];

static guard walls[ARGUMENTS];
static char *ends[ARGUMENTS]; /* where the walls start */
static random_stream stream;

static int raise_walls(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARGUMENTS; i++) {
        size_t size = (CAPACITY + MARKS + 16) * sizeof(float);
        ends[i] = (char *)guard_end_bytes(&walls[i], size) + size;
    }
    stream = random_named(1, "kernels");
    return 0;
}

static int take_walls_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARGUMENTS; i++) guard_free(&walls[i]);
    return 0;
}

/* ---- numbers ---- */

/* One in eight is a zero, of either sign; the rest are of mixed size. */
static float draw(void)
{
    static const float scales[] = {1, 1, 1, 0.01f, 30};
    uint64_t kind = random_below(&stream, 16);
    if (kind == 0) return 0.0f;
    if (kind == 1) return -0.0f;
    return (float)(2 * random_unit(&stream) - 1) * scales[random_below(&stream, 5)];
}

static void set_argument(problem *p, size_t argument, size_t count)
{
    assert_true(count <= CAPACITY);
    for (size_t i = 0; i < count; i++) numbers[argument][i] = draw();
    p->contents[argument] = numbers[argument];
    p->count[argument] = count;
}

/* Ascending indices with gaps between them. Returns the rows of a matrix in which the last index is the last row. */
static size_t set_indices(problem *p, size_t argument, size_t count)
{
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        next += random_below(&stream, 4) == 0 ? 1 + random_below(&stream, 6) : 0;
        indices[i] = (uint32_t)next++;
    }
    p->contents[argument] = indices;
    p->count[argument] = count;
    return next;
}

/* ---- the check ---- */

static void *place(const problem *p, size_t argument, size_t gap)
{
    size_t size = p->count[argument] * sizeof(float);
    char *start = ends[argument] - gap * sizeof(float) - size;
    memset(start - MARKS * sizeof(float), 0xff, MARKS * sizeof(float) + size + gap * sizeof(float));
    if (size) memcpy(start, p->contents[argument], size);
    return start;
}

static bool is_marked(const char *start, size_t elements)
{
    for (size_t i = 0; i < elements * sizeof(float); i++)
        if (start[i] != (char)0xff) return false;
    return true;
}

static void fail_problem(const problem *p, const char *table, size_t argument, const char *what)
{
    fail_msg("%s, %s, in %zu, out %zu: argument %zu %s", table, p->kernel, p->in, p->out, argument, what);
}

static void assert_output(const problem *p, const char *table, size_t argument, const float *got, const double *want)
{
    for (size_t i = 0; i < p->count[argument]; i++) {
        if (fabs((double)got[i] - want[i]) <= 1e-5 * magnitude[argument][i]) continue;
        print_error("[%zu]: got %.9g, expected %.9g within %g\n", i, (double)got[i], want[i],
                    1e-5 * magnitude[argument][i]);
        fail_problem(p, table, argument, "is wrong");
    }
}

static void check_reference(const problem *p)
{
    void *arguments[ARGUMENTS] = {0};
    p->expect(p);
    for (size_t i = 0; i < ARGUMENTS; i++) {
        if (!p->contents[i]) continue;
        arguments[i] = i < p->outputs ? (void *)by_reference[i] : place(p, i, 0);
        if (i < p->outputs) memcpy(by_reference[i], p->contents[i], p->count[i] * sizeof(float));
    }
    p->run(kernels_at(0), arguments, p);
    for (size_t i = 0; i < p->outputs; i++) {
        assert_output(p, "reference", i, by_reference[i], expected[i]);
        for (size_t j = 0; j < p->count[i]; j++) expected[i][j] = (double)by_reference[i][j];
    }
}

static void check_placement(const problem *p, const kernel_table *kernels, const size_t *gap, bool is_first)
{
    void *arguments[ARGUMENTS] = {0};
    for (size_t i = 0; i < ARGUMENTS; i++)
        if (p->contents[i]) arguments[i] = place(p, i, gap[i]);
    p->run(kernels, arguments, p);
    for (size_t i = 0; i < ARGUMENTS; i++) {
        if (!p->contents[i]) continue;
        size_t size = p->count[i] * sizeof(float);
        const char *start = arguments[i];
        if (!is_marked(start - MARKS * sizeof(float), MARKS))
            fail_problem(p, kernels->name, i, "was left at its start");
        if (!is_marked(start + size, gap[i])) fail_problem(p, kernels->name, i, "was left at its end");
        if (i >= p->outputs) {
            if (size && memcmp(start, p->contents[i], size) != 0)
                fail_problem(p, kernels->name, i, "is read only, and was written");
            continue;
        }
        assert_output(p, kernels->name, i, arguments[i], expected[i]);
        if (is_first) memcpy(first_placed[i], start, size);
        if (memcmp(first_placed[i], start, size) != 0)
            fail_problem(p, kernels->name, i, "depends on where its arguments lie");
    }
}

/* The same seed must give the same bytes, so the bytes must not depend on where the caller's memory happens to lie. */
static void check(const problem *p)
{
    check_reference(p);
    const kernel_table *kernels;
    for (size_t table = 0; (kernels = kernels_at(table)) != NULL; table++)
        for (size_t i = 0; i < PLACEMENTS; i++) check_placement(p, kernels, gaps[i], i == 0);
}

typedef void (*shape_check)(size_t in, size_t out);

/* in over a few and out over all lengths, then the other way round. */
static void check_shapes(shape_check check_shape)
{
    static const size_t few_in[] = {0, 1, 2, 3, 7, 20}, few_out[] = {0, 1, 2, 3, 4, 5, 15, 16, 17, 20, 64, 67};
    for (size_t i = 0; i < sizeof few_in / sizeof *few_in; i++)
        for (size_t out = 0; out <= LONGEST; out++) check_shape(few_in[i], out);
    for (size_t i = 0; i < sizeof few_out / sizeof *few_out; i++)
        for (size_t in = 0; in <= LONGEST; in++) check_shape(in, few_out[i]);
    for (size_t i = 0; i < sizeof long_lengths / sizeof *long_lengths; i++) {
        check_shape(3, long_lengths[i]);
        check_shape(20, long_lengths[i]);
    }
}

static void check_lengths(shape_check check_length)
{
    for (size_t n = 0; n <= LONGEST; n++) check_length(n, 0);
    for (size_t i = 0; i < sizeof long_lengths / sizeof *long_lengths; i++) check_length(long_lengths[i], 0);
}

/* Starts an output entry at start and adds terms to it. */
static void expect_start(size_t argument, size_t i, double start)
{
    expected[argument][i] = start;
    magnitude[argument][i] = fabs(start);
}

static void expect_term(size_t argument, size_t i, double term)
{
    expected[argument][i] += term;
    magnitude[argument][i] += fabs(term);
}

static double value(const problem *p, size_t argument, size_t i)
{
    return (double)((const float *)p->contents[argument])[i];
}

/* ---- dot: argument 0 takes the sum ---- */

static void run_dot(const kernel_table *kernels, void *const *arguments, const problem *p)
{
    *(float *)arguments[0] = kernels->dot(arguments[1], arguments[2], p->in);
}

static void expect_dot(const problem *p)
{
    expect_start(0, 0, 0);
    for (size_t i = 0; i < p->in; i++) expect_term(0, 0, value(p, 1, i) * value(p, 2, i));
}

static void check_dot(size_t n, size_t none)
{
    problem p = {.kernel = "dot", .run = run_dot, .expect = expect_dot, .outputs = 1, .in = n, .out = none};
    set_argument(&p, 0, 1);
    set_argument(&p, 1, n);
    set_argument(&p, 2, n);
    check(&p);
}

TEST(dot_is_the_sum_of_products)
{
    check_lengths(check_dot);
}

/* ---- add_scaled ---- */

static void run_add_scaled(const kernel_table *kernels, void *const *arguments, const problem *p)
{
    kernels->add_scaled(arguments[0], p->a, arguments[1], p->in);
}

static void expect_add_scaled(const problem *p)
{
    for (size_t i = 0; i < p->in; i++) {
        expect_start(0, i, value(p, 0, i));
        expect_term(0, i, (double)p->a * value(p, 1, i));
    }
}

static void check_add_scaled(size_t n, size_t none)
{
    static const float factors[] = {-0.7f, 0, 1};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        problem p = {.kernel = "add_scaled",
                     .run = run_add_scaled,
                     .expect = expect_add_scaled,
                     .outputs = 1,
                     .in = n,
                     .out = none,
                     .a = factors[i]};
        set_argument(&p, 0, n);
        set_argument(&p, 1, n);
        check(&p);
    }
}

TEST(add_scaled_adds)
{
    check_lengths(check_add_scaled);
}

/* ---- forward: argument 4 is where sums start, or y is, or with `bias` there is none; a says whether there is a
 * rectifier ---- */

static const float *start_of(void *const *arguments, const problem *p)
{
    return p->contents[4] ? arguments[4] : p->bias ? NULL : arguments[0];
}

static void run_forward(const kernel_table *kernels, void *const *arguments, const problem *p)
{
    kernels->forward(arguments[0], start_of(arguments, p), arguments[1], arguments[2], p->in, p->out, p->stride,
                     p->a > 0);
}

static void expect_rows(const problem *p, bool sparse)
{
    for (size_t j = 0; j < p->out; j++) {
        expect_start(0, j, p->contents[4] ? value(p, 4, j) : p->bias ? 0 : value(p, 0, j));
        for (size_t i = 0; i < p->in; i++)
            expect_term(0, j, value(p, 2, i) * value(p, 1, (sparse ? indices[i] : i) * p->stride + j));
        if (p->a > 0 && expected[0][j] < 0) expected[0][j] = 0;
    }
}

static void expect_forward(const problem *p)
{
    expect_rows(p, false);
}

/* Rows side by side, rows that overlap as the windows of a convolution do, rows with gaps. The last row ends where it
 * ends: there is no gap behind it. */
static void check_strides(problem *p, size_t rows)
{
    const size_t strides[] = {p->out, p->out / 2, 1, p->out + 3};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        p->stride = strides[i];
        set_argument(p, 1, rows ? (rows - 1) * p->stride + p->out : 0);
        check(p);
    }
}

/* From y on, from zeros, and from biases through a rectifier. */
static void check_starts(problem *p, size_t rows)
{
    check_strides(p, rows);
    p->bias = true;
    check_strides(p, rows);
    p->a = 1;
    set_argument(p, 4, p->out);
    check_strides(p, rows);
}

static void check_forward(size_t in, size_t out)
{
    problem p = {.kernel = "forward", .run = run_forward, .expect = expect_forward, .outputs = 1, .in = in, .out = out};
    set_argument(&p, 0, out);
    set_argument(&p, 2, in);
    check_starts(&p, in);
}

TEST(forward_adds_the_product)
{
    check_shapes(check_forward);
}

static void run_forward_sparse(const kernel_table *kernels, void *const *arguments, const problem *p)
{
    size_t behind = p->count[3] - p->in;
    kernels->forward_sparse(arguments[0], start_of(arguments, p), arguments[1], arguments[3], arguments[2], p->in,
                            behind, p->out, p->stride, p->a > 0);
}

static void expect_forward_sparse(const problem *p)
{
    expect_rows(p, true);
}

/* Rows that are only fetched need not be there. */
static void check_forward_sparse_before(size_t behind, size_t count, size_t out)
{
    problem p = {.kernel = "forward_sparse",
                 .run = run_forward_sparse,
                 .expect = expect_forward_sparse,
                 .outputs = 1,
                 .in = count,
                 .out = out};
    set_indices(&p, 3, count + behind);
    set_argument(&p, 0, out);
    set_argument(&p, 2, count);
    check_starts(&p, count ? indices[count - 1] + 1 : 0);
}

static void check_forward_sparse(size_t count, size_t out)
{
    check_forward_sparse_before(0, count, out);
    check_forward_sparse_before(1 + random_below(&stream, BEHIND), count, out);
}

TEST(forward_sparse_adds_its_rows)
{
    check_shapes(check_forward_sparse);
}

/* ---- forward_pair: argument 4 is where both sums start, or y is ---- */

static void run_forward_pair(const kernel_table *kernels, void *const *arguments, const problem *p)
{
    const_matrix start = {arguments[0], p->row[0], 1};
    if (p->contents[4]) start = (const_matrix){arguments[4], 0, 1};
    kernels->forward_pair((matrix){arguments[0], p->row[0], 1}, start, arguments[1], arguments[3], arguments[2], p->in,
                          p->out, p->stride, p->a > 0);
}

static void expect_forward_pair(const problem *p)
{
    for (size_t i = 0; i < p->count[0]; i++) {
        expect_start(0, i, value(p, 0, i));
        magnitude[0][i] = 0;
    }
    for (size_t r = 0; r < 2; r++) {
        for (size_t j = 0; j < p->out; j++) {
            size_t at = r * p->row[0] + j;
            expect_start(0, at, p->contents[4] ? value(p, 4, j) : value(p, 0, at));
            for (size_t i = 0; i < p->in; i++)
                expect_term(0, at, value(p, 2, 2 * i + r) * value(p, 1, indices[i] * p->stride + j));
            if (p->a > 0 && expected[0][at] < 0) expected[0][at] = 0;
        }
    }
}

/* From y on, and from biases through a rectifier; rows side by side, and with a gap between them. */
static void check_forward_pair(size_t count, size_t out)
{
    problem p = {.kernel = "forward_pair",
                 .run = run_forward_pair,
                 .expect = expect_forward_pair,
                 .outputs = 1,
                 .in = count,
                 .out = out};
    set_indices(&p, 3, count);
    set_argument(&p, 2, 2 * count);
    for (size_t kind = 0; kind < 2; kind++) {
        p.row[0] = out + 3 * kind;
        p.a = (float)kind;
        set_argument(&p, 0, p.row[0] + out);
        if (kind) set_argument(&p, 4, out);
        check_strides(&p, count ? indices[count - 1] + 1 : 0);
    }
}

TEST(forward_pair_adds_to_both)
{
    for (size_t out = 16; out <= LONGEST; out++)
        for (size_t count = 0; count <= 20; count++) check_forward_pair(count, out);
    check_forward_pair(LONGEST, LONGEST);
    check_forward_pair(9, 149);
    check_forward_pair(9, 192);
}

/* Each of the two rounds as forward_sparse does without the entries that are zero. */
TEST(forward_pair_rounds_as_forward_sparse)
{
    enum { COUNT = 20, OUT = 67 };
    static float w[COUNT * OUT];
    const kernel_table *kernels;
    for (size_t i = 0; i < COUNT * OUT; i++) w[i] = (float)random_normal(&stream);
    for (size_t t = 1; (kernels = kernels_at(t)) != NULL; t++) {
        for (size_t out = 16; out <= OUT; out++) {
            float pairs[2 * COUNT], own[2][COUNT], y[2 * OUT], alone[2 * OUT];
            uint32_t all[COUNT], rows[2][COUNT];
            size_t counts[2] = {0, 0};
            for (size_t i = 0; i < 2 * out; i++) y[i] = alone[i] = (float)random_normal(&stream);
            for (uint32_t i = 0; i < COUNT; i++) {
                all[i] = i;
                for (size_t r = 0; r < 2; r++) {
                    bool there = random_below(&stream, 2);
                    pairs[2 * i + r] = there ? (float)random_normal(&stream) : 0;
                    if (!there) continue;
                    rows[r][counts[r]] = i;
                    own[r][counts[r]++] = pairs[2 * i + r];
                }
            }
            kernels->forward_pair((matrix){y, out, 1}, (const_matrix){y, out, 1}, w, all, pairs, COUNT, out, out,
                                  false);
            for (size_t r = 0; r < 2; r++)
                kernels->forward_sparse(alone + r * out, alone + r * out, w, rows[r], own[r], counts[r], 0, out, out,
                                        false);
            assert_memory_equal(y, alone, 2 * out * sizeof *y);
        }
    }
}

/* ---- multiply ---- */

static void run_multiply(const kernel_table *kernels, void *const *arguments, const problem *p)
{
    kernels->multiply((matrix){arguments[0], p->row[0], p->column[0]},
                      (const_matrix){arguments[1], p->row[1], p->column[1]},
                      (const_matrix){arguments[2], p->row[2], p->column[2]}, p->rows, p->in, p->out);
}

/* What lies between the rows of c must stay as it is to the bit, and c too where there is nothing to add. */
static void expect_multiply(const problem *p)
{
    for (size_t i = 0; i < p->count[0]; i++) {
        expect_start(0, i, value(p, 0, i));
        magnitude[0][i] = 0;
    }
    for (size_t r = 0; p->in && r < p->rows; r++) {
        for (size_t j = 0; j < p->out; j++) {
            size_t at = r * p->row[0] + j;
            expect_start(0, at, value(p, 0, at));
            for (size_t i = 0; i < p->in; i++)
                expect_term(0, at, value(p, 1, r * p->row[1] + i * p->column[1]) * value(p, 2, i * p->row[2] + j));
        }
    }
}

/* Floats from the first entry of a matrix to its last. */
static size_t extent(size_t rows, size_t columns, size_t row, size_t column)
{
    return rows && columns ? (rows - 1) * row + (columns - 1) * column + 1 : 0;
}

/* a row by row and column by column; all rows side by side, or each matrix with a gap of its own between them. */
static void check_multiply(size_t rows, size_t in, size_t out)
{
    problem p = {.kernel = "multiply",
                 .run = run_multiply,
                 .expect = expect_multiply,
                 .outputs = 1,
                 .rows = rows,
                 .in = in,
                 .out = out};
    for (size_t layout = 0; layout < 4; layout++) {
        bool transposed = layout % 2, apart = layout / 2;
        size_t a_line = (transposed ? rows : in) + (apart ? 5 : 0);
        p.row[0] = out + (apart ? 3 : 0);
        p.row[1] = transposed ? 1 : a_line;
        p.row[2] = out + (apart ? 7 : 0);
        p.column[0] = p.column[2] = 1;
        p.column[1] = transposed ? a_line : 1;
        set_argument(&p, 0, extent(rows, out, p.row[0], 1));
        set_argument(&p, 1, extent(rows, in, p.row[1], p.column[1]));
        set_argument(&p, 2, extent(in, out, p.row[2], 1));
        check(&p);
    }
}

typedef void (*matrix_check)(size_t rows, size_t in, size_t out);

/* Lengths of an output around one, two, four and eight vectors of 4, 8 and 16 floats. */
static void check_matrices(matrix_check check_matrix)
{
    static const size_t around[] = {0,  1,  2,  3,  4,  5,  7,  8,  9,  11, 12, 13, 15, 16, 17, 20,
                                    23, 24, 31, 32, 33, 47, 48, 49, 63, 64, 65, 67, 79, 80, 129};
    static const size_t long_sides[][3] = {{64, 20, 67},  {20, 64, 67}, {13, 67, 20},  {67, 13, 100}, {66, 64, 17},
                                           {10, 600, 20}, {33, 10, 50}, {65, 130, 33}, {34, 257, 23}};
    for (size_t rows = 0; rows <= 9; rows++)
        for (size_t in = 0; in <= 9; in++)
            for (size_t i = 0; i < sizeof around / sizeof *around; i++) check_matrix(rows, in, around[i]);
    for (size_t i = 0; i < sizeof long_sides / sizeof *long_sides; i++)
        check_matrix(long_sides[i][0], long_sides[i][1], long_sides[i][2]);
}

TEST(multiply_adds_the_product)
{
    check_matrices(check_multiply);
}

/* ---- forward_many: a stands for whether there is a rectifier ---- */

static void run_forward_many(const kernel_table *kernels, void *const *arguments, const problem *p)
{
    kernels->forward_many((matrix){arguments[0], p->row[0], 1}, arguments[3], arguments[2],
                          (const_matrix){arguments[1], p->row[1], 1}, p->rows, p->in, p->out, p->a > 0);
}

static void expect_forward_many(const problem *p)
{
    for (size_t i = 0; i < p->count[0]; i++) {
        expect_start(0, i, value(p, 0, i));
        magnitude[0][i] = 0;
    }
    for (size_t r = 0; r < p->rows; r++) {
        for (size_t j = 0; j < p->out; j++) {
            size_t at = r * p->row[0] + j;
            expect_start(0, at, p->contents[3] ? value(p, 3, j) : 0);
            for (size_t i = 0; i < p->in; i++)
                expect_term(0, at, value(p, 1, r * p->row[1] + i) * value(p, 2, i * p->out + j));
            if (p->a > 0 && expected[0][at] < 0) expected[0][at] = 0;
        }
    }
}

/* With and without a bias and a rectifier; rows side by side, or with a gap of their own between them. */
static void check_forward_many(size_t rows, size_t in, size_t out)
{
    problem p = {.kernel = "forward_many",
                 .run = run_forward_many,
                 .expect = expect_forward_many,
                 .outputs = 1,
                 .rows = rows,
                 .in = in,
                 .out = out};
    for (size_t kind = 0; kind < 4; kind++) {
        p.a = (float)(kind % 2);
        p.row[0] = out + 3 * (kind / 2);
        p.row[1] = in + 5 * (kind / 2);
        set_argument(&p, 0, extent(rows, out, p.row[0], 1));
        set_argument(&p, 1, extent(rows, in, p.row[1], 1));
        set_argument(&p, 2, in * out);
        p.contents[3] = NULL;
        if (kind != 2) set_argument(&p, 3, out);
        check(&p);
    }
}

TEST(forward_many_is_a_layer)
{
    check_matrices(check_forward_many);
}

/* ---- backward ---- */

static void run_backward(const kernel_table *kernels, void *const *arguments, const problem *p)
{
    kernels->backward(arguments[0], arguments[1], arguments[2], p->in, p->out, p->stride);
}

static void expect_backward(const problem *p)
{
    for (size_t i = 0; i < p->in; i++) {
        expect_start(0, i, value(p, 0, i));
        for (size_t j = 0; j < p->out; j++) expect_term(0, i, value(p, 1, i * p->stride + j) * value(p, 2, j));
    }
}

static void check_backward(size_t in, size_t out)
{
    problem p = {
        .kernel = "backward", .run = run_backward, .expect = expect_backward, .outputs = 1, .in = in, .out = out};
    set_argument(&p, 0, in);
    set_argument(&p, 2, out);
    check_strides(&p, in);
}

TEST(backward_adds_the_product)
{
    check_shapes(check_backward);
}

/* ---- backward_many ---- */

static void run_backward_many(const kernel_table *kernels, void *const *arguments, const problem *p)
{
    kernels->backward_many((matrix){arguments[0], p->row[0], 1}, arguments[2],
                           (const_matrix){arguments[1], p->row[1], 1}, p->rows, p->in, p->out);
}

/* As multiply: what lies between the rows stays as it is. */
static void expect_backward_many(const problem *p)
{
    for (size_t i = 0; i < p->count[0]; i++) {
        expect_start(0, i, value(p, 0, i));
        magnitude[0][i] = 0;
    }
    for (size_t r = 0; p->out && r < p->rows; r++) {
        for (size_t i = 0; i < p->in; i++) {
            size_t at = r * p->row[0] + i;
            expect_start(0, at, value(p, 0, at));
            for (size_t j = 0; j < p->out; j++)
                expect_term(0, at, value(p, 1, r * p->row[1] + j) * value(p, 2, i * p->out + j));
        }
    }
}

/* The inputs are the columns that are written, so that they take the many lengths of check_matrices. */
static void check_backward_many(size_t rows, size_t out, size_t in)
{
    problem p = {.kernel = "backward_many",
                 .run = run_backward_many,
                 .expect = expect_backward_many,
                 .outputs = 1,
                 .rows = rows,
                 .in = in,
                 .out = out};
    for (size_t gap = 0; gap < 2; gap++) {
        p.row[0] = in + 3 * gap;
        p.row[1] = out + 5 * gap;
        set_argument(&p, 0, extent(rows, in, p.row[0], 1));
        set_argument(&p, 1, extent(rows, out, p.row[1], 1));
        set_argument(&p, 2, in * out);
        check(&p);
    }
}

TEST(backward_many_adds_the_product)
{
    check_matrices(check_backward_many);
}

/* ---- update ---- */

static void run_update(const kernel_table *kernels, void *const *arguments, const problem *p)
{
    kernels->update(arguments[0], arguments[1], arguments[2], arguments[3], p->in, p->out);
}

/* The biases are argument 1, or there are none. */
static void expect_biases(const problem *p)
{
    for (size_t j = 0; j < p->count[1]; j++) {
        expect_start(1, j, value(p, 1, j));
        expect_term(1, j, value(p, 3, j));
    }
}

static void expect_update(const problem *p)
{
    for (size_t i = 0; i < p->in; i++) {
        for (size_t j = 0; j < p->out; j++) {
            expect_start(0, i * p->out + j, value(p, 0, i * p->out + j));
            expect_term(0, i * p->out + j, value(p, 2, i) * value(p, 3, j));
        }
    }
    expect_biases(p);
}

static void check_update(size_t in, size_t out)
{
    problem p = {.kernel = "update", .run = run_update, .expect = expect_update, .outputs = 2, .in = in, .out = out};
    set_argument(&p, 0, in * out);
    set_argument(&p, 2, in);
    set_argument(&p, 3, out);
    check(&p);
    set_argument(&p, 1, out);
    check(&p);
}

TEST(update_adds_the_outer_product)
{
    check_shapes(check_update);
}

static void run_update_sparse(const kernel_table *kernels, void *const *arguments, const problem *p)
{
    kernels->update_sparse(arguments[0], arguments[1], arguments[4], arguments[2], arguments[3], p->in, p->out);
}

/* A row without an index must stay as it is to the bit. */
static void expect_update_sparse(const problem *p)
{
    for (size_t i = 0; i < p->count[0]; i++) {
        expect_start(0, i, value(p, 0, i));
        magnitude[0][i] = 0;
    }
    for (size_t i = 0; i < p->in; i++) {
        for (size_t j = 0; j < p->out; j++) {
            size_t place_of = indices[i] * p->out + j;
            expect_start(0, place_of, value(p, 0, place_of));
            expect_term(0, place_of, value(p, 2, i) * value(p, 3, j));
        }
    }
    expect_biases(p);
}

static void check_update_sparse(size_t count, size_t out)
{
    problem p = {.kernel = "update_sparse",
                 .run = run_update_sparse,
                 .expect = expect_update_sparse,
                 .outputs = 2,
                 .in = count,
                 .out = out};
    size_t rows = set_indices(&p, 4, count);
    set_argument(&p, 0, rows * out);
    set_argument(&p, 2, count);
    set_argument(&p, 3, out);
    check(&p);
    set_argument(&p, 1, out);
    check(&p);
}

TEST(update_sparse_adds_to_its_rows_alone)
{
    check_shapes(check_update_sparse);
}

/* A row of which the first weight is number 2^32: its place does not fit 32 bits. No memory is taken but for the row.
 */
TEST(sparse_rows_lie_beyond_32_bits)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), out = 64, size = ((size_t)1 << 32) * sizeof(float);
    const uint32_t far = 1u << 26;
    char *map = MAP_FAILED;
    if (sizeof(size_t) > 4)
        map = mmap(NULL, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        print_message("no room for 16 GiB of addresses\n");
        skip();
    }
    assert_int_equal(mprotect(map + size, page, PROT_READ | PROT_WRITE), 0);
    float *w = (float *)(void *)map, *row = w + far * out, x = 3;
    const kernel_table *kernels;
    for (size_t table = 0; (kernels = kernels_at(table)) != NULL; table++) {
        float y[64], delta[64];
        for (size_t j = 0; j < out; j++) row[j] = (float)j, y[j] = 1, delta[j] = 2;
        kernels->forward_sparse(y, y, w, &far, &x, 1, 0, out, out, false);
        kernels->update_sparse(w, NULL, &far, &x, delta, 1, out);
        for (size_t j = 0; j < out; j++) {
            assert_true(y[j] == 1 + 3 * (float)j);
            assert_true(row[j] == (float)j + 6);
        }
    }
    assert_int_equal(munmap(map, size + page), 0);
}

/* ---- relu ---- */

/* What a comparison with zero may get wrong: zeros of both signs, and numbers so small that some arithmetic takes them
 * for zero. */
static void set_borders(size_t argument, size_t n)
{
    static const float borders[] = {-0.0f, 1e-40f, 0.0f, -1e-40f, 1e-45f, 3e38f, -3e38f};
    for (size_t i = 0; i < n; i++)
        if (random_below(&stream, 3) == 0) numbers[argument][i] = borders[random_below(&stream, 7)];
}

static void run_relu(const kernel_table *kernels, void *const *arguments, const problem *p)
{
    kernels->relu(arguments[0], p->in);
}

static void expect_relu(const problem *p)
{
    for (size_t i = 0; i < p->in; i++) {
        expected[0][i] = fmax(value(p, 0, i), 0);
        magnitude[0][i] = 0;
    }
}

static void check_relu(size_t n, size_t none)
{
    problem p = {.kernel = "relu", .run = run_relu, .expect = expect_relu, .outputs = 1, .in = n, .out = none};
    for (int again = 0; again < 4; again++) {
        set_argument(&p, 0, n);
        set_borders(0, n);
        check(&p);
    }
}

TEST(relu_is_exact)
{
    check_lengths(check_relu);
}

static void run_relu_backward(const kernel_table *kernels, void *const *arguments, const problem *p)
{
    /* w is argument 2, or delta itself */
    kernels->relu_backward(arguments[0], p->a, arguments[2] ? arguments[2] : arguments[0], arguments[1], p->in);
}

static void expect_relu_backward(const problem *p)
{
    for (size_t i = 0; i < p->in; i++) {
        float product = p->a * (float)value(p, p->contents[2] ? 2 : 0, i);
        expected[0][i] = value(p, 1, i) > 0 ? (double)product : 0;
        magnitude[0][i] = 0;
    }
}

/* y is what relu gave: the borders pass through it, so that a unit whose output was -0 is off. */
static void check_relu_backward(size_t n, size_t none)
{
    problem p = {.kernel = "relu_backward",
                 .run = run_relu_backward,
                 .expect = expect_relu_backward,
                 .outputs = 1,
                 .in = n,
                 .out = none};
    for (int again = 0; again < 4; again++) {
        set_argument(&p, 0, n);
        set_argument(&p, 1, n);
        set_borders(0, n);
        set_borders(1, n);
        for (size_t i = 0; i < n; i++)
            if (numbers[1][i] < 0) numbers[1][i] = again % 2 ? 0.0f : -0.0f;
        p.a = again ? 0.5f : 1;
        check(&p);
        problem with_weights = p;
        set_argument(&with_weights, 2, n);
        check(&with_weights);
    }
}

TEST(relu_backward_is_exact)
{
    check_lengths(check_relu_backward);
}

/* ---- adam ---- */

static void run_adam(const kernel_table *kernels, void *const *arguments, const problem *p)
{
    kernels->adam(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], p->in, p->out, p->bias,
                  &p->step);
}

static void expect_adam(const problem *p)
{
    double beta1 = (double)p->step.beta1, beta2 = (double)p->step.beta2;
    for (size_t i = 0; i < p->count[0]; i++) {
        double theta = value(p, 0, i), decay = (double)p->step.l2 * theta;
        double x = i < p->in * p->out ? value(p, 3, i / p->out) : 1, gradient = x * value(p, 4, i % p->out);
        double g = gradient + decay, size_of_g = fabs(gradient) + fabs(decay);
        expect_start(1, i, beta1 * value(p, 1, i));
        expect_term(1, i, g);
        magnitude[1][i] += size_of_g;
        expect_start(2, i, beta2 * value(p, 2, i));
        expect_term(2, i, g * g);
        magnitude[2][i] += size_of_g * size_of_g;
        double rate = (double)p->step.rate / (sqrt(expected[2][i]) + (double)p->step.epsilon);
        expect_start(0, i, theta);
        expect_term(0, i, -rate * expected[1][i]);
        magnitude[0][i] += rate * magnitude[1][i];
    }
}

/* The t-th step of PyTorch's Adam, for moments of g times sqrt(1 - beta2) without the factors 1 - beta. */
static adam_step step_at(int t, double rate, float l2)
{
    const double beta1 = 0.9, beta2 = 0.999, correction = sqrt(1 - pow(beta2, t));
    return (adam_step){
        .beta1 = (float)beta1,
        .beta2 = (float)beta2,
        .l2 = l2,
        .rate = (float)(rate * (1 - beta1) / sqrt(1 - beta2) * correction / (1 - pow(beta1, t))),
        .epsilon = (float)(1e-8 * correction),
    };
}

/* Three steps, each from where the reference came to and with a new gradient. With l2 the second moment starts well
 * above zero, as the quotient of two moments that both cancel to nothing is rounding and no more. */
static void check_adam_steps(size_t in, size_t out, bool bias, float l2)
{
    problem p = {
        .kernel = "adam", .run = run_adam, .expect = expect_adam, .outputs = 3, .in = in, .out = out, .bias = bias};
    size_t count = (in + bias) * out;
    for (size_t i = 0; i < 3; i++) set_argument(&p, i, count);
    for (size_t i = 0; i < count; i++) {
        numbers[1][i] = l2 > 0 ? numbers[1][i] : 0;
        numbers[2][i] = l2 > 0 ? 0.1f + numbers[2][i] * numbers[2][i] : 0;
    }
    for (int t = 1; t <= 3; t++) {
        p.step = step_at(t, 0.01, l2);
        set_argument(&p, 3, in);
        set_argument(&p, 4, out);
        check(&p);
        for (size_t i = 0; i < p.outputs; i++) memcpy(numbers[i], by_reference[i], count * sizeof(float));
    }
}

static void check_adam(size_t in, size_t out)
{
    check_adam_steps(in, out, false, 0);
    check_adam_steps(in, out, true, 0.05f);
}

TEST(adam_steps)
{
    check_shapes(check_adam);
}

/* With no past, Adam goes a full rate against the gradient, whatever its size; with no gradient it stays. */
TEST(adam_goes_one_rate_first)
{
    const kernel_table *kernels;
    for (size_t table = 0; (kernels = kernels_at(table)) != NULL; table++) {
        float theta[8] = {1, 1, 1, 1, 1, 1, 1, 1}, first[8] = {0}, second[8] = {0};
        float scale = (float)sqrt(0.001);
        const float x[2] = {1000 * scale, -0.01f * scale}, delta[4] = {1, -1, 3, 0};
        const adam_step step = step_at(1, 0.25, 0);
        kernels->adam(theta, first, second, x, delta, 2, 4, false, &step);
        const float moved[8] = {0.75f, 1.25f, 0.75f, 1, 1.25f, 0.75f, 1.25f, 1};
        assert_floats_close(theta, moved, 8, 1e-6);
    }
}

/* 10^from to 10^to, and 0 now and then, of either sign. */
static double draw_magnitude(random_stream *draw, double from, double to)
{
    double size = random_unit(draw) < 0.1 ? 0 : pow(10, from + (to - from) * random_unit(draw));
    return random_unit(draw) < 0.5 ? -size : size;
}

/* From theta = 0 a step is all of theta. It is compared with what its terms would be if none cancelled. */
static void assert_pytorch_steps(const kernel_table *kernels, int t, random_stream *draw)
{
    enum { COUNT = 233 }; /* blocks, vectors and single numbers of every instruction set */
    const double rate = 1e-3, scale = sqrt(0.001);
    double m[COUNT], v[COUNT], g[COUNT];
    float theta[COUNT] = {0}, first[COUNT], second[COUNT], gradient[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        v[i] = second[i] = (float)fabs(draw_magnitude(draw, -44, 30));
        first[i] = (float)draw_magnitude(draw, -22, 15);
        gradient[i] = (float)(scale * draw_magnitude(draw, -22, 15));
        m[i] = (double)first[i] * 0.1 / scale;
        g[i] = (double)gradient[i] / scale;
    }
    const adam_step step = step_at(t, rate, 0);
    kernels->adam(theta, first, second, (float[]){1}, gradient, 1, COUNT, false, &step);
    for (size_t i = 0; i < COUNT; i++) {
        v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
        double unit = rate / (1 - pow(0.9, t)) / (sqrt(v[i]) / sqrt(1 - pow(0.999, t)) + 1e-8);
        double expected_step = -unit * (0.9 * m[i] + 0.1 * g[i]);
        double size = unit * (fabs(0.9 * m[i]) + fabs(0.1 * g[i]));
        if (!(fabs((double)theta[i] - expected_step) <= 1e-6 * size + 1e-37))
            fail_msg("%s: a step of %.9g for %.9g, m %g, v %g, g %g", kernels->name, (double)theta[i], expected_step,
                     m[i], v[i], g[i]);
    }
}

/* By its formula in double precision, whatever the magnitudes; where epsilon rules, too. */
TEST(adam_steps_as_pytorch_does)
{
    const int times[] = {1, 2, 10, 1000, 100000};
    random_stream draw = random_named(1, "adam");
    const kernel_table *kernels;
    for (size_t table = 0; (kernels = kernels_at(table)) != NULL; table++)
        for (int again = 0; again < 500; again++)
            assert_pytorch_steps(kernels, times[again % (int)(sizeof times / sizeof *times)], &draw);
}

/* 1e18, times sqrt(1 - beta2), again and again until the moments stand still, and one that comes from nowhere. */
TEST(adam_stays_finite)
{
    enum { COUNT = 233 };
    const float largest = (float)(1e18 * sqrt(0.001));
    const kernel_table *kernels;
    for (size_t table = 0; (kernels = kernels_at(table)) != NULL; table++) {
        float theta[COUNT] = {0}, first[COUNT] = {0}, second[COUNT] = {0}, gradient[COUNT] = {0};
        for (int t = 1; t <= 20000; t++) {
            const adam_step step = step_at(t, 1e-3, 1e-4f);
            for (size_t i = 0; i < COUNT; i++)
                gradient[i] = i % 3 == 0 ? largest : i % 3 == 1 && t % 100 == 0 ? -largest : 0;
            kernels->adam(theta, first, second, (float[]){1}, gradient, 1, COUNT, false, &step);
        }
        for (size_t i = 0; i < COUNT; i++) assert_true(isfinite(theta[i]) && isfinite(first[i]) && isfinite(second[i]));
    }
}

/* ---- the tables ---- */

TEST(tables_have_names_of_their_own)
{
    size_t count = 0;
    while (kernels_at(count)) {
        assert_true(count < TABLES);
        print_message("kernels: table %zu is %s\n", count, kernels_at(count)->name);
        for (size_t i = 0; i < count; i++) assert_string_not_equal(kernels_at(i)->name, kernels_at(count)->name);
        count++;
    }
    assert_true(count >= 2);
    assert_null(kernels_at(count + 1));
    assert_null(kernels_at(SIZE_MAX));
    assert_string_equal(kernels_at(0)->name, "reference");
    assert_ptr_equal(kernels_best(), kernels_at(count - 1));
    assert_string_equal(ee_kernels(), kernels_best()->name);
}

TEST(who_asks_for_a_table_gets_it)
{
    const kernel_table *fastest = kernels_best();
    assert_false(kernels_use("avx1024"));
    assert_ptr_equal(kernels_best(), fastest);
    assert_true(kernels_use("reference"));
    assert_ptr_equal(kernels_best(), kernels_at(0));
    assert_string_equal(ee_kernels(), "reference");
    assert_true(kernels_use(fastest->name));
    assert_ptr_equal(kernels_best(), fastest);
}

TEST_GROUP(raise_walls, take_walls_down)
