/* Decisions whose reward does not come: they expire by count or by time, and are forgotten or learned with the default
 * reward. */
#include "every_policy.h"

#include "learned.h"

enum { DIM = 6, ARMS = 4 };

static round_arms round_now;

static const ee_arms *arms_of_round(uint64_t number)
{
    round_draw(&round_now, number, ARMS, DIM, DIM);
    return &round_now.dense;
}

static uint64_t decide(ee_bandit *bandit, uint64_t number)
{
    return bandit_choose(bandit, arms_of_round(number), NULL).id;
}

static void set_time(ee_bandit *bandit, double now)
{
    ok(ee_bandit_set_time(bandit, now, &last_error));
}

typedef struct counts {
    uint64_t decisions, rewards, pending, expired, defaulted;
} counts;

static void assert_counts(const ee_bandit *bandit, counts expected)
{
    ee_info info = ee_bandit_info(bandit);
    counts got = {info.decisions, info.rewards, info.pending, info.expired, info.defaulted};
    if (memcmp(&got, &expected, sizeof got) != 0)
        fail_msg("decisions %d, rewards %d, pending %d, expired %d, defaulted %d", (int)got.decisions, (int)got.rewards,
                 (int)got.pending, (int)got.expired, (int)got.defaulted);
}

static void assert_refused(ee_bandit *bandit, uint64_t id, const char *sentence)
{
    auto_model before = model_save(bandit);
    fails_with(ee_bandit_learn(bandit, id, 1, &last_error), EE_EXPIRED_DECISION, sentence);
    assert_true(model_is_of(before, bandit));
}

/* ---- by count ---- */

TEST(by_count_a_decision_is_forgotten)
{
    auto_bandit *bandit = bandit_make("linucb", DIM, 3, "pending=2");
    for (uint64_t i = 1; i <= 3; i++) decide(bandit, i);
    assert_counts(bandit, (counts){.decisions = 3, .pending = 2, .expired = 1});
    bandit_reward(bandit, 2, 1);
    decide(bandit, 4); /* takes the place of one that has its reward */
    assert_counts(bandit, (counts){.decisions = 4, .rewards = 1, .pending = 2, .expired = 1});
    ok(ee_bandit_forget(bandit, 3, NULL)); /* counts as neither */
    decide(bandit, 5);
    assert_counts(bandit, (counts){.decisions = 5, .rewards = 1, .pending = 2, .expired = 1});
    assert_refused(bandit, 1,
                   "learn: decision 1 is no longer kept: 4 decisions followed it, and option pending is 2; if it had "
                   "no reward, it was forgotten");
}

/* A bandit whose decisions are learned by default, and its twin to which the same reward is told: after the decision
 * that pushes the other one out. */
TEST(by_count_the_default_is_learned)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        char options[256];
        snprintf(options, sizeof options, "%s pending=3 default_reward=0.25", c->options);
        auto_bandit *bandit = bandit_make(c->name, DIM, 3, options);
        snprintf(options, sizeof options, "%s pending=4", c->options);
        auto_bandit *twin = bandit_make(c->name, DIM, 3, options);
        for (uint64_t t = 1; t <= 20; t++) {
            assert_int_equal(decide(bandit, t), decide(twin, t));
            if (t > 3) bandit_reward(twin, t - 3, 0.25);
            if (!learned_the_same(bandit, twin)) fail_msg("%s %s: round %d", c->name, c->options, (int)t);
        }
        assert_counts(bandit, (counts){.decisions = 20, .rewards = 17, .pending = 3, .defaulted = 17});
        assert_refused(bandit, 5,
                       "learn: decision 5 is no longer kept: 15 decisions followed it, and option pending is 3; if it "
                       "had no reward, it was learned with the default reward 0.25");
    }
}

/* Decisions of one call may push out others before it, and of itself. */
TEST(rounds_of_one_call_push_out_what_waited)
{
    enum { ROUNDS = 4 };
    static round_arms rounds[ROUNDS];
    ee_arms arms[ROUNDS];
    ee_decision decisions[ROUNDS];
    for (uint64_t i = 0; i < ROUNDS; i++) {
        round_draw(&rounds[i], 10 + i, ARMS, DIM, DIM);
        arms[i] = rounds[i].dense;
    }
    auto_bandit *bandit = bandit_make("linucb", DIM, 3, "pending=4"),
                *twin = bandit_make("linucb", DIM, 3, "pending=99"),
                *other = bandit_make("linucb", DIM, 3, "pending=4 default_reward=1");
    ee_bandit *all[] = {bandit, twin, other};
    for (size_t b = 0; b < 3; b++) {
        for (uint64_t t = 1; t <= 3; t++) decide(all[b], t);
        bandit_reward(all[b], 2, 1);
        ok(ee_bandit_decide_many(all[b], arms, ROUNDS, NULL, decisions, NULL, NULL, NULL));
    }
    assert_counts(bandit, (counts){.decisions = 7, .rewards = 1, .pending = 4, .expired = 2});
    assert_counts(other, (counts){.decisions = 7, .rewards = 3, .pending = 4, .defaulted = 2});
    bandit_reward(twin, 1, 1);
    bandit_reward(twin, 3, 1);
    assert_true(learned_the_same(other, twin));
    for (uint64_t id = 4; id <= 7; id++) bandit_reward(other, id, 0);
}

/* ---- by time ---- */

TEST(by_time_a_decision_is_forgotten)
{
    auto_bandit *bandit = bandit_make("linucb", DIM, 3, "wait=60");
    decide(bandit, 1); /* at 0 */
    set_time(bandit, 20);
    decide(bandit, 2);
    decide(bandit, 3);
    set_time(bandit, 60); /* not more than 60 */
    assert_counts(bandit, (counts){.decisions = 3, .pending = 3});
    set_time(bandit, 60.5);
    assert_counts(bandit, (counts){.decisions = 3, .pending = 2, .expired = 1});
    bandit_reward(bandit, 2, 1);
    set_time(bandit, 60.5);
    decide(bandit, 4);
    set_time(bandit, 100);
    assert_counts(bandit, (counts){.decisions = 4, .rewards = 1, .pending = 1, .expired = 2});
    static const char sentence[] =
        "learn: decision 3 expired: it had no reward after a time of 60 (option wait) and was forgotten";
    assert_refused(bandit, 3, sentence);
    assert_int_equal(ee_bandit_forget(bandit, 1, &last_error), EE_EXPIRED_DECISION);
    assert_int_equal(ee_bandit_learn(bandit, 2, 1, NULL), EE_REWARDED_DECISION);
    bandit_reward(bandit, 4, 1);
    auto_bandit *patient = bandit_make("linucb", DIM, 3, "default_reward=1"); /* to which time does not matter */
    decide(patient, 1);
    set_time(patient, 1e300);
    assert_counts(patient, (counts){.decisions = 1, .pending = 1});
}

TEST(by_time_the_default_is_learned_oldest_first)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        char options[256];
        snprintf(options, sizeof options, "%s wait=2.5 default_reward=-1", c->options);
        auto_bandit *bandit = bandit_make(c->name, DIM, 3, options), *twin = bandit_make(c->name, DIM, 3, c->options);
        for (uint64_t t = 1; t <= 20; t++) {
            set_time(bandit, 1e9 + (double)t);
            if (t > 3 && t % 4) bandit_reward(twin, t - 3, -1); /* every fourth has had its reward */
            decide(bandit, t);
            decide(twin, t);
            if (t % 4 == 1) bandit_reward(bandit, t, 1);
            if (t % 4 == 1) bandit_reward(twin, t, 1);
            if (!learned_the_same(bandit, twin)) fail_msg("%s %s: round %d", c->name, c->options, (int)t);
        }
        set_time(bandit, 1e9 + 100); /* 18, 19 and 20 */
        for (uint64_t t = 18; t <= 20; t++) bandit_reward(twin, t, -1);
        assert_true(learned_the_same(bandit, twin));
        assert_counts(bandit, (counts){.decisions = 20, .rewards = 20, .defaulted = 15});
        assert_refused(bandit, 7,
                       "learn: decision 7 expired: it had no reward after a time of 2.5 (option wait) and was learned "
                       "with the default reward -1");
    }
}

TEST(records_expire_too)
{
    auto_bandit *bandit = bandit_make("linucb", DIM, 3, "wait=5 default_reward=0");
    ee_decision decision;
    const void *record;
    size_t size;
    auto_snapshot *snapshot = snapshot_make(bandit);
    auto_scratch *room = scratch_make(snapshot, 1);
    ok(ee_snapshot_decide(snapshot, room, arms_of_round(1), &decision, NULL, NULL, NULL));
    ok(ee_scratch_record(room, 0, &record, &size, NULL));
    set_time(bandit, 10);
    ok(ee_bandit_take_record(bandit, record, size, &decision, NULL));
    set_time(bandit, 15);
    assert_counts(bandit, (counts){.decisions = 1, .pending = 1});
    set_time(bandit, 15.1);
    assert_counts(bandit, (counts){.decisions = 1, .rewards = 1, .defaulted = 1});
}

/* A default that training cannot take: the decision is forgotten, and nothing was learned. */
TEST(a_default_that_diverges_is_given_up)
{
    auto_bandit *bandit = bandit_make("greedy", DIM, 3,
                                      "f1.width=6 f1.rate=1000 f1.optimizer=sgd standardize=off wait=1 "
                                      "default_reward=1e9 train_every=1");
    decide(bandit, 1);
    auto_archive before = learned_bytes(bandit);
    assert_int_equal(ee_bandit_learn(bandit, 1, 1e9, NULL), EE_DIVERGED); /* so it does */
    set_time(bandit, 2);
    assert_counts(bandit, (counts){.decisions = 1, .expired = 1});
    auto_archive after = learned_bytes(bandit);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.bytes, after.bytes, before.size);
    assert_refused(bandit, 1,
                   "learn: decision 1 expired: it had no reward after a time of 1 (option wait) and was forgotten");
}

TEST(a_loaded_bandit_goes_on_waiting)
{
    for (int learns = 0; learns < 2; learns++) {
        const char *options = learns ? "wait=10 pending=5 default_reward=0.5" : "wait=10 pending=5";
        auto_bandit *bandit = bandit_make("linucb", DIM, 3, options);
        for (uint64_t t = 1; t <= 7; t++) {
            set_time(bandit, (double)(3 * t)); /* the first three are at 3, 6, 9 */
            decide(bandit, t);
        }
        auto_bandit *twin = bandit_copy(bandit);
        assert_int_equal(ee_bandit_set_time(twin, 20, NULL), EE_BAD_INPUT); /* it is 21 */
        for (double now = 21.5; now < 33; now += 1.5) {
            set_time(bandit, now);
            set_time(twin, now);
            assert_true(bandits_equal(bandit, twin));
        }
        ee_info info = ee_bandit_info(twin);
        assert_int_equal(info.pending, 0);
        assert_int_equal(learns ? info.defaulted : info.expired, 7);
        assert_int_equal(learns ? info.expired : info.defaulted, 0);
    }
}

TEST(impossible_times_are_not_loaded)
{
    static const double impossible[] = {-1, NAN, INFINITY};
    auto_bandit *bandit = bandit_make("linucb", DIM, 3, "wait=10");
    set_time(bandit, 5);
    decide(bandit, 1);
    for (size_t i = 0; i < 3; i++) {
        bandit->now = impossible[i];
        model_not_loaded(bandit, "model: invalid time");
    }
    bandit->now = 4;
    model_not_loaded(bandit, "model: invalid time of a pending decision");
    bandit->now = 5;
    for (size_t i = 0; i < 3; i++) {
        bandit->pending.entries[1].time = impossible[i];
        model_not_loaded(bandit, "model: invalid time of a pending decision");
    }
    bandit->pending.entries[1].time = 5;
    ee_bandit_free(bandit_copy(bandit));
}

TEST(bad_times_and_options_are_refused)
{
    auto_bandit *bandit = bandit_make("linucb", DIM, 3, "wait=1");
    decide(bandit, 1);
    auto_model before = model_save(bandit);
    refuses(ee_bandit_set_time(bandit, -1, &last_error), "time: cannot go back from 0 to -1");
    refuses(ee_bandit_set_time(bandit, INFINITY, &last_error), "time: expected a finite number, got inf");
    refuses(ee_bandit_set_time(bandit, NAN, &last_error), "time: expected a finite number, got nan");
    refuses(ee_bandit_set_time(NULL, 1, &last_error), "time: bandit must not be NULL");
    assert_true(model_is_of(before, bandit));
    set_time(bandit, 1700000000.5);
    refuses(ee_bandit_set_time(bandit, 1700000000.25, &last_error),
            "time: cannot go back from 1700000000.5 to 1700000000.25");
    static const struct {
        const char *options, *sentence;
    } cases[] = {
        {"wait=-1", "options: linucb.wait must be 0 to 1e+12, got -1"},
        {"wait=none", "options: linucb.wait must be 0 to 1e+12, got none"},
        {"default_reward=no", "options: linucb.default_reward must be none or -1000000000 to 1000000000, got no"},
        {"default_reward=nan", "options: linucb.default_reward must be none or -1000000000 to 1000000000, got nan"},
        {"default_reward=2e9", "options: linucb.default_reward must be none or -1000000000 to 1000000000, got 2e9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ee_settings settings = {.policy = "linucb", .dim = DIM, .seed = 3, .options = cases[i].options};
        ee_bandit *refused;
        fails_with(ee_bandit_create(&settings, &refused, &last_error), EE_BAD_OPTION, cases[i].sentence);
    }
    auto_bandit *none = bandit_make("linucb", DIM, 3, "default_reward=none wait=1e12"),
                *half = bandit_make("linucb", DIM, 3, "default_reward=-0.50");
    assert_non_null(strstr(ee_bandit_info(none).options, "default_reward=none"));
    assert_non_null(strstr(ee_bandit_info(half).options, "default_reward=-0.5 "));
}
