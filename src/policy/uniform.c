/* Uniform: every arm has the same score, and the engine draws evenly among the best. A baseline. */
#include "base/memory.h"
#include "policy.h"

typedef struct uniform_options {
    common_options common;
} uniform_options;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    policy *self;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (status) return status;
    status = policy_set_parameters(self, setup, 0, error);
    if (!status) *out = self;
    return status;
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    (void)learned;
    (void)room;
    for (size_t i = 0; i < arms->count; i++) scores[i] = (ee_score){0};
}

static const option_group groups[] = {
    REWARD_AND_ROOM_GROUPS(uniform_options, common),
};
static const option_schema schema = OPTION_SCHEMA("uniform", groups, uniform_options, NULL);

const policy_class uniform_class = {
    .summary = "every arm with the same probability: a baseline",
    .paper = "",
    .schema = &schema,
    .create = create,
    .score = score,
};
