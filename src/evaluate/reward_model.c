#include "reward_model.h"

#include "base/memory.h"
#include "logged_bandit.h"

struct reward_model {
    logged_bandit f1;
    ee_score *scores; /* (capacity) */
    size_t capacity;
};

void reward_model_free(reward_model *self)
{
    if (!self) return;
    logged_bandit_release(&self->f1);
    memory_free(self->scores);
    memory_free(self);
}

ee_status reward_model_create(reward_model_kind kind, const candidate_setup *setup, reward_model **out,
                              ee_error *error)
{
    (void)kind;
    reward_model *self;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    status = logged_bandit_create(&self->f1, setup, "greedy", error);
    if (status)
        reward_model_free(self);
    else
        *out = self;
    return status;
}

ee_status reward_model_play(reward_model *self, const candidate_round *round, double weight, double *q,
                            ee_error *error)
{
    size_t count = round->event->count;
    ee_status status = memory_grow(NULL, &self->scores, &self->capacity, count, sizeof *self->scores, error);
    if (!status)
        status = logged_bandit_play(&self->f1, round, weight != 0.0, NULL, q ? self->scores : NULL, error);
    for (size_t i = 0; !status && q && i < count; i++) q[i] = (double)self->scores[i].exploitation;
    return status;
}

ee_status reward_model_freeze(reward_model *self, ee_error *error)
{
    return logged_bandit_freeze(&self->f1, error);
}
