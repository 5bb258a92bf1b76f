#include "bandit_changes.h"

ee_status service_write_settings(service *of, uint32_t number, json_text name, const bandit_settings *settings,
                                 bool archived, ee_error *error)
{
    text body = text_start(error);
    bandit_settings_write(settings, &body);
    journal_entry entry = {.bandit = number, .settings = settings, .archived = archived, .name = name};
    entry.event = (event){.kind = EVENT_SETTINGS, .body = body.bytes, .size = body.length};
    ee_status status = body.status;
    if (!status) status = journal_write(of->journal, &entry, error);
    if (!status && number) served_bandits_change(of->bandits, number, settings, archived);
    if (!status && !number) status = served_bandits_set(of->bandits, entry.bandit, name, settings, archived, error);
    memory_free(body.bytes);
    return status;
}

/* A bandit that the library refuses is refused before anything is written. Too little memory is the request's fault: a
 * retry would not help. */
static ee_status try_one(const bandit_settings *settings, ee_error *error)
{
    ee_bandit *bandit = NULL;
    ee_error reason;
    ee_status status = bandit_settings_create(settings, &bandit, &reason);
    ee_bandit_free(bandit);
    if (status == EE_NO_MEMORY)
        return status_fail(error, EE_BAD_INPUT, "not enough memory for this bandit: %.300s", reason.message);
    return status ? status_fail(error, status, "%s", reason.message) : EE_OK;
}

ee_status service_try_settings(const bandit_settings *settings, const bandit_settings *before, ee_error *error)
{
    ee_status status = before ? EE_OK : try_one(settings, error);
    for (size_t i = 0; i < settings->challenger_count && !status; i++) {
        const challenger_settings *one = &settings->challengers[i];
        bandit_settings in_place = challenger_settings_in_place(settings, one);
        ee_error reason;
        if (before && one->number <= before->tests) continue;
        status = try_one(&in_place, &reason);
        if (status) status_fail(error, status, "challenger '%s': %.400s", one->name, reason.message);
    }
    return status;
}

ee_status service_begin_schedule(bandit_settings *next, int64_t now, ee_error *error)
{
    json_text object = {next->guardrails, strlen(next->guardrails)};
    text begun = text_start(error);
    if (!object.length) return EE_OK;
    ee_status status = guard_settings_begin(object, now, &begun, error);
    if (!status && begun.length >= sizeof next->guardrails)
        status = status_fail(error, EE_BAD_INPUT, "guardrails must have at most %zu bytes",
                             sizeof next->guardrails - 1 - strlen(",\"since\":\"2000-01-01T00:00:00.000000Z\""));
    if (!status) {
        memset(next->guardrails, 0, sizeof next->guardrails);
        memcpy(next->guardrails, begun.bytes, begun.length);
    }
    memory_free(begun.bytes);
    return status;
}

ee_status service_change_settings(service *self, served_bandit *bandit, const bandit_settings *before,
                                  bandit_settings *next, ee_error *error)
{
    const char *name_bytes = served_bandit_name(bandit);
    json_text name = {name_bytes, strlen(name_bytes)};
    bandit_settings_number(next, before, !bandit_settings_decide_alike(next, before));
    ee_status status = service_begin_schedule(next, journal_wall_time(self->journal), error);
    if (!status) status = service_try_settings(next, before, error);
    if (!status) status = service_write_settings(self, served_bandit_number(bandit), name, next, false, error);
    return status;
}

bool service_changes_objective(const bandit_settings *before, const bandit_settings *next)
{
    return next->mode == MODE_ONLINE &&
           metric_objective_checksum(&next->joining) != metric_objective_checksum(&before->joining);
}

/* ---- with a new model ---- */

static bool are_alike(const bandit_settings *a, const bandit_settings *b)
{
    text left = text_start(NULL), right = text_start(NULL);
    bandit_settings_write(a, &left);
    bandit_settings_write(b, &right);
    bool alike = !left.status && !right.status && left.length == right.length &&
                 memcmp(left.bytes, right.bytes, left.length) == 0;
    memory_free(left.bytes);
    memory_free(right.bytes);
    return alike;
}

static void take_held(bandit_settings *self, const bandit_settings *from)
{
    self->held = from->held;
    memcpy(self->held_because, from->held_because, sizeof self->held_because);
}

static bool held_alike(const bandit_settings *a, const bandit_settings *b)
{
    return a->held == b->held && strcmp(a->held_because, b->held_because) == 0;
}

/* Whether the settings are still those of before, except that an alarm or an operator may have held the bandit back,
 * about which this change says nothing. */
static bool is_as_before(relearning *self)
{
    bandit_settings now = served_bandit_settings(self->bandit), before = *self->before;
    if (served_bandit_is_removed(self->bandit) || served_bandit_is_archived(self->bandit)) return false;
    if (!held_alike(&now, &before)) {
        if (!held_alike(self->next, &before)) return false;
        take_held(self->next, &now);
        take_held(&before, &now);
    }
    return are_alike(&now, &before);
}

/* A model that waits for the worker to write it. */
typedef struct trained_model {
    relearning *asked;
    retraining *trained;
    ee_status status;
    ee_error *error;
} trained_model;

/* Runs in the worker, so that the settings do not change meanwhile. */
static void write_trained(void *context)
{
    trained_model *self = context;
    relearning *asked = self->asked;
    asked->overtaken = !is_as_before(asked);
    if (asked->overtaken) return;
    self->status = service_begin_schedule(asked->next, journal_wall_time(asked->of->journal), self->error);
    if (!self->status)
        self->status = retraining_write(self->trained, asked->next, asked->why, &asked->number, self->error);
}

ee_status service_relearn(relearning *self, ee_error *error)
{
    succession by = {self->of->store, self->of->journal, self->of->bandits, self->bandit};
    trained_model model = {.asked = self, .error = error};
    ee_status status = retraining_start(&by, self->next, self->from, &self->of->ending, &model.trained, error);
    if (!status && !worker_run(self->of->worker, write_trained, &model))
        status = status_fail(error, EE_FILE_ERROR, "too many changes are waiting; try again");
    retraining_free(model.trained);
    return status ? status : model.status;
}

ee_status service_change_objective(relearning *self, ee_error *error)
{
    bandit_settings *next = self->next, begun;
    bandit_settings_number(next, self->before, true);
    begun = *next; /* it begins when it is written; here only to find out whether it fits */
    ee_status status = service_begin_schedule(&begun, journal_wall_time(self->of->journal), error);
    if (!status) status = service_try_settings(next, self->before, error);
    return status ? status : service_relearn(self, error);
}
