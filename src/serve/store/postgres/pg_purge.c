/* Removing a bandit for good. Its row in `bandits` stays, without the name, so that its number is never given again:
 * purged is 1 until everything is removed, and then 2. */
#include <stdio.h>

#include "pg_writer.h"

static ee_status end(store *base, ee_status status, ee_error *error)
{
    if (!status) status = base->methods->commit(base, error);
    if (status) base->methods->rollback(base);
    return status;
}

static ee_status begin(store *base, uint32_t bandit, ee_error *error)
{
    ee_status status = base->methods->begin(base, error);
    if (status) return status;
    status = pg_lock_bandit((pg_store *)base, bandit, error);
    if (status) base->methods->rollback(base);
    return status;
}

/* The log of the bandit is empty. */
static ee_status forget_end(pg_store *self, uint32_t bandit, ee_error *error)
{
    return pg_set_end(self, bandit, &(stored_end){.first = 1}, error);
}

/* A name cannot begin with '#', so this one is free. */
static ee_status mark(pg_store *self, uint32_t bandit, ee_error *error)
{
    char name[16];
    json_text free_name = {name, (size_t)snprintf(name, sizeof name, "#%u", (unsigned)bandit)};
    pg_values_start(&self->values);
    pg_add_int8(&self->values, bandit);
    pg_add_text(&self->values, free_name);
    pg_add_int8(&self->values, store_bandit_checksum(bandit, free_name, true, (json_text){0}));
    ee_status status = pg_queue(self, PG_PURGE, false, "remove a bandit", error);
    if (!status) status = forget_end(self, bandit, error);
    return status ? status : pg_count_change(self, error);
}

ee_status pg_purge(store *base, uint32_t bandit, ee_error *error)
{
    ee_status status = begin(base, bandit, error);
    return status ? status : end(base, mark((pg_store *)base, bandit, error), error);
}

static ee_status remove_rows(pg_store *self, uint32_t bandit, size_t limit, size_t *removed, ee_error *error)
{
    ee_status status = EE_OK;
    for (int which = PG_PURGE_EVENTS; which <= PG_PURGE_UNCLAIMED && *removed < limit && !status; which++) {
        PGresult *result;
        pg_values_start(&self->values);
        pg_add_int8(&self->values, store_place(bandit, 0));
        pg_add_int8(&self->values, store_place(bandit + 1, 0));
        pg_add_int8(&self->values, (int64_t)(limit - *removed));
        status = pg_ask(self, which, "remove a bandit", &result, error);
        if (status) break;
        *removed += (size_t)pg_changed(result);
        PQclear(result);
    }
    return status;
}

ee_status pg_purge_some(store *base, uint32_t bandit, size_t limit, bool *more, ee_error *error)
{
    size_t removed = 0;
    ee_status status = begin(base, bandit, error);
    if (!status) status = end(base, remove_rows((pg_store *)base, bandit, limit, &removed, error), error);
    *more = removed == limit;
    return status;
}

ee_status pg_purge_end(store *base, uint32_t bandit, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    ee_status status = begin(base, bandit, error);
    if (status) return status;
    pg_values_start(&self->values);
    pg_add_int8(&self->values, bandit);
    status = pg_queue(self, PG_PURGE_END, false, "remove a bandit", error);
    if (!status) status = forget_end(self, bandit, error); /* a repair may have written it again */
    return end(base, status, error);
}

/* Only of those that this process owns. */
ee_status pg_purge_next(store *base, uint32_t after, uint32_t *bandit, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    PGresult *rows;
    *bandit = 0;
    ee_status status = pg_connect_session(self, error);
    pg_values_start(&self->values);
    pg_add_int8(&self->values, after);
    if (!status) status = pg_ask(self, PG_LIST_PURGED, "read the bandits", &rows, error);
    if (status) return status;
    for (int i = 0; i < PQntuples(rows) && !*bandit; i++) {
        uint32_t number = (uint32_t)pg_int8(rows, i, 0);
        const join_bandit *known = joining_bandit(base->joining, number);
        if (known && known->now.owned) *bandit = number;
    }
    PQclear(rows);
    return EE_OK;
}

ee_status pg_is_purged(store *base, uint32_t bandit, bool *purged, ee_error *error)
{
    pg_store *self = (pg_store *)base;
    PGresult *rows = NULL;
    *purged = false;
    ee_status status = pg_connect_session(self, error);
    pg_values_start(&self->values);
    pg_add_int8(&self->values, bandit);
    if (!status) status = pg_ask(self, PG_IS_PURGED, "read a bandit", &rows, error);
    if (!status) *purged = PQntuples(rows) > 0;
    PQclear(rows);
    return status;
}
