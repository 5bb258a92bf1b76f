/* f3: the weighted sum, the network, when the one follows the other, and what the network learns. */
#include "eenet_parts.h"

enum { ARMS = 7, SEED = 3 };

/* A decision maker, with room and parameters that end at a wall. */
typedef struct made {
    memory owner;
    decision_maker f3;
    float *theta3, *room;
    guard theta3_end, room_end;
} made;

static void make(made *self, const char *options, double offset)
{
    eenet_options o = eenet_options_from(options);
    memset(self, 0, sizeof *self);
    ok(decision_maker_create(&self->f3, &self->owner, &o.decision, offset, SEED, SIZE_MAX, &last_error));
    self->theta3 = guard_end(&self->theta3_end, decision_maker_theta_count(&self->f3));
    self->room = guard_end(&self->room_end, decision_maker_scratch_count(&self->f3));
    learner_start(&self->f3.f3, self->theta3);
}

static void release(made *self)
{
    guard_free(&self->theta3_end);
    guard_free(&self->room_end);
    memory_release(&self->owner);
}

static void draw_scores(ee_score *scores, size_t count, uint64_t seed)
{
    random_stream draw = random_named(seed, "scores");
    for (size_t i = 0; i < count; i++)
        scores[i] = (ee_score){(float)random_normal(&draw), (float)random_normal(&draw), NAN};
}

/* What f3 makes of arms after so many rewards, whatever their scores were. */
static void score(const made *self, uint64_t round, ee_score *scores)
{
    draw_scores(scores, ARMS, 1);
    decision_maker_score(&self->f3, self->theta3, round, self->room, scores, ARMS);
}

static void assert_linear(const made *self, uint64_t round, double w1, double w2)
{
    ee_score scores[ARMS];
    score(self, round, scores);
    for (size_t i = 0; i < ARMS; i++)
        assert_close(scores[i].score, w1 * scores[i].exploitation + w2 * scores[i].exploration, 1e-6);
}

/* The network f3 computed plainly, of layers 2 x 4, 4 x 4 and 4 x 1: weights lie as (in, out), then the biases. */
static double pass_plainly(const float *theta, double f1, double f2)
{
    enum { WIDTH = 4 };
    double in[WIDTH] = {f1, f2}, out[WIDTH];
    const size_t dims[] = {2, WIDTH, WIDTH, 1};
    for (size_t l = 0; l < 3; l++) {
        const float *biases = theta + dims[l] * dims[l + 1];
        for (size_t j = 0; j < dims[l + 1]; j++) {
            out[j] = biases[j];
            for (size_t i = 0; i < dims[l]; i++) out[j] += in[i] * theta[i * dims[l + 1] + j];
            if (l < 2) out[j] = fmax(out[j], 0);
        }
        memcpy(in, out, sizeof in);
        theta = biases + dims[l + 1];
    }
    return in[0];
}

#define NETWORK "f3.layers=3 f3.width=4 f3.bias=on "

static void assert_neural(const made *self, uint64_t round, double offset)
{
    ee_score scores[ARMS];
    score(self, round, scores);
    for (size_t i = 0; i < ARMS; i++) {
        double expected = pass_plainly(self->theta3, scores[i].exploitation, scores[i].exploration + offset);
        assert_close(scores[i].score, expected, 1e-5);
    }
}

/* ---- deciding ---- */

TEST(linear_is_the_weighted_sum_in_which_f2_weighs_less_later)
{
    RELEASED_BY(release) made self, other;
    make(&self, "decision=linear w1=0.5 w2=-2", 0);
    for (uint64_t round = 0; round < 2000; round += 400) assert_linear(&self, round, 0.5, -2);
    make(&other, "decision=linear w1=1 w2=3", 1); /* the offset is of f2's labels, and none of the sum's business */
    assert_linear(&other, 0, 1, 3);
    /* f2 weighs less after exactly w2_late_after rewards. */
    RELEASED_BY(release) made late, never;
    make(&late, "decision=linear w1=1 w2=2 w2_late=0.25 w2_late_after=10", 0);
    make(&never, "decision=linear w1=1 w2=2 w2_late=0.25 w2_late_after=0", 0);
    for (uint64_t round = 0; round < 20; round++) {
        assert_linear(&late, round, 1, round < 10 ? 2 : 0.25);
        assert_linear(&never, round, 1, 2);
    }
}

/* f2's output comes without the offset of its labels; f3 as a network sees it with it, as f2 learned it. */
TEST(neural_is_the_network_of_f1_and_f2)
{
    RELEASED_BY(release) made self, offset;
    make(&self, NETWORK "decision=neural w2_late_after=1", 0);
    assert_neural(&self, 0, 0);
    assert_neural(&self, 1000, 0);
    make(&offset, NETWORK "decision=neural", 1.5);
    assert_neural(&offset, 0, 1.5);
    /* Rounds 1 to hybrid_after are decided linearly: those before which there were fewer rewards. */
    RELEASED_BY(release) made hybrid;
    make(&hybrid, NETWORK "decision=hybrid hybrid_after=6 w1=2 w2=3", 0.5);
    for (uint64_t round = 0; round < 12; round++) {
        if (round < 6)
            assert_linear(&hybrid, round, 2, 3);
        else
            assert_neural(&hybrid, round, 0.5);
    }
}

/* ---- p_t ---- */

static void assert_optimal(const char *options, const double (*expected)[2], size_t count)
{
    RELEASED_BY(release) made self;
    make(&self, options, 0);
    for (size_t i = 0; i < count; i++)
        assert_close((double)decision_maker_optimal(&self.f3, expected[i][0]), expected[i][1], 1e-6);
}

TEST(optimal_is_as_its_kind_says)
{
    const double binary[][2] = {{-1, 0}, {0, 0}, {4.999, 0}, {5, 1}, {6, 1}};
    assert_optimal("optimal=binary reward_low=-3 reward_high=5", binary, 5);
    const double range[][2] = {{-4, 0}, {-3, 0}, {-1, 0.25}, {1, 0.5}, {4, 0.875}, {5, 1}, {9, 1}};
    assert_optimal("optimal=range reward_low=-3 reward_high=5", range, 7);
    const double threshold[][2] = {{-1, 0}, {0.7, 0}, {0.7001, 1}, {9, 1}};
    assert_optimal("optimal=threshold reward_threshold=0.7", threshold, 4);
}
