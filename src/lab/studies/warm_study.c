#include "warm_study.h"

#include <inttypes.h>
#include <pthread.h>

const char *const warm_names[WARM_PLAYERS] = {"cold", "warmed", "trained", "logger"};

typedef struct warm_state {
    const warm_plan *plan;
    warm_result *results;
    pthread_mutex_t turn; /* for stored results */
    kept_studies *kept;
} warm_state;

/* ---- lines ---- */

static void add_words(text *into, const char *words)
{
    text_json(into, (json_text){words, strlen(words)});
}

static text asked_of(const warm_plan *plan, uint64_t seed, ee_error *error)
{
    text asked = kept_asked(plan->data, seed, error);
    text_add(&asked, "\"events\":%" PRIu64 ",\"rounds\":%" PRIu64 ",", plan->events, plan->rounds);
    for (size_t i = 0; i < WARM_PLAYERS; i++) {
        text_add(&asked, i ? "],[" : "\"players\":[[");
        add_words(&asked, plan->policies[i]);
        text_add(&asked, ",");
        add_words(&asked, plan->options[i] ? plan->options[i] : "");
    }
    text_add(&asked, "]],");
    return asked;
}

static ee_status find(warm_state *self, const text *asked, bool *found, warm_result *into, ee_error *error)
{
    pthread_mutex_lock(&self->turn);
    kept_reader from = kept_studies_find(self->kept, asked, error);
    *found = from.line != NULL;
    for (size_t i = 0; i < WARM_PLAYERS && *found; i++) into->regret[i] = kept_number(&from, warm_names[i]);
    pthread_mutex_unlock(&self->turn);
    return from.status;
}

/* Completes asked to the whole line. */
static ee_status keep(warm_state *self, text *asked, const warm_result *result, ee_error *error)
{
    for (size_t i = 0; i < WARM_PLAYERS; i++) {
        kept_add(asked, warm_names[i], result->regret[i]);
        text_add(asked, i + 1 < WARM_PLAYERS ? "," : "}\n");
    }
    pthread_mutex_lock(&self->turn);
    ee_status status = kept_studies_append(self->kept, asked, error);
    pthread_mutex_unlock(&self->turn);
    return status;
}

/* ---- playing ---- */

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
    uint64_t seed = self->plan->first_seed + place;
    warm_result result = {{0}};
    text asked = asked_of(self->plan, seed, error);
    bool found;
    ee_status status = find(self, &asked, &found, &result, error);
    if (!status && !found) {
        status = play_seed(self->plan, seed, &result, error);
        if (!status) status = keep(self, &asked, &result, error);
    }
    memory_free(asked.bytes);
    self->results[place] = result; /* other threads write the neighbours */
    return status;
}

ee_status warm_run(const warm_plan *plan, size_t threads, const parallel_watch *watch, kept_studies *kept,
                   warm_result *results, bool *finished, ee_error *error)
{
    warm_state self = {.plan = plan, .results = results, .kept = kept};
    pthread_mutex_init(&self.turn, NULL);
    ee_status status = parallel_each(plan->seed_count, threads, run_seed, &self, watch, finished, error);
    pthread_mutex_destroy(&self.turn);
    return status;
}
