/* A table of token buckets in rows of WAYS. The caller's hash selects the row; in a full row the least recently used
 * bucket is replaced. A few locks each protect a share of the rows: one per row would cost memory, and a single one
 * would be contended. */
#include "rate_limit.h"

#include <pthread.h>

#include "base/memory.h"

enum { WAYS = 8, LOCKS = 16 };

typedef struct bucket {
    uint64_t who;
    double left; /* what may still pass */
    double time; /* of the last update; 0: free */
} bucket;

struct rate_limit {
    memory memory;
    size_t rows; /* a power of two */
    bucket *buckets;
    pthread_mutex_t locks[LOCKS];
};

rate_limit *rate_limit_create(size_t places)
{
    rate_limit *self;
    if (memory_create_owner(NULL, &self, sizeof *self, NULL)) return NULL;
    self->rows = 1;
    while (self->rows * WAYS < places) self->rows *= 2;
    if (memory_create(&self->memory, &self->buckets, self->rows * WAYS, sizeof *self->buckets, NULL)) {
        memory_release(&self->memory);
        return NULL;
    }
    for (size_t i = 0; i < LOCKS; i++) pthread_mutex_init(&self->locks[i], NULL);
    return self;
}

void rate_limit_free(rate_limit *self)
{
    if (!self) return;
    for (size_t i = 0; i < LOCKS; i++) pthread_mutex_destroy(&self->locks[i]);
    memory_release(&self->memory);
}

/* Neighbours fall into different rows (the multiplier is that of splitmix64). */
static size_t row_of(const rate_limit *self, uint64_t who)
{
    who = (who ^ who >> 32) * 0xbf58476d1ce4e5b9u;
    return (size_t)(who >> 32) & (self->rows - 1);
}

static bucket *find_bucket(bucket *row, uint64_t who, double most, double now)
{
    bucket *oldest = row;
    for (bucket *each = row; each < row + WAYS; each++) {
        if (each->time != 0 && each->who == who) return each;
        if (each->time < oldest->time) oldest = each;
    }
    *oldest = (bucket){who, most, now};
    return oldest;
}

bool rate_limit_pass(rate_limit *self, uint64_t who, double rate, double amount, double now, double *wait)
{
    if (rate <= 0) return true;
    double most = rate > 1 ? rate : 1;
    if (most < amount) most = amount; /* a batch that is larger passes when the bucket is full */
    size_t row = row_of(self, who);
    pthread_mutex_t *lock = &self->locks[row % LOCKS];
    pthread_mutex_lock(lock);
    bucket *its = find_bucket(&self->buckets[row * WAYS], who, most, now);
    if (now > its->time) {
        its->left += (now - its->time) * rate;
        its->time = now;
    }
    if (its->left > most) its->left = most;
    bool passes = its->left >= amount;
    if (passes)
        its->left -= amount;
    else
        *wait = (amount - its->left) / rate;
    pthread_mutex_unlock(lock);
    return passes;
}
