/* Erasing decisions of a bandit. In the thread of the eraser. */
#ifndef EENET_ERASING_H
#define EENET_ERASING_H

#include "serve/model/erasure.h"
#include "service_state.h"

typedef struct erasing_result {
    uint64_t decisions, events; /* that were erased; events has the decisions too */
    bool proven;                /* replay can prove all that is not close to them */
} erasing_result;

/* Returns when it is durable. EE_FILE_ERROR also if the server stops meanwhile: the next start finishes what had begun
 * to be removed, and else nothing has changed except that pending decisions are settled. */
ee_status erasing_run(service *of, served_bandit *bandit, erasure_request *request, erasing_result *out,
                      ee_error *error);

/* Finishes what a stop or a crash interrupted. */
ee_status erasings_resume(service *of, ee_error *error);

#endif
