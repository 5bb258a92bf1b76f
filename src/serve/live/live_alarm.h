/* An alarm of the guardrails: a bound that is violated, or something that changed. In the log it is an ALARM event, so
 * that it is reported once and replay knows it:
 *
 *     {"kind": "bound", "metric": "refund", "limit": 1.1, "side": "above", "test": 3, "alpha": 0.0125, "evidence": 1,
 *      "decision": 5120, "sentence": "...", "then": "fallback"} */
#ifndef EENET_LIVE_ALARM_H
#define EENET_LIVE_ALARM_H

#include "base/archive.h"
#include "serve/settings/bandit_settings.h"
#include "serve/store/event.h"

enum { ALARM_METRIC_SIZE = 104, ALARM_SENTENCE_SIZE = sizeof(((bandit_settings *)0)->held_because) };

typedef enum alarm_kind { ALARM_BOUND, ALARM_DRIFT } alarm_kind;

typedef struct live_alarm {
    alarm_kind kind;
    char metric[ALARM_METRIC_SIZE]; /* "reward" or a metric; of drift: what has changed, see live_drift.h */
    double factor;                  /* of a bound, as in guard_bound */
    bool below;
    uint64_t test;     /* its number in the life of the bandit */
    double alpha;      /* of the test: the probability that it ever raises a false alarm */
    uint64_t decision; /* number of the decision that raised it; 0: no alarm */
    char sentence[ALARM_SENTENCE_SIZE];
    guard_consequence then;
} live_alarm;

void live_alarm_write(const live_alarm *self, text *into);
/* What identifies it: kind, metric, factor, below, test and decision. false: the body is not an alarm's. */
bool live_alarm_read(live_alarm *out, const event *from);
void live_alarm_archive(archive *a, live_alarm *self);

#endif
