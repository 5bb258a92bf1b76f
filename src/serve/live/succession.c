#define _POSIX_C_SOURCE 200809L
#include "succession.h"

#include <inttypes.h>
#include <stdio.h>

#include "data/values/json_members.h"
#include "data/values/plain_number.h"
#include "serve/log/settled_reader.h"
#include "serve/system/server_clock.h"

/* ---- the model ---- */

/* Checks that the library can load it, and that it takes the same features as the bandit. */
static ee_status check_model(const bandit_settings *next, const void *model, size_t size, ee_error *error)
{
    ee_settings expected = {.dim = (size_t)next->dim};
    ee_bandit *loaded = NULL;
    ee_status status = ee_bandit_load_bytes(model, size, &expected, &loaded, error);
    if (!status && !ee_bandit_info(loaded).features != (next->dim > 0))
        status = status_fail(error, EE_BAD_MODEL, "the model takes %s, but the bandit takes %s",
                             next->dim ? "named features" : "vectors", next->dim ? "vectors" : "named features");
    ee_bandit_free(loaded);
    return status;
}

/* Writes the file before the event that names it: a crash in between leaves an unused file. */
static ee_status save_model(const succession *self, const bandit_settings *next, const void *model, size_t size,
                            uint8_t **body, size_t *body_size, ee_error *error)
{
    *body = NULL;
    *body_size = 0;
    if (!model) return EE_OK;
    checkpoint_body head = {
        .version = (uint64_t)server_clock_wall(), .checksum = checkpoint_checksum(model, size), .size = size};
    ee_status status = check_model(next, model, size, error);
    if (!status)
        status = blob_put(store_blobs(self->kept), blob_model(served_bandit_number(self->bandit), head.version), model,
                          size, error);
    return status ? status : checkpoint_body_write(&head, NULL, body, body_size, error);
}

/* ---- the events ---- */

typedef struct chain {
    journal_entry entries[3];
    size_t count;
} chain;

static journal_entry *add_entry(chain *self, uint32_t bandit, event_kind kind, const void *body, size_t size)
{
    journal_entry *entry = &self->entries[self->count++];
    *entry = (journal_entry){.bandit = bandit, .event = {.kind = kind, .body = body, .size = size}};
    return entry;
}

static void write_why(text *into, const bandit_settings *before, const bandit_settings *next, const char *why)
{
    text_add(into, "{");
    text_member(into, "from", before->policy);
    text_member(into, "to", next->policy);
    text_member(into, "from_options", before->options);
    text_member(into, "to_options", next->options);
    text_member(into, "from_propensity", before->propensity);
    text_member(into, "to_propensity", next->propensity);
    text_add(into, "%s%s}", why[0] ? "," : "", why);
}

ee_status succession_write(const succession *self, const bandit_settings *next, const void *model, size_t size,
                           const char *why, uint64_t *number, ee_error *error)
{
    uint32_t bandit = served_bandit_number(self->bandit);
    const char *name = served_bandit_name(self->bandit);
    bandit_settings before = served_bandit_settings(self->bandit), settings = *next;
    bandit_settings_number(&settings, &before, true);
    bool changes = settings.challenger_count || !bandit_settings_decide_alike(&settings, &before);
    uint8_t *body = NULL;
    size_t body_size;
    chain written = {0};
    text said = text_start(error), reason = text_start(error);
    bandit_settings_write(&settings, &said);
    if (why) write_why(&reason, &before, &settings, why);
    ee_status status = save_model(self, &settings, model, size, &body, &body_size, error);
    if (!status) status = said.status ? said.status : reason.status;
    if (!status) {
        if (changes) add_entry(&written, bandit, EVENT_SETTINGS, said.bytes, said.length)->settings = &settings;
        const journal_entry *replaced = add_entry(&written, bandit, EVENT_MODEL, body, body_size);
        if (why) add_entry(&written, bandit, EVENT_PROMOTION, reason.bytes, reason.length);
        status = journal_write_together(self->written, written.entries, written.count, error);
        *number = replaced->event.number;
    }
    if (!status && changes)
        status = served_bandits_set(self->bandits, bandit, (json_text){name, strlen(name)}, &settings, false, error);
    memory_free(body);
    memory_free(said.bytes);
    memory_free(reason.bytes);
    return status;
}

/* ---- a new one, trained ---- */

struct retraining {
    succession of;
    bandit_settings settings;
    const atomic_bool *cancelled;
    settled_reader *log;
    ee_round *features;
    live_track *learner;
    log_slot *slots;
    size_t slot_capacity;
};

/* The rewards become those that a model of the settings learns. */
static ee_status limit_rewards(retraining *self, log_event *decided, ee_error *error)
{
    size_t count = decided->slot_count;
    decided->reward = bandit_settings_reward(&self->settings, decided->reward);
    if (!count) return EE_OK;
    ee_status status = memory_grow(NULL, &self->slots, &self->slot_capacity, count, sizeof *self->slots, error);
    for (size_t i = 0; i < count && !status; i++) {
        self->slots[i] = decided->slots[i];
        self->slots[i].reward = bandit_settings_reward(&self->settings, decided->slots[i].reward);
    }
    decided->slots = self->slots;
    return status;
}

static ee_status learn_settled(retraining *self, ee_error *error)
{
    for (;;) {
        log_event decided;
        settled_decision facts;
        bool found, usable;
        ee_error why;
        if (atomic_load(self->cancelled)) return status_fail(error, EE_FILE_ERROR, "the server is stopping");
        ee_status status = settled_next(self->log, &decided, &facts, &found, error);
        if (status || !found) return status;
        if (!log_event_is_drawn(&decided)) continue;
        status = candidate_read_features(self->features, &decided, &usable, &why);
        if (status) return status_fail(error, status, "%s", why.message);
        status = limit_rewards(self, &decided, error);
        if (!status) status = live_track_take(self->learner, &decided, self->features, usable, facts.number, error);
        if (status) return status;
    }
}

static ee_status open_log(retraining *self, int64_t from, ee_error *error)
{
    store_reader *reader = NULL;
    log_range range = {.from = from, .until = INT64_MAX, .mode = self->settings.mode, .rules = self->settings.joining};
    ee_status status = store_reader_create(self->of.kept, &reader, error);
    if (status) return status;
    return settled_reader_create(reader, served_bandit_number(self->of.bandit), &range, &self->log, error);
}

ee_status retraining_start(const succession *self, const bandit_settings *next, int64_t from,
                           const atomic_bool *cancelled, retraining **out, ee_error *error)
{
    retraining *made;
    ee_status status = memory_create(NULL, &made, 1, sizeof *made, error);
    if (status) return status;
    made->of = *self;
    made->settings = *next;
    made->cancelled = cancelled;
    status = live_track_create(LIVE_CHALLENGER, &made->settings, NULL, &made->learner, error);
    if (!status) made->learner->judged_from = UINT64_MAX; /* it is not evaluated */
    if (!status) status = open_log(made, from, error);
    if (!status && !next->dim) status = ee_round_create(NULL, &made->features, error);
    if (!status) status = learn_settled(made, error);
    if (status)
        retraining_free(made);
    else
        *out = made;
    return status;
}

ee_status retraining_write(retraining *self, const bandit_settings *next, const char *why, uint64_t *number,
                           ee_error *error)
{
    void *model = NULL;
    size_t size = 0;
    ee_status status = learn_settled(self, error);
    if (!status) status = live_track_model(self->learner, next, &model, &size, error);
    if (!status) status = succession_write(&self->of, next, model, size, why, number, error);
    ee_bytes_free(model);
    return status;
}

void retraining_free(retraining *self)
{
    if (!self) return;
    memory_free(self->slots);
    ee_round_free(self->features);
    settled_reader_free(self->log);
    live_track_free(self->learner);
    memory_free(self);
}

/* ---- a challenger ---- */

/* Removes the promoted challenger and adds the former policy, if there is room. */
static void exchange_challengers(bandit_settings *next, const bandit_settings *before, const char *promoted)
{
    size_t kept = 0;
    for (size_t i = 0; i < before->challenger_count; i++)
        if (strcmp(before->challengers[i].name, promoted) != 0) next->challengers[kept++] = before->challengers[i];
    memset(&next->challengers[kept], 0, (MOST_CHALLENGERS - kept) * sizeof *next->challengers);
    next->challenger_count = kept;
    if (strlen(before->options) >= CHALLENGER_TEXT_SIZE) return;
    challenger_settings *former = &next->challengers[next->challenger_count++]; /* there is room: one has gone */
    snprintf(former->name, sizeof former->name, "former-%" PRIu64, before->tests + 1);
    memcpy(former->policy, before->policy, sizeof former->policy);
    memcpy(former->options, before->options, sizeof former->options);
    memcpy(former->propensity, before->propensity, sizeof former->propensity);
}

static void write_standing(text *into, const challenger_settings *challenger, const live_standing *standing,
                           const char *by, const char *sentence)
{
    text_member(into, "why", sentence);
    text_member(into, "challenger", challenger->name);
    text_member(into, "by", by);
    text_member_count(into, "test", standing->test);
    text_member_count(into, "events", standing->events);
    text_member_number(into, "alpha", standing->alpha);
    text_member_number(into, "value", standing->now.value);
    text_member_number(into, "gain", standing->now.gain);
    text_member_number(into, "gain_low", standing->now.gain_low);
    text_member_number(into, "gain_high", standing->now.gain_high);
    text_member_number(into, "evidence", standing->evidence);
    if (standing->won) text_member_count(into, "won", standing->won);
}

/* The evidence: the test if it is passed. The interval is wider than the test's and may still contain 0 then. */
static void write_sentence(char *into, size_t capacity, const challenger_settings *challenger, const char *before,
                           const live_standing *standing)
{
    const estimate *now = &standing->now;
    int length = snprintf(into, capacity, "%s vs %s: %s after %" PRIu64 " decisions", challenger->policy, before,
                          standing->won ? "better" : "not significantly better", standing->events);
    if (length < 0 || (size_t)length >= capacity) return;
    into += length;
    capacity -= (size_t)length;
    if (standing->won)
        snprintf(into, capacity,
                 ", gain %s; passed test %" PRIu64 ", as one that is not better does with probability at most %s",
                 plain_number_of(now->gain, 4).text, standing->test, plain_number_of(standing->alpha, 3).text);
    else if (standing->events)
        snprintf(into, capacity, ", gain %s, interval %s to %s (test %" PRIu64 ", alpha %s)",
                 plain_number_of(now->gain, 4).text, plain_number_of(now->gain_low, 4).text,
                 plain_number_of(now->gain_high, 4).text, standing->test, plain_number_of(standing->alpha, 3).text);
}

ee_status succession_promote(const succession *self, const challenger_settings *challenger,
                             const live_standing *standing, const char *by, char *sentence, size_t capacity,
                             uint64_t *number, ee_error *error)
{
    bandit_settings before = served_bandit_settings(self->bandit);
    bandit_settings next = challenger_settings_in_place(&before, challenger);
    text why = text_start(error);
    exchange_challengers(&next, &before, challenger->name);
    write_sentence(sentence, capacity, challenger, before.policy, standing);
    write_standing(&why, challenger, standing, by, sentence);
    ee_status status = why.status;
    if (!status) status = succession_write(self, &next, standing->model, standing->size, why.bytes, number, error);
    memory_free(why.bytes);
    return status;
}
