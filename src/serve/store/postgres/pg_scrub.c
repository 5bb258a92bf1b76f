/* PostgreSQL cannot overwrite the old bytes of a row. VACUUM makes the room of removed rows free, and later rows use
 * it. It runs in a thread with its own connection, so that the journal does not wait for it. */
#define _POSIX_C_SOURCE 200809L
#include <stdatomic.h>
#include <stdio.h>

#include "pg_writer.h"

struct pg_vacuum {
    pg_connection *connection;
    pthread_t thread;
    atomic_bool done, stops;
    atomic_int backend; /* its process in the server; 0: not known yet */
    ee_status status;
    ee_error error;
};

static ee_status find_backend(pg_vacuum *self, ee_error *error)
{
    PGresult *rows;
    ee_status status = pg_query(self->connection, "SELECT pg_backend_pid()", "connect", &rows, error);
    if (status) return status;
    atomic_store(&self->backend, (int)pg_int8(rows, 0, 0));
    PQclear(rows);
    return EE_OK;
}

static void *vacuum(void *context)
{
    static const char *const statements[] = {"VACUUM eenet.events", "VACUUM eenet.decisions", "VACUUM eenet.ids",
                                             "VACUUM eenet.reward_ids", "VACUUM eenet.bandits"};
    pg_vacuum *self = context;
    ee_status status = find_backend(self, &self->error);
    for (size_t i = 0; i < sizeof statements / sizeof *statements && !status && !atomic_load(&self->stops); i++)
        status = pg_execute(self->connection, statements[i], "overwrite removed data", &self->error);
    self->status = status;
    atomic_store(&self->done, true);
    return NULL;
}

static ee_status start(pg_store *self, ee_error *error)
{
    enum { MOST_SECONDS = 24 * 3600 };
    pg_vacuum *new = NULL;
    ee_status status = memory_create(NULL, &new, 1, sizeof *new, error);
    if (status) return status;
    pg_options options = {.where = self->where, .seconds = MOST_SECONDS, .role = "vacuum"};
    status = pg_create(&options, &new->connection, error);
    if (!status && pthread_create(&new->thread, NULL, vacuum, new))
        status = status_fail(error, EE_NO_MEMORY, "store: could not start a thread");
    if (!status) {
        self->vacuum = new;
        return EE_OK;
    }
    pg_free(new->connection);
    memory_free(new);
    return status;
}

static ee_status end(pg_store *self, ee_error *error)
{
    pg_vacuum *ended = self->vacuum;
    self->vacuum = NULL;
    pthread_join(ended->thread, NULL);
    ee_status status = ended->status;
    if (status && error) *error = ended->error;
    pg_free(ended->connection);
    memory_free(ended);
    return status;
}

/* While it runs, *page does not grow: the caller tries again after a pause. */
ee_status pg_scrub(store *base, uint64_t *page, size_t count, bool *more, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    (void)count;
    *more = true;
    if (!self->vacuum) return start(self, error);
    if (!atomic_load(&self->vacuum->done)) return EE_OK;
    ++*page;
    *more = false;
    return end(self, error);
}

static ee_status try_to_cancel(void *context, ee_error *error)
{
    pg_store *self = context;
    char sql[64];
    snprintf(sql, sizeof sql, "SELECT pg_cancel_backend(%d)", atomic_load(&self->vacuum->backend));
    return pg_execute(self->size_session.connection, sql, "stop", error);
}

void pg_scrub_stop(pg_store *self)
{
    if (!self->vacuum) return;
    atomic_store(&self->vacuum->stops, true);
    if (atomic_load(&self->vacuum->backend) && !atomic_load(&self->vacuum->done))
        pg_session_run(&self->size_session, try_to_cancel, self, NULL);
    end(self, NULL);
}
