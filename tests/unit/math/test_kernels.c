/* Every kernel of every table that this machine runs, at every length from 0 to 67 and some beyond, at unaligned
 * starts, between marks and against a wall. The reference is held to sums in double written here, the other tables to
 * the reference. */
#define _DEFAULT_SOURCE
#include "math/kernels.h"

#include <sys/mman.h>
#include <unistd.h>

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

/* The arguments of a kernel. Those that are written come first. */
enum { C, START, A, B, INDEX, BIASES = START };

/* A kernel with its arguments. Most kernels are products: C (rows, columns) gets the sums over the terms of A B, from C
 * on, from zeros or from one row at START. Entry (r, i) of A lies at r * a_row + i * a_column. */
typedef struct problem problem;
struct problem {
    const char *kernel;
    void (*run)(const kernel_table *kernels, void *const *x, const problem *p);
    void (*expect)(const problem *p);
    size_t outputs;
    size_t rows, columns, terms;
    size_t c_row, a_row, a_column, b_row, b_column;
    const uint32_t *rows_at, *terms_at; /* of sparse inputs; NULL: all */
    bool from_zeros, relu, bias;
    float factor;
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
static char marks[MARKS * sizeof(float)];
static random_stream stream;

static int raise_walls(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARGUMENTS; i++) {
        size_t size = (CAPACITY + MARKS + 16) * sizeof(float);
        ends[i] = (char *)guard_end_bytes(&walls[i], size) + size;
    }
    memset(marks, 0xff, sizeof marks);
    stream = random_named(1, "kernels");
    return 0;
}

static int take_walls_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARGUMENTS; i++) guard_free(&walls[i]);
    return 0;
}

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

/* Ascending indices with gaps between them. */
static const uint32_t *set_indices(problem *p, size_t count)
{
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        next += random_below(&stream, 4) == 0 ? 1 + random_below(&stream, 6) : 0;
        indices[i] = (uint32_t)next++;
    }
    p->contents[INDEX] = indices;
    p->count[INDEX] = count;
    return indices;
}

/* Floats from the first entry of a matrix to its last. at: the rows that there are. */
static size_t extent(size_t rows, const uint32_t *at, size_t columns, size_t row, size_t column)
{
    if (at && rows) rows = at[rows - 1] + 1;
    return rows && columns ? (rows - 1) * row + (columns - 1) * column + 1 : 0;
}

static void *place(const problem *p, size_t argument, size_t gap)
{
    size_t size = p->count[argument] * sizeof(float);
    char *start = ends[argument] - gap * sizeof(float) - size;
    memset(start - MARKS * sizeof(float), 0xff, MARKS * sizeof(float) + size + gap * sizeof(float));
    if (size) memcpy(start, p->contents[argument], size);
    return start;
}

static void fail_problem(const problem *p, const char *table, size_t argument, const char *what)
{
    fail_msg("%s, %s, %zu rows, %zu columns, %zu terms: argument %zu %s", table, p->kernel, p->rows, p->columns,
             p->terms, argument, what);
}

static void assert_output(const problem *p, const char *table, size_t argument, const float *got)
{
    const double *want = expected[argument], *size = magnitude[argument];
    for (size_t i = 0; i < p->count[argument]; i++) {
        if (fabs((double)got[i] - want[i]) <= 1e-5 * size[i]) continue;
        print_error("[%zu]: got %.9g, expected %.9g within %g\n", i, (double)got[i], want[i], 1e-5 * size[i]);
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
        assert_output(p, "reference", i, by_reference[i]);
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
        if (memcmp(start - sizeof marks, marks, sizeof marks) != 0)
            fail_problem(p, kernels->name, i, "was left at its start");
        if (memcmp(start + size, marks, gap[i] * sizeof(float)) != 0)
            fail_problem(p, kernels->name, i, "was left at its end");
        if (i >= p->outputs) {
            if (size && memcmp(start, p->contents[i], size) != 0)
                fail_problem(p, kernels->name, i, "is read only, and was written");
            continue;
        }
        if (is_first) {
            assert_output(p, kernels->name, i, arguments[i]);
            memcpy(first_placed[i], start, size);
        } else if (memcmp(first_placed[i], start, size) != 0) {
            fail_problem(p, kernels->name, i, "depends on where its arguments lie");
        }
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

/* A check of one shape in one of its variants: strides, starts, with or without a rectifier. */
typedef void (*shape_check)(size_t rows, size_t in, size_t out, size_t variant);

/* In the usual form a shape has one of its variants, drawn so that no length always has the same; in the long form all
 * of them. */
static void check_variants(shape_check check_shape, size_t variants, size_t rows, size_t in, size_t out)
{
    size_t count = test_long(1, variants);
    for (size_t i = 0; i < count; i++)
        check_shape(rows, in, out, count == 1 ? (size_t)random_below(&stream, variants) : i);
}

/* in over a few and out over all lengths, then the other way round. */
static void check_shapes(shape_check check_shape, size_t variants)
{
    static const size_t few_in[] = {7, 20, 1, 0, 2, 3}, few_out[] = {3, 17, 67, 0, 1, 2, 4, 5, 15, 16, 20, 64};
    for (size_t i = 0; i < test_long(4, sizeof few_in / sizeof *few_in); i++)
        for (size_t out = 0; out <= LONGEST; out++) check_variants(check_shape, variants, 1, few_in[i], out);
    for (size_t i = 0; i < test_long(5, sizeof few_out / sizeof *few_out); i++)
        for (size_t in = 0; in <= LONGEST; in++) check_variants(check_shape, variants, 1, in, few_out[i]);
    for (size_t i = 0; i < sizeof long_lengths / sizeof *long_lengths; i++) {
        check_variants(check_shape, variants, 1, 3, long_lengths[i]);
        check_variants(check_shape, variants, 1, 20, long_lengths[i]);
    }
}

static void check_lengths(void (*check_length)(size_t n))
{
    for (size_t n = 0; n <= LONGEST; n++) check_length(n);
    for (size_t i = 0; i < sizeof long_lengths / sizeof *long_lengths; i++) check_length(long_lengths[i]);
}

/* Lengths of an output around one, two, four and eight vectors of 4, 8 and 16 floats. Of the combinations of rows, in
 * and out the usual form has every third. */
static void check_matrices(shape_check check_matrix, size_t variants)
{
    static const size_t around[] = {0,  1,  2,  3,  4,  5,  7,  8,  9,  11, 12, 13, 15, 16, 17, 20,
                                    23, 24, 31, 32, 33, 47, 48, 49, 63, 64, 65, 67, 79, 80, 129};
    static const size_t long_sides[][3] = {{64, 20, 67},  {20, 64, 67}, {13, 67, 20},  {67, 13, 100}, {66, 64, 17},
                                           {10, 600, 20}, {33, 10, 50}, {65, 130, 33}, {34, 257, 23}};
    size_t step = test_long(3, 1);
    for (size_t rows = 0; rows <= 9; rows++)
        for (size_t in = 0; in <= 9; in++)
            for (size_t i = (rows + in) % step; i < sizeof around / sizeof *around; i += step)
                check_variants(check_matrix, variants, rows, in, around[i]);
    for (size_t i = 0; i < sizeof long_sides / sizeof *long_sides; i++)
        check_variants(check_matrix, variants, long_sides[i][0], long_sides[i][1], long_sides[i][2]);
}

/* Starts an output entry at start and adds terms to it. What no term is added to must be exact. */
static void expect_start(size_t argument, size_t i, double start)
{
    expected[argument][i] = start;
    magnitude[argument][i] = 0;
}

static void expect_term(size_t argument, size_t i, double term)
{
    if (magnitude[argument][i] == 0) magnitude[argument][i] = fabs(expected[argument][i]);
    expected[argument][i] += term;
    magnitude[argument][i] += fabs(term);
}

static double value(const problem *p, size_t argument, size_t i)
{
    return (double)((const float *)p->contents[argument])[i];
}

static size_t index_of(const uint32_t *at, size_t i)
{
    return at ? at[i] : i;
}

/* What lies between the rows of C must stay as it is to the bit. */
static void expect_product(const problem *p)
{
    for (size_t i = 0; i < p->count[C]; i++) expect_start(C, i, value(p, C, i));
    for (size_t r = 0; r < p->rows; r++) {
        for (size_t j = 0; j < p->columns; j++) {
            size_t at = index_of(p->rows_at, r) * p->c_row + j;
            if (p->from_zeros) expect_start(C, at, 0);
            if (p->contents[START] && p->outputs == 1) expect_start(C, at, value(p, START, j));
            for (size_t i = 0; i < p->terms; i++)
                expect_term(C, at,
                            value(p, A, r * p->a_row + i * p->a_column) *
                                value(p, B, index_of(p->terms_at, i) * p->b_row + j * p->b_column));
            if (p->relu && expected[C][at] < 0) expected[C][at] = 0;
        }
    }
    for (size_t j = 0; p->outputs == 2 && j < p->count[BIASES]; j++) {
        expect_start(BIASES, j, value(p, BIASES, j));
        expect_term(BIASES, j, value(p, B, j));
    }
}

/* A product of matrices that lie row by row without gaps. */
static problem product(const char *kernel, void (*run)(const kernel_table *, void *const *, const problem *),
                       size_t rows, size_t columns, size_t terms)
{
    return (problem){.kernel = kernel,
                     .run = run,
                     .expect = expect_product,
                     .outputs = 1,
                     .rows = rows,
                     .columns = columns,
                     .terms = terms,
                     .c_row = columns,
                     .a_row = terms,
                     .a_column = 1,
                     .b_row = columns,
                     .b_column = 1};
}

/* Draws C, A and B, whose layout is known. */
static void check_product(problem *p)
{
    set_argument(p, C, extent(p->rows, p->rows_at, p->columns, p->c_row, 1));
    set_argument(p, A, extent(p->rows, NULL, p->terms, p->a_row, p->a_column));
    set_argument(p, B, extent(p->terms, p->terms_at, p->columns, p->b_row, p->b_column));
    check(p);
}

static void run_dot(const kernel_table *kernels, void *const *x, const problem *p)
{
    *(float *)x[C] = kernels->dot(x[A], x[B], p->terms);
}

static void check_dot(size_t n)
{
    problem p = product("dot", run_dot, 1, 1, n);
    p.from_zeros = true;
    check_product(&p);
}

static void run_add_scaled(const kernel_table *kernels, void *const *x, const problem *p)
{
    kernels->add_scaled(x[C], *(const float *)x[A], x[B], p->columns);
}

static void check_add_scaled(size_t n)
{
    problem p = product("add_scaled", run_add_scaled, 1, n, 1);
    check_product(&p);
}

/* Rows side by side, rows that overlap as the windows of a convolution do, rows with gaps. The last row ends where it
 * ends: there is no gap behind it. */
static size_t stride_of(size_t out, size_t variant)
{
    const size_t strides[] = {out, out / 2, 1, out + 3};
    return strides[variant % 4];
}

static const void *start_of(void *const *x, const problem *p)
{
    return x[START] ? x[START] : p->from_zeros ? NULL : x[C];
}

static void run_forward(const kernel_table *kernels, void *const *x, const problem *p)
{
    if (p->terms_at)
        kernels->forward_sparse(x[C], start_of(x, p), x[B], x[INDEX], x[A], p->terms, p->count[INDEX] - p->terms,
                                p->columns, p->b_row, p->relu);
    else
        kernels->forward(x[C], start_of(x, p), x[B], x[A], p->terms, p->columns, p->b_row, p->relu);
}

/* From y on, from zeros, and from biases through a rectifier. */
static void check_starts(problem *p, size_t variant)
{
    p->from_zeros = variant % 3 == 1;
    p->relu = variant % 3 == 2;
    if (p->relu) set_argument(p, START, p->columns);
    check_product(p);
}

enum { FORWARD_VARIANTS = 3 * 4 };

static void check_forward(size_t rows, size_t in, size_t out, size_t variant)
{
    problem p = product("forward", run_forward, rows, out, in);
    p.b_row = stride_of(out, variant);
    check_starts(&p, variant);
}

/* Rows that are only fetched need not be there. */
static void check_forward_sparse(size_t rows, size_t in, size_t out, size_t variant)
{
    problem p = product("forward_sparse", run_forward, rows, out, in);
    p.terms_at = set_indices(&p, in + (variant / FORWARD_VARIANTS ? 1 + random_below(&stream, BEHIND) : 0));
    p.b_row = stride_of(out, variant);
    check_starts(&p, variant);
}

static void run_forward_pair(const kernel_table *kernels, void *const *x, const problem *p)
{
    const_matrix start = {x[C], p->c_row, 1};
    if (x[START]) start = (const_matrix){x[START], 0, 1};
    kernels->forward_pair((matrix){x[C], p->c_row, 1}, start, x[B], x[INDEX], x[A], p->terms, p->columns, p->b_row,
                          p->relu);
}

/* From y on, and from biases through a rectifier; rows side by side, and with a gap between them. */
static void check_forward_pair(size_t rows, size_t in, size_t out, size_t variant)
{
    problem p = product("forward_pair", run_forward_pair, rows, out, in);
    p.terms_at = set_indices(&p, in);
    p.c_row = out + variant / 4 * 3;
    p.a_row = 1;
    p.a_column = 2;
    p.b_row = stride_of(out, variant);
    p.relu = variant / 4;
    if (p.relu) set_argument(&p, START, out);
    check_product(&p);
}

TEST(forward_pair_adds_to_both)
{
    size_t step = test_long(3, 1);
    for (size_t out = 16; out <= LONGEST; out++)
        for (size_t count = out % step; count <= 20; count += step)
            check_variants(check_forward_pair, 8, 2, count, out);
    for (size_t variant = 0; variant < 8; variant++) {
        check_forward_pair(2, LONGEST, LONGEST, variant);
        check_forward_pair(2, 9, 149, variant);
        check_forward_pair(2, 9, 192, variant);
    }
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

static void run_multiply(const kernel_table *kernels, void *const *x, const problem *p)
{
    kernels->multiply((matrix){x[C], p->c_row, 1}, (const_matrix){x[A], p->a_row, p->a_column},
                      (const_matrix){x[B], p->b_row, 1}, p->rows, p->terms, p->columns);
}

/* a row by row and column by column; all rows side by side, or each matrix with a gap of its own between them. */
static void check_multiply(size_t rows, size_t in, size_t out, size_t variant)
{
    bool transposed = variant % 2, apart = variant / 2;
    problem p = product("multiply", run_multiply, rows, out, in);
    size_t a_line = (transposed ? rows : in) + (apart ? 5 : 0);
    p.c_row = out + (apart ? 3 : 0);
    p.a_row = transposed ? 1 : a_line;
    p.a_column = transposed ? a_line : 1;
    p.b_row = out + (apart ? 7 : 0);
    check_product(&p);
}

static void run_forward_many(const kernel_table *kernels, void *const *x, const problem *p)
{
    kernels->forward_many((matrix){x[C], p->c_row, 1}, x[START], x[B], (const_matrix){x[A], p->a_row, 1}, p->rows,
                          p->terms, p->columns, p->relu);
}

/* With and without a bias and a rectifier; rows side by side, or with a gap of their own between them. */
static void check_forward_many(size_t rows, size_t in, size_t out, size_t variant)
{
    problem p = product("forward_many", run_forward_many, rows, out, in);
    p.relu = variant % 2;
    p.c_row = out + 3 * (variant / 2);
    p.a_row = in + 5 * (variant / 2);
    p.from_zeros = variant == 2;
    if (!p.from_zeros) set_argument(&p, START, out);
    check_product(&p);
}

static void run_backward(const kernel_table *kernels, void *const *x, const problem *p)
{
    kernels->backward(x[C], x[B], x[A], p->columns, p->terms, p->b_column);
}

static void check_backward(size_t rows, size_t in, size_t out, size_t variant)
{
    problem p = product("backward", run_backward, rows, in, out);
    p.b_row = 1;
    p.b_column = stride_of(out, variant);
    check_product(&p);
}

static void run_backward_many(const kernel_table *kernels, void *const *x, const problem *p)
{
    kernels->backward_many((matrix){x[C], p->c_row, 1}, x[B], (const_matrix){x[A], p->a_row, 1}, p->rows, p->columns,
                           p->terms);
}

/* The inputs are the columns that are written, so that they take the many lengths of check_matrices. */
static void check_backward_many(size_t rows, size_t out, size_t in, size_t variant)
{
    problem p = product("backward_many", run_backward_many, rows, in, out);
    p.c_row = in + 3 * variant;
    p.a_row = out + 5 * variant;
    p.b_row = 1;
    p.b_column = out;
    check_product(&p);
}

static void run_update(const kernel_table *kernels, void *const *x, const problem *p)
{
    if (p->rows_at)
        kernels->update_sparse(x[C], x[BIASES], x[INDEX], x[A], x[B], p->rows, p->columns);
    else
        kernels->update(x[C], x[BIASES], x[A], x[B], p->rows, p->columns);
}

/* With and without biases. A row without an index must stay as it is to the bit. */
static void check_update(size_t rows, size_t in, size_t out, size_t variant)
{
    problem p = product("update", run_update, in, out, rows);
    p.outputs = 2;
    if (variant / 2) p.rows_at = set_indices(&p, in);
    if (variant % 2) set_argument(&p, BIASES, out);
    check_product(&p);
}

TEST(layers_are_products)
{
    check_shapes(check_forward, FORWARD_VARIANTS);
    check_shapes(check_forward_sparse, 2 * FORWARD_VARIANTS);
    check_shapes(check_backward, 4);
    for (int again = 0; again < 2; again++) check_shapes(check_update, 4);
    check_matrices(check_multiply, 4);
    check_matrices(check_forward_many, 4);
    check_matrices(check_backward_many, 2);
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

/* What a comparison with zero may get wrong: zeros of both signs, and numbers so small that some arithmetic takes them
 * for zero. */
static void set_borders(size_t argument, size_t n)
{
    static const float borders[] = {-0.0f, 1e-40f, 0.0f, -1e-40f, 1e-45f, 3e38f, -3e38f};
    for (size_t i = 0; i < n; i++)
        if (random_below(&stream, 3) == 0) numbers[argument][i] = borders[random_below(&stream, 7)];
}

static void run_relu(const kernel_table *kernels, void *const *x, const problem *p)
{
    kernels->relu(x[C], p->columns);
}

static void expect_relu(const problem *p)
{
    for (size_t i = 0; i < p->columns; i++) expect_start(C, i, fmax(value(p, C, i), 0));
}

/* delta is C, y is A, and w is B, or delta itself. */
static void run_relu_backward(const kernel_table *kernels, void *const *x, const problem *p)
{
    kernels->relu_backward(x[C], p->factor, x[B] ? x[B] : x[C], x[A], p->columns);
}

static void expect_relu_backward(const problem *p)
{
    for (size_t i = 0; i < p->columns; i++) {
        float product = p->factor * (float)value(p, p->contents[B] ? B : C, i);
        expect_start(C, i, value(p, A, i) > 0 ? (double)product : 0);
    }
}

/* y is what relu gave: the borders pass through it, so that a unit whose output was -0 is off. */
static void check_relu(size_t n)
{
    for (int again = 0; again < 4; again++) {
        problem p = {.kernel = "relu", .run = run_relu, .expect = expect_relu, .outputs = 1, .rows = 1, .columns = n};
        set_argument(&p, C, n);
        set_borders(C, n);
        check(&p);
        p.kernel = "relu_backward";
        p.run = run_relu_backward;
        p.expect = expect_relu_backward;
        p.factor = again ? 0.5f : 1;
        set_argument(&p, A, n);
        set_borders(A, n);
        for (size_t i = 0; i < n; i++)
            if (numbers[A][i] < 0) numbers[A][i] = again % 2 ? 0.0f : -0.0f;
        check(&p);
        set_argument(&p, B, n);
        check(&p);
    }
}

TEST(vectors_are_multiplied_added_and_rectified)
{
    check_lengths(check_relu);
    check_lengths(check_dot);
    for (int again = 0; again < 3; again++) check_lengths(check_add_scaled);
}

static void run_adam(const kernel_table *kernels, void *const *x, const problem *p)
{
    kernels->adam(x[0], x[1], x[2], x[3], x[4], p->rows, p->columns, p->bias, &p->step);
}

static void expect_adam(const problem *p)
{
    double beta1 = (double)p->step.beta1, beta2 = (double)p->step.beta2;
    for (size_t i = 0; i < p->count[0]; i++) {
        double theta = value(p, 0, i), decay = (double)p->step.l2 * theta;
        double x = i < p->rows * p->columns ? value(p, 3, i / p->columns) : 1;
        double gradient = x * value(p, 4, i % p->columns), g = gradient + decay;
        double size_of_g = fabs(gradient) + fabs(decay);
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
static void check_adam(size_t rows, size_t in, size_t out, size_t variant)
{
    (void)rows;
    float l2 = variant ? 0.05f : 0;
    problem p = {.kernel = "adam", .run = run_adam, .expect = expect_adam, .outputs = 3, .rows = in, .columns = out};
    p.bias = variant;
    size_t count = (in + p.bias) * out;
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
        for (size_t again = 0; again < test_long(50, 500); again++)
            assert_pytorch_steps(kernels, times[again % (sizeof times / sizeof *times)], &draw);
    check_shapes(check_adam, 2);
}

/* 1e18, times sqrt(1 - beta2), again and again until the moments stand still, and one that comes from nowhere. */
TEST(adam_stays_finite)
{
    enum { COUNT = 233 };
    const float largest = (float)(1e18 * sqrt(0.001));
    const kernel_table *kernels;
    for (size_t table = 0; (kernels = kernels_at(table)) != NULL; table++) {
        float theta[COUNT] = {0}, first[COUNT] = {0}, second[COUNT] = {0}, gradient[COUNT] = {0};
        for (int t = 1; t <= (int)test_long(5000, 20000); t++) {
            const adam_step step = step_at(t, 1e-3, 1e-4f);
            for (size_t i = 0; i < COUNT; i++)
                gradient[i] = i % 3 == 0 ? largest : i % 3 == 1 && t % 100 == 0 ? -largest : 0;
            kernels->adam(theta, first, second, (float[]){1}, gradient, 1, COUNT, false, &step);
        }
        for (size_t i = 0; i < COUNT; i++) assert_true(isfinite(theta[i]) && isfinite(first[i]) && isfinite(second[i]));
    }
}

TEST(tables_have_names_and_are_used_by_them)
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
