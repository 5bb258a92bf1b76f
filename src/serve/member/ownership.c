#include "ownership.h"

#include "serve/api/bandit_removal.h"
#include "serve/api/importance_cache.h"
#include "serve/system/server_clock.h"

/* The bandit is in the store's hands already: what it was set to, and who else has to know it. */
static ee_status serve_bandit(service *self, const lease *what, const bandit_state *state, ee_error *error)
{
    bandit_settings settings = bandit_settings_usual();
    json_text name = {what->name, strlen(what->name)};
    ee_status status = self->adopter ? EE_OK : store_reader_create(self->store, &self->adopter, error);
    if (!status) status = store_settings_at(self->adopter, what->bandit, INT64_MAX, &settings, error);
    if (!status)
        status =
            served_bandits_adopt(self->bandits, what->bandit, name, &settings, state->archived, self->adopter, error);
    if (!status) status = evaluation_jobs_adopt(self->jobs, what->bandit, error);
    served_bandit *served = served_bandits_find_number(self->bandits, what->bandit);
    if (status && served) served_bandits_remove(self->bandits, served);
    if (status) return status;
    bandit_counters *counters = service_counters(self, what->bandit);
    if (counters) atomic_store_explicit(&counters->waiting, state->waiting, memory_order_relaxed);
    server_log_write(&self->log, LOG_LEVEL_INFO, NULL, "bandit '%s' is now served here", what->name);
    return EE_OK;
}

static bool is_too_late(void *context)
{
    return server_clock_real() >= *(const int64_t *)context;
}

/* The next owner continues with what this one has learned and evaluated, and need not compute it from the log. */
static void save(served_bandit *bandit)
{
    enum { MOST = 3000000 }; /* microseconds */
    int64_t until = server_clock_real() + MOST;
    served_standing standing = served_bandit_standing(bandit);
    if (standing.awake && standing.events > standing.saved)
        served_bandit_checkpoint(bandit, standing.events, is_too_late, &until, NULL);
}

ee_status ownership_take(void *context, const lease *what, bool *owned, ee_error *error)
{
    service *self = context;
    enum { FIRST_TOKEN = 1 }; /* of a bandit that this server has just created */
    bandit_state state;
    /* It may have had the bandit before, and lost it without noticing: then its model is out of date. */
    if (what->bandit != LEADER && what->token > FIRST_TOKEN) ownership_end(self, what->bandit, false);
    ee_status status = journal_own(self->journal, what->bandit, what->token, &state, error);
    *owned = !status && state.owned;
    /* One that this server has just created is served already. */
    if (!status && !*owned && what->bandit != LEADER) ownership_end(self, what->bandit, false);
    if (!*owned) return status;
    if (what->bandit == LEADER) {
        server_log_write(&self->log, LOG_LEVEL_INFO, NULL, "this server creates bandits from now on");
        return EE_OK;
    }
    /* A new one is served by the request that created it. */
    if (!state.purged && !served_bandits_find_number(self->bandits, what->bandit))
        status = serve_bandit(self, what, &state, error);
    if (status) journal_disown(self->journal, what->bandit);
    if (!status) bandit_removals_resume(self);
    return status;
}

void ownership_end(void *context, uint32_t number, bool hand_over)
{
    service *self = context;
    live *watching = atomic_load(&self->live);
    served_bandit *bandit = number ? served_bandits_find_number(self->bandits, number) : NULL;
    if (bandit && hand_over) save(bandit);
    if (bandit) evaluation_jobs_release(self->jobs, number);
    if (bandit && watching && hand_over) live_forget(watching, bandit, true);
    journal_disown(self->journal, number);
    if (!bandit) return;
    served_bandits_remove(self->bandits, bandit);
    if (watching) live_forget(watching, bandit, false);
    evaluation_jobs_release(self->jobs, number); /* of a request that came meanwhile */
    importance_cache_forget(self->importances, number);
    bandit_counters *counters = service_counters(self, number);
    if (counters) atomic_store_explicit(&counters->waiting, 0, memory_order_relaxed);
    server_log_write(&self->log, LOG_LEVEL_INFO, NULL, "bandit '%s' %s", served_bandit_name(bandit),
                     hand_over ? "is handed over to another server" : "is another server's now");
}

uint64_t ownership_events(void *context, uint32_t bandit, double *lag)
{
    service *self = context;
    const served_bandit *found = served_bandits_find_number(self->bandits, bandit);
    *lag = 0;
    if (!found) return 0;
    served_standing standing = served_bandit_standing(found);
    *lag = standing.lag_seconds;
    return standing.events;
}

bool ownership_is_known(void *context, uint32_t bandit)
{
    return store_token(((service *)context)->store, bandit) != 0;
}
