/* The workers of a request: all MPI ranks if there are several, otherwise threads of this program. */
#ifndef EENET_PLAYERS_H
#define EENET_PLAYERS_H

#include "lab/runs/crew.h"
#include "ranks/ranks.h"
#include "run_request.h"

/* What the crew refers to; must outlive it. */
typedef struct players {
    rank_crew ranks;
} players;

/* Valid as long as own, which it fills, and the request. */
run_crew players_of(const run_request *request, players *own);

#endif
