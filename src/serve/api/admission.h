/* Admission: everything that can be refused before the body of a request is read. */
#ifndef EENET_ADMISSION_H
#define EENET_ADMISSION_H

#include "call.h"

/* For http_options.begin: creates the call and names it, so that every response has a request id. */
void service_begin(void *context, http_exchange *exchange);

/* For http_options.admit: finds the route and bandit of the call. false: refused, and answered. */
bool service_admit(void *context, http_exchange *exchange);

#endif
