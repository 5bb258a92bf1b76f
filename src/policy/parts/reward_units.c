#include "reward_units.h"

#include <math.h>

enum {
    MOST = 10000, /* the sums are over about the last so many rewards */
    SLOWER = 4    /* times than the variance itself, the spread falls */
};

void reward_units_add(reward_units *self, double reward)
{
    if (!self->count || reward < self->least) self->least = reward;
    self->count++;
    double share = 1 / (double)(self->count < MOST ? self->count : MOST), off = reward - self->mean;
    self->mean += share * off;
    self->variance += share * (off * (reward - self->mean) - self->variance);
    self->widest = fmax(self->variance, self->widest + share / SLOWER * (self->variance - self->widest));
}

double reward_units_centre(const reward_units *self)
{
    if (!self->on) return 0;
    return self->from_least ? self->least : self->mean;
}

double reward_units_spread(const reward_units *self)
{
    return self->on ? 2 * sqrt(self->widest) : 1;
}

void reward_units_archive(reward_units *self, archive *a)
{
    if (!self->on) return;
    double *sums[] = {&self->mean, &self->variance, &self->least, &self->widest};
    bool sound = true;
    archive_u64(a, &self->count);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        archive_bytes(a, sums[i], sizeof *sums[i]);
        sound &= isfinite(*sums[i]);
    }
    if (a->reading && !a->status && !(sound && self->variance >= 0 && self->widest >= 0))
        archive_fail(a, EE_BAD_MODEL, "model: the unit of its rewards is not one that rewards make");
}
