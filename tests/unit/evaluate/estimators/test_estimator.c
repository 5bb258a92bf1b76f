/* The estimators against the numbers of Open Bandit Pipeline, and against what they promise. */
#include "evaluate/estimators/estimator.h"

#include "base/random.h"
#include "data/support_sets.h"
#include "evaluate/estimators/rounds_sums.h"
#include "support_rounds.h"

typedef struct stored_name {
    const char *name;
    estimator_kind kind;
} stored_name;

static const stored_name single[] = {{"ipw", ESTIMATOR_IPS}, {"snipw", ESTIMATOR_SNIPS}, {"dm", ESTIMATOR_DM},
                                     {"dr", ESTIMATOR_DR},   {"sndr", ESTIMATOR_SNDR},   {"replay", ESTIMATOR_REPLAY}};
static const stored_name tuned[] = {{"ipw_clipped", ESTIMATOR_CLIPPED}, {"dr_clipped", ESTIMATOR_CLIPPED_DR},
                                    {"switch_dr", ESTIMATOR_SWITCH_DR}, {"dr_os", ESTIMATOR_DROS},
                                    {"sg_ipw", ESTIMATOR_SG_IPS},       {"sg_dr", ESTIMATOR_SG_DR}};
static const stored_name chosen[] = {{"ipw", ESTIMATOR_CLIPPED},         {"dr", ESTIMATOR_CLIPPED_DR},
                                     {"switch_dr", ESTIMATOR_SWITCH_DR}, {"dr_os", ESTIMATOR_DROS},
                                     {"sg_ipw", ESTIMATOR_SG_IPS},       {"sg_dr", ESTIMATOR_SG_DR}};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static double mean_of_terms(estimator_kind kind, double lambda, const evaluated_rounds *rounds)
{
    auto_free double *terms = malloc(rounds->count * sizeof *terms);
    double sum = 0.0;
    assert_non_null(terms);
    estimator_terms(kind, lambda, rounds, terms);
    for (size_t i = 0; i < rounds->count; i++) sum += terms[i];
    return sum / (double)rounds->count;
}

static void check_single(const json_t *expect, const evaluated_rounds *rounds)
{
    rounds_sums sums = {0};
    rounds_sums_add_all(&sums, rounds);
    for (size_t k = 0; k < COUNT(single); k++) {
        const json_t *stored = json_object_get(expect, single[k].name);
        if (!stored) continue;
        double expected = golden_number(stored);
        assert_relative(estimator_value(single[k].kind, NAN, rounds), expected, 1e-9);
        assert_relative(rounds_sums_value(&sums, single[k].kind), expected, 1e-9);
        assert_relative(mean_of_terms(single[k].kind, NAN, rounds), expected, 1e-9);
    }
    const json_t *weights = golden_member(expect, "weights");
    assert_relative(sums.w, golden_number(golden_member(weights, "sum")), 1e-9);
    assert_relative(sums.wmax, golden_number(golden_member(weights, "max")), 1e-9);
    assert_relative(sums.ww, golden_number(golden_member(weights, "sum_of_squares")), 1e-9);
    assert_relative(rounds_sums_effective(&sums), golden_number(golden_member(weights, "effective_sample_size")), 1e-9);
}

static void check_tuned(json_t *expect, const evaluated_rounds *rounds)
{
    for (size_t k = 0; k < COUNT(tuned); k++) {
        json_t *stored = json_object_get(expect, tuned[k].name), *value;
        const char *key;
        json_object_foreach(stored, key, value)
        {
            double lambda = strtod(key, NULL);
            assert_relative(estimator_value(tuned[k].kind, lambda, rounds), golden_number(value), 1e-9);
            assert_relative(mean_of_terms(tuned[k].kind, lambda, rounds), golden_number(value), 1e-9);
        }
    }
}

static void check_first_rounds(json_t *expect, const evaluated_rounds *rounds)
{
    json_t *stored = json_object_get(expect, "round_rewards_first_5");
    static const stored_name of[] = {
        {"ipw", ESTIMATOR_IPS}, {"dm", ESTIMATOR_DM}, {"dr", ESTIMATOR_DR}, {"dr_os_10", ESTIMATOR_DROS}};
    if (!stored) return;
    auto_free double *terms = malloc(rounds->count * sizeof *terms);
    assert_non_null(terms);
    for (size_t k = 0; k < COUNT(of); k++) {
        estimator_terms(of[k].kind, 10.0, rounds, terms);
        const json_t *first = golden_member(stored, of[k].name);
        for (size_t i = 0; i < json_array_size(first); i++)
            assert_relative(terms[i], golden_number(json_array_get(first, i)), 1e-9);
    }
}

/* Equal widths are a question of order: the values are compared, not the parameters. */
static void check_choices(json_t *expect, const evaluated_rounds *rounds)
{
    json_t *stored = json_object_get(expect, "tuned");
    if (!stored) return;
    static const char *const ways[] = {[TUNING_MSE] = "mse", [TUNING_SLOPE] = "slope"};
    for (size_t k = 0; k < COUNT(chosen); k++) {
        for (size_t way = 0; way < COUNT(ways); way++) {
            const char *name = formatted("%s_%s", chosen[k].name, ways[way]);
            double lambda;
            ok(estimator_tune(chosen[k].kind, (estimator_tuning)way, rounds, &lambda, NULL));
            double expected = golden_number(golden_member(golden_member(stored, name), "value"));
            assert_relative(estimator_value(chosen[k].kind, lambda, rounds), expected, 1e-9);
        }
    }
    const json_t *scores = golden_member(expect, "mse_score");
    assert_relative(estimator_mse(ESTIMATOR_SWITCH_DR, 10, rounds),
                    golden_number(golden_member(golden_member(scores, "switch_dr_10"), "true")), 1e-9);
    assert_relative(estimator_mse(ESTIMATOR_DROS, 10, rounds),
                    golden_number(golden_member(golden_member(scores, "dr_os_10"), "true")), 1e-9);
}

static void check_all(json_t *expect, const evaluated_rounds *rounds)
{
    check_single(expect, rounds);
    check_tuned(expect, rounds);
    check_first_rounds(expect, rounds);
    check_choices(expect, rounds);
}

TEST(equal_on_synthetic_logs)
{
    static const char *const names[] = {"ope/synthetic_binary.json", "ope/synthetic_continuous.json"};
    for (size_t i = 0; i < COUNT(names); i++) {
        json_auto_t *log = golden_load(names[i]);
        json_t *expect;
        const char *policy;
        json_object_foreach(golden_member(log, "expect"), policy, expect)
        {
            RELEASED_BY(logged_free) logged_rounds rounds = logged_of_policy(log, policy);
            check_all(expect, &rounds.rounds);
        }
    }
}

TEST(equal_on_edge_cases)
{
    json_auto_t *root = golden_load("ope/edge_cases.json");
    json_t *log;
    size_t i;
    json_array_foreach(golden_member(root, "cases"), i, log)
    {
        size_t count;
        auto_free double *pi = golden_doubles(golden_member(log, "pi"), &count);
        auto_free double *q = golden_doubles(golden_member(log, "q_hat"), NULL);
        RELEASED_BY(logged_free)
        logged_rounds rounds = logged_make(log, pi, q, count / json_array_size(golden_member(log, "reward")));
        check_all(golden_member(log, "expect"), &rounds.rounds);
    }
}

/* The log for which the README of Open Bandit Pipeline prints the error of its estimate. */
TEST(equal_to_what_was_published)
{
    json_auto_t *root = golden_load("ope/published.json");
    json_t *log = golden_member(root, "digits");
    size_t count = (size_t)json_integer_value(golden_member(log, "n_rounds")), actions = 10;
    auto_free double *choice = golden_doubles(golden_member(log, "choice"), NULL),
                     *pi = calloc(count * actions, sizeof *pi);
    assert_non_null(pi);
    for (size_t i = 0; i < count; i++) pi[i * actions + (size_t)choice[i]] = 1.0;
    RELEASED_BY(logged_free) logged_rounds rounds = logged_make(log, pi, NULL, actions);
    check_all(golden_member(log, "expect"), &rounds.rounds);
    double truth = golden_number(golden_member(log, "ground_truth"));
    assert_relative(fabs(estimator_value(ESTIMATOR_IPS, NAN, &rounds.rounds) / truth - 1.0), 0.01827255896321327,
                    1e-12);
}

TEST(equal_on_open_bandit)
{
    logged_each_open_bandit(check_all);
}

enum { SOME = 1000 };

typedef struct made_rounds {
    evaluated_rounds rounds;
    double weights[SOME], rewards[SOME], direct[SOME], predicted[SOME], copies[SOME];
} made_rounds;

static void make_rounds(made_rounds *to)
{
    random_stream stream = random_named(1, "rounds");
    for (size_t i = 0; i < SOME; i++) {
        to->weights[i] = i % 3 ? 4.0 * random_unit(&stream) * random_unit(&stream) : 0.0;
        to->rewards[i] = random_normal(&stream);
        to->direct[i] = random_unit(&stream);
        to->predicted[i] = random_unit(&stream);
        to->copies[i] = 1.0 + (double)(i % 4);
    }
    to->rounds = (evaluated_rounds){SOME, to->weights, to->rewards, to->direct, to->predicted, to->copies};
}

/* One by one, all at once or in parts that are merged. */
TEST(streams_equal_arrays)
{
    made_rounds made;
    make_rounds(&made);
    const evaluated_rounds *all = &made.rounds;
    evaluated_rounds head = *all;
    head.count = 300;
    evaluated_rounds tail = {SOME - 300,        all->weights + 300,   all->rewards + 300,
                             all->direct + 300, all->predicted + 300, all->copies + 300};
    rounds_sums ways[3] = {0}, part = {0};
    for (size_t i = 0; i < SOME; i++)
        rounds_sums_add(&ways[0], all->weights[i], all->rewards[i], all->direct[i], all->predicted[i], all->copies[i]);
    rounds_sums_add_all(&ways[1], all);
    rounds_sums_add_all(&ways[2], &tail);
    rounds_sums_add_all(&part, &head);
    rounds_sums_merge(&ways[2], &part);
    for (size_t way = 0; way < COUNT(ways); way++) {
        assert_int_equal(ways[way].events, SOME);
        assert_true(ways[way].count == 2.5 * SOME && ways[way].copies_max == 4.0 && ways[way].wmax == ways[0].wmax);
        for (size_t kind = 0; kind < ESTIMATOR_KINDS; kind++)
            if (estimator_describe((estimator_kind)kind)->streams)
                assert_close(rounds_sums_value(&ways[way], (estimator_kind)kind),
                             estimator_value((estimator_kind)kind, INFINITY, all), 1e-13);
    }
}

/* Added up plainly, three million tenths are off in the eleventh digit. */
TEST(many_rounds_keep_their_digits)
{
    enum { MANY = 3000000 };
    auto_free double *ones = malloc(MANY * sizeof *ones), *tenths = malloc(MANY * sizeof *tenths);
    assert_true(ones && tenths);
    for (size_t i = 0; i < MANY; i++) {
        ones[i] = 1.0;
        tenths[i] = 0.1;
    }
    evaluated_rounds rounds = {.count = MANY, .weights = ones, .rewards = tenths};
    rounds_sums together = {0}, apart = {0};
    rounds_sums_add_all(&together, &rounds);
    for (size_t i = 0; i < MANY / 10; i++) rounds_sums_add(&apart, 1, 0.1, 0, 0, 1);
    assert_close(10 * estimator_value(ESTIMATOR_IPS, 0, &rounds), 1.0, 1e-12);
    assert_close(10 * rounds_sums_value(&together, ESTIMATOR_IPS), 1.0, 1e-15);
    assert_close(10 * rounds_sums_value(&apart, ESTIMATOR_IPS), 1.0, 1e-15);
}

TEST(shifted_rewards_shift_normalised_values)
{
    made_rounds made;
    make_rounds(&made);
    double snips = estimator_value(ESTIMATOR_SNIPS, 0, &made.rounds);
    double replay = estimator_value(ESTIMATOR_REPLAY, 0, &made.rounds);
    double likely = estimator_value(ESTIMATOR_EL, INFINITY, &made.rounds);
    for (size_t i = 0; i < SOME; i++) made.rewards[i] += 5.0;
    assert_close(estimator_value(ESTIMATOR_SNIPS, 0, &made.rounds), snips + 5.0, 1e-13);
    assert_close(estimator_value(ESTIMATOR_REPLAY, 0, &made.rounds), replay + 5.0, 1e-13);
    assert_close(estimator_value(ESTIMATOR_EL, INFINITY, &made.rounds), likely + 5.0, 1e-12);
}

TEST(a_model_of_zeros_changes_nothing)
{
    static const estimator_kind pairs[][2] = {{ESTIMATOR_IPS, ESTIMATOR_DR},
                                              {ESTIMATOR_CLIPPED, ESTIMATOR_CLIPPED_DR},
                                              {ESTIMATOR_SNIPS, ESTIMATOR_SNDR},
                                              {ESTIMATOR_SG_IPS, ESTIMATOR_SG_DR}};
    made_rounds made;
    make_rounds(&made);
    memset(made.direct, 0, sizeof made.direct);
    memset(made.predicted, 0, sizeof made.predicted);
    evaluated_rounds without = made.rounds;
    without.direct = without.predicted = NULL;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        double value = estimator_value(pairs[i][0], 0.5, &made.rounds);
        assert_true(estimator_value(pairs[i][1], 0.5, &made.rounds) == value);
        assert_true(estimator_value(pairs[i][1], 0.5, &without) == value);
    }
    assert_true(estimator_value(ESTIMATOR_DM, 0, &without) == 0.0);
}

/* Where all rounds stand for as many, the value is that of the rounds. */
TEST(equal_copies_change_no_value)
{
    made_rounds made;
    make_rounds(&made);
    for (size_t i = 0; i < SOME; i++) made.copies[i] = 3.0;
    evaluated_rounds once = made.rounds;
    once.copies = NULL;
    for (size_t kind = 0; kind < ESTIMATOR_CRESSIE_READ; kind++)
        assert_close(estimator_value((estimator_kind)kind, 0.5, &made.rounds),
                     estimator_value((estimator_kind)kind, 0.5, &once), 1e-13);
}

TEST(nothing_of_no_rounds)
{
    evaluated_rounds none = {0};
    rounds_sums sums = {0};
    rounds_sums_add_all(&sums, &none);
    for (size_t kind = 0; kind < ESTIMATOR_KINDS; kind++) {
        assert_true(isnan(estimator_value((estimator_kind)kind, 1, &none)));
        assert_true(isnan(rounds_sums_value(&sums, (estimator_kind)kind)));
    }
    assert_true(isnan(rounds_sums_effective(&sums)));
}

TEST(names_lead_back)
{
    for (size_t kind = 0; kind < ESTIMATOR_KINDS; kind++)
        assert_int_equal(estimator_find(estimator_describe((estimator_kind)kind)->name), kind);
    assert_int_equal(estimator_find("nonsense"), ESTIMATOR_KINDS);
}

TEST(tuning_is_refused_where_there_is_nothing_to_tune)
{
    made_rounds made;
    make_rounds(&made);
    double lambda;
    fails_with(estimator_tune(ESTIMATOR_IPS, TUNING_MSE, &made.rounds, &lambda, &last_error), EE_BAD_OPTION,
               "estimator ips has no parameter to tune");
    made.rounds.count = 1;
    refuses(estimator_tune(ESTIMATOR_DROS, TUNING_SLOPE, &made.rounds, &lambda, &last_error),
            "estimator dros: tuning needs at least 2 rounds, got 1");
}
