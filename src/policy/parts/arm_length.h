/* The divisor of arms (option `scale`): the mean length of the arms of the first round.
 *
 * The first round may be unusual, so each of the first 64 rounds is compared with it. A round that is 8 times longer or
 * shorter is divided by its own length instead, and 16 such rounds in a row that agree with each other replace the
 * first: from then on their mean length is used, and never changes again. All that the policy learned meanwhile had a
 * length of about 1, so nothing is lost. If the first rounds are within a factor of 8, all arms are divided by the same
 * length. */
#ifndef EENET_ARM_LENGTH_H
#define EENET_ARM_LENGTH_H

#include "base/archive.h"

typedef struct arm_length {
    double value;     /* 0: none yet */
    double sum;       /* of the unusual rounds */
    uint32_t rounds;  /* compared so far; LENGTH_SETTLED: all */
    uint32_t unusual; /* latest in a row */
} arm_length;

enum { LENGTH_SETTLED = 64 };

/* The divisor of a round whose arms have this mean length. mean 0: the arms have no length, and the known divisor is
 * used. */
double arm_length_divide(arm_length *self, double mean);

/* Whether the length of a round is needed. */
static inline bool arm_length_compares(const arm_length *self)
{
    return self->rounds < LENGTH_SETTLED;
}

/* Whether it is a valid divisor; 0 means none yet. */
bool arm_length_is_one(double length);

void arm_length_archive(arm_length *self, archive *a);

#endif
