#define _GNU_SOURCE
#include "live.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "live_report.h"
#include "server_clock.h"

static const double REST = 0.05; /* seconds between two turns of a bandit that has taken all it had */
static const double SHOW = 0.25; /* between two reports of one that has not */
static const double RETRY = 5;   /* after what failed */
static const double LOOK = 1;    /* between two looks at who has challengers */
enum { SHARE = 50 };             /* one part in so many of the time may go to counting and saving */

/* A bandit that is evaluated. */
typedef struct live_entry {
    served_bandit *bandit;

    /* Under the lock. */
    text report; /* NULL bytes: none yet */
    struct {
        char name[BANDIT_NAME_SIZE];
        live_point now;
    } values[LIVE_TRACKS]; /* (value_count) */
    size_t value_count;
    double asked; /* when somebody looked; seconds */

    /* Of the thread, or of whoever has the turn. */
    live_bandit state;
    bool open;
    bool more, stale; /* there is more to take; what is shown lacks a count that was not due */
    uint64_t taken;   /* events of the log when it had its last turn */
    uint64_t saved;   /* changes that were saved */
    double due, news, shown, save_due, count_due, waiting;
    uint64_t promotion; /* the last that the list has */
    text promotions;
    ee_error trouble;
} live_entry;

struct live {
    live_options options;
    pthread_t thread;
    pthread_mutex_t turn; /* of the states */
    pthread_mutex_t lock; /* of the list, and what is shown; held for a moment */
    pthread_cond_t changed;
    live_entry **entries; /* (count) only added to */
    size_t count, capacity;
    bool stopping, has_news;
};

static double now_seconds(void)
{
    return (double)server_clock_real() * 1e-6;
}

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
    made->report = made->promotions = text_start(NULL);
    made->waiting = NAN;
    made->asked = -INFINITY;
    self->entries[self->count++] = made;
    return made;
}

static void find_challenged(live *self)
{
    served_bandit *bandit;
    for (size_t i = 0; (bandit = served_bandits_at(self->options.bandits, i)); i++) {
        if (!served_bandit_has_challengers(bandit)) continue;
        pthread_mutex_lock(&self->lock);
        if (!find_entry(self, bandit)) add_entry(self, bandit);
        pthread_mutex_unlock(&self->lock);
    }
}

void live_appended(live *self, uint32_t bandit)
{
    (void)bandit; /* who has news is seen by the number of its events */
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
    if (entry) entry->asked = now_seconds();
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

/* ---- showing ---- */

/* Reads the promotions anew, where there is another. */
static ee_status read_promotions(live_entry *entry, ee_error *error)
{
    uint64_t last;
    const live_bandit *state = &entry->state;
    ee_status status = store_last(state->log, state->number, EVENT_PROMOTION, UINT64_MAX, &last, error);
    if (status || (last == entry->promotion && entry->promotions.bytes)) return status;
    text made = text_start(error);
    status = live_report_promotions(state->log, state->number, &made, error);
    if (status) {
        memory_free(made.bytes);
        return status;
    }
    memory_free(entry->promotions.bytes);
    entry->promotions = made;
    entry->promotions.error = NULL;
    entry->promotion = last;
    return EE_OK;
}

/* How many decisions wait takes a look at all of them: so it is done the less often the longer that takes. */
static ee_status count_waiting(live_entry *entry, ee_error *error)
{
    double begin = now_seconds();
    uint64_t count;
    const live_bandit *state = &entry->state;
    entry->stale = begin < entry->count_due;
    if (entry->stale) return EE_OK;
    ee_status status = store_count_waiting(state->log, state->number, state->tracks[0]->upto, &count, error);
    double end = now_seconds();
    if (!status) entry->waiting = (double)count;
    entry->count_due = end + SHARE * (end - begin);
    return status;
}

static void show(live *self, live_entry *entry, ee_error *error)
{
    const live_bandit *state = &entry->state;
    text made = text_start(error);
    if (!read_promotions(entry, error) && !count_waiting(entry, error))
        live_report_write(state, entry->waiting, entry->promotions.bytes, &made);
    if (made.status || !made.bytes) {
        memory_free(made.bytes);
        return;
    }
    made.error = NULL;
    live_point values[LIVE_TRACKS];
    for (size_t i = 0; i < state->track_count; i++) {
        estimate now = live_track_estimate(state->tracks[i]);
        values[i] = (live_point){now.value, now.low, now.high};
    }
    pthread_mutex_lock(&self->lock);
    text before = entry->report;
    entry->report = made;
    entry->value_count = state->track_count;
    for (size_t i = 0; i < state->track_count; i++) {
        snprintf(entry->values[i].name, sizeof entry->values[i].name, "%s", live_track_name(state->tracks[i]));
        entry->values[i].now = values[i];
    }
    pthread_mutex_unlock(&self->lock);
    memory_free(before.bytes);
    entry->shown = now_seconds();
}

/* ---- turns ---- */

static void save(live_entry *entry, const live_options *options)
{
    double begin = now_seconds();
    if (!entry->open || entry->state.changes == entry->saved) return;
    entry->saved = entry->state.changes; /* one that fails is tried again after the next change */
    live_bandit_save(&entry->state, NULL);
    double end = now_seconds();
    entry->save_due = end + fmax(options->save_seconds, SHARE * (end - begin));
}

static void put_away(live_entry *entry)
{
    if (!entry->open) return;
    live_bandit_close(&entry->state);
    entry->state = (live_bandit){0};
    entry->open = false;
}

static ee_status open_state(live *self, live_entry *entry, ee_error *error)
{
    if (entry->open) return EE_OK;
    entry->open = true;
    ee_status status = live_bandit_open(&entry->state, self->options.kept, served_bandit_number(entry->bandit), error);
    if (status) put_away(entry);
    entry->saved = entry->state.changes;
    entry->save_due = now_seconds() + self->options.save_seconds;
    return status;
}

/* Tells of those that have passed, where they are to take over without asking: of the first, the others are then judged
 * anew. */
static void tell_passed(live *self, const live_entry *entry)
{
    const live_bandit *state = &entry->state;
    const live_track *first = NULL;
    if (state->settings.promote != PROMOTE_AUTO) return;
    for (size_t i = LIVE_FIXED; i < state->track_count; i++) {
        const live_track *track = state->tracks[i];
        bool ready = track->won && !live_bandit_is_behind(state, track) && !live_track_failure(track);
        if (ready && (!first || track->won < first->won)) first = track;
    }
    if (first)
        self->options.passed(self->options.context, entry->bandit, first->challenger.name, first->challenger.number);
}

static void note_trouble(live *self, live_entry *entry, const ee_error *error)
{
    bool same = entry->trouble.status == error->status && strcmp(entry->trouble.message, error->message) == 0;
    entry->trouble = *error;
    entry->due = now_seconds() + RETRY;
    if (!same) self->options.trouble(self->options.context, entry->bandit, error);
}

static void give_turn(live *self, live_entry *entry)
{
    ee_error error = {0};
    uint64_t last = served_bandit_standing(entry->bandit).events;
    double now = now_seconds();
    pthread_mutex_lock(&self->turn);
    ee_status status = open_state(self, entry, &error);
    if (!status) status = live_bandit_turn(&entry->state, last, &entry->more, &error);
    entry->taken = last;
    entry->news = now;
    if (!status && (!entry->more || now - entry->shown >= SHOW)) {
        show(self, entry, &error);
        status = error.status;
    }
    if (!status) tell_passed(self, entry);
    if (!status && now_seconds() >= entry->save_due) save(entry, &self->options);
    pthread_mutex_unlock(&self->turn);
    entry->due = entry->more ? 0 : now_seconds() + REST;
    if (status)
        note_trouble(self, entry, &error);
    else
        entry->trouble = (ee_error){0};
}

static bool is_watched(const live *self, const live_entry *entry, double now)
{
    return served_bandit_has_challengers(entry->bandit) || now - entry->asked < self->options.idle_seconds;
}

/* Gives a turn where one is due. *next becomes when something is, at the latest. */
static void serve_entry(live *self, live_entry *entry, double *next)
{
    double now = now_seconds();
    pthread_mutex_lock(&self->lock);
    bool watched = is_watched(self, entry, now);
    bool news = !entry->report.bytes;
    pthread_mutex_unlock(&self->lock);
    bool archived = served_bandit_is_archived(entry->bandit);
    news = news || entry->more || served_bandit_standing(entry->bandit).events != entry->taken;
    news = news || (entry->stale && entry->open && now >= entry->count_due);
    if (watched && !archived && news) {
        if (entry->due <= now) give_turn(self, entry);
        *next = fmin(*next, entry->due);
        return;
    }
    pthread_mutex_lock(&self->turn);
    if (entry->open && now >= entry->save_due) save(entry, &self->options);
    if (entry->open && (archived || !watched || now - entry->news >= self->options.idle_seconds)) {
        save(entry, &self->options);
        put_away(entry);
    }
    pthread_mutex_unlock(&self->turn);
}

static void wait_until(live *self, double when)
{
    struct timespec until = {.tv_sec = (time_t)when};
    until.tv_nsec = (long)((when - (double)until.tv_sec) * 1e9);
    pthread_mutex_lock(&self->lock);
    if (!self->has_news && !self->stopping) pthread_cond_timedwait(&self->changed, &self->lock, &until);
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
    setpriority(PRIO_PROCESS, 0, 15); /* of this thread alone: answers and training go first */
    while (!is_stopping(self)) {
        double now = now_seconds(), next = now + LOOK;
        live_entry *entry;
        if (now >= look) {
            find_challenged(self);
            look = now + LOOK;
        }
        for (size_t i = 0; (entry = entry_at(self, i)) && !is_stopping(self); i++) serve_entry(self, entry, &next);
        if (next > now_seconds()) wait_until(self, next);
    }
    return NULL;
}

/* ---- for promotions ---- */

static ee_status find_standing(live_entry *entry, const char *challenger, uint64_t test, live_standing *out,
                               ee_error *error)
{
    live_bandit *state = &entry->state;
    live_track *track = entry->open ? live_bandit_find(state, challenger) : NULL;
    if (!track || (test && track->challenger.number != test))
        return status_fail(error, EE_BAD_INPUT, "the challenger '%s' has not begun to learn; ask again", challenger);
    if (live_track_failure(track))
        return status_fail(error, EE_BAD_INPUT, "the challenger '%s' has failed: %.300s", challenger,
                           live_track_failure(track)->message);
    if (live_bandit_is_behind(state, track))
        return status_fail(error, EE_BAD_INPUT, "the challenger '%s' has not learned yet what the log has; ask again",
                           challenger);
    *out = (live_standing){.test = track->challenger.number,
                           .events = live_track_events(track),
                           .won = track->won,
                           .alpha = track->alpha,
                           .now = live_track_estimate(track)};
    return live_track_model(track, &state->settings, &out->model, &out->size, error);
}

ee_status live_find_standing(live *self, served_bandit *bandit, const char *challenger, uint64_t test,
                             live_standing *out, ee_error *error)
{
    *out = (live_standing){0};
    pthread_mutex_lock(&self->lock);
    live_entry *entry = find_entry(self, bandit);
    pthread_mutex_unlock(&self->lock);
    if (!entry)
        return status_fail(error, EE_BAD_INPUT, "the challenger '%s' has not begun to learn; ask again", challenger);
    pthread_mutex_lock(&self->turn);
    ee_status status = find_standing(entry, challenger, test, out, error);
    pthread_mutex_unlock(&self->turn);
    return status;
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
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&self->thread, NULL, run, self)) {
        self->stopping = true;
        live_free(self);
        return status_fail(error, EE_NO_MEMORY, "live: the system has no thread for it");
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
    for (size_t i = 0; i < self->count && !hurry; i++) save(self->entries[i], &self->options);
}

void live_free(live *self)
{
    if (!self) return;
    for (size_t i = 0; i < self->count; i++) {
        put_away(self->entries[i]);
        memory_free(self->entries[i]->report.bytes);
        memory_free(self->entries[i]->promotions.bytes);
        memory_free(self->entries[i]);
    }
    memory_free(self->entries);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    pthread_mutex_destroy(&self->turn);
    memory_free(self);
}
