/* Changes of settings through Personalizer's API. */
#ifndef EENET_PERSONALIZER_CHANGES_H
#define EENET_PERSONALIZER_CHANGES_H

#include "call.h"

/* Changes the settings of the call's bandit. If they need another model, it is trained on the last days of the log.
 * why: JSON members, such as "\"why\":\"requested\"". For the worker. */
ee_status personalizer_change(call *self, bandit_settings *next, const char *why, ee_error *error);

#endif
