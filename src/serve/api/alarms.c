#include "alarms.h"

#include "audit.h"
#include "serve/live/alarm_consequence.h"

/* Runs in the worker, so that the settings do not change meanwhile. */
static void raise_alarm(void *context)
{
    service_alarm *self = context;
    service *of = self->owner;
    const char *name = served_bandit_name(self->bandit);
    succession change = {of->store, of->journal, of->bandits, self->bandit};
    bandit_settings before = served_bandit_settings(self->bandit);
    bool written = false;
    ee_error error;
    ee_status status = EE_OK;
    if (!served_bandit_is_archived(self->bandit))
        status = alarm_consequence_write(&change, &self->alarm, self->followed, &written, &error);
    bandit_settings after = served_bandit_settings(self->bandit);
    if (written)
        server_log_write(&of->log, LOG_LEVEL_WARNING, NULL, "bandit '%s': alarm: %s%s", name, self->alarm.sentence,
                         after.held == before.held     ? ""
                         : after.held == HELD_FALLBACK ? "; every decision follows the baseline now"
                                                       : "; it learns nothing now");
    if (written && after.held != before.held)
        audit_settings(of, NULL, name, "held back by a guardrail", &before, &after);
    if (status)
        server_log_write(&of->log, LOG_LEVEL_WARNING, NULL, "bandit '%s': an alarm cannot be written: %s (%s)", name,
                         error.message, self->alarm.sentence);
    atomic_store(&self->busy, false);
}

void service_alarmed(void *context, served_bandit *bandit, const live_alarm *alarm, uint64_t followed)
{
    service *of = context;
    service_alarm *one = &of->alarm;
    if (atomic_exchange(&one->busy, true)) return; /* it is reported again */
    one->owner = of;
    one->bandit = bandit;
    one->alarm = *alarm;
    one->followed = followed;
    one->task = (worker_task){.run = raise_alarm, .context = one};
    if (!worker_submit(of->worker, &one->task)) atomic_store(&one->busy, false);
}
