/* What all implementations of the store share: how a group is written. */
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "serve/system/server_clock.h"
#include "store_methods.h"

void store_close(store *self)
{
    if (self) self->methods->close(self);
}

/* ---- writing ---- */

/* Of each bandit some, until there are enough. One that is looked at counts, so that many bandits take no longer than
 * one. */
static ee_status fetch_due(store *self, store_group *group, ee_error *error)
{
    joining *set = self->joining;
    size_t left = group->settle_total;
    ee_status status = memory_grow(&self->memory, &self->waiting, &self->waiting_capacity, group->settle_each,
                                   sizeof *self->waiting, error);
    for (group->due_done = 0; !status && left && group->due_done < set->due_count; group->due_done++) {
        size_t limit = left < group->settle_each ? left : group->settle_each, count = 0;
        join_due *due = &set->due[group->due_done];
        status = self->methods->fetch_waiting(self, due, self->waiting, limit, &count, error);
        if (!status) status = joining_found_due(set, group->due_done, self->waiting, count, error);
        left -= count ? count : 1;
    }
    return status;
}

/* The position of a spool counts for all entries, so none may be left behind. */
static ee_status check_delivery(const store_group *group, ee_error *error)
{
    for (const store_entry *entry = group->first; entry && group->spool; entry = entry->next)
        if (entry->verdict == ENTRY_MOVED) return status_fail(error, EE_FILE_ERROR, "%s", entry->error.message);
    return EE_OK;
}

static ee_status write_group(store *self, store_group *group, ee_error *error)
{
    const store_methods *methods = self->methods;
    joining *set = self->joining;
    ee_status status = joining_collect(set, group, error);
    if (!status) status = methods->fetch(self, error);
    if (!status) status = joining_collect_slots(set, group, error);
    if (!status && set->slot_count) status = methods->fetch_slots(self, error);
    if (!status) status = fetch_due(self, group, error);
    if (!status) status = joining_run(set, group, error);
    if (!status) status = check_delivery(group, error);
    if (!status) status = methods->apply(self, error);
    if (!status && group->clock) status = methods->write_clock(self, group->clock, error);
    if (!status && group->spool)
        status = methods->deliver(self, group->spool, group->spool_before, group->spool_position, error);
    if (!status && group->probe) status = methods->probe(self, error);
    return status;
}

/* Ends the transaction: commits if nothing has failed. */
static ee_status end_transaction(store *self, ee_status status, double *seconds, ee_error *error)
{
    int64_t start = server_clock_real();
    if (!status) status = self->methods->commit(self, error);
    *seconds = (double)(server_clock_real() - start) / 1e6;
    if (status) self->methods->rollback(self);
    return status;
}

static void fail_all(store_group *group, const ee_error *error)
{
    for (store_entry *entry = group->first; entry; entry = entry->next) {
        entry->verdict = ENTRY_FAILED;
        entry->error = *error;
        if (entry->event.kind == EVENT_SETTINGS && entry->event.number == 1) entry->bandit = 0; /* not created */
    }
}

ee_status store_write(store *self, store_group *group, ee_error *error)
{
    ee_error reason = {0};
    group->touched_count = 0;
    group->in_doubt = false;
    group->counts = (store_counts){0};
    ee_status status = self->methods->begin(self, &reason); /* it may load bandits again, so it comes first */
    if (!status) {
        ee_status written = write_group(self, group, &reason);
        status = end_transaction(self, written, &group->sync_seconds, &reason);
        group->in_doubt = status && !written;
        joining_end(self->joining, !status);
    }
    if (status) {
        fail_all(group, &reason);
        if (error) *error = reason;
        return status;
    }
    group->counts = self->joining->counts;
    group->touched = self->joining->touched;
    group->touched_count = self->joining->touched_count;
    return EE_OK;
}

bool store_is_database(const store *self)
{
    return self->methods->spool_position != NULL;
}

ee_status store_spool_position(store *self, const char *spool, uint64_t *position, ee_error *error)
{
    return self->methods->spool_position(self, spool, position, error);
}

ee_status store_remove(store *self, uint32_t bandit, int64_t before, uint64_t keep_from, size_t limit, bool *more,
                       ee_error *error)
{
    join_bandit *known = joining_bandit(self->joining, bandit);
    uint64_t unclaimed = 0;
    double seconds;
    *more = false;
    if (!known) return status_fail(error, EE_BAD_INPUT, "store: there is no bandit %u", (unsigned)bandit);
    if (keep_from > known->now.events) keep_from = known->now.events;
    ee_status status = self->methods->begin(self, error);
    if (status) return status;
    status = self->methods->remove(self, bandit, before, keep_from, limit, more, &unclaimed, error);
    status = end_transaction(self, status, &seconds, error);
    if (!status) known->now.unclaimed -= unclaimed;
    return status;
}

/* ---- removing a bandit ---- */

static atomic_uint_fast64_t rewrites; /* in this process */

uint64_t store_rewrites(void)
{
    return atomic_load(&rewrites);
}

ee_status store_purge(store *self, uint32_t bandit, ee_error *error)
{
    join_bandit *known = joining_bandit(self->joining, bandit);
    if (!known) return status_fail(error, EE_BAD_INPUT, "store: there is no bandit %u", (unsigned)bandit);
    ee_status status = self->methods->purge(self, bandit, error);
    atomic_fetch_add(&rewrites, 1);
    if (status) return status;
    known->now.purged = known->now.archived = true;
    known->now.waiting = known->now.unclaimed = 0;
    known->now.deadline = INT64_MAX;
    return EE_OK;
}

ee_status store_purge_some(store *self, uint32_t bandit, size_t limit, bool *more, ee_error *error)
{
    return self->methods->purge_some(self, bandit, limit, more, error);
}

ee_status store_purge_end(store *self, uint32_t bandit, ee_error *error)
{
    return self->methods->purge_end(self, bandit, error);
}

ee_status store_purge_next(store *self, uint32_t after, uint32_t *bandit, ee_error *error)
{
    return self->methods->purge_next(self, after, bandit, error);
}

/* ---- erasing ---- */

static ee_status erase(store *self, join_bandit *of, const uint64_t *numbers, size_t count, ee_error *error)
{
    uint64_t unclaimed = 0;
    double seconds;
    ee_status status = self->methods->begin(self, error);
    if (status) return status;
    status = self->methods->erase(self, of->now.number, numbers, count, &unclaimed, error);
    status = end_transaction(self, status, &seconds, error);
    if (!status) of->now.unclaimed -= unclaimed;
    return status;
}

ee_status store_erase(store *self, uint32_t bandit, const uint64_t *numbers, size_t count, ee_error *error)
{
    join_bandit *of = joining_bandit(self->joining, bandit);
    if (!of) return status_fail(error, EE_BAD_INPUT, "store: there is no bandit %u", (unsigned)bandit);
    ee_status status = self->methods->overwrite(self, true, error);
    if (!status) status = erase(self, of, numbers, count, error);
    ee_status other = self->methods->overwrite(self, false, status ? NULL : error);
    atomic_fetch_add(&rewrites, 1); /* on failure too: it may have been committed */
    return status ? status : other;
}

ee_status store_scrub(store *self, uint64_t *page, size_t count, bool *more, ee_error *error)
{
    return self->methods->scrub(self, page, count, more, error);
}

ee_status store_remove_blobs(store *self, uint32_t bandit, ee_error *error)
{
    blobs *all = store_blobs(self);
    ee_status status = EE_OK;
    for (blob_kind kind = 0; kind < BLOB_KINDS && !status; kind++) {
        blob_key *keys = NULL;
        size_t count = 0;
        status = blob_list(all, bandit, kind, &keys, &count, error);
        for (size_t i = 0; i < count && !status; i++)
            status = blob_remove(all, blob_named(bandit, kind, keys[i]), error);
        memory_free(keys);
    }
    return status;
}

void store_set_patience(store *self, double seconds)
{
    if (self->methods->set_patience) self->methods->set_patience(self, seconds);
}

/* ---- owners ---- */

ee_status store_own(store *self, uint32_t bandit, uint64_t token, bool *owned, ee_error *error)
{
    ee_status status = self->methods->own(self, bandit, token, owned, error);
    atomic_fetch_add(&rewrites, 1);
    return status;
}

void store_disown(store *self, uint32_t bandit)
{
    self->methods->disown(self, bandit);
    atomic_fetch_add(&rewrites, 1);
}

ee_status store_note_purged(store *self, uint32_t bandit, ee_error *error)
{
    bool purged = false;
    ee_status status = self->methods->is_purged ? self->methods->is_purged(self, bandit, &purged, error) : EE_OK;
    return !status && purged ? joining_note_purged(self->joining, bandit, error) : status;
}

uint64_t store_token(const store *self, uint32_t bandit)
{
    return self->methods->token ? self->methods->token(self, bandit) : 0;
}

size_t store_bandit_count(const store *self)
{
    return self->joining->bandit_count;
}

const bandit_state *store_bandit_state(const store *self, uint32_t number)
{
    const join_bandit *found = joining_bandit(self->joining, number);
    return found ? &found->now : NULL;
}

/* ---- reading ---- */

ee_status store_reader_create(store *self, store_reader **out, ee_error *error)
{
    return self->methods->create_reader(self, out, error);
}

void store_reader_free(store_reader *self)
{
    if (!self) return;
    event_batch_free(&self->one);
    blobs_close(self->blobs);
    self->methods->free(self);
}

ee_status store_list_bandits(store_reader *self, stored_bandits *out, ee_error *error)
{
    *out = (stored_bandits){0};
    ee_status status = self->methods->list_bandits(self, out, error);
    if (status) stored_bandits_free(out);
    return status;
}

ee_status store_read(store_reader *self, uint32_t bandit, uint64_t after, unsigned kinds, size_t limit,
                     event_batch *out, ee_error *error)
{
    event_batch_clear(out);
    out->last = after;
    return self->methods->read(self, bandit, after, kinds, limit, out, error);
}

ee_status store_read_one(store_reader *self, uint32_t bandit, uint64_t number, const event **out, ee_error *error)
{
    event_batch_clear(&self->one);
    ee_status status = self->methods->read_these(self, bandit, &number, 1, &self->one, error);
    if (!status && !self->one.count)
        status = status_fail(error, EE_BAD_INPUT, "store: there is no event %" PRIu64, number);
    *out = status ? NULL : self->one.events;
    return status;
}

ee_status store_read_these(store_reader *self, uint32_t bandit, const uint64_t *numbers, size_t count, event_batch *out,
                           size_t *looked, ee_error *error)
{
    event_batch_clear(out);
    *looked = 0;
    ee_status status = self->methods->read_these(self, bandit, numbers, count, out, error);
    if (status) return status;
    *looked = count;
    while (out->size >= EVENT_BATCH_BYTES && numbers[*looked - 1] != out->events[out->count - 1].number) --*looked;
    return EE_OK;
}

ee_status store_find_id(store_reader *self, uint32_t bandit, json_text id, uint64_t *number, ee_error *error)
{
    return self->methods->find_id(self, bandit, id, number, error);
}

ee_status store_last(store_reader *self, uint32_t bandit, event_kind kind, uint64_t upto, uint64_t *number,
                     ee_error *error)
{
    return self->methods->last_of(self, bandit, 1U << kind, upto, number, error);
}

ee_status store_last_of(store_reader *self, uint32_t bandit, unsigned kinds, uint64_t upto, uint64_t *number,
                        ee_error *error)
{
    return self->methods->last_of(self, bandit, kinds, upto, number, error);
}

ee_status store_read_settings(store_reader *self, uint32_t bandit, uint64_t number, bandit_settings *out,
                              ee_error *error)
{
    const event *found;
    *out = bandit_settings_usual();
    ee_status status = store_read_one(self, bandit, number, &found, error);
    return status ? status : bandit_settings_read(out, found->body, found->size, SETTINGS_STORED, error);
}

ee_status store_settings_at(store_reader *self, uint32_t bandit, uint64_t number, bandit_settings *out, ee_error *error)
{
    uint64_t found = 0;
    ee_status status = store_last(self, bandit, EVENT_SETTINGS, number, &found, error);
    return status || !found ? status : store_read_settings(self, bandit, found, out, error);
}

ee_status store_next_decisions(store_reader *self, uint32_t bandit, uint64_t after, stored_decision *out, size_t limit,
                               size_t *count, ee_error *error)
{
    *count = 0;
    return self->methods->next_decisions(self, bandit, after, out, limit, count, error);
}

ee_status store_count_waiting(store_reader *self, uint32_t bandit, uint64_t after, uint64_t *count, ee_error *error)
{
    return self->methods->count_waiting(self, bandit, after, count, error);
}

ee_status store_find_time(store_reader *self, uint32_t bandit, int64_t time, uint64_t *number, ee_error *error)
{
    uint64_t end;
    return self->methods->find_time(self, bandit, time, number, &end, error);
}

ee_status store_find_end(store_reader *self, uint32_t bandit, int64_t time, uint64_t *number, ee_error *error)
{
    uint64_t first;
    return self->methods->find_time(self, bandit, time, &first, number, error);
}

ee_status store_count_before(store_reader *self, uint32_t bandit, int64_t time, uint64_t *count, ee_error *error)
{
    return self->methods->count_before(self, bandit, time, count, error);
}

ee_status store_read_clock(store_reader *self, stored_clock *out, ee_error *error)
{
    return self->methods->read_clock(self, out, error);
}

uint64_t store_bytes(const store *self)
{
    return self->methods->bytes(self);
}

bool store_disk_space(const store *self, store_space *out)
{
    return self->methods->disk_space(self, out);
}

blobs *store_blobs(const store *self)
{
    return self->blobs;
}

const blobs *store_reader_blobs(const store_reader *self)
{
    return self->blobs;
}
