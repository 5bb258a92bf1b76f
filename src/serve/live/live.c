#define _GNU_SOURCE
#include "live.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "live_entry.h"
#include "live_report.h"
#include "serve/system/worker.h"

static const double REST = 0.05; /* seconds between two turns of a bandit that is up to date */
static const double SHOW = 0.25; /* between two reports of one that is not */
static const double RETRY = 5;   /* after a failure */
static const double LOOK = 1;    /* between two checks for bandits with challengers or guardrails */

struct live {
    live_options options;
    pthread_t thread;
    pthread_mutex_t turn; /* of the states */
    pthread_mutex_t lock; /* of the list and the reports; held briefly */
    pthread_cond_t changed, answered;
    size_t asking; /* threads waiting for the turn: with only a mutex, the evaluating thread could take it again and
                      again */
    live_entry **entries; /* (count) only added to */
    size_t count, capacity;
    bool stopping, has_news;
};

/* ---- the list ---- */

/* With the lock. */
static live_entry *find_entry(const live *self, const served_bandit *bandit)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->entries[i]->bandit == bandit) return self->entries[i];
    return NULL;
}

/* With the lock; NULL: no memory. */
static live_entry *add_entry(live *self, served_bandit *bandit)
{
    live_entry *made = NULL;
    if (memory_grow(NULL, &self->entries, &self->capacity, self->count + 1, sizeof *self->entries, NULL) ||
        memory_create(NULL, &made, 1, sizeof *made, NULL))
        return NULL;
    made->bandit = bandit;
    made->report = made->promotions = made->alarms = text_start(NULL);
    made->waiting = NAN;
    made->asked = -INFINITY;
    self->entries[self->count++] = made;
    return made;
}

static void find_watched(live *self)
{
    served_bandit *bandit;
    for (size_t i = 0; (bandit = served_bandits_at(self->options.bandits, i)); i++) {
        if (!served_bandit_is_evaluated(bandit)) continue;
        pthread_mutex_lock(&self->lock);
        if (!find_entry(self, bandit)) add_entry(self, bandit);
        pthread_mutex_unlock(&self->lock);
    }
}

void live_appended(live *self, uint32_t bandit)
{
    (void)bandit; /* the number of events shows which bandits have new ones */
    pthread_mutex_lock(&self->lock);
    self->has_news = true;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void live_describe(live *self, served_bandit *bandit, text *into)
{
    pthread_mutex_lock(&self->lock);
    live_entry *entry = find_entry(self, bandit);
    if (!entry) entry = add_entry(self, bandit);
    bool there = entry && entry->report.bytes;
    if (entry) entry->asked = live_now();
    if (there) text_bytes(into, entry->report.bytes, entry->report.length);
    self->has_news = true;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
    if (there) return;
    bandit_settings settings = served_bandit_settings(bandit);
    live_report_write_empty(&settings, into);
}

void live_each_value(live *self, visit_live_value *visit, void *context)
{
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->count; i++) {
        const live_entry *entry = self->entries[i];
        for (size_t k = 0; k < entry->value_count; k++)
            visit(context, entry->bandit, entry->values[k].name, entry->values[k].now);
    }
    pthread_mutex_unlock(&self->lock);
}

void live_each_guard(live *self, visit_guard_numbers *visit, void *context)
{
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->count; i++)
        if (self->entries[i]->guard.active) visit(context, self->entries[i]->bandit, &self->entries[i]->guard);
    pthread_mutex_unlock(&self->lock);
}

/* ---- turns ---- */

static ee_status open_state(live *self, live_entry *entry, ee_error *error)
{
    if (entry->open) return EE_OK;
    entry->open = true;
    ee_status status = live_bandit_open(&entry->state, self->options.kept, served_bandit_number(entry->bandit), error);
    if (status) live_entry_put_away(entry);
    entry->saved = entry->state.changes;
    entry->save_due = live_now() + self->options.save_seconds;
    return status;
}

/* Reports the first challenger that has passed, if promotion is automatic: the tests of the others restart then. A
 * bandit that is held waits for its release: a promotion would give it another model and forget the violated bound. */
static void report_passed(live *self, const live_entry *entry)
{
    const live_bandit *state = &entry->state;
    const live_track *first = NULL;
    if (state->settings.promote != PROMOTE_AUTO || state->settings.held != HELD_NOT) return;
    for (size_t i = LIVE_FIXED; i < state->track_count; i++) {
        const live_track *track = state->tracks[i];
        bool ready = track->won && !live_bandit_is_behind(state, track) && !live_track_failure(track);
        if (ready && (!first || track->won < first->won)) first = track;
    }
    if (first)
        self->options.passed(self->options.context, entry->bandit, first->challenger.name, first->challenger.number);
}

static void report_alarm(live *self, live_entry *entry)
{
    const live_guard *guard = &entry->state.guard;
    const live_alarm *alarm = live_guard_alarm(guard);
    entry->alarmed = alarm != NULL;
    entry->alarm_due = live_now() + RETRY;
    if (alarm) self->options.alarmed(self->options.context, entry->bandit, alarm, guard->followed);
}

static void note_trouble(live *self, live_entry *entry, const ee_error *error)
{
    bool same = entry->trouble.status == error->status && strcmp(entry->trouble.message, error->message) == 0;
    entry->trouble = *error;
    entry->due = live_now() + RETRY;
    if (!same) self->options.trouble(self->options.context, entry->bandit, error);
}

/* Takes the turn after all threads that wait for it now. */
static void take_turn(live *self)
{
    pthread_mutex_lock(&self->lock);
    while (self->asking) pthread_cond_wait(&self->answered, &self->lock);
    pthread_mutex_unlock(&self->lock);
    pthread_mutex_lock(&self->turn);
}

static void give_turn(live *self, live_entry *entry)
{
    ee_error error = {0};
    uint64_t last = served_bandit_standing(entry->bandit).events;
    double now = live_now();
    take_turn(self);
    if (served_bandit_is_archived(entry->bandit) || served_bandit_is_removed(entry->bandit)) { /* since the check */
        pthread_mutex_unlock(&self->turn);
        return;
    }
    entry->state.in_force = served_bandit_settings(entry->bandit);
    ee_status status = open_state(self, entry, &error);
    if (!status) status = live_bandit_turn(&entry->state, last, &entry->more, &error);
    entry->taken = last;
    entry->news = now;
    if (!status && (!entry->more || now - entry->shown >= SHOW)) {
        live_entry_show(entry, &self->lock, &error);
        status = error.status;
    }
    if (!status) report_passed(self, entry);
    if (!status) report_alarm(self, entry);
    if (!status && live_now() >= entry->save_due) live_entry_save(entry, &self->options);
    pthread_mutex_unlock(&self->turn);
    entry->due = entry->more ? 0 : live_now() + REST;
    if (status)
        note_trouble(self, entry, &error);
    else
        entry->trouble = (ee_error){0};
}

static bool is_watched(const live *self, const live_entry *entry, double now)
{
    return served_bandit_is_evaluated(entry->bandit) || now - entry->asked < self->options.idle_seconds;
}

/* Gives a turn if one is due. Lowers *next to the time of the next one. */
static void serve_entry(live *self, live_entry *entry, double *next)
{
    double now = live_now();
    pthread_mutex_lock(&self->lock);
    bool watched = is_watched(self, entry, now);
    bool news = !entry->report.bytes;
    if (!watched) entry->guard.active = false; /* its guardrails may be gone */
    pthread_mutex_unlock(&self->lock);
    bool archived = served_bandit_is_archived(entry->bandit) || served_bandit_is_removed(entry->bandit);
    news = news || entry->more || served_bandit_standing(entry->bandit).events != entry->taken;
    news = news || (entry->stale && entry->open && now >= entry->count_due);
    news = news || (entry->alarmed && now >= entry->alarm_due);
    if (watched && !archived && news) {
        if (entry->due <= now) give_turn(self, entry);
        *next = fmin(*next, entry->due);
        return;
    }
    take_turn(self);
    if (entry->open && now >= entry->save_due) live_entry_save(entry, &self->options);
    if (entry->open && (archived || !watched || now - entry->news >= self->options.idle_seconds)) {
        live_entry_save(entry, &self->options);
        live_entry_put_away(entry);
    }
    pthread_mutex_unlock(&self->turn);
}

/* With the lock. */
static void sleep_until(live *self, double when)
{
    struct timespec until = {.tv_sec = (time_t)when};
    until.tv_nsec = (long)((when - (double)until.tv_sec) * 1e9);
    pthread_cond_timedwait(&self->changed, &self->lock, &until);
}

/* Always pauses briefly, so that new events are processed together, and then waits for some. */
static void wait_until(live *self, double when)
{
    double rested = live_now() + REST;
    pthread_mutex_lock(&self->lock);
    while (!self->stopping && live_now() < rested) sleep_until(self, rested);
    if (!self->stopping && !self->has_news && live_now() < when) sleep_until(self, when);
    self->has_news = false;
    pthread_mutex_unlock(&self->lock);
}

static bool is_stopping(live *self)
{
    pthread_mutex_lock(&self->lock);
    bool stopping = self->stopping;
    pthread_mutex_unlock(&self->lock);
    return stopping;
}

static live_entry *entry_at(live *self, size_t place)
{
    pthread_mutex_lock(&self->lock);
    live_entry *entry = place < self->count ? self->entries[place] : NULL;
    pthread_mutex_unlock(&self->lock);
    return entry;
}

static void *run(void *context)
{
    live *self = context;
    double look = 0;
    worker_go_last();
    while (!is_stopping(self)) {
        double now = live_now(), next = now + LOOK;
        live_entry *entry;
        if (now >= look) {
            find_watched(self);
            look = now + LOOK;
        }
        for (size_t i = 0; (entry = entry_at(self, i)) && !is_stopping(self); i++) serve_entry(self, entry, &next);
        if (next > live_now()) wait_until(self, next);
    }
    return NULL;
}

/* ---- for promotions ---- */

ee_status live_find_standing(live *self, served_bandit *bandit, const char *challenger, uint64_t test,
                             live_standing *out, ee_error *error)
{
    *out = (live_standing){0};
    pthread_mutex_lock(&self->lock);
    live_entry *entry = find_entry(self, bandit);
    if (entry) self->asking++;
    pthread_mutex_unlock(&self->lock);
    if (!entry)
        return status_fail(error, EE_BAD_INPUT, "the challenger '%s' has not started to learn; try again", challenger);
    pthread_mutex_lock(&self->turn);
    ee_status status = live_entry_standing(entry, challenger, test, out, error);
    pthread_mutex_unlock(&self->turn);
    pthread_mutex_lock(&self->lock);
    if (--self->asking == 0) pthread_cond_signal(&self->answered);
    pthread_mutex_unlock(&self->lock);
    return status;
}

/* ---- bandits that are removed ---- */

static void clear_report(live *self, live_entry *entry)
{
    pthread_mutex_lock(&self->lock);
    memory_free(entry->report.bytes);
    entry->report = text_start(NULL);
    entry->value_count = 0;
    entry->guard = (guard_numbers){0};
    pthread_mutex_unlock(&self->lock);
    memory_free(entry->promotions.bytes);
    memory_free(entry->alarms.bytes);
    entry->promotions = entry->alarms = text_start(NULL);
}

void live_forget(live *self, const served_bandit *bandit, bool save)
{
    pthread_mutex_lock(&self->lock);
    live_entry *entry = find_entry(self, bandit);
    if (entry) self->asking++;
    pthread_mutex_unlock(&self->lock);
    if (!entry) return;
    pthread_mutex_lock(&self->turn);
    if (save) live_entry_save(entry, &self->options);
    live_entry_put_away(entry);
    clear_report(self, entry);
    pthread_mutex_unlock(&self->turn);
    pthread_mutex_lock(&self->lock);
    if (--self->asking == 0) pthread_cond_signal(&self->answered);
    pthread_mutex_unlock(&self->lock);
}

/* ---- beginning and end ---- */

ee_status live_start(const live_options *options, live **out, ee_error *error)
{
    live *self;
    pthread_condattr_t attributes;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    self->options = *options;
    pthread_mutex_init(&self->turn, NULL);
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self->changed, &attributes);
    pthread_cond_init(&self->answered, NULL);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&self->thread, NULL, run, self)) {
        self->stopping = true;
        live_free(self);
        return status_fail(error, EE_NO_MEMORY, "live: could not start a thread");
    }
    *out = self;
    return EE_OK;
}

void live_stop(live *self, bool hurry)
{
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    self->stopping = true;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    for (size_t i = 0; i < self->count && !hurry; i++) live_entry_save(self->entries[i], &self->options);
}

void live_free(live *self)
{
    if (!self) return;
    for (size_t i = 0; i < self->count; i++) {
        live_entry_put_away(self->entries[i]);
        memory_free(self->entries[i]->report.bytes);
        memory_free(self->entries[i]->promotions.bytes);
        memory_free(self->entries[i]->alarms.bytes);
        memory_free(self->entries[i]);
    }
    memory_free(self->entries);
    pthread_cond_destroy(&self->changed);
    pthread_cond_destroy(&self->answered);
    pthread_mutex_destroy(&self->lock);
    pthread_mutex_destroy(&self->turn);
    memory_free(self);
}
