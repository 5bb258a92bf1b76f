#include "reward_units.h"

#include <math.h>

enum {
    MOST = 10000, /* the sums are over about the last so many rewards */
    SLOWER = 4    /* times than the variance itself, the spread falls */
};

void reward_units_add(reward_units *self, double reward)
{
    if (!self->count || reward < self->least) self->least = reward;
    if (!self->count || reward > self->most) self->most = reward;
    self->count++;
    double share = 1 / (double)(self->count < MOST ? self->count : MOST), off = reward - self->mean;
    self->mean += share * off;
    self->variance += share * (off * (reward - self->mean) - self->variance);
    self->widest = fmax(self->variance, self->widest + share / SLOWER * (self->variance - self->widest));
}

double reward_units_centre(const reward_units *self)
{
    if (!self->on) return 0;
    return self->from_least || self->by_range ? self->least : self->mean;
}

double reward_units_spread(const reward_units *self)
{
    if (!self->on) return 1;
    return self->by_range ? self->most - self->least : 2 * sqrt(self->widest);
}

void reward_units_archive(reward_units *self, archive *a)
{
    if (!self->on) return;
    double *sums[] = {&self->mean, &self->variance, &self->least, &self->widest, &self->most};
    size_t sum_count = sizeof sums / sizeof *sums - !self->by_range;
    bool sound = true;
    archive_u64(a, &self->count);
    for (size_t i = 0; i < sum_count; i++) {
        archive_bytes(a, sums[i], sizeof *sums[i]);
        sound &= isfinite(*sums[i]);
    }
    bool in_order = !self->by_range || self->most >= self->least;
    if (a->reading && !a->status && !(sound && in_order && self->variance >= 0 && self->widest >= 0))
        archive_fail(a, EE_BAD_MODEL, "model: the unit of its rewards is not one that rewards make");
}
