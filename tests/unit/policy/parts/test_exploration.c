/* Both kinds of f2 through their interface: the room that they ask for; and EE-Net as a whole against its parts, played
 * one by one. */
#include "eenet_parts.h"

#include "engine/bandit.h"

#define NETWORK "scale=off f1.width=6 exploration=network f2.width=5 "
#define LLE NETWORK "features=lle:2 lle_window=8 lle_neighbors=4 "
#define REGRESSION "scale=off f1.width=6 exploration=ridge "

static const char *const variants[] = {
    NETWORK "features=normalized",
    NETWORK "features=pooled:5",
    NETWORK "features=pooled:2 f2.front=conv1d:2:3", /* phi comes as a product */
    NETWORK "features=sketch:5 label_offset=1 label=abs",
    NETWORK "features=sketch:5 extra_until=1000",
    NETWORK "features=normalized extra_until=12 label_offset=-0.5 extra_gain=2 label=relu",
    NETWORK "features=pooled:3 f1.front=conv1d:2:3+relu",
    NETWORK "features=sketch:4 f1.layers=3 blocks=3",
    LLE,
    LLE "extra_until=1000",
    REGRESSION "",
    REGRESSION "units=3 refresh=0 recent_units=2",
    REGRESSION "blocks=3 recent_units=0 ridge=0.5",
    REGRESSION "blocks=2 label=relu f1.layers=3",
    REGRESSION "label=abs prior_gain=-1",
    REGRESSION "train_every=3 width=0",
    REGRESSION "standardize=off",
    REGRESSION "decision=neural f3.width=4 optimal=threshold",
    NETWORK
    "features=sketch:5 extra_until=1000 label_offset=1 decision=hybrid hybrid_after=7 f3.width=4 optimal=binary "
    "reward_high=2",
};
enum { VARIANTS = sizeof variants / sizeof *variants, ARMS = 5 };

static round_arms round_now;

static const ee_arms *draw(const parts *self, uint64_t number, size_t count, bool sparse)
{
    parts_draw(self, &round_now, number, count);
    return sparse ? &round_now.sparse : &round_now.dense;
}

/* Rounds first to last, each rewarded at once. */
static void play(parts *self, uint64_t first, uint64_t last)
{
    ee_score scores[ARMS];
    parts_decision made;
    for (uint64_t t = first; t <= last; t++) {
        const ee_arms *arms = draw(self, t, ARMS, t % 2);
        size_t arm = (size_t)(t % ARMS);
        parts_decide(self, arms, arm, &made, scores);
        double reward = round_reward(&round_now, arm);
        parts_observe(self, &made, (float)reward);
        parts_train(self);
    }
}

/* However many pass together, an arm's score is the one that it has by itself. */
static void assert_alone(const parts *self, const ee_arms *arms, size_t arm, ee_score together)
{
    vector x = vector_of_arm(arms, arm);
    size_t starts[] = {0, x.count};
    ee_arms one = ee_arms_dense(x.values, 1, PARTS_DIM);
    if (arms->starts) one = ee_arms_sparse(starts, x.indices, x.values, 1, PARTS_DIM);
    RELEASED_BY(guard_free) guard end;
    ee_score alone;
    parts_score(self, &one, &end, &alone);
    assert_true(isfinite(together.exploitation) && isfinite(together.exploration));
    assert_close(together.exploitation, alone.exploitation, 1e-5);
    assert_close(together.exploration, alone.exploration, 1e-5);
}

/* The room begins as NaNs and ends at a wall: what is read before it is written, or beyond, shows. */
TEST(the_room_that_is_asked_for_is_enough)
{
    const size_t counts[] = {1, 2, 15, 16, 17, 33};
    for (size_t v = 0; v < VARIANTS; v++) {
        RELEASED_BY(parts_free) parts self;
        parts_make(&self, variants[v]);
        for (size_t c = 0; c < 2 * sizeof counts / sizeof *counts; c++) {
            ee_score scores[33];
            RELEASED_BY(guard_free) guard end;
            const ee_arms *arms = draw(&self, 100 + c, counts[c / 2], c % 2);
            parts_score(&self, arms, &end, scores);
            for (size_t i = 0; i < arms->count; i++) assert_alone(&self, arms, i, scores[i]);
            if (c == 3) play(&self, 1, 10); /* the first embedding is fitted after 8 rewards */
        }
    }
}

enum { PLAYED = 30, LATE = 4 };

/* Every reward but each fifth comes at once; those come LATE rounds later. */
static bool is_late(uint64_t round)
{
    return round % 5 == 2;
}

static void learn_both(parts *self, ee_bandit *bandit, parts_decision *made, uint64_t id, float reward)
{
    parts_observe(self, made, reward);
    if (schedule_is_due(&self->f1.schedule, 1, self->round)) parts_train(self);
    bandit_reward(bandit, id, reward);
}

static void assert_same(const parts *self, const ee_bandit *bandit)
{
    const float *theta = bandit->policy->parameters.values;
    assert_memory_equal(self->theta1, theta, self->f1.f1.networks[0].parameter_count * sizeof *theta);
    theta += exploitation_end(&self->f1);
    assert_memory_equal(self->theta2, theta, self->f2->theta_count * sizeof *theta);
    theta += self->f2->theta_count;
    assert_memory_equal(self->theta3, theta, decision_maker_theta_count(&self->f3) * sizeof *theta);
}

/* The parts, played one by one with the arms that the bandit plays, come to its parameters to the bit. */
TEST(a_bandit_is_its_parts)
{
    for (size_t v = 0; v < VARIANTS; v++) {
        RELEASED_BY(parts_free) parts self;
        parts_decision made[PLAYED];
        ee_decision decided[PLAYED];
        float reward[PLAYED];
        parts_decision *late = NULL; /* the last one, where its reward has not come */
        parts_make(&self, variants[v]);
        auto_bandit *bandit = bandit_make("eenet", PARTS_DIM, PARTS_SEED, variants[v]);
        assert_same(&self, bandit);
        for (uint64_t t = 0; t < PLAYED; t++) {
            ee_score of_bandit[ARMS], of_parts[ARMS];
            const ee_arms *arms = draw(&self, t, ARMS, t % 2);
            if (late) parts_await(&self, late);
            decided[t] = bandit_choose(bandit, arms, of_bandit);
            parts_decide(&self, arms, decided[t].arm, &made[t], of_parts);
            for (size_t i = 0; i < ARMS; i++) {
                assert_true(of_bandit[i].exploitation == of_parts[i].exploitation);
                assert_true(of_bandit[i].exploration == of_parts[i].exploration);
                assert_true(of_bandit[i].score == of_parts[i].score);
            }
            reward[t] = 0.25f + (float)round_reward(&round_now, decided[t].arm);
            if (!is_late(t)) learn_both(&self, bandit, &made[t], decided[t].id, reward[t]);
            late = is_late(t) ? &made[t] : NULL;
            if (t >= LATE && is_late(t - LATE))
                learn_both(&self, bandit, &made[t - LATE], decided[t - LATE].id, reward[t - LATE]);
            assert_same(&self, bandit);
        }
        for (uint64_t t = PLAYED - LATE; t < PLAYED; t++)
            if (is_late(t)) guard_free(&made[t].kept);
    }
}
