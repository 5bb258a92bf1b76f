/* A call: a request that was admitted, its reusable memory, and the ways to answer it. */
#ifndef EENET_CALL_H
#define EENET_CALL_H

#include "dialect.h"
#include "serve/model/decision_arms.h"
#include "serve/personalizer/personalizer.h"
#include "service_state.h"

typedef struct call call;

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

typedef ee_status awake_handler(call *self, served_room *room);

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
    trace_context trace;                        /* its trace is "" where the request belongs to none */
    char client_request[REQUEST_NAME_MOST + 1]; /* what Personalizer's clients call the request; "": nothing */
    bool is_download;                           /* one of the service's model_downloads */
    awake_handler *awake;                       /* see call_when_awake */
    worker_task task;
    call_handler *later; /* see call_work */
    ee_error error;      /* of a handler that failed */
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

/* NULL: no memory. */
call *call_take(service *owner, http_exchange *exchange);
void call_give_back(call *used);
void calls_free(service *owner);

/* Runs the handler, and refuses the call with self->error if it fails. */
void call_handle(call *self, call_handler *handler);
/* The same in a thread of `to`. EE_FILE_ERROR if too many calls wait. */
ee_status call_work(call *self, worker *to, call_handler *handler);

/* Refuses the call with the status for the error: 400 for EE_BAD_INPUT, ... */
void call_fail(call *self, const ee_error *error);
int call_status_of(const call *self, ee_status status);
/* With Retry-After. */
__attribute__((format(printf, 4, 5))) void call_refuse_for(http_exchange *exchange, int status, double seconds,
                                                           const char *format, ...);

/* These answer the call, which is over then, and return EE_OK for the handler to return. */
__attribute__((format(printf, 3, 4))) ee_status call_refuse(call *self, int status, const char *format, ...);
ee_status call_refuse_archived(call *self);
/* Adds an end of line to the answer, and sends it. */
ee_status call_answer(call *self, int status);

/* EE_BAD_INPUT in self->error if the query has another name than these, which are (count). */
ee_status call_check_query(call *self, const char *const *names, size_t count);
/* Read an integer or a time, in microseconds, of the query; what is not given is unchanged. */
ee_status call_query_number(call *self, const char *name, uint64_t least, uint64_t *number);
ee_status call_query_time(call *self, const char *name, int64_t *time);

/* Goes on with a room of the bandit once that is awake; refuses the call if it cannot be. go_on leaves the room. */
ee_status call_when_awake(call *self, awake_handler *go_on);

#endif
