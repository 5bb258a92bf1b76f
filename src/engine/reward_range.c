#include "reward_range.h"

#include <math.h>
#include <string.h>

#include "arms.h"
#include "base/decimal.h"

enum { OUTSIDE_CLIP = 1 };

/* "0:1" -> 0 and 1 */
static bool read_ends(const char *text, double *low, double *high)
{
    const char *end = text + strlen(text), *colon = strchr(text, ':');
    if (!colon) return false;
    decimal_end first = decimal_read(text, colon, low), second = decimal_read(colon + 1, end, high);
    return !first.fault && first.at == colon && !second.fault && second.at == end;
}

ee_status reward_range_read(reward_range *self, const common_options *options, ee_error *error)
{
    const char *text = options->rewards;
    *self = (reward_range){.low = -LARGEST_INPUT, .high = LARGEST_INPUT};
    if (strcmp(text, "none") == 0) return EE_OK;
    self->stated = true;
    self->clips = options->outside.pick == OUTSIDE_CLIP;
    bool sound = read_ends(text, &self->low, &self->high) && self->low < self->high;
    if (!sound || self->low < -LARGEST_INPUT || self->high > LARGEST_INPUT)
        return status_fail(error, EE_BAD_OPTION,
                           "options: rewards must be none or LOW:HIGH with LOW below HIGH, both -1e9 to 1e9, got '%s'",
                           text);
    double expected = options->default_reward;
    if (isnan(expected) || (expected >= self->low && expected <= self->high)) return EE_OK;
    return status_fail(error, EE_BAD_OPTION, "options: default_reward must be within rewards=%s, got %g", text,
                       expected);
}

ee_status reward_range_check(const reward_range *self, double reward, ee_error *error)
{
    if (!(fabs(reward) <= LARGEST_INPUT))
        return status_fail(error, EE_BAD_INPUT, "learn: the reward must be -1e9 to 1e9, got %g", reward);
    if (self->clips || (reward >= self->low && reward <= self->high)) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "learn: the reward must be %g to %g (option rewards), got %g", self->low,
                       self->high, reward);
}
