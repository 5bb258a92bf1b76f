#include "slot_sums.h"

#include <math.h>

ee_status slot_sums_add(slot_sums *self, slot_weighting by, const double *ratios, const double *rewards, size_t shown,
                        double copies, ee_error *error)
{
    ee_status status = memory_grow(self->owner, &self->slots, &self->capacity, shown, sizeof *self->slots, error);
    if (status) return status;
    if (shown > self->count) self->count = shown;
    double product = 1.0, earned = 0.0;
    for (size_t k = 0; by == SLOT_WHOLE && k < shown; k++) product *= ratios[k];
    for (size_t k = 0; k < shown; k++) {
        if (by == SLOT_CASCADE) product *= ratios[k];
        double weight = by == SLOT_OWN ? ratios[k] : product;
        rounds_sums_add(&self->slots[k], weight, rewards[k], 0.0, 0.0, copies);
        earned += weight * rewards[k];
    }
    rounds_sums_add(&self->rounds, 1.0, earned, 0.0, 0.0, copies);
    return EE_OK;
}

double slot_sums_shown(const slot_sums *self, size_t slot)
{
    return self->slots[slot].count / self->rounds.count;
}

interval slot_sums_shown_interval(const slot_sums *self, size_t slot, double alpha)
{
    return interval_of_proportion(self->slots[slot].count, self->rounds.count, alpha);
}

double slot_sums_value(const slot_sums *self, estimator_kind kind)
{
    double value = 0.0;
    for (size_t k = 0; k < self->count; k++)
        value += slot_sums_shown(self, k) * rounds_sums_value(&self->slots[k], kind);
    return self->count ? value : NAN;
}

interval slot_sums_interval(const slot_sums *self, size_t slot, value_range range, double alpha)
{
    interval shown = slot_sums_shown_interval(self, slot, 0.5 * alpha);
    interval reward =
        interval_of_sums(INTERVAL_CRESSIE_READ, ESTIMATOR_CRESSIE_READ, &self->slots[slot], range, 0.5 * alpha);
    return (interval){reward.low * (reward.low < 0.0 ? shown.high : shown.low),
                      reward.high * (reward.high < 0.0 ? shown.low : shown.high)};
}

rounds_sums slot_sums_together(const slot_sums *self)
{
    rounds_sums together = {0};
    for (size_t k = 0; k < self->count; k++) rounds_sums_merge(&together, &self->slots[k]);
    return together;
}

double slot_pseudo_inverse(const double *ratios, size_t count)
{
    double weight = 1.0 - (double)count;
    for (size_t k = 0; k < count; k++) weight += ratios[k];
    return weight;
}
