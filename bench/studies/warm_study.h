/* How much a log helps a new bandit. A policy plays some rounds and logs them. Then three bandits play the same next
 * rounds: an untrained one, one that learned from the log, and one that played the logged rounds itself. */
#ifndef EENET_WARM_STUDY_H
#define EENET_WARM_STUDY_H

#include "data/sets/environment.h"

/* The bandits that play after the log. */
typedef enum warm_player {
    WARM_COLD,    /* untrained */
    WARM_LEARNED, /* learned from the log */
    WARM_TRAINED, /* played the logged rounds */
    WARM_LOGGER,  /* the logging policy, which keeps learning */
    WARM_PLAYERS
} warm_player;

typedef struct warm_plan {
    const dataset *data;
    const char *policies[WARM_PLAYERS];
    const char *options[WARM_PLAYERS]; /* as in ee_settings; NULL: none */
    uint64_t first_seed;
    size_t seed_count;
    uint64_t events; /* of the log */
    uint64_t rounds; /* played after it */
} warm_plan;

/* The regret in the rounds after the log, with one seed. */
typedef struct warm_result {
    double regret[WARM_PLAYERS];
} warm_result;

/* Their names in tables. */
extern const char *const warm_names[WARM_PLAYERS];

/* results is (seed_count). */
ee_status warm_run(const warm_plan *plan, size_t threads, warm_result *results, ee_error *error);

#endif
