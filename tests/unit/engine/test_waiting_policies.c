/* Decisions that wait, in every policy: a loaded bandit goes on with them, and a snapshot knows of them. */
#include "every_policy.h"

#include <math.h>

#include "engine/snapshot.h"
#include "policy/parts/recall.h"

enum { DIM = 8, ARMS = 5, ROUNDS = 40, MOST_LATE = 4 };

static round_arms round_now;

static const ee_arms *arms_of_round(uint64_t number)
{
    round_draw(&round_now, number % 17, ARMS, DIM, 4); /* they come again, so that memories of arms have a say */
    return number % 2 ? &round_now.sparse : &round_now.dense;
}

/* How late a reward comes, in decisions; 0: at once. Some never come. */
static uint64_t delay_of(uint64_t id)
{
    return id * 7 % (MOST_LATE + 1);
}

static bool comes(uint64_t id)
{
    return id % 11 != 3;
}

static void learn(ee_bandit *bandit, uint64_t id)
{
    bandit_reward(bandit, id, (double)(id * id % 5) / 4);
}

/* Decision number t, and the rewards that are due then, the last decision's first. */
static ee_decision play_round(ee_bandit *bandit, uint64_t t)
{
    ee_decision made = bandit_choose(bandit, arms_of_round(t), NULL);
    assert_int_equal(made.id, t);
    for (uint64_t late = 0; late <= MOST_LATE && late < t; late++)
        if (comes(t - late) && delay_of(t - late) == late) learn(bandit, t - late);
    return made;
}

/* Saved at any time, with decisions that were told of, one that was not, and some whose reward never comes. */
TEST(a_loaded_bandit_goes_on_to_the_byte)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        for (uint64_t saved_after = 1; saved_after < 20; saved_after += 6) {
            ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options);
            for (uint64_t t = 1; t <= saved_after; t++) play_round(bandit, t);
            bandit_choose(bandit, arms_of_round(saved_after + 1), NULL); /* waits untold */
            model saved = model_save(bandit);
            ee_bandit *loaded = model_load(saved);
            if (!model_is_of(saved, loaded)) fail_msg("%s %s: loaded and saved", c.name, c.options);
            for (uint64_t t = saved_after + 2; t <= saved_after + 14; t++) {
                ee_decision own = play_round(bandit, t), its = play_round(loaded, t);
                assert_int_equal(own.arm, its.arm);
            }
            model later = model_save(bandit);
            if (!model_is_of(later, loaded))
                fail_msg("%s %s: saved after %d, does not go on the same", c.name, c.options, (int)saved_after);
            model_free(&saved);
            model_free(&later);
            ee_bandit_free(bandit);
            ee_bandit_free(loaded);
        }
    }
}

static bool parameters_equal(const parameters *a, const parameters *b)
{
    size_t recalled = recall_count(a->policy->recalled_arms) * sizeof *a->recalled;
    return a->round == b->round && a->changes == b->changes && memcmp(&a->length, &b->length, sizeof a->length) == 0 &&
           a->centre == b->centre && a->spread == b->spread &&
           memcmp(a->values, b->values, a->count * sizeof *a->values) == 0 &&
           (!recalled || memcmp(a->recalled, b->recalled, recalled) == 0);
}

/* The scores of the bandit and of the snapshot, both drawing as the seed says, are the same. */
static void assert_scores_alike(ee_bandit *bandit, const ee_snapshot *snapshot, ee_scratch *room, uint64_t seed)
{
    ee_score own[ARMS], its[ARMS];
    const ee_arms *arms = arms_of_round(seed);
    decision_streams before = bandit->room->streams;
    bandit->room->streams = decision_streams_of(seed);
    ok(ee_bandit_score(bandit, arms, own, NULL));
    bandit->room->streams = before;
    ee_scratch_seed(room, seed);
    ok(ee_snapshot_score(snapshot, room, arms, its, NULL));
    assert_memory_equal(own, its, sizeof own);
}

/* Published now and then, after more and more rounds: with what waits it decides as the bandit will. */
TEST(a_snapshot_knows_of_what_waits)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options);
        ee_snapshot *snapshot = NULL;
        ee_scratch *room = NULL;
        ok(ee_snapshot_create(bandit, &snapshot, NULL));
        ok(ee_scratch_create(snapshot, 1, &room, NULL));
        for (uint64_t t = 1, pause = 1; t <= ROUNDS; pause = pause % 5 + 1) {
            for (uint64_t k = 0; k < pause && t <= ROUNDS; k++) play_round(bandit, t++);
            ok(ee_snapshot_update(snapshot, bandit, NULL));
            const parameters *published = &snapshot->copies[snapshot->gate->published];
            if (!parameters_equal(published, &bandit->policy->parameters))
                fail_msg("%s %s: after decision %d", c.name, c.options, (int)t - 1);
            assert_scores_alike(bandit, snapshot, room, t);
        }
        ee_scratch_free(room);
        ee_snapshot_free(snapshot);
        ee_bandit_free(bandit);
    }
}
