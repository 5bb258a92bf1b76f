/* The items of a call: the body becomes entries of the journal, and those become the response. */
#include "call_items.h"

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
    http_exchange *exchange = self->exchange;
    const char *code = http_code(status);
    if (exchange->name_error) code = exchange->name_error(exchange, status, code);
    call_begin_answer(self, item);
    http_error(&self->answers, code, message);
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

ee_status call_only_item(call *self, call_item **out, ee_error *error)
{
    self->member = NULL;
    self->item_count = self->bodies_size = self->answers.length = self->first_item = 0;
    return add_item(self, out, error);
}

ee_status call_add_part(call *self, call_item **out, ee_error *error)
{
    ee_status status = add_item(self, out, error);
    if (status) return status;
    (*out)->is_part = true;
    self->items[self->first_item].parts++;
    return EE_OK;
}

ee_status call_name_slot(call *self, call_item *item, json_text id, json_text slot, ee_error *error)
{
    item->id_at = self->bodies_size;
    item->id_size = slot_decision_id_size(id, slot);
    ee_status status =
        memory_grow(&self->memory, &self->bodies, &self->bodies_capacity, item->id_at + item->id_size, 1, error);
    if (status) return status;
    item->entry.event.id = slot_decision_id(id, slot, (char *)self->bodies + item->id_at);
    self->bodies_size += item->id_size;
    return EE_OK;
}

/* What read refused: an error of the item, if the rest of it is JSON. */
static ee_status pass_refused(call *self, json_reader *reader, unsigned depth, ee_error *error)
{
    json_token token;
    call_item *item = &self->items[self->first_item];
    int status = call_status_of(self, error->status);
    self->item_count = self->first_item + 1; /* without the parts that it had */
    item->parts = 0;
    call_item_refuse(self, item, status, error->message);
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
    self->first_item = self->item_count;
    ee_status status = add_item(self, &item, error);
    if (status) return status;
    if (token->kind != JSON_KIND_OBJECT) {
        call_item_refuse(self, item, 400, self->member ? "expected a JSON object" : "the body must be a JSON object");
        return json_skip(reader, token, NULL, error);
    }
    status = read(self, item, reader, context, error);
    return status ? pass_refused(self, reader, depth, error) : EE_OK;
}

static ee_status read_array(call *self, json_reader *reader, read_item *read, const void *context, ee_error *error)
{
    const char *member = self->member;
    member_reader at = {.reader = reader, .names = &member, .count = 1};
    size_t most = (size_t)service_config_now(self->owner)->settings.batch;
    json_token token;
    if (!member_next(&at, error))
        return at.status ? at.status : status_fail(error, EE_BAD_INPUT, "missing \"%s\"", member);
    if (at.token.kind != JSON_KIND_ARRAY) return status_fail(error, EE_BAD_INPUT, "%s must be an array", member);
    while (!(at.status = json_next(reader, &token, error)) && token.kind != JSON_KIND_ARRAY_END) {
        if (self->item_count == most) {
            self->request.too_large = true;
            return status_fail(error, EE_BAD_INPUT, "more than %zu %s in one request (setting 'batch')", most, member);
        }
        at.status = read_one(self, reader, &token, read, context, error);
        if (at.status) break;
    }
    member_next(&at, error); /* the end, or it fails */
    return at.status;
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
        if (token.kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "the body must be a JSON object");
        status = read_array(self, &reader, read, context, error);
    }
    return status ? status : json_next(&reader, &token, error);
}

ee_status call_read_items(call *self, read_item *read, const void *context)
{
    self->item_count = self->bodies_size = self->answers.length = 0;
    ee_status status = read_body(self, read, context, &self->error);
    if (!status && self->answers.status) status = status_no_memory(&self->error, self->answers.length);
    return status;
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
    if (item->answer_size)
        text_bytes(&self->exchange->answer, self->answers.bytes + item->answer_at, item->answer_size);
}

/* The answer of an item with its parts: of a round of slots theirs together, unless one was refused, as all are then.
 * Returns its status. */
static int add_whole(call *self, const call_item *first)
{
    const call_item *end = first + first->parts + 1;
    for (const call_item *item = first; item < end; item++) {
        if (item->status < 400) continue;
        add_answer(self, item);
        return item->status;
    }
    if (!first->is_round) {
        add_answer(self, first);
        return first->status;
    }
    text *answer = &self->exchange->answer;
    self->dialect->begin_round(answer, slot_round_id(first->entry.event.id, NULL));
    for (const call_item *item = first; item < end; item++) {
        if (item > first) text_bytes(answer, ",", 1);
        add_answer(self, item);
    }
    self->dialect->end_round(answer, first->version);
    return first->status;
}

/* Whether another server owns the bandit, so that nothing of the call was written. If a part of it was, the rest is
 * refused. */
static bool has_moved(const call *self)
{
    size_t moved = 0, written = 0;
    for (size_t i = 0; i < self->item_count; i++) {
        const call_item *item = &self->items[i];
        if (item->entry.done) *(item->entry.verdict == ENTRY_MOVED ? &moved : &written) += 1;
    }
    return moved && !written;
}

static void answer_items(call *self)
{
    text *answer = &self->exchange->answer;
    if (has_moved(self)) {
        self->owner->moved(self);
        return;
    }
    bool unavailable = all_unavailable(self);
    if (self->answers.status && !answer->status) answer->status = self->answers.status;
    if (unavailable) http_add_header(self->exchange, "Retry-After", "1");
    if (unavailable || !self->member) {
        call_answer(self, add_whole(self, &self->items[0]));
        return;
    }
    text_add(answer, "{\"%s\":[", self->member);
    for (size_t i = 0; i < self->item_count; i += self->items[i].parts + 1) {
        if (i) text_bytes(answer, ",", 1);
        add_whole(self, &self->items[i]);
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
        journal_entry *entry = &item->entry;
        if (item->id_size) /* a dry run has one, too */
            entry->event.id = (json_text){(const char *)self->bodies + item->id_at, item->id_size};
        else if (entry->generated_id)
            entry->event.id = (json_text){item->id, sizeof item->id};
        if (item->status) continue;
        entry->bandit = served_bandit_number(self->bandit);
        entry->event.body = self->bodies + item->body_at;
        entry->event.size = item->body_size;
        if (self->first_id[0]) entry->generated_id = false; /* it may have been written with the same */
        if (item->is_round) entry->with_next = i + 1 < self->item_count && self->items[i + 1].is_part;
        entry->done = done;
        entry->context = self;
        entry->next = NULL;
        *last = entry;
        last = &entry->next;
        ++*count;
    }
    return first;
}

ee_status call_submit(call *self, void (*done)(journal_entry *entry))
{
    size_t count = 0;
    journal_entry *first = link_entries(self, done, &count);
    atomic_store(&self->left, count);
    if (!first) answer_items(self);
    if (!first || journal_submit(self->owner->journal, first)) return EE_OK;
    return status_fail(&self->error, EE_FILE_ERROR, "too many requests are waiting to be written; try again");
}

void call_item_done(call *self)
{
    if (atomic_fetch_sub(&self->left, 1) == 1) answer_items(self);
}
