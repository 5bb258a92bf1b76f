#include "live_bandit.h"

#include <math.h>

enum { TOGETHER = 256 }; /* decisions of one turn */

/* ---- settings and periods ---- */

static bool has_number(const bandit_settings *settings, uint64_t number)
{
    for (size_t i = 0; i < settings->challenger_count; i++)
        if (settings->challengers[i].number == number) return true;
    return false;
}

/* Goes back through the SETTINGS events to the one that started the period, and to those that added each challenger. If
 * retention removed them, the first remaining event counts. */
static ee_status find_beginnings(live_bandit *self, uint64_t last, ee_error *error)
{
    bandit_settings newer = self->settings, older;
    bool open[MOST_CHALLENGERS];
    uint64_t number = last;
    self->period = 0;
    for (size_t i = 0; i < MOST_CHALLENGERS; i++) {
        open[i] = i < self->settings.challenger_count;
        self->begins[i] = last;
    }
    for (bool any = true, found = false; any;) {
        uint64_t before;
        ee_status status = store_last(self->log, self->number, EVENT_SETTINGS, number - 1, &before, error);
        if (!status && before) status = store_read_settings(self->log, self->number, before, &older, error);
        if (status || !before) return status;
        if (!found && !bandit_settings_decide_alike(&older, &newer)) {
            self->period = number;
            found = true;
        }
        any = !found;
        for (size_t i = 0; i < self->settings.challenger_count; i++) {
            open[i] = open[i] && has_number(&older, self->settings.challengers[i].number);
            if (open[i]) self->begins[i] = before;
            any = any || open[i];
        }
        newer = older;
        number = before;
    }
    return EE_OK;
}

/* Reads new settings and models from the log. */
static ee_status look_at_settings(live_bandit *self, bool *changed, ee_error *error)
{
    uint64_t settings, model = 0;
    ee_status status = store_last(self->log, self->number, EVENT_SETTINGS, UINT64_MAX, &settings, error);
    if (!status) status = store_last(self->log, self->number, EVENT_MODEL, UINT64_MAX, &model, error);
    *changed = !status && (settings != self->settings_event || model != self->model_event);
    if (status || !*changed) return status;
    self->settings = self->in_force;
    self->period = 0;
    memset(self->begins, 0, sizeof self->begins);
    if (settings) status = store_read_settings(self->log, self->number, settings, &self->settings, error);
    if (!status && settings) status = find_beginnings(self, settings, error);
    if (status) return status;
    self->settings_event = settings;
    self->model_event = model;
    if (model > self->period) self->period = model;
    return EE_OK;
}

/* ---- tracks ---- */

static void forget_readers(live_bandit *self)
{
    settled_reader_free(self->ahead);
    settled_reader_free(self->behind);
    self->ahead = self->behind = NULL;
}

live_track *live_bandit_find(const live_bandit *self, const char *challenger)
{
    for (size_t i = LIVE_FIXED; i < self->track_count; i++)
        if (strcmp(self->tracks[i]->challenger.name, challenger) == 0) return self->tracks[i];
    return NULL;
}

/* Whether the track has learned what this challenger would have. */
static bool is_track_of(const live_track *track, const challenger_settings *one)
{
    const challenger_settings *learned = &track->challenger;
    return strcmp(learned->name, one->name) == 0 && strcmp(learned->policy, one->policy) == 0 &&
           strcmp(learned->options, one->options) == 0 && strcmp(learned->propensity, one->propensity) == 0;
}

static void drop_strangers(live_bandit *self)
{
    size_t kept = LIVE_FIXED;
    for (size_t i = LIVE_FIXED; i < self->track_count; i++) {
        live_track *track = self->tracks[i];
        json_text name = {track->challenger.name, strlen(track->challenger.name)};
        const challenger_settings *one = bandit_settings_challenger(&self->settings, name);
        if (one && is_track_of(track, one))
            self->tracks[kept++] = track;
        else
            live_track_free(track);
    }
    if (self->track_count > kept) self->track_count = kept;
}

static ee_status add_track(live_bandit *self, live_kind kind, const challenger_settings *challenger, ee_error *error)
{
    live_track *made;
    ee_status status = live_track_create(kind, &self->settings, challenger, &made, error);
    if (status) return status;
    made->judged_from = UINT64_MAX; /* until it is set */
    self->tracks[self->track_count++] = made;
    forget_readers(self); /* it is behind */
    return EE_OK;
}

static ee_status add_missing(live_bandit *self, ee_error *error)
{
    ee_status status = EE_OK;
    while (self->track_count < LIVE_FIXED && !status)
        status = add_track(self, (live_kind)self->track_count, NULL, error);
    for (size_t i = 0; i < self->settings.challenger_count && !status; i++) {
        const challenger_settings *one = &self->settings.challengers[i];
        if (!live_bandit_find(self, one->name)) status = add_track(self, LIVE_CHALLENGER, one, error);
    }
    return status;
}

/* Restarts the evaluation of tracks whose start, range or number changed; sets the confidence of all.
 */
static void judge_tracks(live_bandit *self)
{
    const bandit_settings *of = &self->settings;
    for (size_t i = 0; i < self->track_count; i++) {
        live_track *track = self->tracks[i];
        const challenger_settings *one = NULL;
        uint64_t from = self->period;
        for (size_t k = 0; k < of->challenger_count && track->kind == LIVE_CHALLENGER; k++) {
            if (strcmp(of->challengers[k].name, track->challenger.name) != 0) continue;
            one = &of->challengers[k];
            if (self->begins[k] > from) from = self->begins[k];
        }
        bool begun = track->judged_from != UINT64_MAX;
        /* If retention removed the event that started it, the start is not earlier for that. */
        bool same = begun && (one ? one->number == track->challenger.number : from <= track->judged_from);
        track->request.alpha = 1.0 - of->confidence;
        if (one) track->alpha = live_alpha(of->confidence, one->number);
        if (same) continue;
        track->request.reward_low = of->reward_low;
        track->request.reward_high = of->reward_high;
        live_track_judge(track, of, one, from);
        if (i == 0) self->point_count = self->step = 0;
    }
}

static ee_status follow_guardrails(live_bandit *self, ee_error *error)
{
    uint64_t last;
    bool changed = false;
    ee_status status = store_last(self->log, self->number, EVENT_ALARM, UINT64_MAX, &last, error);
    if (status) return status;
    if (last < self->settings_event) last = self->settings_event;
    if (last < self->model_event) last = self->model_event;
    status = live_guard_follow(&self->guard, self->log, self->number, &self->in_force, last, &changed, error);
    self->changes += changed;
    return status;
}

/* With another objective, challengers learn the whole log again. */
static void follow_objective(live_bandit *self)
{
    uint64_t objective = metric_objective_checksum(&self->settings.joining);
    if (objective == self->objective) return;
    while (self->track_count > LIVE_FIXED) live_track_free(self->tracks[--self->track_count]);
    self->objective = objective;
}

static ee_status follow_settings(live_bandit *self, ee_error *error)
{
    bool changed;
    ee_status status = look_at_settings(self, &changed, error);
    if (!status) status = follow_guardrails(self, error);
    if (status || (!changed && self->track_count)) return status;
    forget_readers(self); /* they may read by other rules now */
    follow_objective(self);
    drop_strangers(self);
    status = add_missing(self, error);
    if (!status) judge_tracks(self);
    self->changes++;
    return status;
}

/* ---- decisions ---- */

bool live_bandit_is_behind(const live_bandit *self, const live_track *track)
{
    return track->upto < self->tracks[0]->upto;
}

static ee_status open_reader(live_bandit *self, uint64_t after, settled_reader **out, ee_error *error)
{
    store_reader *reader;
    log_range range = {.after = after,
                       .from = INT64_MIN,
                       .until = INT64_MAX,
                       .mode = self->settings.mode,
                       .rules = self->settings.joining};
    ee_status status = store_reader_create(self->kept, &reader, error);
    return status ? status : settled_reader_create(reader, self->number, &range, out, error);
}

static void thin_points(live_bandit *self)
{
    size_t kept = 0;
    for (size_t i = 1; i < self->point_count; i += 2, kept++) {
        self->times[kept] = self->times[i];
        self->counts[kept] = self->counts[i];
        for (size_t k = 0; k < self->track_count; k++) self->tracks[k]->points[kept] = self->tracks[k]->points[i];
    }
    self->point_count = kept;
    self->step *= 2;
}

/* Records the estimates at every step-th evaluated decision of the online policy. */
static void add_point(live_bandit *self, double time)
{
    uint64_t count = live_track_events(self->tracks[0]);
    if (!self->step) self->step = 1;
    if (!count || count % self->step != 0 || (self->point_count && self->counts[self->point_count - 1] == count))
        return;
    size_t place = self->point_count++;
    self->times[place] = time;
    self->counts[place] = count;
    for (size_t i = 0; i < self->track_count; i++) {
        const live_track *track = self->tracks[i];
        estimate now = live_track_estimate(track);
        bool there = !live_bandit_is_behind(self, track);
        self->tracks[i]->points[place] =
            there ? (live_point){now.value, now.low, now.high} : (live_point){NAN, NAN, NAN};
    }
    if (self->point_count == LIVE_POINTS) thin_points(self);
}

static double cut(const bandit_settings *settings, double reward)
{
    return isnan(reward) ? reward : fmin(settings->reward_high, fmax(settings->reward_low, reward));
}

/* Copies the decision with its rewards clipped to the range. */
static ee_status cut_rewards(live_bandit *self, const log_event *decided, log_event *out, ee_error *error)
{
    size_t count = decided->slot_count;
    *out = *decided;
    out->reward = cut(&self->settings, decided->reward);
    if (!count) return EE_OK;
    ee_status status = memory_grow(NULL, &self->slots, &self->slot_capacity, count, sizeof *self->slots, error);
    for (size_t i = 0; i < count && !status; i++) {
        self->slots[i] = decided->slots[i];
        self->slots[i].reward = cut(&self->settings, decided->slots[i].reward);
    }
    out->slots = self->slots;
    return status;
}

/* Passes the decision to the tracks that are behind, or to the others. */
static ee_status give(live_bandit *self, const log_event *decided, uint64_t number, bool behind, ee_error *error)
{
    ee_error why;
    bool usable = true;
    uint64_t front = self->tracks[0]->upto;
    log_event counted;
    ee_status status = candidate_read_features(self->features, decided, &usable, &why);
    if (status) return status_fail(error, status, "%s", why.message);
    usable = usable && log_event_is_drawn(decided);
    status = cut_rewards(self, decided, &counted, error);
    for (size_t i = 0; i < self->track_count && !status; i++) {
        live_track *track = self->tracks[i];
        if ((track->upto < front) != behind) continue;
        status = live_track_take(track, &counted, self->features, usable, number, error);
    }
    self->changes++;
    if (!status && !behind) add_point(self, decided->time);
    return status;
}

/* Continues with one of the readers. *more: it did not reach the end. */
static ee_status read_some(live_bandit *self, settled_reader **reader, uint64_t after, uint64_t last, bool behind,
                           bool *more, ee_error *error)
{
    ee_status status = *reader ? EE_OK : open_reader(self, after, reader, error);
    uint64_t front = self->tracks[0]->upto;
    *more = true;
    for (size_t i = 0; i < TOGETHER && !status; i++) {
        log_event decided;
        settled_decision facts;
        bool found = false;
        status = settled_next(*reader, &decided, &facts, &found, error);
        bool ends = !status && (!found || facts.number > last);
        if (status || ends) {
            if (ends) *more = false;
            if (ends && found) { /* it belongs to the next turn, which reads new settings first */
                settled_reader_free(*reader);
                *reader = NULL;
                *more = true;
            }
            break;
        }
        if (!behind) status = live_guard_take(&self->guard, &decided, &facts, error);
        if (!status) status = give(self, &decided, facts.number, behind, error);
        if (behind && facts.number >= front) *more = false;
        if (!*more) break;
    }
    if (status) forget_readers(self);
    return status;
}

/* The progress of the track that is furthest behind; false: none is behind. */
static bool find_least(const live_bandit *self, uint64_t *least)
{
    *least = self->tracks[0]->upto;
    for (size_t i = 1; i < self->track_count; i++) {
        const live_track *track = self->tracks[i];
        if (!live_track_failure(track) && track->upto < *least) *least = track->upto;
    }
    return *least < self->tracks[0]->upto;
}

ee_status live_bandit_turn(live_bandit *self, uint64_t last, bool *more, ee_error *error)
{
    uint64_t least;
    bool more_behind = false;
    *more = false;
    ee_status status = follow_settings(self, error);
    if (!status && !self->features && !self->settings.dim) status = ee_round_create(NULL, &self->features, error);
    if (status) return status;
    status = read_some(self, &self->ahead, self->tracks[0]->upto, last, false, more, error);
    if (!status && find_least(self, &least)) {
        status = read_some(self, &self->behind, least, last, true, &more_behind, error);
        more_behind = !status && find_least(self, &least);
    }
    if (!more_behind && self->behind) {
        settled_reader_free(self->behind);
        self->behind = NULL;
    }
    *more = *more || more_behind;
    return status;
}

/* ---- beginning and end ---- */

ee_status live_bandit_open(live_bandit *self, store *kept, uint32_t number, ee_error *error)
{
    self->kept = kept;
    self->number = number;
    ee_status status = store_reader_create(kept, &self->log, error);
    if (status) return status;
    bool changed;
    status = look_at_settings(self, &changed, error);
    if (status) return status;
    if (live_bandit_load(self, NULL)) { /* it is made again */
        for (size_t i = 0; i < self->track_count; i++) live_track_free(self->tracks[i]);
        self->track_count = self->point_count = 0;
        self->step = self->objective = 0;
        live_guard_release(&self->guard);
    }
    self->settings_event = UINT64_MAX; /* so that the settings are read, even if retention removed their events */
    return EE_OK;
}

void live_bandit_close(live_bandit *self)
{
    forget_readers(self);
    for (size_t i = 0; i < self->track_count; i++) live_track_free(self->tracks[i]);
    live_guard_release(&self->guard);
    ee_round_free(self->features);
    memory_free(self->slots);
    store_reader_free(self->log);
}
