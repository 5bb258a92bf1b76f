/* Arms that must not be chosen: a round with exclusions is decided, to the byte, as the remaining arms alone. */
#include "every_policy.h"

#include <math.h>

#include "engine/bandit.h"

enum { DIM = 8, MOST_ARMS = 12, ROUNDS = 5 };

static round_arms rounds[ROUNDS], rests[ROUNDS];
static uint64_t all_ids[ROUNDS][MOST_ARMS], left_ids[ROUNDS][MOST_ARMS];

typedef struct outcome {
    ee_decision decisions[ROUNDS];
    ee_score scores[ROUNDS * MOST_ARMS];
    double probabilities[ROUNDS * MOST_ARMS];
} outcome;

/* Rounds of one call, what is excluded of them, and the rest as rounds of their own. */
typedef struct problem {
    ee_arms arms[ROUNDS], left[ROUNDS];
    uint8_t excluded[ROUNDS * MOST_ARMS];
    size_t numbers[ROUNDS][MOST_ARMS]; /* of the arms that are left */
} problem;

/* A round of few arms has none excluded; of the others each is, with probability 0.4, except the last. */
static void draw_problem(uint64_t number, problem *p)
{
    random_stream stream = random_named(number, "excluded");
    size_t at = 0;
    for (size_t r = 0; r < ROUNDS; r++) {
        size_t arms = 1 + (size_t)random_below(&stream, MOST_ARMS), left = 0, entries = 0;
        round_draw(&rounds[r], number * ROUNDS + r, arms, DIM, 4);
        bool sparse = random_below(&stream, 3) == 0;
        p->arms[r] = sparse ? rounds[r].sparse : rounds[r].dense;
        round_arms *rest = &rests[r];
        for (size_t i = 0; i < arms; i++) {
            all_ids[r][i] = 7 * i + 3;
            p->excluded[at + i] = arms > 2 && i + 1 < arms && random_below(&stream, 5) < 2;
            if (p->excluded[at + i]) continue;
            memcpy(rest->values + left * DIM, rounds[r].values + i * DIM, DIM * sizeof *rest->values);
            rest->starts[left] = entries;
            for (size_t e = rounds[r].starts[i]; e < rounds[r].starts[i + 1]; e++, entries++) {
                rest->entries[entries] = rounds[r].entries[e];
                rest->indices[entries] = rounds[r].indices[e];
            }
            left_ids[r][left] = all_ids[r][i];
            p->numbers[r][left++] = i;
        }
        rest->starts[left] = entries;
        p->left[r] = sparse ? ee_arms_sparse(rest->starts, rest->indices, rest->entries, left, DIM)
                            : ee_arms_dense(rest->values, left, DIM);
        at += arms;
    }
}

/* Without ids, ucb1 and thompson go by the position among all arms, which a round of the rest does not know. */
static void give_ids(problem *p)
{
    for (size_t r = 0; r < ROUNDS; r++) {
        p->arms[r].ids = all_ids[r];
        p->left[r].ids = left_ids[r];
    }
}

static void draw_problem_for(const policy_case *c, uint64_t number, problem *p)
{
    draw_problem(number, p);
    if (number % 2 || strcmp(c->name, "ucb1") == 0 || strcmp(c->name, "thompson") == 0) give_ids(p);
}

/* What deciding among the rest gave, as it is told of all arms. */
static void spread(const problem *p, const outcome *of_rest, outcome *out)
{
    size_t from = 0, to = 0;
    memset(out, 0, sizeof *out);
    for (size_t r = 0; r < ROUNDS; to += p->arms[r++].count) {
        for (size_t i = 0; i < p->left[r].count; i++, from++) {
            out->scores[to + p->numbers[r][i]] = of_rest->scores[from];
            out->probabilities[to + p->numbers[r][i]] = of_rest->probabilities[from];
        }
        out->decisions[r] = of_rest->decisions[r];
        out->decisions[r].arm = p->numbers[r][of_rest->decisions[r].arm];
    }
}

TEST(excluded_arms_are_as_if_they_were_not_there)
{
    static outcome of_rest, expected, got;
    static problem p;
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options), *twin = bandit_make(c.name, DIM, 3, c.options);
        for (uint64_t call = 1; call <= 12; call++) {
            draw_problem_for(&c, call, &p);
            memset(&of_rest, 0, sizeof of_rest);
            memset(&got, 0, sizeof got);
            ok(ee_bandit_decide_many(bandit, p.left, ROUNDS, NULL, of_rest.decisions, of_rest.scores,
                                     of_rest.probabilities, NULL));
            spread(&p, &of_rest, &expected);
            ok(ee_bandit_decide_many(twin, p.arms, ROUNDS, p.excluded, got.decisions, got.scores, got.probabilities,
                                     NULL));
            if (memcmp(&expected, &got, sizeof got) != 0) fail_msg("%s %s: call %d", c.name, c.options, (int)call);
            for (size_t r = 0; r < ROUNDS; r += 2) {
                double reward = round_reward(&rounds[r], got.decisions[r].arm);
                bandit_reward(bandit, got.decisions[r].id, reward);
                bandit_reward(twin, got.decisions[r].id, reward);
            }
            model saved = model_save(bandit);
            if (!model_is_of(saved, twin)) fail_msg("%s %s: call %d left another bandit", c.name, c.options, (int)call);
            model_free(&saved);
        }
        ee_bandit_free(bandit);
        ee_bandit_free(twin);
    }
}

/* One round of a call is ee_bandit_decide, also if decisions wait that the policy is told of. */
TEST(one_round_is_a_decision)
{
    static outcome expected, got;
    static problem p;
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options), *twin = bandit_make(c.name, DIM, 3, c.options);
        for (uint64_t call = 1; call <= 20; call++) {
            draw_problem_for(&c, call, &p);
            ee_decision alone, among;
            ok(ee_bandit_decide(bandit, &p.left[0], &alone, expected.scores, NULL, NULL));
            ok(ee_bandit_decide_many(twin, p.arms, 1, p.excluded, &among, NULL, got.probabilities, NULL));
            assert_int_equal(among.arm, p.numbers[0][alone.arm]);
            assert_int_equal(among.id, alone.id);
            assert_memory_equal(&among.probability, &alone.probability, sizeof among.probability);
            for (size_t a = 0; a < p.arms[0].count; a++)
                if (p.excluded[a]) assert_true(got.probabilities[a] == 0);
            if (call % 3) continue;
            bandit_reward(bandit, alone.id, 1);
            bandit_reward(twin, alone.id, 1);
        }
        model saved = model_save(bandit);
        assert_true(model_is_of(saved, twin));
        model_free(&saved);
        ee_bandit_free(bandit);
        ee_bandit_free(twin);
    }
}

/* Nothing that is excluded comes, and what is left comes as often as its probability says. */
TEST(arms_come_as_often_as_their_probabilities_say)
{
    enum { ARMS = 4, CALLS = 4000 };
    static const uint8_t excluded[ARMS] = {0, 1, 0, 0};
    ee_bandit *bandit = bandit_make("greedy", DIM, 7, "f1.width=6 propensity=softmax propensity_temperature=0.5");
    double came[ARMS] = {0}, probabilities[ARMS];
    bandit_play(bandit, 1, 60, ARMS, false);
    round_draw(&rounds[0], 5, ARMS, DIM, 5);
    for (size_t call = 0; call < CALLS; call++) {
        ee_decision decision;
        ok(ee_bandit_decide_many(bandit, &rounds[0].dense, 1, excluded, &decision, NULL, probabilities, NULL));
        assert_true(decision.probability == probabilities[decision.arm]);
        came[decision.arm] += 1.0 / CALLS;
    }
    assert_true(came[1] == 0 && probabilities[1] == 0);
    assert_true(fabs(probabilities[0] + probabilities[2] + probabilities[3] - 1) < 1e-9);
    for (size_t a = 0; a < ARMS; a++) {
        double deviation = sqrt(probabilities[a] * (1 - probabilities[a]) / CALLS);
        assert_true(fabs(came[a] - probabilities[a]) <= 5 * deviation);
    }
    ee_bandit_free(bandit);
}

/* ---- ids ---- */

static size_t with_ids;
static void (*score_of_class)(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores);

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
    ee_bandit *bandit = bandit_make("greedy", DIM, 3, "f1.width=6 scale=off recall=0");
    policy_class room = *bandit->policy->class;
    score_of_class = room.score;
    room.score = score_and_compare;
    bandit->policy->class = &room;
    uint64_t ids[3][ARMS + 1] = {{0}}; /* rows that do not follow one another */
    ee_arms arms[3], sparse[3];
    ee_decision decisions[3];
    for (size_t r = 0; r < 3; r++) {
        round_draw(&rounds[r], 1 + r, ARMS, DIM, 4);
        for (size_t i = 0; i < ARMS; i++) rounds[r].values[i * DIM] = (float)(ids[r][i] = 1 + 10 * r + i);
        round_compress(&rounds[r], ARMS, DIM);
        arms[r] = rounds[r].dense;
        sparse[r] = rounds[r].sparse;
        arms[r].ids = sparse[r].ids = ids[r];
    }
    ok(ee_bandit_decide_many(bandit, arms, 3, NULL, decisions, NULL, NULL, NULL));
    assert_int_equal(with_ids, 3 * ARMS);
    ok(ee_bandit_decide_many(bandit, arms, 3, excluded, decisions, NULL, NULL, NULL));
    ok(ee_bandit_decide_many(bandit, sparse, 3, excluded, decisions, NULL, NULL, NULL));
    ok(ee_bandit_decide_slots(bandit, arms, 3, excluded, decisions, NULL, NULL, NULL));
    room.arms_independent = false; /* now each slot is scored among what is left */
    ok(ee_bandit_decide_slots(bandit, arms, 3, NULL, decisions, NULL, NULL, NULL));
    ee_bandit_free(bandit);
}

/* ---- what is refused ---- */

TEST(a_round_needs_an_arm_that_is_not_excluded)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options);
        ee_arms arms[2];
        ee_decision decisions[2];
        const uint8_t excluded[] = {0, 1, 0, 1, 2};
        ee_error error = {EE_OK, ""};
        bandit_play(bandit, 1, 3, 4, true);
        round_draw(&rounds[0], 9, 3, DIM, 4);
        round_draw(&rounds[1], 10, 2, DIM, 4);
        arms[0] = rounds[0].dense;
        arms[1] = rounds[1].sparse;
        model before = model_save(bandit);
        assert_int_equal(ee_bandit_decide_many(bandit, arms, 2, excluded, decisions, NULL, NULL, &error), EE_BAD_INPUT);
        assert_string_equal(error.message, "decide: all 2 arms of round 1 are excluded");
        assert_true(model_is_of(before, bandit));
        model_free(&before);
        ee_bandit_free(bandit);
    }
}
