#include "schedule.h"

const option schedule_option_table[SCHEDULE_OPTIONS] = {
    {"train_every", OPTION_INTEGER, offsetof(schedule, every), "1", 1, 1e9, NULL,
     "rewards from one training to the next"},
    {"train_late_every", OPTION_INTEGER, offsetof(schedule, late_every), "1", 1, 1e9, NULL,
     "the same after reward train_late_after"},
    {"train_late_after", OPTION_INTEGER, offsetof(schedule, late_after), "1000000000", 1, 1e9, NULL,
     "where train_late_every takes over"},
};

bool schedule_is_due(const schedule *self, uint64_t rewards)
{
    int64_t every = rewards <= (uint64_t)self->late_after ? self->every : self->late_every;
    return (rewards - 1) % (uint64_t)every == 0;
}
