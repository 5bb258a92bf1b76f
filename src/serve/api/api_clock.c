/* The clock of the log: its state, and accepting a time that it jumped to. */
#include "audit.h"
#include "call.h"
#include "data/values/json_members.h"
#include "handlers.h"
#include "serve/requests/request_members.h"

static ee_status answer_clock(call *self)
{
    server_clock now = journal_clock(self->owner->journal);
    int64_t time = now.time - now.ahead;
    text *answer = &self->exchange->answer;
    text_add(answer, "{");
    text_member_flag(answer, "in_doubt", now.in_doubt);
    text_member_time(answer, "time", (double)time / 1e6);
    text_member_time(answer, "system_time", (double)(time + now.difference) / 1e6);
    text_member_number(answer, "difference", (double)now.difference * 1e-6);
    text_member_number(answer, "steady_for", (double)now.steady * 1e-6);
    text_add(answer, ",\"accepted_after\":%d}", (int)(CLOCK_STEADY / 1000000));
    return call_answer(self, 200);
}

ee_status api_clock(call *self)
{
    return answer_clock(self);
}

static ee_status read_acceptance(json_reader *reader, clock_acceptance *out, ee_error *error)
{
    static const char *const names[] = {"accept"};
    member_reader at = {.reader = reader, .names = names, .count = 1};
    ee_status status = json_next(reader, &at.token, error);
    if (!status && at.token.kind != JSON_KIND_OBJECT)
        return status_fail(error, EE_BAD_INPUT, "the body must be a JSON object with the key accept");
    for (at.status = status; member_next(&at, error);) {
        bool is_text = at.token.kind == JSON_KIND_TEXT;
        if (is_text && json_is(at.token.text, "elapsed"))
            *out = CLOCK_ELAPSED;
        else if (is_text && json_is(at.token.text, "corrected"))
            *out = CLOCK_CORRECTED;
        else
            at.status = status_fail(error, EE_BAD_INPUT, "accept must be elapsed or corrected");
    }
    if (!at.status && !at.seen) return status_fail(error, EE_BAD_INPUT, "missing \"accept\"");
    return member_end_body(&at, error);
}

ee_status api_accept_clock(call *self)
{
    service *of = self->owner;
    clock_acceptance as = CLOCK_REFUSED;
    json_reader reader = decide_request_start(&self->request, self->exchange->body);
    ee_status status = read_acceptance(&reader, &as, &self->error);
    if (status) return status;
    bool in_doubt = journal_clock(of->journal).in_doubt;
    const char *name = as == CLOCK_ELAPSED ? "elapsed" : "corrected";
    if (!journal_accept_clock(of->journal, as))
        return call_refuse(self, 409,
                           in_doubt ? "the clock went back, so this time cannot have elapsed; accept it as "
                                      "\"corrected\""
                                    : "the clock is not in doubt");
    audit_write(of, self, NULL, "clock accepted", NULL,
                as == CLOCK_ELAPSED ? "{\"accept\":\"elapsed\"}" : "{\"accept\":\"corrected\"}");
    server_log_write(&of->log, LOG_LEVEL_WARNING, NULL, "the clock was accepted as %s%s%s", name,
                     self->key_name[0] ? " by key " : "", self->key_name);
    return answer_clock(self);
}
