/* Stores runs in a folder in the order of the request: a run that ends early waits in pending/, beside results.jsonl
 * and curves/.
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

/* count: number of turns; none is expected yet. path and lost as in result_folder_open. Close it. */
ee_status ordered_runs_open(const char *path, const lost_curves *lost, size_t count, ordered_runs *out,
                            ee_error *error);
void ordered_runs_close(ordered_runs *self);

/* Expects a run for this turn, or one that has a file in pending/. Before the first run is stored. */
void ordered_runs_expect(ordered_runs *self, size_t turn);
void ordered_runs_expect_waiting(ordered_runs *self, size_t turn, uint64_t key);

/* Writes the lines of pending runs whose turn has come. */
ee_status ordered_runs_advance(ordered_runs *self, ee_error *error);

/* The run of a turn has ended: it is durable on return, with the lines of pending runs that follow it. Or (pass) it
 * failed, so its turn has no line. */
ee_status ordered_runs_keep(ordered_runs *self, size_t turn, const stored_run *run, const double *curve,
                            ee_error *error);
ee_status ordered_runs_pass(ordered_runs *self, size_t turn, ee_error *error);

#endif
