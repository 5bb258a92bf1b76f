/* Removes old events, except those that a restart from a stored checkpoint needs. It finds that limit first, and then
 * removes the events before it in portions, between transactions. A failure cancels the removal. */
#include "journal_parts.h"
#include "upload_sweep.h"

enum {
    SCAN_PORTION = 1024,  /* events looked at */
    REMOVE_PORTION = 256, /* events removed in a transaction */
    HOUR = 3600           /* seconds: an upload takes less */
};

/* A request during a removal continues it instead of restarting it: otherwise it might never end. */
void journal_forget_before(journal *self, uint32_t bandit, int64_t before)
{
    removal *wanted;
    if (memory_create(NULL, &wanted, 1, sizeof *wanted, NULL)) return;
    wanted->bandit = bandit;
    wanted->before = before;
    pthread_mutex_lock(&self->lock);
    removal **place = &self->removals;
    while (*place && (*place)->bandit != bandit) place = &(*place)->next;
    removal *same = *place;
    if (same && same->before < before) same->before = before;
    if (!same) *place = wanted;
    pthread_cond_signal(&self->wake);
    pthread_mutex_unlock(&self->lock);
    if (same) memory_free(wanted);
}

/* The oldest stored checkpoint; 0: there is none. */
static ee_status find_checkpoint(journal *self, uint32_t bandit, uint64_t *number, ee_error *error)
{
    *number = 0;
    for (size_t i = 0; i < self->options.checkpoints; i++) {
        uint64_t found, upto = *number ? *number - 1 : INT64_MAX;
        ee_status status = store_last(self->reader, bandit, EVENT_CHECKPOINT, upto, &found, error);
        if (status || !found) return status;
        *number = found;
    }
    return EE_OK;
}

static ee_status start_after_checkpoint(journal *self, removal *wanted, uint64_t checkpoint, ee_error *error)
{
    const event *found;
    checkpoint_body body;
    ee_status status = store_read_one(self->reader, wanted->bandit, checkpoint, &found, error);
    if (!status) status = checkpoint_body_read(found->body, found->size, &body, error);
    if (status) return status;
    wanted->scanned = body.upto;
    wanted->keep_from = body.upto + 1;
    return EE_OK;
}

/* What was settled after the checkpoint may be learned by the record of a decision before it. */
static void keep_settled(removal *wanted, const event_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const event *found = &batch->events[i];
        if (found->kind == EVENT_SETTLED && found->decision < wanted->keep_from) wanted->keep_from = found->decision;
    }
}

/* Looks for what a restart needs, a portion at a time. */
static ee_status scan_portion(journal *self, removal *wanted, bool *more, ee_error *error)
{
    const bandit_state *state = store_bandit_state(self->store, wanted->bandit);
    const unsigned kinds = 1u << EVENT_DECISION | 1u << EVENT_REWARD | 1u << EVENT_SETTLED; /* so that all count */
    uint64_t checkpoint = 0;
    ee_status status = EE_OK;
    *more = false;
    if (!state) return EE_OK;
    if (!wanted->keep_from) {
        status = find_checkpoint(self, wanted->bandit, &checkpoint, error);
        if (status || !checkpoint) return status;
        status = start_after_checkpoint(self, wanted, checkpoint, error);
    }
    if (!status)
        status = store_read(self->reader, wanted->bandit, wanted->scanned, kinds, SCAN_PORTION, &self->batch, error);
    if (status) return status;
    keep_settled(wanted, &self->batch);
    wanted->is_scanned = self->batch.last <= wanted->scanned;
    wanted->scanned = self->batch.last;
    if (wanted->is_scanned && wanted->keep_from > state->settled_to) wanted->keep_from = state->settled_to + 1;
    *more = true;
    return EE_OK;
}

static void drop_removal(journal *self, removal *which)
{
    pthread_mutex_lock(&self->lock);
    removal **place = &self->removals;
    while (*place != which) place = &(*place)->next;
    *place = which->next;
    pthread_mutex_unlock(&self->lock);
    memory_free(which);
}

void journal_remove_some(journal *self)
{
    pthread_mutex_lock(&self->lock);
    removal *wanted = self->removals;
    int64_t before = wanted ? wanted->before : 0;
    pthread_mutex_unlock(&self->lock);
    if (!wanted) return;
    bool more = false, removing = wanted->is_scanned;
    ee_error error;
    ee_status status =
        removing ? store_remove(self->store, wanted->bandit, before, wanted->keep_from, REMOVE_PORTION, &more, &error)
                 : scan_portion(self, wanted, &more, &error);
    if (removing && status) journal_publish(self, false, 0, 0); /* that it can write, only what was written shows */
    if (removing && !status && !more)                           /* with the events that named them */
        upload_sweep(self->reader, store_blobs(self->store), wanted->bandit,
                     (uint64_t)(server_clock_wall() - HOUR * (int64_t)1000000));
    if (status || !more) drop_removal(self, wanted);
}

void journal_free_removals(journal *self)
{
    while (self->removals) drop_removal(self, self->removals);
}
