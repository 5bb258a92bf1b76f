/* Candidates that are bandits: policies, and models that were saved. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "logged_bandit.h"

typedef struct bandit_candidate {
    candidate base;
    logged_bandit player;
} bandit_candidate;

static void free_bandit(candidate *base)
{
    logged_bandit_release(&((bandit_candidate *)base)->player);
    memory_free(base);
}

static ee_status create_bandit(const candidate_class *class, const candidate_setup *setup, candidate **out,
                               ee_error *error)
{
    bandit_candidate *self;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    self->base.class = class;
    const char *path = class->name ? candidate_place(setup->text) : NULL;
    if (path)
        status = logged_bandit_load(&self->player, setup, path, error);
    else
        status = logged_bandit_create(&self->player, setup, setup->text, error);
    if (!status && !class->learns) status = logged_bandit_freeze(&self->player, error);
    if (status)
        free_bandit(&self->base);
    else
        *out = &self->base;
    return status;
}

static ee_status create_policy(const candidate_setup *setup, candidate **out, ee_error *error)
{
    return create_bandit(&candidate_policy, setup, out, error);
}

static ee_status create_model(const candidate_setup *setup, candidate **out, ee_error *error)
{
    return create_bandit(&candidate_model, setup, out, error);
}

static ee_status create_learning(const candidate_setup *setup, candidate **out, ee_error *error)
{
    return create_bandit(&candidate_learning_model, setup, out, error);
}

static ee_status play_bandit(candidate *base, const candidate_round *round, bool learn, double *pi, ee_error *error)
{
    bandit_candidate *self = (bandit_candidate *)base;
    ee_status status = logged_bandit_play(&self->player, round, learn, pi, NULL, error);
    if (status || !pi || !isnan(pi[0])) return status;
    return status_fail(error, EE_BAD_OPTION, "%s: its probabilities are not known: set probability_draws",
                       ee_bandit_info(self->player.bandit).policy);
}

static const char *options_of_bandit(const candidate *base)
{
    return ee_bandit_info(((const bandit_candidate *)base)->player.bandit).options;
}

static ee_status freeze_bandit(candidate *base, ee_error *error)
{
    return logged_bandit_freeze(&((bandit_candidate *)base)->player, error);
}

static ee_status save_bandit(const candidate *base, const char *path, ee_error *error)
{
    return ee_bandit_save(((const bandit_candidate *)base)->player.bandit, path, error);
}

const candidate_class candidate_policy = {
    .form = "POLICY",
    .summary = "a policy, as 'eenet policies' lists them, which learns from the log",
    .arms = true,
    .create = create_policy,
    .free = free_bandit,
    .play = play_bandit,
    .learns = true,
    .options = options_of_bandit,
    .freeze = freeze_bandit,
    .save = save_bandit,
};

const candidate_class candidate_model = {
    .form = "model:FILE",
    .summary = "a saved bandit as it is",
    .arms = true,
    .file = true,
    .name = "model",
    .create = create_model,
    .free = free_bandit,
    .play = play_bandit,
    .options = options_of_bandit,
};

const candidate_class candidate_learning_model = {
    .form = "learning:FILE",
    .summary = "a saved bandit that goes on to learn",
    .arms = true,
    .file = true,
    .name = "learning",
    .create = create_learning,
    .free = free_bandit,
    .play = play_bandit,
    .learns = true,
    .options = options_of_bandit,
    .freeze = freeze_bandit,
    .save = save_bandit,
};
