/* Moves the log of transactions (eenet.db-wal) into the database, so that it can start anew. Whoever does this writes
 * and syncs megabytes: another thread does, while the writer goes on. But as long as the writer goes on there is always
 * something new in the log, and SQLite starts it anew only when all of it was moved. So the writer moves the little
 * that came meanwhile, by itself. */
#include <pthread.h>

#include "store_sqlite.h"

/* Pages in the log at which the thread begins: 8 MiB, which is SQLite's own choice of pages too. Not settled by
 * measurement: with 20,000 decisions of 2 KB a second, 64 a commit, five runs each on two cores with much other work
 * (load 12), the median of the 99th percentiles was 29 ms with the thread and 26 ms with the writer alone at 1000
 * pages, 27 and 35 ms at 4000; single runs were 13 to 53 ms apart. A quiet machine has to tell whether the thread is
 * worth it.
 */
enum { BEGIN = 1000 };
/* Pages that the writer may move by itself: less than 2 MiB. */
enum { LITTLE = 200 };
/* Pages in the log, 64 MiB, beyond which it moves them however many they are: where the thread is always behind, the
 * log would fill the disk. */
enum { MUCH = 8000 };

struct store_checkpointer {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    sqlite3 *own;      /* the thread's connection */
    sqlite3 *writer;   /* the store's */
    int pages;         /* in the log after the last commit */
    int next;          /* pages at which the thread begins again */
    int moved;         /* pages that were moved when the thread ended */
    bool wanted, done; /* done: it ended, and the writer has not looked yet */
    bool stop;
};

typedef struct store_checkpointer checkpointer;

static int count_pages(void *context, sqlite3 *database, const char *name, int pages)
{
    (void)database;
    (void)name;
    ((checkpointer *)context)->pages = pages;
    return SQLITE_OK;
}

static void *work(void *context)
{
    checkpointer *self = context;
    pthread_mutex_lock(&self->mutex);
    while (!self->stop) {
        if (!self->wanted) {
            pthread_cond_wait(&self->changed, &self->mutex);
            continue;
        }
        pthread_mutex_unlock(&self->mutex);
        int pages = 0, moved = 0;
        /* What fails, as on a full disk, is tried again later: the log still has everything. */
        sqlite3_wal_checkpoint_v2(self->own, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved);
        pthread_mutex_lock(&self->mutex);
        self->moved = moved;
        self->wanted = false;
        self->done = true;
    }
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

ee_status store_checkpointer_start(store *of, ee_error *error)
{
    checkpointer *self;
    ee_status status = memory_create(&of->memory, &self, 1, sizeof *self, error);
    if (!status) status = store_connect(of->folder, STORE_WRITES, &self->own, error);
    if (status) return status;
    self->writer = of->database;
    self->next = BEGIN;
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->changed, NULL);
    if (pthread_create(&self->thread, NULL, work, self)) {
        sqlite3_close(self->own);
        return status_fail(error, EE_NO_MEMORY, "store: could not start a thread");
    }
    sqlite3_wal_hook(self->writer, count_pages, self);
    of->checkpointer = self;
    return EE_OK;
}

/* The thread is done: the rest, or another turn of it where that is much, or where a reader still needs the log. */
static void finish(checkpointer *self)
{
    int pages = self->pages, moved = self->moved;
    if (pages - moved <= LITTLE || pages > MUCH)
        sqlite3_wal_checkpoint_v2(self->writer, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved);
    self->next = pages - moved <= LITTLE ? pages + BEGIN : pages + LITTLE;
}

void store_checkpointer_turn(checkpointer *self)
{
    if (self->pages < BEGIN) { /* it starts anew, or is short */
        self->next = BEGIN;
        return;
    }
    pthread_mutex_lock(&self->mutex);
    if (self->done) {
        self->done = false;
        finish(self);
    } else if (!self->wanted && self->pages >= self->next) {
        self->wanted = true;
        pthread_cond_signal(&self->changed);
    }
    pthread_mutex_unlock(&self->mutex);
}

void store_checkpointer_stop(checkpointer *self)
{
    if (!self) return;
    pthread_mutex_lock(&self->mutex);
    self->stop = true;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->mutex);
    pthread_join(self->thread, NULL);
    sqlite3_close(self->own);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->mutex);
}
