#include "merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/results/failed_runs.h"
#include "lab/results/result_folder.h"
#include "lab/results/run_index.h"
#include "lab/results/run_order.h"

/* A run that the folder is to get. */
typedef struct new_run {
    size_t turn;
    merge_run run; /* the first of those that are the same */
    size_t first;  /* its place in all */
    bool lost;
} new_run;

typedef struct merger {
    merge_folder *folders; /* (count) the first is the one that the runs come into */
    size_t count;
    merge_runs all;
    uint64_t *asked; /* (asked_count) the keys of the requested runs, in order; some repeat */
    size_t asked_count, asked_capacity;
    run_index turns; /* of asked */
    new_run *fresh;  /* (fresh_count) in the order of their turns */
    size_t fresh_count;
    failed_runs failed; /* of all folders, except those that one of them has finished */
    bool failed_more;   /* than the first folder had */
    const merge_watch *watch;
    merge_counts *counts;
    ee_error *error;
} merger;

/* ---- what there is ---- */

static ee_status read_folders(merger *self, const char *into, const char *const *folders)
{
    self->folders[0].path = into;
    ee_status status = results_read_any(into, &self->folders[0].runs, self->error);
    for (size_t i = 1; i < self->count && !status; i++) {
        self->folders[i].path = folders[i - 1];
        status = results_read(folders[i - 1], &self->folders[i].runs, self->error);
    }
    return status ? status : merge_runs_list(self->folders, self->count, &self->all, self->error);
}

/* ---- the requested runs, and their order ---- */

static ee_status add_order(merger *self, const char *folder)
{
    uint64_t *keys;
    size_t count;
    ee_status status = run_order_read(folder, &keys, &count, self->error);
    if (status) return status;
    status = memory_grow(NULL, &self->asked, &self->asked_capacity, self->asked_count + count, sizeof *self->asked,
                         self->error);
    if (!status && count) memcpy(self->asked + self->asked_count, keys, count * sizeof *keys);
    if (!status) self->asked_count += count;
    memory_free(keys);
    return status;
}

/* Shards of one call all have the same order, as far as each has come. */
static ee_status read_order(merger *self)
{
    ee_status status = EE_OK;
    for (size_t i = 1; i < self->count && !status; i++) status = add_order(self, self->folders[i].path);
    return status ? status : run_index_create(self->asked, self->asked_count, &self->turns, self->error);
}

/* The first turn of a run; the last turn if it was not requested. */
static size_t find_turn(const merger *self, uint64_t key)
{
    size_t turn;
    return run_index_find(&self->turns, key, &turn) ? turn : SIZE_MAX;
}

/* ---- what is new ---- */

/* Place behind those that are the same as the one at first. */
static size_t end_of_same(const merger *self, size_t first)
{
    size_t end = first + 1;
    while (end < self->all.count && self->all.runs[end].key == self->all.runs[first].key) end++;
    return end;
}

static int compare_fresh(const void *left, const void *right)
{
    const new_run *a = left, *b = right;
    if (a->turn != b->turn) return a->turn < b->turn ? -1 : 1;
    if (a->run.folder != b->run.folder) return a->run.folder < b->run.folder ? -1 : 1;
    return (a->run.place > b->run.place) - (a->run.place < b->run.place);
}

static ee_status list_fresh(merger *self)
{
    ee_status status = memory_create(NULL, &self->fresh, self->all.count, sizeof *self->fresh, self->error);
    if (status) return status;
    for (size_t first = 0, end; first < self->all.count; first = end) {
        const merge_run *run = &self->all.runs[first];
        end = end_of_same(self, first);
        if (run->folder == 0)
            self->counts->there += end - first > 1;
        else
            self->fresh[self->fresh_count++] = (new_run){find_turn(self, run->key), *run, first, false};
    }
    qsort(self->fresh, self->fresh_count, sizeof *self->fresh, compare_fresh);
    return EE_OK;
}

/* ---- what failed ---- */

static int compare_key(const void *key, const void *run)
{
    uint64_t wanted = *(const uint64_t *)key, own = ((const merge_run *)run)->key;
    return (wanted > own) - (wanted < own);
}

static bool has_run(const merger *self, uint64_t key)
{
    return bsearch(&key, self->all.runs, self->all.count, sizeof *self->all.runs, compare_key) != NULL;
}

static ee_status read_failed(merger *self)
{
    failed_runs *failed = &self->failed;
    ee_status status = failed_runs_read(self->folders[0].path, failed, self->error);
    size_t before = failed->count, kept = 0;
    for (size_t i = 1; i < self->count && !status; i++)
        status = failed_runs_read(self->folders[i].path, failed, self->error);
    for (size_t i = 0; i < failed->count; i++) {
        if (has_run(self, failed->runs[i].key)) continue;
        failed->runs[kept++] = failed->runs[i];
        self->failed_more = self->failed_more || i >= before;
    }
    failed->count = kept;
    return status;
}

/* ---- writing ---- */

static void tell_lost(merger *self, new_run *one)
{
    const merge_run *which = &one->run;
    const merge_folder *folder = &self->folders[which->folder];
    char sentence[1200];
    snprintf(sentence, sizeof sentence,
             "%.400s/curves/%.200s is missing or damaged: skipped the run in line %zu of %.400s/results.jsonl; run its "
             "shard again to restore it",
             folder->path, folder->runs.runs[which->place].curve, which->place + 1, folder->path);
    self->watch->told(self->watch->context, sentence);
    self->counts->lost++;
    one->lost = true;
}

/* Adds the first of those that are the same that has its curve. */
static ee_status add_run(merger *self, result_folder *into, new_run *one)
{
    ee_status status = EE_OK;
    bool there = false;
    for (size_t i = one->first, end = end_of_same(self, i); i < end && !status && !there; i++) {
        const merge_folder *from = &self->folders[self->all.runs[i].folder];
        const stored_run *run = &from->runs.runs[self->all.runs[i].place];
        double *curve = NULL;
        status = results_has_curve(from->path, run, &there, self->error);
        if (status || !there) continue;
        status = memory_create(NULL, &curve, run->rounds, sizeof *curve, self->error);
        if (!status) status = results_curve(from->path, run, curve, self->error);
        if (!status) status = result_folder_put(into, run, curve, self->error);
        memory_free(curve);
    }
    if (status) return status;
    if (there)
        self->counts->added++;
    else
        tell_lost(self, one);
    return EE_OK;
}

static ee_status write_fresh(merger *self)
{
    result_folder into = {0};
    const char *path = self->folders[0].path;
    if (!self->fresh_count && !self->failed_more) return EE_OK;
    ee_status status = result_folder_open(path, NULL, &into, self->error);
    if (!status && into.stored.count != self->folders[0].runs.count)
        status = status_fail(self->error, EE_FILE_ERROR,
                             "another program added runs to %s meanwhile, so nothing was merged: merge again", path);
    for (size_t i = 0; i < self->fresh_count && !status; i++) status = add_run(self, &into, &self->fresh[i]);
    if (!status) status = result_folder_flush(&into, self->error);
    if (!status && self->failed_more) status = failed_runs_write(path, &self->failed, self->error);
    result_folder_close(&into);
    return status;
}

/* ---- all of it ---- */

static ee_status refuse_contradictions(merger *self)
{
    size_t found;
    ee_status status = merge_check(self->folders, self->count, &self->all, self->watch, &found, self->error);
    if (status || !found) return status;
    return status_fail(self->error, EE_BAD_INPUT, "nothing was merged because of %zu contradiction%s", found,
                       found == 1 ? "" : "s");
}

static void count_missing(merger *self)
{
    merge_counts *counts = self->counts;
    for (size_t i = 0; i < self->asked_count; i++) counts->asked += find_turn(self, self->asked[i]) == i;
    counts->missing = counts->asked;
    counts->only_tuning = counts->asked > 0;
    for (size_t first = 0; first < self->all.count; first = end_of_same(self, first)) {
        const merge_run *run = &self->all.runs[first];
        if (find_turn(self, run->key) == SIZE_MAX) continue;
        counts->missing--;
        if (!self->folders[run->folder].runs.runs[run->place].tuning) counts->only_tuning = false;
    }
    for (size_t i = 0; i < self->failed.count; i++)
        counts->failed += find_turn(self, self->failed.runs[i].key) != SIZE_MAX;
    counts->missing -= counts->failed;
    for (size_t i = 0; i < self->fresh_count; i++)
        if (self->fresh[i].lost && self->fresh[i].turn != SIZE_MAX) counts->missing++;
}

ee_status merge_folders(const char *into, const char *const *folders, size_t count, const merge_watch *watch,
                        merge_counts *out, ee_error *error)
{
    merger self = {.count = count + 1, .watch = watch, .counts = out, .error = error};
    *out = (merge_counts){0};
    ee_status status = memory_create(NULL, &self.folders, self.count, sizeof *self.folders, error);
    if (!status) status = read_folders(&self, into, folders);
    if (!status) status = refuse_contradictions(&self);
    if (!status) status = read_order(&self);
    if (!status) status = list_fresh(&self);
    if (!status) status = read_failed(&self);
    if (!status) status = write_fresh(&self);
    if (!status) count_missing(&self);
    for (size_t i = 0; self.folders && i < self.count; i++) results_release(&self.folders[i].runs);
    memory_free(self.folders);
    memory_free(self.all.runs);
    memory_free(self.asked);
    run_index_release(&self.turns);
    failed_runs_release(&self.failed);
    memory_free(self.fresh);
    return status;
}
