#include "readiness.h"

#include <stdlib.h>

enum { RECENT_SECONDS = 3600, SILENT_SECONDS = 3 };

readiness service_readiness(service *self)
{
    const service_loading *loading = &self->loading;
    size_t done = atomic_load(&self->loading.loaded) + atomic_load(&self->loading.failed);
    if (atomic_load(&self->stopping)) return NOT_READY_STOPPING;
    journal_counts counts = journal_read_counts(self->journal);
    bool spooling = counts.spooling;
    if (!spooling && (!counts.writable || counts.spooled)) return NOT_READY_STORE;
    if (self->fleet) {
        fleet_status of = fleet_read_status(self->fleet);
        if (!of.servers) return NOT_READY_JOINING;
        /* Without traffic nothing is written, so the journal does not know yet that the database is away. */
        bool away = of.silent > SILENT_SECONDS && !spooling;
        if (away && of.silent >= service_config_now(self)->settings.spool_seconds) return NOT_READY_STORE;
        spooling |= away;
    }
    if (done < loading->total) return NOT_READY_LOADING;
    return spooling ? READY_SPOOLING : READY;
}

bool service_is_ready(service *self)
{
    readiness state = service_readiness(self);
    return state == READY || state == READY_SPOOLING;
}

/* ---- loading ---- */

struct loading_bandit {
    service *owner;
    served_bandit *bandit;
    int64_t time; /* of its last event */
};

/* In a training thread. */
static void loaded(void *context, const ee_error *error)
{
    struct loading_bandit *self = context;
    service_loading *loading = &self->owner->loading;
    if (error && !atomic_load(&self->owner->stopping))
        server_log_write(&self->owner->log, LOG_LEVEL_ERROR, NULL, "bandit '%s' could not be loaded: %s",
                         served_bandit_name(self->bandit), error->message);
    atomic_fetch_add(error ? &loading->failed : &loading->loaded, 1);
}

static int by_time(const void *a, const void *b)
{
    const struct loading_bandit *left = a, *right = b;
    return (left->time > right->time) - (left->time < right->time);
}

static bool is_active(const served_bandit *bandit, int64_t time, int64_t since)
{
    if (served_bandit_is_archived(bandit)) return false;
    return time >= since || served_bandit_standing(bandit).behind > 0;
}

/* Fills self->loading with the active bandits, the one used last at the end. */
static ee_status choose(service *self, const stored_bandits *list, ee_error *error)
{
    const server_settings *settings = &service_config_now(self)->settings;
    service_loading *loading = &self->loading;
    bool sleeps = settings->sleep_seconds > 0 && settings->sleep_seconds < RECENT_SECONDS;
    double recent = sleeps ? settings->sleep_seconds : RECENT_SECONDS;
    int64_t since = journal_time(self->journal) - (int64_t)(recent * 1e6);
    ee_status status = memory_create(NULL, &loading->bandits, list->count, sizeof *loading->bandits, error);
    for (size_t i = 0; i < list->count && !status; i++) {
        served_bandit *bandit = served_bandits_find(self->bandits, list->bandits[i].name);
        if (bandit && is_active(bandit, list->bandits[i].time, since))
            loading->bandits[loading->total++] = (struct loading_bandit){self, bandit, list->bandits[i].time};
    }
    if (loading->total) qsort(loading->bandits, loading->total, sizeof *loading->bandits, by_time);
    return status;
}

ee_status service_load_active(service *self, ee_error *error)
{
    store_reader *reader;
    stored_bandits list = {0};
    service_loading *loading = &self->loading;
    ee_status status = store_reader_create(self->store, &reader, error);
    if (status) return status;
    status = store_list_bandits(reader, &list, error);
    if (!status) status = choose(self, &list, error);
    stored_bandits_free(&list);
    store_reader_free(reader);
    if (status) return status;
    /* In the order of their last use: if not all fit into memory, those used last stay. */
    for (size_t i = 0; i < loading->total; i++)
        if (served_bandit_is_awake(loading->bandits[i].bandit, loaded, &loading->bandits[i]))
            atomic_fetch_add(&loading->loaded, 1);
    return EE_OK;
}

void service_loading_free(service *self)
{
    memory_free(self->loading.bandits);
}
