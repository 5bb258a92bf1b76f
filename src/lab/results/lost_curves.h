/* Missing or damaged curves. The lines of their runs say that they are done, but the curves cannot be shown: if the
 * runs are requested, their lines are removed, so that they run again. */
#ifndef EENET_LOST_CURVES_H
#define EENET_LOST_CURVES_H

#include "results.h"

typedef struct lost_curves {
    bool (*is_asked_for)(const void *context, const stored_run *run);
    const void *context;
    const run_watch *watch; /* its noted gets a sentence for each file of curves; may be NULL */
} lost_curves;

/* Removes the requested ones from the list and from the folder's results.jsonl, which is open. */
ee_status lost_curves_drop(const lost_curves *self, const char *folder, line_file *file, stored_runs *list,
                           ee_error *error);

#endif
