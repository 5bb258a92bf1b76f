/* Groups, rules and decisions that are not randomised, as all formats and evaluations need them. */
#ifndef EENET_LOG_GUARD_H
#define EENET_LOG_GUARD_H

#include "log.h"

struct text; /* data/values/text.h; not included, because many name a variable text */

enum { LOG_GROUPS = LOG_GROUP_FALLBACK + 1 };

/* "treated", "control", ...; "" if there are no groups. */
const char *log_group_name(log_group group);

/* False if it is unknown. */
bool log_group_find(json_text name, log_group *out);

/* Whether guardrails did anything. */
bool log_guard_is_used(const log_guard *guard);

/* Rules in a CSV field: their names joined by '|'. A '|' or '\\' in a name has a '\\' before it. Joining fails with
 * EE_BAD_INPUT unless rules is an array of strings that are not empty; room is for reading it. Splitting uses name as a
 * buffer. */
ee_status log_rules_join(json_text rules, json_room *room, struct text *into, ee_error *error);
void log_rules_split(json_text joined, struct text *name, struct text *into);

/* Decisions that are not randomised (log_event_is_randomised), by the reason. */
typedef struct log_left_out {
    uint64_t control, waiting, fallback, repeats;
} log_left_out;

/* Counts an event that is not randomised. */
void log_left_out_add(log_left_out *self, const log_event *event);
uint64_t log_left_out_sum(const log_left_out *self);

/* "2310 of 46000 decisions were not randomised (1900 of the control group, 410 repeats) and were left out."; "" if
 * there are none. randomised: the other decisions. */
enum { LOG_LEFT_OUT_TEXT = 256 };
void log_left_out_format(const log_left_out *self, uint64_t randomised, char out[LOG_LEFT_OUT_TEXT]);

#endif
