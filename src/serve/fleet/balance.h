/* How the bandits are spread over the servers: the one with the most to do gives bandits to the one with the least, one
 * at a time. A bandit counts its events per second, and BALANCE_IDLE for being there. Pure functions. */
#ifndef EENET_BALANCE_H
#define EENET_BALANCE_H

#include "fleet_parts.h"

enum { BALANCE_IDLE = 1, BALANCE_SERVERS = 256 };

typedef struct balance_server {
    uint64_t number;
    double weight;
    bool is_me;
} balance_server;

/* The bandit to give away now, and to which server; NULL: none. now: microseconds of server_clock_real. */
holding *balance_choose(const balance_server *servers, size_t count, holding *holdings, size_t holding_count,
                        int64_t now, uint64_t *to);

/* What a server reports of itself in its row: JSON. lag: as in fleet_peer. Returns the weight. */
void balance_write_state(char state[SERVER_STATE_SIZE], double weight, double lag, size_t bandits, bool draining,
                         const fleet_wishes *wishes);
double balance_read_state(const char *state, double *lag, bool *draining, fleet_wishes *wishes);

/* Less than 0, 0 or above, as strcmp: by the numbers in it, "1.10.0" is above "1.9.3". */
int balance_compare_versions(const char *a, const char *b);

#endif
