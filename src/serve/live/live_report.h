/* The evaluation of a bandit as JSON: see docs/live-evaluation.md. */
#ifndef EENET_LIVE_REPORT_H
#define EENET_LIVE_REPORT_H

#include "live_bandit.h"

/* Adds value, low, high, gain, gain_low and gain_high to an object. */
void estimate_write(text *into, const estimate *from);

/* waiting: pending decisions; NaN: unknown. promotions, alarms: JSON arrays. now: microseconds since 1970. */
void live_report_write(const live_bandit *from, double waiting, const char *promotions, const char *alarms, int64_t now,
                       text *into);

/* For a bandit that was not evaluated yet. */
void live_report_write_empty(const bandit_settings *settings, text *into);

/* Adds the last events of a kind, PROMOTION or ALARM, as an array. */
ee_status live_report_events(store_reader *log, uint32_t bandit, event_kind kind, text *into, ee_error *error);

#endif
