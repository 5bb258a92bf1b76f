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

ee_status personalizer_change(call *self, bandit_settings *next, const char *why, ee_error *error)
{
    bandit_settings before = served_bandit_settings(self->bandit);
    const char *name = served_bandit_name(self->bandit);
    int64_t days = personalizer_kept_of(next).retrain_days;
    note_edit(next);
    if (is_other_model(next, &before)) {
        ee_status status = service_try_settings(next, NULL, error);
        if (status) return status;
        succession by = {self->owner->store, self->owner->journal, self->owner->bandits, self->bandit};
        int64_t from = journal_wall_time(self->owner->journal) - days * 86400 * 1000000;
        uint64_t number;
        status = succession_retrain(&by, next, from, why, &number, error);
        if (!status) audit_settings(self->owner, self, name, "settings changed, model retrained", &before, next);
        return status;
    }
    bandit_settings_number(next, &before, !bandit_settings_decide_alike(next, &before));
    ee_status status = service_write_settings(self->owner, served_bandit_number(self->bandit),
                                              (json_text){name, strlen(name)}, next, false, error);
    if (status) return status;
    audit_settings(self->owner, self, name, "settings changed", &before, next);
    server_log_write(&self->owner->log, LOG_LEVEL_INFO, NULL, "bandit '%s': settings changed", name);
    return EE_OK;
}
