/* Erasing decisions: by their ids, by a member of their context, or by the key of their person. */
#include <inttypes.h>
#include <stdio.h>

#include "audit.h"
#include "call.h"
#include "erasing.h"
#include "handlers.h"
#include "serve/requests/request_members.h"

enum { MOST_IDS = 10000, PATH_MOST = 1024 };

typedef struct wanted {
    memory memory;
    json_text *ids;
    size_t count, capacity;
    erasure_request request;
} wanted;

static ee_status keep_text(wanted *self, json_text from, json_text *out, ee_error *error)
{
    char *bytes;
    ee_status status = memory_create(&self->memory, &bytes, from.length + 1, 1, error);
    if (status) return status;
    memcpy(bytes, from.bytes, from.length);
    *out = (json_text){bytes, from.length};
    return EE_OK;
}

static ee_status read_ids(wanted *self, json_reader *reader, const json_token *first, ee_error *error)
{
    json_token token;
    ee_status status = EE_OK;
    if (first->kind != JSON_KIND_ARRAY) return status_fail(error, EE_BAD_INPUT, "ids must be an array of texts");
    while (!status && !(status = json_next(reader, &token, error)) && token.kind != JSON_KIND_ARRAY_END) {
        status = request_check_id(&token, "ids", error);
        if (!status && self->count == MOST_IDS)
            status = status_fail(error, EE_BAD_INPUT, "ids may have at most %d ids; send several requests", MOST_IDS);
        if (!status)
            status = memory_grow(&self->memory, &self->ids, &self->capacity, self->count + 1, sizeof *self->ids, error);
        if (!status) status = keep_text(self, token.text, &self->ids[self->count], error);
        if (!status) self->count++;
    }
    if (!status && !self->count) status = status_fail(error, EE_BAD_INPUT, "ids must have at least one id");
    return status;
}

static ee_status read_key(wanted *self, json_reader *reader, const json_token *first, ee_error *error)
{
    static const char *const names[] = {"path", "value"};
    json_text *const texts[] = {&self->request.path, &self->request.value};
    member_reader at = {.reader = reader, .names = names, .count = 2, .where = "key"};
    if (first->kind != JSON_KIND_OBJECT)
        return status_fail(error, EE_BAD_INPUT, "key must be an object with \"path\" and \"value\"");
    while (member_next(&at, error)) {
        json_text given = at.token.text;
        if (at.token.kind != JSON_KIND_TEXT || !given.length || given.length > PATH_MOST)
            return status_fail(error, EE_BAD_INPUT, "key.%s must be a text of 1 to %d bytes", names[at.which],
                               PATH_MOST);
        at.status = keep_text(self, given, texts[at.which], error);
    }
    if (!at.status && at.seen != 3) return status_fail(error, EE_BAD_INPUT, "key must have \"path\" and \"value\"");
    return at.status;
}

static ee_status read_person(wanted *self, json_reader *reader, const json_token *first, ee_error *error)
{
    (void)reader;
    ee_status status = request_check_id(first, "person", error);
    return status ? status : keep_text(self, first->text, &self->request.person, error);
}

static ee_status read_wanted(wanted *self, json_reader *reader, ee_error *error)
{
    static const char *const names[] = {"ids", "key", "person"};
    static ee_status (*const readers[])(wanted *, json_reader *, const json_token *, ee_error *) = {read_ids, read_key,
                                                                                                    read_person};
    member_reader at = {.reader = reader, .names = names, .count = 3};
    member_begin_body(&at, error);
    while (member_next(&at, error)) at.status = readers[at.which](self, reader, &at.token, error);
    if (!at.status && !at.seen)
        return status_fail(error, EE_BAD_INPUT, "the body must have \"ids\", \"key\" or \"person\"");
    return member_end_body(&at, error);
}

static ee_status erase(call *self, erasing_result *out, ee_error *error)
{
    wanted asked = {.count = 0};
    json_text body = self->exchange->body;
    json_room room = {.owner = &asked.memory};
    json_reader reader = json_start(body.bytes, body.length, &room);
    ee_status status = read_wanted(&asked, &reader, error);
    asked.request.ids = asked.ids;
    asked.request.id_count = asked.count;
    if (!status) status = erasing_run(self->owner, self->bandit, &asked.request, out, error);
    memory_release(&asked.memory);
    return status;
}

/* In the eraser's thread. */
static ee_status erase_now(call *self)
{
    service *of = self->owner;
    erasing_result done;
    char counts[80];
    if (served_bandit_is_archived(self->bandit)) return call_refuse_archived(self); /* since it was let in */
    ee_status status = erase(self, &done, &self->error);
    if (status) return status;
    snprintf(counts, sizeof counts, "{\"decisions\":%" PRIu64 ",\"events\":%" PRIu64 "}", done.decisions, done.events);
    server_log_write(&of->log, LOG_LEVEL_INFO, NULL, "bandit '%s': %" PRIu64 " decisions erased",
                     served_bandit_name(self->bandit), done.decisions);
    audit_write(of, self, served_bandit_name(self->bandit), "decisions erased", NULL, counts); /* not which ones */
    text_add(&self->exchange->answer, "{\"decisions\":%" PRIu64 ",\"events\":%" PRIu64 ",\"proven\":%s}",
             done.decisions, done.events, done.proven ? "true" : "false");
    return call_answer(self, 200);
}

ee_status api_erase(call *self)
{
    return call_work(self, self->owner->eraser, erase_now);
}
