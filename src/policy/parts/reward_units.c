#include "reward_units.h"

#include <math.h>

enum {
    MOST = 10000, /* the sums cover about this many rewards */
    SLOWER = 4,   /* times more slowly than the variance, the spread falls */
    TIMES = 2,    /* times the reach, a reward may be from the mean: in 10,000 normal ones, none is further */
    EARLY = 10    /* rewards, up to about which more is allowed */
};

/* What is learned for a reward at this distance from the mean. */
static double limit(const reward_units *self, double off)
{
    double early = EARLY / (double)self->count, most = TIMES * (1 + early * early) * self->reach,
           again = off / self->far;
    bool fits = fabs(off) <= most || self->reach == 0 || self->bounded;
    if (fits || (again * TIMES >= 1 && again <= TIMES)) return off;
    return copysign(most, off);
}

double reward_units_take(reward_units *self, double reward)
{
    if (!self->on) return reward;
    if (!self->count) self->least = self->most = self->mean = reward;
    double off = reward - self->mean, learned = self->count ? limit(self, off) : 0;
    if (fabs(off) > self->reach) self->far = off;
    self->reach = fmax(fabs(learned), self->reach * (1 - 1.0 / MOST));
    if (learned == off) {
        self->least = fmin(self->least, reward);
        self->most = fmax(self->most, reward);
    } else {
        reward = self->mean + learned;
    }
    self->count++;
    double share = 1 / (double)(self->count < MOST ? self->count : MOST);
    self->mean += share * learned;
    self->variance += share * (learned * (reward - self->mean) - self->variance);
    self->widest = fmax(self->variance, self->widest + share / SLOWER * (self->variance - self->widest));
    return reward;
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
    double *sums[] = {&self->mean, &self->variance, &self->least, &self->widest, &self->most, &self->reach, &self->far};
    const bool kept[] = {true, true, true, true, self->by_range, a->version >= 11, a->version >= 11};
    bool sound = true;
    archive_u64(a, &self->count);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        if (kept[i]) archive_bytes(a, sums[i], sizeof *sums[i]);
        sound &= isfinite(*sums[i]);
    }
    /* Models before version 11 do not store the reach: most rewards were within two spreads. */
    if (a->reading && a->version < 11) self->reach = 2 * reward_units_spread(self);
    bool in_order = !self->by_range || self->most >= self->least;
    if (a->reading && !a->status &&
        !(sound && in_order && self->variance >= 0 && self->widest >= 0 && self->reach >= 0))
        archive_fail(a, EE_BAD_MODEL, "model: invalid reward unit");
}
