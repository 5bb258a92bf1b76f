#include "known_pool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/runs/runner.h"

/* ---- policies ---- */

static const struct {
    const char *name;
    double amount; /* default; 0: it takes none */
    double high;   /* largest amount */
    bool explores;
} kinds[KNOWN_KINDS] = {
    [KNOWN_UNIFORM] = {"uniform", 0, 0, true},     [KNOWN_LITTLE] = {"little", 0, 0, false},
    [KNOWN_GREEDY] = {"greedy", 0, 0, false},      [KNOWN_FLOOR] = {"floor", 0.5, 1, true},
    [KNOWN_SOFTMAX] = {"softmax", 0.3, 1e6, true}, [KNOWN_IGW] = {"igw", 20, 1e6, true},
};

ee_status known_policy_parse(const char *text, known_policy *out, ee_error *error)
{
    char word[KNOWN_TEXT], *amount, *end;
    snprintf(word, sizeof word, "%s", text);
    if ((amount = strchr(word, ':'))) *amount++ = '\0';
    for (known_kind kind = 0; kind < KNOWN_KINDS; kind++) {
        if (strcmp(kinds[kind].name, word) != 0) continue;
        *out = (known_policy){kind, kinds[kind].amount};
        if (!amount) return EE_OK;
        if (kinds[kind].amount == 0) return status_fail(error, EE_BAD_OPTION, "%s: expected no number after it", word);
        out->amount = strtod(amount, &end);
        if (end != amount && !*end && out->amount > 0 && out->amount <= kinds[kind].high) return EE_OK;
        return status_fail(error, EE_BAD_OPTION, "%s: expected a number above 0 and up to %g, got '%s'", word,
                           kinds[kind].high, amount);
    }
    return status_fail(error, EE_BAD_OPTION,
                       "expected uniform, little, greedy, floor:EPSILON, softmax:TEMPERATURE or igw:GAMMA, "
                       "got '%s'",
                       word);
}

void known_policy_format(known_policy which, char text[KNOWN_TEXT])
{
    int length = snprintf(text, KNOWN_TEXT, "%s", kinds[which.kind].name);
    if (kinds[which.kind].amount == 0) return;
    for (int digits = 6; digits <= 17; digits++) { /* the fewest digits that read back */
        snprintf(text + length, KNOWN_TEXT - (size_t)length, ":%.*g", digits, which.amount);
        if (strtod(text + length + 1, NULL) == which.amount) return;
    }
}

bool known_policy_explores(known_policy which)
{
    return kinds[which.kind].explores;
}

static void fill_round(known_policy which, const ee_score *trained, const ee_score *little, size_t arms, double *out)
{
    static const propensity_kind rules[KNOWN_KINDS] = {[KNOWN_LITTLE] = PROPENSITY_ARGMAX,
                                                       [KNOWN_GREEDY] = PROPENSITY_ARGMAX,
                                                       [KNOWN_FLOOR] = PROPENSITY_FLOOR,
                                                       [KNOWN_SOFTMAX] = PROPENSITY_SOFTMAX,
                                                       [KNOWN_IGW] = PROPENSITY_IGW};
    if (which.kind == KNOWN_UNIFORM) {
        for (size_t i = 0; i < arms; i++) out[i] = 1 / (double)arms;
        return;
    }
    propensity_rule rule = {.kind = rules[which.kind], .amount = which.amount};
    propensity_fill(rule, which.kind == KNOWN_LITTLE ? little : trained, arms, out);
}

void known_pool_probabilities(const known_pool *self, known_policy which, double *probabilities)
{
    for (size_t i = 0; i < self->count; i++) {
        size_t row = i * self->arms;
        fill_round(which, self->trained + row, self->little + row, self->arms, probabilities + row);
    }
}

double known_pool_value(const known_pool *self, const double *probabilities)
{
    double sum = 0;
    for (size_t i = 0; i < self->count * self->arms; i++) sum += probabilities[i] * self->expected[i];
    return sum / (double)self->count;
}

/* ---- the pool ---- */

/* The bandits that learn in the rounds before the pool. */
typedef struct learners {
    ee_bandit *trained, *little; /* these decide */
    ee_bandit *model;            /* the reward model: it learns from rounds played at random */
    random_stream random;
} learners;

static ee_status create_learners(const known_plan *plan, learners *out, ee_error *error)
{
    run_job player = {.data = plan->data, .policy = "eenet", .seed = plan->seed}, model = player;
    model.policy = "greedy"; /* only f1 */
    out->random = random_named(plan->seed, "rounds that a reward model learns from");
    ee_status status = runner_create_bandit(&player, &out->trained, error);
    if (!status) status = runner_create_bandit(&player, &out->little, error);
    if (!status) status = runner_create_bandit(&model, &out->model, error);
    return status;
}

static void free_learners(learners *self)
{
    ee_bandit_free(self->trained);
    ee_bandit_free(self->little);
    ee_bandit_free(self->model);
}

static ee_status play(ee_bandit *bandit, const environment_round *round, ee_error *error)
{
    ee_decision decision;
    ee_status status = ee_bandit_decide(bandit, &round->arms, &decision, NULL, NULL, error);
    if (status) return status;
    return ee_bandit_learn(bandit, decision.id, round->rewards[decision.arm], error);
}

static ee_status train(learners *self, const environment_round *round, bool beginning, ee_error *error)
{
    size_t arms = round->arms.count, arm = (size_t)random_below(&self->random, arms);
    ee_status status = play(self->trained, round, error);
    if (!status && beginning) status = play(self->little, round, error);
    if (status) return status;
    return ee_bandit_learn_from(self->model, &round->arms, arm, round->rewards[arm], error);
}

/* Adds the round of the pool at this place; room is (arms). */
static ee_status add_round(known_pool *self, size_t place, const learners *from, const environment_round *round,
                           ee_score *room, ee_error *error)
{
    size_t row = place * self->arms;
    ee_status status = ee_bandit_score(from->trained, &round->arms, self->trained + row, error);
    if (!status) status = ee_bandit_score(from->little, &round->arms, self->little + row, error);
    if (!status) status = ee_bandit_score(from->model, &round->arms, room, error);
    if (status) return status;
    for (size_t i = 0; i < self->arms; i++) {
        self->expected[row + i] = round->expected[i];
        self->predicted[row + i] = (double)room[i].exploitation;
        self->binary = self->binary && (round->rewards[i] == 0 || round->rewards[i] == 1);
    }
    return EE_OK;
}

/* Finds the range of the rewards, and limits the predictions to it. */
static void limit_predictions(known_pool *self)
{
    self->low = self->binary ? 0 : INFINITY;
    self->high = self->binary ? 1 : -INFINITY;
    for (size_t i = 0; i < self->count * self->arms && !self->binary; i++) {
        self->low = fmin(self->low, self->expected[i]);
        self->high = fmax(self->high, self->expected[i]);
    }
    for (size_t i = 0; i < self->count * self->arms; i++)
        self->predicted[i] = fmin(fmax(self->predicted[i], self->low), self->high);
}

static ee_status allocate(known_pool *self, ee_error *error)
{
    size_t cells = self->count * self->arms;
    ee_status status = memory_create(NULL, &self->expected, cells, sizeof *self->expected, error);
    if (!status) status = memory_create(NULL, &self->predicted, cells, sizeof *self->predicted, error);
    if (!status) status = memory_create(NULL, &self->trained, cells, sizeof *self->trained, error);
    if (!status) status = memory_create(NULL, &self->little, cells, sizeof *self->little, error);
    return status;
}

ee_status known_pool_create(const known_plan *plan, known_pool *out, ee_error *error)
{
    enum { LITTLE = 20 }; /* this policy learns from one round in twenty */
    learners own = {0};
    environment *world = NULL;
    ee_score *room = NULL;
    *out = (known_pool){.count = plan->count, .arms = dataset_arms(plan->data), .binary = true};
    ee_status status = allocate(out, error);
    if (!status) status = memory_create(NULL, &room, out->arms, sizeof *room, error);
    if (!status) status = create_learners(plan, &own, error);
    if (!status) status = environment_create(plan->data, plan->seed, &world, error);
    for (size_t t = 0; t < plan->training + plan->count && !status; t++) {
        environment_round round;
        status = environment_next(world, &round, error);
        if (!status && t < plan->training)
            status = train(&own, &round, t < plan->training / LITTLE, error);
        else if (!status)
            status = add_round(out, t - plan->training, &own, &round, room, error);
    }
    if (!status) limit_predictions(out);
    environment_free(world);
    free_learners(&own);
    memory_free(room);
    return status;
}

void known_pool_release(known_pool *self)
{
    memory_free(self->expected);
    memory_free(self->predicted);
    memory_free(self->trained);
    memory_free(self->little);
    *self = (known_pool){0};
}
