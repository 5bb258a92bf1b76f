/* The memory of arms in policies: what is expected of an arm without its past is the policy's own score, and it is that
 * which the past is held against, and which it makes better. */
#include "neural_play.h"

#include "policy/parts/recall.h"

enum { ARMS = 6, SHOWN = 3, DIM = 8, ROOM = 64, PLAYED = 120, LATE = 4 };

static round_arms every_arm; /* that there is: the same few come again and again */

/* A round of some of them. */
static ee_arms show(random_stream *draw, float *values)
{
    for (size_t i = 0; i < SHOWN; i++)
        memcpy(values + i * DIM, every_arm.values + (size_t)random_below(draw, ARMS) * DIM, DIM * sizeof *values);
    return ee_arms_dense(values, SHOWN, DIM);
}

/* A decision for an arm that the test chooses, which waits for its reward. */
typedef struct decided {
    observation seen;
    float x[DIM], kept[512];
} decided;

static void decide(ee_bandit *bandit, const ee_arms *arms, size_t arm, ee_score *scores, decided *made)
{
    const policy *own = bandit->policy;
    const policy_class *class = own->class;
    uint64_t round = own->parameters.round;
    ok(scratch_reserve(&bandit->room->scratch, &bandit->memory, policy_scratch_count(own, arms->count), &last_error));
    policy_score(&own->parameters, arms, &bandit->room->scratch, scores);
    size_t count = policy_kept_count(own, round, arms->count);
    assert_true(count <= sizeof made->kept / sizeof *made->kept);
    if (count) class->keep(&own->parameters, arms, arm, &bandit->room->scratch, made->kept);
    memcpy(made->x, arms->values + arm * DIM, sizeof made->x);
    made->seen = (observation){
        .round = round, .x = vector_dense(made->x, DIM), .score = scores[arm], .kept = made->kept, .kept_count = count};
}

static void learn(ee_bandit *bandit, const decided *made, float reward)
{
    ok(policy_reserve(bandit->policy, &made->seen, &last_error));
    assert_true(policy_learn(bandit->policy, &made->seen, reward));
}

/* A policy with a memory of arms beside one without, which play the same, and a memory of the test's own. Rewards come
 * late, so that some arms come again before any reward did. */
static void check_memory(const char *name, const char *options)
{
    char with[128], without[128];
    snprintf(with, sizeof with, "%s recall=%d%s", options, ROOM, strcmp(name, "eenet") ? "" : " recall_width=0");
    snprintf(without, sizeof without, "%s recall=0", options);
    auto_bandit *self = bandit_make(name, DIM, 3, with), *plain = bandit_make(name, DIM, 3, without);
    auto_free float *past = calloc(recall_count(ROOM), sizeof *past);
    float largest = 0;
    slope weights[RECALL_CLASSES] = {{0}};
    random_stream draw = random_named(2, "rounds");
    static decided made[PLAYED], same[PLAYED];
    round_draw(&every_arm, 7, ARMS, DIM, DIM);
    for (size_t t = 0; t < PLAYED; t++) {
        ee_score scores[SHOWN], plain_scores[SHOWN];
        float values[SHOWN * DIM];
        ee_arms arms = show(&draw, values);
        decide(self, &arms, t % SHOWN, scores, &made[t]);
        decide(plain, &arms, t % SHOWN, plain_scores, &same[t]);
        for (size_t i = 0; i < SHOWN; i++) {
            float expected =
                self->policy->class->expected_reward ? plain_scores[i].score : plain_scores[i].exploitation;
            float beyond = plain_scores[i].score - expected; /* a width or a draw is no expectation */
            float recalled = recall_expect(past, ROOM, vector_of_arm(&arms, i), (arm_id){0, false}, expected);
            assert_true(scores[i].exploitation == plain_scores[i].exploitation);
            assert_true(scores[i].exploration == plain_scores[i].exploration);
            assert_close(scores[i].score, recalled + beyond, 1e-5);
            largest = fmaxf(largest, fabsf(recalled - expected));
        }
        if (t < LATE) continue;
        const decided *of = &same[t - LATE];
        float reward = 5 + 3 * of->x[0] + 0.2f * (float)random_normal(&draw);
        learn(self, &made[t - LATE], reward);
        learn(plain, of, reward);
        const parameters *learned = &plain->policy->parameters;
        float expected = of->seen.score.exploitation;
        if (self->policy->class->expected_reward) expected += of->seen.score.exploration;
        if (of->seen.round == 0) expected += (float)learned->centre; /* of which it could not know */
        recall_sample sample = {of->seen.x, of->seen.id, expected, reward, learned->spread};
        recall_add(past, ROOM, &sample, weights);
    }
    if (largest < 0.05f) fail_msg("%s %s: the past had no say", name, options);
}

TEST(the_past_is_held_against_the_score)
{
    check_memory("eenet", "f1.width=6 w2=1");
    check_memory("eenet", "f1.width=6 w2=1 label=abs");
    check_memory("eenet", "f1.width=6 w2=1 f1.heads=2");
    check_memory("eenet", "f1.width=6 w2=1 standardize=off");
    check_memory("greedy", "f1.width=6");
    check_memory("neural-ucb", "f1.width=6");
    /* Small networks: a regression on many units learns six arms by heart, and the past would have nothing to add. */
    check_memory("neural-linucb", "f1.width=6 f1.deep_width=6");
    check_memory("linucb", "");
}

/* What f3 says as a network is no reward: there is nothing to hold a past against. */
TEST(a_neural_f3_has_no_memory)
{
    const char *kinds[] = {"neural", "hybrid", "linear"};
    for (size_t i = 0; i < 3; i++) {
        char options[64];
        snprintf(options, sizeof options, "f1.width=6 decision=%s", kinds[i]);
        auto_bandit *bandit = bandit_make("eenet", DIM, 3, options);
        assert_int_equal(bandit->policy->recalled_arms > 0, i == 2);
    }
    /* Nor has EE-Net as the paper or its authors have it, whatever f3 is. */
    auto_bandit *paper = bandit_make("eenet:paper", DIM, 3, "f1.width=6 f2.width=6 decision=linear");
    auto_bandit *authors = bandit_make("eenet:authors", DIM, 3, "f1.width=6 f2.width=6 f2.front=none");
    assert_int_equal(paper->policy->recalled_arms, 0);
    assert_int_equal(authors->policy->recalled_arms, 0);
}
