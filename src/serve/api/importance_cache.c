#include "importance_cache.h"

#include <pthread.h>

#include "serve/system/server_clock.h"

enum { SECOND = 1000000, FRESH = 30 }; /* seconds that an answer stays */

typedef struct kept_importance {
    char *answer; /* NULL: none yet */
    size_t size;
    int64_t at; /* server_clock_real */
} kept_importance;

struct importance_cache {
    pthread_mutex_t lock;
    kept_importance *rows; /* (count) by the number of the bandit */
    size_t capacity;
};

ee_status importance_cache_create(importance_cache **out, ee_error *error)
{
    ee_status status = memory_create(NULL, out, 1, sizeof **out, error);
    if (!status) pthread_mutex_init(&(*out)->lock, NULL);
    return status;
}

void importance_cache_free(importance_cache *self)
{
    if (!self) return;
    for (size_t i = 0; i < self->capacity; i++) memory_free(self->rows[i].answer);
    memory_free(self->rows);
    pthread_mutex_destroy(&self->lock);
    memory_free(self);
}

bool importance_cache_find(importance_cache *self, uint32_t bandit, text *into)
{
    pthread_mutex_lock(&self->lock);
    const kept_importance *row = bandit < self->capacity ? &self->rows[bandit] : NULL;
    bool fresh = row && row->answer && server_clock_real() - row->at < (int64_t)FRESH * SECOND;
    if (fresh) text_bytes(into, row->answer, row->size);
    pthread_mutex_unlock(&self->lock);
    return fresh;
}

void importance_cache_keep(importance_cache *self, uint32_t bandit, text *made)
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

void importance_cache_forget(importance_cache *self, uint32_t bandit)
{
    pthread_mutex_lock(&self->lock);
    if (bandit < self->capacity) {
        memory_free(self->rows[bandit].answer);
        self->rows[bandit].answer = NULL;
    }
    pthread_mutex_unlock(&self->lock);
}
