/* Callers as careless as they come, for the torture: each decides and rewards without a pause, by ids of its own and of
 * the server's, asks the same again, several in a batch, sends rewards before their decision and twice, and other
 * requests under a used id. What it was told is in its ledger. When the server goes away it waits for the next one,
 * asks again all that it was answered since the one before, and must get the same bytes. */
#ifndef EENET_CARELESS_CALLER_H
#define EENET_CARELESS_CALLER_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/random.h"
#include "data/values/text.h"
#include "http_client.h"
#include "ledger.h"

enum { CALLER_BANDITS = 5 };

/* The bandits that they know. first: a network, which waits long and keeps few decisions in memory. sum: settled by the
 * end of its wait, without a default. apprentice: its mode changes. sleepy: seldom asked, it sleeps and wakes. */
extern const ledger_bandit caller_bandits[CALLER_BANDITS];
extern const char *const caller_settings[CALLER_BANDITS]; /* members of JSON, without the name */

/* What the threads share: which server runs, and whether it is over. */
typedef struct caller_stage {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t generation; /* servers that were started and listen */
    uint16_t port;
    bool over;
    atomic_uint_fast64_t answers; /* that came, of all servers */
} caller_stage;

typedef struct careless_caller {
    caller_stage *shared;
    pthread_t thread;
    size_t number;
    random_stream chance;
    http_client client;
    ledger ledger;
    uint64_t generation, made;
    size_t asked_decisions, asked_rewards; /* of the ledger: up to here asked again after a restart */
    uint64_t repeats;
    text body;
    ee_error error;
} careless_caller;

/* Tells the callers of a new server, or that it is over. */
void caller_announce(caller_stage *self, uint16_t port, bool over);

/* Starts the thread. A wrong answer ends the program. */
void caller_start(careless_caller *self, caller_stage *shared, size_t number, uint64_t seed);
/* After it is over. The ledger is left, to be ended. */
void caller_end(careless_caller *self);

#endif
