/* Live evaluation, and adding, removing and promoting challengers. */
#include <inttypes.h>
#include <stdio.h>

#include "audit.h"
#include "bandit_changes.h"
#include "call.h"
#include "handlers.h"
#include "promotion.h"
#include "serve/live/succession.h"

ee_status api_evaluation(call *self)
{
    live_describe(self->owner->live, self->bandit, &self->exchange->answer);
    return call_answer(self, 200);
}

/* ---- challengers ---- */

static ee_status answer_list(call *self, const bandit_settings *settings)
{
    text *into = &self->exchange->answer;
    text_add(into, "{\"challengers\":[");
    for (size_t i = 0; i < settings->challenger_count; i++) {
        if (i) text_bytes(into, ",", 1);
        challenger_settings_write(&settings->challengers[i], into);
    }
    text_add(into, "]}");
    return call_answer(self, 200);
}

ee_status api_list_challengers(call *self)
{
    bandit_settings settings = served_bandit_settings(self->bandit);
    return answer_list(self, &settings);
}

static ee_status read_challenger(json_reader reader, challenger_settings *into, ee_error *error)
{
    json_token token;
    ee_status status = json_next(&reader, &token, error);
    if (!status && token.kind != JSON_KIND_OBJECT)
        status = status_fail(error, EE_BAD_INPUT,
                             "the body must be a JSON object with the keys name, policy, options, propensity");
    if (!status) status = challenger_settings_read(into, &reader, error);
    return status ? status : json_next(&reader, &token, error);
}

static bool are_alike(const challenger_settings *a, const challenger_settings *b)
{
    return strcmp(a->policy, b->policy) == 0 && strcmp(a->options, b->options) == 0 &&
           strcmp(a->propensity, b->propensity) == 0;
}

/* The same again changes nothing; another of the same name is refused. */
static ee_status answer_existing(call *self, const bandit_settings *settings, const challenger_settings *there,
                                 const challenger_settings *asked)
{
    bandit_settings completed = *settings;
    completed.challengers[0] = *asked;
    completed.challenger_count = 1;
    if (challenger_settings_complete(&completed, NULL) || !are_alike(there, &completed.challengers[0]))
        return call_refuse(self, 409, "the challenger '%s' already exists with other settings; remove it first",
                           asked->name);
    challenger_settings_write(there, &self->exchange->answer);
    return call_answer(self, 200);
}

ee_status api_add_challenger(call *self)
{
    bandit_settings before = served_bandit_settings(self->bandit), settings = before;
    challenger_settings asked;
    ee_status status =
        read_challenger(decide_request_start(&self->request, self->exchange->body), &asked, &self->error);
    if (status) return status;
    const challenger_settings *there = bandit_settings_challenger(&before, (json_text){asked.name, strlen(asked.name)});
    if (there) return answer_existing(self, &before, there, &asked);
    if (settings.challenger_count == MOST_CHALLENGERS)
        return call_refuse(self, 409, "the bandit has %d challengers, the maximum; remove one first", MOST_CHALLENGERS);
    const challenger_settings *added = &settings.challengers[settings.challenger_count++];
    settings.challengers[settings.challenger_count - 1] = asked;
    status = challenger_settings_complete(&settings, &self->error);
    if (!status) status = service_change_settings(self->owner, self->bandit, &before, &settings, &self->error);
    if (status) return status;
    audit_settings(self->owner, self, served_bandit_name(self->bandit), "challenger added", &before, &settings);
    server_log_write(&self->owner->log, LOG_LEVEL_INFO, NULL, "bandit '%s': challenger '%s' added: %s",
                     served_bandit_name(self->bandit), added->name, added->policy);
    challenger_settings_write(added, &self->exchange->answer);
    return call_answer(self, 201);
}

/* The challenger that the path names; NULL, with an error: there is none. */
static const challenger_settings *find_challenger(call *self, const bandit_settings *settings)
{
    const char *part = self->match.parts[1];
    const challenger_settings *found = bandit_settings_challenger(settings, (json_text){part, strlen(part)});
    if (!found)
        status_fail(&self->error, EE_NO_FILE, "bandit '%s' has no challenger '%.80s'", served_bandit_name(self->bandit),
                    part);
    return found;
}

ee_status api_remove_challenger(call *self)
{
    bandit_settings before = served_bandit_settings(self->bandit), settings = before;
    const challenger_settings *found = find_challenger(self, &before);
    if (!found) return EE_NO_FILE;
    size_t place = (size_t)(found - before.challengers), last = --settings.challenger_count;
    memmove(&settings.challengers[place], &settings.challengers[place + 1],
            (last - place) * sizeof *settings.challengers);
    memset(&settings.challengers[last], 0, sizeof *settings.challengers);
    ee_status status = service_change_settings(self->owner, self->bandit, &before, &settings, &self->error);
    if (status) return status;
    audit_settings(self->owner, self, served_bandit_name(self->bandit), "challenger removed", &before, &settings);
    server_log_write(&self->owner->log, LOG_LEVEL_INFO, NULL, "bandit '%s': challenger '%s' removed",
                     served_bandit_name(self->bandit), found->name);
    return answer_list(self, &settings);
}

/* ---- promotion ---- */

ee_status api_promote(call *self)
{
    bandit_settings settings = served_bandit_settings(self->bandit);
    const challenger_settings *found = find_challenger(self, &settings);
    uint64_t number = 0;
    if (!found) return EE_NO_FILE;
    ee_status status = service_promote(self->owner, self->bandit, found, 0,
                                       self->key_name[0] ? self->key_name : "request", &number, &self->error);
    if (status == EE_BAD_INPUT) return call_refuse(self, 409, "%s", self->error.message); /* it has not come so far */
    if (status) return status;
    bandit_settings after = served_bandit_settings(self->bandit);
    audit_settings(self->owner, self, served_bandit_name(self->bandit), "challenger promoted", &settings, &after);
    text_add(&self->exchange->answer, "{\"event\":%" PRIu64 "}", number);
    return call_answer(self, 200);
}
