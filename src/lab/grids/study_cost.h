/* The cost of a study in advance. Its stages are the tuning stages and the final runs. */
#ifndef EENET_STUDY_COST_H
#define EENET_STUDY_COST_H

#include "run_cost.h"
#include "study.h"

/* Adds the runs of the study to a cost that has been started. Which settings go on after a stage is not known, how many
 * do is; of ablations there are at most as many as are counted. Fails where a setting could not start. */
ee_status study_cost_add(const study_plan *plan, run_cost *into, ee_error *error);

#endif
