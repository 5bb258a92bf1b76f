/* How long a run takes, before anything has been played. */
#ifndef EENET_USUAL_PACE_H
#define EENET_USUAL_PACE_H

#include "lab/runs/runner.h"

/* Seconds of processor time that a run takes on one core of a usual machine: a guess, by policy, arms, features and
 * rounds, as of the policy's defaults. Above 0, and the same in every program of a version. */
double usual_pace_seconds(const run_job *job);

#endif
