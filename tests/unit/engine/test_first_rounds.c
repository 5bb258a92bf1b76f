/* What each policy decides in its first rounds, and the scores of the last of them, against stored numbers, within what
 * compilers, kernels and processors round differently. tests/record compares longer runs to the last bit, but only for
 * the compilers that have a record; this runs everywhere.
 *
 *     test_first_rounds print >tests/golden/first_rounds.json
 *
 * writes the numbers again, with the smallest distance of a chosen arm from the next: a seed for which that is below
 * CLOSE would make the test depend on rounding. */

#include "bench/problem.h"
#include "support.h"

enum { ARMS = 10, ROUNDS = 30 };
#define CLOSE 1e-4     /* relative to the largest score */
#define TOLERANCE 2e-3 /* the same */

enum { DENSE, SPARSE, BLOCKS };
static const problem_shape shapes[] = {
    [DENSE] = {"dense", ARMS, 20, 0, 1},
    [SPARSE] = {"sparse", ARMS, 400, 12, 1},
    [BLOCKS] = {"blocks", ARMS, ARMS * 40, 12, ARMS},
};

typedef struct run {
    const char *name, *policy, *options;
    int shape;
    uint64_t seed;
    size_t delay; /* rewards that wait until one more is there; then all are learned, the last first */
} run;

static const run runs[] = {
    {"eenet", "eenet", NULL, DENSE, 1, 0},
    {"eenet-sparse", "eenet", NULL, SPARSE, 1, 0},
    {"eenet-blocks", "eenet", "blocks=10 exclusive=on", BLOCKS, 1, 0},
    {"eenet-late", "eenet", NULL, DENSE, 2, 5},
    {"eenet-fast", "eenet:fast", NULL, DENSE, 1, 0},
    {"eenet-paper", "eenet:paper", "f1.steps=5 f2.steps=5 f3.steps=5", DENSE, 1, 0},
    {"eenet-paper-neural", "eenet:paper", "decision=neural extra_until=20 f1.steps=5 f2.steps=5 f3.steps=5", DENSE, 1,
     0},
    {"eenet-reservoir", "eenet:paper", "keep=reservoir:5 f1.steps=3 f2.steps=3 f3.steps=3 hybrid_after=10", DENSE, 1,
     0},
    {"eenet-authors", "eenet:authors", NULL, DENSE, 1, 0},
    {"eenet-network", "eenet", "exploration=network", DENSE, 1, 0},
    {"greedy", "greedy", NULL, DENSE, 1, 0},
    {"greedy-paper", "greedy:paper", NULL, DENSE, 1, 0},
    {"greedy-reservoir", "greedy:paper", "f1.history=reservoir:8", DENSE, 1, 0},
    {"greedy-shuffle", "greedy:paper", "f1.order=shuffle", DENSE, 1, 0},
    {"neural-epsilon", "neural-epsilon", "epsilon=0.2", SPARSE, 1, 0},
    {"neural-ucb", "neural-ucb", NULL, DENSE, 1, 0},
    {"neural-ts", "neural-ts", NULL, DENSE, 1, 0},
    {"neural-linear", "neural-linear", NULL, DENSE, 1, 0},
    {"neural-linucb", "neural-linucb", NULL, SPARSE, 1, 0},
    {"squarecb", "squarecb", NULL, DENSE, 1, 0},
    {"neural-ensemble", "neural-ensemble", NULL, DENSE, 1, 0},
    {"neural-ensemble-late", "neural-ensemble", NULL, SPARSE, 1, 3},
    {"neural-fastcb", "neural-fastcb", NULL, DENSE, 1, 0},
    {"linucb", "linucb", NULL, DENSE, 1, 0},
    {"lints", "lints", NULL, DENSE, 1, 0},
    {"kernelucb", "kernelucb", NULL, DENSE, 1, 0},
    {"kernelts", "kernelts", NULL, DENSE, 1, 0},
    {"ucb1", "ucb1", "blocks=10", BLOCKS, 1, 0},
    {"thompson", "thompson", "blocks=10", BLOCKS, 1, 0},
    {"uniform", "uniform", NULL, DENSE, 1, 0},
    {"softmax", "eenet", "propensity=softmax", DENSE, 1, 0},
    {"igw", "greedy:paper", "propensity=igw", DENSE, 1, 0},
};
enum { RUNS = sizeof runs / sizeof *runs };

typedef struct played {
    size_t decided[ROUNDS];
    ee_score scores[ARMS]; /* of the last round */
    double closest;        /* distance of a chosen arm from one that is not as good, relative to the largest score */
} played;

static double largest_of(const ee_score *scores)
{
    double largest = 0;
    for (size_t i = 0; i < ARMS; i++) {
        double size = fabs((double)scores[i].score);
        if (size > largest) largest = size;
    }
    return largest;
}

static double distance_of(const ee_score *scores, size_t decided)
{
    double closest = INFINITY, largest = largest_of(scores);
    for (size_t i = 0; i < ARMS; i++)
        if (scores[i].score != scores[decided].score)
            closest = fmin(closest, fabs((double)(scores[i].score - scores[decided].score)) / largest);
    return closest;
}

static void play(const run *self, played *out)
{
    uint64_t ids[ROUNDS];
    double rewards[ROUNDS];
    size_t waiting = 0;
    problem *rounds;
    ee_bandit *bandit;
    ee_settings settings = {
        .policy = self->policy, .dim = shapes[self->shape].dim, .seed = self->seed, .options = self->options};
    ok(problem_create(&shapes[self->shape], ROUNDS, &rounds, NULL));
    ok(ee_bandit_create(&settings, &bandit, NULL));
    out->closest = INFINITY;
    for (size_t i = 0; i < ROUNDS; i++) {
        ee_arms arms = problem_round(rounds, i);
        ee_decision decision;
        ok(ee_bandit_decide(bandit, &arms, &decision, out->scores, NULL, NULL));
        out->decided[i] = decision.arm;
        out->closest = fmin(out->closest, distance_of(out->scores, decision.arm));
        ids[waiting] = decision.id;
        rewards[waiting++] = problem_reward(rounds, i, decision.arm);
        if (waiting <= self->delay) continue;
        while (waiting) {
            waiting--;
            ok(ee_bandit_learn(bandit, ids[waiting], rewards[waiting], NULL));
        }
    }
    ee_bandit_free(bandit);
    problem_free(rounds);
}

static int print(const char *word)
{
    (void)word;
    for (size_t i = 0; i < RUNS; i++) {
        played found;
        play(&runs[i], &found);
        printf("%s\"%s\": {\"decided\": [", i ? ",\n" : "{", runs[i].name);
        for (size_t k = 0; k < ROUNDS; k++) printf("%s%zu", k ? ", " : "", found.decided[k]);
        printf("],\n \"scores\": [");
        for (size_t k = 0; k < ARMS; k++)
            printf("%s%.6g, %.6g", k ? ", " : "", (double)found.scores[k].exploitation, (double)found.scores[k].score);
        printf("]}");
        if (found.closest < CLOSE) fprintf(stderr, "%s: closest %.2g; try another seed\n", runs[i].name, found.closest);
    }
    printf("}\n");
    return 0;
}
TEST_COMMAND(print)

static void check(const run *self, const json_t *stored)
{
    played found;
    size_t count;
    play(self, &found);
    auto_free double *decided = golden_doubles(golden_member(stored, "decided"), &count);
    assert_int_equal(count, ROUNDS);
    for (size_t i = 0; i < ROUNDS; i++)
        if ((double)found.decided[i] != decided[i])
            fail_msg("%s: round %zu chose arm %zu, not %.0f", self->name, i + 1, found.decided[i], decided[i]);
    auto_free double *scores = golden_doubles(golden_member(stored, "scores"), &count);
    assert_int_equal(count, 2 * ARMS);
    double tolerance = TOLERANCE * largest_of(found.scores);
    for (size_t i = 0; i < ARMS; i++) {
        assert_close(found.scores[i].exploitation, scores[2 * i], tolerance);
        assert_close(found.scores[i].score, scores[2 * i + 1], tolerance);
    }
}

TEST(every_policy_decides_as_stored)
{
    json_auto_t *stored = golden_load("first_rounds.json");
    for (size_t i = 0; i < RUNS; i++) check(&runs[i], golden_member(stored, runs[i].name));
    assert_int_equal(json_object_size(stored), RUNS);
}
