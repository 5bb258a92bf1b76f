/* Several slots filled in one call: each as if decided alone among what is left, all on what was known before; or
 * nothing at all. */
#include "every_policy.h"

#include <float.h>
#include <math.h>

#include "engine/bandit.h"

enum { DIM = 8, MOST_ARMS = 12, MOST_SLOTS = 6 };

static round_arms seen[MOST_SLOTS];

typedef struct outcome {
    ee_decision decisions[MOST_SLOTS];
    ee_score scores[MOST_SLOTS * MOST_ARMS];
    double probabilities[MOST_SLOTS * MOST_ARMS];
} outcome;

/* Slots that choose among the same number of actions, with exclusions that leave enough for each. */
typedef struct problem {
    size_t count, arms;
    ee_arms slots[MOST_SLOTS];
    uint8_t excluded[MOST_SLOTS * MOST_ARMS];
    bool excludes;
} problem;

/* Every second problem has ids. */
static uint64_t ids[MOST_ARMS];

static void give_ids(problem *p)
{
    for (size_t i = 0; i < MOST_ARMS; i++) ids[i] = 7 * i + 3;
    for (size_t k = 0; k < p->count; k++) p->slots[k].ids = ids;
}

/* A third of them top-k: the very same arms in all slots. Arms come again, so that they are recalled. */
static problem draw_problem(uint64_t number)
{
    random_stream stream = random_named(number, "slots");
    problem p = {.arms = 1 + (size_t)random_below(&stream, MOST_ARMS), .excludes = number % 2 == 0};
    size_t most = p.arms < MOST_SLOTS ? p.arms : MOST_SLOTS;
    p.count = 1 + (size_t)random_below(&stream, most);
    bool sparse = number % 5 > 2;
    for (size_t k = 0; k < p.count; k++) {
        size_t from = number % 3 == 0 ? 0 : k;
        if (from == k) round_draw(&seen[k], number % 7 * 100 + k, p.arms, DIM, 4);
        p.slots[k] = sparse ? seen[from].sparse : seen[from].dense;
    }
    for (size_t k = 0; k < p.count; k++)
        for (size_t i = 0; i + p.count < p.arms; i++) /* the last ones are allowed: as many as there are slots */
            p.excluded[k * p.arms + i] = random_below(&stream, 3) == 0;
    if (number % 4 < 2) give_ids(&p);
    return p;
}

static ee_status fill(ee_bandit *bandit, const problem *p, outcome *out, ee_error *error)
{
    return ee_bandit_decide_slots(bandit, p->slots, p->count, p->excludes ? p->excluded : NULL, out->decisions,
                                  out->scores, out->probabilities, error);
}

static void fill_good(ee_bandit *bandit, const problem *p, outcome *out)
{
    ee_error error = {EE_OK, ""};
    memset(out, 0, sizeof *out);
    if (fill(bandit, p, out, &error)) fail_msg("%s", error.message);
}

/* The arms that are left for a slot, in the same form, and their numbers. Returns how many. */
static size_t take_left(const problem *p, size_t slot, const bool *taken, round_arms *round, size_t *numbers)
{
    static uint64_t left_ids[MOST_ARMS];
    size_t count = 0, at = 0;
    const ee_arms *all = &p->slots[slot];
    for (size_t i = 0; i < p->arms; i++) {
        if (taken[i] || (p->excludes && p->excluded[slot * p->arms + i])) continue;
        left_ids[count] = ids[i];
        size_t first = all->starts ? all->starts[i] : i * DIM, end = all->starts ? all->starts[i + 1] : first + DIM;
        numbers[count] = i;
        round->starts[count++] = at;
        for (size_t e = first; e < end; e++, at++) {
            round->entries[at] = all->values[e];
            round->indices[at] = all->starts ? all->indices[e] : 0;
        }
    }
    round->starts[count] = at;
    round->sparse = ee_arms_sparse(round->starts, round->indices, round->entries, count, DIM);
    round->dense = ee_arms_dense(round->entries, count, DIM);
    round->sparse.ids = round->dense.ids = all->ids ? left_ids : NULL;
    return count;
}

/* The same by ee_bandit_decide, slot after slot. */
static void fill_one_by_one(ee_bandit *bandit, const problem *p, outcome *out)
{
    static round_arms round;
    bool taken[MOST_ARMS] = {false};
    memset(out, 0, sizeof *out);
    for (size_t k = 0; k < p->count; k++) {
        size_t numbers[MOST_ARMS], left = take_left(p, k, taken, &round, numbers);
        ee_score scores[MOST_ARMS];
        double probabilities[MOST_ARMS];
        const ee_arms *arms = p->slots[k].starts ? &round.sparse : &round.dense;
        ok(ee_bandit_decide(bandit, arms, &out->decisions[k], scores, probabilities, NULL));
        for (size_t i = 0; i < left; i++) {
            out->scores[k * p->arms + numbers[i]] = scores[i];
            out->probabilities[k * p->arms + numbers[i]] = probabilities[i];
        }
        out->decisions[k].arm = numbers[out->decisions[k].arm];
        taken[out->decisions[k].arm] = true;
    }
}

/* Without ids these go by the position among all arms, which a round of those that are left does not know. */
static bool goes_by_position(const policy_case *c)
{
    return strcmp(c->name, "ucb1") == 0 || strcmp(c->name, "thompson") == 0;
}

/* The bandit no longer tells its policy of decisions that wait. */
static void tell_no_more(ee_bandit *bandit, policy_class *room)
{
    *room = *bandit->policy->class;
    room->await = NULL;
    bandit->policy->class = room;
}

static bool same_outcome(const outcome *a, const outcome *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* to the byte, padding was zeroed */
}

/* Rewards of some slots come, of others they do not. */
TEST(a_slot_is_decided_as_alone_among_what_is_left)
{
    static outcome single, together;
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        char options[256];
        snprintf(options, sizeof options, "%s %s", c.options, i % 2 ? "pending=6 arms=2 nonzeros=1" : "");
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, options), *twin = bandit_make(c.name, DIM, 3, options);
        policy_class classes[2];
        tell_no_more(bandit, &classes[0]);
        tell_no_more(twin, &classes[1]);
        for (uint64_t call = 1; call <= 40; call++) {
            problem p = draw_problem(call);
            if (goes_by_position(&c)) give_ids(&p);
            fill_one_by_one(bandit, &p, &single);
            fill_good(twin, &p, &together);
            if (!same_outcome(&single, &together)) fail_msg("%s %s: call %d", c.name, options, (int)call);
            for (size_t k = p.count > 3 ? p.count - 3 : 0; k < p.count; k += 2) {
                double reward = round_reward(&seen[call % 3 ? k : 0], single.decisions[k].arm);
                bandit_reward(bandit, single.decisions[k].id, reward);
                bandit_reward(twin, single.decisions[k].id, reward);
            }
            model saved = model_save(bandit);
            if (!model_is_of(saved, twin)) fail_msg("%s %s: call %d left another bandit", c.name, options, (int)call);
            model_free(&saved);
        }
        ee_bandit_free(bandit);
        ee_bandit_free(twin);
    }
}

/* Also where the policy is told of decisions that wait. */
TEST(one_slot_is_a_decision)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options), *twin = bandit_make(c.name, DIM, 3, c.options);
        for (uint64_t call = 1; call <= 20; call++) {
            static outcome single, slot;
            round_draw(&seen[0], call, 1 + call % MOST_ARMS, DIM, 4);
            problem p = {1, seen[0].dense.count, {call % 2 ? seen[0].dense : seen[0].sparse}, {0}, false};
            memset(&single, 0, sizeof single);
            ok(ee_bandit_decide(bandit, &p.slots[0], single.decisions, single.scores, single.probabilities, NULL));
            fill_good(twin, &p, &slot);
            if (!same_outcome(&single, &slot)) fail_msg("%s %s: call %d", c.name, c.options, (int)call);
            if (call % 3) continue;
            bandit_reward(bandit, single.decisions[0].id, (double)(call % 2));
            bandit_reward(twin, single.decisions[0].id, (double)(call % 2));
        }
        model saved = model_save(bandit);
        assert_true(model_is_of(saved, twin));
        model_free(&saved);
        ee_bandit_free(bandit);
        ee_bandit_free(twin);
    }
}

/* Decisions of earlier calls count as tried, those of this one do not: scores are those of before the call. */
TEST(all_slots_are_decided_on_what_was_known_before)
{
    static outcome got;
    static round_arms round;
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options);
        bool draws = bandit->policy->class->draws; /* whose scores are other draws */
        bandit_play(bandit, 1000, 1003, 5, false);
        for (uint64_t call = 1; call <= 6 && !draws; call++) {
            problem p = draw_problem(call);
            if (goes_by_position(&c)) give_ids(&p);
            ok(bandit_await_pending(bandit, NULL));
            model before = model_save(bandit);
            ee_bandit *copy = model_load(before);
            fill_good(bandit, &p, &got);
            bool taken[MOST_ARMS] = {false};
            for (size_t k = 0; k < p.count; taken[got.decisions[k++].arm] = true) {
                size_t numbers[MOST_ARMS], left = take_left(&p, k, taken, &round, numbers);
                ee_score scores[MOST_ARMS];
                const ee_arms *arms = p.slots[k].starts ? &round.sparse : &round.dense;
                ok(ee_bandit_score(copy, arms, scores, NULL));
                for (size_t a = 0; a < left; a++)
                    assert_memory_equal(&scores[a], &got.scores[k * p.arms + numbers[a]], sizeof *scores);
            }
            model_free(&before);
            ee_bandit_free(copy);
        }
        ee_bandit_free(bandit);
    }
}

static size_t scored;
static void (*score_of_class)(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores);

static void count_scores(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    scored += arms->count;
    score_of_class(learned, arms, room, scores);
}

/* Where an arm's score does not depend on the others, the best few of the same arms cost as much as the best one. */
TEST(the_same_arms_are_scored_once)
{
    static outcome got;
    ee_bandit *bandit = bandit_make("eenet", DIM, 3, "f1.width=6 units=4");
    policy_class room = *bandit->policy->class;
    score_of_class = room.score;
    room.score = count_scores;
    bandit_play(bandit, 1, LENGTH_SETTLED, 4, false);
    bandit->policy->class = &room;
    for (size_t i = 0; i < 4; i++) round_draw(&seen[i], 9 + i, 10, DIM, 4);
    problem p = {4, 10, {seen[0].dense, seen[0].dense, seen[0].dense, seen[0].dense}, {1}, true};
    scored = 0;
    fill_good(bandit, &p, &got);
    assert_int_equal(scored, 10);
    p.slots[1] = p.slots[2] = seen[1].dense;
    scored = 0;
    fill_good(bandit, &p, &got);
    assert_int_equal(scored, 30);
    ee_bandit_free(bandit);
}

/* Of all orders of three among four, each comes as often as the product of its probabilities says. */
TEST(orders_come_as_often_as_their_probabilities_say)
{
    enum { ARMS = 4, SLOTS = 3, CALLS = 6000, ORDERS = ARMS * ARMS * ARMS };
    static const char *const policies[][2] = {
        {"greedy", "f1.width=6 propensity=softmax propensity_temperature=0.5"},
        {"greedy", "f1.width=6 propensity=floor propensity_epsilon=0.4"},
        {"squarecb", "f1.width=6"},
        {"neural-fastcb", "f1.width=6 gamma=1"},
        {"neural-ensemble", "f1.width=6 decision=thompson prior=3"},
        {"uniform", ""},
    };
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        ee_bandit *bandit = bandit_make(policies[i][0], DIM, 7, policies[i][1]);
        double came[ORDERS] = {0}, expected[ORDERS] = {0}, chi = 0, cells = 0;
        bandit_play(bandit, 1, 60, ARMS, false);
        round_draw(&seen[0], 5, ARMS, DIM, 5);
        problem p = {SLOTS, ARMS, {seen[0].dense, seen[0].dense, seen[0].dense}, {0}, false};
        for (size_t call = 0; call < CALLS; call++) {
            static outcome got;
            fill_good(bandit, &p, &got);
            size_t order = 0;
            double probability = 1;
            for (size_t k = 0; k < SLOTS; k++) {
                order = order * ARMS + got.decisions[k].arm;
                probability *= got.decisions[k].probability;
                double sum = 0;
                for (size_t a = 0; a < ARMS; a++) sum += got.probabilities[k * ARMS + a];
                assert_true(fabs(sum - 1) < 1e-9);
                assert_true(got.probabilities[k * ARMS + got.decisions[k].arm] == got.decisions[k].probability);
            }
            came[order]++;
            expected[order] = CALLS * probability;
        }
        double unseen = CALLS;
        for (size_t o = 0; o < ORDERS; o++) {
            if (!came[o]) continue;
            if (expected[o] >= 5) chi += (came[o] - expected[o]) * (came[o] - expected[o]) / expected[o], cells++;
            unseen -= expected[o];
        }
        assert_true(cells >= 6 && unseen < 60);
        if (chi > cells + 6 * sqrt(2 * cells)) fail_msg("%s: %g for %g orders", policies[i][0], chi, cells);
        ee_bandit_free(bandit);
    }
}

/* A Thompson policy's probabilities are estimates: on average they are what comes. */
TEST(estimated_probabilities_are_those_that_come)
{
    enum { ARMS = 4, CALLS = 800 };
    ee_bandit *bandit = bandit_make("lints", DIM, 7, "probability_draws=60 pending=2");
    policy_class room;
    double came[2 * ARMS] = {0}, said[2 * ARMS] = {0};
    bandit_play(bandit, 1, 20, ARMS, false);
    tell_no_more(bandit, &room);
    round_draw(&seen[0], 5, ARMS, DIM, 5);
    problem p = {2, ARMS, {seen[0].dense, seen[0].dense}, {0}, false};
    for (size_t call = 0; call < CALLS; call++) {
        static outcome got;
        fill_good(bandit, &p, &got);
        for (size_t k = 0; k < 2; k++) came[k * ARMS + got.decisions[k].arm] += 1.0 / CALLS;
        for (size_t a = 0; a < 2 * ARMS; a++) said[a] += got.probabilities[a] / CALLS;
        assert_true(got.probabilities[ARMS + got.decisions[0].arm] == 0);
    }
    for (size_t a = 0; a < 2 * ARMS; a++) assert_true(fabs(came[a] - said[a]) < 0.09);
    ee_bandit_free(bandit);
}

/* ---- what fails changes nothing ---- */

static void refuse(ee_bandit *bandit, const problem *p, ee_status expected, const char *sentence)
{
    static outcome out;
    model before = model_save(bandit);
    ee_error error = {EE_OK, ""};
    assert_int_equal(fill(bandit, p, &out, &error), expected);
    assert_string_equal(error.message, sentence);
    assert_int_equal(fill(bandit, p, &out, NULL), expected);
    assert_true(model_is_of(before, bandit));
    model_free(&before);
}

TEST(what_fails_changes_nothing)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options);
        bandit_play(bandit, 1, 3, 4, true);
        round_draw(&seen[0], 9, 3, DIM, 4);
        problem p = {4, 3, {seen[0].dense, seen[0].dense, seen[0].dense, seen[0].dense}, {0}, false};
        refuse(bandit, &p, EE_BAD_INPUT, "decide: 4 slots but only 3 arms; each slot takes a different arm");
        p.count = 3;
        p.slots[2].count = 2;
        refuse(bandit, &p, EE_BAD_INPUT,
               "decide: slot 0 has 3 arms and slot 2 has 2; all slots must have the same arms");
        p.slots[2].count = 3;
        p.slots[1].dim = 9;
        refuse(bandit, &p, EE_BAD_INPUT, "arms: the dimension is 9; expected 8, the bandit's");
        p.slots[1].dim = DIM;
        p.excludes = true;
        memset(p.excluded + 3, 1, 3);
        refuse(bandit, &p, EE_BAD_INPUT,
               "decide: no arm is left for slot 1: all 3 arms are excluded or taken by earlier slots");
        memset(p.excluded, 0, sizeof p.excluded);
        p.excluded[0] = p.excluded[1] = p.excluded[6] = p.excluded[7] = 1; /* only the last may fill the first, too */
        refuse(bandit, &p, EE_BAD_INPUT,
               "decide: no arm is left for slot 2: all 3 arms are excluded or taken by earlier slots");
        p.excludes = false;
        static outcome out;
        fill_good(bandit, &p, &out);
        assert_int_equal(out.decisions[2].id, 6);
        assert_int_equal(ee_bandit_info(bandit).pending, 3);
        assert_int_equal(out.decisions[0].arm + out.decisions[1].arm + out.decisions[2].arm, 3);
        ee_bandit_free(bandit);
    }
}

TEST(bad_input_is_refused)
{
    ee_bandit *bandit = bandit_make("greedy", DIM, 3, "f1.width=4");
    ee_decision decisions[2];
    ee_error error = {EE_OK, ""};
    problem p = draw_problem(7);
    assert_int_equal(ee_bandit_decide_slots(NULL, p.slots, 1, NULL, decisions, NULL, NULL, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, "decide: bandit must not be NULL");
    assert_int_equal(ee_bandit_decide_slots(bandit, NULL, 1, NULL, decisions, NULL, NULL, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, "arms: arms must not be NULL");
    assert_int_equal(ee_bandit_decide_slots(bandit, p.slots, 1, NULL, NULL, NULL, NULL, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, "decide: decisions must not be NULL");
    ok(ee_bandit_decide_slots(bandit, NULL, 0, NULL, NULL, NULL, NULL, NULL));
    for (size_t i = 0; i < bandit->policy->parameters.count; i++) bandit->policy->parameters.values[i] = FLT_MAX;
    model before = model_save(bandit);
    assert_int_equal(ee_bandit_decide_slots(bandit, p.slots, 1, NULL, decisions, NULL, NULL, NULL), EE_DIVERGED);
    assert_true(model_is_of(before, bandit));
    model_free(&before);
    ee_bandit_free(bandit);
}
