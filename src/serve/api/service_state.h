/* The state of the server that requests share. service.c creates it and stops it; everything else in this folder
 * answers requests with it. */
#ifndef EENET_SERVICE_STATE_H
#define EENET_SERVICE_STATE_H

#include "serve/fleet/fleet.h"
#include "serve/http/rate_limit.h"
#include "serve/http/router.h"
#include "serve/jobs/evaluation_jobs.h"
#include "serve/journal/journal.h"
#include "serve/live/live.h"
#include "serve/model/served_bandit.h"
#include "serve/monitoring/activity.h"
#include "serve/monitoring/request_log.h"
#include "serve/monitoring/server_log.h"
#include "serve/requests/decision_ids.h"
#include "serve/settings/server_settings.h"
#include "serve/system/worker.h"
#include "service_metrics.h"

typedef struct service service;

/* What a reload can change. A reload creates a new one; old ones stay until the server stops, because threads may still
 * read them. */
typedef struct service_config {
    server_settings settings;
    key_ring *keys; /* NULL: no keys are needed */
    struct service_config *previous;
} service_config;

/* Latency of one kind of requests, as of one and two minutes ago. The housekeeper moves it on. */
typedef struct latency_window {
    pthread_mutex_t lock;
    metric_mark before, middle;
} latency_window;

/* An automatic promotion of a challenger: one at a time, handed to the worker. */
typedef struct service_promotion {
    atomic_bool busy;
    service *owner;
    served_bandit *bandit;
    char challenger[BANDIT_NAME_SIZE];
    uint64_t test;
    worker_task task;
} service_promotion;

/* An alarm of guardrails: one at a time, handed to the worker. */
typedef struct service_alarm {
    atomic_bool busy;
    service *owner;
    served_bandit *bandit;
    live_alarm alarm;
    uint64_t followed;
    worker_task task;
} service_alarm;

/* Models that are loaded after the start; see readiness.h. */
typedef struct service_loading {
    size_t total; /* fixed before requests come */
    atomic_size_t loaded, failed;
    struct loading_bandit *bandits; /* (total) */
} service_loading;

/* The two forms of the API, each with its routes. */
enum { ROUTES_V1, ROUTES_PERSONALIZER, ROUTE_TABLES };

struct service {
    _Atomic(service_config *) config;
    route_table routes[ROUTE_TABLES];
    server_log log;
    request_log requests;
    store *store;
    journal *journal;
    served_bandits *bandits;
    worker *worker;       /* runs changes, one after the other */
    worker *relearner;    /* trains new models for changes, which the worker then writes */
    worker *readers;      /* runs requests that only read, and take long: changes do not wait for them */
    _Atomic(live *) live; /* NULL while the server starts */
    service_promotion promotion;
    service_alarm alarm;
    worker *analyst;        /* runs long tasks: feature importance */
    worker *eraser;         /* removes bandits and erases decisions, one after the other */
    worker_task resumption; /* the eraser's first: what a stop or a crash interrupted */
    struct importance_cache *importances;
    evaluation_jobs *jobs;
    fleet *fleet; /* NULL: this server is alone */
    struct forwarding *forwarding;
    void (*moved)(struct call *of);   /* the bandit of a call is another server's: answers it, later */
    char *fleet_keys;                 /* as the database has them; the fleet's thread changes it */
    char fleet_mark[FLEET_MARK_SIZE]; /* fleet_mark() */
    store_reader *adopter;            /* of the thread that takes bandits over */
    atomic_bool resuming, again;      /* the resumption is queued or runs; it is to run again */
    pthread_mutex_t config_lock;      /* of those who replace the config, and of fleet_keys */
    _Atomic(http_server *) http;      /* NULL while the server starts */
    rate_limit *rates, *bandit_rates;
    decision_ids ids;
    service_loading loading;
    atomic_bool stopping; /* not ready any more; requests are still answered */
    atomic_bool draining; /* no new connections; long tasks end early */
    atomic_bool ending;   /* finish-seconds are over: requests that wait are refused */
    struct log_exports *exports;
    struct audit_log *audit;
    atomic_int model_downloads; /* being prepared or sent */
    pthread_mutex_t pool_lock;
    struct call *free_calls;
    service_metrics metrics;
    activity *activity;
    latency_window deciding, rewarding;
    pthread_t housekeeper;
    bool has_housekeeper;
    pthread_mutex_t keeping_lock;
    pthread_cond_t keeping_changed;
    bool keeping_ends;
    atomic_int_least64_t kept_at; /* last round of the housekeeper, microseconds of server_clock_real */
};

static inline const service_config *service_config_now(service *self)
{
    return atomic_load_explicit(&self->config, memory_order_acquire);
}

/* The routes of all tables as one list, for counting; NULL past the last. */
const route *service_route_at(const service *self, size_t index);
size_t service_route_index(const service *self, const route *of);

#endif
