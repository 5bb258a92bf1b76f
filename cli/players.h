/* Who plays the runs of a request: all ranks where MPI started several, or else threads of this program. */
#ifndef EENET_PLAYERS_H
#define EENET_PLAYERS_H

#include "lab/crew.h"
#include "ranks/ranks.h"
#include "run_request.h"

/* What the crew stands on. */
typedef struct players {
    rank_crew ranks;
} players;

/* Valid as long as own, which it fills, and the request. */
run_crew players_of(const run_request *request, players *own);

#endif
