/* Opening data sets by their text, the synthetic problems, and made clicks: synthetic:clicks. */
#include "data/sets/environment.h"

#include "data/support_sets.h"
#include "evaluate/estimators/statistics.h"
#include "support.h"

TEST(wrong_texts_are_named)
{
    static const char *const cases[][2] = {
        {"syntetic:cosine", "data set: unknown kind 'syntetic'; did you mean 'synthetic'?"},
        {"", "data set: unknown kind ''; 'eenet datasets' lists the kinds"},
        {"imagenet-of-pictures-and-of-more:x",
         "data set: unknown kind 'imagenet-of-pictures-and-of-more'; 'eenet datasets' lists the kinds"},
        {"synthetic", "data set: expected synthetic:inner|quadratic|cosine[,OPTION=VALUE...]"},
        {"yelp:", "data set: expected yelp:DIR"},
        {"table:t\xfc.csv", "data set: the file name and the options must be UTF-8, because results contain them"},
        {"synthetic:inner,dim=\xfc",
         "data set: the file name and the options must be UTF-8, because results contain them"},
        {"synthetic:cosinus", "synthetic: unknown form 'cosinus'; did you mean 'cosine'?"},
        {"synthetic:,dim=3", "data set: expected synthetic:inner|quadratic|cosine[,OPTION=VALUE...]"},
        {"synthetic:inner,dims=3", "options: synthetic has no option 'dims'; did you mean 'dim'?"},
        {"synthetic:inner,dim=0", "options: synthetic.dim must be 1 to 65536, got 0"},
        {"synthetic:inner,arms=1", "options: synthetic.arms must be 2 to 65536, got 1"},
        {"synthetic:inner,noise=-1", "options: synthetic.noise must be 0 to 1000, got -1"},
        {"synthetic:inner,drift=-1", "options: synthetic.drift must be 0 to 1000, got -1"},
        {"synthetic:inner,drift=1,dim=1", "options: synthetic.drift needs a dim of 2 or more"},
        {"synthetic:inner,dim=4097,arms=4096",
         "options: synthetic.arms times dim must be at most 16777216, got 16781312"},
        {"synthetic:inner,noise", "synthetic: expected inner, quadratic, cosine or clicks, got 'inner,noise'"},
        {"synthetic:inner,rate=0.1", "options: synthetic has no option 'rate'"},
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
        fails_with(dataset_open(cases[i][0], NULL, &data, &last_error), EE_BAD_OPTION, cases[i][1]);
        assert_null(data);
    }
}

TEST(kinds_are_described)
{
    dataset_info info;
    ee_option described;
    ok(dataset_describe(0, &info, NULL));
    assert_string_equal(info.name, "synthetic");
    ok(dataset_option_describe(0, 1, &described, NULL));
    assert_string_equal(described.name, "arms");
    assert_string_equal(described.value, "10");
    assert_int_equal(dataset_option_describe(0, 4, &described, &last_error), EE_BAD_INPUT);
    size_t kinds = 0, yelp = 0;
    for (; !dataset_describe(kinds, &info, &last_error); kinds++)
        if (strcmp(info.name, "yelp") == 0) yelp = kinds;
    assert_int_not_equal(yelp, 0);
    assert_int_equal(dataset_option_describe(yelp, 0, &described, &last_error), EE_BAD_INPUT); /* it has none */
    assert_int_equal(dataset_option_describe(kinds, 0, &described, &last_error), EE_BAD_INPUT);
}

TEST(shapes_are_as_asked)
{
    auto_dataset *data = open_data("synthetic:quadratic,dim=7,arms=4,noise=0");
    auto_environment *world = start_rounds(data, 3);
    assert_string_equal(dataset_text(data), "synthetic:quadratic,dim=7,arms=4,noise=0");
    assert_int_equal(dataset_dim(data), 7);
    assert_int_equal(dataset_blocks(data), 1);
    environment_round round;
    for (int t = 0; t < 100; t++) {
        ok(environment_next(world, &round, NULL));
        assert_int_equal(round.arms.count, 4);
        assert_int_equal(round.arms.dim, 7);
        assert_null(round.arms.starts);
        for (size_t arm = 0; arm < 4; arm++) {
            double squares = 0.0;
            for (size_t i = 0; i < 7; i++) squares += pow((double)round.arms.values[arm * 7 + i], 2);
            assert_close(squares, 1.0, 1e-6);
            assert_true(round.rewards[arm] == round.expected[arm]);
        }
    }
}

/* The three forms with one seed have the same hidden vector and the same arms. */
TEST(forms_follow_the_inner_product)
{
    auto_dataset *first = open_data("synthetic:inner"), *second = open_data("synthetic:quadratic"),
                 *third = open_data("synthetic:cosine");
    auto_environment *inner = start_rounds(first, 5), *quadratic = start_rounds(second, 5),
                     *cosine = start_rounds(third, 5);
    for (int t = 0; t < 100; t++) {
        environment_round a = next_round(inner), b = next_round(quadratic), c = next_round(cosine);
        assert_memory_equal(a.arms.values, b.arms.values, 200 * sizeof(float));
        assert_memory_equal(a.arms.values, c.arms.values, 200 * sizeof(float));
        for (size_t arm = 0; arm < 10; arm++) {
            assert_close(b.expected[arm], 10.0 * a.expected[arm] * a.expected[arm], 1e-12);
            assert_close(c.expected[arm], cos(3.0 * a.expected[arm]), 1e-12);
        }
    }
}

/* The angle of the hidden vector in the plane, from two arms. Those that are nearly parallel are passed over. */
static bool find_angle(const environment_round *round, double *angle)
{
    const float *x = round->arms.values;
    double a = (double)x[0], b = (double)x[1], c = (double)x[2], d = (double)x[3], determinant = a * d - b * c;
    *angle = atan2((a * round->expected[1] - c * round->expected[0]) / determinant,
                   (d * round->expected[0] - b * round->expected[1]) / determinant);
    return fabs(determinant) > 0.1;
}

/* In the plane there is one plane to turn in: the angle tells all. Arms and noise are those of no drift. */
TEST(drift_turns_the_hidden_vector)
{
    auto_dataset *left = open_data("synthetic:inner,dim=2,arms=2"),
                 *right = open_data("synthetic:inner,dim=2,arms=2,drift=0.5");
    auto_environment *still = start_rounds(left, 11), *drifting = start_rounds(right, 11);
    double sign = 0.0;
    for (int t = 0; t < 4000; t++) {
        environment_round a = next_round(still), b = next_round(drifting);
        assert_memory_equal(a.arms.values, b.arms.values, 4 * sizeof(float));
        assert_close(a.rewards[0] - a.expected[0], b.rewards[0] - b.expected[0], 1e-12);
        if (t == 0) assert_close(b.expected[1], a.expected[1], 1e-12);
        double before, now;
        if (!find_angle(&a, &before) || !find_angle(&b, &now)) continue;
        double turned = remainder(now - before, 2 * acos(-1.0)); /* at most 2 radians, so there is no doubt */
        if (t > 100 && sign == 0.0) sign = turned > 0 ? 1.0 : -1.0;
        if (t > 100) assert_close(turned, sign * 0.5 * t / 1000, 1e-9);
    }
    assert_true(sign != 0.0);
}

/* Of arms on the sphere the mean of x (x.a) is a / dim: many of them show the vector, whatever the dimension. A quarter
 * turn leaves nothing of it, half a turn its opposite. */
TEST(drift_keeps_the_length)
{
    enum { DIM = 10, ARMS = 2000, BETWEEN = 500 };
    auto_dataset *data = open_data("synthetic:inner,dim=10,arms=2000,drift=3.141592653589793");
    auto_environment *world = start_rounds(data, 4);
    double seen[3][DIM] = {{0}};
    for (int t = 0; t <= 2 * BETWEEN; t++) {
        environment_round round = next_round(world);
        if (t % BETWEEN) continue;
        for (size_t i = 0; i < ARMS * DIM; i++)
            seen[t / BETWEEN][i % DIM] += round.expected[i / DIM] * (double)round.arms.values[i] * DIM / ARMS;
    }
    double squares = 0.0, quarter = 0.0, half = 0.0;
    for (size_t i = 0; i < DIM; i++) {
        squares += seen[1][i] * seen[1][i];
        quarter += seen[0][i] * seen[1][i];
        half += seen[0][i] * seen[2][i];
    }
    assert_true(fabs(squares - 1.0) < 0.2 && fabs(quarter) < 0.2 && fabs(half + 1.0) < 0.2);
}

/* What the rounds of a seed were before there was drift, and shall stay. */
TEST(rounds_are_those_of_old)
{
    auto_dataset *data = open_data("synthetic:cosine");
    auto_environment *world = start_rounds(data, 3);
    environment_round round;
    for (int t = 0; t < 3; t++) ok(environment_next(world, &round, NULL));
    /* But for the last digits, which the C library's functions may have otherwise. */
    assert_close(round.arms.values[7], 0.087830066680908203, 1e-6);
    assert_close(round.rewards[2], 0.95625611654580223, 1e-6);
    assert_close(round.expected[9], 0.29436608118053592, 1e-6);
}

TEST(noise_has_its_deviation)
{
    enum { ROUNDS = 1000, ARMS = 10 };
    static double noise[ROUNDS * ARMS];
    auto_dataset *data = open_data("synthetic:cosine,noise=0.5");
    auto_environment *world = start_rounds(data, 2);
    for (size_t t = 0; t < ROUNDS; t++) {
        environment_round round = next_round(world);
        for (size_t arm = 0; arm < ARMS; arm++) noise[t * ARMS + arm] = round.rewards[arm] - round.expected[arm];
    }
    /* Four standard errors. */
    assert_true(fabs(statistics_mean(noise, ROUNDS * ARMS)) < 4 * 0.005);
    assert_true(fabs(statistics_deviation(noise, ROUNDS * ARMS) - 0.5) < 4 * 0.0036);
}

TEST(same_seed_same_rounds)
{
    static const char *const kinds[] = {"synthetic:cosine", "synthetic:clicks", "synthetic:clicks,blocks=on",
                                        "synthetic:clicks,drift=1"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        auto_dataset *data = open_data(kinds[i]);
        auto_environment *one = start_rounds(data, 8), *two = start_rounds(data, 8), *other = start_rounds(data, 9);
        for (int t = 0; t < 50; t++) {
            environment_round a = next_round(one), b = next_round(two), c = next_round(other);
            size_t entries = a.arms.starts ? a.arms.starts[a.arms.count] : a.arms.count * a.arms.dim;
            assert_memory_equal(a.arms.values, b.arms.values, entries * sizeof(float));
            assert_memory_equal(a.rewards, b.rewards, a.arms.count * sizeof(double));
            assert_memory_equal(a.expected, b.expected, a.arms.count * sizeof(double));
            assert_memory_not_equal(a.arms.values, c.arms.values, entries * sizeof(float));
        }
    }
}

TEST(free_takes_null)
{
    environment_free(NULL);
    dataset_free(NULL);
}

/* Means over the arms of many rounds and of some seeds. */
typedef struct tally {
    double expected, clicks, best;
} tally;

static tally play(const char *text, uint64_t seeds, int rounds)
{
    tally sum = {0, 0, 0};
    double arms = 0.0;
    auto_dataset *data = open_data(text);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        environment_round round;
        auto_environment *world = start_rounds(data, seed);
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
    }
    return (tally){sum.expected / arms, sum.clicks / arms, sum.best / (double)seeds / rounds};
}

/* Within 3%, which is some three times what chance makes of so many rounds: a round's arms have one user. */
TEST(the_rate_is_as_asked)
{
    static const double rates[] = {0.01, 0.05, 0.2, 0.9};
    for (size_t i = test_long(1, 0); i < sizeof rates / sizeof *rates; i += test_long(2, 1)) {
        for (int form = 0; form < 3; form++) {
            static const char *const forms[] = {"", ",blocks=on,dim=8", ",drift=1,items=20,sharpness=1"};
            tally seen = play(formatted("synthetic:clicks,rate=%g%s", rates[i], forms[form]), 5, 4000);
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
    auto_dataset *data = open_data("synthetic:clicks,rate=0.3");
    auto_environment *world = start_rounds(data, 4);
    for (int t = 0; t < 5000; t++) {
        environment_round round = next_round(world);
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
    auto_dataset *data = open_data("synthetic:clicks,dim=6,arms=4,items=9,sharpness=3");
    auto_environment *world = start_rounds(data, 7);
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
        size_t items[ARMS];
        environment_round round = next_round(world);
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
}

TEST(blocks_hold_the_context)
{
    enum { WIDTH = 5, ARMS = 12 };
    auto_dataset *data = open_data("synthetic:clicks,blocks=on,arms=12,dim=5,rate=0.3");
    auto_environment *world = start_rounds(data, 1);
    assert_int_equal(dataset_dim(data), ARMS * WIDTH);
    assert_int_equal(dataset_arms(data), ARMS);
    assert_int_equal(dataset_blocks(data), ARMS);
    assert_false(dataset_exclusive(data));
    bool several = false;
    for (int t = 0; t < 50; t++) {
        double clicks = 0.0;
        environment_round round = next_round(world);
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
}

/* After half a turn what was liked is disliked, after a whole one all is as it was. Users and items are those of no
 * drift. */
TEST(drift_turns_the_preferences)
{
    static const char *const forms[] = {"synthetic:clicks,dim=8", "synthetic:clicks,dim=7,blocks=on"};
    for (int form = 0; form < 2; form++) {
        auto_dataset *left = open_data(forms[form]),
                     *right = open_data(formatted("%s,drift=3.141592653589793", forms[form]));
        auto_environment *still = start_rounds(left, 3), *drifting = start_rounds(right, 3);
        double together[3] = {0, 0, 0}, squares[3] = {0, 0, 0}; /* after no turn, half a turn and a whole one */
        for (int t = 0; t < 2100; t++) {
            environment_round a = next_round(still), b = next_round(drifting);
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
    }
}

TEST(clicks_stay_as_they_are)
{
    auto_dataset *data = open_data("synthetic:clicks");
    auto_environment *world = start_rounds(data, 3);
    environment_round round;
    for (int t = 0; t < 3; t++) ok(environment_next(world, &round, NULL));
    assert_close(round.arms.values[7], -0.20386125147342682, 1e-6);
    assert_close(round.arms.values[399], -0.081694595515727997, 1e-6);
    assert_close(1e5 * round.expected[9], 2.1125921705529237, 1e-6);
}
