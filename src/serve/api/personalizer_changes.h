/* Changes of settings through Personalizer's API. */
#ifndef EENET_PERSONALIZER_CHANGES_H
#define EENET_PERSONALIZER_CHANGES_H

#include "call.h"

/* Changes the settings of the call's bandit, which were *before, to *next. If they need another model, it is trained on
 * the last days of the log. why: JSON members, such as "\"why\":\"requested\"". *answered: the call is answered, or its
 * handler runs again in another thread (call_move); it must not be used any more. For handlers in the worker and in the
 * relearner. */
ee_status personalizer_change(call *self, const bandit_settings *before, bandit_settings *next, const char *why,
                              bool *answered, ee_error *error);

#endif
