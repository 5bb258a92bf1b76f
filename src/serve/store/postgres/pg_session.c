#include "pg_session.h"

#include <stdatomic.h>

#include "pg_schema.h"

static atomic_uint_fast64_t renewals; /* in this process */

void pg_session_renew(void)
{
    atomic_fetch_add(&renewals, 1);
}

ee_status pg_session_open(const pg_options *options, pg_session *out, ee_error *error)
{
    *out = (pg_session){0};
    return pg_create(options, &out->connection, error);
}

void pg_session_close(pg_session *self)
{
    pg_free(self->connection);
    *self = (pg_session){0};
}

static ee_status connect_session(pg_session *self, ee_error *error)
{
    uint64_t now = atomic_load(&renewals);
    if (self->renewed != now) pg_disconnect(self->connection);
    self->renewed = now;
    ee_status status = pg_connect(self->connection, error);
    if (!status && !self->checked) status = pg_schema_check(self->connection, error);
    if (!status) self->checked = true;
    return status;
}

ee_status pg_session_run(pg_session *self, pg_call *run, void *context, ee_error *error)
{
    ee_status status = EE_OK;
    for (int tries = 0; tries < 2; tries++) {
        status = connect_session(self, error);
        if (status) return status;
        status = run(context, error);
        bool broken = pg_is_broken(self->connection);
        /* A connection on which ROLLBACK fails is dropped, and its transaction with it. */
        if (status && self->begun && !broken && pg_execute(self->connection, "ROLLBACK", "roll back", NULL))
            pg_disconnect(self->connection);
        self->begun = false;
        if (!status || !broken) break;
    }
    return status;
}
