/* audit: the entries of the audit log, for administrators. */
#include <inttypes.h>

#include "call.h"
#include "handlers.h"
#include "serve/store/places/audit_log.h"

enum { USUAL_ENTRIES = 100, MOST_ENTRIES = 1000 };

/* Whether the line is an object, of this bandit; NULL: of any. A line that a crash cut off is none. */
static bool is_of(json_text line, const char *bandit)
{
    memory owner = {0};
    json_room room = {.owner = &owner};
    json_reader reader = json_start(line.bytes, line.length, &room);
    json_token token;
    static const char member[] = "bandit";
    bool found = !bandit;
    ee_status status = json_next(&reader, &token, NULL);
    if (!status && token.kind != JSON_KIND_OBJECT) status = EE_BAD_INPUT;
    while (!status && !(status = json_next(&reader, &token, NULL)) && token.kind != JSON_KIND_OBJECT_END) {
        if (bandit && token.kind == JSON_KIND_TEXT && json_is(token.key, member)) found = json_is(token.text, bandit);
        status = json_skip(&reader, &token, NULL, NULL);
    }
    memory_release(&owner);
    return !status && found;
}

typedef struct audit_page {
    text *answer;
    const char *bandit;
    uint64_t limit, count;
} audit_page;

/* Adds the line if it belongs to the page. */
static bool add_line(void *context, json_text line)
{
    audit_page *self = context;
    if (is_of(line, self->bandit)) {
        if (self->count++) text_add(self->answer, ",\n");
        text_bytes(self->answer, line.bytes, line.length);
    }
    return self->count < self->limit;
}

ee_status api_audit(call *self)
{
    static const char *const known[] = {"after", "limit", "bandit"};
    audit_page page = {
        .answer = &self->exchange->answer, .bandit = http_query(self->exchange, "bandit"), .limit = USUAL_ENTRIES};
    uint64_t place = 0;
    ee_status status = call_check_query(self, known, sizeof known / sizeof *known);
    if (!status) status = call_query_number(self, "after", 0, &place);
    if (!status) status = call_query_number(self, "limit", 1, &page.limit);
    if (status) return status;
    if (self->only_bandit) page.bandit = self->only_bandit;
    if (page.limit > MOST_ENTRIES) page.limit = MOST_ENTRIES;
    text_add(&self->exchange->answer, "{\"entries\":[");
    for (bool more = true; more && !status && page.count < page.limit;)
        status = audit_log_read(self->owner->audit, &place, add_line, &page, &more, &self->error);
    if (status) return status;
    text_add(&self->exchange->answer, "],\"next\":%" PRIu64 "}", place);
    return call_answer(self, 200);
}
