/* Keeps runs in a folder in the order of the request, whichever ends first: a run that ends early waits in pending/,
 * beside results.jsonl and curves/.
 *
 * A file in pending/ is removed once its line is durable, or when the folder is next opened: after a crash the lines
 * alone determine which runs are done. */
#ifndef EENET_ORDERED_RUNS_H
#define EENET_ORDERED_RUNS_H

#include "result_folder.h"
#include "run_index.h"

typedef struct ordered_runs {
    result_folder folder;
    run_index index;     /* of the folder's stored runs */
    stored_runs waiting; /* the runs that were in pending/ when it was opened; they have no curve */
    run_index waiting_index;
    char *pending;          /* the path */
    struct run_turn *turns; /* (count) */
    size_t count, next;     /* next: the turn of the next line */
} ordered_runs;

/* Room for count turns, of which none is to come. path and lost as in result_folder_open. To be closed. */
ee_status ordered_runs_open(const char *path, const lost_curves *lost, size_t count, ordered_runs *out,
                            ee_error *error);
void ordered_runs_close(ordered_runs *self);

/* The run of this turn is still to come, or has a file in pending/. For all turns, before the first is kept. */
void ordered_runs_expect(ordered_runs *self, size_t turn);
void ordered_runs_expect_waiting(ordered_runs *self, size_t turn, uint64_t key);

/* Gives lines to those that wait and whose turn has come. */
ee_status ordered_runs_advance(ordered_runs *self, ee_error *error);

/* The run of a turn has ended: it is on the disk when this returns, and so are the lines of those whose turn has come
 * by it. Or there will be none, since it failed. */
ee_status ordered_runs_keep(ordered_runs *self, size_t turn, const stored_run *run, const double *curve,
                            ee_error *error);
ee_status ordered_runs_pass(ordered_runs *self, size_t turn, ee_error *error);

#endif
