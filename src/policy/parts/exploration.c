#include "exploration.h"

#include <math.h>

static const option rows[] = {
    OPTION_ROW_CHOICE(exploration_options, kind, "exploration", "ridge", "network|ridge",
                      "f2. network: a network; ridge: an exact ridge regression on f1's gradient at theta_0 with "
                      "respect to its last weights"),
    OPTION_ROW_CHOICE(exploration_options, label, "label", "gain", "gain|abs|relu",
                      "what f2 learns. gain: r - f1; abs: |r - f1|; relu: max(r - f1, 0)"),
};
const option_table exploration_option_table = OPTION_TABLE(rows);

float exploration_label(option_choice label, float gain)
{
    switch ((label_kind)label.pick) {
    case LABEL_GAIN:
        break;
    case LABEL_ABS:
        return fabsf(gain);
    case LABEL_RELU:
        return gain > 0 ? gain : 0;
    }
    return gain;
}

ee_status exploration_create(const exploration_setup *setup, exploration **out, ee_error *error)
{
    static const exploration_class *const classes[] = {
        [EXPLORATION_NETWORK] = &network_exploration_class,
        [EXPLORATION_RIDGE] = &regression_exploration_class,
    };
    return classes[setup->options->kind.pick]->create(setup, out, error);
}

size_t exploration_kept_count(const exploration *self, uint64_t round, size_t arms)
{
    return self->class->kept_count ? self->class->kept_count(self, round, arms) : 0;
}

ee_status exploration_reserve(exploration *self, const observation *o, ee_error *error)
{
    return self->class->reserve ? self->class->reserve(self, o, error) : EE_OK;
}

void exploration_take(exploration *self, const training_sample *s, const float *theta2)
{
    if (self->class->take) self->class->take(self, s, theta2);
}

bool exploration_prepare(exploration *self, uint64_t rewards, float *theta2)
{
    return !self->class->prepare || self->class->prepare(self, rewards, theta2);
}

void exploration_undo(exploration *self, float *theta2)
{
    if (self->class->undo) self->class->undo(self, theta2);
}

void exploration_await(exploration *self, const observation *o, double spread, const float *theta1, float *theta2)
{
    if (self->class->await) self->class->await(self, o, spread, theta1, theta2);
}

void exploration_observe(exploration *self, const training_sample *s, const float *theta1, float *theta2)
{
    if (self->class->observe) self->class->observe(self, s, theta1, theta2);
}
