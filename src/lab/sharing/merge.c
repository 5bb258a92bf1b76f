#include "merge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "lab/results/failed_runs.h"
#include "lab/results/result_folder.h"
#include "lab/results/run_index.h"
#include "lab/results/run_keys.h"
#include "lab/results/run_order.h"

typedef struct merge_folder {
    const char *path;
    stored_runs runs; /* number i is line i + 1 */
} merge_folder;

/* A run of one of the folders. */
typedef struct merge_run {
    const merge_folder *folder;
    const stored_run *run;
    size_t first; /* place of the first run that is the same: its own, mostly */
    bool again;   /* later folders have the same run */
    bool done;    /* the target has it, or it is lost */
    bool lost;    /* no folder has its curve */
} merge_run;

typedef struct merger {
    merge_folder *folders; /* (count) the first is the target */
    size_t count;
    merge_run *runs; /* (run_count) of all folders, one after the other */
    size_t run_count;
    run_index index; /* by key */
    uint64_t *asked; /* (asked_count) the keys of the requested runs, in order; some repeat */
    size_t asked_count, asked_capacity;
    failed_runs failed; /* of all folders, except those that one of them has finished */
    bool failed_more;   /* than the target had */
    size_t contradictions;
    const merge_watch *watch;
    merge_counts *counts;
    ee_error *error;
} merger;

/* ---- reading ---- */

static ee_status list_runs(merger *self)
{
    uint64_t *keys = NULL;
    size_t total = 0;
    for (size_t i = 0; i < self->count; i++) total += self->folders[i].runs.count;
    ee_status status = memory_create(NULL, &self->runs, total, sizeof *self->runs, self->error);
    if (!status) status = memory_create(NULL, &keys, total, sizeof *keys, self->error);
    for (size_t i = 0; i < self->count && !status; i++)
        for (size_t k = 0; k < self->folders[i].runs.count; k++) {
            const stored_run *run = &self->folders[i].runs.runs[k];
            keys[self->run_count] = run_keys_of_stored(run).run;
            self->runs[self->run_count++] = (merge_run){.folder = &self->folders[i], .run = run, .done = i == 0};
        }
    if (!status) status = run_index_create(keys, total, &self->index, self->error);
    for (size_t i = 0; i < total && !status; i++) run_index_find(&self->index, keys[i], &self->runs[i].first);
    memory_free(keys);
    return status;
}

static ee_status read_folders(merger *self, const char *into, const char *const *folders)
{
    self->folders[0].path = into;
    ee_status status = results_read_any(into, &self->folders[0].runs, self->error);
    for (size_t i = 1; i < self->count && !status; i++) {
        self->folders[i].path = folders[i - 1];
        status = results_read(folders[i - 1], &self->folders[i].runs, self->error);
    }
    return status ? status : list_runs(self);
}

/* Shards of one call all have the same order, as far as each has come. */
static ee_status read_order(merger *self)
{
    ee_status status = EE_OK;
    for (size_t i = 1; i < self->count && !status; i++) {
        uint64_t *keys;
        size_t count, before = self->asked_count;
        status = run_order_read(self->folders[i].path, &keys, &count, self->error);
        if (status) break;
        status = memory_grow(NULL, &self->asked, &self->asked_capacity, before + count, sizeof *keys, self->error);
        if (!status && count) memcpy(self->asked + before, keys, count * sizeof *keys);
        if (!status) self->asked_count += count;
        memory_free(keys);
    }
    return status;
}

static ee_status read_failed(merger *self)
{
    failed_runs *failed = &self->failed;
    size_t kept = 0, before = 0;
    ee_status status = EE_OK;
    for (size_t i = 0; i < self->count && !status; i++) {
        status = failed_runs_read(self->folders[i].path, failed, self->error);
        if (i == 0) before = failed->count;
    }
    for (size_t i = 0; i < failed->count; i++) {
        if (run_index_find(&self->index, failed->runs[i].key, NULL)) continue;
        failed->runs[kept++] = failed->runs[i];
        self->failed_more = self->failed_more || i >= before;
    }
    failed->count = kept;
    return status;
}

/* ---- contradictions ---- */

enum { MOST_REPORTED = 5, SENTENCE_TEXT = 1200, RUN_TEXT = 300, PLACE_TEXT = 260 };

__attribute__((format(printf, 2, 3))) static void contradict(merger *self, const char *format, ...)
{
    char sentence[SENTENCE_TEXT];
    if (++self->contradictions > MOST_REPORTED) return;
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    self->watch->report(self->watch->context, sentence);
}

/* "synthetic:inner, eenet, seed 3, 1000 rounds" */
static const char *name_run(const stored_run *run, char text[RUN_TEXT])
{
    snprintf(text, RUN_TEXT, "%.120s, %.60s, %sseed %" PRIu64 ", %" PRIu64 " rounds", run->dataset, run->policy,
             run->tuning ? "tuning " : "", run->seed, run->rounds);
    return text;
}

static size_t line_of(const merge_folder *folder, const stored_run *run)
{
    return (size_t)(run - folder->runs.runs) + 1;
}

/* "DIR/shards/0-of-4 (line 7)" */
static const char *name_place(const merge_folder *folder, const stored_run *run, char text[PLACE_TEXT])
{
    snprintf(text, PLACE_TEXT, "%.200s (line %zu)", folder->path, line_of(folder, run));
    return text;
}

static bool same_version(const stored_run *left, const stored_run *right)
{
    return strcmp(left->version, right->version) == 0 && strcmp(left->kernels, right->kernels) == 0;
}

static bool same_data(const stored_run *left, const stored_run *right)
{
    return left->fingerprint == right->fingerprint && strcmp(left->dataset, right->dataset) == 0;
}

static bool same_data_name(const stored_run *left, const stored_run *right)
{
    return strcmp(left->dataset, right->dataset) == 0;
}

/* The first run of a folder that is like another; NULL if there is none. */
static const stored_run *find_like(const merge_folder *folder, const stored_run *like,
                                   bool (*same)(const stored_run *left, const stored_run *right))
{
    for (size_t i = 0; i < folder->runs.count; i++)
        if (same(&folder->runs.runs[i], like)) return &folder->runs.runs[i];
    return NULL;
}

/* Reports the first run of another version of a folder. */
static void check_version(merger *self, const merge_folder *folder)
{
    char name[RUN_TEXT], places[2][PLACE_TEXT];
    const merge_run *first = self->runs;
    for (size_t k = 0; k < folder->runs.count; k++) {
        const stored_run *run = &folder->runs.runs[k];
        if (same_version(run, first->run) || find_like(&self->folders[0], run, same_version)) continue;
        contradict(self,
                   "%s was run by eenet %s with kernels %s, but %s by %s with %s, so the last digits differ: remove %s "
                   "and run that shard again with the same program and EENET_KERNELS=%s (run %s)",
                   name_place(folder, run, places[0]), run->version, run->kernels,
                   name_place(first->folder, first->run, places[1]), first->run->version, first->run->kernels,
                   folder->path, first->run->kernels, name_run(run, name));
        return;
    }
}

/* Compares a run's data set with that of the first earlier folder that has one of its name. */
static void check_data(merger *self, const merge_folder *folder, const stored_run *run)
{
    char places[2][PLACE_TEXT];
    for (const merge_folder *earlier = self->folders; earlier < folder; earlier++) {
        const stored_run *other = find_like(earlier, run, same_data_name);
        if (!other) continue;
        if (!find_like(earlier, run, same_data) && !find_like(folder, other, same_data))
            contradict(self,
                       "data set %.120s has fingerprint %016" PRIx64 " in %s but %016" PRIx64
                       " in %s, so its files differ between machines: remove the folder with the wrong files, and run "
                       "that shard again",
                       run->dataset, other->fingerprint, name_place(earlier, other, places[0]), run->fingerprint,
                       name_place(folder, run, places[1]));
        return;
    }
}

static bool same_result(const run_result *left, const run_result *right)
{
    return left->regret == right->regret && left->reward == right->reward && left->optimal == right->optimal &&
           memcmp(left->marks, right->marks, sizeof left->marks) == 0 &&
           memcmp(left->slot_regrets, right->slot_regrets, sizeof left->slot_regrets) == 0 &&
           memcmp(left->directions, right->directions, sizeof left->directions) == 0;
}

/* Each run is compared with the first that is the same. */
static void check_results(merger *self)
{
    char name[RUN_TEXT], places[2][PLACE_TEXT];
    for (size_t i = 0; i < self->run_count; i++) {
        const merge_run *one = &self->runs[i];
        merge_run *first = &self->runs[one->first];
        if (first == one) continue;
        first->again = true;
        if (same_result(&first->run->result, &one->run->result)) continue;
        contradict(self,
                   "run %s has different results in %s and %s, so one comes from a different program or data: delete "
                   "the wrong line or its folder, and run that shard again",
                   name_run(one->run, name), name_place(first->folder, first->run, places[0]),
                   name_place(one->folder, one->run, places[1]));
    }
}

static ee_status check(merger *self)
{
    for (size_t i = 1; i < self->count; i++) {
        const merge_folder *folder = &self->folders[i];
        for (size_t k = 0; k < folder->runs.count; k++) /* runs on a data set are adjacent */
            if (!k || !same_data(&folder->runs.runs[k], &folder->runs.runs[k - 1]))
                check_data(self, folder, &folder->runs.runs[k]);
    }
    for (size_t i = 1; i < self->count; i++) check_version(self, &self->folders[i]);
    if (!self->contradictions) check_results(self); /* otherwise it is plain why they differ */
    if (!self->contradictions) return EE_OK;
    return status_fail(self->error, EE_BAD_INPUT, "nothing was merged because of %zu contradiction%s",
                       self->contradictions, self->contradictions == 1 ? "" : "s");
}

/* ---- writing ---- */

static void report_lost(merger *self, merge_run *one)
{
    char sentence[SENTENCE_TEXT];
    snprintf(sentence, sizeof sentence,
             "%.400s/curves/%.200s is missing or damaged: skipped the run in line %zu of %.400s/results.jsonl; run its "
             "shard again to restore it",
             one->folder->path, one->run->curve, line_of(one->folder, one->run), one->folder->path);
    self->watch->report(self->watch->context, sentence);
    self->counts->lost++;
    one->lost = true;
}

static ee_status copy_run(merger *self, result_folder *into, const merge_run *from, bool *there)
{
    double *curve = NULL;
    ee_status status = results_has_curve(from->folder->path, from->run, there, self->error);
    if (status || !*there) return status;
    status = memory_create(NULL, &curve, from->run->rounds, sizeof *curve, self->error);
    if (!status) status = results_curve(from->folder->path, from->run, curve, self->error);
    if (!status) status = result_folder_put(into, from->run, curve, self->error);
    memory_free(curve);
    return status;
}

/* Adds a run, from the first folder that has its curve, unless it is done. */
static ee_status add_run(merger *self, result_folder *into, merge_run *first)
{
    bool there = false;
    ee_status status = EE_OK;
    if (first->done) return EE_OK;
    first->done = true;
    for (merge_run *one = first; one < self->runs + self->run_count && !status && !there; one++) {
        if (one->first == first->first) status = copy_run(self, into, one, &there);
        if (!first->again) break;
    }
    if (status) return status;
    if (there)
        self->counts->added++;
    else
        report_lost(self, first);
    return EE_OK;
}

/* The requested runs in their order, then the others. */
static ee_status add_runs(merger *self, result_folder *into)
{
    ee_status status = EE_OK;
    for (size_t i = 0, place; i < self->asked_count && !status; i++)
        if (run_index_find(&self->index, self->asked[i], &place)) status = add_run(self, into, &self->runs[place]);
    for (size_t i = 0; i < self->run_count && !status; i++)
        status = add_run(self, into, &self->runs[self->runs[i].first]);
    return status;
}

static ee_status write_all(merger *self)
{
    result_folder into = {0};
    const merge_folder *target = &self->folders[0];
    bool more = self->failed_more;
    for (size_t i = 0; i < self->run_count; i++) {
        more = more || !self->runs[self->runs[i].first].done;
        self->counts->there += self->runs[i].done && self->runs[i].again;
    }
    if (!more) return EE_OK;
    ee_status status = result_folder_open(target->path, NULL, &into, self->error);
    if (!status && into.stored.count != target->runs.count)
        status =
            status_fail(self->error, EE_FILE_ERROR,
                        "another program added runs to %s meanwhile, so nothing was merged: merge again", target->path);
    if (!status) status = add_runs(self, &into);
    if (!status) status = result_folder_flush(&into, self->error);
    if (!status && self->failed_more) status = failed_runs_write(target->path, &self->failed, self->error);
    result_folder_close(&into);
    return status;
}

static ee_status count_missing(merger *self)
{
    merge_counts *counts = self->counts;
    run_index turns;
    ee_status status = run_index_create(self->asked, self->asked_count, &turns, self->error);
    for (size_t i = 0, first, place; i < self->asked_count && !status; i++) {
        if (run_index_find(&turns, self->asked[i], &first) && first != i) continue; /* it repeats */
        if (!counts->asked++) counts->only_tuning = true;
        if (failed_runs_find(&self->failed, self->asked[i]))
            counts->failed++;
        else if (!run_index_find(&self->index, self->asked[i], &place) || self->runs[place].lost)
            counts->missing++;
        else if (!self->runs[place].run->tuning)
            counts->only_tuning = false;
    }
    run_index_release(&turns);
    return status;
}

ee_status merge_folders(const char *into, const char *const *folders, size_t count, const merge_watch *watch,
                        merge_counts *out, ee_error *error)
{
    merger self = {.count = count + 1, .watch = watch, .counts = out, .error = error};
    *out = (merge_counts){0};
    ee_status status = memory_create(NULL, &self.folders, self.count, sizeof *self.folders, error);
    if (!status) status = read_folders(&self, into, folders);
    if (!status) status = check(&self);
    if (!status) status = read_order(&self);
    if (!status) status = read_failed(&self);
    if (!status) status = write_all(&self);
    if (!status) status = count_missing(&self);
    for (size_t i = 0; self.folders && i < self.count; i++) results_release(&self.folders[i].runs);
    memory_free(self.folders);
    memory_free(self.runs);
    memory_free(self.asked);
    run_index_release(&self.index);
    failed_runs_release(&self.failed);
    return status;
}
