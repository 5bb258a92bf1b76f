/* Private to the fleet. */
#ifndef EENET_FLEET_PARTS_H
#define EENET_FLEET_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "fleet.h"

enum { BANDIT_NAME_ROOM = 80, SECOND = 1000000 }; /* microseconds of a second */

/* Bandits that a server asks for. */
enum { MOST_WANTED = 16 };
typedef struct fleet_wishes {
    uint32_t bandits[MOST_WANTED]; /* (count) */
    size_t count;
} fleet_wishes;

/* Another server, or this one. */
typedef struct fleet_peer {
    lease_server about;
    double weight; /* its load, as it says */
    double lag;    /* seconds by which the model that is most behind its log is so, as it says */
    bool draining;
    fleet_wishes wishes;
} fleet_peer;

typedef struct fleet_bandit {
    uint32_t bandit;
    uint64_t owner, token;
    char name[BANDIT_NAME_ROOM];
} fleet_bandit;

/* What this server does with a bandit. */
typedef enum holding_state {
    HOLDING_TAKE,   /* to be taken up */
    HOLDING_HELD,   /* it owns it */
    HOLDING_FAILED, /* it could not be taken up: to be tried again */
    HOLDING_LEAVE,  /* to be handed over to another server */
    HOLDING_LEFT,   /* nothing is written any more: its lease can be given away */
    HOLDING_LOSE,   /* the lease was lost */
    HOLDING_GONE
} holding_state;

typedef struct holding {
    uint32_t bandit;
    uint64_t token;
    holding_state state;
    bool asked;      /* the second thread has this to do, or does it */
    int64_t ask_due; /* HOLDING_FAILED: not before, microseconds of server_clock_real */
    unsigned failures;
    uint64_t to;     /* HOLDING_LEAVE, HOLDING_LEFT: the next owner */
    int64_t since;   /* microseconds of server_clock_real */
    uint64_t events; /* when the load was last measured */
    double rate;     /* events per second */
} holding;

struct fleet {
    memory memory;
    fleet_options options;
    uint64_t number;
    atomic_int_least64_t clock_offset; /* the database's time minus server_clock_elapsed */
    pthread_t beater, changer;
    int started; /* threads */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t hurry, changed, work;
    fleet_peer *peers; /* (peer_count) */
    size_t peer_count, peer_capacity;
    fleet_bandit *bandits; /* (bandit_count) the first is the leader's */
    size_t bandit_count, bandit_capacity;
    uint32_t *slots; /* (slot_count, a power of two) by name: place + 1 */
    size_t slot_count, slot_capacity;
    uint64_t changes;
    holding *holdings; /* (holding_count) in the order of the bandits */
    size_t holding_count, holding_capacity;
    fleet_status status; /* its counts */
    uint32_t *needed;    /* (needed_count) fleet_need, until needed_until: microseconds of server_clock_real */
    size_t needed_count, needed_capacity;
    int64_t needed_until;
    fleet_wishes wishes; /* the first of them that this server does not own */
    bool viewed, hurried, draining, leaving, stopping;
    char address[SERVER_ADDRESS_SIZE]; /* of this server */
    int64_t beaten;                    /* when the last beat succeeded */

    /* The first thread's. */
    bool failing;             /* under the lock */
    bool unread;              /* `changed` is to be called again */
    bool at_risk;             /* as lease_view */
    uint64_t twin, twin_beat; /* another server with the address of this one, as it was last seen; 0: there is none */
    bool has_twin;            /* its beat grows */
    lease *wanted;
    size_t wanted_capacity;
    int64_t measured, balance_due;
    double weight, lag; /* as in fleet_peer; under the lock */
};

/* ---- fleet_view.c: with the lock ---- */

/* As of the last view: while the database is away, everybody is as they were. */
bool fleet_is_alive(const fleet *self, const fleet_peer *peer);
/* NULL: there is none. */
const fleet_peer *fleet_find_peer(const fleet *self, uint64_t number);
holding *fleet_find_holding(const fleet *self, uint32_t bandit);
fleet_bandit *fleet_find_bandit(const fleet *self, uint32_t bandit);

ee_status fleet_copy_view(fleet *self, const lease_view *view, ee_error *error);
/* What the view says of each bandit, and what this server does, become the same. */
void fleet_compare(fleet *self);
/* The second thread is to do this. */
void fleet_ask(fleet *self, holding *of, holding_state state);
void fleet_remove_holding(fleet *self, holding *which);

/* ---- fleet_moves.c: in the first thread, with the lock, which is released around calls of the database ---- */

/* Whether a server is alive and stays. */
bool fleet_stays(const fleet *self, const fleet_peer *peer);
ee_status fleet_take_orphans(fleet *self, ee_error *error);
/* The leases of bandits that the second thread has given up go to their next owners. */
ee_status fleet_give_left(fleet *self, ee_error *error);
void fleet_give_failed(fleet *self);
void fleet_give_wanted(fleet *self);
void fleet_give_some(fleet *self);
void fleet_give_all(fleet *self);
double fleet_measure_load(fleet *self);

#endif
