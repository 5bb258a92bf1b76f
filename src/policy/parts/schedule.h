/* When a policy trains. All neural policies share this table. */
#ifndef EENET_SCHEDULE_H
#define EENET_SCHEDULE_H

#include "base/options.h"

typedef struct schedule {
    int64_t every;      /* rewards between trainings */
    int64_t late_every; /* the same after reward number late_after */
    int64_t late_after;
} schedule;

extern const option_table schedule_option_table;

/* Whether to train after this many rewards: at the first, then at every n-th, times the stride. */
bool schedule_is_due(const schedule *self, uint64_t stride, uint64_t rewards);

#endif
