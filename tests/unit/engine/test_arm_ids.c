/* Arms are known by their ids, whatever their order is and which of them a round has: decided alone, in slots, several
 * rounds at once, on a snapshot and by a record, and after a bandit was saved and loaded. */
#include "rounds.h"

#include "engine/bandit.h"

enum { ARMS = 5, MOST = 2000 };

/* Arm number i has the id 1000 + 3 i. Features say nothing. */
typedef struct id_round {
    float values[MOST];
    uint64_t ids[MOST];
    size_t numbers[MOST];
    ee_arms arms;
} id_round;

static void round_add(id_round *self, size_t number)
{
    size_t at = self->arms.count++;
    self->values[at] = 1;
    self->ids[at] = 1000 + 3 * number;
    self->numbers[at] = number;
}

/* Some of the arms, at least two, in any order; the best is always among them where it is asked for. */
static id_round *draw_some(uint64_t number, size_t best)
{
    static id_round round;
    random_stream stream = random_named(number, "ids");
    size_t order[ARMS];
    for (size_t i = 0; i < ARMS; i++) order[i] = i;
    for (size_t i = ARMS; i-- > 1;) {
        size_t other = (size_t)random_below(&stream, i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    size_t least = 2 + (size_t)random_below(&stream, ARMS - 1);
    round.arms = ee_arms_dense(round.values, 0, 1);
    for (size_t i = 0; i < ARMS; i++)
        if (i < least || order[i] == best) round_add(&round, order[i]);
    round.arms.ids = round.ids;
    return &round;
}

static const char *const policies[] = {"ucb1", "thompson"};
enum { POLICIES = sizeof policies / sizeof *policies };

static void assert_learned(const char *who, const char *how, size_t right, size_t rounds)
{
    if (right < rounds * 9 / 10) fail_msg("%s, %s: %zu of %zu", who, how, right, rounds);
}

TEST(order_and_exclusions_do_not_matter)
{
    enum { ROUNDS = 600, LAST = 200 };
    for (size_t p = 0; p < POLICIES; p++) {
        auto_bandit *bandit = bandit_make(policies[p], 1, 3, NULL);
        size_t right = 0;
        for (size_t t = 0; t < ROUNDS; t++) {
            id_round *round = draw_some(t, ARMS - 1);
            ee_decision decision = bandit_choose(bandit, &round->arms, NULL);
            double reward = round->numbers[decision.arm] == ARMS - 1; /* the last arm is the good one */
            bandit_reward(bandit, decision.id, reward);
            right += t >= ROUNDS - LAST && reward == 1;
            if (t == ROUNDS / 2) { /* and a bandit that was saved goes on with what it knows */
                bandit = bandit_reload(bandit);
            }
        }
        assert_learned(policies[p], "any order", right, LAST);
    }
}

static void teach(ee_bandit *bandit, const ee_arms *arms, size_t arm, double reward)
{
    ok(ee_bandit_learn_from(bandit, arms, arm, reward, NULL));
}

/* An arm with an id and one at the same position without one are not the same. */
TEST(rounds_with_and_without_ids_are_apart)
{
    auto_bandit *bandit = bandit_make("ucb1", 1, 3, NULL);
    float values[2] = {1, 1};
    uint64_t ids[2] = {0, 1};
    ee_arms plain = ee_arms_dense(values, 2, 1), named = plain;
    ee_score scores[2];
    named.ids = ids;
    for (size_t i = 0; i < 10; i++) teach(bandit, &plain, 0, 1);
    for (size_t i = 0; i < 10; i++) teach(bandit, &plain, 1, 0);
    for (size_t i = 0; i < 10; i++) teach(bandit, &named, 0, 0);
    for (size_t i = 0; i < 10; i++) teach(bandit, &named, 1, 1);
    ok(ee_bandit_score(bandit, &plain, scores, NULL));
    assert_true(scores[0].exploitation == 1 && scores[1].exploitation == 0);
    ok(ee_bandit_score(bandit, &named, scores, NULL));
    assert_true(scores[0].exploitation == 0 && scores[1].exploitation == 1);
}

/* Of more ids than there are places, those that are played lately are known; all within the same memory. */
TEST(a_full_table_keeps_what_was_played_lately)
{
    enum { PLACES = 8, NEW = 1000 };
    auto_bandit *bandit = bandit_make("ucb1", 1, 3, "positions=8");
    size_t memory_before = ee_bandit_memory(bandit);
    float values[2] = {1, 1};
    uint64_t ids[2] = {5, 0};
    ee_arms arms = ee_arms_dense(values, 2, 1);
    ee_score scores[2];
    arms.ids = ids;
    for (size_t t = 0; t < NEW; t++) {
        ids[1] = 100 + 977 * t;
        teach(bandit, &arms, 1, 0);
        teach(bandit, &arms, 0, 1); /* comes all the time */
        ok(ee_bandit_score(bandit, &arms, scores, NULL));
        assert_true(scores[0].exploitation == 1 && scores[1].exploitation == 0);
        if (t < PLACES - 2) continue;
        ids[1] = 100 + 977 * (t - (PLACES - 2)); /* long ago: as if never played */
        ok(ee_bandit_score(bandit, &arms, scores, NULL));
        assert_true(scores[1].exploration > scores[0].exploration || t == PLACES - 2);
    }
    assert_int_equal(ee_bandit_memory(bandit), memory_before);
    auto_bandit *again = bandit_copy(bandit);
    ids[1] = 7;
    for (size_t t = 0; t < 20; t++) {
        ids[1]++;
        teach(bandit, &arms, 1, 1);
        teach(again, &arms, 1, 1);
    }
    assert_true(bandits_equal(bandit, again));
}

/* Two arms whose features are equal: only the id says which one is rewarded. */
TEST(recall_tells_equal_features_apart)
{
    enum { ROUNDS = 400, LAST = 100 };
    static const char *const learners[] = {"eenet", "greedy", "linucb"};
    for (size_t p = 0; p < sizeof learners / sizeof *learners; p++) {
        auto_bandit *bandit = bandit_make(learners[p], 2, 3, p < 2 ? "f1.width=8 recall=64" : "recall=64");
        float values[4] = {1, 0.5f, 1, 0.5f};
        size_t right = 0;
        for (size_t t = 0; t < ROUNDS; t++) {
            uint64_t ids[2] = {t % 2 ? 11 : 22, t % 2 ? 22 : 11};
            ee_arms arms = ee_arms_dense(values, 2, 2);
            arms.ids = ids;
            ee_decision decision = bandit_choose(bandit, &arms, NULL);
            bandit_reward(bandit, decision.id, ids[decision.arm] == 22);
            right += t >= ROUNDS - LAST && ids[decision.arm] == 22;
        }
        assert_learned(learners[p], "equal features", right, LAST);
    }
}
