/* Greedy: the exploitation network f1 alone, no exploration. A control: it trains as EE-Net's f1 does. */
#include "base/memory.h"
#include "net/learner.h"
#include "policy.h"
#include "schedule.h"

typedef struct greedy_options {
    common_options common;
    schedule schedule;
    learner_options f1;
} greedy_options;

typedef struct greedy {
    policy base;
    greedy_options options;
    learner f1;
} greedy;

extern const policy_class greedy_class;

static void free_greedy(policy *base)
{
    greedy *self = (greedy *)base;
    learner_destroy(&self->f1);
    parameters_destroy(&self->base.parameters);
    memory_free(self);
}

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    greedy *self;
    ee_status status = memory_create(&self, 1, sizeof *self, error);
    if (status) return status;
    self->base.class = &greedy_class;
    self->options = *(const greedy_options *)setup->options;
    size_t nonzeros = (size_t)self->options.common.nonzeros, most = setup->most_parameters;
    /* The learner, and so its random streams, is named as EE-Net's: with the same seed both start from the same f1. */
    status = learner_create(&self->f1, "f1", &self->options.f1, setup->dim, nonzeros, setup->seed, most, error);
    if (!status) status = policy_set_parameters(&self->base, setup, self->f1.network.parameter_count, error);
    if (status) {
        free_greedy(&self->base);
        return status;
    }
    learner_start(&self->f1, self->base.parameters.values);
    *out = &self->base;
    return EE_OK;
}

static size_t scratch_count(const policy *base, size_t arms)
{
    (void)arms;
    return ((const greedy *)base)->f1.network.activation_count;
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const greedy *self = (const greedy *)learned->policy;
    for (size_t i = 0; i < arms->count; i++) {
        float f1 = network_forward(&self->f1.network, learned->values, vector_of_arm(arms, i), room->values);
        scores[i] = (ee_score){.exploitation = f1, .score = f1};
    }
}

static ee_status reserve(policy *base, const observation *o, ee_error *error)
{
    return learner_reserve(&((greedy *)base)->f1, 1, o->x, error);
}

static void observe(policy *base, const observation *o, float reward)
{
    greedy *self = (greedy *)base;
    learner_append(&self->f1, o->x, reward);
    self->base.parameters.round++;
}

static void train(policy *base)
{
    greedy *self = (greedy *)base;
    if (schedule_is_due(&self->options.schedule, self->base.parameters.round))
        learner_train(&self->f1, self->base.parameters.values);
}

static void archive_greedy(policy *base, archive *a)
{
    learner_archive(&((greedy *)base)->f1, a);
}

static const option_group groups[] = {
    {"", schedule_option_table, SCHEDULE_OPTIONS, offsetof(greedy_options, schedule), NULL},
    {"f1.", learner_option_table, LEARNER_OPTIONS, offsetof(greedy_options, f1), NULL},
    {"", common_option_table, COMMON_OPTIONS, offsetof(greedy_options, common), NULL},
};

const policy_class greedy_class = {
    .summary = "the arm with the largest f1, no exploration: a control",
    .paper = "",
    .schema = {"greedy", groups, sizeof groups / sizeof *groups, sizeof(greedy_options)},
    .create = create,
    .free = free_greedy,
    .scratch_count = scratch_count,
    .score = score,
    .reserve = reserve,
    .observe = observe,
    .train = train,
    .archive = archive_greedy,
};
