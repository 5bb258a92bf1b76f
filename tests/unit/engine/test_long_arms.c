/* An arm with very many non-zeros among arms with few: it takes its own length, wherever it is kept, and no more. */
#include "rounds.h"

enum { DIM = 20000, ARMS = 3, FEW = 20, MANY = 19000, ROW_BYTES = 8 * MANY };

/* Every arm has few entries but for the first of a long round, which the policies below like to play. */
typedef struct long_round {
    size_t starts[ARMS + 1];
    uint32_t indices[MANY + ARMS * FEW];
    float values[MANY + ARMS * FEW];
} long_round;

static ee_arms draw_arms(uint64_t number, bool is_long)
{
    static long_round round;
    random_stream draw = random_named(number, "long");
    size_t end = 0;
    for (size_t arm = 0; arm < ARMS; arm++) {
        size_t count = is_long && arm == 0 ? MANY : FEW, step = DIM / count;
        round.starts[arm] = end;
        for (size_t i = 0; i < count; i++, end++) {
            round.indices[end] = (uint32_t)(i * step + random_below(&draw, step));
            round.values[end] = (float)random_unit(&draw) / (float)count;
        }
    }
    round.starts[ARMS] = end;
    return ee_arms_sparse(round.starts, round.indices, round.values, ARMS, DIM);
}

/* Long rounds are numbers 21, 26, ... 46. Returns the most memory that the bandit ever took. */
static size_t play(ee_bandit *bandit, uint64_t first, uint64_t last)
{
    size_t most = 0;
    for (uint64_t t = first; t <= last; t++) {
        bool is_long = t > 20 && t < 50 && t % 5 == 1;
        ee_arms arms = draw_arms(t, is_long);
        ee_decision decision = bandit_choose(bandit, &arms, NULL);
        bandit_reward(bandit, decision.id, (double)(t % 2));
        size_t now = ee_bandit_memory(bandit);
        if (now > most) most = now;
    }
    return most;
}

static const char *const histories[] = {"ring:30", "reservoir:30", "all"};

static ee_bandit *make(const char *policy, const char *history)
{
    char options[160];
    snprintf(options, sizeof options,
             "f1.width=2 f1.deep_width=2 f1.batch=4 nonzeros=%d arms=%d pending=16 scale=off f1.history=%s", FEW, ARMS,
             history);
    return bandit_make(policy, DIM, 1, options);
}

/* Six long arms came: each takes a row at most, and so do the ones that wait, are reserved and are trained on. */
TEST(long_arms_take_their_own_length)
{
    static const char *const policies[] = {"greedy", "eenet"};
    for (size_t p = 0; p < 2; p++) {
        for (size_t h = 0; h < 3; h++) {
            auto_bandit *bandit = make(policies[p], histories[h]);
            size_t before = play(bandit, 1, 20);
            size_t most = play(bandit, 21, 60);
            if (most > before + 10 * ROW_BYTES)
                fail_msg("%s %s: from %zu to %zu bytes", policies[p], histories[h], before, most);
        }
    }
    /* When a ring has forgotten them, what is left is the room to scale, to decide for and to train on one, of the last
     * as much for each of f1's two networks. */
    auto_bandit *bandit = make("greedy", "ring:9");
    size_t before = play(bandit, 1, 20);
    assert_true(play(bandit, 21, 46) > before + ROW_BYTES);
    play(bandit, 47, 80);
    assert_true(ee_bandit_memory(bandit) <= before + 3 * ROW_BYTES + 65536);
}

/* Played, waiting, in the history: a loaded bandit goes on as the one that was saved, in as little memory. */
TEST(long_arms_are_saved_and_loaded)
{
    for (size_t h = 0; h < 3; h++) {
        auto_bandit *bandit = make("eenet", histories[h]);
        size_t before = play(bandit, 1, 20);
        play(bandit, 21, 40);
        ee_arms arms = draw_arms(41, true);
        ee_decision waiting = bandit_choose(bandit, &arms, NULL);
        auto_bandit *loaded = bandit_copy(bandit);
        assert_true(ee_bandit_memory(loaded) <= before + 10 * ROW_BYTES);
        bandit_reward(bandit, waiting.id, 1);
        bandit_reward(loaded, waiting.id, 1);
        play(bandit, 42, 60);
        play(loaded, 42, 60);
        assert_true(bandits_equal(bandit, loaded));
    }
}

/* All that waits is one of few entries, though each was decided beside a long one. */
TEST(waiting_decisions_take_the_arm_that_was_played)
{
    auto_bandit *bandit = bandit_make("uniform", DIM, 1, "nonzeros=20 arms=3 pending=64");
    size_t before = ee_bandit_memory(bandit), played = 0;
    for (uint64_t t = 1; t <= 40; t++) {
        ee_arms arms = draw_arms(t, true);
        played += bandit_choose(bandit, &arms, NULL).arm == 0;
    }
    assert_true(played > 5 && played < 20);
    assert_true(ee_bandit_memory(bandit) <= before + (played + 2) * (ROW_BYTES + 256) + 4096);
    for (uint64_t t = 1; t <= 40; t++) bandit_reward(bandit, t, 1);
    assert_true(ee_bandit_memory(bandit) <= before + 3 * (ROW_BYTES + 256) + 4096);
}
