/* The estimators against the numbers of Open Bandit Pipeline, and against what they promise. */
#include "evaluate/estimator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate/rounds_sums.h"
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
    double *terms = malloc(rounds->count * sizeof *terms), sum = 0.0;
    assert_non_null(terms);
    estimator_terms(kind, lambda, rounds, terms);
    for (size_t i = 0; i < rounds->count; i++) sum += terms[i];
    free(terms);
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
    double *terms = malloc(rounds->count * sizeof *terms);
    assert_non_null(terms);
    for (size_t k = 0; k < COUNT(of); k++) {
        estimator_terms(of[k].kind, 10.0, rounds, terms);
        const json_t *first = golden_member(stored, of[k].name);
        for (size_t i = 0; i < json_array_size(first); i++)
            assert_relative(terms[i], golden_number(json_array_get(first, i)), 1e-9);
    }
    free(terms);
}

/* Equal widths are a question of order: the values are compared, not the parameters. */
static void check_choices(json_t *expect, const evaluated_rounds *rounds)
{
    json_t *stored = json_object_get(expect, "tuned");
    if (!stored) return;
    static const char *const ways[] = {[TUNING_MSE] = "mse", [TUNING_SLOPE] = "slope"};
    for (size_t k = 0; k < COUNT(chosen); k++) {
        for (size_t way = 0; way < COUNT(ways); way++) {
            char name[32];
            snprintf(name, sizeof name, "%s_%s", chosen[k].name, ways[way]);
            double lambda;
            assert_int_equal(estimator_tune(chosen[k].kind, (estimator_tuning)way, rounds, &lambda, NULL), EE_OK);
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

static void equal_on_synthetic_logs(void **state)
{
    (void)state;
    static const char *const names[] = {"ope/synthetic_binary.json", "ope/synthetic_continuous.json"};
    for (size_t i = 0; i < COUNT(names); i++) {
        json_t *log = golden_load(names[i]), *expect;
        const char *policy;
        json_object_foreach(golden_member(log, "expect"), policy, expect)
        {
            logged_rounds rounds = logged_of_policy(log, policy);
            check_all(expect, &rounds.rounds);
            logged_free(&rounds);
        }
        json_decref(log);
    }
}

static void equal_on_edge_cases(void **state)
{
    (void)state;
    json_t *root = golden_load("ope/edge_cases.json"), *log;
    size_t i;
    json_array_foreach(golden_member(root, "cases"), i, log)
    {
        size_t count;
        double *pi = golden_doubles(golden_member(log, "pi"), &count);
        double *q = golden_doubles(golden_member(log, "q_hat"), NULL);
        logged_rounds rounds = logged_make(log, pi, q, count / json_array_size(golden_member(log, "reward")));
        check_all(golden_member(log, "expect"), &rounds.rounds);
        logged_free(&rounds);
        free(pi);
        free(q);
    }
    json_decref(root);
}

/* The log for which the README of Open Bandit Pipeline prints the error of its estimate. */
static void equal_to_what_was_published(void **state)
{
    (void)state;
    json_t *root = golden_load("ope/published.json"), *log = golden_member(root, "digits");
    size_t count = (size_t)json_integer_value(golden_member(log, "n_rounds")), actions = 10;
    double *choice = golden_doubles(golden_member(log, "choice"), NULL), *pi = calloc(count * actions, sizeof *pi);
    assert_non_null(pi);
    for (size_t i = 0; i < count; i++) pi[i * actions + (size_t)choice[i]] = 1.0;
    logged_rounds rounds = logged_make(log, pi, NULL, actions);
    check_all(golden_member(log, "expect"), &rounds.rounds);
    double truth = golden_number(golden_member(log, "ground_truth"));
    assert_relative(fabs(estimator_value(ESTIMATOR_IPS, NAN, &rounds.rounds) / truth - 1.0), 0.01827255896321327,
                    1e-12);
    logged_free(&rounds);
    free(choice);
    free(pi);
    json_decref(root);
}

static void equal_on_open_bandit(void **state)
{
    (void)state;
    const char *data = getenv("EENET_DATA");
    if (!data) skip();
    static const char *const names[] = {"random_men", "random_women", "bts_men", "bts_women"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/open-bandit/golden/obd_%s.json", data, names[i]);
        json_t *log = json_load_file(path, 0, NULL);
        assert_non_null(log);
        logged_rounds rounds = logged_of_open_bandit(log);
        check_all(golden_member(log, "expect"), &rounds.rounds);
        logged_free(&rounds);
        json_decref(log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_on_synthetic_logs),
        cmocka_unit_test(equal_on_edge_cases),
        cmocka_unit_test(equal_to_what_was_published),
        cmocka_unit_test(equal_on_open_bandit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
