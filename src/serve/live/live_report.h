/* The evaluation of a bandit as JSON: see docs/live-evaluation.md. */
#ifndef EENET_LIVE_REPORT_H
#define EENET_LIVE_REPORT_H

#include "live_bandit.h"

/* Adds value, low, high, gain, gain_low and gain_high to an object. */
void estimate_write(text *into, const estimate *from);

/* waiting: pending decisions; NaN: unknown. promotions: a JSON array. */
void live_report_write(const live_bandit *from, double waiting, const char *promotions, text *into);

/* For a bandit that was not evaluated yet. */
void live_report_write_empty(const bandit_settings *settings, text *into);

/* Adds the last promotions of the log as an array. */
ee_status live_report_promotions(store_reader *log, uint32_t bandit, text *into, ee_error *error);

#endif
