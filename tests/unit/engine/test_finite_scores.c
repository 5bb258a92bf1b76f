/* After a reward was learned, every score of every arm is a finite number: for every policy, for rewards of any size
 * and for rewards that come up to a million decisions late; and no model with other parameters is saved or loaded. */
#include "engine/every_policy.h"

#include "engine/bandit.h"

enum { DIM = 6, ARMS = 4 };

/* Arms of features in (-1, 1), the last all zeros and the one before it about as long as arms may be. */
static const ee_arms *arms_to_score(uint64_t number)
{
    static round_arms round;
    round_draw(&round, number, ARMS, DIM, DIM / 2);
    for (size_t i = 0; i < DIM; i++) {
        round.values[(ARMS - 2) * DIM + i] *= 0.9e9f;
        round.values[(ARMS - 1) * DIM + i] = 0;
    }
    round_compress(&round, ARMS, DIM);
    return &round.dense;
}

static void assert_finite_scores(ee_bandit *bandit, const policy_case *c, const char *after)
{
    for (uint64_t number = 1; number <= 3; number++) {
        ee_score scores[ARMS];
        ee_error error = {EE_OK, ""};
        if (ee_bandit_score(bandit, arms_to_score(number), scores, &error))
            fail_msg("%s %s, after %s: %s", c->name, c->options, after, error.message);
        for (size_t i = 0; i < ARMS; i++)
            if (!isfinite(scores[i].score) || !isfinite(scores[i].exploitation) || !isfinite(scores[i].exploration))
                fail_msg("%s %s, after %s: arm %zu has the score %g + %g = %g", c->name, c->options, after, i,
                         (double)scores[i].exploitation, (double)scores[i].exploration, (double)scores[i].score);
    }
}

/* Learns a reward of any arm. One that was refused must have changed nothing, which the scores show too. */
static void learn_any(ee_bandit *bandit, const policy_case *c, uint64_t number, double reward)
{
    static round_arms round;
    char after[64];
    ee_error error = {EE_OK, ""};
    round_draw(&round, number, ARMS, DIM, DIM / 2);
    ee_status status = ee_bandit_learn_from(bandit, &round.dense, number % ARMS, reward, &error);
    if (status && status != EE_DIVERGED) fail_msg("%s %s: %s", c->name, c->options, error.message);
    snprintf(after, sizeof after, "reward %g, number %d", reward, (int)number);
    assert_finite_scores(bandit, c, after);
}

TEST(rewards_of_any_size)
{
    const double sizes[][5] = {
        {1, 0, 0.5, -1, 0.25},        {1e9, -1e9, 1e9, 1e9, -1e9},   {1e-30, 0, -1e-30, 1e-30, 2e-30},
        {1e-45, 0, -1e-45, 1e-40, 0}, {1e9, 1e-30, -1e-45, 0, -1e9}, {0, 0, 1e-38, 0, 1e9},
    };
    enum { SIZES = sizeof sizes / sizeof *sizes, TIMES = SANITIZED ? 15 : 20 };
    policy_case c;
    for (size_t at = 0; policy_case_at(at, &c); at++) {
        for (size_t s = 0; s < SIZES; s++) {
            auto_bandit *bandit = bandit_make(c.name, DIM, at, c.options);
            for (uint64_t t = 0; t < TIMES; t++) learn_any(bandit, &c, t + 1, sizes[s][t % 5]);
            for (uint64_t t = 0; t < 5; t++) learn_any(bandit, &c, t + 1, 1e9); /* beyond all that came before */
            for (uint64_t t = 0; t < 5; t++) learn_any(bandit, &c, t + 1, 1e-30);
            bandit = bandit_reload(bandit);
            assert_finite_scores(bandit, &c, "loading");
        }
    }
}

/* Decisions with arm 0, one-hot in a block of its own, whose rewards come after `later` decisions with the others. */
static void learn_late(const policy_case *c, const char *more, uint64_t later)
{
    enum { LATE = 3, WIDE = 6 };
    char options[512];
    snprintf(options, sizeof options, "%s %s", c->options, more);
    ee_settings settings = {.policy = c->name, .dim = WIDE, .seed = 1, .options = options};
    ee_bandit *bandit;
    if (ee_bandit_create(&settings, &bandit, NULL)) return; /* a policy without blocks, or for which so many are many */
    float values[] = {1, 0.5f, 0, 0, 0, 0, 0, 0, 1, -0.5f, 0, 0};
    ee_arms idle = ee_arms_dense(values, 1, WIDE), other = ee_arms_dense(values + WIDE, 1, WIDE);
    uint64_t ids[LATE];
    for (size_t i = 0; i < LATE; i++) ids[i] = bandit_choose(bandit, &idle, NULL).id;
    for (uint64_t t = 0; t < later; t++) {
        ee_decision made = bandit_choose(bandit, &other, NULL);
        if (t < 30 || t % 1000 == 0) bandit_reward(bandit, made.id, (double)(t % 2));
    }
    for (size_t i = 0; i < LATE; i++) bandit_reward(bandit, ids[i], 1);
    ee_score score;
    ok(ee_bandit_score(bandit, &idle, &score, NULL));
    if (!(fabsf(score.exploitation) < 10 && fabsf(score.exploration) < 10))
        fail_msg("%s %s, %d decisions late: the score is %g + %g", c->name, options, (int)later,
                 (double)score.exploitation, (double)score.exploration);
    ee_bandit_free(bandit);
}

TEST(rewards_up_to_a_million_decisions_late)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        learn_late(c, "blocks=3 pending=900000", test_long(500, 8000));
        learn_late(c, "pending=900000", test_long(500, 8000));
    }
    learn_late(&(policy_case){"eenet", "f1.width=6 units=4"}, "blocks=3 pending=2000000", test_long(30000, 1000000));
}

/* Whether place i of the values is not finite, as a float or as half of a double. */
static bool is_broken(const parameters *learned, size_t i)
{
    const double *doubles = (const double *)(const void *)learned->values;
    return i < learned->floats ? !isfinite(learned->values[i]) : i + 1 < learned->count && !isfinite(doubles[i / 2]);
}

TEST(no_parameter_that_is_not_finite_is_loaded_or_saved)
{
    const uint32_t wrong = UINT32_C(0x7ff80001); /* not a number, also as the upper half of a double */
    size_t tried = 0;
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_bandit *bandit = bandit_make(c->name, DIM, 5, c->options);
        bandit_play(bandit, 1, 30, ARMS, false);
        parameters *learned = &bandit->policy->parameters;
        size_t saved = learned->count - learned->unsaved;
        for (size_t i = 0; i < saved; i += 1 + saved / 300) {
            float before = learned->values[i];
            void *bytes = NULL;
            size_t size;
            auto_bandit *loaded = NULL;
            memcpy(&learned->values[i], &wrong, sizeof wrong);
            if (is_broken(learned, i) && !ee_bandit_save_bytes(bandit, &bytes, &size, NULL)) {
                tried++;
                if (ee_bandit_load_bytes(bytes, size, NULL, &loaded, NULL) == EE_OK &&
                    is_broken(&loaded->policy->parameters, i))
                    fail_msg("%s %s: a model is loaded whose value %zu is not finite", c->name, c->options, i);
            }
            ee_bytes_free(bytes);
            learned->values[i] = before;
        }
    }
    assert_true(tried > 100);
    const char *const names[] = {"eenet", "eenet:fast", "greedy", "neural-ucb", "neural-linear", "neural-ensemble"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        auto_bandit *bandit = bandit_make(names[i], DIM, 1, "f1.width=6");
        parameters *learned = &bandit->policy->parameters;
        void *bytes = bandit;
        size_t size;
        learned->values[learned->floats - 1] = INFINITY;
        fails_with(ee_bandit_save_bytes(bandit, &bytes, &size, &last_error), EE_DIVERGED,
                   "model: a parameter is not a finite number");
        assert_null(bytes);
    }
}
