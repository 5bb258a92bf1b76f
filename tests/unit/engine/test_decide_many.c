/* Several rounds in one call: all on what was known before it, to the byte what one after the other gives where the
 * policy takes no notice of decisions that wait, or nothing at all. */
#include "every_policy.h"

#include <float.h>
#include <math.h>

#include "engine/bandit.h"

enum { DIM = 8, MOST_ARMS = 40, MOST_ROUNDS = 40 };

static round_arms rounds[MOST_ROUNDS];

/* Rounds of one to 40 arms, most of them dense. */
static void draw_rounds(uint64_t first, size_t count, ee_arms *arms)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t number = first + i;
        round_draw(&rounds[i], number, 1 + (size_t)(number * 7 % (number % 5 ? 11 : MOST_ARMS)), DIM, 4);
        arms[i] = number % 4 == 3 ? rounds[i].sparse : rounds[i].dense;
    }
}

typedef struct outcome {
    ee_decision decisions[MOST_ROUNDS];
    ee_score scores[MOST_ROUNDS * MOST_ARMS];
    double probabilities[MOST_ROUNDS * MOST_ARMS];
} outcome;

static void decide_one_by_one(ee_bandit *bandit, const ee_arms *arms, size_t count, outcome *out)
{
    size_t first = 0;
    for (size_t i = 0; i < count; first += arms[i++].count)
        ok(ee_bandit_decide(bandit, &arms[i], &out->decisions[i], out->scores + first, out->probabilities + first,
                            NULL));
}

/* The bandit no longer tells its policy of decisions that wait. */
static void tell_no_more(ee_bandit *bandit, policy_class *room)
{
    *room = *bandit->policy->class;
    room->await = NULL;
    bandit->policy->class = room;
}

/* Calls of 0 to 40 rounds; of some of them the rewards come, others expire in later calls. */
TEST(many_are_the_same_as_one_by_one)
{
    static outcome single, many;
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        char options[256];
        snprintf(options, sizeof options, "%s pending=40 arms=4", c.options);
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, options), *twin = bandit_make(c.name, DIM, 3, options);
        policy_class classes[2];
        tell_no_more(bandit, &classes[0]);
        tell_no_more(twin, &classes[1]);
        for (size_t call = 0, first = 1; call < 8; call++) {
            ee_arms arms[MOST_ROUNDS];
            size_t count = call * call * 7 % (MOST_ROUNDS + 1);
            draw_rounds(first, count, arms);
            memset(&single, 0, sizeof single);
            memset(&many, 0, sizeof many);
            decide_one_by_one(bandit, arms, count, &single);
            ok(ee_bandit_decide_many(twin, arms, count, NULL, many.decisions, many.scores, many.probabilities, NULL));
            assert_memory_equal(&single, &many, sizeof single);
            for (size_t d = count % 3; d < count; d += 2) {
                double reward = round_reward(&rounds[d], many.decisions[d].arm);
                bandit_reward(bandit, many.decisions[d].id, reward);
                bandit_reward(twin, many.decisions[d].id, reward);
            }
            model saved = model_save(bandit);
            if (!model_is_of(saved, twin)) fail_msg("%s %s: call %d", c.name, options, (int)call);
            model_free(&saved);
            first += count;
        }
        ok(ee_bandit_decide_many(twin, NULL, 0, NULL, NULL, NULL, NULL, NULL));
        ee_bandit_free(bandit);
        ee_bandit_free(twin);
    }
}

/* Decisions of a call, and of the calls before, wait; the next call knows of those before, and not of its own. */
TEST(all_rounds_are_decided_on_what_was_known_before)
{
    static outcome many;
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options);
        if (bandit->policy->class->draws) c.options = NULL; /* whose scores are other draws */
        for (uint64_t call = 0; call < 4 && c.options; call++) {
            enum { ROUNDS = 9 };
            ee_arms arms[ROUNDS];
            ee_score before[ROUNDS * MOST_ARMS];
            size_t end = 0;
            draw_rounds(1 + call * ROUNDS, ROUNDS, arms);
            if (!call) bandit_reward(bandit, bandit_choose(bandit, &arms[0], NULL).id, 1); /* the length of arms */
            ok(bandit_await_pending(bandit, NULL));
            for (size_t r = 0; r < ROUNDS; end += arms[r++].count)
                ok(ee_bandit_score(bandit, &arms[r], before + end, NULL));
            ok(ee_bandit_decide_many(bandit, arms, ROUNDS, NULL, many.decisions, many.scores, NULL, NULL));
            if (memcmp(many.scores, before, end * sizeof *before) != 0) fail_msg("%s %s", c.name, c.options);
            for (size_t r = 0; r < ROUNDS; r += 4) bandit_reward(bandit, many.decisions[r].id, r % 8 == 0);
        }
        ee_bandit_free(bandit);
    }
}

static void assert_nothing_decided(ee_bandit *bandit, const ee_arms *arms, size_t count, ee_status expected)
{
    ee_decision decisions[MOST_ROUNDS];
    model before = model_save(bandit);
    ee_error error = {EE_OK, ""};
    ee_status status = ee_bandit_decide_many(bandit, arms, count, NULL, decisions, NULL, NULL, &error);
    assert_int_equal(status, expected);
    assert_int_equal(error.status, expected);
    assert_true(model_is_of(before, bandit));
    model_free(&before);
}

TEST(a_bad_round_leaves_all_undecided)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options);
        ee_arms arms[6];
        draw_rounds(1, 6, arms);
        for (size_t bad = 0; bad < 6; bad++) {
            ee_arms sound = arms[bad];
            arms[bad].dim++;
            assert_nothing_decided(bandit, arms, 6, EE_BAD_INPUT);
            arms[bad] = sound;
            if (!bandit->rules.scales || bad == 0) continue;
            /* Only when they are divided it shows that these are too long. */
            round_arms *own = &rounds[bad];
            float was = own->values[0], entry = own->entries[0];
            own->values[0] = own->entries[0] = 9e8f;
            bandit->policy->parameters.length = (arm_length){.value = 1e-3, .rounds = LENGTH_SETTLED};
            assert_nothing_decided(bandit, arms, 6, EE_BAD_INPUT);
            bandit->policy->parameters.length = (arm_length){0};
            own->values[0] = was;
            own->entries[0] = entry;
        }
        ee_decision decisions[6];
        ok(ee_bandit_decide_many(bandit, arms, 6, NULL, decisions, NULL, NULL, NULL));
        assert_int_equal(decisions[5].id, 6);
        assert_int_equal(ee_bandit_info(bandit).pending, 6);
        ee_bandit_free(bandit);
    }
}

/* No call makes more decisions than may wait: none of them expires before it ends. */
TEST(more_rounds_than_may_wait_are_refused)
{
    static const char sentence[] =
        "decide: 5 decisions in one call, but option pending is 4: raise it, or decide fewer at a time";
    ee_bandit *bandit = bandit_make("linucb", DIM, 3, "pending=4");
    ee_arms arms[5];
    ee_decision decisions[5];
    ee_error error = {EE_OK, ""};
    draw_rounds(1, 5, arms);
    assert_nothing_decided(bandit, arms, 5, EE_BAD_INPUT);
    assert_int_equal(ee_bandit_decide_many(bandit, arms, 5, NULL, decisions, NULL, NULL, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, sentence);
    round_draw(&rounds[0], 1, 6, DIM, 4);
    for (size_t i = 0; i < 5; i++) arms[i] = rounds[0].dense;
    assert_int_equal(ee_bandit_decide_slots(bandit, arms, 5, NULL, decisions, NULL, NULL, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, sentence);
    ok(ee_bandit_decide_many(bandit, arms, 4, NULL, decisions, NULL, NULL, NULL));
    ok(ee_bandit_decide_slots(bandit, arms, 4, NULL, decisions, NULL, NULL, NULL));
    assert_int_equal(ee_bandit_info(bandit).expired, 4);
    ee_bandit_free(bandit);
}

/* ---- several rewards in one call ---- */

TEST(learning_many_is_a_loop_of_learning)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options), *twin = bandit_make(c.name, DIM, 3, c.options);
        for (uint64_t call = 0; call < 3; call++) {
            enum { ROUNDS = 9 };
            ee_arms arms[ROUNDS];
            ee_decision decisions[ROUNDS];
            uint64_t ids[ROUNDS];
            double rewards[ROUNDS];
            size_t learned = 77;
            draw_rounds(1 + call * ROUNDS, ROUNDS, arms);
            ok(ee_bandit_decide_many(bandit, arms, ROUNDS, NULL, decisions, NULL, NULL, NULL));
            ok(ee_bandit_decide_many(twin, arms, ROUNDS, NULL, decisions, NULL, NULL, NULL));
            for (size_t r = 0; r < ROUNDS; r++) {
                size_t from = ROUNDS - 1 - r; /* in any order */
                ids[r] = decisions[from].id;
                rewards[r] = round_reward(&rounds[from], decisions[from].arm);
                bandit_reward(bandit, ids[r], rewards[r]);
            }
            ok(ee_bandit_learn_many(twin, ids, rewards, ROUNDS, &learned, NULL));
            assert_int_equal(learned, ROUNDS);
            model saved = model_save(bandit);
            if (!model_is_of(saved, twin)) fail_msg("%s %s", c.name, c.options);
            model_free(&saved);
        }
        ee_bandit_free(bandit);
        ee_bandit_free(twin);
    }
}

TEST(learning_many_stops_at_the_first_failure)
{
    ee_bandit *bandit = bandit_make("linucb", DIM, 3, NULL);
    ee_arms arms[4];
    ee_decision decisions[4];
    ee_error error = {EE_OK, ""};
    size_t learned = 77;
    uint64_t ids[] = {2, 9, 3, 1};
    const double rewards[] = {1, 1, 1, NAN};
    draw_rounds(1, 4, arms);
    ok(ee_bandit_decide_many(bandit, arms, 4, NULL, decisions, NULL, NULL, NULL));
    assert_int_equal(ee_bandit_learn_many(bandit, ids, rewards, 4, &learned, &error), EE_UNKNOWN_DECISION);
    assert_string_equal(error.message, "learn: there is no decision 9; the last one is 4");
    assert_int_equal(learned, 1);
    assert_int_equal(ee_bandit_info(bandit).rewards, 1);
    assert_int_equal(ee_bandit_learn(bandit, 2, 1, NULL), EE_REWARDED_DECISION);
    assert_int_equal(ee_bandit_learn_many(bandit, ids + 2, rewards + 2, 2, &learned, &error), EE_BAD_INPUT);
    assert_int_equal(learned, 1);
    assert_int_equal(ee_bandit_info(bandit).pending, 2);
    ok(ee_bandit_learn_many(bandit, NULL, NULL, 0, NULL, NULL));
    assert_int_equal(ee_bandit_learn_many(bandit, NULL, rewards, 1, &learned, NULL), EE_BAD_INPUT);
    assert_int_equal(learned, 0);
    assert_int_equal(ee_bandit_learn_many(bandit, ids, NULL, 1, NULL, NULL), EE_BAD_INPUT);
    assert_int_equal(ee_bandit_learn_many(NULL, ids, rewards, 1, NULL, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, "learn: bandit, decision_ids and rewards must not be NULL");
    ee_bandit_free(bandit);
}

TEST(bad_input_is_refused)
{
    ee_bandit *bandit = bandit_make("greedy", DIM, 3, "f1.width=4");
    ee_decision decisions[2];
    ee_arms arms[2];
    ee_error error = {EE_OK, ""};
    draw_rounds(1, 2, arms);
    assert_int_equal(ee_bandit_decide_many(NULL, arms, 2, NULL, decisions, NULL, NULL, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, "decide: bandit must not be NULL");
    assert_int_equal(ee_bandit_decide_many(bandit, NULL, 2, NULL, decisions, NULL, NULL, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, "arms: arms must not be NULL");
    assert_int_equal(ee_bandit_decide_many(bandit, arms, 2, NULL, NULL, NULL, NULL, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, "decide: decisions must not be NULL");
    for (size_t i = 0; i < bandit->policy->parameters.count; i++) bandit->policy->parameters.values[i] = FLT_MAX;
    assert_nothing_decided(bandit, arms, 2, EE_DIVERGED);
    ee_bandit_free(bandit);
}
