/* Locally linear embedding, against the numbers of scikit-learn and against what the method promises. */
#include "math/eigen.h"
#include "math/lle.h"

#include "support.h"

/* The inner products of n points, as (n, n). points is (n, dim). To be freed with free. */
static double *make_gram(const double *points, size_t n, size_t dim)
{
    double *gram = calloc(n * n, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < dim; k++) sum += points[i * dim + k] * points[j * dim + k];
            gram[i * n + j] = sum;
        }
    }
    return gram;
}

/* The embedding (n, components) of points. To be freed with free. error_sum, if not NULL, receives what the embedding
 * leaves of each point when its neighbours rebuild it, squared and summed. */
static double *embed(const double *points, size_t n, size_t dim, size_t neighbors, size_t components, double *error_sum)
{
    auto_free double *gram = make_gram(points, n, dim);
    double *embedding = calloc(n * components, sizeof(double));
    RELEASED_BY(memory_release) memory owner = {0};
    lle room;
    ok(lle_create(&room, &owner, n, neighbors, components, NULL));
    assert_true(lle_fit(&room, gram, embedding));
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < components; c++) {
            double left = embedding[i * components + c];
            for (size_t a = 0; a < neighbors; a++)
                left -= room.weights[i * neighbors + a] *
                        embedding[(size_t)room.nearest[i * neighbors + a] * components + c];
            sum += left * left;
        }
    }
    if (error_sum) *error_sum = sum;
    return embedding;
}

/* Columns of length 1, with sum 0, at right angles, the largest entry positive: eigenvectors beside the constant one.
 */
static void assert_embedding(const double *embedding, size_t n, size_t components)
{
    for (size_t c = 0; c < components; c++) {
        double sum = 0, largest = 0;
        for (size_t i = 0; i < n; i++) {
            double entry = embedding[i * components + c];
            sum += entry;
            if (fabs(entry) > fabs(largest)) largest = entry;
        }
        assert_close(sum, 0, 1e-3); /* of the constant column it is the root of n */
        assert_true(largest > 0);
        for (size_t other = 0; other <= c; other++) {
            double inner = 0;
            for (size_t i = 0; i < n; i++) inner += embedding[i * components + c] * embedding[i * components + other];
            assert_close(inner, other == c, 1e-9);
        }
    }
}

typedef struct stored {
    size_t n, dim, neighbors, components;
    double *points, *embedding, squared_error;
} stored;

static stored stored_load(void)
{
    json_auto_t *root = golden_load("lle.json");
    stored s = {.neighbors = (size_t)json_integer_value(golden_member(root, "neighbors")),
                .components = (size_t)json_integer_value(golden_member(root, "components")),
                .squared_error = json_number_value(golden_member(root, "squared_error"))};
    size_t numbers;
    s.points = golden_doubles(golden_member(root, "points"), &numbers);
    s.n = json_array_size(golden_member(root, "points"));
    s.dim = numbers / s.n;
    s.embedding = golden_doubles(golden_member(root, "embedding"), &numbers);
    assert_int_equal(numbers, s.n * s.components);
    RELEASED_BY(memory_release) memory owner = {0};
    lle room;
    ok(lle_create(&room, &owner, s.n, s.neighbors, s.components, NULL));
    assert_true(room.regularization == json_number_value(golden_member(root, "reg")));
    return s;
}

static void stored_free(stored *s)
{
    free(s->points);
    free(s->embedding);
}

/* Both are (n, components); the sign of each column is free. */
static void assert_same_up_to_signs(const double *got, const double *wanted, size_t n, size_t components)
{
    for (size_t c = 0; c < components; c++) {
        double inner = 0;
        for (size_t i = 0; i < n; i++) inner += got[i * components + c] * wanted[i * components + c];
        double sign = inner < 0 ? -1 : 1;
        for (size_t i = 0; i < n; i++) assert_close(sign * got[i * components + c], wanted[i * components + c], 1e-7);
    }
}

TEST(embedding_is_that_of_scikit_learn)
{
    RELEASED_BY(stored_free) stored s = stored_load();
    double squared_error;
    auto_free double *embedding = embed(s.points, s.n, s.dim, s.neighbors, s.components, &squared_error);
    assert_same_up_to_signs(embedding, s.embedding, s.n, s.components);
    assert_embedding(embedding, s.n, s.components);
    assert_close(squared_error / s.squared_error, 1, 1e-6);
    /* Neighbours and weights do not change when all points move and grow together. */
    for (size_t i = 0; i < s.n * s.dim; i++) s.points[i] = 1000 * (s.points[i] + (double)(i % s.dim) / 10);
    auto_free double *moved = embed(s.points, s.n, s.dim, s.neighbors, s.components, NULL);
    assert_same_up_to_signs(moved, s.embedding, s.n, s.components);
}

/* Two turns of a spiral on which the ends come near the middle: the embedding must follow the curve. */
TEST(a_spiral_is_unrolled)
{
    enum { N = 120, DIM = 3 };
    double points[N * DIM];
    for (size_t i = 0; i < N; i++) {
        double angle = 4.7 + 9.4 * (double)i / N;
        points[i * DIM] = angle * cos(angle);
        points[i * DIM + 1] = angle * sin(angle);
        points[i * DIM + 2] = 0.1 * sin(3 * angle);
    }
    auto_free double *embedding = embed(points, N, DIM, 4, 1, NULL);
    assert_embedding(embedding, N, 1);
    double direction = embedding[N - 1] > embedding[0] ? 1 : -1;
    for (size_t i = 1; i < N; i++) assert_true(direction * (embedding[i] - embedding[i - 1]) > 0);
}

/* Whatever the points: an embedding with columns of length 1, or none and embedding left alone. */
static void assert_fit_is_finite(const double *points, size_t n, size_t dim)
{
    enum { NEIGHBORS = 8, COMPONENTS = 2 };
    auto_free double *gram = make_gram(points, n, dim), *embedding = calloc(n * COMPONENTS, sizeof(double));
    for (size_t i = 0; i < n * COMPONENTS; i++) embedding[i] = 77;
    RELEASED_BY(memory_release) memory owner = {0};
    lle room;
    ok(lle_create(&room, &owner, n, NEIGHBORS, COMPONENTS, NULL));
    bool fitted = lle_fit(&room, gram, embedding);
    for (size_t c = 0; c < COMPONENTS; c++) {
        double squares = 0;
        for (size_t i = 0; i < n; i++) squares += embedding[i * COMPONENTS + c] * embedding[i * COMPONENTS + c];
        assert_close(squares, fitted ? 1 : (double)n * 77 * 77, 1e-9);
    }
}

TEST(points_without_a_shape_give_numbers)
{
    enum { N = 30, DIM = 5 };
    static const double wrong[] = {NAN, INFINITY, 1e200};
    double points[N * DIM];
    for (size_t i = 0; i < N * DIM; i++) points[i] = 0.1 * (double)(i % DIM) + 1;
    assert_fit_is_finite(points, N, DIM);
    for (size_t i = 0; i < N / 2 * DIM; i++) points[i] += 3; /* two places, far from each other */
    assert_fit_is_finite(points, N, DIM);
    memset(points, 0, sizeof points);
    assert_fit_is_finite(points, N, DIM);
    for (size_t i = 0; i < N * DIM; i++) points[i] = (double)(i * i % 17);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        points[7] = wrong[k];
        assert_fit_is_finite(points, N, DIM);
    }
}

TEST(small_and_tight_sizes_fit)
{
    random_stream stream = random_named(5, "sizes");
    for (size_t n = 3; n <= 14; n++) {
        for (size_t k = 2; k < n; k++) {
            for (size_t components = 1; components < k; components++) {
                double points[14 * 20];
                for (size_t i = 0; i < 14 * 20; i++) points[i] = random_normal(&stream);
                auto_free double *embedding = embed(points, n, 20, k, components, NULL);
                assert_embedding(embedding, n, components);
            }
        }
    }
}

/* The places sorted by distance, of equal ones the lower first, by the plainest way. */
static void sort_places(const double *distances, size_t n, int *places)
{
    for (size_t i = 0; i < n; i++) {
        size_t before = 0;
        for (size_t j = 0; j < n; j++) before += distances[j] < distances[i] || (j < i && distances[j] == distances[i]);
        places[before] = (int)i;
    }
}

TEST(nearest_at_every_count)
{
    enum { MOST = 30 };
    random_stream stream = random_named(2, "nearest");
    for (size_t n = 1; n <= MOST; n++) {
        /* few values: many ties; and many values: hardly one */
        for (uint64_t values = 1; values <= 1000; values *= 10) {
            double distances[MOST];
            int sorted[MOST];
            for (size_t i = 0; i < n; i++) distances[i] = (double)random_below(&stream, values + 1);
            distances[random_below(&stream, n)] = INFINITY;
            sort_places(distances, n, sorted);
            for (size_t count = 1; count <= n; count++) {
                int nearest[MOST + 1];
                memset(nearest, 0xff, sizeof nearest);
                lle_nearest(distances, n, count, nearest);
                assert_memory_equal(nearest, sorted, count * sizeof *nearest);
                assert_int_equal(nearest[count], -1);
            }
        }
    }
}

/* local of neighbours (count, dim) around a point (dim) */
static void form_local(const double *neighbors, const double *point, size_t count, size_t dim, double *local)
{
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++) {
            double sum = 0;
            for (size_t k = 0; k < dim; k++)
                sum += (neighbors[a * dim + k] - point[k]) * (neighbors[b * dim + k] - point[k]);
            local[a * count + b] = sum;
        }
    }
}

/* Solving is checked by putting the weights back: (local + regularization trace I) w is the same in every row. */
TEST(weights_solve_the_regularised_system)
{
    enum { DIM = 3, COUNT = 9 };
    static const double regularizations[] = {1e-3, 0.1, 10};
    random_stream stream = random_named(4, "weights");
    for (size_t r = 0; r < sizeof regularizations / sizeof *regularizations; r++) {
        double neighbors[COUNT * DIM], point[DIM], local[COUNT * COUNT], kept[COUNT * COUNT], weights[COUNT];
        for (size_t i = 0; i < COUNT * DIM; i++) neighbors[i] = 5 * random_normal(&stream);
        for (size_t i = 0; i < DIM; i++) point[i] = random_normal(&stream);
        form_local(neighbors, point, COUNT, DIM, local);
        memcpy(kept, local, sizeof kept);
        double trace = 0, sum = 0, rows[COUNT];
        for (size_t a = 0; a < COUNT; a++) trace += kept[a * COUNT + a];
        lle_weights(local, COUNT, regularizations[r], weights);
        for (size_t a = 0; a < COUNT; a++) {
            sum += weights[a];
            rows[a] = regularizations[r] * trace * weights[a];
            for (size_t b = 0; b < COUNT; b++) rows[a] += kept[a * COUNT + b] * weights[b];
            assert_close(rows[a] / rows[0], 1, 1e-9);
        }
        assert_close(sum, 1, 1e-12);
    }
}

/* Where points differ by the last bits of a float, local is rounding and need not be positive: as when the same arm
 * comes again after a small step of training. */
TEST(weights_of_nearly_equal_points_are_numbers)
{
    enum { COUNT = 8, DIM = 20 };
    for (uint64_t seed = 0; seed < 200; seed++) {
        random_stream stream = random_named(seed, "nearly equal");
        double points[(COUNT + 1) * DIM], local[COUNT * COUNT], weights[COUNT], sum = 0;
        double spread = pow(10, -6 - 4 * random_unit(&stream));
        for (size_t k = 0; k < DIM; k++) points[k] = random_normal(&stream);
        for (size_t i = DIM; i < (COUNT + 1) * DIM; i++)
            points[i] = (double)(float)(points[i % DIM] * (1 + spread * random_normal(&stream)));
        auto_free double *gram = make_gram(points, COUNT + 1, DIM);
        for (size_t a = 0; a < COUNT; a++)
            for (size_t b = 0; b < COUNT; b++)
                local[a * COUNT + b] = gram[(a + 1) * (COUNT + 1) + b + 1] - gram[a + 1] - gram[b + 1] + gram[0];
        lle_weights(local, COUNT, 1e-3, weights);
        for (size_t a = 0; a < COUNT; a++) {
            assert_true(fabs(weights[a]) < 100);
            sum += weights[a];
        }
        assert_close(sum, 1, 1e-6);
    }
}
