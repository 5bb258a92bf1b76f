/* The header in C++. */
#include <eenet.h>

#include <cstdio>
#include <vector>

int main()
{
    const std::vector<float> values = {1, 1};
    const std::vector<size_t> starts = {0, 1, 2};
    const std::vector<uint32_t> indices = {0, 1};
    ee_settings settings = {};
    settings.policy = "uniform";
    settings.dim = 2;
    settings.seed = 1;
    ee_arms arms = ee_arms_sparse(starts.data(), indices.data(), values.data(), 2, 2);
    ee_bandit *bandit = nullptr;
    ee_decision decision = {};
    ee_error error = {};

    ee_status status = ee_bandit_create(&settings, &bandit, &error);
    if (status == EE_OK) status = ee_bandit_decide(bandit, &arms, &decision, nullptr, nullptr, &error);
    if (status == EE_OK) status = ee_bandit_learn(bandit, decision.id, 1, &error);
    ee_bandit_free(bandit);
    if (status != EE_OK) {
        std::fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    return decision.arm < 2 ? 0 : 1;
}
