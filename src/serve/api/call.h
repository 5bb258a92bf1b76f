/* A call: a request that was admitted, its reusable memory, and the ways to answer it. */
#ifndef EENET_CALL_H
#define EENET_CALL_H

#include "dialect.h"
#include "serve/fleet/forwarder.h"
#include "serve/guard/guardrails.h"
#include "serve/model/decision_arms.h"
#include "serve/personalizer/personalizer.h"
#include "service_state.h"

typedef struct call call;

/* One entry of a call: a decision, a reward or an activation. A round with slots is several consecutive items: the
 * first, and its parts. */
typedef struct call_item call_item;
struct call_item {
    journal_entry entry;
    size_t parts;                  /* of a first item: how many parts follow it */
    bool is_part;                  /* it belongs to the item before it */
    bool metrics_only;             /* a reward without a value */
    bool is_round;                 /* it belongs to a round with slots, even of one slot */
    size_t id_at, id_size;         /* the id of a slot's decision in the call's bodies; id_size 0: none */
    size_t body_at, body_size;     /* in the call's bodies */
    size_t answer_at, answer_size; /* in the call's answers */
    int status;                    /* of its response; 0: not known until the journal has written it */
    double probability;            /* of the chosen action */
    uint64_t version;              /* of the model that decided */
    activity_choice choice;
    bool is_counted;           /* by guardrails, */
    int64_t counted_at;        /* at this time */
    char id[DECISION_ID_SIZE]; /* if the caller gave none */
};

enum { REQUEST_NAME_MOST = 128 };

typedef ee_status awake_handler(call *self, served_room *room);

/* An admitted request and the memory to answer it. Calls are reused. */
struct call {
    memory memory; /* of what the next call reuses */
    service *owner;
    http_exchange *exchange;
    route_match match;
    served_bandit *bandit;   /* the bandit in the path; NULL: none */
    const dialect *dialect;  /* of the API that the request uses */
    const char *only_bandit; /* the bandit of the key; NULL: all */
    const char *key_name;    /* "" without keys */
    key_role role;           /* of the key; KEY_ADMIN without keys */
    personalizer_path base;  /* of Personalizer's API */
    const char
        *error_code; /* Personalizer's code of an error, if it does not follow from route and status; else NULL */
    char request_id[REQUEST_NAME_MOST + 1];
    trace_context trace;                        /* its trace is "" if the request belongs to none */
    char client_request[REQUEST_NAME_MOST + 1]; /* the request id of a Personalizer client; "": none */
    bool is_download;                           /* one of the service's model_downloads */
    awake_handler *awake;                       /* see call_when_awake */
    worker_task task;
    call_handler *later; /* see call_work */
    bool relearns;       /* see call_move */
    uint64_t relearned;  /* the event of the model that a change of settings trained; 0: none */
    size_t overtaken;    /* see call_start_over */
    ee_error error;      /* of a handler that failed */
    call *next;

    /* Of a fleet: see forwarding.h. */
    bool is_forwarded;                   /* it came from another server */
    bool is_remote;                      /* it is for another server, or for the next owner of a bandit */
    char remote_name[BANDIT_NAME_SIZE];  /* the bandit; "": the leader */
    key_grant grant;                     /* of a forwarded request */
    char granted[3 * BANDIT_NAME_SIZE];  /* its names */
    char first_id[DECISION_ID_SIZE + 1]; /* X-Eenet-Decision; "": none */
    int64_t forward_until;               /* microseconds of server_clock_real */
    forward_request forward;
    text forward_headers, forward_target;
    call *next_waiting;

    const char *member; /* of a batch: "decisions" or "rewards"; NULL: there is one item */
    decide_request request;
    decision_arms arms;
    guardrails_room guarding;
    guardrails *counting; /* the guardrails that count its decisions; NULL: none */
    event_room stored;
    call_item *items;
    size_t item_count, item_capacity;
    size_t first_item;  /* while items are read: the one that parts belong to */
    atomic_size_t left; /* entries that the journal has not written yet */
    uint8_t *bodies;
    size_t bodies_size, bodies_capacity;
    char *context;
    size_t context_size, context_capacity;
    uint64_t checksum[2]; /* of the request being decided */
    double *probabilities;
    size_t probability_capacity;
    text slot_features, slot_context;
    text answers;
};

/* NULL: out of memory. */
call *call_take(service *owner, http_exchange *exchange);
void call_give_back(call *used);
void calls_free(service *owner);

/* Runs the handler, and refuses the call with self->error if it fails. */
void call_handle(call *self, call_handler *handler);
/* false: answered, because the bandit in the path was removed or is another server's, or is archived and the route does
 * not allow it. */
bool call_finds_bandit_there(call *self);

/* Runs the handler of the call's route, in a worker's thread if it may wait. */
ee_status call_dispatch(call *self);
/* The same in a thread of `to`. EE_FILE_ERROR if too many calls wait. */
ee_status call_work(call *self, worker *to, call_handler *handler);

/* Runs the handler of the call's route again: in the relearner's thread with `relearns` set, or in the worker's
 * without. A handler that finds that its change needs a new model moves there, so that other changes do not wait for
 * it. */
ee_status call_move(call *self, bool relearns);
/* The same because the settings have changed while a model was trained for the call's change. After a few times the
 * call is refused. */
ee_status call_start_over(call *self);

/* Refuses the call with the status for the error: 400 for EE_BAD_INPUT, ... */
void call_fail(call *self, const ee_error *error);
int call_status_of(const call *self, ee_status status);
/* With Retry-After. */
__attribute__((format(printf, 4, 5))) void call_refuse_for(http_exchange *exchange, int status, double seconds,
                                                           const char *format, ...);

/* These answer the call, which must not be used after it. They return EE_OK, for the handler to return. */
__attribute__((format(printf, 3, 4))) ee_status call_refuse(call *self, int status, const char *format, ...);
ee_status call_refuse_archived(call *self);
/* Adds an end of line to the answer, and sends it. */
ee_status call_answer(call *self, int status);

/* Fails if the query has a name that is not one of names (count). */
ee_status call_check_query(call *self, const char *const *names, size_t count);
/* Read an integer, or a time in microseconds, from the query; unchanged if it is not given. */
ee_status call_query_number(call *self, const char *name, uint64_t least, uint64_t *number);
ee_status call_query_time(call *self, const char *name, int64_t *time);

/* Calls go_on with a room of the bandit once its model is loaded; refuses the call if that fails. go_on leaves the
 * room. */
ee_status call_when_awake(call *self, awake_handler *go_on);

#endif
