/* A program of another project: decides and learns through the installed library. */
#include <eenet.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    static const float features[] = {1, 0, 0, 1};
    ee_settings settings = {.policy = "uniform", .dim = 2, .seed = 1};
    ee_arms arms = ee_arms_dense(features, 2, 2);
    ee_bandit *bandit;
    ee_decision decision;
    ee_error error;

    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", EE_VERSION_NUMBER / 10000, EE_VERSION_NUMBER / 100 % 100,
             EE_VERSION_NUMBER % 100);
    if (strcmp(version, EE_VERSION) != 0) {
        fprintf(stderr, "EE_VERSION is %s, EE_VERSION_NUMBER %d\n", EE_VERSION, EE_VERSION_NUMBER);
        return 1;
    }
    if (strcmp(ee_version(), EE_VERSION) != 0) {
        fprintf(stderr, "the library is %s, its header %s\n", ee_version(), EE_VERSION);
        return 1;
    }
    ee_status status = ee_bandit_create(&settings, &bandit, &error);
    if (!status) status = ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &error);
    if (!status) status = ee_bandit_learn(bandit, decision.id, 1, &error);
    ee_bandit_free(bandit);
    if (status) {
        fprintf(stderr, "%s: %s\n", ee_status_name(status), error.message);
        return 1;
    }
    printf("arm %zu with probability %g\n", decision.arm, decision.probability);
    return 0;
}
