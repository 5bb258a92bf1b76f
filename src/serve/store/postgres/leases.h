/* Which server of a fleet owns which bandit: leases in the database.
 *
 * A server is alive while its beat grows. Each server measures with its own monotonic clock for how long the beats of
 * the others have not changed: no wall clock is compared with another. A server whose beat has not changed for
 * LEASE_TIME (fleet_view.c) is dead, and others take its bandits: the token of each grows, so a late write of the old
 * owner finds another token and is refused (store.h). A server that comes back continues to beat, and is alive again
 * without its bandits.
 *
 * The leader is the owner of lease 0. It creates bandits.
 *
 * One thread uses it at a time; it has its own connection. */
#ifndef EENET_LEASES_H
#define EENET_LEASES_H

#include "base/json.h"
#include "base/memory.h"

typedef struct leases leases;

enum { SERVER_ADDRESS_SIZE = 192, SERVER_VERSION_SIZE = 32, SERVER_STATE_SIZE = 512, FLEET_SECRET_SIZE = 32 };

typedef struct lease_server {
    uint64_t number;
    char address[SERVER_ADDRESS_SIZE]; /* "http://10.0.0.5:8080" */
    char version[SERVER_VERSION_SIZE];
    char state[SERVER_STATE_SIZE]; /* what it reports, as JSON */
    uint64_t beat;
    int64_t changed; /* when this process saw the beat change: microseconds of server_clock_real */
} lease_server;

typedef struct lease {
    uint32_t bandit; /* 0: the leader's */
    uint64_t owner;  /* number of the server; 0: none */
    uint64_t token;
    const char *name; /* of the bandit; "" for the leader's, and for one that is being removed */
} lease;

/* What the database knew at the last beat. */
typedef struct lease_view {
    lease_server *servers; /* (server_count) in the order of their numbers, this one too */
    size_t server_count;
    lease *leases; /* (lease_count) in the order of the bandits; the first is the leader's */
    size_t lease_count;
    uint64_t changes; /* grows when a lease, a bandit or the keys change */
    int64_t time;     /* the database's clock, microseconds since 1970 */
    int64_t measured; /* server_clock_elapsed at that time */
    bool at_risk; /* commits do not wait for a standby, although lease_options asked for it: after a failover, say */
} lease_view;

/* Connects, creates the tables if there are none, and joins the fleet. address: where other servers reach this one.
 * synchronous: fail (EE_BAD_OPTION) if the database does not replicate synchronously. */
typedef struct lease_options {
    const char *where, *address, *version;
    bool synchronous;
} lease_options;
ee_status leases_join(const lease_options *options, leases **out, ee_error *error);
/* Removes the server's row, with its leases, if the database can be reached, and frees. NULL is allowed. */
void leases_leave(leases *self);

/* The next beat publishes it: the port is not known before the server listens, and a certificate is renewed. */
void leases_set_address(leases *self, const char *address);

uint64_t leases_server(const leases *self);
const uint8_t *leases_secret(const leases *self); /* (FLEET_SECRET_SIZE) */

/* The database's clock, in microseconds since 1970; *measured: server_clock_elapsed at that time. */
ee_status leases_read_clock(leases *self, int64_t *time, int64_t *measured, ee_error *error);

/* Says that this server is alive, and reads the view. state: JSON, at most SERVER_STATE_SIZE - 1. After a failure the
 * next call connects again; all servers count as seen now, so that none is taken for dead because the database was
 * away. *view is valid until the next call. */
ee_status leases_beat(leases *self, const char *state, const lease_view **view, ee_error *error);

/* Gives leases (count) to a server: each if it is as from[i] says and its owner has not beaten since the last view, or
 * is this server, or none. moved (count) become the new leases of those that were given, *moved_count of them. */
ee_status leases_move(leases *self, const lease *from, size_t count, uint64_t to, lease *moved, size_t *moved_count,
                      ee_error *error);

/* Removes a server that has been silent for long from the list. */
ee_status leases_forget(leases *self, const lease_server *dead, ee_error *error);

/* The API keys of the fleet, as the keys file has them; to be freed with memory_free. "": none. */
ee_status leases_read_keys(leases *self, char **keys, ee_error *error);
/* before: as they were read. EE_BAD_INPUT if somebody has changed them since. */
ee_status leases_write_keys(leases *self, const char *before, const char *keys, ee_error *error);

#endif
