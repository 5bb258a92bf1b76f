/* Decisions that wait for their reward: the policy is told of each once, in order, and no sooner than it matters. The
 * policy here is greedy with an await() and a learn() that write down what they are given. */
#include "rounds.h"

#include "engine/snapshot.h"

enum { DIM = 6, ARMS = 4, MOST_NOTES = 64 };

static round_arms round_now;

typedef struct note {
    float first;    /* of the values of the arm, which are other ones in each round */
    uint64_t round; /* of the decision */
    float expected;
    uint64_t at; /* the policy's round */
} note;

static policy_class told_class;
static bool (*learn_of_greedy)(policy *self, const observation *o, float reward);
static note reported[MOST_NOTES]; /* await() was called for these */
static size_t reported_count;
static observation learned_last;
static bool diverges;

/* Moves all weights, so that scores and copies show it. */
static float await(policy *self, const observation *o)
{
    assert_false(o->awaited);
    assert_true(reported_count < MOST_NOTES);
    note *made = &reported[reported_count++];
    *made = (note){o->x.values[0], o->round, (float)reported_count / 8, self->parameters.round};
    for (size_t i = 0; i < self->parameters.count; i++) self->parameters.values[i] += made->expected / 100;
    return made->expected;
}

static bool learn(policy *self, const observation *o, float reward)
{
    learned_last = *o;
    return !diverges && learn_of_greedy(self, o, reward);
}

static void report(ee_bandit *bandit)
{
    told_class = *bandit->policy->class;
    learn_of_greedy = told_class.learn;
    told_class.learn = learn;
    told_class.await = await;
    told_class.copy = NULL; /* the one of greedy knows nothing of await() */
    bandit->policy->class = &told_class;
}

static ee_bandit *make(const char *options)
{
    char all[128];
    snprintf(all, sizeof all, "f1.width=4 scale=off standardize=off %s", options);
    ee_bandit *bandit = bandit_make("greedy", DIM, 3, all);
    report(bandit);
    reported_count = 0;
    diverges = false;
    return bandit;
}

static const ee_arms *arms_of_round(uint64_t number)
{
    round_draw(&round_now, number, ARMS, DIM, DIM);
    return &round_now.dense;
}

/* The decision of a round; *first: the first value of the arm. */
static uint64_t decide(ee_bandit *bandit, uint64_t number, float *first)
{
    const ee_arms *arms = arms_of_round(number);
    ee_decision decision = bandit_choose(bandit, arms, NULL);
    if (first) *first = arms->values[decision.arm * DIM];
    return decision.id;
}

TEST(decisions_are_told_once_and_in_order)
{
    auto_bandit *bandit = make("");
    float first[7];
    for (uint64_t i = 1; i <= 3; i++) decide(bandit, i, &first[i]);
    assert_int_equal(reported_count, 2); /* the third waits, but nothing was decided since */
    bandit_reward(bandit, 3, 1);
    assert_false(learned_last.awaited);
    decide(bandit, 4, &first[4]);
    assert_int_equal(reported_count, 2);
    ok(ee_bandit_forget(bandit, 4, NULL));
    decide(bandit, 5, &first[5]);
    assert_int_equal(reported_count, 2); /* what was forgotten does not wait */
    decide(bandit, 6, &first[6]);
    static const uint64_t expected[] = {1, 2, 5};
    assert_int_equal(reported_count, 3);
    for (size_t i = 0; i < 3; i++) assert_true(reported[i].first == first[expected[i]]);
    assert_int_equal(reported[2].at, 1); /* after the reward of decision 3 */
    assert_int_equal(bandit->policy->parameters.changes, 3);
}

TEST(learning_gets_back_what_was_expected)
{
    auto_bandit *bandit = make("");
    for (uint64_t i = 1; i <= 4; i++) decide(bandit, i, NULL);
    bandit_reward(bandit, 2, 1);
    assert_true(learned_last.awaited);
    assert_true(learned_last.expected == 2.0f / 8);
    assert_int_equal(learned_last.awaited_at, 0);
    decide(bandit, 5, NULL); /* tells of the fourth */
    diverges = true;
    assert_int_equal(ee_bandit_learn(bandit, 4, 1, NULL), EE_DIVERGED);
    diverges = false;
    decide(bandit, 6, NULL);
    assert_int_equal(reported_count, 5); /* 1, 2, 3, 4, 5: the one that diverged is not told again */
    bandit_reward(bandit, 4, 1);
    assert_true(learned_last.awaited);
    assert_true(learned_last.expected == 4.0f / 8);
    assert_int_equal(learned_last.awaited_at, 1);
}

/* Nor does a reward that comes at once, or a decision that has expired. */
TEST(a_look_tells_nothing)
{
    ee_score scores[ARMS];
    auto_bandit *bandit = make("wait=10");
    bandit_play(bandit, 101, 120, ARMS, false);
    assert_int_equal(reported_count, 0);
    assert_false(learned_last.awaited);
    assert_int_equal(bandit->policy->parameters.changes, 0);
    decide(bandit, 1, NULL);
    ok(ee_bandit_score(bandit, arms_of_round(2), scores, NULL));
    ok(ee_bandit_learn_from(bandit, arms_of_round(3), 1, 1, NULL));
    assert_int_equal(reported_count, 0);
    ee_arms bad = *arms_of_round(4);
    ee_decision decision;
    bad.dim++;
    assert_int_equal(ee_bandit_decide(bandit, &bad, &decision, NULL, NULL, NULL), EE_BAD_INPUT);
    assert_int_equal(ee_bandit_decide_many(bandit, &bad, 1, NULL, &decision, NULL, NULL, NULL), EE_BAD_INPUT);
    ok(ee_bandit_decide_many(bandit, NULL, 0, NULL, NULL, NULL, NULL, NULL));
    ok(ee_bandit_set_time(bandit, 11, NULL));
    decide(bandit, 2, NULL);
    assert_int_equal(reported_count, 0);
    decide(bandit, 3, NULL);
    assert_int_equal(reported_count, 1);
}

/* What await() moved shows in the very next scores. */
TEST(the_policy_is_told_before_it_scores)
{
    ee_score before[ARMS], seen[ARMS], after[ARMS];
    auto_bandit *bandit = make("");
    decide(bandit, 1, NULL);
    ok(ee_bandit_score(bandit, arms_of_round(2), before, NULL));
    bandit_choose(bandit, arms_of_round(2), seen);
    ok(ee_bandit_score(bandit, arms_of_round(2), after, NULL));
    assert_memory_not_equal(before, seen, sizeof seen);
    assert_memory_equal(seen, after, sizeof seen);
}

TEST(rounds_of_one_call_do_not_know_of_each_other)
{
    static round_arms rounds[3];
    ee_arms arms[3];
    ee_decision decisions[3];
    auto_bandit *bandit = make("");
    for (uint64_t i = 0; i < 3; i++) {
        round_draw(&rounds[i], 10 + i, ARMS, DIM, DIM);
        arms[i] = rounds[i].dense;
    }
    decide(bandit, 1, NULL);
    ok(ee_bandit_decide_many(bandit, arms, 3, NULL, decisions, NULL, NULL, NULL));
    assert_int_equal(reported_count, 1);
    decide(bandit, 2, NULL);
    assert_int_equal(reported_count, 4);
    for (size_t i = 0; i < 3; i++) assert_true(reported[1 + i].first == arms[i].values[decisions[i].arm * DIM]);
}

TEST(snapshots_know_of_decisions_that_wait)
{
    ee_score own[ARMS], its[ARMS];
    auto_snapshot *snapshot = NULL;
    auto_scratch *room = NULL;
    ee_decision decision;
    const void *record;
    size_t size;
    auto_bandit *bandit = make("");
    decide(bandit, 1, NULL);
    ok(ee_snapshot_create(bandit, &snapshot, NULL));
    assert_int_equal(reported_count, 1);
    ok(ee_scratch_create(snapshot, 1, &room, NULL));
    for (uint64_t t = 2; t < 9; t++) { /* a server: decisions are made on the snapshot, and the bandit counts them */
        ok(ee_snapshot_decide(snapshot, room, arms_of_round(t), &decision, NULL, NULL, NULL));
        ok(ee_scratch_record(room, 0, &record, &size, NULL));
        ok(ee_bandit_take_record(bandit, record, size, &decision, NULL));
        assert_int_equal(reported_count, t - 1);
        ok(ee_snapshot_update(snapshot, bandit, NULL));
        assert_int_equal(reported_count, t);
        assert_true(reported[t - 1].first == round_now.values[decision.arm * DIM]);
        assert_int_equal(snapshot->copies[snapshot->gate->published].changes, t);
        ok(ee_bandit_score(bandit, arms_of_round(50), own, NULL));
        ok(ee_snapshot_score(snapshot, room, arms_of_round(50), its, NULL));
        assert_memory_equal(own, its, sizeof own);
    }
    bandit_reward(bandit, decision.id, 1);
    assert_true(learned_last.awaited);
}

TEST(impossible_expectations_are_not_loaded)
{
    static const char sentence[] = "model: invalid expectation of a pending decision";
    auto_bandit *bandit = make("pending=5");
    decide(bandit, 1, NULL);
    decide(bandit, 2, NULL);
    pending_entry *entry = &bandit->pending.entries[1], sound = *entry;
    assert_true(entry->awaited);
    entry->expected = NAN;
    model_not_loaded(bandit, sentence);
    *entry = sound;
    entry->awaited_at = 1; /* there was no reward yet */
    model_not_loaded(bandit, sentence);
    *entry = sound;
    ee_bandit_free(bandit_copy(bandit));
}
