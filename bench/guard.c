/* guard POLICY dense|sparse ROUNDS: the fixed small run whose instructions guard.sh counts. Prints the kernels that it
 * ran on. Only play_round is counted: the start of the program depends on its environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"

static const problem_shape shapes[] = {{"dense", 10, 20, 0, 1}, {"sparse", 5, 5 * 60, 12, 5}};

enum { SHAPES = sizeof shapes / sizeof shapes[0], DIFFERENT_ROUNDS = 50 };

/* The name is what guard.sh tells callgrind. */
__attribute__((noinline)) ee_status play_round(ee_bandit *bandit, const problem *rounds, size_t round, ee_error *error);

ee_status play_round(ee_bandit *bandit, const problem *rounds, size_t round, ee_error *error)
{
    ee_arms arms = problem_round(rounds, round);
    ee_decision decision;
    ee_status status = ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, error);
    if (status) return status;
    return ee_bandit_learn(bandit, decision.id, problem_reward(rounds, round, decision.arm), error);
}

static ee_status play(const char *policy, const problem_shape *shape, size_t count, ee_error *error)
{
    problem *rounds = NULL;
    ee_bandit *bandit = NULL;
    ee_settings settings = {.policy = policy, .dim = shape->dim, .seed = 1};
    ee_status status = problem_create(shape, DIFFERENT_ROUNDS, &rounds, error);
    if (!status) status = ee_bandit_create(&settings, &bandit, error);
    for (size_t i = 0; !status && i < count; i++) status = play_round(bandit, rounds, i, error);
    ee_bandit_free(bandit);
    problem_free(rounds);
    return status;
}

int main(int count, char **words)
{
    for (size_t i = 0; count == 4 && i < SHAPES; i++) {
        if (strcmp(words[2], shapes[i].name) != 0) continue;
        ee_error error;
        if (!play(words[1], &shapes[i], strtoul(words[3], NULL, 10), &error)) return puts(ee_kernels()) < 0;
        fprintf(stderr, "guard: %s\n", error.message);
        return 1;
    }
    fprintf(stderr, "Usage: guard POLICY dense|sparse ROUNDS\n");
    return 2;
}
