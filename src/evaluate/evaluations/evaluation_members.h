/* The numeric members of a line of evaluations.jsonl by name: writing and reading share these tables. */
#ifndef EENET_EVALUATION_MEMBERS_H
#define EENET_EVALUATION_MEMBERS_H

#include <stddef.h>

typedef struct real_member {
    const char *name;
    size_t offset; /* of a double */
} real_member;

typedef struct real_members {
    const real_member *list; /* (count) */
    size_t count;
} real_members;

extern const real_members estimate_members; /* of estimate */
extern const real_members fact_members;     /* of diagnosis */
extern const real_members log_members;      /* of evaluated_log */
extern const real_members slot_members;     /* of slot_result */
extern const real_members metric_members;   /* of metric_result */

#endif
