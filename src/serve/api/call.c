/* Calls: reusable state of a request that is being answered. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/options.h"
#include "call.h"
#include "data/values/log_time.h"

/* A call that grew beyond this is not kept for the next request. */
enum { MOST_KEPT = 1 << 20 };

/* ---- the pool ---- */

static void call_free(call *self)
{
    memory_release(&self->arms.memory);
    guardrails_room_release(&self->guarding);
    memory_free(self->answers.bytes);
    memory_free(self->slot_features.bytes);
    memory_free(self->slot_context.bytes);
    memory_free(self->forward_headers.bytes);
    memory_free(self->forward_target.bytes);
    memory_release(&self->memory); /* itself too */
}

call *call_take(service *owner, http_exchange *exchange)
{
    pthread_mutex_lock(&owner->pool_lock);
    call *self = owner->free_calls;
    if (self) owner->free_calls = self->next;
    pthread_mutex_unlock(&owner->pool_lock);
    if (!self) {
        if (memory_create_owner(NULL, &self, sizeof *self, NULL)) return NULL;
        self->owner = owner;
        self->request.owner = self->stored.owner = &self->memory;
    }
    self->exchange = exchange;
    self->only_bandit = NULL;
    self->key_name = "";
    self->match.route = NULL;
    self->base.generation = PERSONALIZER_NONE;
    self->error_code = NULL;
    self->request.too_large = false;
    self->client_request[0] = '\0';
    self->trace.trace[0] = '\0';
    self->is_forwarded = self->is_remote = self->relearns = false;
    self->first_id[0] = '\0';
    self->forward_until = 0;
    self->overtaken = 0;
    exchange->context = self;
    return self;
}

void call_give_back(call *used)
{
    service *owner = used->owner;
    used->exchange->context = NULL;
    used->exchange = NULL;
    used->bandit = NULL;
    if (used->is_download) atomic_fetch_sub(&owner->model_downloads, 1);
    used->is_download = false;
    size_t bytes = memory_bytes(&used->memory) + memory_bytes(&used->arms.memory) + used->answers.capacity +
                   used->slot_features.capacity + used->slot_context.capacity;
    if (bytes > MOST_KEPT || used->answers.status || used->slot_context.status || used->slot_features.status ||
        used->forward_headers.status || used->forward_target.status) {
        call_free(used);
        return;
    }
    pthread_mutex_lock(&owner->pool_lock);
    used->next = owner->free_calls;
    owner->free_calls = used;
    pthread_mutex_unlock(&owner->pool_lock);
}

void calls_free(service *owner)
{
    while (owner->free_calls) {
        call *next = owner->free_calls->next;
        call_free(owner->free_calls);
        owner->free_calls = next;
    }
}

/* ---- answers ---- */

int call_status_of(const call *self, ee_status status)
{
    switch (status) {
    case EE_BAD_INPUT:
    case EE_BAD_OPTION:
    case EE_BAD_MODEL:
        return self->request.too_large ? 413 : 400;
    case EE_NO_FILE:
        return 404;
    case EE_FILE_ERROR:
    case EE_NO_MEMORY:
        return 503;
    default:
        return 500;
    }
}

void call_fail(call *self, const ee_error *error)
{
    int status = call_status_of(self, error->status);
    if (status == 503)
        call_refuse_for(self->exchange, status, 1, "%s", error->message);
    else
        http_refuse(self->exchange, status, "%s", error->message);
}

void call_refuse_for(http_exchange *exchange, int status, double seconds, const char *format, ...)
{
    char message[512], after[32];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    snprintf(after, sizeof after, "%.0f", fmax(1, ceil(seconds)));
    http_add_header(exchange, "Retry-After", after);
    http_refuse(exchange, status, "%s", message);
}

ee_status call_refuse(call *self, int status, const char *format, ...)
{
    char message[512];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    http_refuse(self->exchange, status, "%s", message);
    return EE_OK;
}

ee_status call_refuse_archived(call *self)
{
    const char *name = served_bandit_name(self->bandit);
    return call_refuse(self, 410, "the bandit '%s' is archived; restore it with POST /v1/bandits/%s/restore", name,
                       name);
}

ee_status call_answer(call *self, int status)
{
    if (self->exchange->answer.length) text_bytes(&self->exchange->answer, "\n", 1);
    http_answer(self->exchange, status);
    return EE_OK;
}

void call_handle(call *self, call_handler *handler)
{
    self->error = (ee_error){.status = EE_OK};
    if (handler(self)) call_fail(self, &self->error);
}

static void handle_later(void *context)
{
    call *self = context;
    call_handle(self, self->later);
}

ee_status call_work(call *self, worker *to, call_handler *handler)
{
    self->later = handler;
    self->task = (worker_task){.run = handle_later, .context = self};
    if (worker_submit(to, &self->task)) return EE_OK;
    return status_fail(&self->error, EE_FILE_ERROR, "too many requests of this kind are waiting; try again");
}

bool call_finds_bandit_there(call *self)
{
    const route *of = self->match.route;
    bool for_archived = of->method == HTTP_GET || of->traits & ROUTE_ARCHIVED;
    if (self->bandit && self->owner->fleet && served_bandit_is_removed(self->bandit)) {
        self->owner->moved(self);
        return false;
    }
    if (self->bandit && served_bandit_is_removed(self->bandit)) { /* since it was found */
        http_refuse(self->exchange, 404, "there is no bandit '%s' any more: it was removed",
                    served_bandit_name(self->bandit));
        return false;
    }
    if (!self->bandit || for_archived || !served_bandit_is_archived(self->bandit)) return true;
    call_refuse_archived(self);
    return false;
}

/* In a worker's thread. Bandits are archived in the one for changes, so that none is archived during a change, but a
 * model may be in training for it. */
static ee_status dispatch_later(call *self)
{
    if (atomic_load(&self->owner->ending)) return status_fail(&self->error, EE_FILE_ERROR, "the server is stopping");
    return call_finds_bandit_there(self) ? self->match.route->handle(self) : EE_OK;
}

ee_status call_dispatch(call *self)
{
    bool reads = self->exchange->method == HTTP_GET || self->exchange->method == HTTP_HEAD;
    if (!(self->match.route->traits & ROUTE_WAITS)) return self->match.route->handle(self);
    return call_work(self, reads ? self->owner->readers : self->owner->worker, dispatch_later);
}

ee_status call_move(call *self, bool relearns)
{
    self->relearns = relearns;
    return call_work(self, relearns ? self->owner->relearner : self->owner->worker, dispatch_later);
}

ee_status call_start_over(call *self)
{
    enum { MOST = 3 };
    if (++self->overtaken < MOST) return call_move(self, true);
    call_refuse_for(self->exchange, 503, 1,
                    "the settings of '%s' change while a model is trained for new ones; try again",
                    served_bandit_name(self->bandit));
    return EE_OK;
}

ee_status call_check_query(call *self, const char *const *names, size_t count)
{
    json_text unknown;
    char word[64] = "", expected[128] = "";
    if (!http_query_unknown(self->exchange, names, count, &unknown)) return EE_OK;
    memcpy(word, unknown.bytes, (size_t)request_shown(unknown));
    const char *nearest = options_nearest(word, names, count);
    for (size_t i = 0, length = 0; i < count && length < sizeof expected; i++)
        length += (size_t)snprintf(expected + length, sizeof expected - length, "%s'%s'", i ? ", " : "", names[i]);
    return status_fail(&self->error, EE_BAD_INPUT, "unknown query parameter '%s'; %s%s%s", word,
                       nearest ? "did you mean '" : "expected ", nearest ? nearest : expected, nearest ? "'?" : "");
}

ee_status call_query_number(call *self, const char *name, uint64_t least, uint64_t *number)
{
    const char *value = http_query(self->exchange, name);
    char *end;
    if (!value) return EE_OK;
    errno = 0;
    *number = strtoull(value, &end, 10);
    if (value[0] >= '0' && value[0] <= '9' && !*end && !errno && *number >= least && *number <= INT64_MAX) return EE_OK;
    return status_fail(&self->error, EE_BAD_INPUT, "%s must be an integer of at least %" PRIu64 ", got '%.60s'", name,
                       least, value);
}

ee_status call_query_time(call *self, const char *name, int64_t *time)
{
    const char *value = http_query(self->exchange, name);
    double seconds;
    if (!value) return EE_OK;
    if (!log_time_parse((json_text){value, strlen(value)}, &seconds))
        return status_fail(&self->error, EE_BAD_INPUT, "%s must be a time such as 2026-11-16T10:00:00Z, got '%.60s'",
                           name, value);
    *time = llround(seconds * 1e6);
    return EE_OK;
}

static void woken(void *context, const ee_error *error)
{
    call *self = context;
    if (error && self->owner->fleet && served_bandit_is_removed(self->bandit)) /* since it was let in */
        self->owner->moved(self);
    else if (error && served_bandit_is_archived(self->bandit)) /* the same */
        call_refuse_archived(self);
    else if (error)
        call_refuse_for(self->exchange, 503, 1, "the bandit could not be loaded: %s", error->message);
    else if (call_when_awake(self, self->awake))
        call_fail(self, &self->error);
}

ee_status call_when_awake(call *self, awake_handler *go_on)
{
    self->awake = go_on;
    while (served_bandit_is_awake(self->bandit, woken, self)) {
        ee_error error = {EE_OK, ""};
        served_room *room = served_bandit_enter(self->bandit, &error);
        if (!room && !error.status) continue; /* it fell asleep meanwhile */
        if (!room) return status_fail(&self->error, error.status, "%s", error.message);
        return go_on(self, room);
    }
    return EE_OK;
}
