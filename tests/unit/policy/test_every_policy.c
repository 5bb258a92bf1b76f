/* What policies promise whatever their formula is: they solve problems, and see sparse arms as dense ones. */
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
