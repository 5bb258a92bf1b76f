/* Several rounds or slots in one call, with arms that must not be chosen, by a bandit and on its snapshot: each is
 * decided as alone among the arms that are left, all on what was known before; or nothing at all. */
#include "every_policy.h"

#include <float.h>

#include "engine/bandit.h"
#include "engine/snapshot.h"

enum { DIM = 8, MOST_ARMS = 12, MOST_ROUNDS = 9, MOST_SLOTS = 6 };

static round_arms seen[MOST_ROUNDS];

typedef struct outcome {
    ee_decision decisions[MOST_ROUNDS];
    ee_score scores[MOST_ROUNDS * MOST_ARMS];
    double probabilities[MOST_ROUNDS * MOST_ARMS];
} outcome;

/* A call: rounds, or slots that choose among the same number of arms; exclusions leave enough. */
typedef struct problem {
    size_t count;
    bool slots, excludes;
    ee_arms arms[MOST_ROUNDS];
    uint8_t excluded[MOST_ROUNDS * MOST_ARMS];
} problem;

/* Of the arms of half of the problems; in some of them one round has none. */
static uint64_t ids[MOST_ARMS];

static void give_ids(problem *p)
{
    for (size_t i = 0; i < MOST_ARMS; i++) ids[i] = 7 * i + 3;
    for (size_t k = 0; k < p->count; k++) p->arms[k].ids = ids;
}

/* A third of the slots are top-k: the very same arms in all. Arms come again, so that they are recalled. */
static problem draw_problem(uint64_t number)
{
    random_stream stream = random_named(number, "calls");
    problem p = {.slots = number % 2, .excludes = number % 4 > 1};
    size_t arms = 1 + (size_t)random_below(&stream, MOST_ARMS);
    p.count = 1 + (size_t)random_below(&stream, !p.slots ? MOST_ROUNDS : arms < MOST_SLOTS ? arms : MOST_SLOTS);
    for (size_t k = 0, at = 0; k < p.count; at += p.arms[k++].count) {
        size_t from = p.slots && number % 3 == 0 ? 0 : k, spare = p.slots ? p.count : 1;
        if (!p.slots) arms = 1 + (size_t)random_below(&stream, MOST_ARMS);
        if (from == k) round_draw(&seen[k], number % 7 * 100 + k, arms, DIM, 4);
        p.arms[k] = (p.slots ? number % 5 > 2 : random_below(&stream, 3) == 0) ? seen[from].sparse : seen[from].dense;
        for (size_t i = 0; i + spare < arms; i++) p.excluded[at + i] = random_below(&stream, 3) == 0;
    }
    if (number % 8 < 4) give_ids(&p);
    if (number % 8 == 0) p.arms[p.count - 1].ids = NULL;
    return p;
}

static ee_status call_bandit(ee_bandit *bandit, const problem *p, outcome *out, ee_error *error)
{
    const uint8_t *excluded = p->excludes ? p->excluded : NULL;
    memset(out, 0, sizeof *out);
    return p->slots ? ee_bandit_decide_slots(bandit, p->arms, p->count, excluded, out->decisions, out->scores,
                                             out->probabilities, error)
                    : ee_bandit_decide_many(bandit, p->arms, p->count, excluded, out->decisions, out->scores,
                                            out->probabilities, error);
}

/* The arms that are left for a round or slot whose entries begin at `first`, in the same form, and their numbers. */
static ee_arms take_left(const problem *p, size_t k, size_t first, const bool *taken, size_t *numbers)
{
    static uint64_t left_ids[MOST_ARMS];
    static round_arms round;
    size_t count = 0, at = 0;
    const ee_arms *all = &p->arms[k];
    for (size_t i = 0; i < all->count; i++) {
        if (taken[i] || (p->excludes && p->excluded[first + i])) continue;
        left_ids[count] = ids[i];
        size_t e = all->starts ? all->starts[i] : i * DIM, end = all->starts ? all->starts[i + 1] : e + DIM;
        numbers[count] = i;
        round.starts[count++] = at;
        for (; e < end; e++, at++) {
            round.entries[at] = all->values[e];
            round.indices[at] = all->starts ? all->indices[e] : 0;
        }
    }
    round.starts[count] = at;
    ee_arms left = all->starts ? ee_arms_sparse(round.starts, round.indices, round.entries, count, DIM)
                               : ee_arms_dense(round.entries, count, DIM);
    left.ids = all->ids ? left_ids : NULL;
    return left;
}

/* The same by ee_bandit_decide, one after the other. */
static void decide_one_by_one(ee_bandit *bandit, const problem *p, outcome *out)
{
    bool taken[MOST_ARMS] = {false};
    memset(out, 0, sizeof *out);
    for (size_t k = 0, first = 0; k < p->count; first += p->arms[k++].count) {
        size_t numbers[MOST_ARMS];
        ee_arms left = take_left(p, k, first, taken, numbers);
        ee_score scores[MOST_ARMS];
        double probabilities[MOST_ARMS];
        ok(ee_bandit_decide(bandit, &left, &out->decisions[k], scores, probabilities, NULL));
        for (size_t i = 0; i < left.count; i++) {
            out->scores[first + numbers[i]] = scores[i];
            out->probabilities[first + numbers[i]] = probabilities[i];
        }
        out->decisions[k].arm = numbers[out->decisions[k].arm];
        if (p->slots) taken[out->decisions[k].arm] = true;
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

/* Rewards of some decisions come, of others they do not. A call of one round or slot is a decision also where the
 * policy is told of decisions that wait. */
TEST(a_call_decides_as_one_by_one)
{
    static outcome single, together;
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        char options[256];
        bool told = i % 2;
        snprintf(options, sizeof options, "%s %s", c.options, i % 3 ? "pending=9 arms=2 nonzeros=1" : "");
        auto_bandit *bandit = bandit_make(c.name, DIM, 3, options), *twin = bandit_make(c.name, DIM, 3, options);
        policy_class classes[2];
        if (!told) tell_no_more(bandit, &classes[0]);
        if (!told) tell_no_more(twin, &classes[1]);
        for (uint64_t call = 1; call <= 24; call++) {
            problem p = draw_problem(call);
            if (told) p.count = 1;
            if (goes_by_position(&c)) give_ids(&p);
            decide_one_by_one(bandit, &p, &single);
            ok(call_bandit(twin, &p, &together, &last_error));
            if (memcmp(&single, &together, sizeof single) != 0) fail_msg("%s %s: call %d", c.name, options, (int)call);
            for (size_t k = p.count > 3 ? p.count - 3 : 0; k < p.count; k += 2) {
                bandit_reward(bandit, single.decisions[k].id, (double)(call % 2));
                bandit_reward(twin, single.decisions[k].id, (double)(call % 2));
            }
            if (!bandits_equal(bandit, twin))
                fail_msg("%s %s: call %d left another bandit", c.name, options, (int)call);
        }
        ok(ee_bandit_decide_many(twin, NULL, 0, NULL, NULL, NULL, NULL, NULL));
        ok(ee_bandit_decide_slots(twin, NULL, 0, NULL, NULL, NULL, NULL, NULL));
    }
}

/* Decisions of earlier calls count as tried, those of this one do not: scores are those of before the call. */
TEST(all_are_decided_on_what_was_known_before)
{
    static outcome got;
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_bandit *bandit = bandit_make(c->name, DIM, 3, c->options);
        bool draws = bandit->policy->class->draws; /* whose scores are other draws */
        bandit_play(bandit, 1000, 1003, 5, false);
        for (uint64_t call = 1; call <= 8 && !draws; call++) {
            problem p = draw_problem(call);
            if (goes_by_position(c)) give_ids(&p);
            ok(bandit_await_pending(bandit, NULL));
            auto_bandit *copy = bandit_copy(bandit);
            ok(call_bandit(bandit, &p, &got, &last_error));
            bool taken[MOST_ARMS] = {false};
            for (size_t k = 0, first = 0; k < p.count; first += p.arms[k++].count) {
                size_t numbers[MOST_ARMS];
                ee_arms left = take_left(&p, k, first, taken, numbers);
                ee_score scores[MOST_ARMS];
                ok(ee_bandit_score(copy, &left, scores, NULL));
                for (size_t a = 0; a < left.count; a++)
                    assert_memory_equal(&scores[a], &got.scores[first + numbers[a]], sizeof *scores);
                if (p.slots) taken[got.decisions[k].arm] = true;
            }
        }
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
    auto_bandit *bandit = bandit_make("eenet", DIM, 3, "f1.width=6 units=4");
    policy_class room = *bandit->policy->class;
    score_of_class = room.score;
    room.score = count_scores;
    bandit_play(bandit, 1, LENGTH_SETTLED, 4, false);
    bandit->policy->class = &room;
    for (size_t i = 0; i < 4; i++) round_draw(&seen[i], 9 + i, 10, DIM, 4);
    problem p = {4, true, true, {seen[0].dense, seen[0].dense, seen[0].dense, seen[0].dense}, {1}};
    scored = 0;
    ok(call_bandit(bandit, &p, &got, &last_error));
    assert_int_equal(scored, 10);
    p.arms[1] = p.arms[2] = seen[1].dense;
    scored = 0;
    ok(call_bandit(bandit, &p, &got, &last_error));
    assert_int_equal(scored, 30);
}

/* Of all orders of three among four, each comes as often as the product of its probabilities says. */
TEST(orders_come_as_often_as_their_probabilities_say)
{
    enum { ARMS = 4, SLOTS = 3, CALLS = 3000, ORDERS = ARMS * ARMS * ARMS };
    static const char *const policies[][2] = {
        {"greedy", "f1.width=6 propensity=softmax propensity_temperature=0.5"},
        {"greedy", "f1.width=6 propensity=floor propensity_epsilon=0.4"},
        {"squarecb", "f1.width=6"},
        {"neural-fastcb", "f1.width=6 gamma=1"},
        {"neural-ensemble", "f1.width=6 decision=thompson prior=3"},
        {"uniform", ""},
    };
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        auto_bandit *bandit = bandit_make(policies[i][0], DIM, 7, policies[i][1]);
        double came[ORDERS] = {0}, expected[ORDERS] = {0}, chi = 0, cells = 0;
        bandit_play(bandit, 1, 60, ARMS, false);
        round_draw(&seen[0], 5, ARMS, DIM, 5);
        problem p = {SLOTS, true, false, {seen[0].dense, seen[0].dense, seen[0].dense}, {0}};
        for (size_t call = 0; call < CALLS; call++) {
            static outcome got;
            ok(call_bandit(bandit, &p, &got, &last_error));
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
    }
}

static size_t with_ids;

/* An arm's first feature is its id. */
static void score_and_compare(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    assert_non_null(arms->ids);
    for (size_t i = 0; i < arms->count; i++) assert_true(vector_of_arm(arms, i).values[0] == (float)arms->ids[i]);
    with_ids += arms->count;
    score_of_class(learned, arms, room, scores);
}

/* The ids of arms stay theirs when arms are left out, and when the arms of several rounds are scored together. */
TEST(arms_keep_their_ids)
{
    enum { ARMS = 5 };
    static const uint8_t excluded[3 * ARMS] = {1, 0, 0, 1, 0, 0, 0, 1, 1, 0};
    auto_bandit *bandit = bandit_make("greedy", DIM, 3, "f1.width=6 scale=off recall=0");
    policy_class room = *bandit->policy->class;
    score_of_class = room.score;
    room.score = score_and_compare;
    bandit->policy->class = &room;
    uint64_t own[3][ARMS + 1] = {{0}}; /* rows that do not follow one another */
    ee_arms arms[3], sparse[3];
    ee_decision decisions[3];
    for (size_t r = 0; r < 3; r++) {
        round_draw(&seen[r], 1 + r, ARMS, DIM, 4);
        for (size_t i = 0; i < ARMS; i++) seen[r].values[i * DIM] = (float)(own[r][i] = 1 + 10 * r + i);
        round_compress(&seen[r], ARMS, DIM);
        arms[r] = seen[r].dense;
        sparse[r] = seen[r].sparse;
        arms[r].ids = sparse[r].ids = own[r];
    }
    ok(ee_bandit_decide_many(bandit, arms, 3, NULL, decisions, NULL, NULL, NULL));
    assert_int_equal(with_ids, 3 * ARMS);
    ok(ee_bandit_decide_many(bandit, arms, 3, excluded, decisions, NULL, NULL, NULL));
    ok(ee_bandit_decide_many(bandit, sparse, 3, excluded, decisions, NULL, NULL, NULL));
    ok(ee_bandit_decide_slots(bandit, arms, 3, excluded, decisions, NULL, NULL, NULL));
    room.arms_independent = false; /* now each slot is scored among what is left */
    ok(ee_bandit_decide_slots(bandit, arms, 3, NULL, decisions, NULL, NULL, NULL));
}

/* ---- what fails changes nothing ---- */

static void refuse(ee_bandit *bandit, const problem *p, ee_status expected, const char *sentence)
{
    static outcome out;
    auto_model before = model_save(bandit);
    ee_error error = {EE_OK, ""};
    assert_int_equal(call_bandit(bandit, p, &out, &error), expected);
    if (sentence) assert_string_equal(error.message, sentence);
    assert_int_equal(call_bandit(bandit, p, &out, NULL), expected);
    assert_true(model_is_of(before, bandit));
}

TEST(wrong_slots_change_nothing)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_bandit *bandit = bandit_make(c->name, DIM, 3, c->options);
        bandit_play(bandit, 1, 3, 4, true);
        round_draw(&seen[0], 9, 3, DIM, 4);
        problem p = {4, true, false, {seen[0].dense, seen[0].dense, seen[0].dense, seen[0].dense}, {0}};
        refuse(bandit, &p, EE_BAD_INPUT, "decide: 4 slots but only 3 arms; each slot takes a different arm");
        p.count = 3;
        p.arms[2].count = 2;
        refuse(bandit, &p, EE_BAD_INPUT,
               "decide: slot 0 has 3 arms and slot 2 has 2; all slots must have the same arms");
        p.arms[2].count = 3;
        p.arms[1].dim = 9;
        refuse(bandit, &p, EE_BAD_INPUT, "arms: the dimension is 9; expected 8, the bandit's");
        p.arms[1].dim = DIM;
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
        ok(call_bandit(bandit, &p, &out, &last_error));
        assert_int_equal(out.decisions[2].id, 6);
        assert_int_equal(ee_bandit_info(bandit).pending, 3);
        assert_int_equal(out.decisions[0].arm + out.decisions[1].arm + out.decisions[2].arm, 3);
    }
}

TEST(a_wrong_round_leaves_all_undecided)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        enum { ROUNDS = 6 };
        static outcome out;
        auto_bandit *bandit = bandit_make(c->name, DIM, 3, c->options);
        problem p = {.count = ROUNDS};
        for (size_t k = 0; k < ROUNDS; k++) {
            round_draw(&seen[k], 1 + k, 2 + k, DIM, 4);
            p.arms[k] = k % 2 ? seen[k].sparse : seen[k].dense;
        }
        for (size_t bad = 0; bad < ROUNDS; bad++) {
            ee_arms sound = p.arms[bad];
            p.arms[bad].dim++;
            refuse(bandit, &p, EE_BAD_INPUT, "arms: the dimension is 9; expected 8, the bandit's");
            p.arms[bad] = sound;
            if (!bandit->rules.scales || bad == 0) continue;
            /* Only when they are divided it shows that these are too long. */
            float was = seen[bad].values[0], entry = seen[bad].entries[0];
            seen[bad].values[0] = seen[bad].entries[0] = 9e8f;
            bandit->policy->parameters.length = (arm_length){.value = 1e-3, .rounds = LENGTH_SETTLED};
            refuse(bandit, &p, EE_BAD_INPUT, NULL);
            bandit->policy->parameters.length = (arm_length){0};
            seen[bad].values[0] = was;
            seen[bad].entries[0] = entry;
        }
        p.excludes = true;
        memset(p.excluded + 2, 1, 3);
        refuse(bandit, &p, EE_BAD_INPUT, "decide: all 3 arms of round 1 are excluded");
        p.excludes = false;
        ok(call_bandit(bandit, &p, &out, &last_error));
        assert_int_equal(out.decisions[ROUNDS - 1].id, ROUNDS);
        assert_int_equal(ee_bandit_info(bandit).pending, ROUNDS);
    }
}

TEST(bad_input_is_refused)
{
    typedef ee_status call(ee_bandit * bandit, const ee_arms *arms, size_t count, const uint8_t *excluded,
                           ee_decision *decisions, ee_score *scores, double *probabilities, ee_error *error);
    static call *const calls[] = {ee_bandit_decide_many, ee_bandit_decide_slots};
    auto_bandit *bandit = bandit_make("greedy", DIM, 3, "f1.width=4");
    ee_decision decisions[2];
    problem p = draw_problem(7);
    p.count = 1;
    for (size_t i = 0; i < 2; i++) {
        refuses(calls[i](NULL, p.arms, 1, NULL, decisions, NULL, NULL, &last_error), "decide: bandit must not be NULL");
        refuses(calls[i](bandit, NULL, 1, NULL, decisions, NULL, NULL, &last_error), "arms: arms must not be NULL");
        refuses(calls[i](bandit, p.arms, 1, NULL, NULL, NULL, NULL, &last_error), "decide: decisions must not be NULL");
    }
    for (size_t i = 0; i < bandit->policy->parameters.count; i++) bandit->policy->parameters.values[i] = FLT_MAX;
    for (int kind = 0; kind < 2; kind++) {
        p.slots = kind;
        refuse(bandit, &p, EE_DIVERGED, NULL);
    }
    /* No call makes more decisions than may wait: none of them expires before it ends. */
    static outcome out;
    auto_bandit *patient = bandit_make("linucb", DIM, 3, "pending=4");
    problem five = {.count = 5};
    round_draw(&seen[0], 1, 6, DIM, 4);
    for (size_t i = 0; i < 5; i++) five.arms[i] = seen[0].dense;
    for (int kind = 0; kind < 2; kind++) {
        five.slots = kind;
        five.count = 5;
        refuse(patient, &five, EE_BAD_INPUT,
               "decide: 5 decisions in one call, but option pending is 4: raise it, or decide fewer at a time");
        five.count = 4;
        ok(call_bandit(patient, &five, &out, &last_error));
    }
    assert_int_equal(ee_bandit_info(patient).expired, 4);
}

/* ---- several rewards in one call ---- */

TEST(learning_many_is_a_loop_of_learning)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_bandit *bandit = bandit_make(c->name, DIM, 3, c->options),
                    *twin = bandit_make(c->name, DIM, 3, c->options);
        for (uint64_t call = 0; call < 3; call++) {
            enum { ROUNDS = 9 };
            ee_arms arms[ROUNDS];
            ee_decision decisions[ROUNDS];
            uint64_t made[ROUNDS];
            double rewards[ROUNDS];
            size_t learned = 77;
            for (size_t r = 0; r < ROUNDS; r++) {
                round_draw(&seen[r], 1 + call * ROUNDS + r, 1 + r, DIM, 4);
                arms[r] = seen[r].dense;
            }
            ok(ee_bandit_decide_many(bandit, arms, ROUNDS, NULL, decisions, NULL, NULL, NULL));
            ok(ee_bandit_decide_many(twin, arms, ROUNDS, NULL, decisions, NULL, NULL, NULL));
            for (size_t r = 0; r < ROUNDS; r++) {
                size_t from = ROUNDS - 1 - r; /* in any order */
                made[r] = decisions[from].id;
                rewards[r] = round_reward(&seen[from], decisions[from].arm);
                bandit_reward(bandit, made[r], rewards[r]);
            }
            ok(ee_bandit_learn_many(twin, made, rewards, ROUNDS, &learned, NULL));
            assert_int_equal(learned, ROUNDS);
            if (!bandits_equal(bandit, twin)) fail_msg("%s %s", c->name, c->options);
        }
    }
}

TEST(learning_many_stops_at_the_first_failure)
{
    auto_bandit *bandit = bandit_make("linucb", DIM, 3, NULL);
    ee_arms arms[4];
    ee_decision decisions[4];
    size_t learned = 77;
    uint64_t made[] = {2, 9, 3, 1};
    const double rewards[] = {1, 1, 1, NAN};
    round_draw(&seen[0], 1, 4, DIM, 4);
    for (size_t i = 0; i < 4; i++) arms[i] = seen[0].dense;
    ok(ee_bandit_decide_many(bandit, arms, 4, NULL, decisions, NULL, NULL, NULL));
    fails_with(ee_bandit_learn_many(bandit, made, rewards, 4, &learned, &last_error), EE_UNKNOWN_DECISION,
               "learn: there is no decision 9; the last one is 4");
    assert_int_equal(learned, 1);
    assert_int_equal(ee_bandit_info(bandit).rewards, 1);
    assert_int_equal(ee_bandit_learn(bandit, 2, 1, NULL), EE_REWARDED_DECISION);
    assert_int_equal(ee_bandit_learn_many(bandit, made + 2, rewards + 2, 2, &learned, &last_error), EE_BAD_INPUT);
    assert_int_equal(learned, 1);
    assert_int_equal(ee_bandit_info(bandit).pending, 2);
    ok(ee_bandit_learn_many(bandit, NULL, NULL, 0, NULL, NULL));
    assert_int_equal(ee_bandit_learn_many(bandit, NULL, rewards, 1, &learned, NULL), EE_BAD_INPUT);
    assert_int_equal(learned, 0);
    assert_int_equal(ee_bandit_learn_many(bandit, made, NULL, 1, NULL, NULL), EE_BAD_INPUT);
    refuses(ee_bandit_learn_many(NULL, made, rewards, 1, NULL, &last_error),
            "learn: bandit, decision_ids and rewards must not be NULL");
}

/* ---- on a snapshot ---- */

static reader make_reader(const policy_case *c, uint64_t seed)
{
    ee_bandit *bandit = bandit_make(c->name, DIM, 3, c->options);
    bandit_play(bandit, 1, 12, 6, false);
    return reader_make(bandit, seed);
}

static ee_status call_snapshot(const reader *self, const problem *p, outcome *out)
{
    const uint8_t *excluded = p->excludes ? p->excluded : NULL;
    memset(out, 0, sizeof *out);
    return p->slots ? ee_snapshot_decide_slots(self->snapshot, self->scratch, p->arms, p->count, excluded,
                                               out->decisions, out->scores, out->probabilities, NULL)
                    : ee_snapshot_decide_many(self->snapshot, self->scratch, p->arms, p->count, excluded,
                                              out->decisions, out->scores, out->probabilities, NULL);
}

enum { ARMS = 6 };

/* The bandit takes in the records of the last call. */
static void take_records(const reader *self, const problem *p, ee_bandit *bandit)
{
    for (size_t i = 0; i < p->count; i++) {
        const void *record;
        size_t size;
        ee_decision decision;
        ok(ee_scratch_record(self->scratch, i, &record, &size, NULL));
        ok(ee_bandit_take_record(bandit, record, size, &decision, NULL));
    }
}

TEST(a_snapshot_decides_what_its_bandit_would)
{
    static outcome expected, got;
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_reader self = make_reader(c, 1);
        for (uint64_t seed = 1; seed <= 8; seed++) {
            problem p = draw_problem(seed);
            auto_bandit *copy = bandit_copy(self.bandit), *other = bandit_copy(self.bandit);
            copy->room->streams = decision_streams_of(seed);
            ok(call_bandit(copy, &p, &expected, &last_error));
            ee_scratch_seed(self.scratch, seed);
            ok(call_snapshot(&self, &p, &got));
            for (size_t r = 0; r < p.count; r++) expected.decisions[r].id = 0;
            if (memcmp(&expected, &got, sizeof got) != 0) fail_msg("%s %s: call %d", c->name, c->options, (int)seed);
            /* Learning by the records is learning what the bandit would have kept itself. */
            take_records(&self, &p, other);
            other->room->streams = copy->room->streams; /* a record draws nothing */
            if (!bandits_equal(copy, other)) fail_msg("%s %s: records of call %d", c->name, c->options, (int)seed);
        }
    }
}

/* Arms are divided by the length of the first round that has one, also if that comes within a call. */
TEST(records_know_the_length_of_their_own_round)
{
    auto_bandit *bandit = bandit_make("greedy", DIM, 3, "f1.width=6");
    ee_bandit *twin = bandit_make("greedy", DIM, 3, "f1.width=6");
    auto_reader self = reader_make(twin, 3);
    problem p = {.count = 3};
    static outcome expected, got;
    for (size_t r = 0; r < 3; r++) {
        round_draw(&seen[r], 1 + r, ARMS, DIM, 4);
        for (size_t v = 0; v < ARMS * DIM; v++) seen[r].values[v] *= r ? 100 : 0;
        p.arms[r] = seen[r].dense;
    }
    ok(call_bandit(bandit, &p, &expected, &last_error));
    assert_true(bandit->policy->parameters.length.value > 1);
    ok(call_snapshot(&self, &p, &got));
    take_records(&self, &p, twin);
    twin->room->streams = bandit->room->streams;
    assert_true(bandits_equal(bandit, twin));
}

/* And a scratch draws on: its decisions are those of a bandit whose streams begin with the same seed. */
TEST(a_look_shows_what_the_next_decision_sees)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_reader self = make_reader(c, 9);
        auto_scratch *twin = scratch_make(self.snapshot, 1);
        ee_scratch_seed(twin, 9);
        decision_streams streams = decision_streams_of(9);
        for (uint64_t t = 1; t <= 6; t++) {
            ee_score scores[ARMS], drawn_scores[ARMS];
            double probabilities[ARMS], drawn[ARMS];
            ee_decision decision = {0}, its = {0}, expected = {0};
            round_draw(&seen[0], t, ARMS, DIM, 4);
            const ee_arms *arms = &seen[0].dense;
            auto_bandit *copy = bandit_copy(self.bandit);
            copy->room->streams = streams;
            ok(ee_bandit_decide(copy, arms, &expected, NULL, NULL, NULL));
            streams = copy->room->streams;
            expected.id = 0;
            decision_streams before = self.scratch->room.streams;
            ok(ee_snapshot_score(self.snapshot, self.scratch, arms, scores, NULL));
            ok(ee_snapshot_probabilities(self.snapshot, self.scratch, arms, probabilities, NULL));
            assert_memory_equal(&before, &self.scratch->room.streams, sizeof before);
            ok(ee_snapshot_decide(self.snapshot, self.scratch, arms, &decision, drawn_scores, drawn, NULL));
            assert_memory_equal(scores, drawn_scores, sizeof scores);
            assert_memory_equal(probabilities, drawn, sizeof drawn);
            ok(ee_snapshot_decide(self.snapshot, twin, arms, &its, NULL, NULL, NULL));
            assert_memory_equal(&decision, &expected, sizeof decision);
            assert_memory_equal(&its, &expected, sizeof its);
        }
    }
}

static void assert_no_record(const reader *self)
{
    const void *record;
    size_t size;
    refuses(ee_scratch_record(self->scratch, 0, &record, &size, &last_error),
            "record: there is no decision 0: the last call with this scratch made 0");
}

TEST(a_failed_decision_leaves_no_record)
{
    const policy_case c = {"neural-epsilon", "f1.width=4 epsilon=0.5"};
    auto_reader self = make_reader(&c, 1);
    static outcome out;
    const void *record;
    size_t size;
    problem p = {.count = 2};
    for (size_t r = 0; r < 2; r++) {
        round_draw(&seen[r], 1 + r, ARMS, DIM, 4);
        p.arms[r] = seen[r].dense;
    }
    problem wrong = p, all_excluded = p, none_left = p;
    wrong.arms[1].count = 0;
    all_excluded.excludes = true;
    memset(all_excluded.excluded + ARMS, 1, ARMS);
    none_left.slots = none_left.excludes = true;
    memset(none_left.excluded, 1, ARMS);
    const problem *const failing[] = {&wrong, &all_excluded, &none_left};
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
        ok(call_snapshot(&self, &p, &out));
        ok(ee_scratch_record(self.scratch, 1, &record, &size, NULL));
        refuses(ee_scratch_record(self.scratch, 2, &record, &size, &last_error),
                "record: there is no decision 2: the last call with this scratch made 2");
        decision_streams before = self.scratch->room.streams;
        assert_int_equal(call_snapshot(&self, failing[i], &out), EE_BAD_INPUT);
        assert_memory_equal(&before, &self.scratch->room.streams, sizeof before);
        assert_no_record(&self);
    }
    ee_decision decision;
    ok(ee_snapshot_decide(self.snapshot, self.scratch, p.arms, &decision, NULL, NULL, NULL));
    assert_int_equal(ee_snapshot_decide(self.snapshot, self.scratch, NULL, &decision, NULL, NULL, NULL), EE_BAD_INPUT);
    assert_no_record(&self);
    ok(ee_snapshot_decide(self.snapshot, self.scratch, p.arms, &decision, NULL, NULL, NULL));
    assert_int_equal(ee_snapshot_decide_round(self.snapshot, self.scratch, NULL, &decision, NULL, NULL, NULL),
                     EE_BAD_INPUT);
    assert_no_record(&self);
    ok(ee_snapshot_decide_many(self.snapshot, self.scratch, NULL, 0, NULL, NULL, NULL, NULL, NULL));
    assert_no_record(&self);
}
