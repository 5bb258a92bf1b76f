#include "warm_study.h"

#include "lab/runs/parallel.h"
#include "lab/runs/runner.h"

const char *const warm_names[WARM_PLAYERS] = {"cold", "warmed", "trained", "logger"};

typedef struct warm_state {
    const warm_plan *plan;
    warm_result *results;
} warm_state;

static ee_status create(const warm_plan *plan, uint64_t seed, ee_bandit **players, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < WARM_PLAYERS && !status; i++) {
        run_job job = {.data = plan->data, .policy = plan->policies[i], .options = plan->options[i], .seed = seed};
        status = runner_create_bandit(&job, &players[i], error);
    }
    return status;
}

/* Decides, adds up the regret and learns. */
static ee_status play(ee_bandit *player, const environment_round *round, ee_decision *decision, double *regret,
                      ee_error *error)
{
    ee_status status = ee_bandit_decide(player, &round->arms, decision, NULL, NULL, error);
    if (status) return status;
    double best = round->expected[0];
    for (size_t i = 1; i < round->arms.count; i++)
        if (round->expected[i] > best) best = round->expected[i];
    *regret += best - round->expected[decision->arm];
    return ee_bandit_learn(player, decision->id, round->rewards[decision->arm], error);
}

static ee_status play_log(ee_bandit **players, const environment_round *round, ee_error *error)
{
    ee_decision decision;
    double passed = 0;
    ee_status status = play(players[WARM_TRAINED], round, &decision, &passed, error);
    if (!status) status = play(players[WARM_LOGGER], round, &decision, &passed, error);
    if (status) return status;
    return ee_bandit_learn_from(players[WARM_LEARNED], &round->arms, decision.arm, round->rewards[decision.arm], error);
}

static ee_status play_seed(const warm_plan *plan, uint64_t seed, warm_result *result, ee_error *error)
{
    ee_bandit *players[WARM_PLAYERS] = {NULL};
    environment *world = NULL;
    environment_round round;
    ee_decision decision;
    ee_status status = create(plan, seed, players, error);
    if (!status) status = environment_create(plan->data, seed, &world, error);
    for (uint64_t t = 0; t < plan->events + plan->rounds && !status; t++) {
        status = environment_next(world, &round, error);
        if (!status && t < plan->events) status = play_log(players, &round, error);
        for (size_t i = 0; i < WARM_PLAYERS && !status && t >= plan->events; i++)
            status = play(players[i], &round, &decision, &result->regret[i], error);
    }
    environment_free(world);
    for (size_t i = 0; i < WARM_PLAYERS; i++) ee_bandit_free(players[i]);
    return status;
}

static ee_status run_seed(void *context, size_t place, ee_error *error)
{
    warm_state *self = context;
    warm_result result = {{0}};
    ee_status status = play_seed(self->plan, self->plan->first_seed + place, &result, error);
    self->results[place] = result;
    return status;
}

ee_status warm_run(const warm_plan *plan, size_t threads, warm_result *results, ee_error *error)
{
    warm_state self = {plan, results};
    bool finished;
    return parallel_each(plan->seed_count, threads, run_seed, &self, NULL, &finished, error);
}
