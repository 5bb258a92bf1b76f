/* What follows from an alarm, in the log: its ALARM event, and for a bound with "then": "freeze" or "fallback" the
 * SETTINGS event that holds the bandit back, in one transaction. So a crash leaves both or none, and a bandit that is
 * held back has a reason in the log. */
#ifndef EENET_ALARM_CONSEQUENCE_H
#define EENET_ALARM_CONSEQUENCE_H

#include "succession.h"

/* Writes an alarm that was raised when the last SETTINGS, MODEL or ALARM event was `followed`. If there is a newer one,
 * nothing is written and *written is false: the alarm may be in the log, or about tests that have ended. If it is
 * neither, live evaluation reports it again. Only for the worker, as succession_write. */
ee_status alarm_consequence_write(const succession *self, const live_alarm *alarm, uint64_t followed, bool *written,
                                  ee_error *error);

#endif
