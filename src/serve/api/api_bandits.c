/* Bandits: creating, listing, describing, changing, archiving, removing. Changes are made by the worker, one after the
 * other, and are events of the bandit's log like any other. Models for them are trained by the relearner. */
#include "audit.h"
#include "bandit_changes.h"
#include "bandit_removal.h"
#include "call.h"
#include "data/values/json_members.h"
#include "forwarding.h"
#include "handlers.h"

/* ---- describing ---- */

static void describe(service *of, text *into, served_bandit *bandit)
{
    bandit_settings settings = served_bandit_settings(bandit);
    served_standing standing = served_bandit_standing(bandit);
    bandit_counters *counters = service_counters(of, served_bandit_number(bandit));
    text_add(into, "{");
    text_member(into, "name", served_bandit_name(bandit));
    text_member_flag(into, "archived", served_bandit_is_archived(bandit));
    text_key(into, "settings");
    bandit_settings_write(&settings, into);
    text_member_flag(into, "awake", standing.awake);
    text_member_count(into, "version", standing.version);
    text_member_count(into, "events", standing.events);
    text_member_count(into, "behind", standing.behind);
    text_member_number(into, "lag_seconds", standing.lag_seconds);
    text_member_count(into, "stride", standing.stride);
    text_member_number(into, "age", standing.age);
    text_member_number(into, "train_seconds", standing.train_seconds);
    text_member_count(into, "memory", standing.memory);
    text_member_count(into, "decisions", standing.counts.decisions);
    text_member_count(into, "learned", standing.counts.learned);
    text_member_count(into, "defaulted", standing.counts.defaulted);
    text_member_count(into, "by_record", standing.counts.by_record);
    text_member_count(into, "diverged", standing.counts.diverged);
    text_member_count(into, "passed_over", standing.counts.skipped);
    text_member_count(into, "limited", standing.limited);
    if (counters)
        text_member_count(into, "decisions_since_start",
                          atomic_load_explicit(&counters->decisions, memory_order_relaxed));
    text_key(into, "limits");
    text_add(into, "{");
    served_bandit_write_limits(bandit, into);
    text_add(into, "}");
    text_member(into, "trouble", standing.trouble);
    text_add(into, "}");
}

/* The bandits of another server's list, which begins and ends as ours. */
static bool add_list(text *into, const gathered *response, bool *any)
{
    static const char begin[] = "{\"bandits\":[", end[] = "]}\n";
    size_t length = response->bytes.length, around = sizeof begin + sizeof end - 2;
    if (response->status != 200 || response->bytes.status || length < around) return false;
    if (length > around) {
        if (*any) text_add(into, ",\n");
        text_bytes(into, response->bytes.bytes + sizeof begin - 1, length - around);
        *any = true;
    }
    return true;
}

/* The bandits of this server, and of the others of its fleet. */
static void answer_list(call *self, const gathered *responses, size_t count)
{
    service *of = self->owner;
    served_bandit *bandit;
    bool any = false;
    size_t missing = 0;
    text_add(&self->exchange->answer, "{\"bandits\":[");
    for (size_t i = 0; (bandit = served_bandits_at(of->bandits, i)); i++) {
        if (self->only_bandit && strcmp(self->only_bandit, served_bandit_name(bandit)) != 0) continue;
        if (any) text_add(&self->exchange->answer, ",\n");
        describe(of, &self->exchange->answer, bandit);
        any = true;
    }
    for (size_t i = 0; i < count; i++) missing += !add_list(&self->exchange->answer, &responses[i], &any);
    text_add(&self->exchange->answer, "]");
    if (missing) text_add(&self->exchange->answer, ",\"servers_missing\":%zu", missing);
    text_add(&self->exchange->answer, "}");
    call_answer(self, 200);
}

ee_status api_list(call *self)
{
    if (self->owner->fleet && !self->is_forwarded)
        forwarding_gather(self, answer_list);
    else
        answer_list(self, NULL, 0);
    return EE_OK;
}

static ee_status answer_description(call *self, served_bandit *bandit, int status)
{
    describe(self->owner, &self->exchange->answer, bandit);
    return call_answer(self, status);
}

ee_status api_describe(call *self)
{
    return answer_description(self, self->bandit, 200);
}

/* ---- changing ---- */

static ee_status read_name(json_text body, kept_texts *texts, json_room *room, json_text *name, ee_error *error)
{
    json_reader reader = json_start(body.bytes, body.length, room);
    json_token token;
    ee_status status = json_next(&reader, &token, error);
    if (status) return status;
    if (token.kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "the body must be a JSON object");
    while (!(status = json_next(&reader, &token, error)) && token.kind != JSON_KIND_OBJECT_END) {
        if (json_is(token.key, "name")) {
            if (token.kind != JSON_KIND_TEXT || !bandit_name_is_valid(token.text))
                return status_fail(
                    error, EE_BAD_INPUT,
                    "name must be 1 to 64 letters, digits, '-', '_' or '.', starting with a letter or digit");
            *name = token.text;
            return kept_texts_keep(texts, &reader, name, error);
        }
        status = json_skip(&reader, &token, NULL, error);
        if (status) return status;
    }
    return status ? status : status_fail(error, EE_BAD_INPUT, "missing \"name\"");
}

/* The same request again: its schedule began with the first. */
static ee_status repeat_schedule(bandit_settings *asked, const bandit_settings *there, ee_error *error)
{
    guard_settings tables;
    if (!asked->guardrails[0] || !there->guardrails[0]) return EE_OK;
    ee_status status = guard_settings_read(&tables, there->guardrails, strlen(there->guardrails), error);
    if (!status && tables.stages_since != INT64_MIN) status = service_begin_schedule(asked, tables.stages_since, error);
    guard_settings_release(&tables);
    return status;
}

/* A bandit of that name is there. */
static ee_status answer_existing(call *self, served_bandit *bandit, bandit_settings *settings)
{
    bandit_settings there = served_bandit_settings(bandit);
    ee_status status = repeat_schedule(settings, &there, &self->error);
    if (status) return status;
    const char *name = served_bandit_name(bandit);
    char difference[256];
    bool may_change;
    if (served_bandit_is_archived(bandit))
        return call_refuse(self, 409, "the bandit '%s' is archived; restore it with POST /v1/bandits/%s/restore", name,
                           name);
    if (!bandit_settings_difference(&there, settings, difference, sizeof difference, &may_change))
        return answer_description(self, bandit, 200);
    return call_refuse(self, 409, "the bandit '%s' already exists with %s; %suse another name", name, difference,
                       may_change ? "change it with PATCH, or " : "");
}

static size_t count_bandits(const service *of)
{
    size_t count = 0;
    while (served_bandits_at(of->bandits, count)) count++;
    return of->fleet ? fleet_read_status(of->fleet).bandits : count;
}

static ee_status create(call *self, json_text name, bandit_settings *settings, ee_error *error)
{
    service *of = self->owner;
    ee_status status = service_begin_schedule(settings, journal_wall_time(of->journal), error);
    if (!status) status = service_try_settings(settings, NULL, error);
    if (!status) status = service_write_settings(of, 0, name, settings, false, error);
    if (status) return status;
    served_bandit *created = served_bandits_find(of->bandits, name);
    if (!created) return status_fail(error, EE_FILE_ERROR, "the bandit was created, and is another server's now");
    audit_settings(of, self, served_bandit_name(created), "bandit created", NULL, settings);
    server_log_write(&of->log, LOG_LEVEL_INFO, NULL, "bandit '%.*s' created", (int)name.length, name.bytes);
    return answer_description(self, created, 201);
}

ee_status api_create(call *self)
{
    service *of = self->owner;
    bandit_settings settings = bandit_settings_usual();
    json_text body = self->exchange->body, name;
    decide_request_start(&self->request, body);
    ee_status status = read_name(body, &self->request.texts, &self->request.room, &name, &self->error);
    if (!status) status = bandit_settings_read(&settings, body.bytes, body.length, SETTINGS_NEW, &self->error);
    if (status) return status;
    bandit_settings_number(&settings, &(bandit_settings){0}, true);
    if (self->only_bandit && !json_is(name, self->only_bandit))
        return call_refuse(self, 403, "this key is only for the bandit '%s'", self->only_bandit);
    served_bandit *there = served_bandits_find(of->bandits, name);
    size_t most = (size_t)service_config_now(of)->settings.bandits;
    if (there) return answer_existing(self, there, &settings);
    if (of->fleet && forwarding_to_owner(self, name)) return EE_OK;
    if (count_bandits(of) >= most)
        return call_refuse(self, 409,
                           "the server has %zu bandits, its limit (setting 'bandits'; archived bandits count)", most);
    return create(self, name, &settings, &self->error);
}

/* Settings of a bandit that is there, and then its description. */
static ee_status put_settings(call *self, const bandit_settings *settings, bool archived, const char *done)
{
    service *of = self->owner;
    const char *name = served_bandit_name(self->bandit);
    ee_status status = service_write_settings(of, served_bandit_number(self->bandit), (json_text){name, strlen(name)},
                                              settings, archived, &self->error);
    if (status) return status;
    audit_write(of, self, name, archived ? "bandit archived" : "bandit restored",
                archived ? "{\"archived\":false}" : "{\"archived\":true}",
                archived ? "{\"archived\":true}" : "{\"archived\":false}");
    server_log_write(&of->log, LOG_LEVEL_INFO, NULL, "bandit '%s' %s", name, done);
    return answer_description(self, self->bandit, 200);
}

/* The description of the bandit, and "relearned": the number of the event of its new model. */
static ee_status answer_changed(call *self)
{
    text *answer = &self->exchange->answer;
    if (!self->relearned) return answer_description(self, self->bandit, 200);
    describe(self->owner, answer, self->bandit);
    if (answer->length) answer->length--; /* the brace at its end */
    text_member_count(answer, "relearned", self->relearned);
    text_add(answer, "}");
    return call_answer(self, 200);
}

/* In a training thread. After an error the model is not loaded, but the settings are written. */
static void guarded(void *context, const ee_error *error)
{
    (void)error;
    answer_changed(context);
}

/* Answers once decisions follow the new settings. Nothing else waits for that. */
static ee_status answer_when_guarded(call *self)
{
    return served_bandit_is_guarded(self->bandit, guarded, self) ? answer_changed(self) : EE_OK;
}

/* In the relearner's thread. */
static ee_status change_objective(call *self, const bandit_settings *before, bandit_settings *next)
{
    service *of = self->owner;
    const char *name = served_bandit_name(self->bandit);
    relearning change = {.of = of, .bandit = self->bandit, .before = before, .next = next, .from = INT64_MIN};
    ee_status status = service_change_objective(&change, &self->error);
    if (status) return status;
    if (change.overtaken) return call_start_over(self);
    audit_settings(of, self, name, "settings changed, model retrained", before, next);
    server_log_write(&of->log, LOG_LEVEL_INFO, NULL, "bandit '%s': settings changed; its model learned the log again",
                     name);
    self->relearned = change.number;
    return answer_when_guarded(self);
}

ee_status api_change(call *self)
{
    bandit_settings before = served_bandit_settings(self->bandit), settings = before;
    json_text body = self->exchange->body;
    self->relearned = 0;
    if (served_bandit_is_archived(self->bandit)) /* since it was let in */
        return call_refuse_archived(self);
    ee_status status = bandit_settings_read(&settings, body.bytes, body.length, SETTINGS_CHANGES, &self->error);
    if (status) return status;
    bool relearns = service_changes_objective(&before, &settings);
    if (relearns != self->relearns) return call_move(self, relearns);
    if (relearns) return change_objective(self, &before, &settings);
    status = service_change_settings(self->owner, self->bandit, &before, &settings, &self->error);
    if (status) return status;
    audit_settings(self->owner, self, served_bandit_name(self->bandit), "settings changed", &before, &settings);
    server_log_write(&self->owner->log, LOG_LEVEL_INFO, NULL, "bandit '%s': settings changed",
                     served_bandit_name(self->bandit));
    return answer_when_guarded(self);
}

static ee_status set_archived(call *self, bool archived)
{
    bandit_settings settings = served_bandit_settings(self->bandit);
    if (served_bandit_is_archived(self->bandit) == archived) return answer_description(self, self->bandit, 200);
    return put_settings(self, &settings, archived, archived ? "archived" : "restored");
}

/* ---- removing for good ---- */

/* In the eraser's thread. */
static ee_status finish_removal(call *self)
{
    const char *name = served_bandit_name(self->bandit);
    ee_status status = bandit_removal_finish(self->owner, served_bandit_number(self->bandit), &self->error);
    if (status) {
        server_log_write(&self->owner->log, LOG_LEVEL_WARNING, NULL, "bandit '%s': its removal was interrupted: %s",
                         name, self->error.message);
        return status;
    }
    server_log_write(&self->owner->log, LOG_LEVEL_INFO, NULL, "bandit '%s' removed for good", name);
    audit_write(self->owner, self, name, "bandit removed", NULL, NULL);
    return call_answer(self, 204);
}

static ee_status decide_removal(call *self, ee_error *error)
{
    service *of = self->owner;
    const char *name = served_bandit_name(self->bandit);
    bandit_settings settings = served_bandit_settings(self->bandit);
    ee_status status = EE_OK;
    if (!served_bandit_is_archived(self->bandit))
        status = service_write_settings(of, served_bandit_number(self->bandit), (json_text){name, strlen(name)},
                                        &settings, true, error);
    if (!status) status = bandit_removal_decide(of, self->bandit, error);
    if (!status) audit_write(of, self, name, "bandit removal begun", NULL, NULL);
    return status;
}

static ee_status remove_for_good(call *self)
{
    const char *confirm = http_query(self->exchange, "confirm"), *name = served_bandit_name(self->bandit);
    if (!confirm || strcmp(confirm, name) != 0)
        return call_refuse(self, 400,
                           "this removes '%s' and all its data for good; to confirm, add confirm=%s to the query", name,
                           name);
    ee_status status = decide_removal(self, &self->error);
    return status ? status : call_work(self, self->owner->eraser, finish_removal);
}

ee_status api_delete(call *self)
{
    static const char *const names[] = {"purge", "confirm"};
    ee_status status = call_check_query(self, names, 2);
    const char *purge = http_query(self->exchange, "purge");
    if (status) return status;
    if (purge && strcmp(purge, "true") == 0) return remove_for_good(self);
    if (!purge || strcmp(purge, "false") == 0) return set_archived(self, true);
    return call_refuse(self, 400, "purge must be true or false, got '%.60s'", purge);
}

ee_status api_restore(call *self)
{
    return set_archived(self, false);
}
