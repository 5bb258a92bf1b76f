/* Promotion of a challenger, on request or automatically. */
#ifndef EENET_PROMOTION_H
#define EENET_PROMOTION_H

#include "service_state.h"

/* test 0: whichever runs now. *number: the event. EE_BAD_INPUT: it has not learned enough to take over. For the worker.
 */
ee_status service_promote(service *of, served_bandit *bandit, const challenger_settings *challenger, uint64_t test,
                          const char *by, uint64_t *number, ee_error *error);

/* For live_options. */
void service_passed(void *context, served_bandit *bandit, const char *challenger, uint64_t test);
void service_live_trouble(void *context, const served_bandit *bandit, const ee_error *error);

#endif
