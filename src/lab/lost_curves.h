/* Curves that somebody has removed, cut or damaged. Their lines say that the runs are done, and the curves cannot be
 * shown any more: where the runs are asked for, the lines are taken out, so that they are played again. */
#ifndef EENET_LOST_CURVES_H
#define EENET_LOST_CURVES_H

#include "results.h"

typedef struct lost_curves {
    bool (*is_asked_for)(const void *context, const stored_run *run);
    const void *context;
    const run_watch *watch; /* its noted gets a sentence for each file of curves; may be NULL */
} lost_curves;

/* Takes those that are asked for out of the list, and out of the folder's file, results.jsonl, which is open. */
ee_status lost_curves_drop(const lost_curves *self, const char *folder, line_file *file, stored_runs *list,
                           ee_error *error);

#endif
