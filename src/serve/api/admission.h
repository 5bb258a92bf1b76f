/* Admission: everything that can be refused before the body of a request is read. */
#ifndef EENET_ADMISSION_H
#define EENET_ADMISSION_H

#include "call.h"

/* For http_options.admit: creates the call, finds its route and bandit. false: refused, and answered. */
bool service_admit(void *context, http_exchange *exchange);

/* false: answered, because the bandit in the path is archived and the route is only for others. */
bool call_finds_bandit_there(call *self);

#endif
