#define _POSIX_C_SOURCE 200809L
#include "ordered_runs.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "pending_runs.h"
#include "run_keys.h"

typedef struct run_turn {
    enum {
        TURN_OVER, /* its line is there, or there will be none */
        TURN_COMES,
        TURN_WAITS /* its run is in pending/ */
    } state;
    uint64_t key; /* of one that waits */
} run_turn;

ee_status ordered_runs_open(const char *path, const lost_curves *lost, size_t count, ordered_runs *out, ee_error *error)
{
    *out = (ordered_runs){.count = count};
    ee_status status = result_folder_open(path, lost, &out->folder, error);
    if (!status) status = memory_create(NULL, &out->turns, count, sizeof *out->turns, error);
    if (!status) status = file_join(path, "pending", &out->pending, error);
    if (!status) status = file_make_folder(out->pending, error);
    if (!status) status = run_index_of_stored(&out->folder.stored, &out->index, error);
    if (!status) status = pending_runs_list(out->pending, &out->index, &out->waiting, error);
    return status ? status : run_index_of_stored(&out->waiting, &out->waiting_index, error);
}

void ordered_runs_close(ordered_runs *self)
{
    if (self->pending) rmdir(self->pending); /* stays where a run waits in it */
    result_folder_close(&self->folder);
    run_index_release(&self->index);
    results_release(&self->waiting);
    run_index_release(&self->waiting_index);
    memory_free(self->pending);
    memory_free(self->turns);
    self->pending = NULL;
    self->turns = NULL;
}

void ordered_runs_expect(ordered_runs *self, size_t turn)
{
    self->turns[turn] = (run_turn){.state = TURN_COMES};
}

void ordered_runs_expect_waiting(ordered_runs *self, size_t turn, uint64_t key)
{
    self->turns[turn] = (run_turn){TURN_WAITS, key};
}

/* From pending/ to its line, which is on the disk when the folder is flushed. */
static ee_status put_waiting(ordered_runs *self, uint64_t key, ee_error *error)
{
    pending_run run = {0};
    ee_status status = pending_runs_read(self->pending, key, &run, error);
    if (!status && !run.curve)
        status =
            status_fail(error, EE_FILE_ERROR, "file: %s/%016" PRIx64 ".run is missing or damaged", self->pending, key);
    if (!status) status = result_folder_put(&self->folder, &run.run, run.curve, error);
    pending_runs_release(&run);
    return status;
}

/* After a failure the files in pending/ stay: those whose lines are there are removed when it is next opened. */
ee_status ordered_runs_advance(ordered_runs *self, ee_error *error)
{
    size_t end = self->next;
    ee_status status = EE_OK;
    for (; end < self->count && self->turns[end].state != TURN_COMES && !status; end++)
        if (self->turns[end].state == TURN_WAITS) status = put_waiting(self, self->turns[end].key, error);
    ee_status flushed = result_folder_flush(&self->folder, status ? NULL : error);
    if (!status) status = flushed;
    for (; self->next < end && !status; self->next++) {
        run_turn *past = &self->turns[self->next];
        if (past->state == TURN_WAITS) status = pending_runs_remove(self->pending, past->key, error);
        past->state = TURN_OVER;
    }
    return status;
}

ee_status ordered_runs_pass(ordered_runs *self, size_t turn, ee_error *error)
{
    self->turns[turn].state = TURN_OVER;
    return ordered_runs_advance(self, error);
}

ee_status ordered_runs_keep(ordered_runs *self, size_t turn, const stored_run *run, const double *curve,
                            ee_error *error)
{
    if (turn == self->next) {
        ee_status status = result_folder_put(&self->folder, run, curve, error);
        return status ? status : ordered_runs_pass(self, turn, error);
    }
    ee_status status = pending_runs_write(self->pending, run, curve, error);
    if (!status) ordered_runs_expect_waiting(self, turn, run_keys_of_stored(run).run);
    return status;
}
