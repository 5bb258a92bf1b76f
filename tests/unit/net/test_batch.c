/* Batches against the passes of a network, sample by sample, with every table of kernels. */
#include "net/batch.h"

#include "support_network.h"

enum { BATCHES = 3 }; /* before the rows are forgotten */

typedef enum form {
    DENSE,
    SPARSE,         /* few entries, some of them zeros that are named */
    SOME,           /* sparse, with a third of the entries there */
    NEARLY_DENSE,   /* sparse, with most entries there */
    NAMED,          /* sparse, with every entry there, zeros and other blocks too */
    EMPTY,          /* sparse, with none */
    DENSE_OF_ZEROS, /* dense, with none that counts */
    FORMS
} form;

/* Where the first layer's products come from. */
typedef enum path { SIDE_BY_SIDE, BY_ROW, EITHER } path;

typedef struct batch_case {
    const char *options;
    size_t input;
    form forms[4]; /* that the samples have in turn, each batch beginning with the next one */
    size_t form_count;
    path path;
} batch_case;

static const batch_case cases[] = {
    {"width=20", 12, {DENSE}, 1, SIDE_BY_SIDE},
    {"width=20", 40, {SPARSE}, 1, BY_ROW},
    {"width=20", 40, {NEARLY_DENSE}, 1, SIDE_BY_SIDE},
    {"width=20", 40, {DENSE, SPARSE}, 2, EITHER},
    {"width=20", 40, {DENSE, SPARSE, SPARSE, SPARSE}, 4, EITHER},
    {"width=20", 40, {NEARLY_DENSE, EMPTY, NAMED, SPARSE}, 4, EITHER},
    {"width=20", 40, {EMPTY}, 1, BY_ROW},
    {"width=20", 40, {DENSE_OF_ZEROS}, 1, SIDE_BY_SIDE},
    {"width=20", 1, {DENSE, SPARSE}, 2, EITHER},
    {"width=64", 9, {DENSE, NEARLY_DENSE}, 2, SIDE_BY_SIDE},
    {"width=131", 40, {DENSE, SPARSE, SPARSE, SPARSE}, 4, EITHER},
    {"width=131", 40, {SPARSE, EMPTY}, 2, BY_ROW},
    {"layers=1", 30, {DENSE}, 1, SIDE_BY_SIDE},
    {"layers=1", 30, {SPARSE}, 1, BY_ROW},
    {"layers=3 width=13", 30, {DENSE, NAMED}, 2, SIDE_BY_SIDE},
    {"width=20 bias=off layers=3", 30, {SPARSE}, 1, BY_ROW},
    {"width=20 heads=4", 120, {SPARSE}, 1, BY_ROW},
    {"width=20 heads=4", 48, {NAMED, NEARLY_DENSE}, 2, SIDE_BY_SIDE},
    {"width=20 heads=4 bias=off layers=3", 48, {DENSE, SPARSE, EMPTY, DENSE_OF_ZEROS}, 4, EITHER},
    {"layers=1 heads=5", 50, {DENSE, SPARSE}, 2, EITHER},
    {"width=7 front=conv1d:2:3+relu+pool:2", 20, {DENSE, SPARSE, NAMED, EMPTY}, 4, BY_ROW},
    {"width=7 heads=2 image=1x4x5 front=conv2d:3:2+relu", 40, {DENSE, SPARSE}, 2, BY_ROW},
    /* hidden layers that all samples pass at once */
    {"layers=3 width=40", 30, {DENSE}, 1, SIDE_BY_SIDE},
    {"layers=3 width=40 bias=off", 30, {SPARSE, NAMED}, 2, EITHER},
    {"layers=3 width=200 heads=4", 48, {DENSE, SPARSE}, 2, EITHER},
    {"layers=4 width=33", 30, {DENSE, SPARSE, EMPTY, NAMED}, 4, EITHER},
    {"layers=4 width=67 heads=3", 60, {NEARLY_DENSE}, 1, SIDE_BY_SIDE},
    /* by pairs of rows */
    {"width=20", 40, {SOME}, 1, BY_ROW},
    {"width=131", 40, {SOME, SPARSE}, 2, BY_ROW},
    {"width=16 heads=4", 120, {SOME, EMPTY}, 2, BY_ROW},
    {"layers=3 width=100 bias=off", 40, {SOME}, 1, BY_ROW},
    {"width=15", 40, {SOME}, 1, BY_ROW}, /* too narrow for it */
    {"width=20", 41, {SOME}, 1, BY_ROW}, /* and a row without another */
    {"width=3", 4096, {DENSE}, 1, SIDE_BY_SIDE},
    {"width=3", 4097, {DENSE}, 1, BY_ROW},
    {"width=17", 4200, {DENSE}, 1, BY_ROW},
    {"width=17", 5000, {SPARSE, NEARLY_DENSE}, 2, BY_ROW},
    {"width=3 heads=2", 2 * 4100, {DENSE, NAMED}, 2, BY_ROW},
};

/* Those whose heads have several outputs each. */
enum { MEMBERS = 5 };
static const batch_case member_cases[] = {
    {"width=20", 40, {DENSE, SPARSE}, 2, EITHER},
    {"width=20 heads=4", 48, {DENSE, SPARSE}, 2, EITHER},
    {"layers=3 width=50 heads=4", 48, {SPARSE, NAMED}, 2, EITHER},
    {"layers=4 width=40", 30, {DENSE}, 1, SIDE_BY_SIDE},
};

/* A network with a batch, and what the network alone says of the same samples. */
typedef struct pair {
    memory owner;
    const batch_case *given;
    network net;
    batch batch;
    random_stream draw;
    float *theta, *gradient, *expected;
    float *activations, *deltas;
    float *values;     /* (BATCH_SAMPLES, input) */
    uint32_t *indices; /* (BATCH_SAMPLES, input) */
    vector samples[BATCH_SAMPLES];
    bool *seen; /* (block) the rows that the batch must list */
} pair;

/* entries: of a sample that the batch has room for 64 times. */
static void make_pair(pair *p, const batch_case *given, int64_t member_count, const kernel_table *kernels,
                      size_t entries)
{
    *p = (pair){.given = given, .draw = random_named(5, given->options)};
    learner_options options = options_from(given->options);
    options.network.members = member_count;
    ok(network_create(&p->net, "test", &options.network, given->input, &last_error));
    p->net.kernels = kernels;
    ok(batch_create(&p->batch, &p->owner, &p->net, entries, &last_error));
    p->theta = calloc(p->net.parameter_count, sizeof(float));
    p->gradient = calloc(p->net.parameter_count, sizeof(float));
    p->expected = calloc(p->net.parameter_count, sizeof(float));
    p->activations = calloc(p->net.activation_count, sizeof(float));
    p->deltas = calloc(p->net.activation_count, sizeof(float));
    p->values = calloc(BATCH_SAMPLES * given->input, sizeof(float));
    p->indices = calloc(BATCH_SAMPLES * given->input, sizeof(uint32_t));
    p->seen = calloc(p->net.block, sizeof(bool));
    network_initialize(&p->net, INIT_UNIFORM, &p->draw, p->theta);
}

static void release_pair(pair *p)
{
    memory_release(&p->owner);
    free(p->theta);
    free(p->gradient);
    free(p->expected);
    free(p->activations);
    free(p->deltas);
    free(p->values);
    free(p->indices);
    free(p->seen);
}

/* An entry of the block that a sample lies in. Every fifth row is zero in all samples. */
static float draw_entry(pair *p, size_t row, form as)
{
    if (as == EMPTY || as == DENSE_OF_ZEROS || row % 5 == 3 || random_below(&p->draw, 4) == 0) return 0;
    return (float)random_normal(&p->draw);
}

/* Whether an entry is there at all; one that is left out is zero. */
static bool is_there(pair *p, form as, bool inside)
{
    if (as == DENSE || as == NAMED || as == DENSE_OF_ZEROS) return true;
    if (as == EMPTY || !inside) return false;
    return random_below(&p->draw, 10) < (as == SPARSE ? 1 : as == SOME ? 3 : 8);
}

static vector draw_sample(pair *p, size_t place, form as)
{
    float *values = p->values + place * p->given->input;
    uint32_t *indices = p->indices + place * p->given->input;
    size_t head = (size_t)random_below(&p->draw, p->net.heads), count = 0;
    for (size_t i = 0; i < p->given->input; i++) {
        bool inside = i / p->net.block == head;
        if (!is_there(p, as, inside)) continue;
        values[count] = inside ? draw_entry(p, i % p->net.block, as) : 0;
        indices[count++] = (uint32_t)i;
    }
    return (vector){values, as == DENSE || as == DENSE_OF_ZEROS ? NULL : indices, count};
}

/* The rows of a sample that are not zero. */
static void note_rows(pair *p, vector x)
{
    for (size_t i = 0; i < x.count; i++)
        if (x.values[i] != 0) p->seen[(x.indices ? x.indices[i] : i) % p->net.block] = true;
}

static void fail_case(const pair *p, const char *what)
{
    fail_msg("%s, %s, %zu inputs: %s", p->net.kernels->name, p->given->options, p->given->input, what);
}

static void assert_same(const pair *p, const float *got, const float *expected, size_t count, const char *what)
{
    if (close_first_wrong(got, expected, count, 2e-5) < count) fail_case(p, what);
}

static void take_samples(pair *p, size_t count, size_t number)
{
    size_t longest = 0;
    for (size_t s = 0; s < count; s++) {
        p->samples[s] = draw_sample(p, s, p->given->forms[(s + number) % p->given->form_count]);
        note_rows(p, p->samples[s]);
        if (p->samples[s].count > longest) longest = p->samples[s].count;
    }
    ok(batch_reserve(&p->batch, longest, NULL));
    for (size_t s = 0; s < count; s++) batch_add(&p->batch, p->samples[s]);
    assert_int_equal(p->batch.count, count);
}

/* One sample in seven has no gradient; of the others every second one has deltas for all outputs. */
static void pass_both_ways(pair *p, size_t count)
{
    size_t outputs = p->net.heads * p->net.members, last = p->net.layers[p->net.layer_count - 1].output;
    batch_forward(&p->batch, p->theta);
    if (p->given->path != EITHER && count && p->batch.uses_dense != (p->given->path == SIDE_BY_SIDE))
        fail_case(p, "not the way that is meant");
    for (size_t s = 0; s < count; s++) {
        float gradient = random_below(&p->draw, 7) ? (float)random_normal(&p->draw) : 0;
        network_forward(&p->net, p->theta, p->samples[s], p->activations);
        assert_same(p, batch_outputs(&p->batch, s), p->activations + last, outputs, "another output");
        network_backward(&p->net, p->theta, p->samples[s], p->activations, gradient, p->deltas);
        for (size_t i = 0; s % 2 && i < outputs; i++) p->deltas[last + i] += gradient / 3;
        memcpy(batch_output_deltas(&p->batch, s), p->deltas + last, outputs * sizeof(float));
        network_backward_deltas(&p->net, p->theta, p->activations, p->deltas);
        network_add_gradient(&p->net, p->samples[s], p->activations, p->deltas, p->expected);
    }
    batch_backward(&p->batch, p->theta, p->gradient);
    assert_int_equal(p->batch.count, 0);
    assert_same(p, p->gradient, p->expected, p->net.parameter_count, "another gradient");
}

/* Each row that is not zero once, and no other. */
static void check_rows(const pair *p)
{
    bool has_rows = p->net.layers[0].kind == LAYER_DENSE;
    auto_free bool *left = calloc(p->net.block, sizeof *left);
    size_t expected = 0;
    for (size_t row = 0; has_rows && row < p->net.block; row++) expected += left[row] = p->seen[row];
    if (p->batch.row_count != expected) fail_case(p, "more rows or fewer");
    for (size_t i = 0; i < p->batch.row_count; i++) {
        uint32_t row = p->batch.rows[i];
        if (row >= p->net.block || !left[row]) fail_case(p, "a row twice, or one of zeros");
        left[row] = false;
    }
}

static void check_case(const batch_case *given, int64_t member_count, const kernel_table *kernels, size_t entries)
{
    static const size_t counts[][BATCHES] = {{BATCH_SAMPLES, 1, 7}, {2, 0, 3}, {1, 33, BATCH_SAMPLES}};
    RELEASED_BY(release_pair) pair p;
    make_pair(&p, given, member_count, kernels, entries);
    for (size_t k = 0; k < test_long(given->input > 1000 ? 1 : 2, 3); k++) {
        for (size_t i = 0; i < BATCHES; i++) {
            take_samples(&p, counts[k][i], i);
            pass_both_ways(&p, counts[k][i]);
            check_rows(&p);
        }
        batch_clear_rows(&p.batch);
        memset(p.seen, 0, p.net.block * sizeof *p.seen);
        check_rows(&p);
    }
}

static void check_cases(const batch_case *given, size_t count, int64_t member_count)
{
    const kernel_table *kernels;
    for (size_t table = 0; (kernels = kernels_at(table)) != NULL; table++) {
        bool is_best = kernels == kernels_best();
        for (size_t i = is_best ? 0 : table % 3; i < count; i += is_best ? 1 : test_long(3, 1)) {
            check_case(&given[i], member_count, kernels, given[i].input);
            check_case(&given[i], member_count, kernels, given[i].input / 16); /* longer ones: some at a time, or one */
        }
    }
}

TEST(batches_are_as_samples_one_by_one)
{
    check_cases(cases, sizeof cases / sizeof *cases, 1);
    check_cases(member_cases, sizeof member_cases / sizeof *member_cases, MEMBERS);
}

static size_t memory_of(const char *options, size_t input, size_t entries)
{
    batch_case given = {options, input, {DENSE}, 1, EITHER};
    pair p;
    make_pair(&p, &given, 1, kernels_best(), entries);
    size_t bytes = memory_bytes(&p.owner);
    release_pair(&p);
    return bytes;
}

/* Entries take room, of a block as many as it has; long inputs are not laid side by side; a convolution needs neither.
 */
TEST(half_of_the_entries_is_enough_and_room_is_for_what_is_used)
{
    assert_true(memory_of("width=5", 40, 10) >= memory_of("width=5", 40, 0) + BATCH_SAMPLES * 10 * 8);
    assert_int_equal(memory_of("width=5 heads=4", 40, 10), memory_of("width=5 heads=4", 40, 40));
    assert_true(memory_of("width=5", 4096, 0) >= BATCH_SAMPLES * 4096 * sizeof(float));
    assert_true(memory_of("width=5", 4097, 0) < BATCH_SAMPLES * 4097 * sizeof(float));
    const char convolution[] = "width=5 front=conv1d:2:3";
    assert_int_equal(memory_of(convolution, 40, 40), memory_of(convolution, 40, 0));
    /* Half of the entries or more: side by side. It is the entries that are counted, be they zero. */
    static const batch_case given = {"width=5", 8, {DENSE}, 1, EITHER};
    static const float values[] = {1, 2, 0, -1, 3, 1, 0, 2};
    static const uint32_t indices[] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (size_t entries = 0; entries <= 8; entries++) {
        RELEASED_BY(release_pair) pair p;
        make_pair(&p, &given, 1, kernels_best(), 8);
        batch_add(&p.batch, (vector){values, indices, entries});
        batch_add(&p.batch, (vector){values, indices, 8 - entries});
        batch_add(&p.batch, (vector){values, indices, entries});
        batch_forward(&p.batch, p.theta);
        assert_int_equal(p.batch.uses_dense, entries >= 4);
    }
}
