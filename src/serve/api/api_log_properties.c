/* Personalizer's properties of the model and of the log, and deleting the log. They run in the worker's thread, because
 * they read the store. */
#include "audit.h"
#include "call.h"
#include "data/values/json_members.h"
#include "handlers.h"
#include "serve/system/server_clock.h"

/* ---- times of events ---- */

/* The time of the first event of a kind; 0: there is none. */
static ee_status first_time(call *self, store_reader *reader, event_kind kind, int64_t *time, ee_error *error)
{
    event_batch found = {0};
    ee_status status = store_read(reader, served_bandit_number(self->bandit), 0, 1u << kind, 1, &found, error);
    *time = status || !found.count ? 0 : found.events[0].time;
    event_batch_free(&found);
    return status;
}

/* The same of the last. */
static ee_status last_time(call *self, store_reader *reader, event_kind kind, int64_t *time, ee_error *error)
{
    uint32_t bandit = served_bandit_number(self->bandit);
    uint64_t number = 0;
    *time = 0;
    ee_status status = store_last(reader, bandit, kind, UINT64_MAX, &number, error);
    if (status || !number) return status;
    const event *found;
    status = store_read_one(reader, bandit, number, &found, error);
    if (!status) *time = found->time;
    return status;
}

/* ---- the model ---- */

static ee_status answer_model(call *self, store_reader *reader, ee_error *error)
{
    text *answer = &self->exchange->answer;
    int64_t created, replaced;
    ee_status status = first_time(self, reader, EVENT_SETTINGS, &created, error);
    if (!status) status = last_time(self, reader, EVENT_MODEL, &replaced, error);
    if (status) return status;
    served_standing standing = served_bandit_standing(self->bandit);
    int64_t changed = server_clock_wall() - (int64_t)(standing.age * 1e6);
    if (replaced > created) created = replaced;
    if (!standing.version || changed < created) changed = created;
    text_add(answer, "{");
    text_member_time(answer, "creationTime", (double)created / 1e6);
    text_member_time(answer, "lastModifiedTime", (double)changed / 1e6);
    text_add(answer, "}");
    return call_answer(self, 200);
}

/* ---- the log ---- */

static ee_status answer_log(call *self, store_reader *reader, ee_error *error)
{
    text *answer = &self->exchange->answer;
    int64_t from, to;
    ee_status status = first_time(self, reader, EVENT_DECISION, &from, error);
    if (!status) status = last_time(self, reader, EVENT_DECISION, &to, error);
    if (status) return status;
    if (!from) {
        if (self->base.generation != PERSONALIZER_1_0) self->error_code = "LogsPropertiesNotFound";
        return call_refuse(self, 404, "the log is empty");
    }
    text_add(answer, "{\"dateRange\":{");
    text_member_time(answer, "from", (double)from / 1e6);
    text_member_time(answer, "to", (double)to / 1e6);
    text_add(answer, "}}");
    return call_answer(self, 200);
}

static ee_status answer_read(call *self, ee_status (*answer)(call *self, store_reader *reader, ee_error *error))
{
    store_reader *reader = NULL;
    ee_status status = store_reader_create(self->owner->store, &reader, &self->error);
    if (!status) status = answer(self, reader, &self->error);
    store_reader_free(reader);
    return status;
}

ee_status api_model_properties(call *self)
{
    return answer_read(self, answer_model);
}

ee_status api_log_properties(call *self)
{
    return answer_read(self, answer_log);
}

ee_status api_forget_log(call *self)
{
    journal *written = self->owner->journal;
    journal_forget_before(written, served_bandit_number(self->bandit), journal_time(written));
    audit_write(self->owner, self, served_bandit_name(self->bandit), "log removed", NULL, NULL);
    server_log_write(&self->owner->log, LOG_LEVEL_INFO, NULL, "bandit '%s': log removed",
                     served_bandit_name(self->bandit));
    return call_answer(self, self->dialect->noted);
}

ee_status api_no_flatbuffers(call *self)
{
    return call_refuse(self, 403,
                       "decisions made by the client cannot be uploaded; let the server decide with rank and reward");
}
