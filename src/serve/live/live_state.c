/* The state of a bandit's live evaluation as a blob, so that a restart need not read the whole log. */
#include <math.h>

#include "live_bandit.h"

enum { FORMAT = 7 };

static void archive_double(archive *a, double *value)
{
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    archive_u64(a, &bits);
    memcpy(value, &bits, sizeof bits);
}

static void archive_challenger(archive *a, challenger_settings *self)
{
    archive_text(a, self->name, sizeof self->name, "name");
    archive_text(a, self->policy, sizeof self->policy, "policy");
    archive_text(a, self->options, sizeof self->options, "options");
    archive_text(a, self->propensity, sizeof self->propensity, "propensity");
    archive_u64(a, &self->number);
}

static void archive_track(archive *a, live_track *self, size_t point_count)
{
    archive_u64(a, &self->upto);
    archive_u64(a, &self->seen);
    archive_u64(a, &self->judged_from);
    archive_u64(a, &self->won);
    for (size_t i = 0; i < point_count; i++) {
        archive_double(a, &self->points[i].value);
        archive_double(a, &self->points[i].low);
        archive_double(a, &self->points[i].high);
    }
    evaluation_play_archive(&self->play, a);
}

/* Creates the track that the archive fills next. */
static void make_track(live_bandit *self, archive *a, live_kind kind, const challenger_settings *challenger)
{
    live_track *made = NULL;
    ee_error error;
    ee_status status = a->status;
    if (!status)
        status = live_track_create(kind, &self->settings, kind == LIVE_CHALLENGER ? challenger : NULL, &made, &error);
    if (status) {
        archive_fail(a, status, "live: a saved challenger cannot be restored");
        return;
    }
    self->tracks[self->track_count++] = made;
    if (live_track_failure(made)) archive_fail(a, EE_BAD_MODEL, "live: a saved challenger cannot be restored");
}

static void archive_tracks(live_bandit *self, archive *a)
{
    size_t count = 0;
    for (size_t i = 0; i < self->track_count; i++) count += !live_track_failure(self->tracks[i]);
    archive_size(a, &count, LIVE_FIXED, LIVE_TRACKS, "tracks");
    for (size_t i = 0, done = 0; done < count && !a->status; i++) {
        if (!a->reading && live_track_failure(self->tracks[i])) continue; /* it is retried after a restart */
        challenger_settings challenger = {0};
        size_t kind = a->reading ? 0 : self->tracks[i]->kind;
        if (!a->reading) challenger = self->tracks[i]->challenger;
        archive_size(a, &kind, LIVE_ONLINE, LIVE_CHALLENGER, "kind");
        archive_challenger(a, &challenger);
        if (a->reading) make_track(self, a, (live_kind)kind, &challenger);
        if (!a->status) archive_track(a, self->tracks[i], self->point_count);
        done++;
    }
}

static void archive_state(live_bandit *self, archive *a)
{
    uint64_t format = FORMAT, number = self->number;
    archive_u64(a, &format);
    archive_u64(a, &number);
    archive_u64(a, &self->objective);
    if (!a->status && (format != FORMAT || number != self->number))
        archive_fail(a, EE_BAD_MODEL, "live: the state belongs to another bandit or format");
    archive_size(a, &self->point_count, 0, LIVE_POINTS, "points");
    archive_u64(a, &self->step);
    for (size_t i = 0; i < self->point_count; i++) {
        archive_double(a, &self->times[i]);
        archive_u64(a, &self->counts[i]);
    }
    archive_tracks(self, a);
    if (!a->status) live_guard_archive(&self->guard, a);
}

/* ---- the blob ---- */

ee_status live_bandit_save(live_bandit *self, ee_error *error)
{
    archive a = archive_writer(error);
    archive_state(self, &a);
    uint64_t checksum = a.status ? 0 : archive_checksum(a.bytes, a.size);
    archive_u64(&a, &checksum);
    ee_status status = a.status;
    if (!status)
        status =
            blob_put(store_blobs(self->kept), blob_named(self->number, BLOB_LIVE_STATE, ""), a.bytes, a.size, error);
    memory_free(a.bytes);
    return status;
}

/* The last eight bytes are the checksum of the others, which blob_get has verified. */
static ee_status read_state(live_bandit *self, const uint8_t *bytes, size_t size, ee_error *error)
{
    enum { CHECKSUM = 8 };
    archive a = archive_reader(bytes, size - CHECKSUM, error);
    archive_state(self, &a);
    if (!a.status && archive_remaining(&a))
        archive_fail(&a, EE_BAD_MODEL, "live: the state has unexpected bytes at its end");
    return a.status;
}

/* A store may have been restored from a copy that is older than the state: then the log lacks what the state has. */
static ee_status check_log(const live_bandit *self, ee_error *error)
{
    uint64_t last;
    ee_status status = store_last_of(self->log, self->number, ~0U, UINT64_MAX, &last, error);
    if (!status && self->guard.followed > last)
        status = status_fail(error, EE_BAD_MODEL, "live: the state belongs to another log");
    for (size_t i = 0; i < self->track_count && !status; i++)
        if (self->tracks[i]->upto > last)
            status = status_fail(error, EE_BAD_MODEL, "live: the state belongs to another log");
    return status;
}

ee_status live_bandit_load(live_bandit *self, ee_error *error)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    ee_status status =
        blob_get(store_blobs(self->kept), blob_named(self->number, BLOB_LIVE_STATE, ""), &bytes, &size, error);
    if (!status) status = read_state(self, bytes, size, error);
    if (!status) status = check_log(self, error);
    memory_free(bytes);
    return status;
}
