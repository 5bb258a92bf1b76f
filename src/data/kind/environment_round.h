/* What environment.h and the kinds of data sets (kind.h) share. */
#ifndef EENET_ENVIRONMENT_ROUND_H
#define EENET_ENVIRONMENT_ROUND_H

#include "base/status.h"

typedef struct table_cells table_cells;
typedef struct row_encoding row_encoding;
typedef struct dataset dataset;
typedef struct environment environment;

/* One round. The pointers are valid until the next round of the same environment. The regret of choosing arm i is the
 * maximum of expected minus expected[i]. */
typedef struct environment_round {
    ee_arms arms;
    const double *rewards;  /* (arms.count) the reward of each arm, noise included */
    const double *expected; /* (arms.count) the expected reward of each arm */
} environment_round;

#endif
