#include "latency.h"

/* Both APIs, single requests and batches: what a client waits for. */
static metric_mark mark_now(service *self, bool deciding)
{
    metric_mark mark = {{0}};
    const route *at;
    for (size_t i = 0; (at = service_route_at(self, i)); i++)
        if (at->traits & (deciding ? ROUTE_DECIDES : ROUTE_REWARDS)) metric_mark_add(&mark, &self->metrics.seconds[i]);
    return mark;
}

void latency_start(service *self)
{
    pthread_mutex_init(&self->deciding.lock, NULL);
    pthread_mutex_init(&self->rewarding.lock, NULL);
}

void latency_stop(service *self)
{
    pthread_mutex_destroy(&self->deciding.lock);
    pthread_mutex_destroy(&self->rewarding.lock);
}

static void move_on(latency_window *window, metric_mark now)
{
    pthread_mutex_lock(&window->lock);
    window->before = window->middle;
    window->middle = now;
    pthread_mutex_unlock(&window->lock);
}

void latency_mark(service *self)
{
    move_on(&self->deciding, mark_now(self, true));
    move_on(&self->rewarding, mark_now(self, false));
}

metric_mark latency_before(service *self, bool deciding, metric_mark *now)
{
    latency_window *window = deciding ? &self->deciding : &self->rewarding;
    *now = mark_now(self, deciding);
    pthread_mutex_lock(&window->lock);
    metric_mark before = window->before;
    pthread_mutex_unlock(&window->lock);
    return before;
}
