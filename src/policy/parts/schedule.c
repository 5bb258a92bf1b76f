#include "schedule.h"

/* Training ten times as rarely is a good late schedule; it starts at train_late_after, by default never. */
static const option rows[] = {
    OPTION_ROW_INTEGER(schedule, every, "train_every", "1", 1, 1e9, "rewards between two trainings"),
    OPTION_ROW_INTEGER(schedule, late_every, "train_late_every", "10", 1, 1e9,
                       "rewards between two trainings after reward train_late_after",
                       .needs = "train_late_after<1000000000"),
    OPTION_ROW_INTEGER(schedule, late_after, "train_late_after", "1000000000", 1, 1e9,
                       "reward after which train_late_every replaces train_every"),
};
const option_table schedule_option_table = OPTION_TABLE(rows);

bool schedule_is_due(const schedule *self, uint64_t stride, uint64_t rewards)
{
    int64_t every = rewards <= (uint64_t)self->late_after ? self->every : self->late_every;
    return (rewards - 1) % ((uint64_t)every * stride) == 0;
}
