/* audit: the entries of the audit log, for administrators. */
#include <inttypes.h>

#include "call.h"
#include "handlers.h"
#include "serve/store/audit_log.h"

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
    uint64_t limit, count, place;
} audit_page;

/* Adds the lines that belong to the page; the place moves behind the last one that was looked at. */
static void add_lines(audit_page *self, const text *lines)
{
    for (size_t at = 0; at < lines->length && self->count < self->limit;) {
        size_t length = (size_t)((const char *)memchr(lines->bytes + at, '\n', lines->length - at) - lines->bytes) - at;
        json_text line = {lines->bytes + at, length};
        if (is_of(line, self->bandit)) {
            if (self->count++) text_add(self->answer, ",\n");
            text_bytes(self->answer, line.bytes, line.length);
        }
        at += length + 1;
        self->place += length + 1;
    }
}

ee_status api_audit(call *self)
{
    static const char *const known[] = {"after", "limit", "bandit"};
    audit_page page = {
        .answer = &self->exchange->answer, .bandit = http_query(self->exchange, "bandit"), .limit = USUAL_ENTRIES};
    text lines = text_start(NULL);
    ee_status status = call_check_query(self, known, sizeof known / sizeof *known);
    if (!status) status = call_query_number(self, "after", 0, &page.place);
    if (!status) status = call_query_number(self, "limit", 1, &page.limit);
    if (status) return status;
    if (self->only_bandit) page.bandit = self->only_bandit;
    if (page.limit > MOST_ENTRIES) page.limit = MOST_ENTRIES;
    text_add(&self->exchange->answer, "{\"entries\":[");
    for (bool more = true; more && !status && page.count < page.limit;) {
        uint64_t place = page.place;
        status = audit_log_read(self->owner->audit, &place, &lines, &self->error);
        more = !status && lines.length;
        if (more) add_lines(&page, &lines);
    }
    memory_free(lines.bytes);
    if (status) return status;
    text_add(&self->exchange->answer, "],\"next\":%" PRIu64 "}", page.place);
    return call_answer(self, 200);
}
