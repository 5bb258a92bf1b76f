#include "guardrail_study.h"

#include <math.h>

#include "base/memory.h"
#include "evaluate/intervals/confidence_sequence.h"
#include "lab/runs/parallel.h"

const double guardrail_alpha = 0.05;

const char *const guardrail_names[GUARDRAIL_METHODS] = {"lift", "every decision a person", "plain means",
                                                        "first decisions, exact"};

/* ---- people ---- */

typedef struct person {
    double rate, place; /* treated while place < share */
    bool seen;
} person;

typedef struct population {
    person *people; /* (count) */
    size_t count, decisions;
    uint32_t *log; /* (decisions) the person of each */
    random_stream random;
} population;

/* For shapes below 1: Gamma(shape) = Gamma(shape + 1) U^(1 / shape). */
static double draw_gamma(random_stream *random, double shape)
{
    double gamma = random_gamma(random, shape + 1.0);
    return gamma * pow(random_unit(random), 1.0 / shape);
}

/* MOST_RATE times a Beta with a + b = 2, so that two decisions of a person correlate, and harm up to 60% fits. */
static person draw_person(random_stream *random, double rate)
{
    enum { CONCENTRATION = 2 };
    static const double MOST_RATE = 0.6;
    double a = CONCENTRATION * rate / MOST_RATE;
    double x = draw_gamma(random, a), y = draw_gamma(random, CONCENTRATION - a);
    return (person){x + y > 0.0 ? MOST_RATE * x / (x + y) : 0.0, random_unit(random), false};
}

static uint32_t next_person(population *self, const guardrail_plan *plan)
{
    static const double NEW_PEOPLE = 0.2;
    if (!self->count || random_unit(&self->random) < NEW_PEOPLE) {
        self->people[self->count] = draw_person(&self->random, plan->rate);
        return (uint32_t)self->count++;
    }
    if (plan->loyal) return self->log[random_below(&self->random, self->decisions)];
    return (uint32_t)random_below(&self->random, self->count);
}

static double share_at(const guardrail_plan *plan, size_t i)
{
    double life = (double)i / (double)plan->decisions;
    if (plan->share > 0.0) return plan->share;
    return life < 0.1 ? 0.01 : life < 0.3 ? 0.05 : life < 0.6 ? 0.25 : 0.95;
}

/* ---- the tests ---- */

typedef struct tests {
    lift lifts[3];
    one_sided_sequence first;
    size_t looks;
} tests;

typedef struct decision {
    size_t i; /* from 1 */
    uint32_t who;
    bool treated, first;
    double share, value;
} decision;

/* T (1 - e) v - f (1 - T) e v, which is at least -f and whose mean has the sign of treated mean - f control mean. */
static void add_first(one_sided_sequence *self, const decision *of, double factor)
{
    double term = of->treated ? (1.0 - of->share) * of->value : -factor * of->share * of->value;
    one_sided_add(self, (term + factor) / (1.0 + factor), 1.0);
}

static void add(tests *self, const decision *of, double factor, bool all)
{
    lift_add(&self->lifts[GUARDRAIL_LIFT], of->who, of->treated, of->share, of->value);
    if (of->first) add_first(&self->first, of, factor);
    if (!all) return;
    lift_add(&self->lifts[GUARDRAIL_DECISIONS], of->i, of->treated, of->share, of->value);
    lift_add(&self->lifts[GUARDRAIL_UNWEIGHTED], of->who, of->treated, 0.5, of->value);
}

/* The two that are not valid look less often, to save time. */
static bool looks_now(const tests *self, size_t method)
{
    return method == GUARDRAIL_LIFT || method == GUARDRAIL_FIRST || self->looks % 10 == 0;
}

static void look(tests *self, const guardrail_plan *plan, size_t i, guardrail_result *out)
{
    double factor = 1.0 + plan->bound, target = -log(guardrail_alpha);
    self->looks++;
    for (size_t m = 0; m < GUARDRAIL_METHODS; m++) {
        if (out->alarm[m] || !looks_now(self, m)) continue;
        double wealth = m == GUARDRAIL_FIRST ? one_sided_log_wealth(&self->first, factor / (1.0 + factor))
                                             : lift_log_wealth(&self->lifts[m], plan->bound, false);
        if (wealth >= target) out->alarm[m] = i;
    }
}

static bool misses(interval of, double truth)
{
    return truth < of.low || truth > of.high;
}

/* The truth is that of the population: the same harm for everybody, and no trend. */
static void look_at_intervals(const tests *self, const guardrail_plan *plan, guardrail_result *out)
{
    lift_estimate now = lift_now(&self->lifts[GUARDRAIL_LIFT], guardrail_alpha);
    if (misses(now.interval, plan->rate * plan->harm)) out->covered = false;
    if (misses(now.relative_interval, plan->harm)) out->relative_covered = false;
    out->width = now.relative_interval.high - now.relative_interval.low;
}

/* ---- one bandit ---- */

static decision draw_decision(population *self, const guardrail_plan *plan, size_t i)
{
    uint32_t who = next_person(self, plan);
    person *of = &self->people[who];
    self->log[self->decisions++] = who;
    double share = share_at(plan, i);
    decision out = {.i = i + 1, .who = who, .treated = of->place < share, .first = !of->seen, .share = share};
    double rate = of->rate * (1.0 + plan->trend * (double)i / (double)plan->decisions);
    if (out.treated && i >= plan->harmless) rate *= 1.0 + plan->harm;
    out.value = random_unit(&self->random) < rate;
    of->seen = true;
    return out;
}

static void play(const guardrail_plan *plan, population *people, tests *state, guardrail_result *out)
{
    double next = 1.0, next_interval = 100.0;
    *out = (guardrail_result){.covered = true, .relative_covered = true, .width = NAN};
    for (size_t i = 0; i < plan->decisions; i++) {
        decision drawn = draw_decision(people, plan, i);
        add(state, &drawn, 1.0 + plan->bound, !plan->until_found);
        if ((double)drawn.i >= next) {
            look(state, plan, drawn.i, out);
            next *= 1.0 + plan->look;
            if (next < (double)drawn.i + 1.0) next = (double)drawn.i + 1.0;
        }
        if (plan->intervals && ((double)drawn.i >= next_interval || drawn.i == plan->decisions)) {
            look_at_intervals(state, plan, out);
            next_interval *= 1.02;
        }
        if (plan->until_found && out->alarm[GUARDRAIL_LIFT] && out->alarm[GUARDRAIL_FIRST]) return;
    }
}

typedef struct study_state {
    const guardrail_plan *plan;
    guardrail_result *results;
} study_state;

static ee_status play_one(void *context, size_t place, ee_error *error)
{
    const study_state *self = context;
    memory owner = {0};
    population people = {.random = random_named(self->plan->seed + 1000003 * place, "guardrails")};
    tests *state = NULL;
    ee_status status = memory_create(&owner, &people.people, self->plan->decisions, sizeof *people.people, error);
    if (!status) status = memory_create(&owner, &people.log, self->plan->decisions, sizeof *people.log, error);
    if (!status) status = memory_create(&owner, &state, 1, sizeof *state, error);
    if (!status) play(self->plan, &people, state, &self->results[place]);
    memory_release(&owner);
    return status;
}

ee_status guardrail_run(const guardrail_plan *plan, size_t threads, guardrail_result *results, ee_error *error)
{
    study_state state = {plan, results};
    bool finished = false;
    return parallel_each(plan->bandits, threads, play_one, &state, NULL, &finished, error);
}
