/* The inner loops, every table that this machine runs, at the sizes of the networks on Yelp and on MNIST. */
#include <stdio.h>

#include "base/memory.h"
#include "base/random.h"
#include "bench_report.h"
#include "math/kernels.h"

enum { WIDTH = 100, YELP = 20, MNIST = 7840, NONZEROS = 150, SPARSE_ROUNDS = 10, MOST = MNIST * WIDTH };

typedef struct operands {
    float *x;     /* (MNIST) */
    float *y;     /* (WIDTH) */
    float *theta; /* (MOST), as the next three */
    float *first, *second, *gradient;
    uint32_t *index; /* (SPARSE_ROUNDS, NONZEROS): an image in each of the blocks of MNIST's arms */
} operands;

/* One call of a kernel; turn counts the calls. */
typedef void kernel_call(const kernel_table *k, operands *o, size_t turn);

static void call_dot(const kernel_table *k, operands *o, size_t turn)
{
    (void)turn;
    o->y[0] += 1e-9f * k->dot(o->theta, o->gradient, YELP * WIDTH);
}

static void call_forward(const kernel_table *k, operands *o, size_t turn)
{
    (void)turn;
    k->forward(o->y, o->y, o->theta, o->x, YELP, WIDTH, WIDTH, false);
}

static void call_forward_sparse(const kernel_table *k, operands *o, size_t turn)
{
    k->forward_sparse(o->y, o->y, o->theta, o->index + turn % SPARSE_ROUNDS * NONZEROS, o->x, NONZEROS, 0, WIDTH, WIDTH,
                      false);
}

/* A batch through the first layer of the preset eenet. */
enum { BATCH = 64, WIDE = 400 };

static void call_multiply(const kernel_table *k, operands *o, size_t turn)
{
    (void)turn;
    k->multiply((matrix){o->first, WIDE, 1}, (const_matrix){o->second, YELP, 1}, (const_matrix){o->theta, WIDE, 1},
                BATCH, YELP, WIDE);
}

static void call_backward(const kernel_table *k, operands *o, size_t turn)
{
    (void)turn;
    k->backward(o->x, o->theta, o->y, YELP, WIDTH, WIDTH);
}

static void call_update(const kernel_table *k, operands *o, size_t turn)
{
    (void)turn;
    k->update(o->theta, NULL, o->x, o->y, YELP, WIDTH);
}

static void call_update_sparse(const kernel_table *k, operands *o, size_t turn)
{
    k->update_sparse(o->theta, NULL, o->index + turn % SPARSE_ROUNDS * NONZEROS, o->x, o->y, NONZEROS, WIDTH);
}

static const adam_step step = {0.9f, 0.999f, 1e-4f, 1e-9f, 1e-8f};

static void call_adam(const kernel_table *k, operands *o, size_t turn)
{
    (void)turn;
    k->adam(o->theta, o->first, o->second, o->x, o->y, YELP, WIDTH, false, &step);
}

static void call_adam_large(const kernel_table *k, operands *o, size_t turn)
{
    (void)turn;
    k->adam(o->theta, o->first, o->second, o->x, o->y, MNIST, WIDTH, false, &step);
}

/* Adam: 13 operations a parameter, the root as one; reads three arrays, writes them. */
enum { ADAM_FLOPS = 13, ADAM_BYTES = 6 * sizeof(float), CELL = sizeof(float), ENTRIES = YELP * WIDTH };

static const struct kernel_row {
    const char *name;
    kernel_call *call;
    work needed;
} rows[] = {
    {"dot of 2000", call_dot, {2 * ENTRIES, 2 * CELL *ENTRIES, 2 * CELL *ENTRIES}},
    {"forward 20 to 100", call_forward, {2 * ENTRIES, CELL *ENTRIES, CELL *ENTRIES}},
    {"forward 150 of 7840 to 100",
     call_forward_sparse,
     {2 * NONZEROS * WIDTH, CELL *NONZEROS *WIDTH, CELL *SPARSE_ROUNDS *NONZEROS *WIDTH}},
    {"multiply, 64 times 20 to 400",
     call_multiply,
     {2 * BATCH * YELP * WIDE, CELL *WIDE *(YELP + 2 * BATCH), CELL *WIDE *(YELP + BATCH)}},
    {"backward 100 to 20", call_backward, {2 * ENTRIES, CELL *ENTRIES, CELL *ENTRIES}},
    {"update 20 by 100", call_update, {2 * ENTRIES, 2 * CELL *ENTRIES, CELL *ENTRIES}},
    {"update 150 of 7840 by 100",
     call_update_sparse,
     {2 * NONZEROS * WIDTH, 2 * CELL *NONZEROS *WIDTH, CELL *SPARSE_ROUNDS *NONZEROS *WIDTH}},
    {"adam of 2000", call_adam, {ADAM_FLOPS * ENTRIES, ADAM_BYTES *ENTRIES, 3 * CELL *ENTRIES}},
    {"adam of 784000", call_adam_large, {(double)ADAM_FLOPS * MOST, (double)ADAM_BYTES *MOST, 3.0 * CELL *MOST}},
};

/* So that no repeat begins with what the one before it let grow or vanish. */
static void refill(operands *o)
{
    random_stream draw = random_named(1, "bench");
    for (size_t i = 0; i < MOST; i++) {
        o->theta[i] = o->gradient[i] = ((float)random_unit(&draw) - 0.5f) / 16;
        o->first[i] = o->second[i] = 0.01f;
        o->x[i % MNIST] = o->y[i % WIDTH] = 1e-3f;
    }
    for (size_t i = 0; i < SPARSE_ROUNDS * NONZEROS; i++)
        o->index[i] = (uint32_t)(i / NONZEROS * (MNIST / SPARSE_ROUNDS) + i % NONZEROS * 5 + random_below(&draw, 5));
}

static void measure_kernel(const kernel_table *k, const struct kernel_row *row, operands *o, measurement *taken)
{
    enum { STEADY = 64 }; /* calls after which y is set back, so that nothing grows without bound */
    double each = 1e-3 / (row->needed.bytes * 1e-10);
    size_t turns = each < 1 ? 1 : (size_t)each;
    refill(o);
    for (size_t turn = 0; turn < SPARSE_ROUNDS; turn++) row->call(k, o, turn);
    while (measure_more(taken, 0.2)) {
        stretch start = measure_start();
        for (size_t turn = 0; turn < turns; turn++) {
            row->call(k, o, turn);
            if (turn % STEADY == 0)
                for (size_t i = 0; i < WIDTH; i++) o->y[i] = o->x[i] = 1e-3f;
        }
        measure_add(taken, start, (double)turns);
    }
}

static ee_status create_operands(operands *o, ee_error *error)
{
    ee_status status = memory_create(NULL, &o->x, MNIST, sizeof *o->x, error);
    if (!status) status = memory_create(NULL, &o->y, WIDTH, sizeof *o->y, error);
    if (!status) status = memory_create(NULL, &o->theta, MOST, sizeof *o->theta, error);
    if (!status) status = memory_create(NULL, &o->first, MOST, sizeof *o->first, error);
    if (!status) status = memory_create(NULL, &o->second, MOST, sizeof *o->second, error);
    if (!status) status = memory_create(NULL, &o->gradient, MOST, sizeof *o->gradient, error);
    if (!status) status = memory_create(NULL, &o->index, SPARSE_ROUNDS * NONZEROS, sizeof *o->index, error);
    return status;
}

static void destroy_operands(operands *o)
{
    memory_free(o->x);
    memory_free(o->y);
    memory_free(o->theta);
    memory_free(o->first);
    memory_free(o->second);
    memory_free(o->gradient);
    memory_free(o->index);
}

ee_status bench_kernels(bench_report *to, ee_error *error)
{
    operands o = {0};
    ee_status status = create_operands(&o, error);
    bench_report_begin(to, "kernels", "one call of a kernel");
    for (size_t k = 0; !status && kernels_at(k); k++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            char name[96];
            snprintf(name, sizeof name, "%s: %s", kernels_at(k)->name, rows[i].name);
            if (!bench_report_wants(to, name)) continue;
            measurement taken = {0};
            measure_kernel(kernels_at(k), &rows[i], &o, &taken);
            bench_report_row(to, name, &taken, &rows[i].needed);
        }
    destroy_operands(&o);
    return status;
}
