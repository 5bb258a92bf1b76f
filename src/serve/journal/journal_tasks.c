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
