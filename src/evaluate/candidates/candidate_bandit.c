/* Candidates that are bandits: policies and saved models. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "logged_bandit.h"

typedef struct bandit_candidate {
    candidate base;
    logged_bandit player;
    uint64_t learned; /* rewards, before this log */
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
    if (!status) self->learned = ee_bandit_info(self->player.bandit).rewards;
    if (!status && !class->learns) status = logged_bandit_freeze(&self->player, error);
    if (status)
        free_bandit(&self->base);
    else
        *out = &self->base;
    return status;
}

static ee_status play_bandit(candidate *base, const candidate_round *round, bool learn, double *pi, ee_error *error)
{
    bandit_candidate *self = (bandit_candidate *)base;
    ee_status status = logged_bandit_play(&self->player, round, learn, pi, NULL, error);
    if (status || !pi || !isnan(pi[0])) return status;
    return status_fail(error, EE_BAD_OPTION, "%s: its probabilities are unknown; set the option probability_draws",
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

static void write_bandit(ee_bandit *bandit, archive *a)
{
    void *bytes = NULL;
    size_t size = 0;
    ee_error error;
    ee_status status = a->status ? a->status : ee_bandit_save_bytes(bandit, &bytes, &size, &error);
    if (status) archive_fail(a, status, "candidate: cannot be saved");
    uint64_t length = size;
    archive_u64(a, &length);
    archive_bytes(a, bytes, size);
    ee_bytes_free(bytes);
}

/* Replaces the present bandit. */
static void read_bandit(ee_bandit **bandit, archive *a)
{
    ee_bandit *loaded = NULL;
    uint64_t length = 0;
    archive_u64(a, &length);
    if (!a->status && length > archive_remaining(a)) archive_fail(a, EE_BAD_MODEL, "candidate: truncated");
    if (a->status) return;
    ee_status status = ee_bandit_load_bytes(a->source + a->position, (size_t)length, NULL, &loaded, a->error);
    if (status) {
        archive_fail(a, status, "candidate: cannot be loaded");
        return;
    }
    a->position += (size_t)length;
    ee_bandit_free(*bandit);
    *bandit = loaded;
}

static void archive_bandit(candidate *base, archive *a)
{
    bandit_candidate *self = (bandit_candidate *)base;
    if (a->reading)
        read_bandit(&self->player.bandit, a);
    else
        write_bandit(self->player.bandit, a);
}

static uint64_t learned_before(const candidate *base)
{
    return ((const bandit_candidate *)base)->learned;
}

static ee_bandit *bandit_of(candidate *base)
{
    return ((bandit_candidate *)base)->player.bandit;
}

const candidate_class candidate_policy = {
    .form = "POLICY",
    .summary = "a policy listed by 'eenet policies', which learns from the log",
    .arms = true,
    .create = create_bandit,
    .free = free_bandit,
    .play = play_bandit,
    .learns = true,
    .options = options_of_bandit,
    .freeze = freeze_bandit,
    .save = save_bandit,
    .archive = archive_bandit,
    .bandit = bandit_of,
};

const candidate_class candidate_model = {
    .form = "model:FILE",
    .summary = "a saved bandit, which learns nothing more",
    .arms = true,
    .file = true,
    .name = "model",
    .create = create_bandit,
    .free = free_bandit,
    .play = play_bandit,
    .options = options_of_bandit,
    .learned = learned_before,
};

const candidate_class candidate_learning_model = {
    .form = "learning:FILE",
    .summary = "a saved bandit, which keeps learning from the log",
    .arms = true,
    .file = true,
    .name = "learning",
    .create = create_bandit,
    .free = free_bandit,
    .play = play_bandit,
    .learns = true,
    .options = options_of_bandit,
    .freeze = freeze_bandit,
    .save = save_bandit,
    .learned = learned_before,
};
