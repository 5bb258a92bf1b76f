#include "logged_bandit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "engine/bandit.h"
#include "features/features.h"

/* Draws by which a Thompson policy estimates its probabilities; in a real decision it draws once. */
static const char drawn_often[] = "probability_draws=100 ";

static bool has_option(const char *owner, const char *name)
{
    ee_option entry;
    for (size_t i = 0; !ee_option_describe(owner, i, &entry, NULL); i++)
        if (strcmp(entry.name, name) == 0) return true;
    return false;
}

/* Memory of a bandit that has met this many places: the same as with vectors of that dimension. */
static ee_status memory_at(ee_settings settings, size_t places, size_t *bytes, ee_error *error)
{
    ee_bandit *bandit;
    settings.features = NULL;
    settings.dim = places;
    ee_status status = ee_bandit_create(&settings, &bandit, error);
    if (status) return status;
    *bytes = ee_bandit_memory(bandit);
    ee_bandit_free(bandit);
    return EE_OK;
}

/* A policy with memory quadratic in the places also takes quadratic time per event: *most limits its places so that an
 * event takes about a millisecond. Others keep all places of the log. */
static ee_status find_most_places(ee_settings settings, size_t *most, ee_error *error)
{
    enum { FEW = 512, TWICE = 2 * FEW };
    const size_t reasonable = (size_t)32 << 20; /* bytes: about 1400 places of a linear policy */
    size_t few, twice;
    ee_status status = memory_at(settings, FEW, &few, error);
    if (!status) status = memory_at(settings, TWICE, &twice, error);
    if (!status) *most = twice > 3 * few ? (size_t)(TWICE * sqrt((double)reasonable / (double)twice)) : SIZE_MAX;
    return status;
}

/* The options of named features with at most this many places, a quarter of them shared. */
static ee_status cut_places(const char *text, size_t most, char **out, ee_error *error)
{
    features_options options;
    ee_status status = features_read_options(&options, text, error);
    if (status || features_dim(&options) <= most) return status;
    options.hashes = (int64_t)(most / 4);
    options.names = (int64_t)most - options.hashes;
    options.bits = (int64_t)log2((double)most);
    size_t length = features_format_options(&options, NULL, 0);
    status = memory_create(NULL, out, length + 1, 1, error);
    if (!status) features_format_options(&options, *out, length + 1);
    return status;
}

static ee_status create_in_reason(logged_bandit *self, ee_settings settings, ee_error *error)
{
    size_t most;
    char *fewer = NULL;
    ee_status status = find_most_places(settings, &most, error);
    if (!status) status = cut_places(settings.features, most, &fewer, error);
    if (fewer) settings.features = fewer;
    if (!status) status = ee_bandit_create(&settings, &self->bandit, error);
    memory_free(fewer);
    return status;
}

ee_status logged_bandit_create(logged_bandit *self, const candidate_setup *setup, const char *name, ee_error *error)
{
    const char *given = setup->options ? setup->options : "";
    bool draws = has_option(name, "probability_draws") && !strstr(given, "probability_draws");
    char *options;
    size_t capacity = strlen(given) + sizeof drawn_often;
    ee_status status = memory_create(NULL, &options, capacity, 1, error);
    if (status) return status;
    snprintf(options, capacity, "%s%s", draws ? drawn_often : "", given);
    ee_settings settings = {.policy = name,
                            .dim = setup->dim,
                            .seed = setup->seed,
                            .options = options,
                            .features = setup->dim ? NULL : setup->features};
    if (setup->dim || setup->fixed_names)
        status = ee_bandit_create(&settings, &self->bandit, error);
    else
        status = create_in_reason(self, settings, error);
    memory_free(options);
    return status;
}

ee_status logged_bandit_load(logged_bandit *self, const candidate_setup *setup, const char *path, ee_error *error)
{
    ee_settings expected = {.dim = setup->dim};
    ee_status status = ee_bandit_load(path, &expected, &self->bandit, error);
    if (status || setup->dim || ee_bandit_info(self->bandit).features) return status;
    return status_fail(error, EE_BAD_INPUT, "%.100s: the model takes vectors, but the log has named features", path);
}

void logged_bandit_release(logged_bandit *self)
{
    memory_free(self->ids);
    limited_arms_release(&self->limited);
    ee_scratch_free(self->scratch);
    ee_snapshot_free(self->snapshot);
    ee_bandit_free(self->bandit);
}

ee_status logged_bandit_freeze(logged_bandit *self, ee_error *error)
{
    ee_status status = ee_snapshot_create(self->bandit, &self->snapshot, error);
    return status ? status : ee_scratch_create(self->snapshot, 0, &self->scratch, error);
}

/* The arms of an event with vectors; the names of its actions are their ids. */
static ee_status take_arms(logged_bandit *self, const log_event *event, ee_arms *arms, ee_error *error)
{
    *arms = event->arms;
    if (!event->actions || event->count != arms->count) return EE_OK;
    ee_status status = memory_grow(NULL, &self->ids, &self->id_capacity, arms->count, sizeof *self->ids, error);
    if (status) return status;
    for (size_t i = 0; i < arms->count; i++)
        self->ids[i] = ee_arm_id(event->actions[i].bytes, event->actions[i].length);
    arms->ids = self->ids;
    return EE_OK;
}

static ee_status play_frozen(logged_bandit *self, const candidate_round *round, double *pi, ee_score *scores,
                             ee_error *error)
{
    ee_arms arms;
    ee_decision ignored;
    ee_scratch_seed(self->scratch, round->number); /* for a policy that draws */
    if (round->features)
        return ee_snapshot_decide_round(self->snapshot, self->scratch, round->features, &ignored, scores, pi, error);
    ee_status status = take_arms(self, round->event, &arms, error);
    if (status) return status;
    return ee_snapshot_decide(self->snapshot, self->scratch, &arms, &ignored, scores, pi, error);
}

ee_status logged_bandit_play(logged_bandit *self, const candidate_round *round, bool learn, double *pi,
                             ee_score *scores, ee_error *error)
{
    if (self->snapshot) return play_frozen(self, round, pi, scores, error);
    const log_event *event = round->event;
    ee_arms arms, left; /* left: those that it may choose from */
    ee_status status = round->features ? EE_OK : take_arms(self, event, &arms, error);
    if (round->features && round->again) /* its names are known */
        status = features_encode(self->bandit->features, round->features, &arms, error);
    else if (round->features)
        status = ee_bandit_arms(self->bandit, round->features, &arms, error);
    if (!status && scores) status = ee_bandit_score(self->bandit, &arms, scores, error);
    if (!status && event->limits)
        status = limited_arms_make(&self->limited, event, &arms, &left, error);
    else if (!status)
        left = arms;
    if (!status && pi) status = ee_bandit_probabilities(self->bandit, &left, pi, error);
    if (!status && pi) limited_arms_spread(event, pi);
    size_t action = limited_arms_number(event, event->action);
    if (!status && learn) status = ee_bandit_learn_from(self->bandit, &left, action, event->reward, error);
    return status;
}
