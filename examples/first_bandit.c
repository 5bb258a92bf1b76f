#include <eenet.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    ee_settings settings = {.policy = "eenet", .dim = 3, .seed = 1};
    ee_bandit *bandit;
    ee_error error;
    int right = 0;
    if (ee_bandit_create(&settings, &bandit, &error)) return fprintf(stderr, "%s\n", error.message), 1;
    for (int round = 0; round < 1000; round++) {
        float features[4 * 3]; /* four arms; an arm's reward is 1 if its first feature is above 0.5 */
        for (int i = 0; i < 12; i++) features[i] = (float)rand() / (float)RAND_MAX;
        ee_arms arms = ee_arms_dense(features, 4, 3);
        ee_decision decision;
        if (ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &error))
            return fprintf(stderr, "%s\n", error.message), 1;
        int reward = features[decision.arm * 3] > 0.5f;
        if (ee_bandit_learn(bandit, decision.id, reward, &error)) return fprintf(stderr, "%s\n", error.message), 1;
        right += reward;
    }
    printf("%d of 1000 decisions were rewarded; chance is 500\n", right);
    ee_bandit_free(bandit);
    return 0;
}
