/* What a log is worth to a bandit that has learned nothing yet. Another policy plays some rounds and logs them. Then
 * three play on, each on the same rounds: one that knows nothing, one that has learned from the log, and one that has
 * played the logged rounds itself. */
#ifndef EENET_WARM_STUDY_H
#define EENET_WARM_STUDY_H

#include "kept_studies.h"
#include "parallel.h"
#include "runner.h"

/* Who plays on. */
typedef enum warm_player {
    WARM_COLD,    /* knows nothing */
    WARM_LEARNED, /* has learned from the log */
    WARM_TRAINED, /* has played its rounds */
    WARM_LOGGER,  /* the policy of the log, which learns on too */
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

/* What each is called in lines and tables. */
extern const char *const warm_names[WARM_PLAYERS];

/* Each seed is kept as soon as it is done, and one that is kept is not played. results is (seed_count); *finished as in
 * parallel_each. */
ee_status warm_run(const warm_plan *plan, size_t threads, const parallel_watch *watch, kept_studies *kept,
                   warm_result *results, bool *finished, ee_error *error);

#endif
