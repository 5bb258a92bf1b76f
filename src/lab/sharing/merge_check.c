#include "merge_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/results/run_keys.h"

/* ---- the runs, those that are the same together ---- */

static int compare_runs(const void *left, const void *right)
{
    const merge_run *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->folder != b->folder) return a->folder < b->folder ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

ee_status merge_runs_list(const merge_folder *folders, size_t count, merge_runs *out, ee_error *error)
{
    *out = (merge_runs){0};
    size_t total = 0;
    for (size_t i = 0; i < count; i++) total += folders[i].runs.count;
    ee_status status = memory_create(NULL, &out->runs, total, sizeof *out->runs, error);
    if (status) return status;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < folders[i].runs.count; k++)
            out->runs[out->count++] = (merge_run){run_keys_of_stored(&folders[i].runs.runs[k]).run, i, k};
    qsort(out->runs, out->count, sizeof *out->runs, compare_runs);
    return EE_OK;
}

/* ---- sentences ---- */

enum { TOLD_OF_A_KIND = 5, SENTENCE = 1200 };

typedef struct checker {
    const merge_folder *folders; /* (count) */
    size_t count;
    const merge_runs *all;
    const merge_watch *watch;
    size_t found; /* of the kind that is looked for */
    ee_error *error;
} checker;

static const stored_run *run_of(const checker *self, merge_run which)
{
    return &self->folders[which.folder].runs.runs[which.place];
}

__attribute__((format(printf, 2, 3))) static void tell(checker *self, const char *format, ...)
{
    char sentence[SENTENCE];
    if (++self->found > TOLD_OF_A_KIND) return;
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    self->watch->told(self->watch->context, sentence);
}

/* Says how many of the kind were not told, and starts the next. */
static void end_kind(checker *self, const char *kind, size_t *total)
{
    char sentence[SENTENCE];
    if (self->found > TOLD_OF_A_KIND) {
        snprintf(sentence, sizeof sentence, "and %zu more %s", self->found - TOLD_OF_A_KIND, kind);
        self->watch->told(self->watch->context, sentence);
    }
    *total += self->found;
    self->found = 0;
}

enum { RUN_TEXT = 300, PLACE_TEXT = 260 };

/* "synthetic:inner, eenet, seed 3, 1000 rounds" */
static const char *name_run(const stored_run *run, char words[RUN_TEXT])
{
    snprintf(words, RUN_TEXT, "%.120s, %.60s, %sseed %" PRIu64 ", %" PRIu64 " rounds", run->dataset, run->policy,
             run->tuning ? "tuning " : "", run->seed, run->rounds);
    return words;
}

/* "DIR/shards/0-of-4 (line 7)" */
static const char *name_place(const checker *self, merge_run which, char words[PLACE_TEXT])
{
    snprintf(words, PLACE_TEXT, "%.200s (line %zu)", self->folders[which.folder].path, which.place + 1);
    return words;
}

/* ---- the same run with another result ---- */

/* The first number by which two results differ, as the lines have it; NULL where there is none. */
static const char *find_difference(const run_result *left, const run_result *right, double values[2])
{
    const struct {
        const char *name;
        double left, right;
    } numbers[] = {
        {"regret", left->regret, right->regret},
        {"reward", left->reward, right->reward},
        {"optimal", (double)left->optimal, (double)right->optimal},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        values[0] = numbers[i].left;
        values[1] = numbers[i].right;
        if (values[0] != values[1]) return numbers[i].name;
    }
    for (size_t i = 0; i < RUN_PARTS; i++) {
        values[0] = left->marks[i];
        values[1] = right->marks[i];
        if (values[0] != values[1]) return "marks";
    }
    for (size_t i = 0; i < left->slots; i++) {
        values[0] = left->slot_regrets[i];
        values[1] = right->slot_regrets[i];
        if (values[0] != values[1]) return "slot_regrets";
    }
    for (size_t i = 0; i < RUN_PARTS; i++) {
        values[0] = left->directions[i].gain;
        values[1] = right->directions[i].gain;
        if (memcmp(&left->directions[i], &right->directions[i], sizeof left->directions[i]) != 0) return "directions";
    }
    return NULL;
}

/* Curves that are lost contradict nothing. *round is the first that differs, from 1; 0: none. */
static ee_status compare_curves(const checker *self, merge_run left, merge_run right, uint64_t *round, double values[2])
{
    const stored_run *runs[2] = {run_of(self, left), run_of(self, right)};
    const char *paths[2] = {self->folders[left.folder].path, self->folders[right.folder].path};
    double *curves[2] = {NULL, NULL};
    bool there = true;
    ee_status status = EE_OK;
    *round = 0;
    for (size_t i = 0; i < 2 && !status && there; i++) {
        status = results_has_curve(paths[i], runs[i], &there, self->error);
        if (!status && there) status = memory_create(NULL, &curves[i], runs[i]->rounds, sizeof **curves, self->error);
        if (!status && there) status = results_curve(paths[i], runs[i], curves[i], self->error);
    }
    for (uint64_t i = 0; i < runs[0]->rounds && !status && there && !*round; i++) {
        values[0] = curves[0][i];
        values[1] = curves[1][i];
        if (values[0] != values[1]) *round = i + 1;
    }
    memory_free(curves[0]);
    memory_free(curves[1]);
    return status;
}

static ee_status compare_same(checker *self, merge_run left, merge_run right)
{
    char name[RUN_TEXT], places[2][PLACE_TEXT], what[64];
    double values[2];
    uint64_t round = 0;
    const char *differs = find_difference(&run_of(self, left)->result, &run_of(self, right)->result, values);
    ee_status status = differs ? EE_OK : compare_curves(self, left, right, &round, values);
    if (status || (!differs && !round)) return status;
    if (differs)
        snprintf(what, sizeof what, "%s", differs);
    else
        snprintf(what, sizeof what, "regret after round %" PRIu64, round);
    tell(self,
         "run %s: %s is %.17g in %s but %.17g in %s, so one comes from a different program or data: delete the wrong "
         "line or its folder, and run that shard again",
         name_run(run_of(self, left), name), what, values[0], name_place(self, left, places[0]), values[1],
         name_place(self, right, places[1]));
    return EE_OK;
}

/* Each with the first of those that are the same: the others then agree with each other. */
static ee_status check_results(checker *self)
{
    ee_status status = EE_OK;
    for (size_t i = 1, first = 0; i < self->all->count && !status; i++) {
        const merge_run *runs = self->all->runs;
        if (runs[i].key != runs[first].key)
            first = i;
        else
            status = compare_same(self, runs[first], runs[i]);
    }
    return status;
}

/* ---- versions ---- */

static bool same_version(const stored_run *left, const stored_run *right)
{
    return strcmp(left->version, right->version) == 0 && strcmp(left->kernels, right->kernels) == 0;
}

static bool has_version(const merge_folder *folder, const stored_run *like)
{
    for (size_t i = 0; i < folder->runs.count; i++)
        if (same_version(&folder->runs.runs[i], like)) return true;
    return false;
}

/* The run whose version is the right one: the first of all. false where there is no run. */
static bool find_first(const checker *self, merge_run *out)
{
    for (size_t i = 0; i < self->count; i++) {
        if (!self->folders[i].runs.count) continue;
        *out = (merge_run){0, i, 0};
        return true;
    }
    return false;
}

/* A sentence for each folder, with its first run of another version. */
static void check_versions(checker *self)
{
    merge_run first;
    char name[RUN_TEXT], places[2][PLACE_TEXT];
    if (!find_first(self, &first)) return;
    const stored_run *right = run_of(self, first);
    for (size_t i = 1; i < self->count; i++) {
        const merge_folder *folder = &self->folders[i];
        for (size_t k = 0; k < folder->runs.count; k++) {
            const stored_run *run = &folder->runs.runs[k];
            if (same_version(run, right) || has_version(&self->folders[0], run)) continue;
            tell(self,
                 "%s was run by eenet %s with kernels %s, but %s by %s with %s, so the last digits differ: remove %s "
                 "and "
                 "run that shard again with the same program and EENET_KERNELS=%s (run %s)",
                 name_place(self, (merge_run){0, i, k}, places[0]), run->version, run->kernels,
                 name_place(self, first, places[1]), right->version, right->kernels, folder->path, right->kernels,
                 name_run(run, name));
            break;
        }
    }
}

/* ---- data sets ---- */

/* The first run of a folder on a data set. */
typedef struct played_data {
    const char *name;
    uint64_t fingerprint;
    merge_run run;
} played_data;

typedef struct played_datasets {
    played_data *list; /* (count) */
    size_t count, capacity;
} played_datasets;

/* Runs on one data set mostly follow each other, and the last that was added is looked at first. */
static ee_status add_dataset(checker *self, played_datasets *into, size_t folder, size_t place)
{
    const stored_run *run = &self->folders[folder].runs.runs[place];
    for (size_t i = into->count; i-- && into->list[i].run.folder == folder;)
        if (into->list[i].fingerprint == run->fingerprint && strcmp(into->list[i].name, run->dataset) == 0)
            return EE_OK;
    ee_status status =
        memory_grow(NULL, &into->list, &into->capacity, into->count + 1, sizeof *into->list, self->error);
    if (!status) into->list[into->count++] = (played_data){run->dataset, run->fingerprint, {0, folder, place}};
    return status;
}

static bool has_both(const played_datasets *from, const char *name, uint64_t left, uint64_t right)
{
    for (size_t i = 0; i < from->count; i++) {
        if (from->list[i].fingerprint != left || strcmp(from->list[i].name, name) != 0) continue;
        for (size_t k = 0; k < from->count; k++)
            if (from->list[k].run.folder == from->list[i].run.folder && from->list[k].fingerprint == right &&
                strcmp(from->list[k].name, name) == 0)
                return true;
    }
    return false;
}

/* Each is compared with the first of its name. */
static void compare_datasets(checker *self, const played_datasets *from)
{
    char places[2][PLACE_TEXT];
    for (size_t i = 1; i < from->count; i++) {
        const played_data *own = &from->list[i], *first = from->list;
        while (strcmp(first->name, own->name) != 0) first++;
        if (first->fingerprint == own->fingerprint || has_both(from, own->name, first->fingerprint, own->fingerprint))
            continue;
        tell(self,
             "data set %.120s has fingerprint %016" PRIx64 " in %s but %016" PRIx64
             " in %s, so its files differ between machines: remove the folder with the wrong files, and run that shard "
             "again",
             own->name, first->fingerprint, name_place(self, first->run, places[0]), own->fingerprint,
             name_place(self, own->run, places[1]));
    }
}

static ee_status check_datasets(checker *self)
{
    played_datasets played = {0};
    ee_status status = EE_OK;
    for (size_t i = 0; i < self->count && !status; i++)
        for (size_t k = 0; k < self->folders[i].runs.count && !status; k++) status = add_dataset(self, &played, i, k);
    if (!status) compare_datasets(self, &played);
    memory_free(played.list);
    return status;
}

/* ---- all of it ---- */

ee_status merge_check(const merge_folder *folders, size_t count, const merge_runs *all, const merge_watch *watch,
                      size_t *contradictions, ee_error *error)
{
    checker self = {folders, count, all, watch, 0, error};
    *contradictions = 0;
    ee_status status = check_datasets(&self);
    end_kind(&self, "data sets with different fingerprints", contradictions);
    if (!status) check_versions(&self);
    end_kind(&self, "folders from different versions", contradictions);
    if (!status && !*contradictions) status = check_results(&self); /* else it is plain why results differ */
    end_kind(&self, "runs with different results", contradictions);
    return status;
}
