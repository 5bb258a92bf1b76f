/* Readiness: whether a load balancer should send requests. The server is not ready while it stops, while its store
 * cannot be written, and after its start until the models of active bandits are loaded, or until it has joined its
 * fleet. Requests are answered in all these cases if they can be. */
#ifndef EENET_READINESS_H
#define EENET_READINESS_H

#include "service_state.h"

typedef enum readiness {
    READY,
    READY_SPOOLING, /* the database is away, or gets what came meanwhile: events go to the spool (journal.h) */
    NOT_READY_STOPPING,
    NOT_READY_STORE,
    NOT_READY_LOADING,
    NOT_READY_JOINING
} readiness;

readiness service_readiness(service *self);
/* Whether /readyz returns 200. */
bool service_is_ready(service *self);

/* Starts to load the models of bandits that are not archived and have events to learn or were used in the last hour,
 * and no longer ago than sleep-seconds. A bandit that cannot be loaded counts as done: its requests get 503, and the
 * log says why. */
ee_status service_load_active(service *self, ee_error *error);
void service_loading_free(service *self);

#endif
