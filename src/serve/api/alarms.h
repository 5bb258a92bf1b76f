/* Alarms of guardrails, raised by live evaluation. */
#ifndef EENET_ALARMS_H
#define EENET_ALARMS_H

#include "service_state.h"

/* For live_options. */
void service_alarmed(void *context, served_bandit *bandit, const live_alarm *alarm, uint64_t followed);

#endif
