/* Calls: the room in which a request is answered, and how items become entries of the journal and answers. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "service_inside.h"

/* A call that grew beyond this is not kept for the next request. */
enum { MOST_KEPT = 1 << 20 };

/* ---- the pool ---- */

static void call_free(call *self)
{
    memory_release(&self->arms.memory);
    memory_free(self->answers.bytes);
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
    size_t bytes = memory_bytes(&used->memory) + memory_bytes(&used->arms.memory) + used->answers.capacity;
    if (bytes > MOST_KEPT || used->answers.status) {
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

const char *call_code(int status)
{
    static const struct {
        int status;
        const char *code;
    } codes[] = {{400, "BadRequest"},       {401, "Unauthorized"}, {403, "Forbidden"}, {404, "NotFound"},
                 {405, "MethodNotAllowed"}, {409, "Conflict"},     {410, "Gone"},      {413, "TooLarge"},
                 {429, "TooManyRequests"},  {503, "Unavailable"}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].status == status) return codes[i].code;
    return "Internal";
}

int call_status_of(ee_status status)
{
    switch (status) {
    case EE_BAD_INPUT:
    case EE_BAD_OPTION:
    case EE_BAD_MODEL:
        return 400;
    case EE_NO_FILE:
        return 404;
    case EE_FILE_ERROR:
    case EE_NO_MEMORY:
        return 503;
    default:
        return 500;
    }
}

void call_refuse(call *self, const ee_error *error)
{
    int status = call_status_of(error->status);
    if (status == 503)
        call_refuse_for(self->exchange, status, 1, "%s", error->message);
    else
        http_refuse(self->exchange, status, call_code(status), "%s", error->message);
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
    http_refuse(exchange, status, call_code(status), "%s", message);
}

void call_refuse_archived(call *self)
{
    const char *name = served_bandit_name(self->bandit);
    http_refuse(self->exchange, 410, call_code(410),
                "the bandit '%s' is archived; POST /v1/bandits/%s/restore brings it back", name, name);
}

void call_answer(call *self, int status)
{
    text_bytes(&self->exchange->answer, "\n", 1);
    http_answer(self->exchange, status);
}

bool call_query_number(call *self, const char *name, uint64_t least, uint64_t *number)
{
    const char *words = http_query(self->exchange, name);
    char *end;
    if (!words) return true;
    errno = 0;
    *number = strtoull(words, &end, 10);
    if (words[0] >= '0' && words[0] <= '9' && !*end && !errno && *number >= least && *number <= INT64_MAX) return true;
    http_refuse(self->exchange, 400, call_code(400), "%s must be a whole number, at least %" PRIu64 ", got '%.60s'",
                name, least, words);
    return false;
}

void call_work(call *self, void (*run)(void *context))
{
    self->task = (worker_task){.run = run, .context = self};
    if (!worker_submit(self->owner->worker, &self->task))
        call_refuse_for(self->exchange, 503, 1, "too many changes wait to be made; try again");
}

void call_begin_answer(call *self, call_item *item)
{
    item->answer_at = self->answers.length;
}

void call_end_answer(call *self, call_item *item, int status)
{
    item->answer_size = self->answers.length - item->answer_at;
    item->status = status;
}

void call_item_refuse(call *self, call_item *item, int status, const char *message)
{
    call_begin_answer(self, item);
    http_error(&self->answers, call_code(status), message);
    call_end_answer(self, item, status);
}

void call_item_failed(call *self, call_item *item)
{
    /* The journal refuses what is of an archived bandit: it was archived after the request was let in. */
    int status = item->entry.error.status == EE_BAD_INPUT ? 410 : 503;
    call_item_refuse(self, item, status, status == 410 ? "the bandit is archived" : item->entry.error.message);
}

/* ---- reading ---- */

static ee_status add_item(call *self, call_item **out, ee_error *error)
{
    ee_status status =
        memory_grow(&self->memory, &self->items, &self->item_capacity, self->item_count + 1, sizeof **out, error);
    if (status) return status;
    *out = &self->items[self->item_count++];
    **out = (call_item){.status = 0};
    return EE_OK;
}

/* What read refused: an error of the item, if the rest of it is JSON. */
static ee_status pass_refused(call *self, call_item *item, json_reader *reader, unsigned depth, ee_error *error)
{
    json_token token;
    int status = call_status_of(error->status);
    call_item_refuse(self, item, status == 400 && self->request.too_large ? 413 : status, error->message);
    self->request.too_large = false; /* that was the item's, not the body's */
    while (reader->depth > depth) {
        ee_status failed = json_next(reader, &token, error);
        if (failed) return failed;
    }
    return EE_OK;
}

static ee_status read_one(call *self, json_reader *reader, const json_token *token, read_item *read,
                          const void *context, ee_error *error)
{
    call_item *item;
    unsigned depth = reader->depth - 1;
    self->request.too_large = false;
    ee_status status = add_item(self, &item, error);
    if (status) return status;
    if (token->kind != JSON_KIND_OBJECT) {
        call_item_refuse(self, item, 400, self->member ? "an object must stand here" : "the body must be an object");
        return json_skip(reader, token, NULL, error);
    }
    status = read(self, item, reader, context, error);
    return status ? pass_refused(self, item, reader, depth, error) : EE_OK;
}

static ee_status read_array(call *self, json_reader *reader, read_item *read, const void *context, ee_error *error)
{
    const char *member = self->member;
    const member_names known = {&member, 1};
    size_t most = (size_t)service_config_now(self->owner)->settings.batch, which;
    unsigned seen = 0;
    json_token token;
    ee_status status = json_next(reader, &token, error);
    if (status || token.kind == JSON_KIND_OBJECT_END)
        return status ? status : status_fail(error, EE_BAD_INPUT, "there is no \"%s\"", member);
    status = request_member(token.key, &known, "", &seen, &which, error);
    if (status) return status;
    if (token.kind != JSON_KIND_ARRAY) return status_fail(error, EE_BAD_INPUT, "%s must be an array", member);
    for (;;) {
        status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_ARRAY_END) break;
        if (self->item_count == most) {
            self->request.too_large = true;
            return status_fail(error, EE_BAD_INPUT, "more than %zu %s, which this server does not take at a time", most,
                               member);
        }
        status = read_one(self, reader, &token, read, context, error);
        if (status) break;
    }
    if (status) return status;
    status = json_next(reader, &token, error);
    if (status || token.kind == JSON_KIND_OBJECT_END) return status;
    return request_member(token.key, &known, "", &seen, &which, error);
}

static ee_status read_body(call *self, read_item *read, const void *context, ee_error *error)
{
    json_token token;
    json_reader reader = decide_request_start(&self->request, self->exchange->body);
    ee_status status = json_next(&reader, &token, error);
    if (status) return status;
    if (!self->member) {
        status = read_one(self, &reader, &token, read, context, error);
    } else {
        if (token.kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "the body must be an object");
        status = read_array(self, &reader, read, context, error);
    }
    return status ? status : json_next(&reader, &token, error);
}

bool call_read_items(call *self, read_item *read, const void *context)
{
    ee_error error;
    self->request.too_large = false;
    self->item_count = self->bodies_size = self->answers.length = 0;
    ee_status status = read_body(self, read, context, &error);
    if (!status && self->answers.status) status = status_no_memory(&error, self->answers.length);
    if (!status) return true;
    if (self->request.too_large)
        http_refuse(self->exchange, 413, call_code(413), "%s", error.message);
    else
        call_refuse(self, &error);
    return false;
}

/* ---- writing ---- */

/* All items of a batch that could not be written: as if the whole was refused. */
static bool all_unavailable(const call *self)
{
    for (size_t i = 0; i < self->item_count; i++)
        if (self->items[i].status != 503) return false;
    return self->item_count > 0;
}

static void add_answer(call *self, const call_item *item)
{
    text_bytes(&self->exchange->answer, self->answers.bytes + item->answer_at, item->answer_size);
}

static void answer_items(call *self)
{
    text *answer = &self->exchange->answer;
    bool unavailable = all_unavailable(self);
    if (self->answers.status && !answer->status) answer->status = self->answers.status;
    if (unavailable) http_add_header(self->exchange, "Retry-After", "1");
    if (unavailable || !self->member) {
        add_answer(self, &self->items[0]);
        call_answer(self, self->items[0].status);
        return;
    }
    text_add(answer, "{\"%s\":[", self->member);
    for (size_t i = 0; i < self->item_count; i++) {
        if (i) text_bytes(answer, ",", 1);
        add_answer(self, &self->items[i]);
    }
    text_bytes(answer, "]}", 2);
    call_answer(self, 200);
}

/* Pointers into what grew meanwhile are set now that it grows no more. */
static journal_entry *link_entries(call *self, void (*done)(journal_entry *entry), size_t *count)
{
    journal_entry *first = NULL, **last = &first;
    for (size_t i = 0; i < self->item_count; i++) {
        call_item *item = &self->items[i];
        if (item->status) continue;
        journal_entry *entry = &item->entry;
        entry->bandit = served_bandit_number(self->bandit);
        entry->event.body = self->bodies + item->body_at;
        entry->event.size = item->body_size;
        if (entry->own_id) entry->event.id = (json_text){item->id, sizeof item->id};
        entry->done = done;
        entry->context = self;
        entry->next = NULL;
        *last = entry;
        last = &entry->next;
        ++*count;
    }
    return first;
}

void call_submit(call *self, void (*done)(journal_entry *entry))
{
    size_t count = 0;
    journal_entry *first = link_entries(self, done, &count);
    if (!first) {
        answer_items(self);
        return;
    }
    atomic_store(&self->left, count);
    if (!journal_submit(self->owner->journal, first))
        call_refuse_for(self->exchange, 503, 1, "more is waiting to be written than this server keeps; try again");
}

void call_item_done(call *self)
{
    if (atomic_fetch_sub(&self->left, 1) == 1) answer_items(self);
}
