/* This server among the others of its fleet: it says that it is alive, knows which server owns which bandit, takes the
 * bandits of dead servers, and gives bandits away when it has more to do than others or stops. store/leases.h has the
 * rules.
 *
 * Two threads: one beats, so that nothing else delays it; the other takes and gives up bandits, which may take long. */
#ifndef EENET_FLEET_H
#define EENET_FLEET_H

#include "data/values/text.h"
#include "serve/store/postgres/leases.h"

typedef struct fleet fleet;

typedef struct fleet_options {
    leases *leases; /* joined; fleet_stop leaves it */
    /* In the second thread: this server owns the bandit, or creates bandits (LEADER), from now on. *owned false: the
     * lease is another's by now. A failure is tried again. */
    ee_status (*own)(void *context, const lease *what, bool *owned, ee_error *error);
    /* In the second thread: it does not any more. hand_over: it still may write until it returns; else the lease is
     * lost. */
    void (*disown)(void *context, uint32_t bandit, bool hand_over);
    /* Events of a bandit so far, for its load, and by how many seconds its model is behind them. Any thread. */
    uint64_t (*events)(void *context, uint32_t bandit, double *lag);
    /* Whether the store still lets this server write for a bandit, as far as it knows. Any thread. */
    bool (*owns)(void *context, uint32_t bandit);
    /* In the first thread: a lease, a bandit or the keys changed; false: to be called again. And for the server's log.
     */
    bool (*changed)(void *context, leases *with);
    void (*report)(void *context, bool is_trouble, const char *sentence);
    void *context;
} fleet_options;

/* Reads the database's clock, and nothing else: fleet_clock can be used. */
ee_status fleet_create(const fleet_options *options, fleet **out, ee_error *error);
/* Starts to beat. address: where other servers reach this one. */
ee_status fleet_start(fleet *self, const char *address, ee_error *error);
/* The address has changed: its certificate is another one. */
void fleet_set_address(fleet *self, const char *address);
/* Gives all bandits to other servers: returns when this is done, when there is no other server, or at `until`
 * (server_clock_real), or when *hurry. */
void fleet_drain(fleet *self, int64_t until, const volatile bool *hurry);
/* Stops the threads; disown is called for what is left. */
void fleet_stop(fleet *self);
/* NULL is allowed. */
void fleet_free(fleet *self);

/* The database's time now, in microseconds since 1970: the time of all events of the fleet. */
int64_t fleet_clock(fleet *self);

typedef enum fleet_whose {
    FLEET_UNKNOWN, /* there is no such bandit, as far as this server knows */
    FLEET_NOBODY,  /* its owner is dead or leaving: it has another one soon */
    FLEET_MINE,
    FLEET_OTHER
} fleet_whose;

/* Who owns a bandit (NULL: who creates bandits), and where: address is of FLEET_OTHER. */
fleet_whose fleet_find(fleet *self, const char *name, char address[SERVER_ADDRESS_SIZE]);
/* Whether this server creates bandits: then it knows all of them. */
bool fleet_leads(fleet *self);
/* The addresses of the other living servers; at most `most`. Returns how many. */
size_t fleet_others(fleet *self, char (*addresses)[SERVER_ADDRESS_SIZE], size_t most);
/* Whether the server at an address is dead: the others take its bandits. */
bool fleet_is_dead(fleet *self, const char *address);

/* Something shows that the view is out of date: beats now. */
void fleet_hurry(fleet *self);
/* Waits until a view came or a bandit was taken up or given up, or this number of microseconds has passed. */
void fleet_await_change(fleet *self, int64_t microseconds);
/* The store refused to write for a bandit of this server: gives it up, and takes it again if the lease is still its. */
void fleet_doubt(fleet *self, uint32_t bandit);
/* This server has events of these bandits in its spool, and needs all of them at the same time: asks their owners to
 * hand them over, and keeps those that it has. Replaces the bandits of the last call. Does not wait; to be repeated
 * until this server owns them. */
void fleet_need(fleet *self, const uint32_t *bandits, size_t count);

uint64_t fleet_server(const fleet *self);
bool fleet_knows(const fleet *self, const char *secret_hex);
void fleet_secret(const fleet *self, char hex[2 * FLEET_SECRET_SIZE + 1]);
/* Eight digits that differ from those of other fleets, and do not give the secret away. */
enum { FLEET_MARK_SIZE = 9 };
void fleet_mark(const fleet *self, char hex[FLEET_MARK_SIZE]);

typedef struct fleet_status {
    size_t servers, alive, bandits, mine, taking; /* taking: of mine, those that are not taken up yet */
    bool leads, ready;                            /* ready: the first view came, and all of mine are taken up */
    double silent;                                /* seconds since the last beat that succeeded */
    uint64_t taken, given, lost;                  /* bandits, since the start */
} fleet_status;
fleet_status fleet_read_status(fleet *self);

/* {"server": 3, "leader": 1, "servers": [...], "bandits": [...]} */
void fleet_describe(fleet *self, text *into);

#endif
