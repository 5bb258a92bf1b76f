/* f2 as a network: what it keeps of a decision, what it learns from it, and embeddings that are fitted anew. */
#include "eenet_parts.h"

#define NETWORK "standardize=off scale=off f1.width=6 exploration=network f2.width=5 "

enum { ARMS = 4 };

static round_arms round_now;

/* The features that f2 makes of f1's gradients, made again. */
static gradient_features features_of(parts *self)
{
    gradient_features f;
    const network_exploration_options *o = &self->options.exploration.network;
    ok(gradient_features_create(&f, &self->owner, &o->features, &self->f1.f1.networks[0], &last_error));
    gradient_features_start(&f, PARTS_SEED);
    return f;
}

/* A learner that is f2's twin: the same name, options and seed, told its samples by the test. */
typedef struct twin {
    learner f2;
    float *theta;
    size_t size; /* of phi */
} twin;

static void make_twin(twin *self, parts *of, size_t size)
{
    ee_error error = {0};
    const learner_options *options = &of->options.exploration.network.f2;
    ee_status status = learner_create(&self->f2, &of->owner, "f2", options, size, size, PARTS_SEED, SIZE_MAX, &error);
    size_t count = self->f2.networks[0].parameter_count;
    if (!status) status = memory_create(&of->owner, &self->theta, count, sizeof *self->theta, &error);
    if (status) fail_msg("%s", error.message);
    self->size = size;
    learner_start(&self->f2, self->theta);
}

static void report(twin *self, const float *phi, double label)
{
    vector x = vector_dense(phi, self->size);
    ok(learner_reserve(&self->f2, 1, x, &last_error));
    learner_append(&self->f2, x, (float)label);
}

static void assert_same(const twin *self, const parts *of)
{
    assert_memory_equal(self->theta, of->theta2, self->f2.networks[0].parameter_count * sizeof *self->theta);
}

static void decide(parts *self, uint64_t number, size_t arm, parts_decision *made)
{
    ee_score scores[ARMS];
    parts_draw(self, &round_now, number, ARMS);
    parts_decide(self, &round_now.sparse, arm, made, scores);
}

enum { MOST = 256 }; /* floats of any array here */

/* phi of one arm by the gradient's factors, and its point. Both are (MOST). */
static void compute_phi(parts *self, const gradient_features *f, vector x, float *phi, float *point)
{
    const network *f1 = &self->f1.f1.networks[0];
    float activations[MOST], deltas[MOST], formed[MOST] = {0};
    gradient_factor factors[NETWORK_LAYERS];
    assert_true(f1->activation_count <= MOST && network_formed_count(f1) <= MOST);
    assert_true(f->workspace_count <= MOST && f->count <= MOST);
    network_forward(f1, self->theta1, x, activations);
    network_backward(f1, self->theta1, x, activations, 1, deltas);
    network_factors(f1, x, activations, deltas, formed, factors);
    gradient_features_compute(f, self->theta2 + self->f2->theta_count - f->parameter_count, factors, x, point, phi);
}

/* Of every arm that may be played: its own phi and point, and while there are extra samples phi of all others, in their
 * order. */
static void check_kept(const char *options, bool others)
{
    RELEASED_BY(parts_free) parts self;
    parts_make(&self, options);
    gradient_features f = features_of(&self);
    float phi[ARMS][MOST], points[ARMS][MOST];
    parts_draw(&self, &round_now, 3, ARMS);
    for (size_t i = 0; i < ARMS; i++) compute_phi(&self, &f, vector_of_arm(&round_now.sparse, i), phi[i], points[i]);
    for (size_t arm = 0; arm < ARMS; arm++) {
        parts_decision made;
        decide(&self, 3, arm, &made);
        assert_int_equal(made.seen.kept_count, (others ? ARMS : 1) * f.count + f.point_count);
        const float *kept = made.seen.kept;
        assert_memory_equal(kept, phi[arm], f.count * sizeof *kept);
        assert_memory_equal(kept + f.count, points[arm], f.point_count * sizeof *kept);
        kept += f.point_count;
        for (size_t i = 0; others && i < ARMS; i++)
            if (i != arm) assert_memory_equal(kept += f.count, phi[i], f.count * sizeof *kept);
        guard_free(&made.kept);
    }
}

TEST(phi_of_the_played_arm_is_kept_and_then_of_the_others)
{
    check_kept(NETWORK "features=sketch:7", false);
    check_kept(NETWORK "features=sketch:7 extra_until=1", true);
    check_kept(NETWORK "features=pooled:4 f1.layers=3 extra_until=1", true);
    check_kept(NETWORK "features=pooled:5 f1.front=conv1d:2:3+relu", false);
    check_kept(NETWORK "features=lle:2 lle_window=8 lle_neighbors=4", false);
    check_kept(NETWORK "features=lle:2 lle_window=8 lle_neighbors=4 extra_until=1", true);
    check_kept(NETWORK "features=sketch:7 f1.front=conv1d:2:3+relu extra_until=1", true);
}

/* The options, and what they mean in the test's terms. */
typedef struct variant {
    const char *options;
    int label; /* 0 gain, 1 abs, 2 relu */
    double offset, extra_gain;
    uint64_t extra_until;
} variant;

static const variant variants[] = {
    {NETWORK "features=sketch:7", 0, 0, 0, 0},
    {NETWORK "features=sketch:7 label=abs label_offset=0.5", 1, 0.5, 0, 0},
    {NETWORK "features=sketch:7 label=relu label_offset=-1 extra_gain=0.25 extra_until=15", 2, -1, 0.25, 15},
    {NETWORK "features=pooled:4 extra_gain=2 extra_until=1000", 0, 0, 2, 1000},
    {NETWORK "standardize=on features=sketch:7 label=abs label_offset=0.5", 1, 0.5, 0, 0},
    {NETWORK "standardize=on features=pooled:4 extra_gain=2 extra_until=1000", 0, 0, 2, 1000},
};

/* The spread of the rewards when this one is among them; where they are learned as they are, 1. */
static double spread_with(const parts *self, float reward)
{
    reward_units units = self->f1.base.units;
    (void)reward_units_take(&units, (double)reward);
    return reward_units_spread(&units);
}

/* What f1 said; before any reward, for want of a centre, the centre of the rewards with this one. */
static float predicted_with(const parts *self, const observation *o, float reward)
{
    reward_units units = self->f1.base.units;
    (void)reward_units_take(&units, (double)reward);
    return o->round || !units.on ? o->score.exploitation : (float)reward_units_centre(&units);
}

static double label_of(const variant *v, double spread, float reward, float predicted)
{
    float gain = spread > 0 ? (reward - predicted) / (float)spread : 0;
    if (v->label == 1) gain = fabsf(gain);
    if (v->label == 2) gain = fmaxf(gain, 0);
    return gain + (float)v->offset;
}

/* Tells a twin what a reward is to teach: the played arm's gain, and of an arm that was not the best that every other
 * one deserved to be tried. Whether it does is a matter of the reward's round, and of what was kept. Returns how many
 * samples that were. */
static size_t tell_reward(twin *reported, const variant *v, const parts *self, const parts_decision *made, float reward)
{
    const observation *o = &made->seen;
    size_t extra = self->round < v->extra_until && reward <= 0 ? o->kept_count / reported->size - 1 : 0;
    report(reported, o->kept, label_of(v, spread_with(self, reward), reward, predicted_with(self, o, reward)));
    for (size_t i = 1; i <= extra; i++) report(reported, o->kept + i * reported->size, v->extra_gain + v->offset);
    return 1 + extra;
}

/* After each training f2 is, to the bit, its twin. Some rewards come five rounds late. */
TEST(learns_the_gain_and_the_extra_samples)
{
    enum { PLAYED = 40, LATE = 5 };
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        RELEASED_BY(parts_free) parts self;
        twin reported;
        parts_decision made[PLAYED];
        float reward[PLAYED];
        parts_make(&self, variants[v].options);
        make_twin(&reported, &self, features_of(&self).count);
        assert_same(&reported, &self);
        for (size_t t = 0; t < PLAYED; t++) {
            decide(&self, t, t % ARMS, &made[t]);
            reward[t] = (float)round_reward(&round_now, t % ARMS);
            for (size_t turn = 0; turn < 2; turn++) {
                size_t of = turn ? t - LATE : t; /* each third waits */
                if (turn ? t < LATE || of % 3 : t % 3 == 0) continue;
                tell_reward(&reported, &variants[v], &self, &made[of], reward[of]);
                parts_observe(&self, &made[of], reward[of]);
                parts_train(&self);
                learner_train(&reported.f2, reported.theta);
                assert_same(&reported, &self);
            }
        }
        for (size_t t = PLAYED - LATE; t < PLAYED; t++)
            if (t % 3 == 0) guard_free(&made[t].kept);
    }
}

enum { K = 2, WINDOW = 8 };

/* By full descent f2 is a function of its samples, so it says what they are. */
#define LLE                                                                                                            \
    NETWORK "features=lle:2 lle_window=8 lle_neighbors=4 extra_gain=0.25 extra_until=1000 label_offset=0.5 "           \
            "f2.training=gd f2.history=all f2.optimizer=sgd f2.rate=0.01 f2.steps=3"

/* What the test knows of the last rewards. */
typedef struct window {
    float points[WINDOW][MOST];
    double labels[WINDOW];
} window;

static const variant of_lle = {LLE, 0, 0.5, 0.25, 1000};

static const float *fitted_in(const parts *self, const gradient_features *f)
{
    return self->theta2 + self->f2->theta_count - f->parameter_count;
}

/* Takes in a reward, trains, and notes both in the window. */
static void learn(parts *self, const gradient_features *f, window *w, parts_decision *made, float reward)
{
    size_t place = (size_t)(self->round % WINDOW);
    memcpy(w->points[place], made->seen.kept + K, f->point_count * sizeof(float));
    w->labels[place] = label_of(&of_lle, 1, reward, made->seen.score.exploitation);
    parts_observe(self, made, reward);
    parts_train(self);
}

static void play_lle(parts *self, const gradient_features *f, window *w, uint64_t until)
{
    while (self->round < until) {
        parts_decision made;
        uint64_t number = 100 + self->round;
        decide(self, number, number % ARMS, &made);
        learn(self, f, w, &made, (float)round_reward(&round_now, number % ARMS));
    }
}

/* Right after a fit f2's samples are the window, in its new coordinates. */
static void tell_window(twin *reported, const parts *self, const gradient_features *f, const window *w)
{
    const float *fitted = fitted_in(self, f);
    assert_true(fitted[0] == 1);
    learner_clear(&reported->f2);
    for (size_t i = 0; i < WINDOW; i++) {
        assert_memory_equal(fitted + 1 + i * f->point_count, w->points[i], f->point_count * sizeof(float));
        report(reported, gradient_features_embedding(f, fitted, i), w->labels[i]);
    }
}

static void assert_trained(twin *reported, const parts *self)
{
    learner_train(&reported->f2, reported->theta);
    assert_same(reported, self);
}

static void make_lle(parts *self, gradient_features *f, twin *reported)
{
    parts_make(self, LLE);
    *f = features_of(self);
    assert_int_equal(f->count, K);
    assert_true(f->point_count <= MOST);
    make_twin(reported, self, K);
}

/* After as many rewards as the window holds, and again after as many. */
TEST(f2_begins_anew_with_the_window_when_it_is_fitted)
{
    RELEASED_BY(parts_free) parts self;
    gradient_features f;
    twin reported;
    window w;
    make_lle(&self, &f, &reported);
    play_lle(&self, &f, &w, WINDOW - 1);
    assert_true(fitted_in(&self, &f)[0] == 0);
    for (uint64_t fits = 1; fits <= 3; fits++) {
        float before[K], after[K];
        play_lle(&self, &f, &w, fits * WINDOW - 1);
        memcpy(before, gradient_features_embedding(&f, fitted_in(&self, &f), 0), sizeof before);
        play_lle(&self, &f, &w, fits * WINDOW);
        memcpy(after, gradient_features_embedding(&f, fitted_in(&self, &f), 0), sizeof after);
        assert_memory_not_equal(before, after, sizeof before);
        tell_window(&reported, &self, &f, &w);
        assert_trained(&reported, &self);
    }
}

/* phi that was kept of a decision is in the coordinates of its time. When the reward comes after a fit, f2 learns phi
 * of the same gradient in those of now. Of the other arms no gradient was kept, and they are no samples. */
TEST(a_late_reward_is_learned_in_the_coordinates_of_now)
{
    RELEASED_BY(parts_free) parts self;
    gradient_features f;
    twin reported;
    window w;
    parts_decision before_any, before_last, fresh;
    float phi[K];
    make_lle(&self, &f, &reported);
    play_lle(&self, &f, &w, 3);
    decide(&self, 1, 0, &before_any); /* no embedding yet: phi is 0 */
    play_lle(&self, &f, &w, 2 * WINDOW - 1);
    decide(&self, 2, 1, &before_last);
    play_lle(&self, &f, &w, 2 * WINDOW);
    tell_window(&reported, &self, &f, &w);

    decide(&self, 3, 2, &fresh); /* the decision right after the fit */
    assert_int_equal(fresh.seen.kept_count, ARMS * K + f.point_count);
    const float *others = fresh.seen.kept + K + f.point_count;
    report(&reported, fresh.seen.kept, label_of(&of_lle, 1, 0, fresh.seen.score.exploitation));
    for (size_t i = 0; i + 1 < ARMS; i++) report(&reported, others + i * K, 0.25 + 0.5);
    learn(&self, &f, &w, &fresh, 0);
    assert_trained(&reported, &self);

    parts_decision *late[] = {&before_any, &before_last};
    for (size_t i = 0; i < 2; i++) {
        const observation *o = &late[i]->seen;
        gradient_features_map(&f, fitted_in(&self, &f), o->kept + K, phi);
        assert_memory_not_equal(phi, o->kept, sizeof phi);
        report(&reported, phi, label_of(&of_lle, 1, 0, o->score.exploitation));
        learn(&self, &f, &w, late[i], 0);
        assert_trained(&reported, &self);
    }

    play_lle(&self, &f, &w, 3 * WINDOW); /* the late ones are part of the next fit */
    tell_window(&reported, &self, &f, &w);
    assert_trained(&reported, &self);
}
