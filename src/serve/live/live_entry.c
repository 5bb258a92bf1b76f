#include "live_entry.h"

#include <math.h>
#include <stdio.h>

#include "live_report.h"
#include "serve/system/server_clock.h"

enum { SHARE = 50 }; /* counting and saving may take 1/SHARE of the time */

double live_now(void)
{
    return (double)server_clock_real() * 1e-6;
}

/* ---- showing ---- */

/* Reads the events of a list again if there is a new one after the last. */
static ee_status read_list(const live_bandit *state, event_kind kind, uint64_t *newest, text *list, ee_error *error)
{
    uint64_t last;
    ee_status status = store_last(state->log, state->number, kind, UINT64_MAX, &last, error);
    if (status || (last == *newest && list->bytes)) return status;
    text made = text_start(error);
    status = live_report_events(state->log, state->number, kind, &made, error);
    if (status) {
        memory_free(made.bytes);
        return status;
    }
    memory_free(list->bytes);
    *list = made;
    list->error = NULL;
    *newest = last;
    return EE_OK;
}

/* Counting pending decisions reads all of them, so the slower it is, the less often it is done. */
static ee_status count_waiting(live_entry *entry, ee_error *error)
{
    double begin = live_now();
    uint64_t count;
    const live_bandit *state = &entry->state;
    entry->stale = begin < entry->count_due;
    if (entry->stale) return EE_OK;
    ee_status status = store_count_waiting(state->log, state->number, state->tracks[0]->upto, &count, error);
    double end = live_now();
    if (!status) entry->waiting = (double)count;
    entry->count_due = end + SHARE * (end - begin);
    return status;
}

void live_entry_show(live_entry *entry, pthread_mutex_t *lock, ee_error *error)
{
    const live_bandit *state = &entry->state;
    text made = text_start(error);
    if (!read_list(state, EVENT_PROMOTION, &entry->promotion, &entry->promotions, error) &&
        !read_list(state, EVENT_ALARM, &entry->alarm, &entry->alarms, error) && !count_waiting(entry, error))
        live_report_write(state, entry->waiting, entry->promotions.bytes, entry->alarms.bytes, server_clock_wall(),
                          &made);
    if (made.status || !made.bytes) {
        memory_free(made.bytes);
        return;
    }
    made.error = NULL;
    guard_numbers guard = guard_report_numbers(&state->guard);
    live_point values[LIVE_TRACKS] = {{0}};
    for (size_t i = 0; i < state->track_count; i++) {
        estimate now = live_track_estimate(state->tracks[i]);
        values[i] = (live_point){now.value, now.low, now.high};
    }
    pthread_mutex_lock(lock);
    text before = entry->report;
    entry->report = made;
    entry->guard = guard;
    entry->value_count = state->track_count;
    for (size_t i = 0; i < state->track_count; i++) {
        snprintf(entry->values[i].name, sizeof entry->values[i].name, "%s", live_track_name(state->tracks[i]));
        entry->values[i].now = values[i];
    }
    pthread_mutex_unlock(lock);
    memory_free(before.bytes);
    entry->shown = live_now();
}

/* ---- keeping ---- */

void live_entry_save(live_entry *entry, const live_options *options)
{
    double begin = live_now();
    if (!entry->open || entry->state.changes == entry->saved) return;
    entry->saved = entry->state.changes; /* one that fails is tried again after the next change */
    live_bandit_save(&entry->state, NULL);
    double end = live_now();
    entry->save_due = end + fmax(options->save_seconds, SHARE * (end - begin));
}

void live_entry_put_away(live_entry *entry)
{
    if (!entry->open) return;
    live_bandit_close(&entry->state);
    entry->state = (live_bandit){0};
    entry->open = false;
}

/* ---- for promotions ---- */

/* Whether much of the log is not processed yet: then the model to promote would be incomplete. Pending decisions cannot
 * be processed yet and do not count. */
static bool lacks_much(const live_entry *entry)
{
    enum { FEW = 4096 }; /* events: a few turns */
    return entry->more && entry->state.tracks[0]->upto + FEW < entry->taken;
}

ee_status live_entry_standing(live_entry *entry, const char *challenger, uint64_t test, live_standing *out,
                              ee_error *error)
{
    live_bandit *state = &entry->state;
    live_track *track = entry->open ? live_bandit_find(state, challenger) : NULL;
    if (!track || (test && track->challenger.number != test))
        return status_fail(error, EE_BAD_INPUT, "the challenger '%s' has not started to learn; try again", challenger);
    if (live_track_failure(track))
        return status_fail(error, EE_BAD_INPUT, "the challenger '%s' has failed: %.300s", challenger,
                           live_track_failure(track)->message);
    if (live_bandit_is_behind(state, track) || (!test && lacks_much(entry)))
        return status_fail(error, EE_BAD_INPUT, "the challenger '%s' has not learned the whole log yet; try again",
                           challenger);
    *out = (live_standing){.test = track->challenger.number,
                           .events = live_track_events(track),
                           .won = track->won,
                           .alpha = track->alpha,
                           .evidence = live_track_evidence(track),
                           .now = live_track_estimate(track)};
    return live_track_model(track, &state->settings, &out->model, &out->size, error);
}
