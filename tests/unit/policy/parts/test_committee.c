/* The weights of f1's networks: against the minimum of their loss, found step by step over samples that are all kept,
 * and for numbers that no regression likes. */
#include <float.h>

#include "policy/parts/committee.h"
#include "support.h"

static const double WINDOW = 2000, PRIOR = 1.5;

enum { SAMPLES = 6000 };

/* Samples, the last column of each the reward. */
typedef struct sampled {
    size_t networks, count;
    double rows[SAMPLES][COMMITTEE_MOST + 1];
} sampled;

static double share_of(const sampled *s, size_t i)
{
    return pow(1 - 1 / WINDOW, (double)(s->count - 1 - i));
}

/* products[j][k]: the sum of g times the product of the deviations of columns j and k from their means. */
static void sum_products(const sampled *s, double products[][COMMITTEE_MOST + 1])
{
    double mean[COMMITTEE_MOST + 1] = {0}, total = 0;
    for (size_t i = 0; i < s->count; i++) {
        total += share_of(s, i);
        for (size_t k = 0; k <= s->networks; k++) mean[k] += share_of(s, i) * s->rows[i][k];
    }
    for (size_t j = 0; j <= s->networks; j++)
        for (size_t k = 0; k <= s->networks; k++) products[j][k] = 0;
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = 0; j <= s->networks; j++)
            for (size_t k = 0; k <= s->networks; k++)
                products[j][k] +=
                    share_of(s, i) * (s->rows[i][j] - mean[j] / total) * (s->rows[i][k] - mean[k] / total);
}

/* Coordinate descent: each b in turn goes to the minimum of
 *   sum g (y - a - sum b_k f_k)^2 + PRIOR sum (b_k - 1/K)^2   over b_k >= 0. */
static void minimise(const sampled *s, double *b)
{
    double products[COMMITTEE_MOST + 1][COMMITTEE_MOST + 1];
    size_t count = s->networks;
    sum_products(s, products);
    for (size_t k = 0; k < count; k++) b[k] = 1 / (double)count;
    for (int pass = 0; pass < 3000; pass++)
        for (size_t k = 0; k < count; k++) {
            double slope = products[k][count] + PRIOR / (double)count;
            for (size_t j = 0; j < count; j++) slope -= j == k ? 0 : products[k][j] * b[j];
            b[k] = fmax(0, slope / (products[k][k] + PRIOR));
        }
}

static void take(sampled *s, committee *c, const double *row)
{
    memcpy(s->rows[s->count++], row, (s->networks + 1) * sizeof *row);
    committee_take(c, row, row[s->networks]);
}

/* Checks the weights; returns how many networks have none. */
static size_t check_weights(const sampled *s, const committee *c)
{
    float weights[COMMITTEE_MOST];
    double b[COMMITTEE_MOST], sum = 0;
    size_t without = 0;
    committee_weigh(c, weights);
    minimise(s, b);
    for (size_t k = 0; k < s->networks; k++) sum += b[k];
    for (size_t k = 0; k < s->networks; k++) {
        assert_close(weights[k], sum > 0 ? b[k] / sum : 1 / (double)s->networks, 1e-4);
        without += sum > 0 && weights[k] == 0;
    }
    return without;
}

static sampled all;

/* Networks that see one signal, each with its own scale, offset and error; some errors are shared with the reward. */
static void draw_row(random_stream *draw, const double *scales, size_t networks, double *row)
{
    double signal = random_normal(draw), shared = random_normal(draw);
    row[networks] = 3 + 0.5 * signal + 0.4 * random_normal(draw);
    for (size_t k = 0; k < networks; k++)
        row[k] = (double)k + scales[k] * signal + (k % 2 ? 0.6 : -0.3) * shared + 0.1 * random_normal(draw);
}

TEST(weights_minimise_the_loss_and_old_samples_are_forgotten)
{
    size_t without[COMMITTEE_MOST + 1] = {0};
    for (uint64_t seed = 0; seed < test_long(60, 300); seed++) {
        committee c = {.count = 2 + seed % 3};
        random_stream draw = random_named(seed, "committee");
        double scales[COMMITTEE_MOST];
        for (size_t k = 0; k < c.count; k++) scales[k] = 2.4 * random_unit(&draw) - 1;
        all.networks = c.count;
        all.count = 0;
        for (size_t n = 1; n <= 160; n++) {
            double row[COMMITTEE_MOST + 1];
            draw_row(&draw, scales, c.count, row);
            take(&all, &c, row);
            if (n == 1 || n == 2 || n == 7 || n == 40 || n == 160) without[c.count] += check_weights(&all, &c) > 0;
        }
    }
    for (size_t k = 2; k <= COMMITTEE_MOST; k++) assert_true(without[k] > 3); /* else the bound was not tried */
    /* First the one network is right and then the other. The reference knows all samples, and how much of them is left.
     */
    committee c = {.count = 2};
    random_stream draw = random_named(3, "forgetting");
    float weights[2];
    all.networks = 2;
    all.count = 0;
    for (size_t n = 0; n < SAMPLES; n++) {
        double first = random_normal(&draw), second = random_normal(&draw), y = n < SAMPLES / 4 ? first : second;
        take(&all, &c, (double[]){first, second, y});
        if (n + 1 != SAMPLES / 4) continue;
        committee_weigh(&c, weights);
        assert_true(weights[0] > 0.95f);
        check_weights(&all, &c);
    }
    committee_weigh(&c, weights);
    assert_true(weights[1] > 0.85f && weights[1] < 0.95f); /* exp(-4500 / 2000) of the first is left */
    check_weights(&all, &c);
    assert_close(c.samples, WINDOW * (1 - pow(1 - 1 / WINDOW, SAMPLES)), 1e-6);
}

static void assert_sound(const committee *c)
{
    float weights[COMMITTEE_MOST];
    double sum = 0;
    committee_weigh(c, weights);
    for (size_t k = 0; k < c->count; k++) {
        assert_true(weights[k] >= 0 && weights[k] <= 1);
        sum += (double)weights[k];
    }
    assert_close(sum, 1, 1e-6);
}

static void assert_equal_weights(const committee *c)
{
    float weights[COMMITTEE_MOST];
    committee_weigh(c, weights);
    for (size_t k = 0; k < c->count; k++) assert_close(weights[k], 1 / (double)c->count, 1e-6);
}

TEST(networks_that_do_not_differ_count_alike)
{
    for (size_t count = 2; count <= COMMITTEE_MOST; count++) {
        committee same = {.count = count}, constant = same, still = same, wrong = same;
        random_stream draw = random_named(count, "alike");
        for (int n = 0; n < 3000; n++) {
            double y = random_normal(&draw), f = y + random_normal(&draw);
            committee_take(&same, (double[]){f, f, f, f}, y);
            committee_take(&constant, (double[]){1, 2, 3, 4}, y);
            committee_take(&still, (double[]){f, -f, f, -f}, 7);
            committee_take(&wrong, (double[]){-y, -y, -y, -y}, y);
        }
        assert_equal_weights(&same);
        assert_equal_weights(&constant);
        assert_equal_weights(&wrong); /* no b is above 0 */
        assert_sound(&still);
    }
}

TEST(any_finite_number_leaves_weights)
{
    const double sizes[] = {1e-300, 1e-30, 1, 1e9, 1e20, (double)FLT_MAX};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (size_t count = 2; count <= COMMITTEE_MOST; count++) {
        committee mixed = {.count = count};
        random_stream draw = random_named(count, "sizes");
        for (size_t i = 0; i < SIZES; i++) {
            committee one = {.count = count};
            for (int n = 0; n < 500; n++) {
                double row[COMMITTEE_MOST + 1];
                for (size_t k = 0; k <= count; k++) row[k] = sizes[i] * random_normal(&draw);
                committee_take(&one, row, row[count]);
                for (size_t k = 0; k <= count; k++) row[k] *= sizes[(i + k + (size_t)n) % SIZES] / sizes[i];
                committee_take(&mixed, row, row[count]);
                assert_sound(&one);
                assert_sound(&mixed);
            }
        }
    }
    /* A network whose output is no number says nothing, and the others' past stays. */
    committee c = {.count = 3}, before;
    random_stream draw = random_named(1, "no numbers");
    for (int n = 0; n < 100; n++) {
        double y = random_normal(&draw);
        committee_take(&c, (double[]){y + random_normal(&draw), random_normal(&draw), y}, y);
    }
    before = c;
    committee_take(&c, (double[]){NAN, 1, 2}, 3);
    committee_take(&c, (double[]){1, 2, -INFINITY}, 3);
    committee_take(&c, (double[]){1, 2, 3}, NAN);
    assert_memory_equal(&c, &before, sizeof c);
}

static committee taught(size_t count, random_stream *draw)
{
    committee c = {.count = count};
    const double scales[COMMITTEE_MOST] = {0.2, 0.9, 0.5, -0.1};
    for (int n = 0; n < 200; n++) {
        double row[COMMITTEE_MOST + 1];
        draw_row(draw, scales, count, row);
        committee_take(&c, row, row[count]);
    }
    return c;
}

/* Saves a committee, and loads it as another. */
static ee_status pass_on(committee *from, committee *to)
{
    auto_archive writer = archive_writer(NULL);
    committee_archive(from, &writer);
    ok(writer.status);
    archive reader = archive_reader(writer.bytes, writer.size, &last_error);
    *to = (committee){.count = from->count};
    committee_archive(to, &reader);
    assert_int_equal(archive_remaining(&reader), 0);
    if (reader.status) fails_with(reader.status, EE_BAD_MODEL, "model: invalid state of f1's committee");
    return reader.status;
}

TEST(forged_numbers_are_refused)
{
    const double forged[] = {NAN, INFINITY, -INFINITY, 1e300};
    random_stream draw = random_named(9, "forged");
    committee good = taught(3, &draw), loaded;
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        double *places[] = {&good.samples,    &good.mean[0],    &good.mean[2],    &good.mean[3],
                            &good.sums[0][0], &good.sums[0][1], &good.sums[2][1], &good.sums[1][3]};
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            double kept = *places[p];
            *places[p] = forged[i];
            assert_int_equal(pass_on(&good, &loaded), EE_BAD_MODEL);
            *places[p] = kept;
        }
    }
    committee bad = good;
    bad.samples = -1;
    assert_int_equal(pass_on(&bad, &loaded), EE_BAD_MODEL);
    bad = good;
    bad.sums[1][1] = -1e-9;
    assert_int_equal(pass_on(&bad, &loaded), EE_BAD_MODEL);
    ok(pass_on(&good, &loaded));
}
