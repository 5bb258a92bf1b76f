/* What policies promise whatever their formula is: they solve problems, go on after loading as if they had never
 * stopped, and see sparse arms as dense ones. Options that the tests of the engine do not combine. */
#include "lab/runs/runner.h"
#include "neural_play.h"

static const struct {
    const char *name, *options, *problems[2];
    uint64_t rounds;
    double share; /* of uniform's regret, at most */
} solvers[] = {
    {"neural-ensemble", "f1.width=24 f1.deep_width=12", {"synthetic:cosine", "synthetic:quadratic"}, 800, 0.7},
    {"neural-ensemble:paper", "f1.width=24", {"synthetic:cosine", "synthetic:quadratic"}, 800, 0.7},
    {"neural-fastcb", "f1.width=24 f1.deep_width=12", {"synthetic:cosine", "synthetic:quadratic"}, 800, 0.7},
    {"neural-fastcb:paper", "f1.width=24", {"synthetic:cosine", "synthetic:quadratic"}, 800, 0.7},
    {"neural-ucb:paper", "f1.width=24", {"synthetic:cosine", "synthetic:quadratic"}, 800, 0.7},
    {"neural-ts:paper", "f1.width=24", {"synthetic:cosine", "synthetic:quadratic"}, 800, 0.7},
    {"neural-linear:paper", "f1.width=24", {"synthetic:cosine", "synthetic:quadratic"}, 800, 0.7},
    {"neural-linucb:paper", "f1.width=24", {"synthetic:cosine", "synthetic:quadratic"}, 800, 0.7},
    {"kernelucb", NULL, {"synthetic:cosine,dim=5", "synthetic:quadratic,dim=5"}, 300, 0.6},
    {"kernelts", NULL, {"synthetic:cosine,dim=5", "synthetic:quadratic,dim=5"}, 300, 0.6},
    {"linucb", NULL, {"synthetic:inner"}, 500, 0.4},
    {"lints", NULL, {"synthetic:inner"}, 500, 0.4},
    /* A shop of which each user wants other items: the popular ones are better than any. */
    {"ucb1", NULL, {"synthetic:clicks,blocks=on,arms=10,rate=0.2,dim=6"}, 1000, 0.95},
    {"thompson", NULL, {"synthetic:clicks,blocks=on,arms=10,rate=0.2,dim=6"}, 1000, 0.95},
};

static double regret_of(const dataset *data, const char *name, const char *options, uint64_t seed, uint64_t rounds)
{
    run_job job = {.data = data, .policy = name, .options = options, .seed = seed, .rounds = rounds};
    run_result result;
    ee_error error = {EE_OK, ""};
    if (runner_run(&job, NULL, &result, &error)) fail_msg("%s: %s", name, error.message);
    assert_true(result.finished);
    return result.regret;
}

/* On every seed, not on average. */
TEST(problems_are_solved)
{
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
        for (size_t k = 0; k < 2 && solvers[i].problems[k]; k++) {
            if (k == i % 2 && solvers[i].problems[1] && !test_long(0, 1)) continue;
            dataset *data;
            ok(dataset_open(solvers[i].problems[k], NULL, &data, &last_error));
            for (uint64_t seed = 0; seed < test_long(1, 3); seed++) {
                double own = regret_of(data, solvers[i].name, solvers[i].options, seed, solvers[i].rounds);
                double uniform = regret_of(data, "uniform", NULL, seed, solvers[i].rounds);
                if (own >= solvers[i].share * uniform)
                    fail_msg("%s on %s, seed %d: regret %.1f, uniform's is %.1f", solvers[i].name,
                             solvers[i].problems[k], (int)seed, own, uniform);
            }
            dataset_free(data);
        }
    }
}

/* Saved after `first` rounds and loaded, it plays on to the same bytes as the one that was not. */
static void check_continues(const char *name, const char *options, bool sparse, uint64_t first)
{
    enum { ARMS = 6, DIM = 12, MORE = 16 };
    static round_arms round;
    ee_bandit *bandit = bandit_make(name, DIM, 4, options), *unsaved = bandit_make(name, DIM, 4, options);
    bandit_play(bandit, 1, first, ARMS, sparse);
    bandit_play(unsaved, 1, first, ARMS, sparse);
    /* One decision waits for its reward while the model is saved. */
    round_draw(&round, first + 1, ARMS, DIM, 4);
    ee_decision waiting = bandit_choose(bandit, sparse ? &round.sparse : &round.dense, NULL);
    bandit_choose(unsaved, sparse ? &round.sparse : &round.dense, NULL);
    auto_model saved = model_save(bandit);
    ee_bandit *loaded = model_load(saved), *all[] = {bandit, loaded, unsaved};
    assert_true(model_is_of(saved, loaded));
    for (size_t i = 0; i < 3; i++) {
        bandit_play(all[i], first + 2, first + MORE, ARMS, sparse);
        bandit_reward(all[i], waiting.id, 1);
    }
    auto_model later = model_save(bandit);
    if (!model_is_of(later, loaded) || !model_is_of(later, unsaved)) fail_msg("%s %s goes on otherwise", name, options);
    for (size_t i = 0; i < 3; i++) ee_bandit_free(all[i]);
}

#define PARTS "scale=off f1.width=6 "
#define NETWORK PARTS "exploration=network f2.width=5 "
#define LLE NETWORK "features=lle:2 lle_window=8 lle_neighbors=4 "

TEST(loaded_ones_go_on)
{
    static const struct {
        const char *name, *options;
        uint64_t first;
    } cases[] = {
        {"linucb", "refresh=9", 0},
        {"linucb", "refresh=9", 13},
        {"lints", "refresh=9", 9},
        {"kernelucb", "max_contexts=30", 2},
        {"kernelts", "max_contexts=30", 29},
        {"kernelts", "max_contexts=30", 31},
        {"neural-ensemble", "f1.width=9", 30},
        {"neural-ensemble", "f1.width=9 decision=thompson members=4 blocks=2", 30},
        {"neural-ensemble:paper", "f1.width=9 f1.history=ring:10", 45},
        {"neural-ensemble:paper", "f1.width=9 f1.history=reservoir:10 f1.batch=1", 45},
        {"neural-fastcb", "f1.width=9", 30},
        {"neural-fastcb:paper", "f1.width=9 f1.history=ring:10", 45},
        {"neural-ucb:paper", "f1.width=6 covariance=diagonal", 12},
        {"neural-ts:paper", "f1.width=6 covariance=full", 12},
        {"neural-ucb:paper", "f1.width=5 f1.bias=off covariance=full f1.front=conv1d:2:3+relu", 12},
        {"neural-linear:paper", "f1.width=6 rebuild=0", 12},
        {"neural-linucb:paper", "f1.width=6 rebuild=5", 12},
        {"neural-linucb:paper", "f1.width=5 f1.bias=off rebuild=7 train_every=2 f1.history=reservoir:6", 12},
        {"greedy", "f1.width=7 f1.committee=2 f1.deep_width=5", 30},
        {"neural-ucb", "f1.width=3 f1.committee=4 f1.deep_width=6", 30},
        {"neural-linucb", "f1.width=5 f1.committee=3 f1.deep_width=5 blocks=2 f1.order=shuffle f1.steps=3", 30},
        {"eenet", "f1.width=5 f1.committee=3 f1.deep_width=5 blocks=2 f1.order=shuffle f1.steps=3", 30},
        {"eenet:paper", "f1.width=6 f2.width=6 f3.width=4 f1.steps=3 f2.steps=3 f3.steps=3 hybrid_after=12", 9},
        {"greedy", "f1.width=5 f1.lazy=on f1.average=6 f1.batch=4 f1.history=ring:9 f1.decay=0.1 scale=off", 30},
        {"greedy", "f1.width=5 f1.heads=2 f1.others=0.5 exclusive=on f1.lazy=on f1.history=all f1.batch=4", 30},
        {"greedy", "f1.layers=1 f1.committee=2 f1.deep_width=3 f1.batch=1 f1.steps=3 f1.order=shuffle", 30},
        {"greedy", "f1.width=5 f1.batch=1 f1.average=50 f1.history=reservoir:9 f1.optimizer=sgd", 30},
        {"eenet", NETWORK "features=pooled:2 f1.committee=3 f1.deep_width=4 keep=reservoir:5", 30},
        {"eenet", NETWORK "features=normalized extra_until=12 label_offset=-0.5 extra_gain=2 label=relu", 5},
        {"eenet", NETWORK "features=pooled:2 f2.front=conv1d:2:3", 13},
        {"eenet", NETWORK "features=sketch:4 f1.layers=3 blocks=3", 0},
        {"eenet", LLE "extra_until=1000", 5},
        {"eenet", LLE "extra_until=1000", 13},
        {"eenet", PARTS "units=3 refresh=0 recent_units=2", 13},
        {"eenet", PARTS "blocks=3 recent_units=0 ridge=0.5", 13},
        {"eenet", PARTS "label=abs prior_gain=-1 standardize=off", 5},
        {"eenet", PARTS "train_every=3 decision=neural f3.width=4 optimal=threshold", 13},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t sparse = i % 2; sparse < 2; sparse += test_long(2, 1))
            check_continues(cases[i].name, cases[i].options, sparse, cases[i].first);
}

/* The same rounds dense and sparse: the same scores but for rounding, while no training makes much of it. */
TEST(sparse_arms_are_as_dense_ones)
{
    enum { ARMS = 7, DIM = 24, ROUNDS = 40 };
    static const char *const cases[][2] = {
        {"neural-ensemble", "f1.width=9"},
        {"neural-fastcb", "f1.width=9"},
        {"neural-ucb:paper", "f1.width=9 nu=1 covariance=diagonal"},
        {"neural-ts:paper", "f1.width=9 nu=1 covariance=full"},
        {"neural-ucb:paper", "f1.layers=1 nu=1"},
        {"neural-linear:paper", "f1.width=9 nu=1"},
        {"neural-linucb:paper", "f1.width=5 f1.layers=3 f1.front=conv1d:2:3+relu alpha=1"},
    };
    static round_arms round;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        auto_bandit *dense = bandit_make(cases[k][0], DIM, 6, cases[k][1]),
                    *sparse = bandit_make(cases[k][0], DIM, 6, cases[k][1]);
        for (uint64_t t = 1; t <= ROUNDS; t++) {
            ee_score a[ARMS], b[ARMS];
            round_draw(&round, t, ARMS, DIM, 5);
            policy_play(dense, &round.dense, t % ARMS, (float)(t % 2), a);
            policy_play(sparse, &round.sparse, t % ARMS, (float)(t % 2), b);
            for (size_t i = 0; i < ARMS; i++) {
                assert_close(b[i].exploitation, a[i].exploitation, 1e-5);
                assert_close(b[i].exploration, a[i].exploration, 1e-5);
                assert_close(b[i].score, a[i].score, 1e-5);
            }
        }
    }
}
