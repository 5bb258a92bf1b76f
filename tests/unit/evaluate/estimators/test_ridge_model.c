/* Reward models against the numbers of Open Bandit Pipeline with scikit-learn's ridge. */
#include "evaluate/estimators/ridge_model.h"

#include "data/support_sets.h"
#include "support_files.h"
#include "support_rounds.h"

enum { CONTEXT = 2, ACTIONS = 4, DIM = CONTEXT + ACTIONS, FOLDS = 2 };
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The stored log, and its rows as arms: the context, then 1 at the place of the action. */
typedef struct ridge_log {
    json_t *root;
    size_t count;
    double *context, *action, *reward, *p, *pi, *fold;
} ridge_log;

static ridge_log load(void)
{
    ridge_log log = {.root = golden_load("ope/mrdr.json")};
    log.context = golden_doubles(golden_member(log.root, "context"), NULL);
    log.action = golden_doubles(golden_member(log.root, "action"), NULL);
    log.reward = golden_doubles(golden_member(log.root, "reward"), NULL);
    log.p = golden_doubles(golden_member(log.root, "pscore"), NULL);
    log.pi = golden_doubles(golden_member(log.root, "soft"), NULL);
    log.fold = golden_doubles(golden_member(log.root, "fold"), &log.count);
    return log;
}

static void unload(ridge_log *log)
{
    free(log->context);
    free(log->action);
    free(log->reward);
    free(log->p);
    free(log->pi);
    free(log->fold);
    json_decref(log->root);
}

typedef struct round_arms {
    size_t starts[ACTIONS + 1];
    uint32_t indices[ACTIONS * (CONTEXT + 1)];
    float values[ACTIONS * (CONTEXT + 1)];
} round_arms;

static ee_arms arms_of(const ridge_log *log, size_t round, round_arms *room)
{
    size_t entry = 0;
    for (size_t a = 0; a < ACTIONS; a++) {
        room->starts[a] = entry;
        for (size_t i = 0; i < CONTEXT; i++, entry++) {
            room->indices[entry] = (uint32_t)i;
            room->values[entry] = (float)log->context[round * CONTEXT + i];
        }
        room->indices[entry] = (uint32_t)(CONTEXT + a);
        room->values[entry++] = 1.0f;
    }
    room->starts[ACTIONS] = entry;
    return ee_arms_sparse(room->starts, room->indices, room->values, ACTIONS, DIM);
}

static void add_round(ridge_model *model, const ridge_log *log, size_t round, ridge_weighting by)
{
    round_arms room;
    ee_arms arms = arms_of(log, round, &room);
    size_t taken = (size_t)log->action[round];
    double pi = log->pi[round * ACTIONS + taken]; /* theirs has pi where ours has pi^2 */
    double weight = ridge_model_weight(by, pi, log->p[round]) / (by == RIDGE_MRDR ? pi : 1.0);
    ridge_model_add(model, vector_of_arm(&arms, taken), log->reward[round], weight);
}

static void predict_round(const ridge_model *model, const ridge_log *log, size_t round, double *q)
{
    round_arms room;
    ee_arms arms = arms_of(log, round, &room);
    ridge_model_predict(model, &arms, q + round * ACTIONS);
}

/* Arms are floats, and theirs were not. */
static void check_first(const json_t *stored, const double *q)
{
    size_t count;
    auto_free double *expected = golden_doubles(stored, &count);
    for (size_t i = 0; i < count; i++) assert_close(q[i], expected[i], 1e-7);
}

static void check_estimates(json_t *expect, const ridge_log *log, const double *q)
{
    RELEASED_BY(logged_free) logged_rounds rounds = logged_make(log->root, log->pi, q, ACTIONS);
    assert_relative(estimator_value(ESTIMATOR_DM, 0, &rounds.rounds), golden_number(golden_member(expect, "dm")), 1e-7);
    assert_relative(estimator_value(ESTIMATOR_DR, 0, &rounds.rounds), golden_number(golden_member(expect, "dr")), 1e-7);
    assert_relative(estimator_value(ESTIMATOR_SNDR, 0, &rounds.rounds), golden_number(golden_member(expect, "sndr")),
                    1e-7);
    json_t *value;
    const char *key;
    json_object_foreach(golden_member(expect, "switch_dr"), key, value) assert_relative(
        estimator_value(ESTIMATOR_SWITCH_DR, strtod(key, NULL), &rounds.rounds), golden_number(value), 1e-7);
    json_object_foreach(golden_member(expect, "dr_os"), key, value)
        assert_relative(estimator_value(ESTIMATOR_DROS, strtod(key, NULL), &rounds.rounds), golden_number(value), 1e-7);
}

static void check_whole(json_t *expect, const ridge_log *log, ridge_weighting by, double *q)
{
    RELEASED_BY(memory_release) memory room = {0};
    ridge_model model;
    ok(ridge_model_create(&model, &room, DIM, 1.0, NULL));
    for (size_t i = 0; i < log->count; i++) add_round(&model, log, i, by);
    ok(ridge_model_solve(&model, NULL));
    check_first(golden_member(expect, "coefficients"), model.theta);
    assert_relative(model.theta[DIM], golden_number(golden_member(expect, "intercept")), 1e-7);
    for (size_t i = 0; i < log->count; i++) predict_round(&model, log, i, q);
    check_first(golden_member(expect, "q_hat_first_10"), q);
    check_estimates(golden_member(expect, "whole"), log, q);
}

static void check_cross_fitted(json_t *expect, const ridge_log *log, ridge_weighting by, double *q)
{
    RELEASED_BY(memory_release) memory room = {0};
    ridge_model folds[FOLDS], model;
    for (size_t f = 0; f < FOLDS; f++) ok(ridge_model_create(&folds[f], &room, DIM, 1.0, NULL));
    for (size_t i = 0; i < log->count; i++) add_round(&folds[(size_t)log->fold[i]], log, i, by);
    for (size_t f = 0; f < FOLDS; f++) {
        ok(ridge_model_create(&model, &room, DIM, 1.0, NULL));
        for (size_t other = 0; other < FOLDS; other++)
            if (other != f) ridge_model_merge(&model, &folds[other]);
        ok(ridge_model_solve(&model, NULL));
        for (size_t i = 0; i < log->count; i++)
            if ((size_t)log->fold[i] == f) predict_round(&model, log, i, q);
    }
    check_first(golden_member(expect, "cross_q_hat_first_10"), q);
    check_estimates(golden_member(expect, "cross_fitted"), log, q);
}

TEST(equal_to_stored_models)
{
    static const char *const names[] = {[RIDGE_PLAIN] = "normal", [RIDGE_IMPORTANCE] = "iw", [RIDGE_MRDR] = "mrdr"};
    ridge_log log = load();
    auto_free double *q = malloc(log.count * ACTIONS * sizeof *q);
    assert_non_null(q);
    for (size_t by = 0; by < COUNT(names); by++) {
        json_t *expect = golden_member(golden_member(log.root, "expect"), names[by]);
        check_whole(expect, &log, (ridge_weighting)by, q);
        check_cross_fitted(expect, &log, (ridge_weighting)by, q);
    }
    unload(&log);
}

/* A row of weight 3 is three rows; a dense row is a sparse one. */
TEST(weights_count_rows)
{
    const float x[] = {1, 0, -2}, y[] = {0, 3, 1};
    const uint32_t indices[] = {0, 2};
    const float entries[] = {1, -2};
    RELEASED_BY(memory_release) memory room = {0};
    ridge_model once, thrice;
    ok(ridge_model_create(&once, &room, 3, 0.5, NULL));
    ok(ridge_model_create(&thrice, &room, 3, 0.5, NULL));
    ridge_model_add(&once, vector_dense(x, 3), 2.0, 3.0);
    ridge_model_add(&once, vector_dense(y, 3), -1.0, 1.0);
    for (int i = 0; i < 3; i++) ridge_model_add(&thrice, (vector){entries, indices, 2}, 2.0, 1.0);
    ridge_model_add(&thrice, vector_dense(y, 3), -1.0, 1.0);
    ok(ridge_model_solve(&once, NULL));
    ok(ridge_model_solve(&thrice, NULL));
    for (size_t i = 0; i < 4; i++) assert_close(once.theta[i], thrice.theta[i], 1e-14);
}

TEST(zero_without_rows)
{
    RELEASED_BY(memory_release) memory room = {0};
    ridge_model model;
    ok(ridge_model_create(&model, &room, 2, 1.0, NULL));
    ok(ridge_model_solve(&model, NULL));
    const float values[] = {1, 2};
    ee_arms arms = ee_arms_dense(values, 1, 2);
    double q = NAN;
    ridge_model_predict(&model, &arms, &q);
    assert_true(q == 0.0);
}

TEST(too_many_features_are_refused)
{
    memory room = {0};
    ridge_model model;
    fails_saying(ridge_model_create(&model, &room, 5000, 1.0, &last_error), EE_BAD_INPUT,
                 "5000 features are too many; expected at most 4096");
}
