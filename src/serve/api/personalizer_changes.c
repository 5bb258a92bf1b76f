#include "personalizer_changes.h"
#include "audit.h"

#include "bandit_changes.h"
#include "data/values/log_time.h"
#include "serve/live/succession.h"
#include "serve/personalizer/personalizer_settings.h"
#include "serve/system/server_clock.h"

static void note_edit(bandit_settings *settings)
{
    personalizer_kept kept = personalizer_kept_of(settings);
    log_time_format((double)server_clock_wall() / 1e6, kept.edited);
    personalizer_keep(&kept, settings, NULL); /* it has been said that it fits: a time is as long as any other */
}

static bool is_other_model(const bandit_settings *a, const bandit_settings *b)
{
    return strcmp(a->policy, b->policy) != 0 || strcmp(a->options, b->options) != 0 ||
           strcmp(a->propensity, b->propensity) != 0;
}

/* In the relearner's thread. */
static ee_status change_model(call *self, const bandit_settings *before, bandit_settings *next, const char *why,
                              bool *answered, ee_error *error)
{
    int64_t days = personalizer_kept_of(next).retrain_days;
    relearning change = {.of = self->owner,
                         .bandit = self->bandit,
                         .before = before,
                         .next = next,
                         .from = journal_wall_time(self->owner->journal) - days * 86400 * 1000000,
                         .why = why};
    ee_status status = service_try_settings(next, NULL, error);
    if (!status) status = service_relearn(&change, error);
    if (status) return status;
    *answered = change.overtaken;
    if (change.overtaken) return call_start_over(self);
    audit_settings(self->owner, self, served_bandit_name(self->bandit), "settings changed, model retrained", before,
                   next);
    return EE_OK;
}

ee_status personalizer_change(call *self, const bandit_settings *before, bandit_settings *next, const char *why,
                              bool *answered, ee_error *error)
{
    const char *name = served_bandit_name(self->bandit);
    bool relearns = is_other_model(next, before);
    *answered = relearns != self->relearns;
    if (*answered) return call_move(self, relearns);
    note_edit(next);
    if (relearns) return change_model(self, before, next, why, answered, error);
    bandit_settings_number(next, before, !bandit_settings_decide_alike(next, before));
    ee_status status = service_write_settings(self->owner, served_bandit_number(self->bandit),
                                              (json_text){name, strlen(name)}, next, false, error);
    if (status) return status;
    audit_settings(self->owner, self, name, "settings changed", before, next);
    server_log_write(&self->owner->log, LOG_LEVEL_INFO, NULL, "bandit '%s': settings changed", name);
    return EE_OK;
}
