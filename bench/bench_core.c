/* The engine's own numbers: whole runs, single calls, kernels. Each is the median of repeated measurements, with the
 * smallest and the largest beside it. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "lab/environment.h"
#include "lab/runner.h"
#include "math/kernels.h"

enum { REPEATS = 9, RUN_REPEATS = 5 };

static double seconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(const char *what, double *values, size_t count, double scale, const char *unit)
{
    qsort(values, count, sizeof *values, compare);
    printf("  %-44s %10.3f %10.3f %10.3f  %s\n", what, scale * values[count / 2], scale * values[0],
           scale * values[count - 1], unit);
}

static void check(ee_status status, const ee_error *error)
{
    if (!status) return;
    fprintf(stderr, "bench: %s\n", error->message);
    exit(1);
}

/* ---- whole runs: 10,000 rounds of ten arms with 20 features ---- */

static void bench_run(const dataset *data, const char *policy, uint64_t rounds)
{
    double taken[RUN_REPEATS], regret = 0;
    char what[96];
    for (size_t i = 0; i < RUN_REPEATS; i++) {
        run_job job = {.data = data, .policy = policy, .seed = i, .rounds = rounds};
        run_watch nobody = {0};
        run_result result;
        ee_error error;
        check(runner_run(&job, &nobody, &result, &error), &error);
        taken[i] = result.seconds;
        regret += result.regret / RUN_REPEATS;
    }
    snprintf(what, sizeof what, "%s (mean regret %.0f)", policy, regret);
    print_row(what, taken, RUN_REPEATS, 1, "s");
}

static void bench_runs(void)
{
    const char *folder = getenv("EENET_DATA");
    char text[4096] = "synthetic:cosine,dim=20,arms=10";
    if (folder) snprintf(text, sizeof text, "yelp:%s/yelp", folder);
    dataset *data;
    ee_error error;
    check(dataset_open(text, NULL, &data, &error), &error);
    printf("\n10000 rounds of %s, seeds 0-%d%s\n", folder ? "yelp" : text, RUN_REPEATS - 1,
           folder ? "" : " (set EENET_DATA to the folder that holds yelp/ for the real rounds)");
    const char *policies[] = {"eenet:authors", "eenet", "greedy"};
    for (size_t i = 0; i < 3; i++) bench_run(data, policies[i], 10000);
    dataset_free(data);
}

/* ---- single calls ---- */

enum { CALLS = 500, DIM = 20, ARMS = 10 };

/* Seconds of the two calls, over rounds that are decided and rewarded at once. By the clock on the wall: the one of the
 * processor takes longer to read than a call takes. */
static void time_rounds(ee_bandit *bandit, double *decide, double *learn)
{
    static float values[CALLS][ARMS * DIM];
    random_stream draw = random_named(1, "bench");
    for (size_t i = 0; i < CALLS; i++)
        for (size_t j = 0; j < ARMS * DIM; j++) values[i][j] = (float)random_normal(&draw) / 4;
    *decide = *learn = 0;
    for (size_t i = 0; i < CALLS; i++) {
        ee_arms arms = ee_arms_dense(values[i], ARMS, DIM);
        ee_decision decision;
        ee_error error;
        double start = seconds(CLOCK_MONOTONIC);
        check(ee_bandit_decide(bandit, &arms, &decision, NULL, &error), &error);
        double decided = seconds(CLOCK_MONOTONIC);
        check(ee_bandit_learn(bandit, decision.id, values[i][decision.arm * DIM] > 0, &error), &error);
        *decide += (decided - start) / CALLS;
        *learn += (seconds(CLOCK_MONOTONIC) - decided) / CALLS;
    }
}

static void bench_calls(const char *policy)
{
    ee_settings settings = {policy, DIM, 1, NULL};
    ee_bandit *bandit;
    ee_error error;
    check(ee_bandit_create(&settings, &bandit, &error), &error);
    double decide[REPEATS], learn[REPEATS];
    time_rounds(bandit, &decide[0], &learn[0]); /* so that there is something to decide by */
    for (size_t i = 0; i < REPEATS; i++) time_rounds(bandit, &decide[i], &learn[i]);
    ee_bandit_free(bandit);
    char what[96];
    snprintf(what, sizeof what, "%s: decide", policy);
    print_row(what, decide, REPEATS, 1e6, "us");
    snprintf(what, sizeof what, "%s: learn, training included", policy);
    print_row(what, learn, REPEATS, 1e6, "us");
}

/* ---- a linear policy on arms of MNIST's shape: an image in each of ten blocks ---- */

enum { SIDE = 784, BLOCKS = 10, NONZEROS = 150, BLOCK_ROUNDS = 1000 };

static void draw_image(random_stream *draw, uint32_t *indices, float *values)
{
    for (uint32_t i = 0; i < NONZEROS; i++) {
        uint32_t pixel = 5 * i + (uint32_t)random_below(draw, 5);
        float value = (float)random_unit(draw) / 10;
        for (uint32_t b = 0; b < BLOCKS; b++) {
            indices[b * NONZEROS + i] = b * SIDE + pixel;
            values[b * NONZEROS + i] = value;
        }
    }
}

static void bench_blocks(const char *policy)
{
    static double taken[BLOCK_ROUNDS];
    static uint32_t indices[BLOCKS * NONZEROS];
    static float values[BLOCKS * NONZEROS];
    size_t starts[BLOCKS + 1];
    for (size_t b = 0; b <= BLOCKS; b++) starts[b] = b * NONZEROS;
    /* A refresh so early that each block has one within these rounds. */
    ee_settings settings = {policy, SIDE * BLOCKS, 1, "refresh=50"};
    ee_bandit *bandit;
    ee_error error;
    check(ee_bandit_create(&settings, &bandit, &error), &error);
    random_stream draw = random_named(1, "bench");
    for (size_t t = 0; t < BLOCK_ROUNDS; t++) {
        draw_image(&draw, indices, values);
        ee_arms arms = ee_arms_sparse(starts, indices, values, BLOCKS, SIDE * BLOCKS);
        ee_decision decision;
        double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
        check(ee_bandit_decide(bandit, &arms, &decision, NULL, &error), &error);
        check(ee_bandit_learn(bandit, decision.id, decision.arm == t % BLOCKS, &error), &error);
        taken[t] = seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    }
    ee_bandit_free(bandit);
    print_row(policy, taken, BLOCK_ROUNDS, 1e3, "ms");
}

/* ---- kernels, at the sizes of a two-layer network of width 100 on 20 features ---- */

enum { IN = 20, OUT = 100, ENTRIES = IN * OUT, TURNS = 20000 };

typedef struct operands {
    float x[IN], y[OUT], w[ENTRIES], first[ENTRIES], second[ENTRIES], gradient[ENTRIES];
} operands;

static void run_kernel(const kernel_table *k, int which, operands *o)
{
    static const adam_step step = {0.9f, 0.999f, 1e-4f, 1e-9f, 1, 1e-8f};
    if (which == 0) o->y[0] += 1e-9f * k->dot(o->w, o->gradient, ENTRIES);
    if (which == 1) k->forward(o->y, o->w, o->x, IN, OUT, OUT);
    if (which == 2) k->backward(o->first, o->w, o->y, IN, OUT, OUT);
    if (which == 3) k->update(o->w, o->x, o->y, IN, OUT);
    if (which == 4) k->adam(o->w, o->first, o->second, o->x, o->gradient, IN, OUT, &step);
}

static void bench_kernels(const kernel_table *k)
{
    static const char *names[] = {"dot of 2000", "forward 20 to 100", "backward 100 to 20", "update 20 by 100",
                                  "adam of 2000"};
    static operands o;
    random_stream draw = random_named(1, "bench");
    for (int which = 0; which < 5; which++) {
        double nanoseconds[REPEATS];
        for (int r = 0; r < REPEATS; r++) {
            for (size_t i = 0; i < ENTRIES; i++) {
                o.w[i] = o.gradient[i] = (float)random_normal(&draw) / 16;
                o.first[i] = o.second[i] = 0.01f;
                o.x[i % IN] = o.y[i % OUT] = 1e-3f;
            }
            double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
            for (int turn = 0; turn < TURNS; turn++) {
                run_kernel(k, which, &o);
                if (turn % 64 == 0) memset(o.y, 0, sizeof o.y); /* so that nothing grows without bound */
            }
            nanoseconds[r] = (seconds(CLOCK_PROCESS_CPUTIME_ID) - start) / TURNS;
        }
        char what[64];
        snprintf(what, sizeof what, "%s: %s", k->name, names[which]);
        print_row(what, nanoseconds, REPEATS, 1e9, "ns");
    }
}

int main(void)
{
    printf("eenet %s, kernels %s\n  %-44s %10s %10s %10s\n", ee_version(), ee_kernels(), "", "median", "smallest",
           "largest");
    printf("\none call, ten dense arms of %d features\n", DIM);
    bench_calls("eenet");
    bench_calls("eenet:authors");
    bench_calls("greedy");
    bench_runs();
    printf("\na round of %d sparse arms, %d of %d features, decided and learned, refresh=50\n", BLOCKS, NONZEROS,
           SIDE * BLOCKS);
    bench_blocks("linucb");
    bench_blocks("lints");
    printf("\nkernels\n");
    for (size_t i = 0; kernels_at(i); i++) bench_kernels(kernels_at(i));
    return 0;
}
