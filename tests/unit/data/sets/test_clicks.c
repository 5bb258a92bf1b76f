/* Made clicks: synthetic:clicks. */
#include <math.h>
#include <string.h>

#include "data/sets/environment.h"
#include "support.h"

static environment *start(const char *text, uint64_t seed, dataset **data)
{
    environment *world;
    ok(dataset_open(text, NULL, data, NULL));
    ok(environment_create(*data, seed, &world, NULL));
    return world;
}

static void stop(environment *world, dataset *data)
{
    environment_free(world);
    dataset_free(data);
}

TEST(wrong_options_are_named)
{
    static const char *const cases[][2] = {
        {"synthetic:click", "synthetic: unknown form 'click'; did you mean 'clicks'?"},
        {"synthetic:clicks:x", "synthetic: unknown form 'clicks:x'; did you mean 'clicks'?"},
        {"synthetic:clicks,noise=1", "options: synthetic:clicks has no option 'noise'"},
        {"synthetic:clicks,rate=0", "options: synthetic:clicks.rate must be 0.0001 to 0.9999, got 0"},
        {"synthetic:clicks,sharpness=-1", "options: synthetic:clicks.sharpness must be 0 to 20, got -1"},
        {"synthetic:clicks,dim=5", "options: synthetic:clicks.dim must be even (half user, half item), got 5"},
        {"synthetic:clicks,items=10", "options: synthetic:clicks.items must be at least arms, 20, got 10"},
        {"synthetic:clicks,items=30,blocks=on", "options: synthetic:clicks.items needs blocks=off, but it is on"},
        {"synthetic:clicks,items=65536,dim=258",
         "options: synthetic:clicks.items times dim must be at most 16777216, got 16908288"},
        {"synthetic:clicks,arms=65536,dim=257,blocks=on",
         "options: synthetic:clicks.arms times dim must be at most 16777216, got 16842752"},
        {"synthetic:clicks,drift=1,dim=2", "options: synthetic:clicks.drift needs a dim of 4 or more"},
        {"synthetic:clicks,drift=1,dim=2,blocks=on", "options: synthetic:clicks.drift needs a dim of 3 or more"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dataset *data;
        ee_error error = {EE_OK, ""};
        assert_int_equal(dataset_open(cases[i][0], NULL, &data, &error), EE_BAD_OPTION);
        assert_string_equal(error.message, cases[i][1]);
        assert_null(data);
    }
}

/* Means over the arms of many rounds and of some seeds. */
typedef struct tally {
    double expected, clicks, best;
} tally;

static tally play(const char *text, uint64_t seeds, int rounds)
{
    tally sum = {0, 0, 0};
    double arms = 0.0;
    dataset *data;
    ok(dataset_open(text, NULL, &data, NULL));
    for (uint64_t seed = 0; seed < seeds; seed++) {
        environment *world;
        environment_round round;
        ok(environment_create(data, seed, &world, NULL));
        for (int t = 0; t < rounds; t++) {
            ok(environment_next(world, &round, NULL));
            double best = 0.0;
            for (size_t arm = 0; arm < round.arms.count; arm++) {
                assert_true(round.rewards[arm] == 0.0 || round.rewards[arm] == 1.0);
                sum.expected += round.expected[arm];
                sum.clicks += round.rewards[arm];
                best = fmax(best, round.expected[arm]);
            }
            sum.best += best;
            arms += (double)round.arms.count;
        }
        environment_free(world);
    }
    dataset_free(data);
    return (tally){sum.expected / arms, sum.clicks / arms, sum.best / (double)seeds / rounds};
}

/* Within 3%, which is some three times what chance makes of so many rounds: a round's arms have one user. */
TEST(the_rate_is_as_asked)
{
    static const double rates[] = {0.01, 0.05, 0.2, 0.9};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        for (int form = 0; form < 3; form++) {
            static const char *const forms[] = {"", ",blocks=on,dim=8", ",drift=1,items=20,sharpness=1"};
            char text[96];
            snprintf(text, sizeof text, "synthetic:clicks,rate=%g%s", rates[i], forms[form]);
            tally seen = play(text, 5, 4000);
            assert_true(fabs(seen.expected / rates[i] - 1.0) < 0.03);
            assert_true(fabs(seen.clicks / seen.expected - 1.0) < 0.04);
        }
    }
}

TEST(the_best_arm_is_worth_finding)
{
    assert_true(fabs(play("synthetic:clicks,rate=0.02", 20, 1000).best - 0.19) < 0.005);
    tally flat = play("synthetic:clicks,rate=0.02,sharpness=0", 1, 100);
    assert_close(flat.best, 0.02, 1e-9); /* nothing but noise */
}

/* Of arms that are said to be clicked about so often, about so many are. */
TEST(clicks_follow_the_probabilities)
{
    enum { BINS = 10 };
    double counts[BINS] = {0}, clicks[BINS] = {0}, expected[BINS] = {0};
    dataset *data;
    environment *world = start("synthetic:clicks,rate=0.3", 4, &data);
    for (int t = 0; t < 5000; t++) {
        environment_round round;
        ok(environment_next(world, &round, NULL));
        for (size_t arm = 0; arm < 20; arm++) {
            size_t bin = (size_t)(round.expected[arm] * BINS);
            counts[bin]++;
            clicks[bin] += round.rewards[arm];
            expected[bin] += round.expected[arm];
        }
    }
    for (size_t bin = 0; bin < BINS; bin++) {
        assert_true(counts[bin] > 1000);
        assert_true(fabs(clicks[bin] - expected[bin]) < 4.0 * 0.5 * sqrt(counts[bin])); /* four standard errors */
    }
    stop(world, data);
}

static double logit(double probability)
{
    return log(probability / (1.0 - probability));
}

/* An arm is the round's user, then an item. What is expected is that of the features that are shown: the logit is a
 * constant and a multiple of their inner product. */
TEST(arms_show_users_and_items)
{
    enum { DIM = 6, HALF = DIM / 2, ARMS = 4, ITEMS = 9 };
    dataset *data;
    environment *world = start("synthetic:clicks,dim=6,arms=4,items=9,sharpness=3", 7, &data);
    assert_string_equal(dataset_name(data), "synthetic:clicks,dim=6,arms=4,items=9,sharpness=3");
    assert_int_equal(dataset_dim(data), DIM);
    assert_int_equal(dataset_arms(data), ARMS);
    assert_int_equal(dataset_blocks(data), 1);
    assert_false(dataset_exclusive(data));
    assert_int_equal(dataset_rounds(data), 0);
    assert_int_equal(dataset_rows(data), 0);
    float catalogue[ITEMS][HALF];
    size_t known = 0;
    double bias = 0.0;
    for (int t = 0; t < 200; t++) {
        environment_round round;
        size_t items[ARMS];
        ok(environment_next(world, &round, NULL));
        assert_null(round.arms.starts);
        for (size_t arm = 0; arm < ARMS; arm++) {
            const float *x = round.arms.values + arm * DIM;
            assert_memory_equal(x, round.arms.values, HALF * sizeof *x);
            size_t item = 0;
            while (item < known && memcmp(catalogue[item], x + HALF, sizeof *catalogue) != 0) item++;
            assert_true(item < ITEMS);
            if (item == known) memcpy(catalogue[known++], x + HALF, sizeof *catalogue);
            for (size_t i = 0; i < arm; i++) assert_int_not_equal(items[i], item);
            items[arm] = item;
            double inner = 0.0;
            for (size_t i = 0; i < HALF; i++) inner += (double)x[i] * (double)x[HALF + i];
            double rest = logit(round.expected[arm]) - 3.0 * inner / sqrt(HALF);
            if (t == 0 && arm == 0) bias = rest;
            assert_close(rest, bias, 1e-9);
        }
    }
    assert_int_equal(known, ITEMS);
    stop(world, data);
}

TEST(blocks_hold_the_context)
{
    enum { WIDTH = 5, ARMS = 12 };
    dataset *data;
    environment *world = start("synthetic:clicks,blocks=on,arms=12,dim=5,rate=0.3", 1, &data);
    assert_int_equal(dataset_dim(data), ARMS * WIDTH);
    assert_int_equal(dataset_arms(data), ARMS);
    assert_int_equal(dataset_blocks(data), ARMS);
    assert_false(dataset_exclusive(data));
    bool several = false;
    for (int t = 0; t < 50; t++) {
        environment_round round;
        double clicks = 0.0;
        ok(environment_next(world, &round, NULL));
        assert_int_equal(round.arms.count, ARMS);
        assert_int_equal(round.arms.dim, ARMS * WIDTH);
        for (size_t arm = 0; arm < ARMS; arm++) {
            assert_int_equal(round.arms.starts[arm], arm * WIDTH);
            assert_true(round.arms.values[arm * WIDTH] == 1.0f);
            for (size_t i = 0; i < WIDTH; i++) {
                assert_int_equal(round.arms.indices[arm * WIDTH + i], arm * WIDTH + i);
                assert_true(round.arms.values[arm * WIDTH + i] == round.arms.values[i]);
            }
            clicks += round.rewards[arm];
        }
        assert_int_equal(round.arms.starts[ARMS], ARMS * WIDTH);
        several = several || clicks > 1.0;
    }
    assert_true(several);
    stop(world, data);
}

/* After half a turn what was liked is disliked, after a whole one all is as it was. Users and items are those of no
 * drift. */
TEST(drift_turns_the_preferences)
{
    static const char *const forms[] = {"synthetic:clicks,dim=8", "synthetic:clicks,dim=7,blocks=on"};
    for (int form = 0; form < 2; form++) {
        char text[96];
        dataset *sets[2];
        snprintf(text, sizeof text, "%s,drift=3.141592653589793", forms[form]);
        environment *still = start(forms[form], 3, &sets[0]), *drifting = start(text, 3, &sets[1]);
        double together[3] = {0, 0, 0}, squares[3] = {0, 0, 0}; /* after no turn, half a turn and a whole one */
        for (int t = 0; t < 2100; t++) {
            environment_round a, b;
            ok(environment_next(still, &a, NULL));
            ok(environment_next(drifting, &b, NULL));
            assert_memory_equal(a.arms.values, b.arms.values, (form ? 140 : 160) * sizeof(float));
            if (t == 0) assert_memory_equal(a.expected, b.expected, 20 * sizeof(double));
            if (t % 1000 >= 20) continue;
            for (size_t arm = 1; arm < 20; arm++) { /* less the first arm's: the bias goes out */
                double before = logit(a.expected[arm]) - logit(a.expected[0]);
                together[t / 1000] += before * (logit(b.expected[arm]) - logit(b.expected[0]));
                squares[t / 1000] += before * before;
            }
        }
        /* What is dear to all, and the odd one out of a context, do not turn: a third of a shop's variance. */
        assert_true(together[0] > 0.99 * squares[0] && together[2] > 0.99 * squares[2]);
        assert_true(together[1] < (form ? -0.2 : -0.95) * squares[1]);
        stop(still, sets[0]);
        stop(drifting, sets[1]);
    }
}

TEST(same_seed_same_rounds)
{
    static const char *const forms[] = {"synthetic:clicks", "synthetic:clicks,blocks=on", "synthetic:clicks,drift=1"};
    for (int form = 0; form < 3; form++) {
        dataset *data;
        environment *one = start(forms[form], 8, &data), *two, *other;
        ok(environment_create(data, 8, &two, NULL));
        ok(environment_create(data, 9, &other, NULL));
        for (int t = 0; t < 50; t++) {
            environment_round a, b, c;
            ok(environment_next(one, &a, NULL));
            ok(environment_next(two, &b, NULL));
            ok(environment_next(other, &c, NULL));
            assert_memory_equal(a.arms.values, b.arms.values, 400 * sizeof(float));
            assert_memory_equal(a.rewards, b.rewards, 20 * sizeof(double));
            assert_memory_equal(a.expected, b.expected, 20 * sizeof(double));
            assert_memory_not_equal(a.arms.values, c.arms.values, 400 * sizeof(float));
        }
        environment_free(two);
        environment_free(other);
        stop(one, data);
    }
}

/* But for the last digits, which the C library's functions may have otherwise. */
TEST(rounds_stay_as_they_are)
{
    dataset *data;
    environment *world = start("synthetic:clicks", 3, &data);
    environment_round round;
    for (int t = 0; t < 3; t++) ok(environment_next(world, &round, NULL));
    assert_close(round.arms.values[7], -0.20386125147342682, 1e-6);
    assert_close(round.arms.values[399], -0.081694595515727997, 1e-6);
    assert_close(1e5 * round.expected[9], 2.1125921705529237, 1e-6);
    stop(world, data);
}
