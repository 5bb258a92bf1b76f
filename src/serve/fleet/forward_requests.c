/* Lists of requests and connections, and the end of a request. */
#include "forward_inside.h"

/* ---- connections ---- */

void connections_push_first(connection_list *list, forward_connection *added)
{
    added->previous = NULL;
    added->next = list->first;
    *(list->first ? &list->first->previous : &list->last) = added;
    list->first = added;
}

void connections_push_last(connection_list *list, forward_connection *added)
{
    added->next = NULL;
    added->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = added;
    list->last = added;
}

void connections_remove(connection_list *list, forward_connection *removed)
{
    *(removed->next ? &removed->next->previous : &list->last) = removed->previous;
    *(removed->previous ? &removed->previous->next : &list->first) = removed->next;
    removed->next = removed->previous = NULL;
}

/* ---- the queue of a peer ---- */

void queue_push_first(request_list *list, forward_request *added)
{
    added->queued = (forward_link){list->first, NULL};
    *(list->first ? &list->first->queued.previous : &list->last) = added;
    list->first = added;
}

void queue_push_last(request_list *list, forward_request *added)
{
    added->queued = (forward_link){NULL, list->last};
    *(list->last ? &list->last->queued.next : &list->first) = added;
    list->last = added;
}

void queue_remove(request_list *list, forward_request *removed)
{
    forward_link *link = &removed->queued;
    *(link->next ? &link->next->queued.previous : &list->last) = link->previous;
    *(link->previous ? &link->previous->queued.next : &list->first) = link->next;
}

/* ---- all requests ---- */

void timed_insert(request_list *list, forward_request *added)
{
    forward_request *before = list->last; /* most have the same timeout: their place is the end */
    while (before && before->deadline > added->deadline) before = before->timed.previous;
    forward_request *after = before ? before->timed.next : list->first;
    added->timed = (forward_link){after, before};
    *(after ? &after->timed.previous : &list->last) = added;
    *(before ? &before->timed.next : &list->first) = added;
}

void timed_remove(request_list *list, forward_request *removed)
{
    forward_link *link = &removed->timed;
    *(link->next ? &link->next->timed.previous : &list->last) = link->previous;
    *(link->previous ? &link->previous->timed.next : &list->first) = link->next;
}

void forward_end_request(forwarder *self, forward_request *request)
{
    timed_remove(&self->timed, request);
    if (request->peer) {
        request->peer->request_count--;
        request->peer->used = self->now;
    }
    if (!request->status) atomic_fetch_add(&self->failures, 1);
    atomic_fetch_add(&self->ended, 1);
    request->done(request);
}
