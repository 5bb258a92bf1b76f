#include "log_survey.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "features/features.h"

bool log_survey_can_size(const char *asked)
{
    features_options options;
    if (strstr(asked, "names=") || strstr(asked, "hashes=")) return false;
    return features_read_options(&options, asked, NULL) == EE_OK && options.hashing.pick == HASHING_DICTIONARY;
}

ee_status log_survey_features(const char *asked, size_t names, bool spare, char **out, ee_error *error)
{
    enum { LEAST = 2, USUAL_NAMES = 8192, USUAL_HASHES = 4096 }; /* as features.c has them */
    bool full = names >= LOG_SURVEY_NAMES;
    size_t hashes = spare || full ? USUAL_HASHES : 0;
    if (spare && !full) names = 2 * names > USUAL_NAMES ? 2 * names : USUAL_NAMES;
    if (names < LEAST) names = LEAST;
    size_t capacity = strlen(asked) + 64;
    ee_status status = memory_create(NULL, out, capacity, 1, error);
    if (!status) snprintf(*out, capacity, "%s%snames=%zu hashes=%zu", asked, asked[0] ? " " : "", names, hashes);
    return status;
}

/* The dictionary that counts the names. */
typedef struct name_counter {
    memory memory;
    features names;
    ee_round *round;
    bool used;
} name_counter;

static ee_status start_counting(name_counter *self, const char *text, ee_error *error)
{
    features_options options;
    if (!text) return EE_OK;
    ee_status status = features_read_options(&options, text, error);
    if (status) return status;
    options.names = LOG_SURVEY_NAMES;
    options.hashes = 0;
    self->used = true;
    status = features_create(&self->names, &self->memory, &options, error);
    return status ? status : ee_round_create(NULL, &self->round, error);
}

/* Unreadable features are skipped, as in the evaluation itself. */
static ee_status count_names(name_counter *self, const log_event *event, ee_error *error)
{
    if (!self->used || features_count(&self->names) >= LOG_SURVEY_NAMES) return EE_OK;
    ee_round_clear(self->round);
    if (ee_round_read(self->round, event->context.bytes, event->context.length, NULL)) return EE_OK;
    for (size_t i = 0; i < event->slot_count && !event->slate; i++) {
        json_text own = event->slots[i].features;
        if (own.length && ee_round_context(self->round, own.bytes, own.length, NULL)) return EE_OK;
    }
    return features_learn(&self->names, self->round, error);
}

static void take_rewards(log_survey *out, const log_event *event)
{
    out->reward_low = fmin(out->reward_low, event->reward);
    out->reward_high = fmax(out->reward_high, event->reward);
    for (size_t i = 0; i < event->slot_count && !event->slate; i++) {
        out->reward_low = fmin(out->reward_low, event->slots[i].reward);
        out->reward_high = fmax(out->reward_high, event->slots[i].reward);
    }
}

static void take_metric(log_survey *out, const log_metric *metric)
{
    size_t i = 0;
    while (i < out->metric_count && !json_is(metric->name, out->metrics[i].name)) i++;
    if (i == LOG_METRICS) return;
    evaluation_metric *one = &out->metrics[i];
    if (i == out->metric_count) {
        *one = (evaluation_metric){.low = INFINITY, .high = -INFINITY};
        memcpy(one->name, metric->name.bytes, metric->name.length);
        out->metric_count++;
    }
    one->low = fmin(one->low, metric->value);
    one->high = fmax(one->high, metric->value);
}

ee_status log_survey_take(const evaluation_request *request, const char *asked, const evaluation_watch *watch,
                          log_survey *out, bool *finished, ee_error *error)
{
    log_reader *log = NULL;
    log_event event;
    bool found = true, wanted = true;
    name_counter counter = {0};
    log_options reading = request->reading;
    reading.bare = !asked;
    *out = (log_survey){.reward_low = INFINITY, .reward_high = -INFINITY};
    ee_status status = log_open(request->log, &reading, &log, error);
    if (!status) status = start_counting(&counter, asked, error);
    while (!status && wanted) {
        status = log_next(log, &event, &found, error);
        if (status || !found) break;
        wanted = evaluation_is_wanted(watch);
        if (event.skipped || !log_event_is_randomised(&event)) continue;
        out->events++;
        take_rewards(out, &event);
        for (size_t i = 0; i < event.metric_count; i++) take_metric(out, &event.metrics[i]);
        status = count_names(&counter, &event, error);
    }
    if (counter.used && !status) out->names = features_count(&counter.names);
    *finished = wanted;
    ee_round_free(counter.round);
    memory_release(&counter.memory);
    log_close(log);
    return status;
}
