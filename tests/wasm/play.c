/* play POLICY KERNELS ROUNDS FROM TO: plays rounds with a fixed sequence of arms, prints the arm and its score of each
 * round in a line, and saves the model to TO. FROM is a model to continue with, or "-". tests/node/wasm.test.mjs plays
 * the same in WebAssembly. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eenet.h"
#include "math/kernels.h"

enum { ARMS = 4, DIM = 8 };

static void check(ee_status status, const ee_error *error)
{
    if (!status) return;
    fprintf(stderr, "play: %s\n", error->message);
    exit(1);
}

int main(int count, char **words)
{
    if (count != 6 || !kernels_use(words[2])) return 2;
    ee_error error = {0};
    ee_bandit *bandit = NULL;
    ee_settings settings = {.policy = words[1], .dim = DIM, .seed = 7};
    if (strcmp(words[4], "-") != 0)
        check(ee_bandit_load(words[4], NULL, &bandit, &error), &error);
    else
        check(ee_bandit_create(&settings, &bandit, &error), &error);
    uint32_t state = (uint32_t)ee_bandit_info(bandit).decisions + 1;
    for (int round = 0; round < atoi(words[3]); round++) {
        float x[ARMS * DIM];
        for (int i = 0; i < ARMS * DIM; i++) {
            state = state * 1664525 + 1013904223;
            x[i] = (float)(state >> 16) / 65536;
        }
        ee_arms arms = ee_arms_dense(x, ARMS, DIM);
        ee_decision decision;
        ee_score scores[ARMS];
        check(ee_bandit_decide(bandit, &arms, &decision, scores, NULL, &error), &error);
        const float *chosen = x + decision.arm * DIM;
        check(ee_bandit_learn(bandit, decision.id, (double)(chosen[0] * chosen[1]), &error), &error);
        printf("%zu %.9g\n", decision.arm, (double)scores[decision.arm].score);
    }
    check(ee_bandit_save(bandit, words[5], &error), &error);
    ee_bandit_free(bandit);
    return 0;
}
