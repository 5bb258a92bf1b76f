/* What the files of the service share: the server and a call of it from the inside. */
#ifndef EENET_SERVICE_INSIDE_H
#define EENET_SERVICE_INSIDE_H

#include "dialect.h"
#include "serve/http/rate_limit.h"
#include "serve/http/router.h"
#include "serve/jobs/evaluation_jobs.h"
#include "serve/journal/journal.h"
#include "serve/live/live.h"
#include "serve/model/decision_arms.h"
#include "serve/model/served_bandit.h"
#include "serve/monitoring/activity.h"
#include "serve/monitoring/metrics.h"
#include "serve/monitoring/server_log.h"
#include "serve/personalizer/personalizer.h"
#include "serve/requests/decide_request.h"
#include "serve/requests/decision_ids.h"
#include "serve/service.h"
#include "serve/system/worker.h"

/* What a reload can change. A reload makes a new one; old ones stay until the end, because threads may still read
 * them. */
typedef struct service_config {
    server_settings settings;
    key_ring *keys; /* NULL: none are needed */
    struct service_config *previous;
} service_config;

enum { STATUS_CLASSES = 6, MOST_ROUTES = 128 };

/* What was counted of one bandit. */
typedef struct bandit_counters {
    atomic_uint_fast64_t decisions, joined, repeated, late, unknown;
    atomic_uint_fast64_t rejected, clipped; /* rewards outside the range that the settings state */
    atomic_uint_fast64_t probability;       /* of the chosen actions, in millionths, all together */
    atomic_uint_fast64_t waiting;           /* decisions that are not settled */
    atomic_uint_fast64_t defaulted;
} bandit_counters;

enum { COUNTERS_EACH = 64, COUNTER_BLOCKS = 1 << 14 };

typedef struct service_metrics {
    metric_histogram seconds[MOST_ROUTES];
    atomic_uint_fast64_t requests[MOST_ROUTES + 1][STATUS_CLASSES]; /* the last: of no route */
    metric_histogram syncs;
    atomic_uint_fast64_t synced_entries;
    _Atomic(bandit_counters *) counters[COUNTER_BLOCKS]; /* (COUNTERS_EACH) of bandits, by their numbers */
    atomic_uint_fast64_t promotions;
} service_metrics;

/* How a kind of requests stood one and two minutes ago; the housekeeper marks it. */
typedef struct latency_window {
    pthread_mutex_t lock;
    metric_mark before, middle;
} latency_window;

typedef struct call call;

/* A challenger that is to take over without asking: one at a time, handed to the worker. */
typedef struct service_promotion {
    atomic_bool busy;
    service *owner;
    served_bandit *bandit;
    char challenger[BANDIT_NAME_SIZE];
    uint64_t test;
    worker_task task;
} service_promotion;

struct service {
    _Atomic(service_config *) config;
    server_log log;
    store *store;
    journal *journal;
    served_bandits *bandits;
    worker *worker;
    _Atomic(live *) live; /* NULL for those who ask while it starts */
    service_promotion promotion;
    worker *analyst; /* for long tasks: importance */
    struct importance_cache *importances;
    evaluation_jobs *jobs;
    _Atomic(http_server *) http; /* NULL for those who ask while it starts */
    rate_limit *rates, *bandit_rates;
    decision_ids ids;
    atomic_bool draining;
    atomic_int log_streams;     /* that are open */
    atomic_int model_downloads; /* that are being made or sent */
    pthread_mutex_t pool_lock;
    call *free_calls;
    service_metrics metrics;
    activity *activity;
    latency_window deciding, rewarding;
    pthread_t housekeeper;
    bool has_housekeeper;
    pthread_mutex_t keeping_lock;
    pthread_cond_t keeping_changed;
    bool keeping_ends;
    atomic_int_least64_t kept_at; /* when the housekeeper turned last, microseconds of server_clock_real */
};

/* One entry of a call: a decision, a reward, an activation. What has several slots is several of them, one after the
 * other: the first, and its parts. */
typedef struct call_item call_item;
struct call_item {
    journal_entry entry;
    size_t parts;                  /* of the first: how many follow it */
    bool is_part;                  /* of the one before it */
    bool is_round;                 /* of slots: also the first, and where there is but one */
    size_t id_at, id_size;         /* in the call's bodies, where id_size is not 0: of the slot */
    size_t body_at, body_size;     /* in the call's bodies */
    size_t answer_at, answer_size; /* in the call's answers */
    int status;                    /* of its answer; 0: not known before the journal has written it */
    double probability;            /* of what was decided */
    uint64_t version;              /* that decided */
    activity_choice choice;
    char id[DECISION_ID_SIZE]; /* where the caller gave none */
};

enum { REQUEST_NAME_MOST = 128 };

/* A request that was admitted, and the room to answer it in; used again when it is over. */
struct call {
    memory memory; /* of what stays for the next */
    service *owner;
    http_exchange *exchange;
    route_match match;
    served_bandit *bandit;   /* that the path names; NULL: it names none */
    const dialect *dialect;  /* that it is asked in */
    const char *only_bandit; /* that the key is for; NULL: for all */
    const char *key_name;    /* "" where there are no keys */
    key_role role;           /* of the key; KEY_ADMIN where none are needed */
    personalizer_path base;  /* where Personalizer's API is asked */
    const char *error_code;  /* what an error is called there, where the route and the status do not tell; else NULL */
    char request_id[REQUEST_NAME_MOST + 1];
    char client_request[REQUEST_NAME_MOST + 1];   /* what Personalizer's clients call the request; "": nothing */
    bool is_download;                             /* one of the service's model_downloads */
    void (*awake)(call *self, served_room *room); /* see call_when_awake */
    worker_task task;
    call *next;

    const char *member; /* of a batch: "decisions" or "rewards"; NULL: there is one item */
    decide_request request;
    decision_arms arms;
    event_room stored;
    call_item *items;
    size_t item_count, item_capacity;
    size_t first_item;  /* of those that are being read: the item that parts belong to */
    atomic_size_t left; /* entries that the journal has */
    uint8_t *bodies;
    size_t bodies_size, bodies_capacity;
    char *context;
    size_t context_size, context_capacity;
    uint64_t checksum[2]; /* of the request that is being decided */
    double *probabilities;
    size_t probability_capacity;
    text slot_features, slot_context;
    text answers;
};

const service_config *service_config_now(service *self);

/* ---- admission.c ---- */

/* For http_options.admit: makes the call, finds route and bandit, or refuses. */
bool service_admit(void *context, http_exchange *exchange);
/* Whether the bandit that the path names is there for what is asked; false, and answered, where it is archived. */
bool call_finds_bandit_there(call *self);

/* ---- call.c ---- */

/* NULL: no memory. */
call *call_take(service *owner, http_exchange *exchange);
void call_give_back(call *used);
void calls_free(service *owner);

/* An answer that is refused, by its status; BadRequest for 400, and so on. */
const char *call_code(int status);
/* The status for an error: 400 for EE_BAD_INPUT, ... */
int call_status_of(ee_status status);
void call_refuse(call *self, const ee_error *error);
/* With Retry-After. */
__attribute__((format(printf, 4, 5))) void call_refuse_for(http_exchange *exchange, int status, double seconds,
                                                           const char *format, ...);
void call_refuse_archived(call *self);
/* Adds an end of line to the answer, and sends it. */
void call_answer(call *self, int status);

/* Whether the query has only these names, which are (count); false: answered with 400. */
bool call_check_query(call *self, const char *const *names, size_t count);
/* A whole number of the query; false, and answered, where it is none. *number stays as it is where it is not given. */
bool call_query_number(call *self, const char *name, uint64_t least, uint64_t *number);

/* Goes on with a room of the bandit once that is awake; answers where it cannot be woken. go_on leaves the room. */
void call_when_awake(call *self, void (*go_on)(call *self, served_room *room));

/* Goes on in the worker's thread; refuses where it has too much to do. */
void call_work(call *self, void (*run)(void *context));

/* ---- call_items.c ---- */

/* Reads the one item of the body, or those of the array self->member where it is a batch, and gives each to `read`:
 * behind its {. What read refuses becomes the item's error, unless the body is no JSON: then the whole is refused.
 * false: answered. */
typedef ee_status read_item(call *self, call_item *item, json_reader *reader, const void *context, ee_error *error);
bool call_read_items(call *self, read_item *read, const void *context);

/* One item, where the body has nothing to read. */
ee_status call_only_item(call *self, call_item **out, ee_error *error);

/* Another part of the item that was added last; items move. */
ee_status call_add_part(call *self, call_item **out, ee_error *error);

/* The item is for this slot of the decision id: entry.event.id becomes the id of the slot's decision. */
ee_status call_name_slot(call *self, call_item *item, json_text id, json_text slot, ee_error *error);

/* Hands all items that are not refused to the journal; answers at once where there are none. */
void call_submit(call *self, void (*done)(journal_entry *entry));
/* For done: counts, and answers after the last. */
void call_item_done(call *self);

/* The answer of an item is what is added to self->answers between the two. */
void call_begin_answer(call *self, call_item *item);
void call_end_answer(call *self, call_item *item, int status);
void call_item_refuse(call *self, call_item *item, int status, const char *message);
/* For done: the journal did not write it. */
void call_item_failed(call *self, call_item *item);

/* ---- api_bandits.c ---- */

/* Writes the settings as an event, and lets the server follow them. number 0: a new bandit. For threads that may wait.
 */
ee_status service_write_settings(service *of, uint32_t number, json_text name, const bandit_settings *settings,
                                 bool archived, ee_error *error);
/* Whether the library makes such a bandit, and its challengers that `before` has not; NULL: all of them. */
ee_status service_try_settings(const bandit_settings *settings, const bandit_settings *before, ee_error *error);

/* ---- api_configuration.c ---- */

/* The bandit of the call gets other settings: where they make another model, it is trained on the last days of the log.
 * why: members of JSON, as "\"why\":\"asked for\"". For the worker alone. */
ee_status personalizer_change(call *self, bandit_settings *next, const char *why, ee_error *error);

/* ---- dialect_personalizer.c ---- */

/* For http_exchange.name_error. */
const char *personalizer_name_error(http_exchange *exchange, int status, const char *code);
/* The id in the path. */
ee_status personalizer_event_id(const call *self, json_text *out, ee_error *error);

/* ---- service_metrics.c ---- */

bandit_counters *service_counters(service *self, uint32_t bandit);
void service_metrics_write(service *self, text *into);
void service_metrics_free(service *self);
void service_count(service *self, const http_exchange *exchange, const route *of, double seconds);

/* ---- api_activity.c ---- */

void latency_start(service *self);
void latency_stop(service *self);
/* For the housekeeper, once a minute. */
void latency_mark(service *self);

/* ---- api_*.c ---- */

/* Numbers the tests, tries what is new, and writes the settings as an event that the server follows. *next gets the
 * numbers. For the worker. */
ee_status service_change_settings(service *self, served_bandit *bandit, const bandit_settings *before,
                                  bandit_settings *next, ee_error *error);

/* For live_options. */
void service_passed(void *context, served_bandit *bandit, const char *challenger, uint64_t test);
void service_live_trouble(void *context, const served_bandit *bandit, const ee_error *error);

extern const route service_routes[], personalizer_routes[];
extern const size_t service_route_count, personalizer_route_count;
/* Both tables as one; NULL past the last. */
const route *service_route_at(size_t place);
size_t service_route_place(const route *of);
extern const char openapi_json[];
extern const size_t openapi_size;

typedef void call_handler(void *service, http_exchange *exchange, const route_match *match);
call_handler api_live, api_ready, api_openapi, api_metrics;
call_handler api_list, api_create, api_describe, api_change, api_archive, api_restore;
call_handler api_decide, api_decide_batch, api_reward, api_reward_batch, api_activate;
call_handler api_rank_slots, api_reward_slots;
call_handler api_activity;
call_handler api_page, api_page_file, api_page_visitor;
call_handler api_get_model, api_put_model, api_reset_model, api_model_versions, api_log;
call_handler api_evaluation, api_list_challengers, api_add_challenger, api_remove_challenger, api_promote;
call_handler api_explain, api_explain_decision, api_importance;
call_handler api_list_evaluations, api_ask_evaluation, api_read_evaluation, api_delete_evaluation;

/* ---- api_importance.c ---- */

ee_status importances_create(struct importance_cache **out, ee_error *error);
void importances_free(struct importance_cache *self);

/* ---- Personalizer's ---- */

call_handler api_get_configuration, api_put_configuration, api_get_policy, api_put_policy, api_reset_policy;
call_handler api_model_properties, api_log_properties, api_forget_log, api_no_flatbuffers;
call_handler api_status, api_container_ready;
call_handler personalizer_list_evaluations, personalizer_post_evaluation, personalizer_put_evaluation,
    personalizer_get_evaluation, personalizer_delete_evaluation, personalizer_apply_evaluation;
call_handler api_list_importances, api_put_importance, api_get_importance, api_delete_importance;

#endif
