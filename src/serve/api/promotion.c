#include "promotion.h"
#include "audit.h"

#include <stdio.h>

#include "serve/live/succession.h"

ee_status service_promote(service *of, served_bandit *bandit, const challenger_settings *challenger, uint64_t test,
                          const char *by, uint64_t *number, ee_error *error)
{
    live_standing standing;
    char sentence[300];
    succession change = {of->store, of->journal, of->bandits, bandit};
    ee_status status = live_find_standing(of->live, bandit, challenger->name, test, &standing, error);
    if (!status)
        status = succession_promote(&change, challenger, &standing, by, sentence, sizeof sentence, number, error);
    ee_bytes_free(standing.model);
    if (status) return status;
    atomic_fetch_add(&of->metrics.promotions, 1);
    server_log_write(&of->log, LOG_LEVEL_INFO, NULL, "bandit '%s': challenger '%s' promoted: %s",
                     served_bandit_name(bandit), challenger->name, sentence);
    return EE_OK;
}

/* Runs in the worker, so that the settings do not change meanwhile. A test that is gone was promoted already or ended
 * by another change. */
static void promote_passed(void *context)
{
    service_promotion *self = context;
    bandit_settings settings = served_bandit_settings(self->bandit);
    const challenger_settings *found =
        bandit_settings_challenger(&settings, (json_text){self->challenger, strlen(self->challenger)});
    uint64_t number;
    ee_error error;
    bool wanted = found && found->number == self->test && settings.promote == PROMOTE_AUTO &&
                  settings.held == HELD_NOT && !served_bandit_is_archived(self->bandit);
    ee_status status =
        wanted ? service_promote(self->owner, self->bandit, found, self->test, "auto", &number, &error) : EE_OK;
    if (wanted && !status) {
        bandit_settings after = served_bandit_settings(self->bandit);
        audit_settings(self->owner, NULL, served_bandit_name(self->bandit), "challenger promoted automatically",
                       &settings, &after);
    }
    if (status)
        server_log_write(&self->owner->log, LOG_LEVEL_WARNING, NULL,
                         "bandit '%s': challenger '%s' cannot be promoted: %s", served_bandit_name(self->bandit),
                         self->challenger, error.message);
    atomic_store(&self->busy, false);
}

void service_passed(void *context, served_bandit *bandit, const char *challenger, uint64_t test)
{
    service *of = context;
    service_promotion *one = &of->promotion;
    if (atomic_exchange(&one->busy, true)) return; /* it is reported again */
    one->owner = of;
    one->bandit = bandit;
    one->test = test;
    snprintf(one->challenger, sizeof one->challenger, "%s", challenger);
    one->task = (worker_task){.run = promote_passed, .context = one};
    if (!worker_submit(of->worker, &one->task)) atomic_store(&one->busy, false);
}

void service_live_trouble(void *context, const served_bandit *bandit, const ee_error *error)
{
    const service *of = context;
    server_log_write(&of->log, LOG_LEVEL_WARNING, NULL, "bandit '%s': live evaluation failed: %s",
                     served_bandit_name(bandit), error->message);
}
