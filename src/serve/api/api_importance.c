/* importance: computed in a separate thread, and cached for a while. */
#define _DEFAULT_SOURCE /* setpriority of a thread */
#include <pthread.h>
#include <sys/resource.h>

#include "serve/model/importance.h"
#include "serve/system/server_clock.h"
#include "service_inside.h"

enum { SECOND = 1000000, DAY = 86400, FRESH = 30 }; /* seconds that an answer stays */

typedef struct kept_importance {
    char *answer; /* NULL: none yet */
    size_t size;
    int64_t at; /* server_clock_real */
} kept_importance;

typedef struct importance_cache {
    pthread_mutex_t lock;
    kept_importance *rows; /* (count) by the number of the bandit */
    size_t capacity;
} importance_cache;

ee_status importances_create(importance_cache **out, ee_error *error)
{
    ee_status status = memory_create(NULL, out, 1, sizeof **out, error);
    if (!status) pthread_mutex_init(&(*out)->lock, NULL);
    return status;
}

void importances_free(importance_cache *self)
{
    if (!self) return;
    for (size_t i = 0; i < self->capacity; i++) memory_free(self->rows[i].answer);
    memory_free(self->rows);
    pthread_mutex_destroy(&self->lock);
    memory_free(self);
}

/* Adds what is kept of a bandit to an answer; false where that is nothing, or too old. */
static bool find_kept(importance_cache *self, uint32_t bandit, text *into)
{
    pthread_mutex_lock(&self->lock);
    const kept_importance *row = bandit < self->capacity ? &self->rows[bandit] : NULL;
    bool fresh = row && row->answer && server_clock_real() - row->at < (int64_t)FRESH * SECOND;
    if (fresh) text_bytes(into, row->answer, row->size);
    pthread_mutex_unlock(&self->lock);
    return fresh;
}

/* Where there is no memory, nothing is kept, and it is measured again. */
static void keep(importance_cache *self, uint32_t bandit, text *made)
{
    pthread_mutex_lock(&self->lock);
    if (!memory_grow(NULL, &self->rows, &self->capacity, (size_t)bandit + 1, sizeof *self->rows, NULL)) {
        kept_importance *row = &self->rows[bandit];
        memory_free(row->answer);
        *row = (kept_importance){made->bytes, made->length, server_clock_real()};
        made->bytes = NULL;
    }
    pthread_mutex_unlock(&self->lock);
}

/* In the analyst's thread. Those that asked meanwhile find what the first had measured. */
static void measure(void *context)
{
    call *self = context;
    service *owner = self->owner;
    text *answer = &self->exchange->answer, made = text_start(NULL);
    importance found;
    ee_error error;
    setpriority(PRIO_PROCESS, 0, 15); /* of this thread alone: answers and training go first */
    if (!find_kept(owner->importances, served_bandit_number(self->bandit), answer)) {
        importance_request request = {.from = journal_time(owner->journal) - (int64_t)DAY * SECOND,
                                      .until = INT64_MAX,
                                      .cancel = &owner->draining};
        if (importance_measure(owner->store, self->bandit, &request, &found, &error)) {
            call_refuse(self, &error);
            return;
        }
        importance_answer(&made, &found);
        importance_free(&found);
        text_bytes(answer, made.bytes ? made.bytes : "", made.length);
        if (made.status && !answer->status) answer->status = made.status;
        if (!made.status) keep(owner->importances, served_bandit_number(self->bandit), &made);
        memory_free(made.bytes);
    }
    call_answer(self, 200);
}

void api_importance(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)match;
    service *of = owner;
    call *self = exchange->context;
    if (find_kept(of->importances, served_bandit_number(self->bandit), &exchange->answer)) {
        call_answer(self, 200);
        return;
    }
    self->task = (worker_task){.run = measure, .context = self};
    if (!worker_submit(of->analyst, &self->task))
        call_refuse_for(exchange, 503, 1, "too many importance requests are waiting; try again");
}
