/* A pool of exchanges with their buffers: a request no larger than earlier ones allocates nothing. */
#include "http_inside.h"

enum {
    KEPT_EXCHANGES = 1024,
    KEPT_BYTES = 64 << 10 /* of a buffer: larger ones are rare, and would add up */
};

pooled_exchange *http_pool_take(http_server *server)
{
    pthread_mutex_lock(&server->pool_lock);
    pooled_exchange *taken = server->free_exchanges;
    if (taken) {
        server->free_exchanges = taken->next;
        server->free_count--;
    }
    pthread_mutex_unlock(&server->pool_lock);
    if (!taken && memory_create(NULL, &taken, 1, sizeof *taken, NULL)) return NULL;
    return taken;
}

static void free_exchange(pooled_exchange *old)
{
    memory_free(old->head_bytes);
    memory_free(old->body);
    memory_free(old->headers.bytes);
    memory_free(old->out.bytes);
    memory_free(old->exchange.answer.bytes);
    memory_free(old);
}

static text emptied(text from)
{
    if (from.capacity > KEPT_BYTES) {
        memory_free(from.bytes);
        return text_start(NULL);
    }
    return (text){.bytes = from.bytes, .capacity = from.capacity};
}

void http_pool_give(http_server *server, pooled_exchange *used)
{
    if (used->read && used->release) used->release(used->stream);
    memory_release(&used->exchange.memory);
    used->exchange = (http_exchange){.answer = emptied(used->exchange.answer)};
    used->headers = emptied(used->headers);
    used->out = emptied(used->out);
    if (used->body_capacity > KEPT_BYTES) {
        memory_free(used->body);
        used->body = NULL;
        used->body_capacity = 0;
    }
    used->is_open = used->has_merged = used->stream_waits = used->stream_has_ended = false;
    used->read = NULL;
    used->sent = 0;
    atomic_store_explicit(&used->stage, STAGE_REQUEST, memory_order_relaxed);

    pthread_mutex_lock(&server->pool_lock);
    bool kept = server->free_count < KEPT_EXCHANGES;
    if (kept) {
        used->next = server->free_exchanges;
        server->free_exchanges = used;
        server->free_count++;
    }
    pthread_mutex_unlock(&server->pool_lock);
    if (!kept) free_exchange(used);
}

void http_pool_free(http_server *server)
{
    for (pooled_exchange *old = server->free_exchanges, *next; old; old = next) {
        next = old->next;
        free_exchange(old);
    }
}
