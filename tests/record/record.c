/* record: plays fixed short runs and prints a line for each: its name, its reward, a checksum of what was decided and
 * one of every score. Two builds that print the same lines decide the same to the last bit. Prints the kernels first,
 * since other instructions round otherwise. record.sh compares with the lines of an earlier build. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "bench/problem.h"

enum { ARMS = 10, DIFFERENT_ROUNDS = 150, SEED = 7 };
static const problem_shape shapes[] = {
    {"dense", ARMS, 20, 0, 1}, {"sparse", ARMS, 400, 12, 1}, {"blocks", ARMS, ARMS * 40, 12, ARMS}};
enum { DENSE, SPARSE, BLOCKS };

typedef struct run {
    const char *name, *policy, *options;
    int shape;
    size_t rounds;
    size_t delay; /* rounds until a reward comes; those of one delay come last first */
    bool reload;  /* saved and loaded in the middle */
} run;

static const char short_paper[] = "f1.steps=5 f2.steps=5 f3.steps=5";
static const char lle[] = "features=lle:4 lle_window=20 lle_neighbors=6 f2.front=none f2.decay=0";

static const run runs[] = {
    {"eenet", "eenet", NULL, DENSE, 400, 0, false},
    {"eenet-sparse", "eenet", NULL, SPARSE, 300, 0, true},
    {"eenet-blocks", "eenet", "blocks=10 exclusive=on", BLOCKS, 300, 0, false},
    {"eenet-late", "eenet", "refresh=3 recall=64", DENSE, 300, 17, true},
    {"eenet-ring", "eenet", "f1.history=ring:50", DENSE, 200, 3, true},
    {"eenet-all", "eenet", "f1.history=all label=abs", DENSE, 200, 0, true},
    {"eenet-convolution", "eenet", "blocks=10 f1.front=conv1d:4:5+relu f1.width=30 units=20", BLOCKS, 100, 0, false},
    {"eenet-fast", "eenet:fast", NULL, DENSE, 300, 5, true},
    {"eenet-fast-blocks", "eenet:fast", "blocks=10 exclusive=on", BLOCKS, 200, 0, false},
    {"eenet-paper", "eenet:paper", short_paper, DENSE, 60, 0, true},
    {"eenet-paper-sparse", "eenet:paper", short_paper, SPARSE, 30, 4, false},
    {"eenet-paper-neural", "eenet:paper", "decision=neural extra_until=20 f1.steps=5 f2.steps=5 f3.steps=5", DENSE, 40,
     0, true},
    {"eenet-reservoir", "eenet:paper", "keep=reservoir:5 f1.steps=3 f2.steps=3 f3.steps=3 hybrid_after=10", DENSE, 40,
     2, true},
    {"eenet-authors", "eenet:authors", NULL, DENSE, 60, 0, true},
    {"eenet-authors-sparse", "eenet:authors", NULL, SPARSE, 25, 3, false},
    {"eenet-authors-blocks", "eenet:authors", "features=pooled:10", BLOCKS, 25, 0, false},
    {"eenet-lle", "eenet:authors", lle, DENSE, 90, 7, true},
    {"eenet-sketch", "eenet", "exploration=network extra_until=100", DENSE, 200, 6, true},
    {"eenet-sketch-blocks", "eenet", "exploration=network blocks=10 exclusive=on decision=neural", BLOCKS, 120, 0,
     false},
    {"greedy", "greedy:paper", NULL, DENSE, 200, 0, false},
    {"greedy-blocks", "greedy:paper", "blocks=10 exclusive=on f1.heads=0 f1.others=0.1 f1.average=50", BLOCKS, 200, 0,
     true},
    {"neural-epsilon", "neural-epsilon:paper", "epsilon=0.2", SPARSE, 200, 0, false},
    {"neural-ucb", "neural-ucb:paper", NULL, DENSE, 200, 5, true},
    {"neural-ucb-sparse", "neural-ucb:paper", NULL, SPARSE, 150, 0, false},
    {"neural-ucb-full", "neural-ucb:paper", "covariance=full f1.width=10", DENSE, 100, 0, true},
    {"neural-ts", "neural-ts:paper", "probability_draws=10", DENSE, 200, 0, true},
    {"neural-ts-blocks", "neural-ts:paper", NULL, BLOCKS, 150, 9, false},
    {"neural-linear", "neural-linear:paper", "rebuild=20 f1.width=20", DENSE, 200, 0, true},
    {"neural-linucb", "neural-linucb:paper", "f1.width=30", SPARSE, 200, 5, true},
    {"squarecb", "squarecb:paper", NULL, DENSE, 200, 0, true},
    {"neural-ensemble", "neural-ensemble:paper", "members=5", DENSE, 200, 4, true},
    {"neural-fastcb", "neural-fastcb:paper", NULL, DENSE, 200, 0, true},
    {"linucb", "linucb", NULL, DENSE, 300, 0, true},
    {"linucb-blocks", "linucb", NULL, BLOCKS, 200, 5, true},
    {"lints", "lints", "probability_draws=5", SPARSE, 150, 0, true},
    {"lints-dense", "lints", NULL, DENSE, 200, 3, false},
    {"kernelucb", "kernelucb", "max_contexts=100", DENSE, 150, 0, true},
    {"kernelts", "kernelts", NULL, SPARSE, 150, 4, true},
    {"ucb1", "ucb1", NULL, DENSE, 200, 0, true},
    {"ucb1-blocks", "ucb1", "blocks=10 propensity=softmax", BLOCKS, 200, 5, true},
    {"thompson", "thompson", "probability_draws=5", DENSE, 200, 0, true},
    {"thompson-blocks", "thompson", "blocks=10", BLOCKS, 200, 7, false},
    {"uniform", "uniform", NULL, DENSE, 200, 0, false},
    {"greedy-default", "greedy", "blocks=10 exclusive=on", BLOCKS, 200, 0, true},
    {"neural-ucb-default", "neural-ucb", NULL, DENSE, 100, 4, true},
    {"neural-ts-default", "neural-ts", "blocks=10 exclusive=on", BLOCKS, 100, 0, true},
    {"neural-linear-default", "neural-linear", "blocks=10 exclusive=on rebuild=20", BLOCKS, 60, 0, true},
    {"neural-linucb-default", "neural-linucb", NULL, SPARSE, 100, 4, true},
    {"squarecb-default", "squarecb", NULL, SPARSE, 100, 0, true},
    {"neural-ensemble-default", "neural-ensemble", NULL, SPARSE, 100, 4, true},
    {"neural-ensemble-blocks", "neural-ensemble", "decision=thompson blocks=10 exclusive=on", BLOCKS, 100, 0, true},
    {"neural-fastcb-default", "neural-fastcb", "blocks=10 exclusive=on", BLOCKS, 100, 0, true},
    {"softmax", "eenet", "propensity=softmax", DENSE, 150, 0, true},
    {"igw", "greedy:paper", "propensity=igw", DENSE, 150, 0, true},
};

/* FNV-1a */
static uint64_t add_to_checksum(uint64_t sum, const void *bytes, size_t size)
{
    for (const uint8_t *at = bytes, *end = at + size; at < end; at++) sum = (sum ^ *at) * UINT64_C(0x100000001b3);
    return sum;
}

typedef struct outcome {
    double reward;
    uint64_t decided, scored;
} outcome;

typedef struct waiting {
    uint64_t id;
    double reward;
} waiting;

static ee_status decide(ee_bandit *bandit, const problem *rounds, size_t round, waiting *next, outcome *out,
                        ee_error *error)
{
    ee_arms arms = problem_round(rounds, round);
    ee_decision decision;
    ee_score scores[ARMS];
    ee_status status = ee_bandit_decide(bandit, &arms, &decision, scores, NULL, error);
    if (status) return status;
    *next = (waiting){decision.id, problem_reward(rounds, round, decision.arm)};
    out->reward += next->reward;
    out->decided = add_to_checksum(out->decided, &decision.arm, sizeof decision.arm);
    if (decision.probability == decision.probability)
        out->decided = add_to_checksum(out->decided, &decision.probability, sizeof decision.probability);
    for (size_t i = 0; i < ARMS; i++) out->scored = add_to_checksum(out->scored, &scores[i], sizeof scores[i]);
    return EE_OK;
}

static ee_status reload(ee_bandit **bandit, ee_error *error)
{
    void *bytes;
    size_t size;
    ee_status status = ee_bandit_save_bytes(*bandit, &bytes, &size, error);
    if (status) return status;
    ee_bandit_free(*bandit);
    status = ee_bandit_load_bytes(bytes, size, NULL, bandit, error);
    ee_bytes_free(bytes);
    return status;
}

static ee_status play(const run *self, outcome *out, ee_error *error)
{
    enum { MOST_DELAY = 32 };
    waiting late[MOST_DELAY];
    size_t waits = 0;
    problem *rounds = NULL;
    ee_bandit *bandit = NULL;
    ee_settings settings = {.policy = self->policy, .dim = shapes[self->shape].dim, .seed = SEED};
    settings.options = self->options;
    ee_status status = problem_create(&shapes[self->shape], DIFFERENT_ROUNDS, &rounds, error);
    if (!status) status = ee_bandit_create(&settings, &bandit, error);
    for (size_t i = 0; !status && i < self->rounds; i++) {
        if (self->reload && i == self->rounds / 2) status = reload(&bandit, error);
        if (!status) status = decide(bandit, rounds, i, &late[waits], out, error);
        if (status || ++waits <= self->delay) continue;
        while (!status && waits) {
            waits--;
            status = ee_bandit_learn(bandit, late[waits].id, late[waits].reward, error);
        }
    }
    ee_bandit_free(bandit);
    problem_free(rounds);
    return status;
}

int main(void)
{
    printf("kernels %s\n", ee_kernels());
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        outcome out = {0, UINT64_C(0xcbf29ce484222325), UINT64_C(0xcbf29ce484222325)};
        ee_error error;
        if (play(&runs[i], &out, &error)) {
            printf("%s failed: %s\n", runs[i].name, error.message);
            continue;
        }
        printf("%s %g %016" PRIx64 " %016" PRIx64 "\n", runs[i].name, out.reward, out.decided, out.scored);
    }
    return 0;
}
