/* No event is scored with what was learned from it: every prediction is compared with that of models which the test
 * itself feeds, one call to predict and a later one to learn, with the events that each mode allows. */

#include "base/random.h"
#include "data/support_sets.h"
#include "evaluate/candidates/reward_model.h"
#include "evaluation_trial.h"
#include "support_files.h"
#include "support_logs.h"

enum { ARMS = 3, ROUNDS = 300, FOLDS = 3, SEED = 11, LEARNED = 120 };

static const char policy_options[] = "propensity=floor propensity_epsilon=0.2";

static char log_path[80];

/* The log, in memory. */
static struct {
    size_t dim;
    float *vectors; /* (ROUNDS, ARMS, dim) */
    log_event events[ROUNDS];
    double probabilities[ROUNDS][ARMS];
} all;

static void read_all(void)
{
    auto_log_reader *log;
    log_event event;
    bool found;
    log_options options = log_options_usual();
    ok(log_open(log_path, &options, &log, NULL));
    all.dim = log_dim(log);
    all.vectors = calloc(ROUNDS * ARMS * all.dim, sizeof *all.vectors);
    for (size_t i = 0; !log_next(log, &event, &found, &last_error) && found; i++) {
        float *into = all.vectors + i * ARMS * all.dim;
        assert_int_equal(event.count, ARMS);
        for (size_t k = 0; k < ARMS; k++)
            for (size_t j = 0; j < all.dim; j++) into[k * all.dim + j] = event.arms.values[k * all.dim + j];
        memcpy(all.probabilities[i], event.probabilities, sizeof all.probabilities[i]);
        all.events[i] = event;
        all.events[i].probabilities = all.probabilities[i];
        all.events[i].actions = NULL;
        all.events[i].arms = ee_arms_dense(into, ARMS, all.dim);
    }
}

static int set_up(void **state)
{
    folder_enter(state);
    snprintf(log_path, sizeof log_path, "%s", folder_path(&here, "log.eelog"));
    make_log(&(made_log){.path = log_path,
                         .dataset = "synthetic:inner,arms=3,dim=4,noise=0.5",
                         .seed = 1,
                         .rounds = ROUNDS,
                         .floor = 0.6,
                         .scale = 1.0},
             NULL, NULL);
    read_all();
    return 0;
}

static int tear_down(void **state)
{
    free(all.vectors);
    return folder_leave(state);
}

/* A candidate with the models of its fold. */
typedef struct copy {
    ee_bandit *policy; /* NULL: uniform */
    ee_bandit *f1;     /* the shared reward model: this, or shared */
    reward_model *shared, *own;
    double low, high; /* of the rewards learned so far */
} copy;

static ee_bandit *make_bandit(const char *policy, const char *options, uint64_t seed)
{
    ee_bandit *bandit;
    ee_settings settings = {.policy = policy, .dim = all.dim, .seed = seed, .options = options};
    ok(ee_bandit_create(&settings, &bandit, NULL));
    return bandit;
}

static copy make_copy(bool learns, reward_model_kind kind)
{
    copy self = {.low = INFINITY, .high = -INFINITY};
    candidate_setup setup = {.text = "", .seed = SEED, .dim = all.dim};
    if (learns) self.policy = make_bandit("linucb", policy_options, 0);
    if (kind == REWARD_MODEL_F1) self.f1 = make_bandit("greedy", "", SEED);
    if (kind == REWARD_MODEL_RIDGE) ok(reward_model_create(REWARD_MODEL_RIDGE, &setup, &self.shared, NULL));
    ok(reward_model_create(REWARD_MODEL_RIDGE, &setup, &self.own, NULL));
    return self;
}

static void free_copy(copy *self)
{
    ee_bandit_free(self->policy);
    ee_bandit_free(self->f1);
    reward_model_free(self->shared);
    reward_model_free(self->own);
}

static void find_pi(const copy *self, size_t i, double pi[ARMS])
{
    for (size_t k = 0; k < ARMS; k++) pi[k] = 1.0 / ARMS;
    if (self->policy) ok(ee_bandit_probabilities(self->policy, &all.events[i].arms, pi, NULL));
}

static void predict(const copy *self, size_t i, double q[ARMS], double own_q[ARMS])
{
    candidate_round round = {.event = &all.events[i], .number = i};
    ee_score scores[ARMS];
    if (self->f1) ok(ee_bandit_score(self->f1, &all.events[i].arms, scores, NULL));
    for (size_t k = 0; self->f1 && k < ARMS; k++) q[k] = (double)scores[k].exploitation;
    if (self->shared) ok(reward_model_play(self->shared, &round, 0.0, q, NULL));
    for (size_t k = 0; self->low <= self->high && k < ARMS; k++) q[k] = fmin(self->high, fmax(self->low, q[k]));
    ok(reward_model_play(self->own, &round, 0.0, own_q, NULL));
}

static void learn(copy *self, size_t i)
{
    const log_event *event = &all.events[i];
    candidate_round round = {.event = event, .number = i};
    double pi[ARMS], p = event->probability;
    find_pi(self, i, pi);
    double chosen = pi[event->action], weight = chosen * chosen * (1.0 - p) / (p * p); /* of MRDR's paper */
    ee_bandit *learning[] = {self->policy, self->f1};
    for (size_t k = 0; k < 2; k++)
        if (learning[k]) ok(ee_bandit_learn_from(learning[k], &event->arms, event->action, event->reward, NULL));
    if (self->shared) ok(reward_model_play(self->shared, &round, 1.0, NULL, NULL));
    ok(reward_model_play(self->own, &round, weight, NULL, NULL));
    self->low = fmin(self->low, event->reward);
    self->high = fmax(self->high, event->reward);
}

static void freeze(copy *self)
{
    if (self->shared) ok(reward_model_freeze(self->shared, NULL));
    ok(reward_model_freeze(self->own, NULL));
}

/* Sums of the terms of IPS, DM, DR and MRDR. */
enum { ESTIMATES = 4 };
typedef struct sums {
    double terms[ESTIMATES];
    size_t count;
} sums;

static void score(sums *into, const copy *by, size_t i)
{
    const log_event *event = &all.events[i];
    double pi[ARMS], q[ARMS], own_q[ARMS], direct = 0.0, own_direct = 0.0;
    find_pi(by, i, pi);
    predict(by, i, q, own_q);
    for (size_t k = 0; k < ARMS; k++) {
        direct += pi[k] * q[k];
        own_direct += pi[k] * own_q[k];
    }
    double weight = pi[event->action] / event->probability, reward = event->reward;
    into->terms[0] += weight * reward;
    into->terms[1] += direct;
    into->terms[2] += direct + weight * (reward - q[event->action]);
    into->terms[3] += own_direct + weight * (reward - own_q[event->action]);
    into->count++;
}

static sums replay_progressively(bool learns, reward_model_kind kind)
{
    sums found = {.count = 0};
    RELEASED_BY(free_copy) copy one = make_copy(learns, kind);
    for (size_t i = 0; i < ROUNDS; i++) {
        score(&found, &one, i);
        learn(&one, i);
    }
    return found;
}

static sums replay_split(bool learns, reward_model_kind kind)
{
    sums found = {.count = 0};
    RELEASED_BY(free_copy) copy one = make_copy(learns, kind);
    for (size_t i = 0; i < LEARNED; i++) learn(&one, i);
    freeze(&one);
    for (size_t i = LEARNED; i < ROUNDS; i++) score(&found, &one, i);
    return found;
}

/* The fold of an event depends on the seed and its number alone. */
static size_t fold_of(size_t i)
{
    random_stream stream = random_named(SEED * UINT64_C(0x9e3779b97f4a7c15) + i, "fold");
    return (size_t)random_below(&stream, FOLDS);
}

static sums replay_folds(bool learns, reward_model_kind kind)
{
    sums found = {.count = 0};
    copy folds[FOLDS];
    size_t counts[FOLDS] = {0};
    for (size_t f = 0; f < FOLDS; f++) {
        folds[f] = make_copy(learns, kind);
        for (size_t i = 0; i < ROUNDS; i++)
            if (fold_of(i) != f) learn(&folds[f], i);
        freeze(&folds[f]);
    }
    for (size_t i = 0; i < ROUNDS; i++) {
        score(&found, &folds[fold_of(i)], i);
        counts[fold_of(i)]++;
    }
    for (size_t f = 0; f < FOLDS; f++) {
        assert_in_range(counts[f], ROUNDS / FOLDS - 40, ROUNDS / FOLDS + 40);
        free_copy(&folds[f]);
    }
    return found;
}

static void check(evaluation_mode mode, reward_model_kind kind)
{
    static sums (*const replays[])(bool, reward_model_kind) = {[EVALUATION_PROGRESSIVE] = replay_progressively,
                                                               [EVALUATION_SPLIT] = replay_split,
                                                               [EVALUATION_CROSS] = replay_folds};
    RELEASED_BY(trial_end) trial t = {0};
    trial_ask(&t, log_path, "uniform,linucb", "ips,dm,dr,mrdr");
    t.candidates[1].options = policy_options;
    t.request.mode = mode;
    t.request.split = LEARNED;
    t.request.folds = FOLDS;
    t.request.model = kind;
    t.request.seed = SEED;
    trial_run(&t);
    for (size_t i = 0; i < 2; i++) {
        sums expected = replays[mode](i == 1, kind);
        assert_int_equal(t.results[i].log.events, expected.count);
        for (size_t k = 0; k < ESTIMATES; k++) {
            double value = expected.terms[k] / (double)expected.count, found = t.results[i].estimates[k].value;
            if (!(fabs(found - value) <= 1e-7))
                fail_msg("estimator %zu of %s: %.9g; expected %.9g", k, t.candidates[i].text, found, value);
        }
    }
}

TEST_WITH(progressive_scores_before_it_learns, set_up, tear_down)
{
    check(EVALUATION_PROGRESSIVE, REWARD_MODEL_RIDGE);
    check(EVALUATION_PROGRESSIVE, REWARD_MODEL_F1);
}

TEST_WITH(split_learns_the_first_part_alone, set_up, tear_down)
{
    check(EVALUATION_SPLIT, REWARD_MODEL_RIDGE);
    check(EVALUATION_SPLIT, REWARD_MODEL_F1);
}

TEST_WITH(folds_learn_the_others, set_up, tear_down)
{
    check(EVALUATION_CROSS, REWARD_MODEL_RIDGE);
    check(EVALUATION_CROSS, REWARD_MODEL_F1);
}
