/* Bandits that this server of a fleet takes over and gives up: what each part of the server has to do. */
#ifndef EENET_OWNERSHIP_H
#define EENET_OWNERSHIP_H

#include "serve/api/service_state.h"

/* The callbacks of the fleet; context: the service. */
ee_status ownership_take(void *context, const lease *what, bool *owned, ee_error *error);
void ownership_end(void *context, uint32_t bandit, bool hand_over);
uint64_t ownership_events(void *context, uint32_t bandit, double *lag);
bool ownership_is_known(void *context, uint32_t bandit);

#endif
