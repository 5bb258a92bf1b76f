/* Removing a bandit for good. First it is decided, in one transaction: nobody finds the bandit any more, and its name
 * is free. Then everything of it is removed in portions. What a stop or a crash interrupts continues at the next start.
 */
#ifndef EENET_BANDIT_REMOVAL_H
#define EENET_BANDIT_REMOVAL_H

#include "service_state.h"

/* For the worker. The bandit is archived. */
ee_status bandit_removal_decide(service *of, served_bandit *bandit, ee_error *error);

/* For the eraser: removes what is left. EE_FILE_ERROR also if the server stops meanwhile. */
ee_status bandit_removal_finish(service *of, uint32_t number, ee_error *error);

/* At the start: has the eraser finish what was interrupted, erased decisions too. */
void bandit_removals_resume(service *of);

#endif
