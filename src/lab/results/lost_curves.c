#include "lost_curves.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* Counts of the runs of one file of curves. */
typedef struct file_losses {
    size_t runs, again, left; /* all; lost and repeated; lost and not requested */
} file_losses;

static file_losses count_losses(const stored_runs *list, const char *curve, const bool *lost, const bool *dropped)
{
    file_losses losses = {0};
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->runs[i].curve, curve) != 0) continue;
        losses.runs++;
        losses.again += dropped[i];
        losses.left += lost[i] && !dropped[i];
    }
    return losses;
}

/* "kept/curves/a.npy is missing or damaged: 2 of its 10 runs are repeated now" */
static void tell(const lost_curves *self, const char *folder, const char *curve, file_losses losses)
{
    const run_watch *watch = self->watch;
    char sentence[800], again[100], left[160] = "";
    if (!watch || !watch->noted) return;
    snprintf(again, sizeof again, "%zu of its %zu run%s %s repeated now", losses.again, losses.runs,
             losses.runs == 1 ? "" : "s", losses.again == 1 ? "is" : "are");
    if (losses.left)
        snprintf(left, sizeof left, "; to restore the other %zu, repeat the command that made %s", losses.left,
                 losses.left == 1 ? "it" : "them");
    snprintf(sentence, sizeof sentence, "%.200s/curves/%.200s is missing or damaged: %s%s", folder, curve, again, left);
    watch->noted(watch->context, sentence);
}

/* A sentence for each file, where its first lost run is. */
static void tell_all(const lost_curves *self, const char *folder, const stored_runs *list, const bool *lost,
                     const bool *dropped)
{
    for (size_t i = 0; i < list->count; i++) {
        size_t k = 0;
        if (!lost[i]) continue;
        while (k < i && !(lost[k] && strcmp(list->runs[k].curve, list->runs[i].curve) == 0)) k++;
        if (k == i) tell(self, folder, list->runs[i].curve, count_losses(list, list->runs[i].curve, lost, dropped));
    }
}

static void take_out(stored_runs *list, const bool *dropped)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (dropped[i])
            results_release_run(&list->runs[i]);
        else
            list->runs[kept++] = list->runs[i];
    }
    list->count = kept;
}

ee_status lost_curves_drop(const lost_curves *self, const char *folder, line_file *file, stored_runs *list,
                           ee_error *error)
{
    bool *lost = NULL, *dropped = NULL, any = false, some = false;
    ee_status status = memory_create(NULL, &lost, list->count, sizeof *lost, error);
    if (!status) status = memory_create(NULL, &dropped, list->count, sizeof *dropped, error);
    for (size_t i = 0; i < list->count && !status; i++) {
        bool there = false;
        status = results_has_curve(folder, &list->runs[i], &there, error);
        lost[i] = !there;
        dropped[i] = !there && self->is_asked_for(self->context, &list->runs[i]);
        any = any || lost[i];
        some = some || dropped[i];
    }
    if (!status && some) status = results_drop(folder, file, dropped, error);
    if (!status && any) tell_all(self, folder, list, lost, dropped);
    if (!status) take_out(list, dropped);
    memory_free(lost);
    memory_free(dropped);
    return status;
}
