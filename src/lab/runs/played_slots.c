#include "played_slots.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "data/logs/log.h"

ee_status played_slots_create(played_slots *self, const run_job *job, ee_error *error)
{
    self->count = run_slots(job);
    size_t size = self->count * dataset_arms(job->data);
    ee_status status = memory_create(NULL, &self->scores, size, sizeof *self->scores, error);
    if (status || !job->log) return status;
    status = memory_create(NULL, &self->chances, size, sizeof *self->chances, error);
    if (!status) status = memory_create(NULL, &self->actions, size, sizeof *self->actions, error);
    if (!status) status = memory_create(NULL, &self->probabilities, size, sizeof *self->probabilities, error);
    return status;
}

void played_slots_release(played_slots *self)
{
    memory_free(self->scores);
    memory_free(self->chances);
    memory_free(self->actions);
    memory_free(self->probabilities);
    *self = (played_slots){0};
}

ee_status played_slots_decide(played_slots *self, ee_bandit *bandit, const environment_round *round, ee_error *error)
{
    if (self->count == 1)
        return ee_bandit_decide(bandit, &round->arms, self->decisions, self->scores, self->chances, error);
    for (size_t k = 0; k < self->count; k++) self->seen[k] = round->arms;
    return ee_bandit_decide_slots(bandit, self->seen, self->count, NULL, self->decisions, self->scores, self->chances,
                                  error);
}

void played_slots_losses(const played_slots *self, const environment_round *round, double *losses)
{
    size_t found = 0;
    for (size_t i = 0; i < round->arms.count; i++) { /* the best ones so far, in their order */
        double value = round->expected[i];
        size_t at = found < self->count ? found++ : self->count - 1;
        if (at == self->count - 1 && i >= self->count && losses[at] >= value) continue;
        for (; at > 0 && losses[at - 1] < value; at--) losses[at] = losses[at - 1];
        losses[at] = value;
    }
    for (size_t k = 0; k < self->count; k++) losses[k] -= round->expected[self->decisions[k].arm];
}

/* What slot k could take, the arm that it took first. */
static log_slot slot_of(played_slots *self, const environment_round *round, size_t k)
{
    size_t arms = round->arms.count, count = 1;
    size_t *actions = self->actions + k * arms;
    double *probabilities = self->probabilities + k * arms;
    const double *chances = self->chances + k * arms;
    const ee_decision *decision = &self->decisions[k];
    actions[0] = decision->arm;
    probabilities[0] = decision->probability;
    for (size_t i = 0; i < arms; i++) {
        bool taken = false;
        for (size_t before = 0; before <= k; before++) taken = taken || self->decisions[before].arm == i;
        if (taken) continue;
        actions[count] = i;
        probabilities[count++] = chances[i];
    }
    return (log_slot){.count = count,
                      .actions = actions,
                      .probabilities = probabilities,
                      .reward = round->rewards[decision->arm],
                      .baseline = SIZE_MAX};
}

ee_status played_slots_write(played_slots *self, const run_job *job, const environment_round *round, ee_error *error)
{
    const ee_decision *first = &self->decisions[0];
    if (isnan(first->probability))
        return status_fail(error, EE_BAD_OPTION,
                           "log: %s has no exact probabilities; set its option 'probability_draws' to estimate them",
                           job->policy);
    char id[48];
    log_slot slots[RUN_SLOTS];
    uint64_t number = (first->id - 1) / self->count + 1;
    int length = snprintf(id, sizeof id, "%" PRIu64 "-%" PRIu64, job->seed, number);
    log_event event = {.id = {id, (size_t)length},
                       .time = (double)NAN,
                       .count = round->arms.count,
                       .action = first->arm,
                       .probability = first->probability,
                       .probabilities = self->chances,
                       .reward = round->rewards[first->arm],
                       .copies = 1,
                       .arms = round->arms};
    for (size_t k = 0; k < self->count && self->count > 1; k++) slots[k] = slot_of(self, round, k);
    event.slots = self->count > 1 ? slots : NULL;
    event.slot_count = self->count > 1 ? self->count : 0;
    return log_write(job->log, &event, error);
}
