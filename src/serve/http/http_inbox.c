/* How other threads reach a worker. */
#define _POSIX_C_SOURCE 200809L
#include <sys/eventfd.h>

#include "http_inside.h"

void http_inbox_wake(http_worker *worker)
{
    eventfd_write(worker->wakes, 1);
}

void http_inbox_put(http_worker *worker, http_connection *connection)
{
    pthread_mutex_lock(&worker->inbox_lock);
    bool was_empty = !worker->inbox;
    connection->next_in_inbox = worker->inbox;
    worker->inbox = connection;
    pthread_mutex_unlock(&worker->inbox_lock);
    if (was_empty) http_inbox_wake(worker);
}

http_connection *http_inbox_take(http_worker *worker)
{
    pthread_mutex_lock(&worker->inbox_lock);
    http_connection *first = worker->inbox;
    worker->inbox = NULL;
    pthread_mutex_unlock(&worker->inbox_lock);
    return first;
}
