#include "bandit_removal.h"

#include "erasing.h"
#include "importance_cache.h"
#include "scrubbing.h"

enum { PORTION = 512 }; /* rows of a transaction */

typedef struct removing {
    uint32_t bandit;
    bool more;
} removing;

static ee_status decide(void *context, store *into, ee_error *error)
{
    return store_purge(into, ((removing *)context)->bandit, error);
}

static ee_status remove_portion(void *context, store *into, ee_error *error)
{
    removing *self = context;
    return store_purge_some(into, self->bandit, PORTION, &self->more, error);
}

static ee_status end(void *context, store *into, ee_error *error)
{
    return store_purge_end(into, ((removing *)context)->bandit, error);
}

static ee_status find_next(void *context, store *into, ee_error *error)
{
    removing *self = context;
    return store_purge_next(into, self->bandit, &self->bandit, error);
}

/* The model is unloaded and live evaluation put away before rows and files go: nothing writes them again. */
ee_status bandit_removal_decide(service *of, served_bandit *bandit, ee_error *error)
{
    removing one = {.bandit = served_bandit_number(bandit)};
    ee_status status = journal_run(of->journal, decide, &one, error);
    if (status) return status;
    served_bandits_remove(of->bandits, bandit);
    live *watching = atomic_load(&of->live);
    if (watching) live_forget(watching, bandit, false);
    importance_cache_forget(of->importances, one.bandit);
    activity_forget(of->activity, one.bandit);
    return EE_OK;
}

static ee_status remove_rows(service *of, uint32_t number, ee_error *error)
{
    removing one = {.bandit = number, .more = true};
    ee_status status = EE_OK;
    while (one.more && !status) {
        if (atomic_load(&of->ending))
            return status_fail(error, EE_FILE_ERROR,
                               "the server is stopping; the rest of the bandit is removed at the next start");
        status = journal_run(of->journal, remove_portion, &one, error);
    }
    return status;
}

ee_status bandit_removal_finish(service *of, uint32_t number, ee_error *error)
{
    removing one = {.bandit = number};
    ee_status status = evaluation_jobs_delete_all(of->jobs, number, error);
    if (!status) status = store_remove_blobs(of->store, number, error);
    if (!status) status = remove_rows(of, number, error);
    if (!status) status = service_scrub(of, error);
    if (!status) status = store_remove_blobs(of->store, number, error); /* a request may have ended meanwhile */
    return status ? status : journal_run(of->journal, end, &one, error);
}

static void resume(void *context)
{
    service *of = context;
    removing one = {0};
    ee_error error;
    ee_status status = journal_run(of->journal, find_next, &one, &error);
    while (!status && one.bandit) {
        status = bandit_removal_finish(of, one.bandit, &error);
        if (!status)
            server_log_write(&of->log, LOG_LEVEL_INFO, NULL, "bandit number %u: its removal is complete",
                             (unsigned)one.bandit);
        if (!status) status = journal_run(of->journal, find_next, &one, &error);
    }
    if (!status) status = erasings_resume(of, &error);
    if (status) server_log_write(&of->log, LOG_LEVEL_WARNING, NULL, "removing data was interrupted: %s", error.message);
    atomic_store(&of->resuming, false);
    if (atomic_exchange(&of->again, false)) bandit_removals_resume(of);
}

void bandit_removals_resume(service *of)
{
    if (atomic_exchange(&of->resuming, true)) {
        atomic_store(&of->again, true);
        return;
    }
    of->resumption = (worker_task){.run = resume, .context = of};
    if (!worker_submit(of->eraser, &of->resumption)) atomic_store(&of->resuming, false);
}
