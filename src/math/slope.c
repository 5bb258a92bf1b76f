#include "slope.h"

#include <math.h>

void slope_add(slope *self, double x, double y, double span)
{
    double keep = 1 - 1 / span;
    slope sums = {keep * self->count + 1, keep * self->x + x, keep * self->y + y, keep * self->xx + x * x,
                  keep * self->xy + x * y};
    if (isfinite(sums.xx) && isfinite(sums.xy)) *self = sums;
}

double slope_weight(const slope *self, double doubt)
{
    if (self->count <= 0) return 0;
    double covariance = self->xy - self->x * self->y / self->count;
    double variance = fmax(self->xx - self->x * self->x / self->count, 0) + doubt * doubt;
    return covariance > 0 && variance > 0 ? fmin(covariance / variance, 1) : 0;
}

void slope_archive(slope *self, archive *a)
{
    double *sums[] = {&self->count, &self->x, &self->y, &self->xx, &self->xy};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        archive_bytes(a, sums[i], sizeof *sums[i]);
        if (a->reading && !a->status && !isfinite(*sums[i]))
            archive_fail(a, EE_BAD_MODEL, "model: a sum of least squares is not a finite number");
    }
}
