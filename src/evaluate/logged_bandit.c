#include "logged_bandit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "features/features.h"

/* A Thompson policy knows its probabilities by drawing so often; in each decision of its own it draws once. */
static const char drawn_often[] = "probability_draws=100 ";

static bool has_option(const char *policy, const char *name)
{
    ee_option entry;
    for (size_t i = 0; !ee_option_describe(policy, i, &entry, NULL); i++)
        if (strcmp(entry.name, name) == 0) return true;
    return false;
}

/* Options of named features with half the places, of which a quarter is shared. */
static ee_status halve_places(const char *text, char **out, ee_error *error)
{
    features_options options;
    ee_status status = features_read_options(&options, text, error);
    if (status) return status;
    int64_t places = (options.names + options.hashes) / 2;
    options.hashes = places / 4;
    options.names = places - options.hashes;
    options.bits--;
    size_t length = features_format_options(&options, NULL, 0);
    status = memory_create(NULL, out, length + 1, 1, error);
    if (!status) features_format_options(&options, *out, length + 1);
    return status;
}

/* A policy that takes memory by the square of the places takes as much time for every event: it is given as many places
 * as it has time for, some milliseconds an event. Others keep all that the log has. */
static ee_status create_in_reason(logged_bandit *self, ee_settings settings, ee_error *error)
{
    const size_t reasonable = (size_t)64 << 20; /* bytes: some 2000 places of a linear policy */
    char *fewer = NULL;
    ee_status status = ee_bandit_create(&settings, &self->bandit, error);
    while (!status && ee_bandit_memory(self->bandit) > reasonable) {
        ee_bandit *half = NULL;
        char *text = NULL;
        status = halve_places(settings.features, &text, error);
        memory_free(fewer);
        fewer = text;
        settings.features = fewer;
        if (!status) status = ee_bandit_create(&settings, &half, error);
        bool square = half && 3 * ee_bandit_memory(half) < ee_bandit_memory(self->bandit);
        ee_bandit_free(square ? self->bandit : half);
        if (square) self->bandit = half;
        if (!square) break;
    }
    memory_free(fewer);
    return status;
}

ee_status logged_bandit_create(logged_bandit *self, const candidate_setup *setup, const char *policy, ee_error *error)
{
    const char *given = setup->options ? setup->options : "";
    bool draws = has_option(policy, "probability_draws") && !strstr(given, "probability_draws");
    char *options;
    size_t capacity = strlen(given) + sizeof drawn_often;
    ee_status status = memory_create(NULL, &options, capacity, 1, error);
    if (status) return status;
    snprintf(options, capacity, "%s%s", draws ? drawn_often : "", given);
    ee_settings settings = {.policy = policy,
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
    return status_fail(error, EE_BAD_INPUT, "%.100s: the model takes vectors, and the log has named features", path);
}

void logged_bandit_release(logged_bandit *self)
{
    ee_scratch_free(self->scratch);
    ee_snapshot_free(self->snapshot);
    ee_bandit_free(self->bandit);
}

ee_status logged_bandit_freeze(logged_bandit *self, ee_error *error)
{
    ee_status status = ee_snapshot_create(self->bandit, &self->snapshot, error);
    return status ? status : ee_scratch_create(self->snapshot, &self->scratch, error);
}

static ee_status play_frozen(logged_bandit *self, const candidate_round *round, double *pi, ee_score *scores,
                             ee_error *error)
{
    ee_decision ignored;
    uint64_t seed = round->number; /* of draws, where the policy draws */
    if (round->features)
        return ee_snapshot_decide_round(self->snapshot, self->scratch, round->features, seed, &ignored, scores, pi,
                                        error);
    return ee_snapshot_decide(self->snapshot, self->scratch, &round->event->arms, seed, &ignored, scores, pi, error);
}

ee_status logged_bandit_play(logged_bandit *self, const candidate_round *round, bool learn, double *pi,
                             ee_score *scores, ee_error *error)
{
    if (self->snapshot) return play_frozen(self, round, pi, scores, error);
    const log_event *event = round->event;
    ee_arms arms = event->arms;
    ee_status status = EE_OK;
    if (round->features) status = ee_bandit_arms(self->bandit, round->features, &arms, error);
    if (!status && pi) status = ee_bandit_probabilities(self->bandit, &arms, pi, error);
    if (!status && scores) status = ee_bandit_score(self->bandit, &arms, scores, error);
    if (!status && learn)
        status = ee_bandit_learn_from(self->bandit, &arms, event->action, event->reward, event->probability, error);
    return status;
}
