/* Whether what an option needs in order to act holds: `needs` of a row and of its group, see options.h. */
#ifndef EENET_OPTION_NEEDS_H
#define EENET_OPTION_NEEDS_H

#include "option_row.h"

/* The first part of the needs that does not hold in target, and its length; NULL if all hold. */
const char *option_unmet_need(const option_schema *schema, const option_group *group, const option *entry,
                              const void *target, size_t *length);

bool option_acts(const option_schema *schema, const option_group *group, const option *entry, const void *target);

/* Appends needs (length) to text with full names: "f1.training=sgd" for what f1's rows call "training=sgd". */
void option_append_needs(const option_schema *schema, const option_group *group, const char *needs, size_t length,
                         char *text, size_t capacity);

/* Fails with what option_unmet_need found. */
ee_status option_fail_unmet(const option_schema *schema, const option_group *group, const option *entry,
                            const char *part, size_t length, const void *target, ee_error *error);

#endif
