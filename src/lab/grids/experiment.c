#include "experiment.h"

#include <string.h>

#include "base/memory.h"
#include "lab/results/failed_runs.h"
#include "lab/results/job_keys.h"
#include "lab/results/ordered_runs.h"
#include "lab/results/run_keys.h"
#include "lab/results/run_order.h"
#include "time_left.h"

/* ---- the experiment ---- */

typedef enum entry_state {
    ENTRY_PLAYED,   /* here */
    ENTRY_READ,     /* an earlier call has played it */
    ENTRY_SAME,     /* as an earlier job, whose result it gets */
    ENTRY_FAILED,   /* another shard's, that diverged there */
    ENTRY_ELSEWHERE /* another shard's */
} entry_state;

/* What becomes of a job. */
typedef struct entry {
    entry_state state;
    const stored_run *read; /* of one that was */
} entry;

typedef struct experiment {
    const experiment_site *site;
    const run_job *jobs; /* (count) */
    size_t count;
    const run_watch *watch;
    run_result *results; /* (count) */
    entry *entries;      /* (count) */
    job_keys keys;       /* of the jobs, where there is a folder */
    ordered_runs kept;   /* the folder: a turn a job */
    stored_runs known;   /* of the folder that is only read */
    run_index known_index;
    failed_runs known_failed; /* of that folder too */
    run_job *missing;         /* (missing_count) those to be played */
    size_t *places;           /* (missing_count) of them in jobs */
    size_t missing_count, elsewhere_count;
    time_left ahead;
    run_playing *playing; /* (workers) */
    size_t workers;       /* runs that are played at a time */
    ee_status status;     /* of keeping what ended */
    ee_error *error;
} experiment;

static void close_experiment(experiment *self)
{
    job_keys_release(&self->keys);
    results_release(&self->known);
    run_index_release(&self->known_index);
    failed_runs_release(&self->known_failed);
    time_left_release(&self->ahead);
    memory_free(self->entries);
    memory_free(self->missing);
    memory_free(self->places);
    memory_free(self->playing);
}

/* ---- the watch ---- */

static bool report_ended(const experiment *self, const run_report *report)
{
    const run_watch *watch = self->watch;
    return !watch || !watch->ended || watch->ended(watch->context, report);
}

static bool on_wanted(void *context)
{
    const run_watch *watch = ((const experiment *)context)->watch;
    return !watch || !watch->wanted || watch->wanted(watch->context);
}

static ee_status keep(experiment *self, size_t place, const run_report *report)
{
    if (report->result->status == EE_DIVERGED && shard_is_part(self->site->shard)) {
        ee_status status =
            failed_runs_keep(self->site->folder, self->keys.keys[place].run, report->error->message, self->error);
        if (status) return status;
    }
    if (report->result->status) return ordered_runs_pass(&self->kept, place, self->error);
    if (!report->result->finished) return EE_OK;
    stored_run run = results_of_report(report);
    return ordered_runs_keep(&self->kept, place, &run, report->curve, self->error);
}

static bool on_ended(void *context, const run_report *report)
{
    experiment *self = context;
    size_t place = self->places[report->job - self->missing];
    run_report own = *report;
    own.job = &self->jobs[place];
    self->results[place] = *report->result;
    time_left_end(&self->ahead, place, report->result, false);
    if (!self->status && self->site->folder) self->status = keep(self, place, &own);
    return report_ended(self, &own) && !self->status;
}

/* Stored runs count as finished; other shards' runs do not count. */
static void on_standing(void *context, const run_standing *now)
{
    experiment *self = context;
    run_standing whole = *now;
    whole.jobs = self->count - self->elsewhere_count;
    whole.ended += whole.jobs - self->missing_count;
    whole.rounds = 0;
    for (size_t i = 0; i < self->count; i++)
        if (self->entries[i].state != ENTRY_ELSEWHERE) whole.rounds += self->jobs[i].rounds;
    whole.read = whole.rounds - now->rounds;
    whole.played += whole.read;
    whole.runs = self->playing;
    for (size_t i = 0; i < now->running; i++) {
        self->playing[i] = now->runs[i];
        self->playing[i].job = &self->jobs[self->places[now->runs[i].job - self->missing]];
    }
    whole.share = whole.rounds ? (double)whole.played / (double)whole.rounds : 1.0;
    time_left_estimate(&self->ahead, &whole);
    self->watch->standing(self->watch->context, &whole);
}

static bool report_failed(const experiment *self)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->entries[i].state != ENTRY_FAILED) continue;
        ee_error error;
        status_fail(&error, EE_DIVERGED, "%s", failed_runs_find(&self->known_failed, self->keys.keys[i].run)->sentence);
        run_report report = {
            .job = &self->jobs[i], .result = &self->results[i], .options = self->keys.keys[i].options, .error = &error};
        if (!report_ended(self, &report)) return false;
    }
    return true;
}

/* Reports the runs that were read, or those that are the same as an earlier one. */
static bool report_entries(const experiment *self, entry_state state)
{
    const ee_error none = {EE_OK, ""};
    for (size_t i = 0; i < self->count; i++) {
        const stored_run *read = self->entries[i].read;
        if (self->entries[i].state != state || !self->results[i].finished) continue;
        run_report report = {.job = &self->jobs[i],
                             .result = &self->results[i],
                             .options = self->keys.keys[i].options,
                             .error = &none,
                             .machine = read ? read->machine : NULL,
                             .version = read ? read->version : NULL,
                             .kernels = read ? read->kernels : NULL};
        if (!report_ended(self, &report)) return false;
    }
    return true;
}

/* ---- what is there ---- */

static bool is_asked_for(const void *context, const stored_run *run)
{
    return run_index_find(&((const experiment *)context)->keys.index, run_keys_of_stored(run).run, NULL);
}

static ee_status read_known(experiment *self)
{
    if (!self->site->known) return EE_OK;
    ee_status status = results_read_any(self->site->known, &self->known, self->error);
    if (!status) status = failed_runs_read(self->site->known, &self->known_failed, self->error);
    return status ? status : run_index_of_stored(&self->known, &self->known_index, self->error);
}

/* The run of a job, where an earlier call has played it. */
static const stored_run *find_read(experiment *self, size_t place)
{
    size_t found;
    uint64_t key = self->keys.keys[place].run;
    if (run_index_find(&self->kept.index, key, &found)) return &self->kept.folder.stored.runs[found];
    if (run_index_find(&self->kept.waiting_index, key, &found)) {
        ordered_runs_expect_waiting(&self->kept, place, key);
        return &self->kept.waiting.runs[found];
    }
    return run_index_find(&self->known_index, key, &found) ? &self->known.runs[found] : NULL;
}

static void look_up(experiment *self, size_t place)
{
    bool mine = shard_has(self->site->shard, place);
    entry *own = &self->entries[place];
    const job_key *key = &self->keys.keys[place];
    if (key->same_as != place) {
        *own = self->entries[key->same_as];
        if (own->state == ENTRY_PLAYED) own->state = ENTRY_SAME;
    } else if (key->options) {
        own->read = find_read(self, place);
        own->state = own->read ? ENTRY_READ : mine ? ENTRY_PLAYED : ENTRY_ELSEWHERE;
        bool failed = own->state == ENTRY_ELSEWHERE && failed_runs_find(&self->known_failed, key->run);
        if (failed) own->state = ENTRY_FAILED;
    } else if (!mine) {
        own->state = ENTRY_ELSEWHERE;
    }
    if (own->read) self->results[place] = own->read->result;
    if (own->state == ENTRY_FAILED) self->results[place].status = EE_DIVERGED;
    if (own->state == ENTRY_PLAYED) ordered_runs_expect(&self->kept, place);
}

/* ---- what is to be played ---- */

static ee_status list_missing(experiment *self)
{
    ee_status status = time_left_start(self->jobs, self->count, &self->keys, &self->ahead, self->error);
    if (!status) status = memory_create(NULL, &self->missing, self->count, sizeof *self->missing, self->error);
    if (!status) status = memory_create(NULL, &self->places, self->count, sizeof *self->places, self->error);
    if (!status) status = memory_create(NULL, &self->playing, self->workers, sizeof *self->playing, self->error);
    for (size_t i = 0; i < self->count && !status; i++) {
        if (self->entries[i].state == ENTRY_PLAYED) {
            self->missing[self->missing_count] = self->jobs[i];
            self->places[self->missing_count++] = i;
        } else {
            time_left_end(&self->ahead, i, &self->results[i], true);
        }
        self->elsewhere_count += self->entries[i].state == ENTRY_ELSEWHERE;
    }
    return status;
}

/* Failed runs are reported through the watch and their results. */
static ee_status play_missing(experiment *self)
{
    run_result *played = NULL;
    ee_status status = memory_create(NULL, &played, self->missing_count, sizeof *played, self->error);
    if (status) return status;
    bool heard = self->watch && self->watch->standing;
    run_watch watch = {.wanted = on_wanted, .standing = heard ? on_standing : NULL, .ended = on_ended, .context = self};
    ee_error own = {EE_OK, ""};
    bool curves = self->site->folder != NULL;
    status = run_pool_play(self->site->pool, self->missing, self->missing_count, curves, &watch, played, &own);
    for (size_t i = 0; i < self->missing_count && status; i++)
        if (played[i].status) status = EE_OK;
    if (status && self->error) *self->error = own;
    memory_free(played);
    return status ? status : self->status;
}

/* ---- all together ---- */

/* For merging the folders of shards. */
static ee_status keep_order(experiment *self)
{
    uint64_t *keys;
    size_t count = 0;
    if (!shard_is_part(self->site->shard)) return EE_OK;
    ee_status status = memory_create(NULL, &keys, self->count, sizeof *keys, self->error);
    if (status) return status;
    for (size_t i = 0; i < self->count; i++)
        if (self->keys.keys[i].options && self->keys.keys[i].same_as == i) keys[count++] = self->keys.keys[i].run;
    status = run_order_add(self->site->folder, keys, count, self->error);
    memory_free(keys);
    return status;
}

static ee_status start_kept(experiment *self)
{
    ee_status status = keep_order(self);
    if (!status) status = read_known(self);
    for (size_t i = 0; i < self->count && !status; i++) look_up(self, i);
    if (!status) status = list_missing(self);
    if (!status) status = run_times_learn(&self->ahead.times, &self->kept.folder.stored, self->error);
    if (!status) status = run_times_learn(&self->ahead.times, &self->known, self->error);
    return status ? status : ordered_runs_advance(&self->kept, self->error);
}

static ee_status play_kept(experiment *self)
{
    ee_status status = start_kept(self);
    if (status || !report_entries(self, ENTRY_READ) || !report_failed(self)) return status;
    status = play_missing(self);
    for (size_t i = 0; i < self->count; i++) self->results[i] = self->results[self->keys.keys[i].same_as];
    report_entries(self, ENTRY_SAME);
    return status;
}

static ee_status play_in_folder(experiment *self)
{
    const lost_curves lost = {is_asked_for, self, self->watch};
    ee_status status = job_keys_create(self->jobs, self->count, &self->keys, self->error);
    if (status) return status;
    status = ordered_runs_open(self->site->folder, &lost, self->count, &self->kept, self->error);
    if (!status) status = play_kept(self);
    ordered_runs_close(&self->kept);
    return status;
}

static ee_status play_all(experiment *self)
{
    ee_status status = list_missing(self);
    return status ? status : play_missing(self);
}

ee_status experiment_run(const experiment_site *site, const run_job *jobs, size_t count, const run_watch *watch,
                         run_result *results, ee_error *error)
{
    memset(results, 0, count * sizeof *results);
    experiment self = {.site = site,
                       .jobs = jobs,
                       .count = count,
                       .workers = site->pool.workers < count ? site->pool.workers : count,
                       .watch = watch,
                       .results = results,
                       .error = error};
    ee_status status = memory_create(NULL, &self.entries, count, sizeof *self.entries, error);
    if (!status) status = site->folder ? play_in_folder(&self) : play_all(&self);
    close_experiment(&self);
    return status;
}
