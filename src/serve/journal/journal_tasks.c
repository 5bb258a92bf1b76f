/* Functions that run between transactions. */
#define _POSIX_C_SOURCE 200809L
#include "journal_parts.h"

ee_status journal_run(journal *self, journal_function *function, void *context, ee_error *error)
{
    journal_task task = {.function = function, .context = context};
    pthread_mutex_lock(&self->lock);
    if (self->stopping) {
        pthread_mutex_unlock(&self->lock);
        return status_fail(error, EE_FILE_ERROR, "journal: the server is stopping");
    }
    journal_task **last = &self->tasks;
    while (*last) last = &(*last)->next;
    *last = &task;
    pthread_cond_signal(&self->wake);
    while (!task.done) pthread_cond_wait(&self->task_done, &self->lock);
    pthread_mutex_unlock(&self->lock);
    if (task.error.status && error) *error = task.error;
    return task.error.status;
}

/* ---- owners ---- */

typedef struct owning {
    journal *journal;
    uint32_t bandit;
    uint64_t token;
    bandit_state *state;
} owning;

/* The log time of a new owner is not before that of the last event, whatever its clock says. */
static void follow_time(journal *self, int64_t time)
{
    pthread_mutex_lock(&self->clock_lock);
    if (self->clock.time < time) self->clock.time = time;
    pthread_mutex_unlock(&self->clock_lock);
}

static ee_status own(void *context, store *into, ee_error *error)
{
    owning *self = context;
    bool owned = false;
    *self->state = (bandit_state){0};
    ee_status status = store_own(into, self->bandit, self->token, &owned, error);
    if (!status) status = journal_add_queues(self->journal, error);
    if (status || !owned) return status;
    self->state->owned = true;
    if (self->bandit == LEADER) return EE_OK;
    *self->state = *store_bandit_state(into, self->bandit);
    self->journal->queues[self->bandit]->news = self->state->news;
    follow_time(self->journal, self->state->time);
    return EE_OK;
}

ee_status journal_own(journal *self, uint32_t bandit, uint64_t token, bandit_state *state, ee_error *error)
{
    owning task = {self, bandit, token, state};
    return journal_run(self, own, &task, error);
}

static ee_status disown(void *context, store *into, ee_error *error)
{
    (void)error;
    store_disown(into, *(const uint32_t *)context);
    return EE_OK;
}

void journal_disown(journal *self, uint32_t bandit)
{
    journal_run(self, disown, &bandit, NULL);
}

void journal_run_task(journal *self)
{
    ee_error error = {0};
    pthread_mutex_lock(&self->lock);
    journal_task *task = self->tasks;
    pthread_mutex_unlock(&self->lock);
    if (!task) return;
    ee_status status = task->function(task->context, self->store, &error);
    journal_note_states(self);
    pthread_mutex_lock(&self->lock);
    self->tasks = task->next;
    if (status) task->error = error;
    task->done = true;
    pthread_cond_broadcast(&self->task_done);
    pthread_mutex_unlock(&self->lock);
}
