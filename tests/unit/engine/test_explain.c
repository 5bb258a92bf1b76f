/* What the features contribute, over all policies: against differences of the scores that are public, against leaving
 * a feature out, and in the units of the rewards. */
#include "every_policy.h"

#include "named_play.h"

#include "engine/snapshot.h"
#include "features/features.h"

enum { DIM = 12, ARMS = 5, ROUNDS = 150 };

/* Whether features have a part in what it expects. */
static bool learns(const char *name)
{
    return strcmp(name, "uniform") != 0 && strcmp(name, "ucb1") != 0 && strcmp(name, "thompson") != 0;
}

static float exploitation(ee_bandit *bandit, const ee_arms *arms, size_t arm)
{
    static ee_score scores[ROUND_ARMS];
    ok(ee_bandit_score(bandit, arms, scores, &last_error));
    return scores[arm].exploitation;
}

static void explain(ee_bandit *bandit, const ee_arms *arms, size_t arm, float *contributions)
{
    ok(ee_bandit_explain(bandit, arms, arm, contributions, &last_error));
}

static double correlation(const double *a, const double *b, size_t count)
{
    double sum[2] = {0}, squares[2] = {0}, products = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        sum[0] += a[i];
        sum[1] += b[i];
        squares[0] += a[i] * a[i];
        squares[1] += b[i] * b[i];
        products += a[i] * b[i];
    }
    double scale = sqrt((squares[0] - sum[0] * sum[0] / n) * (squares[1] - sum[1] * sum[1] / n));
    return scale > 0 ? (products - sum[0] * sum[1] / n) / scale : 0;
}

/* ---- every policy ---- */

/* The slopes to both sides of where an entry is. Scores are floats, so the step is wide; where the two differ there is
 * a kink between. */
static bool slope_at(ee_bandit *bandit, round_arms *round, size_t arm, size_t entry, double *rise)
{
    float *x = &round->values[arm * DIM + entry], kept = *x, step = 4e-3f;
    double here = (double)exploitation(bandit, &round->dense, arm);
    *x = kept + step;
    double up = (double)exploitation(bandit, &round->dense, arm);
    *x = kept - step;
    double down = (double)exploitation(bandit, &round->dense, arm);
    *x = kept;
    *rise = (up - down) / (2 * (double)step);
    return fabs((up - here) - (here - down)) / (double)step < 2e-3 * (0.1 + fabs(*rise));
}

/* A float of a score has an error of some 1e-7 of its size, by the step some 1e-4 of the slope. */
static const double SLOPE_TOLERANCE = 4e-3;

static void check_slopes(ee_bandit *bandit, const policy_case *c, round_arms *round)
{
    size_t smooth = 0;
    for (size_t arm = 0; arm < ARMS; arm++) {
        float contributions[DIM];
        explain(bandit, &round->dense, arm, contributions);
        for (size_t i = 0; i < DIM; i++) {
            double rise, x = (double)round->values[arm * DIM + i];
            if (!slope_at(bandit, round, arm, i, &rise)) continue;
            smooth++;
            if (fabs((double)contributions[i] - rise * x) > SLOPE_TOLERANCE)
                fail_msg("%s %s: arm %zu entry %zu contributes %g, by differences %g", c->name, c->options, arm, i,
                         (double)contributions[i], rise * x);
        }
    }
    if (smooth < ARMS * DIM / 3) fail_msg("%s %s: only %zu entries without a kink", c->name, c->options, smooth);
}

/* Leaving a feature out is what a contribution stands for. */
static double check_left_out(ee_bandit *bandit, const policy_case *c, round_arms *round)
{
    double reported[ARMS * DIM], lost[ARMS * DIM];
    size_t count = 0;
    for (size_t arm = 0; arm < ARMS; arm++) {
        float contributions[DIM];
        explain(bandit, &round->dense, arm, contributions);
        for (size_t i = 0; i < DIM; i++) {
            float *x = &round->values[arm * DIM + i], kept = *x;
            if (kept == 0) {
                assert_true(contributions[i] == 0);
                continue;
            }
            double with = (double)exploitation(bandit, &round->dense, arm);
            *x = 0;
            lost[count] = with - (double)exploitation(bandit, &round->dense, arm);
            *x = kept;
            reported[count] = (double)contributions[i];
            if (!strcmp(c->name, "linucb") || !strcmp(c->name, "lints"))
                assert_close(reported[count], lost[count], 1e-5);
            count++;
        }
    }
    return correlation(reported, lost, count);
}

static void check_sparse(ee_bandit *bandit, const round_arms *round)
{
    for (size_t arm = 0; arm < ARMS; arm++) {
        float dense[DIM], sparse[DIM];
        explain(bandit, &round->dense, arm, dense);
        explain(bandit, &round->sparse, arm, sparse);
        for (size_t i = 0; i < round->starts[arm + 1] - round->starts[arm]; i++)
            assert_close(sparse[i], dense[round->indices[round->starts[arm] + i]], 1e-5);
    }
}

TEST(every_policy_is_explained)
{
    static round_arms round;
    const size_t starts[] = {0, 0};
    ee_arms empty = ee_arms_sparse(starts, NULL, NULL, 1, DIM);
    double agreements = 0, learners = 0;
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_bandit *bandit = bandit_make(c->name, DIM, 3, c->options);
        float contributions[DIM], size = 0;
        ok(ee_bandit_explain(bandit, &empty, 0, NULL, NULL)); /* it has no parts */
        /* A logit that is sure of an arm has no slope there: what leaving a feature out does is then far from linear.
         * Before f1 is that sure, the two agree. */
        bool logistic = !strcmp(c->name, "neural-fastcb") || strstr(c->options, "cross_entropy");
        bandit_play(bandit, 1, logistic ? ROUNDS / 5 : ROUNDS, ARMS, false);
        auto_model before = model_save(bandit);
        round_draw(&round, 9999, ARMS, DIM, DIM / 2);
        explain(bandit, &round.dense, 0, contributions);
        for (size_t j = 0; j < DIM; j++) size += fabsf(contributions[j]);
        assert_int_equal(size > 0, learns(c->name));
        check_sparse(bandit, &round);
        if (learns(c->name)) {
            check_slopes(bandit, c, &round);
            double agreement = check_left_out(bandit, c, &round);
            if (agreement < 0.6) fail_msg("%s %s: agreement %g with leaving out", c->name, c->options, agreement);
            agreements += agreement;
            learners++;
        }
        assert_true(model_is_of(before, bandit));
    }
    assert_true(agreements / learners > 0.9); /* networks of four units are the exception */
}

/* An image, a trunk that arms share, a convolution within it: the shapes of f1 that the cases above do not have. */
TEST(every_shape_of_f1_is_explained)
{
    const policy_case shapes[] = {
        {"greedy", "f1.layers=1"},
        {"greedy", "f1.width=6 f1.layers=3 f1.bias=off"},
        {"greedy", "f1.width=6 f1.front=conv1d:2:3+relu"},
        {"greedy", "f1.width=6 f1.image=1x3x4 f1.front=conv2d:3:2+relu"},
        {"neural-linear", "f1.width=6 f1.front=conv1d:2:3+relu"},
        {"neural-linucb", "f1.width=6 blocks=2"},
        {"neural-fastcb", "f1.width=6 blocks=2"},
        {"neural-ensemble", "f1.width=6 blocks=2 members=3"},
    };
    static round_arms round;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        auto_bandit *bandit = bandit_make(shapes[i].name, DIM, 3, shapes[i].options);
        bandit_play(bandit, 1, ROUNDS, ARMS, false);
        round_draw(&round, 9999, ARMS, DIM, DIM / 2);
        check_slopes(bandit, &shapes[i], &round);
        check_sparse(bandit, &round);
    }
}

/* Plays rounds whose arms are `wide` times as long, and whose rewards are `high` times as high. */
static void play_in_units(ee_bandit *bandit, float wide, double high, float *contributions)
{
    static round_arms round;
    for (uint64_t t = 1; t <= ROUNDS + 1; t++) {
        round_draw(&round, t, ARMS, DIM, DIM / 2);
        for (size_t i = 0; i < ARMS * DIM; i++) round.values[i] *= wide;
        if (t > ROUNDS) break;
        ee_decision decision = bandit_choose(bandit, &round.dense, NULL);
        bandit_reward(bandit, decision.id, high * round_reward(&round, decision.arm));
    }
    explain(bandit, &round.dense, 1, contributions);
}

TEST(contributions_are_in_rewards_whatever_the_unit)
{
    float plain[DIM], longer[DIM], higher[DIM];
    const struct {
        float *contributions, wide;
        double high;
    } plays[] = {{plain, 1, 1}, {longer, 1024, 1}, {higher, 1, 256}};
    for (size_t i = 0; i < 3; i++) {
        auto_bandit *bandit = bandit_make("eenet", DIM, 3, "f1.width=6");
        play_in_units(bandit, plays[i].wide, plays[i].high, plays[i].contributions);
    }
    for (size_t i = 0; i < DIM; i++) {
        assert_close(longer[i], plain[i], 1e-4);
        assert_close(higher[i] / 256, plain[i], 1e-3);
    }
}

TEST(a_snapshot_explains_as_its_bandit)
{
    static round_arms round;
    round_draw(&round, 9999, ARMS, DIM, DIM / 2);
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_bandit *bandit = bandit_make(c->name, DIM, 3, c->options);
        float expected[DIM], got[DIM];
        explanation *whole;
        ee_score scores[ARMS];
        bandit_play(bandit, 1, 60, ARMS, true);
        auto_snapshot *snapshot = snapshot_make(bandit);
        auto_scratch *own = scratch_make(snapshot, 1);
        explain(bandit, &round.sparse, 2, expected);
        ok(ee_snapshot_explain(snapshot, own, &round.sparse, 2, got, NULL));
        size_t count = round.starts[3] - round.starts[2];
        assert_memory_equal(got, expected, count * sizeof *got);
        ok(snapshot_explain(snapshot, own, &round.sparse, NULL, 7, EXPLAIN_ALL, &whole, NULL));
        assert_int_equal(whole->arm_count, ARMS);
        assert_int_equal(whole->arms[2].count, count);
        for (size_t j = 0; j < count; j++) {
            const explained_entry *entry = &whole->entries[whole->arms[2].first + j];
            assert_int_equal(entry->left, round.indices[round.starts[2] + j]);
            assert_int_equal(entry->right, NO_FEATURE);
            assert_close(entry->contribution, expected[j], 1e-6);
        }
        ee_scratch_seed(own, 7);
        ok(ee_snapshot_score(snapshot, own, &round.sparse, scores, NULL));
        for (size_t arm = 0; arm < ARMS; arm++) assert_true(whole->arms[arm].score.score == scores[arm].score);
    }
}

/* ---- named features ---- */

static explanation *reported;

static reader make_named(const char *name, const char *options, const char *named)
{
    ee_bandit *bandit = named_make(name, options, named);
    ee_round *round = round_make();
    named_play(bandit, round, 1, 200);
    reader self = reader_make(bandit, 1);
    self.round = round;
    return self;
}

static void explain_named(const reader *self)
{
    ok(snapshot_explain(self->snapshot, self->scratch, NULL, self->round, 1, EXPLAIN_ALL, &reported, &last_error));
}

/* "user.plan=p1*item.id=i1"; "" of the constant. */
static const char *name_of(const reader *c, size_t arm, const explained_entry *entry)
{
    static char name[256];
    const uint32_t numbers[] = {entry->left, entry->right};
    size_t used = 0;
    name[0] = '\0';
    for (size_t i = 0; i < 2 && numbers[i] != NO_FEATURE; i++) {
        const round_feature *f = round_feature_at(c->round, arm, numbers[i]);
        used += (size_t)snprintf(name + used, sizeof name - used, "%s%.*s", i ? "*" : "", (int)f->bytes,
                                 c->round->text + f->text);
    }
    return name;
}

static const explained_entry *find_entry(const reader *c, size_t arm, const char *name)
{
    const explained_arm *own = &reported->arms[arm];
    for (size_t i = own->first; i < own->first + own->count; i++)
        if (strcmp(name_of(c, arm, &reported->entries[i]), name) == 0) return &reported->entries[i];
    return NULL;
}

/* The good item is that of the plan's number: what the arm is expected to be worth lies in that product. The names are
 * there also where places are shared, or hashed as Vowpal Wabbit does. */
TEST(named_features_are_told_by_name)
{
    const char *hashings[] = {"", "names=4,hashes=4096", "hashing=vw,bits=11"};
    for (size_t i = 0; i < 3; i++) {
        char good[64], bad[64];
        auto_reader c = make_named("linucb", i ? "" : "lambda=0.1", hashings[i]);
        named_draw(c.round, 500);
        explain_named(&c);
        size_t plan = named_plan(500), other = (plan + 1) % NAMED_ARMS;
        snprintf(good, sizeof good, "user.plan=p%zu*item.id=i%zu", plan, plan);
        snprintf(bad, sizeof bad, "user.plan=p%zu*item.id=i%zu", plan, other);
        assert_non_null(find_entry(&c, plan, ""));
        assert_true(find_entry(&c, plan, good)->contribution > 0.1f);
        assert_true(find_entry(&c, other, bad)->contribution < find_entry(&c, plan, good)->contribution);
    }
    /* Of a linear policy whose rewards have no centre nothing is left over; of any the parts are the whole. */
    const policy_case cases[] = {
        {"linucb:paper", ""}, {"eenet", "f1.width=8 units=4"}, {"kernelucb", "max_contexts=50"}};
    for (size_t i = 0; i < 3; i++) {
        auto_reader c = make_named(cases[i].name, cases[i].options, "names=2000");
        named_draw(c.round, 501);
        explain_named(&c);
        for (size_t arm = 0; arm < NAMED_ARMS; arm++) {
            const explained_arm *own = &reported->arms[arm];
            double sum = (double)own->base;
            for (size_t j = 0; j < own->count; j++) sum += (double)reported->entries[own->first + j].contribution;
            assert_close(sum, own->score.exploitation, 1e-5);
            if (i == 0) assert_close(own->base, 0, 1e-5);
            assert_true(own->probability >= 0 && own->probability <= 1);
        }
    }
}

/* A number at its mean is 0 to the model, and contributes nothing; what is further out contributes more. */
TEST(a_number_at_its_mean_contributes_nothing)
{
    auto_reader c = make_named("linucb", "", "products=none");
    ee_feature income = {0};
    for (size_t place = 0; place < 100; place++) {
        ok(ee_bandit_feature(c.bandit, place, &income, NULL));
        if (strcmp(income.name, "user.income") == 0) break;
    }
    double mean = income.mean, deviation = income.deviation;
    for (int away = 0; away < 2; away++) {
        char json[256];
        int size = snprintf(json, sizeof json, "{\"user\":{\"income\":%.17g},\"_multi\":[{\"item\":{\"id\":\"i1\"}}]}",
                            mean + away * deviation);
        ee_round_clear(c.round);
        ok(ee_round_read(c.round, json, (size_t)size, NULL));
        explain_named(&c);
        const explained_entry *entry = find_entry(&c, 0, "user.income");
        if (away)
            assert_true(entry && fabsf(entry->value - 1) < 1e-5f && entry->contribution != 0);
        else
            assert_true(!entry || fabsf(entry->contribution) < 1e-6f);
    }
}

TEST(the_memory_of_arms_is_told_apart)
{
    const float arms[] = {1, 0, 0, 1, 0.5f, 0.5f};
    ee_arms round = ee_arms_dense(arms, 3, 2);
    for (int recalls = 0; recalls < 2; recalls++) {
        auto_bandit *bandit =
            bandit_make("eenet", 2, 3, recalls ? "f1.width=4 units=4" : "f1.width=4 units=4 recall=0");
        for (int t = 0; t < 200; t++) {
            ee_decision decision = bandit_choose(bandit, &round, NULL);
            bandit_reward(bandit, decision.id, decision.arm == 2 ? 1 : 0); /* which no line through the others has */
        }
        auto_snapshot *snapshot = snapshot_make(bandit);
        auto_scratch *own = scratch_make(snapshot, 1);
        ok(snapshot_explain(snapshot, own, &round, NULL, 1, EXPLAIN_ALL, &reported, NULL));
        double recalled = 0;
        for (size_t i = 0; i < 3; i++) {
            const explained_arm *arm = &reported->arms[i];
            recalled += fabs((double)arm->recalled);
            /* w2 = 0.7 in the preset's f3 */
            assert_close(arm->score.score - arm->recalled, arm->score.exploitation + 0.7f * arm->score.exploration,
                         1e-5);
        }
        assert_int_equal(recalled > 1e-6, recalls);
    }
}

TEST(bad_input_gets_a_sentence)
{
    auto_bandit *bandit = bandit_make("linucb", 2, 3, "");
    const float values[] = {1, 2, 3, NAN};
    ee_arms good = ee_arms_dense(values, 1, 2), bad = ee_arms_dense(values, 2, 2);
    float contributions[2];
    refuses(ee_bandit_explain(NULL, &good, 0, contributions, &last_error), "explain: bandit must not be NULL");
    refuses(ee_bandit_explain(bandit, NULL, 0, contributions, &last_error), "explain: arms must not be NULL");
    refuses(ee_bandit_explain(bandit, &good, 1, contributions, &last_error), "explain: arm must be 0 to 0, got 1");
    refuses(ee_bandit_explain(bandit, &good, 0, NULL, &last_error), "explain: contributions must not be NULL");
    assert_int_equal(ee_bandit_explain(bandit, &bad, 0, contributions, &last_error), EE_BAD_INPUT);
    refuses(ee_snapshot_explain(NULL, NULL, &good, 0, contributions, &last_error),
            "explain: snapshot and scratch must not be NULL");
}
