#include "policy.h"

#include <stdio.h>
#include <string.h>

#include "math/float_mode.h"

#define FIELD(name) offsetof(common_options, name)

const option common_option_table[COMMON_OPTIONS] = {
    {"pending", OPTION_INTEGER, FIELD(pending), "1024", 1, 1e8, NULL,
     "a decision expires when so many more were made without its reward"},
    {"arms", OPTION_INTEGER, FIELD(arms), "32", 1, 1e7, NULL, "arms of a round to reserve memory for; more may come"},
    {"nonzeros", OPTION_INTEGER, FIELD(nonzeros), "1024", 1, 1e9, NULL,
     "non-zeros of a sparse arm, or half the features of a dense one, to reserve memory for; more may come"},
    {"blocks", OPTION_INTEGER, FIELD(blocks), "1", 1, 65536, NULL,
     "where every arm of a round is the same context in another block of the features: how many blocks"},
    {"exclusive", OPTION_FLAG, FIELD(exclusive), "off", 0, 0, NULL,
     "of the arms of a round at most one has a reward that is not 0"},
    {"scale", OPTION_FLAG, FIELD(scale), "off", 0, 0, NULL,
     "arms are divided by the mean length of those of the first round"},
    {"propensity", OPTION_CHOICE, FIELD(propensity), "own", 0, 0, "own|argmax|floor|softmax|igw",
     "how an arm is drawn: as the policy has it; the best; the best or, with propensity_epsilon, any; softmax; "
     "inverse-gap weighting"},
    {"propensity_epsilon", OPTION_REAL, FIELD(propensity_epsilon), "0.05", 0, 1, NULL, "for propensity=floor"},
    {"propensity_temperature", OPTION_REAL, FIELD(propensity_temperature), "0.1", 1e-6, 1e6, NULL,
     "for propensity=softmax"},
    {"propensity_gamma", OPTION_REAL, FIELD(propensity_gamma), "100", 0, 1e9, NULL, "for propensity=igw"},
    {"probability_draws", OPTION_INTEGER, FIELD(probability_draws), "0", 0, 1e6, NULL,
     "Thompson policies: draws to estimate the probability by; 0: it is not a number"},
};

ee_status parameters_create(memory *owner, const policy *source, parameters *out, ee_error *error)
{
    *out = (parameters){0};
    ee_status status = memory_create(owner, &out->values, source->parameters.count, sizeof *out->values, error);
    if (!status) parameters_copy(out, &source->parameters);
    return status;
}

size_t parameters_copy(parameters *to, const parameters *from)
{
    const policy *owner = from->policy;
    uint64_t first = to->policy ? to->round + 1 : 0; /* a copy that nobody has filled yet has no policy */
    float *values = to->values;
    *to = *from;
    to->values = values;
    if (owner->class->copy) return owner->class->copy(owner, first, values);
    memcpy(values, from->values, from->count * sizeof *values);
    return from->count;
}

ee_status scratch_reserve(scratch *self, memory *owner, size_t floats, ee_error *error)
{
    return memory_grow(owner, &self->values, &self->capacity, floats, sizeof *self->values, error);
}

ee_status policy_set_parameters(policy *self, const policy_setup *setup, size_t count, ee_error *error)
{
    if (count > setup->most_parameters)
        return status_fail(error, EE_BAD_MODEL, "model: its options ask for %zu parameters, but it holds at most %zu",
                           count, setup->most_parameters);
    self->parameters = (parameters){.policy = self, .count = count};
    return memory_create(setup->memory, &self->parameters.values, count, sizeof(float), error);
}

size_t policy_kept_count(const policy *self, uint64_t round, size_t arms)
{
    return self->class->kept_count ? self->class->kept_count(self, round, arms) : 0;
}

void policy_score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    unsigned mode = float_mode_enter();
    learned->policy->class->score(learned, arms, room, scores);
    float_mode_leave(mode);
}

void policy_observe(policy *self, const observation *o, float reward)
{
    unsigned mode = float_mode_enter();
    self->class->observe(self, o, reward);
    float_mode_leave(mode);
}

void policy_train(policy *self)
{
    unsigned mode = float_mode_enter();
    self->class->train(self);
    float_mode_leave(mode);
}
