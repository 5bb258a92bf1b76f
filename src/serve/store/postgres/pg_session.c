#include "pg_session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "pg_schema.h"

/* A place for a connection. A call that has the slot is its only user. */
typedef struct pool_slot {
    pg_connection *connection; /* NULL: never used */
    uint64_t renewed;          /* pg_session_renew was called so often before it connected */
    bool taken;
} pool_slot;

/* A call that waits for a slot. */
typedef struct pool_waiter {
    struct pool_waiter *next;
    pool_slot *slot; /* the one that it was given */
    bool failed;     /* none: connecting fails */
    ee_error error;
    pthread_cond_t decided;
} pool_waiter;

struct pg_pool {
    pg_pool *next;
    size_t sessions; /* that are open: the last one frees the pool */
    pthread_mutex_t lock;
    pool_slot slots[PG_POOL];
    pool_waiter *first, *last;
    char where[];
};

static atomic_uint_fast64_t renewals; /* in this process */
static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;
static pg_pool *pools;

void pg_session_renew(void)
{
    atomic_fetch_add(&renewals, 1);
}

/* ---- pools ---- */

static ee_status find_pool(const char *where, pg_pool **out, ee_error *error)
{
    for (*out = pools; *out; *out = (*out)->next)
        if (strcmp((*out)->where, where) == 0) return EE_OK;
    size_t size = strlen(where) + 1;
    ee_status status = memory_create(NULL, out, 1, sizeof **out + size, error);
    if (status) return status;
    memcpy((*out)->where, where, size);
    pthread_mutex_init(&(*out)->lock, NULL);
    (*out)->next = pools;
    pools = *out;
    return EE_OK;
}

static void free_pool(pg_pool *self)
{
    pg_pool **at = &pools;
    while (*at != self) at = &(*at)->next;
    *at = self->next;
    for (size_t i = 0; i < PG_POOL; i++) pg_free(self->slots[i].connection);
    pthread_mutex_destroy(&self->lock);
    memory_free(self);
}

ee_status pg_session_open(const pg_options *options, pg_session *out, ee_error *error)
{
    *out = (pg_session){.options = *options};
    out->options.where = out->options.role = NULL;
    pthread_mutex_lock(&pools_lock);
    ee_status status = find_pool(options->where, &out->pool, error);
    if (!status) out->pool->sessions++;
    pthread_mutex_unlock(&pools_lock);
    return status;
}

void pg_session_close(pg_session *self)
{
    pthread_mutex_lock(&pools_lock);
    if (self->pool && !--self->pool->sessions) free_pool(self->pool);
    pthread_mutex_unlock(&pools_lock);
    *self = (pg_session){0};
}

/* ---- slots ---- */

/* A connection that has the statements is better than another one, and that is better than a new one. */
static int rank_slot(const pool_slot *slot, const char *const *sql)
{
    if (slot->taken) return 0;
    if (!slot->connection || pg_is_broken(slot->connection)) return 1;
    return pg_list(slot->connection) == sql ? 3 : 2;
}

static pool_slot *find_slot(pg_pool *self, const char *const *sql)
{
    pool_slot *best = NULL;
    for (pool_slot *slot = self->slots; slot < self->slots + PG_POOL; slot++)
        if (rank_slot(slot, sql) > (best ? rank_slot(best, sql) : 0)) best = slot;
    return best;
}

static void wait_for_slot(pg_pool *self, pool_waiter *me)
{
    pthread_cond_init(&me->decided, NULL);
    if (self->first)
        self->last->next = me;
    else
        self->first = me;
    self->last = me;
    while (!me->slot && !me->failed) pthread_cond_wait(&me->decided, &self->lock);
    pthread_cond_destroy(&me->decided);
}

static ee_status take_slot(pg_session *of, pool_slot **out, ee_error *error)
{
    pool_waiter me = {0};
    pthread_mutex_lock(&of->pool->lock);
    me.slot = find_slot(of->pool, of->options.sql);
    if (me.slot)
        me.slot->taken = true;
    else
        wait_for_slot(of->pool, &me);
    pthread_mutex_unlock(&of->pool->lock);
    *out = me.slot;
    return me.slot ? EE_OK : status_fail(error, EE_FILE_ERROR, "%s", me.error.message);
}

/* The first that waits gets it. */
static void give_slot(pg_pool *self, pool_slot *slot)
{
    pthread_mutex_lock(&self->lock);
    pool_waiter *first = self->first;
    slot->taken = first != NULL;
    if (first) {
        self->first = first->next;
        first->slot = slot;
        pthread_cond_signal(&first->decided);
    }
    pthread_mutex_unlock(&self->lock);
}

/* Otherwise each would wait for its own attempt to connect, one after the other. */
static void fail_waiters(pg_pool *self, const ee_error *error)
{
    pthread_mutex_lock(&self->lock);
    for (pool_waiter *one = self->first, *next; one; one = next) {
        next = one->next;
        one->error = *error;
        one->failed = true;
        pthread_cond_signal(&one->decided);
    }
    self->first = NULL;
    pthread_mutex_unlock(&self->lock);
}

/* ---- calls ---- */

static ee_status connect_slot(pg_session *self, pool_slot *slot, ee_error *error)
{
    uint64_t now = atomic_load(&renewals);
    pg_options options = self->options;
    options.where = self->pool->where;
    options.role = "pool";
    if (slot->renewed != now && slot->connection) pg_disconnect(slot->connection);
    slot->renewed = now;
    ee_status status = slot->connection ? EE_OK : pg_create(&options, &slot->connection, error);
    if (!status) status = pg_use(slot->connection, &options, error);
    self->connection = slot->connection;
    if (!status && !self->checked) status = pg_schema_check(self->connection, error);
    if (!status) self->checked = true;
    return status;
}

ee_status pg_session_run(pg_session *self, pg_call *run, void *context, ee_error *error)
{
    pool_slot *slot;
    ee_error why = {0};
    ee_status status = take_slot(self, &slot, error);
    if (status) return status;
    for (int tries = 0; tries < 2; tries++) {
        bool was_open = slot->connection && !pg_is_broken(slot->connection);
        status = connect_slot(self, slot, &why);
        bool broken = status && slot->connection && pg_is_broken(slot->connection);
        if (broken && was_open) continue; /* the server ended it while nobody used it */
        if (broken) fail_waiters(self->pool, &why);
        if (status) break;
        status = run(context, &why);
        broken = pg_is_broken(self->connection);
        /* A connection on which ROLLBACK fails is dropped, and its transaction with it. */
        if (status && self->begun && !broken && pg_execute(self->connection, "ROLLBACK", "roll back", NULL))
            pg_disconnect(self->connection);
        self->begun = false;
        if (!status || !broken) break;
    }
    self->connection = NULL;
    give_slot(self->pool, slot);
    if (status && error) *error = why;
    return status;
}
