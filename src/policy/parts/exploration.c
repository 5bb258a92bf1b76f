#include "exploration.h"

#include <math.h>

const option exploration_option_table[EXPLORATION_OPTIONS] = {
    {"exploration", OPTION_CHOICE, offsetof(exploration_options, kind), "ridge", 0, 0, "network|ridge",
     "f2: a network; or solved exactly, by ridge regression on f1's gradient at theta_0 by its last weights"},
    {"label", OPTION_CHOICE, offsetof(exploration_options, label), "gain", 0, 0, "gain|abs|relu",
     "what f2 learns: r - f1, |r - f1|, max(r - f1, 0)"},
};

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
