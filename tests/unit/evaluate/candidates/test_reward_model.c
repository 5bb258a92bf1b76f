#include "evaluate/candidates/reward_model.h"

#include "support.h"

/* Two actions of one number each, of which the first was taken. */
static void play(reward_model *model, float taken, float other, double reward, double weight, double *q)
{
    float values[] = {taken, other};
    log_event event = {.count = 2, .probability = 0.5, .reward = reward, .copies = 1};
    event.arms = ee_arms_dense(values, 2, 1);
    candidate_round round = {.event = &event};
    ok(reward_model_play(model, &round, weight, q, NULL));
}

/* What no reward was, none will be: a line, or a network, goes on beyond it. */
TEST(predictions_stay_within_the_rewards_learned)
{
    const candidate_setup setup = {.text = "", .seed = 1, .dim = 1};
    for (reward_model_kind kind = REWARD_MODEL_F1; kind <= REWARD_MODEL_RIDGE; kind++) {
        reward_model *model;
        double q[2];
        ok(reward_model_create(kind, &setup, &model, NULL));
        for (int i = 0; i < 500; i++) play(model, (float)(i % 5) / 4, 0, 2 + i % 5, 1, NULL); /* 2 to 6 */
        play(model, 10, -10, 100, 0, q); /* not learned: its reward counts for nothing */
        assert_true(q[0] == 6 && q[1] == 2);
        play(model, 0.5f, 0.25f, 100, 0, q);
        assert_true(q[0] > q[1] && q[0] < 6 && q[1] > 2);
        reward_model_free(model);
    }
}
