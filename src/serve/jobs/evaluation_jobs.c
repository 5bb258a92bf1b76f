/* The list of jobs, and the thread that runs them. */
#define _DEFAULT_SOURCE /* getrandom */
#include "evaluation_jobs.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "evaluation_job_blobs.h"
#include "evaluation_job_run.h"
#include "serve/system/server_clock.h"
#include "serve/system/worker.h"

/* A job in memory. */
typedef struct job_row {
    char id[JOB_ID_SIZE];
    uint32_t bandit;
    job_state state;
    int64_t created;
    _Atomic double progress;
    atomic_bool deleted, released; /* while it runs */
} job_row;

struct evaluation_jobs {
    memory memory;
    store *store;
    served_bandits *bandits;
    blobs *blobs;
    pthread_t thread;
    bool runs;
    atomic_bool stopping;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed, played;
    job_row **rows; /* (count) in the order of their creation */
    size_t count, capacity;
    job_row *playing;
};

/* ---- the list: with the lock ---- */

static ee_status add_row(evaluation_jobs *self, const job_about *about, ee_error *error)
{
    job_row *row;
    ee_status status =
        memory_grow(&self->memory, &self->rows, &self->capacity, self->count + 1, sizeof *self->rows, error);
    if (!status) status = memory_create(&self->memory, &row, 1, sizeof *row, error);
    if (status) return status;
    memcpy(row->id, about->id, sizeof row->id);
    row->bandit = about->bandit;
    row->state = about->state == JOB_RUNNING ? JOB_WAITING : about->state;
    row->created = about->created;
    self->rows[self->count++] = row;
    return EE_OK;
}

static job_row *find_row(const evaluation_jobs *self, uint32_t bandit, const char *id, size_t *place)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->rows[i]->bandit != bandit || strcmp(self->rows[i]->id, id) != 0) continue;
        if (place) *place = i;
        return self->rows[i];
    }
    return NULL;
}

static void remove_row(evaluation_jobs *self, size_t place)
{
    memory_free(self->rows[place]);
    memmove(self->rows + place, self->rows + place + 1, (--self->count - place) * sizeof *self->rows);
}

static job_row *find_waiting(const evaluation_jobs *self)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->rows[i]->state == JOB_WAITING) return self->rows[i];
    return NULL;
}

/* ---- playing ---- */

typedef struct playing {
    evaluation_jobs *self;
    job_row *row;
} playing;

static bool is_wanted(void *context)
{
    const playing *now = context;
    return !atomic_load_explicit(&now->self->stopping, memory_order_relaxed) &&
           !atomic_load_explicit(&now->row->deleted, memory_order_relaxed) &&
           !atomic_load_explicit(&now->row->released, memory_order_relaxed);
}

static void note_progress(void *context, double share)
{
    atomic_store_explicit(&((playing *)context)->row->progress, share, memory_order_relaxed);
}

static ee_status run_job(evaluation_jobs *self, job_row *row, evaluation_job *job, bool *finished, ee_error *error)
{
    playing now = {self, row};
    job_watch watch = {is_wanted, note_progress, &now};
    char *log = NULL;
    const served_bandit *bandit = served_bandits_find_number(self->bandits, row->bandit);
    ee_status status = job_read_about(self->blobs, row->bandit, row->id, &job->about, error);
    if (!status && !bandit) status = status_fail(error, EE_BAD_INPUT, "the bandit no longer exists");
    if (!status) status = blobs_scratch(self->blobs, ".eelog.zst", &log, error);
    if (status) return status;
    bandit_settings settings = served_bandit_settings(bandit);
    status = job_run(job, self->store, &settings, log, &watch, finished, error);
    memory_free(log);
    return status;
}

/* Stores the outcome; without the lock. */
static void end_job(evaluation_jobs *self, evaluation_job *job, ee_status status, const ee_error *error)
{
    ee_error other = {0};
    job->about.ended = server_clock_wall();
    job->about.progress = NAN;
    if (!status) status = job_write_results(self->blobs, job, &other);
    job->about.state = status ? JOB_FAILED : JOB_DONE;
    if (status)
        snprintf(job->about.trouble, sizeof job->about.trouble, "%.250s",
                 error->status ? error->message : other.message);
    job_write_about(self->blobs, &job->about, NULL); /* if that fails, the job waits again after a restart */
}

static void play_row(evaluation_jobs *self, job_row *row)
{
    evaluation_job job = {0};
    ee_error error = {0};
    bool finished = false;
    ee_status status = run_job(self, row, &job, &finished, &error);
    playing now = {self, row};
    bool kept = is_wanted(&now) && (status || finished);
    if (kept) end_job(self, &job, status, &error);
    pthread_mutex_lock(&self->lock);
    row->state = kept ? job.about.state : JOB_WAITING;
    self->playing = NULL;
    size_t place = 0;
    bool gone = atomic_load(&row->deleted) && find_row(self, row->bandit, row->id, &place);
    if (gone) {
        job_remove(self->blobs, row->bandit, row->id, NULL); /* it may have ended while it was deleted */
        remove_row(self, place);
    }
    pthread_cond_broadcast(&self->played);
    pthread_mutex_unlock(&self->lock);
    evaluation_job_release(&job);
}

static void *run(void *context)
{
    evaluation_jobs *self = context;
    worker_go_last();
    pthread_mutex_lock(&self->lock);
    while (!atomic_load(&self->stopping)) {
        job_row *row = find_waiting(self);
        if (!row) {
            pthread_cond_wait(&self->changed, &self->lock);
            continue;
        }
        row->state = JOB_RUNNING;
        self->playing = row;
        pthread_mutex_unlock(&self->lock);
        play_row(self, row);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* ---- beginning and end ---- */

static int by_creation(const void *left, const void *right)
{
    const job_row *a = *(job_row *const *)left, *b = *(job_row *const *)right;
    return a->created != b->created ? (a->created < b->created ? -1 : 1) : strcmp(a->id, b->id);
}

static ee_status take_job(evaluation_jobs *self, uint32_t bandit, const char *id, job_about *about, ee_error *error)
{
    bool good =
        !job_read_about(self->blobs, bandit, id, about, NULL) && strcmp(about->id, id) == 0 && about->bandit == bandit;
    return good ? add_row(self, about, error) : EE_OK;
}

static ee_status load_bandit(evaluation_jobs *self, uint32_t bandit, ee_error *error)
{
    blob_key *ids = NULL;
    size_t count = 0;
    job_about *about = NULL;
    ee_status status = job_list(self->blobs, bandit, &ids, &count, error);
    if (!status && count) status = memory_create(NULL, &about, 1, sizeof *about, error);
    for (size_t i = 0; i < count && !status; i++) status = take_job(self, bandit, ids[i], about, error);
    memory_free(about);
    memory_free(ids);
    return status;
}

static ee_status load_all(evaluation_jobs *self, ee_error *error)
{
    ee_status status = job_move_old(self->blobs, error);
    const served_bandit *bandit;
    for (size_t i = 0; !status && (bandit = served_bandits_at(self->bandits, i)); i++)
        status = load_bandit(self, served_bandit_number(bandit), error);
    if (self->count) qsort(self->rows, self->count, sizeof *self->rows, by_creation);
    return status;
}

ee_status evaluation_jobs_start(store *kept, served_bandits *bandits, evaluation_jobs **out, ee_error *error)
{
    evaluation_jobs *self;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->store = kept;
    self->bandits = bandits;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    pthread_cond_init(&self->played, NULL);
    self->blobs = store_blobs(kept);
    status = load_all(self, error);
    self->runs = !status && pthread_create(&self->thread, NULL, run, self) == 0;
    if (!status && !self->runs) status = status_fail(error, EE_NO_MEMORY, "could not start a thread");
    if (status)
        evaluation_jobs_stop(self);
    else
        *out = self;
    return status;
}

void evaluation_jobs_stop(evaluation_jobs *self)
{
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    atomic_store(&self->stopping, true);
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
    if (self->runs) pthread_join(self->thread, NULL);
    pthread_cond_destroy(&self->changed);
    pthread_cond_destroy(&self->played);
    pthread_mutex_destroy(&self->lock);
    memory_release(&self->memory);
}

/* ---- bandits that come and go ---- */

ee_status evaluation_jobs_adopt(evaluation_jobs *self, uint32_t bandit, ee_error *error)
{
    pthread_mutex_lock(&self->lock);
    ee_status status = load_bandit(self, bandit, error);
    if (self->count) qsort(self->rows, self->count, sizeof *self->rows, by_creation);
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
    return status;
}

void evaluation_jobs_release(evaluation_jobs *self, uint32_t bandit)
{
    pthread_mutex_lock(&self->lock);
    if (self->playing && self->playing->bandit == bandit) atomic_store(&self->playing->released, true);
    while (self->playing && self->playing->bandit == bandit) pthread_cond_wait(&self->played, &self->lock);
    for (size_t i = self->count; i-- > 0;)
        if (self->rows[i]->bandit == bandit) remove_row(self, i);
    pthread_mutex_unlock(&self->lock);
}

/* ---- what is asked ---- */

static ee_status make_id(char id[JOB_ID_SIZE], ee_error *error)
{
    uint8_t bytes[JOB_ID_SIZE / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return status_fail(error, EE_FILE_ERROR, "could not get random numbers");
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    return EE_OK;
}

static ee_status add_job(evaluation_jobs *self, const job_about *about, ee_error *error)
{
    size_t same = 0;
    for (size_t i = 0; i < self->count; i++) {
        same += self->rows[i]->bandit == about->bandit;
        if (strcmp(self->rows[i]->id, about->id) == 0)
            return status_fail(error, EE_BAD_INPUT, "an evaluation with this id already exists");
    }
    if (same >= JOBS_EACH)
        return status_fail(error, EE_BAD_INPUT, "the bandit has %d evaluations, the maximum; delete one first",
                           JOBS_EACH);
    ee_status status = job_write_about(self->blobs, about, error);
    if (!status) status = add_row(self, about, error);
    return status;
}

ee_status evaluation_jobs_create_as(evaluation_jobs *self, const served_bandit *bandit, const job_request *request,
                                    const char *id, ee_error *error)
{
    bandit_settings settings = served_bandit_settings(bandit);
    job_about *about = NULL;
    ee_status status = job_request_check(request, &settings, error);
    if (!status) status = memory_create(NULL, &about, 1, sizeof *about, error);
    if (!status) {
        *about = (job_about){.bandit = served_bandit_number(bandit),
                             .progress = NAN,
                             .created = server_clock_wall(),
                             .request = *request};
        memcpy(about->id, id, sizeof about->id);
        pthread_mutex_lock(&self->lock);
        status = add_job(self, about, error);
        pthread_cond_signal(&self->changed);
        pthread_mutex_unlock(&self->lock);
    }
    memory_free(about);
    return status;
}

ee_status evaluation_jobs_create(evaluation_jobs *self, const served_bandit *bandit, const job_request *request,
                                 char id[JOB_ID_SIZE], ee_error *error)
{
    ee_status status = make_id(id, error);
    return status ? status : evaluation_jobs_create_as(self, bandit, request, id, error);
}

/* With the lock. */
static ee_status read_row(const evaluation_jobs *self, const job_row *row, job_about *out, ee_error *error)
{
    ee_status status = job_read_about(self->blobs, row->bandit, row->id, out, error);
    out->state = row->state;
    out->progress = row->state == JOB_RUNNING ? atomic_load_explicit(&row->progress, memory_order_relaxed) : NAN;
    return status;
}

ee_status evaluation_jobs_list(evaluation_jobs *self, uint32_t bandit, job_about **out, size_t *count, ee_error *error)
{
    size_t capacity = 0;
    ee_status status = EE_OK;
    *out = NULL;
    *count = 0;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->count && !status; i++) {
        const job_row *row = self->rows[i];
        if (row->bandit != bandit || atomic_load(&row->deleted)) continue;
        status = memory_grow(NULL, out, &capacity, *count + 1, sizeof **out, error);
        if (!status) status = read_row(self, row, &(*out)[*count], error);
        ++*count;
    }
    pthread_mutex_unlock(&self->lock);
    return status;
}

static ee_status no_job(const char *id, ee_error *error)
{
    return status_fail(error, EE_NO_FILE, "there is no evaluation '%.60s'", id);
}

ee_status evaluation_jobs_read(evaluation_jobs *self, uint32_t bandit, const char *id, evaluation_job *out,
                               ee_error *error)
{
    *out = (evaluation_job){0};
    pthread_mutex_lock(&self->lock);
    const job_row *row = find_row(self, bandit, id, NULL);
    bool there = row && !atomic_load(&row->deleted);
    ee_status status = there ? read_row(self, row, &out->about, error) : no_job(id, error);
    if (!status && out->about.state == JOB_DONE) status = job_read_results(self->blobs, out, error);
    pthread_mutex_unlock(&self->lock);
    return status;
}

/* With the lock. A running one is removed from the list by the thread that runs it. */
static ee_status delete_row(evaluation_jobs *self, size_t place, ee_error *error)
{
    job_row *row = self->rows[place];
    ee_status status = job_remove(self->blobs, row->bandit, row->id, error);
    if (!status && row == self->playing)
        atomic_store(&row->deleted, true);
    else if (!status)
        remove_row(self, place);
    return status;
}

ee_status evaluation_jobs_delete(evaluation_jobs *self, uint32_t bandit, const char *id, ee_error *error)
{
    size_t place = 0;
    pthread_mutex_lock(&self->lock);
    const job_row *row = find_row(self, bandit, id, &place);
    ee_status status = row && !atomic_load(&row->deleted) ? delete_row(self, place, error) : no_job(id, error);
    pthread_mutex_unlock(&self->lock);
    return status;
}

ee_status evaluation_jobs_delete_all(evaluation_jobs *self, uint32_t bandit, ee_error *error)
{
    ee_status status = EE_OK;
    pthread_mutex_lock(&self->lock);
    for (size_t i = self->count; i-- > 0 && !status;)
        if (self->rows[i]->bandit == bandit) status = delete_row(self, i, error);
    while (!status && self->playing && self->playing->bandit == bandit) pthread_cond_wait(&self->played, &self->lock);
    pthread_mutex_unlock(&self->lock);
    return status;
}
