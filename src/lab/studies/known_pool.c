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
    double amount; /* where none is given; 0: it takes none */
    double high;   /* of the amount */
    bool explores;
} kinds[KNOWN_KINDS] = {
    [KNOWN_UNIFORM] = {"uniform", 0, 0, true}, [KNOWN_FIRST] = {"first", 0, 0, false},
    [KNOWN_LITTLE] = {"little", 0, 0, false},  [KNOWN_GREEDY] = {"greedy", 0, 0, false},
    [KNOWN_FLOOR] = {"floor", 0.5, 1, true},   [KNOWN_SOFTMAX] = {"softmax", 0.3, 1e6, true},
    [KNOWN_IGW] = {"igw", 20, 1e6, true},
};

ee_status known_policy_parse(const char *text, size_t length, known_policy *out, ee_error *error)
{
    char word[KNOWN_TEXT], *amount, *end;
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), text);
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
                       "expected uniform, first, little, greedy, floor:EPSILON, softmax:TEMPERATURE or igw:GAMMA, "
                       "got '%s'",
                       word);
}

void known_policy_format(known_policy who, char text[KNOWN_TEXT])
{
    int length = snprintf(text, KNOWN_TEXT, "%s", kinds[who.kind].name);
    if (kinds[who.kind].amount == 0) return;
    for (int digits = 6; digits <= 17; digits++) { /* as few as tell it from all others */
        snprintf(text + length, KNOWN_TEXT - (size_t)length, ":%.*g", digits, who.amount);
        if (strtod(text + length + 1, NULL) == who.amount) return;
    }
}

bool known_policy_explores(known_policy who)
{
    return kinds[who.kind].explores;
}

static void fill_round(known_policy who, const ee_score *trained, const ee_score *little, size_t arms, double *out)
{
    static const propensity_kind rules[KNOWN_KINDS] = {[KNOWN_LITTLE] = PROPENSITY_ARGMAX,
                                                       [KNOWN_GREEDY] = PROPENSITY_ARGMAX,
                                                       [KNOWN_FLOOR] = PROPENSITY_FLOOR,
                                                       [KNOWN_SOFTMAX] = PROPENSITY_SOFTMAX,
                                                       [KNOWN_IGW] = PROPENSITY_IGW};
    if (who.kind == KNOWN_UNIFORM || who.kind == KNOWN_FIRST) {
        for (size_t i = 0; i < arms; i++) out[i] = who.kind == KNOWN_UNIFORM ? 1 / (double)arms : i == 0;
        return;
    }
    propensity_rule rule = {.kind = rules[who.kind], .amount = who.amount};
    propensity_fill(rule, who.kind == KNOWN_LITTLE ? little : trained, arms, out);
}

void known_pool_probabilities(const known_pool *self, known_policy who, double *probabilities)
{
    for (size_t i = 0; i < self->count; i++) {
        size_t row = i * self->arms;
        fill_round(who, self->trained + row, self->little + row, self->arms, probabilities + row);
    }
}

double known_pool_value(const known_pool *self, const double *probabilities)
{
    double sum = 0;
    for (size_t i = 0; i < self->count * self->arms; i++) sum += probabilities[i] * self->expected[i];
    return sum / (double)self->count;
}

/* ---- the pool ---- */

/* What learns in the rounds before the pool. */
typedef struct school {
    ee_bandit *trained, *little; /* these play */
    ee_bandit *model;            /* this is shown rounds that were played at random, and expects rewards of them */
    random_stream random;
} school;

static ee_status enroll(const known_plan *plan, school *out, ee_error *error)
{
    run_job player = {.data = plan->data, .policy = "eenet", .seed = plan->seed}, model = player;
    model.policy = "greedy"; /* f1 alone */
    out->random = random_named(plan->seed, "rounds that a reward model learns from");
    ee_status status = runner_create_bandit(&player, &out->trained, error);
    if (!status) status = runner_create_bandit(&player, &out->little, error);
    if (!status) status = runner_create_bandit(&model, &out->model, error);
    return status;
}

static void dismiss(school *self)
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

static ee_status teach(school *self, const environment_round *round, bool beginning, ee_error *error)
{
    size_t arms = round->arms.count, arm = (size_t)random_below(&self->random, arms);
    ee_status status = play(self->trained, round, error);
    if (!status && beginning) status = play(self->little, round, error);
    if (status) return status;
    return ee_bandit_learn_from(self->model, &round->arms, arm, round->rewards[arm], error);
}

/* Round number place of the pool; room is (arms). */
static ee_status take_in(known_pool *self, size_t place, const school *from, const environment_round *round,
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

/* Predictions are cut to what rewards can be. */
static void settle_range(known_pool *self)
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

ee_status known_pool_create(const known_plan *plan, const parallel_watch *watch, known_pool *out, bool *finished,
                            ee_error *error)
{
    enum { LITTLE = 20 }; /* this policy learns from one round in twenty */
    size_t rounds = plan->training + plan->count, done = 0;
    school own = {0};
    environment *world = NULL;
    ee_score *room = NULL;
    *out = (known_pool){.count = plan->count, .arms = dataset_arms(plan->data), .binary = true};
    ee_status status = allocate(out, error);
    if (!status) status = memory_create(NULL, &room, out->arms, sizeof *room, error);
    if (!status) status = enroll(plan, &own, error);
    if (!status) status = environment_create(plan->data, plan->seed, &world, error);
    for (bool wanted = true; !status && wanted && done < rounds;) {
        environment_round round;
        status = environment_next(world, &round, error);
        if (!status && done < plan->training)
            status = teach(&own, &round, done < plan->training / LITTLE, error);
        else if (!status)
            status = take_in(out, done - plan->training, &own, &round, room, error);
        done++;
        wanted = !watch || watch->wanted(watch->context, done, rounds);
    }
    *finished = !status && done == rounds;
    if (*finished) settle_range(out);
    environment_free(world);
    dismiss(&own);
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
