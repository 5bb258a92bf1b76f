/* The folder, besides what results.h says:
 *
 *     pending/KEY.run  a run that ended before its turn: see pending_runs.h
 *
 * A file in pending/ is removed when its run's line is on the disk, and one whose line is there already when the folder
 * is next opened: whatever is the last step before a crash, the lines alone say what is there. */
#define _POSIX_C_SOURCE 200809L
#include "experiment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "forecast.h"
#include "pending_runs.h"
#include "result_folder.h"
#include "run_keys.h"

/* ---- the experiment ---- */

typedef enum entry_state {
    ENTRY_MISSING, /* to be played */
    ENTRY_PENDING, /* in pending/ */
    ENTRY_SETTLED  /* its line is there, or there will be none: it failed, or is the same as an earlier one */
} entry_state;

/* What is known of a job. */
typedef struct entry {
    entry_state state;
    char *options; /* every option with its value; NULL where the bandit cannot be created */
    run_keys keys;
    size_t same_as; /* the first job that is the same: its own place, mostly */
} entry;

typedef struct experiment {
    const experiment_site *site;
    const char *folder; /* the site's */
    result_folder kept;
    char *pending_folder;
    const run_job *jobs; /* (count) */
    size_t count;
    const run_watch *watch;
    run_result *results; /* (count) */
    entry *entries;      /* (count) */
    size_t next;         /* the first that is not settled: the line that is written next is its */
    run_job *missing;    /* (missing_count) those to be played */
    size_t *places;      /* (missing_count) of them in jobs */
    size_t missing_count;
    forecast ahead;
    run_playing *playing; /* (hands) */
    size_t hands;         /* runs that are played at a time */
    ee_status status;     /* of keeping what ended */
    ee_error *error;
} experiment;

/* ---- pending ---- */

static ee_status keep_pending(experiment *self, size_t place)
{
    pending_run run = {0};
    uint64_t key = self->entries[place].keys.run;
    ee_status status = pending_runs_read(self->pending_folder, key, &run, self->error);
    if (!status && !run.curve)
        status = status_fail(self->error, EE_FILE_ERROR, "file: %s/%016" PRIx64 ".run was taken away or damaged",
                             self->pending_folder, key);
    if (!status) status = result_folder_add(&self->kept, &run.run, run.curve, self->error);
    if (!status) status = pending_runs_remove(self->pending_folder, key, self->error);
    pending_runs_release(&run);
    return status;
}

/* Keeps those whose turn has come. */
static void advance(experiment *self)
{
    for (; !self->status && self->next < self->count; self->next++) {
        entry *first = &self->entries[self->next];
        if (first->state == ENTRY_MISSING) return;
        if (first->state == ENTRY_PENDING) self->status = keep_pending(self, self->next);
        if (!self->status) first->state = ENTRY_SETTLED;
    }
}

/* ---- the watch ---- */

static bool report_ended(const experiment *self, size_t place, const run_report *report)
{
    const run_watch *watch = self->watch;
    if (!watch || !watch->ended) return true;
    run_report own = *report;
    own.job = &self->jobs[place];
    return watch->ended(watch->context, &own);
}

static bool on_wanted(void *context)
{
    const run_watch *watch = ((const experiment *)context)->watch;
    return !watch || !watch->wanted || watch->wanted(watch->context);
}

/* One that finished is kept at once, or in pending/ until its turn comes. */
static ee_status keep_ended(experiment *self, size_t place, const run_report *report)
{
    entry *own = &self->entries[place];
    if (report->result->status) {
        own->state = ENTRY_SETTLED;
    } else if (report->result->finished) {
        bool turn = place == self->next;
        stored_run run = results_of_report(report);
        ee_status status = turn ? result_folder_add(&self->kept, &run, report->curve, self->error)
                                : pending_runs_write(self->pending_folder, &run, report->curve, self->error);
        if (status) return status;
        own->state = turn ? ENTRY_SETTLED : ENTRY_PENDING;
    }
    return EE_OK;
}

static bool on_ended(void *context, const run_report *report)
{
    experiment *self = context;
    size_t place = self->places[report->job - self->missing];
    self->results[place] = *report->result;
    if (!self->status) self->status = forecast_end(&self->ahead, place, report->result, false, self->error);
    if (!self->status && self->folder) self->status = keep_ended(self, place, report);
    if (self->folder) advance(self);
    return report_ended(self, place, report) && !self->status;
}

/* What was read counts as ended. */
static void on_standing(void *context, const run_standing *now)
{
    experiment *self = context;
    run_standing whole = *now;
    whole.jobs = self->count;
    whole.ended += self->count - self->missing_count;
    whole.rounds = 0;
    for (size_t i = 0; i < self->count; i++) whole.rounds += self->jobs[i].rounds;
    whole.read = whole.rounds - now->rounds;
    whole.played += whole.read;
    whole.runs = self->playing;
    for (size_t i = 0; i < now->running; i++) {
        self->playing[i] = now->runs[i];
        self->playing[i].job = &self->jobs[self->places[now->runs[i].job - self->missing]];
    }
    whole.share = whole.rounds ? (double)whole.played / (double)whole.rounds : 1.0;
    forecast_tell(&self->ahead, &whole);
    self->watch->standing(self->watch->context, &whole);
}

/* ---- the jobs ---- */

static bool same_setting(const run_job *left, const run_job *right)
{
    if (left->data != right->data || strcmp(left->policy, right->policy) != 0) return false;
    if (!delay_same(&left->late, &right->late) || left->slots != right->slots) return false;
    return strcmp(left->options ? left->options : "", right->options ? right->options : "") == 0;
}

/* Every option with its value. A bandit that cannot be created fails when it is played, and is reported then. */
static ee_status find_options(experiment *self, size_t place)
{
    entry *own = &self->entries[place];
    if (place == 0 || !same_setting(&self->jobs[place - 1], &self->jobs[place])) {
        ee_status status = runner_check(&self->jobs[place], &own->options, self->error);
        return status == EE_NO_MEMORY ? status : EE_OK;
    }
    const char *before = own[-1].options;
    if (!before) return EE_OK;
    ee_status status = memory_create(NULL, &own->options, strlen(before) + 1, 1, self->error);
    if (!status) strcpy(own->options, before);
    return status;
}

static ee_status make_entries(experiment *self)
{
    ee_status status = memory_create(NULL, &self->entries, self->count, sizeof *self->entries, self->error);
    for (size_t i = 0; i < self->count && !status; i++) {
        entry *own = &self->entries[i];
        own->same_as = i;
        status = find_options(self, i);
        if (own->options) own->keys = run_keys_of_job(&self->jobs[i], own->options);
    }
    return status;
}

static bool is_asked_for(const void *context, const stored_run *run)
{
    const experiment *self = context;
    uint64_t key = run_keys_of_stored(run).run;
    for (size_t i = 0; i < self->count; i++)
        if (self->entries[i].options && self->entries[i].keys.run == key) return true;
    return false;
}

static ee_status look_up(experiment *self, const stored_runs *stored, const uint64_t *stored_keys, size_t place)
{
    entry *own = &self->entries[place];
    if (!own->options) return EE_OK;
    for (size_t i = 0; i < stored->count; i++) {
        if (stored_keys[i] != own->keys.run) continue;
        self->results[place] = stored->runs[i].result;
        own->state = ENTRY_SETTLED;
        return EE_OK;
    }
    for (size_t i = 0; i < place; i++) {
        if (!self->entries[i].options || self->entries[i].keys.run != own->keys.run) continue;
        own->same_as = i;
        own->state = ENTRY_SETTLED;
        return EE_OK;
    }
    pending_run waiting = {0};
    ee_status status = pending_runs_read(self->pending_folder, own->keys.run, &waiting, self->error);
    if (waiting.curve) {
        self->results[place] = waiting.run.result;
        own->state = ENTRY_PENDING;
    }
    pending_runs_release(&waiting);
    return status;
}

static ee_status look_up_all(experiment *self, const stored_runs *stored)
{
    uint64_t *keys = NULL;
    ee_status status = memory_create(NULL, &keys, stored->count, sizeof *keys, self->error);
    for (size_t i = 0; i < stored->count && !status; i++) keys[i] = run_keys_of_stored(&stored->runs[i]).run;
    for (size_t i = 0; i < self->count && !status; i++) status = look_up(self, stored, keys, i);
    memory_free(keys);
    return status;
}

/* ---- what is to be played, and how long that takes ---- */

static ee_status list_missing(experiment *self)
{
    ee_status status = memory_create(NULL, &self->missing, self->count, sizeof *self->missing, self->error);
    if (!status) status = memory_create(NULL, &self->places, self->count, sizeof *self->places, self->error);
    if (!status) status = memory_create(NULL, &self->playing, self->hands, sizeof *self->playing, self->error);
    if (!status) status = forecast_start(self->jobs, self->count, self->hands, &self->ahead, self->error);
    for (size_t i = 0; i < self->count && !status; i++) {
        if (self->entries && self->entries[i].state != ENTRY_MISSING) {
            status = forecast_end(&self->ahead, i, &self->results[i], true, self->error);
        } else {
            self->missing[self->missing_count] = self->jobs[i];
            self->places[self->missing_count++] = i;
        }
    }
    return status;
}

/* Lines have every option, and jobs what was set: a line is of a job's setting where that has the same options. */
static ee_status learn_pace(experiment *self, const stored_runs *stored)
{
    forecast *ahead = &self->ahead;
    pace_setting *whole; /* (settings) with every option */
    ee_status status = memory_create(NULL, &whole, ahead->setting_count, sizeof *whole, self->error);
    for (size_t i = 0; i < self->count && !status; i++) {
        const dataset *data = self->jobs[i].data;
        whole[ahead->setting_of[i]] = pace_setting_of(dataset_name(data), dataset_fingerprint(data),
                                                      self->jobs[i].policy, self->entries[i].options);
    }
    for (size_t i = 0; i < stored->count && !status; i++) {
        const stored_run *run = &stored->runs[i];
        pace_setting setting = pace_setting_of(run->dataset, run->fingerprint, run->policy, run->options);
        for (size_t k = 0; k < ahead->setting_count; k++) {
            if (!pace_setting_same(&whole[k], &setting)) continue;
            setting = ahead->settings[k].setting;
            break;
        }
        status = pace_learn(&ahead->known, &setting, run->rounds, run->result.seconds, self->error);
    }
    memory_free(whole);
    return status;
}

/* Reports the runs that were read, or those that are the same as an earlier one. */
static bool report_read(const experiment *self, bool same)
{
    const ee_error none = {EE_OK, ""};
    bool wanted = true;
    for (size_t i = 0; i < self->count && wanted; i++) {
        const entry *own = &self->entries[i];
        if ((own->same_as != i) != same || !self->results[i].finished) continue;
        run_report report = {
            .job = &self->jobs[i], .result = &self->results[i], .options = own->options, .error = &none};
        wanted = report_ended(self, i, &report);
    }
    return wanted;
}

/* The runs that fail are told by the watch, and by their results. */
static ee_status play_missing(experiment *self)
{
    run_result *played = NULL;
    ee_status status = memory_create(NULL, &played, self->missing_count, sizeof *played, self->error);
    if (status) return status;
    bool heard = self->watch && self->watch->standing;
    run_watch watch = {.wanted = on_wanted, .standing = heard ? on_standing : NULL, .ended = on_ended, .context = self};
    ee_error own = {EE_OK, ""};
    const run_crew *crew = &self->site->crew;
    status = crew->play(crew, self->missing, self->missing_count, self->folder != NULL, &watch, played, &own);
    for (size_t i = 0; i < self->missing_count && status; i++)
        if (played[i].status) status = EE_OK;
    if (status && self->error) *self->error = own;
    memory_free(played);
    return status ? status : self->status;
}

static void close_experiment(experiment *self)
{
    if (self->pending_folder) rmdir(self->pending_folder); /* stays where a run waits in it */
    result_folder_close(&self->kept);
    for (size_t i = 0; self->entries && i < self->count; i++) memory_free(self->entries[i].options);
    memory_free(self->entries);
    memory_free(self->missing);
    memory_free(self->places);
    memory_free(self->playing);
    forecast_release(&self->ahead);
    memory_free(self->pending_folder);
}

/* What the folder has, and what it has lost. */
static ee_status open_kept(experiment *self)
{
    const lost_curves lost = {is_asked_for, self, self->watch};
    ee_status status = make_entries(self);
    if (!status) status = result_folder_open(self->folder, &lost, &self->kept, self->error);
    if (!status) status = file_join(self->folder, "pending", &self->pending_folder, self->error);
    if (!status) status = file_make_folder(self->pending_folder, self->error);
    if (!status) status = pending_runs_clean(self->pending_folder, &self->kept.stored, self->error);
    if (!status) status = look_up_all(self, &self->kept.stored);
    if (!status) status = list_missing(self);
    return status ? status : learn_pace(self, &self->kept.stored);
}

static ee_status run_kept(experiment *self)
{
    ee_status status = open_kept(self);
    if (status) return status;
    advance(self);
    if (self->status || !report_read(self, false)) return self->status;
    status = play_missing(self);
    for (size_t i = 0; i < self->count; i++) self->results[i] = self->results[self->entries[i].same_as];
    report_read(self, true);
    return status;
}

ee_status experiment_run(const experiment_site *site, const run_job *jobs, size_t count, const run_watch *watch,
                         run_result *results, ee_error *error)
{
    memset(results, 0, count * sizeof *results);
    experiment self = {.site = site,
                       .folder = site->folder,
                       .kept = {.log = {NULL, -1, -1}},
                       .jobs = jobs,
                       .count = count,
                       .hands = site->crew.hands < count ? site->crew.hands : count,
                       .watch = watch,
                       .results = results,
                       .error = error};
    ee_status status;
    if (site->folder) {
        status = run_kept(&self);
    } else {
        status = list_missing(&self);
        if (!status) status = play_missing(&self);
    }
    close_experiment(&self);
    return status;
}
