/* The whole server: the order in which its parts start and stop, reloading, and periodic tasks. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/file.h"
#include "routes.h"
#include "serve/api/admission.h"
#include "serve/api/alarms.h"
#include "serve/api/audit.h"
#include "serve/api/bandit_removal.h"
#include "serve/api/call.h"
#include "serve/api/forwarding.h"
#include "serve/api/importance_cache.h"
#include "serve/api/latency.h"
#include "serve/api/log_exports.h"
#include "serve/api/promotion.h"
#include "serve/api/readiness.h"
#include "serve/member/fleet_member.h"
#include "serve/member/service_config.h"
#include "serve/store/places/audit_log.h"
#include "serve/system/memory_limit.h"
#include "serve/system/notify.h"
#include "serve/system/server_clock.h"
#include "service.h"

enum { MEGABYTE = 1 << 20, SECOND = 1000000, SAVE_SECONDS = 2, RATE_PLACES = 1 << 16, MOST_TASKS = 1000, READERS = 2 };

static void handle(void *context, http_exchange *exchange)
{
    call *admitted = exchange->context;
    (void)context;
    if (admitted->is_remote)
        forwarding_handle(admitted);
    else
        call_handle(admitted, call_dispatch);
}

static void ended(void *context, http_exchange *exchange)
{
    service *self = context;
    call *used = exchange->context;
    double now = (double)server_clock_real() * 1e-6, seconds = now - exchange->arrived;
    request_line line = {exchange, seconds, used ? used->key_name : "", used ? used->request_id : "",
                         used && used->trace.trace[0] ? &used->trace : NULL};
    service_count(self, exchange, exchange->route, seconds);
    request_log_write(&self->requests, &self->log, service_config_now(self)->settings.log_requests, now, &line);
    if (used) call_give_back(used);
}

/* ---- what the journal tells ---- */

static void appended(void *context, uint32_t bandit, uint64_t last)
{
    service *self = context;
    live *watching = atomic_load(&self->live);
    served_bandits_appended(self->bandits, bandit, last);
    if (watching) live_appended(watching, bandit);
}

static void waits(void *context, uint32_t bandit, uint64_t waiting, uint64_t defaulted)
{
    bandit_counters *counters = service_counters(context, bandit);
    if (!counters) return;
    atomic_store_explicit(&counters->waiting, waiting, memory_order_relaxed);
    atomic_store_explicit(&counters->defaulted, defaulted, memory_order_relaxed);
}

static void needs(void *context, const uint32_t *bandits, size_t count)
{
    service *self = context;
    if (self->fleet) fleet_need(self->fleet, bandits, count);
}

static void synced(void *context, double seconds, size_t entries)
{
    service *self = context;
    metric_observe(&self->metrics.syncs, seconds);
    atomic_fetch_add_explicit(&self->metrics.synced_entries, entries, memory_order_relaxed);
}

/* ---- now and then ---- */

static void forget_old(service *self)
{
    int64_t usual = service_config_now(self)->settings.retention_days, now = journal_time(self->journal);
    served_bandit *bandit;
    for (size_t i = 0; (bandit = served_bandits_at(self->bandits, i)); i++) {
        int64_t set = served_bandit_settings(bandit).retention_days, days = set ? set : usual;
        if (days > 0) journal_forget_before(self->journal, served_bandit_number(bandit), now - days * 86400 * SECOND);
    }
}

/* Bytes of models. The other half is for requests, the store, and models while they are loaded or saved. */
static uint64_t memory_budget(const server_settings *settings)
{
    return settings->memory ? (uint64_t)settings->memory << 20 : memory_limit() / 2;
}

/* Reports bandits whose training has stopped, or that are far behind their log, and models that do not fit into memory.
 */
static void report_trouble(service *self)
{
    const server_settings *settings = &service_config_now(self)->settings;
    double most = settings->lag_seconds, used = (double)served_bandits_memory(self->bandits) / MEGABYTE;
    double budget = (double)memory_budget(settings) / MEGABYTE;
    if (used > budget)
        server_log_write(&self->log, LOG_LEVEL_WARNING, NULL,
                         "models take %.0f MB, above the limit of %.0f MB (setting 'memory'), and no bandit is idle",
                         used, budget);
    served_bandit *bandit;
    for (size_t i = 0; (bandit = served_bandits_at(self->bandits, i)); i++) {
        served_standing standing = served_bandit_standing(bandit);
        const char *name = served_bandit_name(bandit);
        if (standing.trouble[0])
            server_log_write(&self->log, LOG_LEVEL_WARNING, NULL, "bandit '%s': training has stopped: %s", name,
                             standing.trouble);
        else if (most > 0 && standing.lag_seconds > most)
            server_log_write(&self->log, LOG_LEVEL_WARNING, NULL,
                             "bandit '%s': the model is %.0f s behind its log (%" PRIu64
                             " events); decisions use the older model",
                             name, standing.lag_seconds, standing.behind);
    }
}

/* Logs a change of the clock's state. */
static void watch_clock(service *self, bool *in_doubt)
{
    server_clock now = journal_clock(self->journal);
    if (now.in_doubt && !*in_doubt)
        server_log_write(&self->log, LOG_LEVEL_ERROR, NULL,
                         "the clock jumped by %.0f seconds; nothing is settled or removed until it returns, POST "
                         "/v1/clock accepts it, or it is steady for %d minutes",
                         (double)now.difference * 1e-6, (int)(CLOCK_STEADY / SECOND / 60));
    if (!now.in_doubt && *in_doubt)
        server_log_write(&self->log, LOG_LEVEL_INFO, NULL, "the clock is no longer in doubt");
    *in_doubt = now.in_doubt;
}

/* Logs that the store cannot be written, or can be again, and what becomes of events. */
static void watch_store(service *self, journal_counts *before)
{
    journal_counts now = journal_read_counts(self->journal);
    bool refused = !now.spooling && (!now.writable || now.spooled);
    bool was_refused = !before->spooling && (!before->writable || before->spooled);
    if (now.spooling && !before->spooling)
        server_log_write(&self->log, LOG_LEVEL_ERROR, NULL,
                         "the database is away; decisions and rewards go to the spool, for %.0f more seconds",
                         now.spool_seconds_left);
    if (refused && !was_refused)
        server_log_write(&self->log, LOG_LEVEL_ERROR, NULL,
                         "the store cannot be written; decisions and rewards are refused with 503 until it can");
    if (!refused && was_refused) server_log_write(&self->log, LOG_LEVEL_INFO, NULL, "the store can be written again");
    if (before->spooled && !now.spooled)
        server_log_write(&self->log, LOG_LEVEL_INFO, NULL, "all events of the spool are delivered");
    if (now.spool_dropped > before->spool_dropped)
        server_log_write(&self->log, LOG_LEVEL_WARNING, NULL,
                         "%" PRIu64 " events of the spool were dropped: their bandit was archived or removed",
                         now.spool_dropped - before->spool_dropped);
    *before = now;
}

static void *keep_house(void *context)
{
    service *self = context;
    bool in_doubt = false;
    journal_counts before = {.writable = true};
    pthread_mutex_lock(&self->keeping_lock);
    for (unsigned turn = 0; !self->keeping_ends; turn++) {
        pthread_mutex_unlock(&self->keeping_lock);
        watch_store(self, &before);
        watch_clock(self, &in_doubt);
        if (turn % 60 == 59) report_trouble(self);
        if (turn % 600 == 10) forget_old(self);
        if (turn % 60 == 0) latency_mark(self);
        atomic_store(&self->kept_at, server_clock_real());
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += 1;
        pthread_mutex_lock(&self->keeping_lock);
        if (!self->keeping_ends) pthread_cond_timedwait(&self->keeping_changed, &self->keeping_lock, &until);
    }
    pthread_mutex_unlock(&self->keeping_lock);
    return NULL;
}

bool service_is_alive(const service *self)
{
    enum { LATE = 30 };
    int64_t kept = atomic_load(&((service *)self)->kept_at);
    return server_clock_real() - kept < (int64_t)LATE * SECOND;
}

/* ---- start ---- */

static const double RELEARN_SECONDS = 1; /* of a server that takes over a bandit */

static served_options options_of(const server_settings *settings)
{
    served_options options = served_options_usual();
    options.trainers = (size_t)settings->trainers;
    options.publish_interval = settings->publish_interval;
    options.step_events = (size_t)settings->step_events;
    options.most_behind = (uint64_t)settings->most_behind;
    options.checkpoint_events = (uint64_t)settings->checkpoint_events;
    options.checkpoint_seconds = settings->checkpoint_seconds;
    options.checkpoints = (size_t)settings->checkpoints;
    options.relearn_seconds = settings->store[0] ? RELEARN_SECONDS : 0;
    if (settings->store[0]) options.step_seconds *= 2; /* after each step the trainer waits until the database has it */
    options.sleep_seconds = settings->sleep_seconds;
    options.memory = memory_budget(settings);
    return options;
}

static ee_status start_live(service *self, const server_settings *settings, ee_error *error)
{
    live_options options = {.kept = self->store,
                            .bandits = self->bandits,
                            .save_seconds = settings->checkpoint_seconds,
                            .idle_seconds = settings->sleep_seconds > 0 ? settings->sleep_seconds : INFINITY,
                            .passed = service_passed,
                            .alarmed = service_alarmed,
                            .trouble = service_live_trouble,
                            .context = self};
    live *started = NULL;
    ee_status status = live_start(&options, &started, error);
    atomic_store(&self->live, started);
    return status;
}

/* A store in a folder is there as long as the folder, so a spool beside it would not help. */
static ee_status place_spool(service *self, const server_settings *settings, journal_options *into, ee_error *error)
{
    if (self->fleet) {
        fleet_mark(self->fleet, self->fleet_mark);
        into->spool_owner = self->fleet_mark;
    }
    if (store_is_database(self->store)) into->spool_folder = settings->folder;
    if (settings->spool_seconds <= 0 || into->spool_folder) return EE_OK;
    return status_fail(error, EE_BAD_OPTION,
                       "settings: spool-seconds needs a store that is a database; remove it, or start with --store "
                       "postgresql://...");
}

static ee_status start_bandits(service *self, const server_settings *settings, ee_error *error)
{
    served_options served = options_of(settings);
    journal_options written = {.checkpoints = served.checkpoints,
                               .most_days_off = settings->most_days_off,
                               .retention_days = settings->retention_days,
                               .accept_clock = (clock_acceptance)settings->accept_clock.pick,
                               .appended = appended,
                               .waits = waits,
                               .synced = synced,
                               .needs = needs,
                               .spool_seconds = settings->spool_seconds,
                               .context = self};
    ee_status status = settings->store[0] ? fleet_member_join(self, &written, error)
                                          : store_open(settings->folder, &self->store, error);
    if (!status) status = place_spool(self, settings, &written, error);
    if (!status) status = served_bandits_create(self->store, &served, &self->bandits, error);
    if (!status) status = journal_start(self->store, &written, &self->journal, error);
    if (!status) status = served_bandits_run(self->bandits, self->journal, error);
    if (!status) status = worker_start(1, MOST_TASKS, &self->worker, error);
    if (!status) status = worker_start(1, MOST_TASKS, &self->relearner, error);
    if (!status) status = worker_start(READERS, MOST_TASKS, &self->readers, error);
    if (!status) status = worker_start(1, MOST_TASKS, &self->analyst, error);
    if (!status) status = audit_log_open(settings->store[0] ? settings->store : settings->folder, &self->audit, error);
    if (!status) status = worker_start(1, MOST_TASKS, &self->eraser, error);
    if (!status) status = log_exports_create(&self->exports, error);
    if (!status) status = importance_cache_create(&self->importances, error);
    if (!status) status = evaluation_jobs_start(self->store, self->bandits, &self->jobs, error);
    if (!status) status = start_live(self, settings, error);
    if (!status && self->fleet) status = forwarding_start(self, error);
    if (!status) bandit_removals_resume(self);
    return status;
}

static size_t count_cores(void)
{
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) ? 1 : (size_t)CPU_COUNT(&cores);
}

static ee_status listen_to(service *self, const server_settings *settings, ee_error *error)
{
    int given = notify_socket();
    if (given >= 0 && !settings->keys[0] && !http_socket_is_local(given))
        return status_fail(
            error, EE_BAD_OPTION,
            "other machines can reach the socket that systemd opened, so keys are required: --keys FILE");
    http_options options = {.address = settings->address,
                            .port = (uint16_t)settings->port,
                            .listening = given,
                            .threads = settings->threads ? (size_t)settings->threads : count_cores(),
                            .connections = (size_t)settings->connections,
                            .connections_each = (size_t)settings->connections_each,
                            .idle_seconds = settings->idle_seconds,
                            .header_bytes = (size_t)settings->header_bytes,
                            .certificate = settings->certificate[0] ? settings->certificate : NULL,
                            .key = settings->certificate_key[0] ? settings->certificate_key : NULL,
                            .begin = service_begin,
                            .admit = service_admit,
                            .handle = handle,
                            .ended = ended,
                            .context = self};
    http_server *started = NULL;
    ee_status status = http_start(&options, &started, error);
    atomic_store(&self->http, started);
    return status;
}

static void init_keeping(service *self)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* else a clock that is set back stops it for so long */
    pthread_cond_init(&self->keeping_changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&self->keeping_lock, NULL);
}

static ee_status start_keeping(service *self, ee_error *error)
{
    atomic_store(&self->kept_at, server_clock_real());
    if (pthread_create(&self->housekeeper, NULL, keep_house, self))
        return status_fail(error, EE_NO_MEMORY, "could not start a thread");
    self->has_housekeeper = true;
    return EE_OK;
}

/* Saves what can be saved until then, microseconds of server_clock_real. */
static void service_free(service *self, int64_t save_until)
{
    bool hurry = server_clock_real() >= save_until;
    atomic_store(&self->ending, true);
    if (self->bandits) served_bandits_interrupt(self->bandits);
    if (self->has_housekeeper) {
        pthread_mutex_lock(&self->keeping_lock);
        self->keeping_ends = true;
        pthread_cond_signal(&self->keeping_changed);
        pthread_mutex_unlock(&self->keeping_lock);
        pthread_join(self->housekeeper, NULL);
    }
    /* Who answers goes before who is asked: every open request is answered by the journal, the bandits or the worker.
     */
    forwarding_stop(self);
    http_stop(self->http);
    if (self->fleet) fleet_stop(self->fleet);
    live_stop(self->live, hurry); /* it hands work to the worker, which may ask it for a model until its end */
    log_exports_stop(self->exports);
    worker_stop(self->relearner); /* its tasks are requests, which have been answered */
    worker_stop(self->worker);
    worker_stop(self->readers);
    worker_stop(self->analyst);
    worker_stop(self->eraser);
    importance_cache_free(self->importances);
    evaluation_jobs_stop(self->jobs);
    if (self->bandits) served_bandits_stop(self->bandits, (double)(save_until - server_clock_real()) / SECOND);
    journal_stop(self->journal);
    served_bandits_free(self->bandits);
    live_free(self->live);
    fleet_free(self->fleet);
    forwarding_free(self);
    store_reader_free(self->adopter);
    if (self->store) store_close(self->store);
    rate_limit_free(self->rates);
    rate_limit_free(self->bandit_rates);
    decision_ids_stop(&self->ids);
    service_metrics_free(self);
    activity_free(self->activity);
    latency_stop(self);
    memory_free(self->fleet_keys);
    calls_free(self);
    service_loading_free(self);
    audit_log_close(self->audit);
    for (service_config *config = atomic_load(&self->config), *previous; config; config = previous) {
        previous = config->previous;
        service_free_config(config);
    }
    pthread_mutex_destroy(&self->config_lock);
    pthread_mutex_destroy(&self->pool_lock);
    pthread_mutex_destroy(&self->keeping_lock);
    pthread_cond_destroy(&self->keeping_changed);
    memory_free(self);
}

static void report_waiting(void *context, const char *sentence)
{
    const service *self = context;
    server_log_write(&self->log, LOG_LEVEL_WARNING, NULL, "%s", sentence);
}

ee_status service_start(const server_settings *settings, bool (*pause)(double seconds), service **out, ee_error *error)
{
    service *self;
    service_config *config;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    memcpy(self->routes, all_routes, sizeof self->routes);
    pthread_mutex_init(&self->config_lock, NULL);
    pthread_mutex_init(&self->pool_lock, NULL);
    init_keeping(self);
    latency_start(self);
    decision_ids_start(&self->ids);
    self->rates = rate_limit_create(RATE_PLACES);
    self->bandit_rates = rate_limit_create(RATE_PLACES);
    self->activity = activity_create();
    if (!self->rates || !self->bandit_rates || !self->activity) status = status_no_memory(error, RATE_PLACES);
    if (!status) status = service_read_config(settings, "", &config, error);
    if (!status) service_take_config(self, config);
    store_wait_at_start(&(store_waiting){settings->store_wait_seconds, pause, report_waiting, self});
    if (!status) status = start_bandits(self, settings, error);
    if (!status && settings->accept_clock.pick)
        server_log_write(&self->log, LOG_LEVEL_WARNING, NULL,
                         "accept-clock is set; remove it now, because it accepts any clock at the next start");
    if (!status) status = start_keeping(self, error);
    if (!status) status = service_load_active(self, error);
    if (!status) status = listen_to(self, settings, error);
    if (!status && self->fleet) status = fleet_member_start(self, error);
    store_wait_at_start(NULL);
    if (status) {
        service_free(self, 0);
        return status;
    }
    *out = self;
    return EE_OK;
}

uint16_t service_port(const service *self)
{
    return http_port(self->http);
}

/* ---- reload ---- */

/* The first setting that differs and cannot be taken over; NULL: none. */
static const char *fixed_difference(const server_settings *now, const server_settings *wanted)
{
    if (strcmp(now->folder, wanted->folder) != 0) return "folder";
    if (strcmp(now->store, wanted->store) != 0) return "store";
    if (strcmp(now->advertise, wanted->advertise) != 0) return "advertise";
    if (now->replication.pick != wanted->replication.pick) return "replication";
    if (strcmp(now->address, wanted->address) != 0) return "address";
    if (now->port != wanted->port) return "port";
    if (now->threads != wanted->threads) return "threads";
    if (now->trainers != wanted->trainers) return "trainers";
    if (now->connections != wanted->connections) return "connections";
    if (now->connections_each != wanted->connections_each) return "connections-each";
    if (now->idle_seconds != wanted->idle_seconds) return "idle-seconds";
    if (now->header_bytes != wanted->header_bytes) return "header-bytes";
    if (now->publish_interval != wanted->publish_interval) return "publish-interval";
    if (now->step_events != wanted->step_events) return "step-events";
    if (now->most_behind != wanted->most_behind) return "most-behind";
    if (now->checkpoint_events != wanted->checkpoint_events) return "checkpoint-events";
    if (now->checkpoint_seconds != wanted->checkpoint_seconds) return "checkpoint-seconds";
    if (now->checkpoints != wanted->checkpoints) return "checkpoints";
    if (now->sleep_seconds != wanted->sleep_seconds) return "sleep-seconds";
    if (now->memory != wanted->memory) return "memory";
    if (now->spool_seconds != wanted->spool_seconds) return "spool-seconds";
    if (!now->certificate[0] != !wanted->certificate[0]) return "certificate";
    if (!now->keys[0] != !wanted->keys[0]) return "keys";
    return NULL;
}

static ee_status reload(service *self, const server_settings *settings, ee_error *error)
{
    const server_settings *now = &service_config_now(self)->settings;
    const char *fixed = fixed_difference(now, settings);
    service_config *made;
    if (fixed) return status_fail(error, EE_BAD_OPTION, "'%s' cannot change while the server runs; restart it", fixed);
    ee_status status = service_read_config(settings, self->fleet_keys ? self->fleet_keys : "", &made, error);
    if (status) return status;
    if (settings->certificate[0])
        status = http_set_certificate(self->http, settings->certificate, settings->certificate_key, error);
    if (status) {
        service_free_config(made);
        return status;
    }
    service_take_config(self, made);
    audit_reload(self, made->previous, made);
    if (self->fleet) status = fleet_member_publish(self, error);
    if (status) return status;
    server_log_write(&self->log, LOG_LEVEL_INFO, NULL, "settings, keys and certificate reloaded");
    return EE_OK;
}

ee_status service_reload(service *self, const server_settings *settings, ee_error *error)
{
    pthread_mutex_lock(&self->config_lock);
    ee_status status = reload(self, settings, error);
    pthread_mutex_unlock(&self->config_lock);
    return status;
}

void service_log_error(const service *self, const char *format, ...)
{
    char message[512];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    server_log_write(&self->log, LOG_LEVEL_ERROR, NULL, "%s", message);
}

/* ---- stop ---- */

double service_stop_seconds(service *self)
{
    const server_settings *settings = &service_config_now(self)->settings;
    return settings->drain + (self->fleet ? FLEET_DRAIN_SECONDS : 0) + settings->finish_seconds + SAVE_SECONDS;
}

/* Waits until a time of server_clock_real, until all requests are answered if `idle` says so, or until hurry is set. */
static void wait_until(const service *self, int64_t end, bool idle, const volatile bool *hurry)
{
    const struct timespec moment = {.tv_nsec = 2000000};
    while (server_clock_real() < end && !(hurry && *hurry) && !(idle && !http_open_requests(self->http)))
        nanosleep(&moment, NULL);
}

void service_stop(service *self, const volatile bool *hurry)
{
    if (!self) return;
    const server_settings *settings = &service_config_now(self)->settings;
    atomic_store(&self->stopping, true);
    if (settings->drain > 0)
        server_log_write(&self->log, LOG_LEVEL_INFO, NULL, "stopping in %g s; /readyz returns 503 until then",
                         settings->drain);
    wait_until(self, server_clock_real() + (int64_t)(settings->drain * SECOND), false, hurry);
    if (self->fleet) fleet_member_drain(self, hurry);
    server_log_write(&self->log, LOG_LEVEL_INFO, NULL, "stopping; open requests: %zu", http_open_requests(self->http));
    atomic_store(&self->draining, true);
    http_drain(self->http);
    int64_t end = server_clock_real() + (int64_t)(settings->finish_seconds * SECOND);
    wait_until(self, end, true, hurry);
    size_t open = http_open_requests(self->http);
    if (open)
        server_log_write(&self->log, LOG_LEVEL_WARNING, NULL, "finish-seconds are over: %zu open requests closed",
                         open);
    if (!hurry || !*hurry) server_log_write(&self->log, LOG_LEVEL_INFO, NULL, "saving the models");
    server_log log = {.level = atomic_load(&self->log.level), .format = atomic_load(&self->log.format)};
    service_free(self, hurry && *hurry ? 0 : end + SAVE_SECONDS * (SECOND * 3 / 4));
    server_log_write(&log, LOG_LEVEL_INFO, NULL, "stopped");
}
