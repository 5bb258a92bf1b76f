#include "arm_length.h"

#include <math.h>

/* A smaller length carries no information. */
static const double SMALLEST_LENGTH = 1e-6;
static const double UNUSUAL = 8;
enum { UNUSUAL_IN_A_ROW = 16 };

static bool differ(double a, double b)
{
    return a > UNUSUAL * b || b > UNUSUAL * a;
}

static double divide_unusual(arm_length *self, double mean)
{
    if (self->unusual && differ(mean, self->sum / self->unusual)) self->unusual = 0;
    self->sum = self->unusual++ ? self->sum + mean : mean;
    if (self->unusual < UNUSUAL_IN_A_ROW) return mean;
    *self = (arm_length){.value = self->sum / self->unusual, .rounds = LENGTH_SETTLED};
    return self->value;
}

double arm_length_divide(arm_length *self, double mean)
{
    if (!(mean > SMALLEST_LENGTH) || !arm_length_compares(self)) return self->value;
    self->rounds++;
    if (self->value == 0) self->value = mean;
    if (differ(mean, self->value)) return divide_unusual(self, mean);
    self->unusual = 0;
    self->sum = 0;
    return self->value;
}

bool arm_length_is_one(double length)
{
    return length == 0 || (length > SMALLEST_LENGTH && isfinite(length));
}

static bool is_sound(const arm_length *self)
{
    return arm_length_is_one(self->value) && self->sum >= 0 && isfinite(self->sum) && self->rounds <= LENGTH_SETTLED &&
           self->unusual < UNUSUAL_IN_A_ROW;
}

void arm_length_archive(arm_length *self, archive *a)
{
    archive_bytes(a, &self->value, sizeof self->value);
    if (a->version >= 11) {
        archive_bytes(a, &self->sum, sizeof self->sum);
        archive_u32s(a, &self->rounds, 1);
        archive_u32s(a, &self->unusual, 1);
    } else {
        *self = (arm_length){.value = self->value, .rounds = self->value > 0 ? LENGTH_SETTLED : 0};
    }
    if (a->reading && !a->status && !is_sound(self)) archive_fail(a, EE_BAD_MODEL, "model: invalid arm length");
}
