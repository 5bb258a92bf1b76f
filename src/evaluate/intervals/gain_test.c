#include "gain_test.h"

#include <math.h>

/* The first is without q. With 64 nothing is clipped for an action with probability 0.01 and a mean reward of 0.5. */
static const double slacks[GAIN_BETS] = {1.0, 4.0, 16.0, 64.0};
static const double shares[GAIN_BETS] = {1.0 / 2, 1.0 / 6, 1.0 / 6, 1.0 / 6};

gain_test gain_test_start(value_range range)
{
    return (gain_test){.range = range};
}

static double to_unit(value_range range, double reward)
{
    return fmin(1.0, fmax(0.0, (reward - range.reward_low) / (range.reward_high - range.reward_low)));
}

static void bet(gain_test *self, size_t place, double x, double copies)
{
    double k = slacks[place];
    one_sided_add(&self->bets[place], (x + k) / (1.0 + k), copies);
}

static void count_reward(gain_test *self, double r, double copies)
{
    self->count += copies;
    self->sum += copies * r;
}

/* d - w q(a) */
static double correction(const scored_round *round, double weight, double c, double k)
{
    double direct = 0.0, taken = 0.0;
    for (size_t b = 0; b < round->count; b++) {
        double pi = round->pi[b], p = round->p[b], q = c * pi > k * p ? k * p / pi : c;
        direct += p > 0.0 ? pi * q : 0.0; /* what the log never takes is unknown */
        if (b == round->action) taken = q;
    }
    return direct - weight * taken;
}

void gain_test_add(gain_test *self, const scored_round *round, double weight)
{
    double r = to_unit(self->range, round->reward), plain = (weight - 1.0) * r;
    double c = fmin(1.0, (self->sum + 0.5) / (self->count + 1.0));
    bet(self, 0, plain, round->copies);
    for (size_t i = 1; i < GAIN_BETS; i++)
        bet(self, i, plain + (round->p ? correction(round, weight, c, slacks[i]) : 0.0), round->copies);
    count_reward(self, r, round->copies);
}

void gain_test_add_slots(gain_test *self, const double *weights, const double *rewards, size_t count, double copies)
{
    double x = 0.0;
    for (size_t k = 0; k < count; k++) {
        double r = to_unit(self->range, rewards[k]);
        x += (weights[k] - 1.0) * r;
        count_reward(self, r, copies);
    }
    for (size_t i = 0; i < GAIN_BETS; i++) bet(self, i, x / (double)count, copies);
}

double gain_test_log_wealth(const gain_test *self)
{
    double logs[GAIN_BETS], most = -INFINITY, sum = 0.0;
    for (size_t i = 0; i < GAIN_BETS; i++) {
        logs[i] = one_sided_log_wealth(&self->bets[i], slacks[i] / (1.0 + slacks[i]));
        most = fmax(most, logs[i]);
    }
    if (isinf(most)) return -INFINITY;
    for (size_t i = 0; i < GAIN_BETS; i++) sum += shares[i] * exp(logs[i] - most);
    return most + log(sum);
}

bool gain_test_passes(const gain_test *self, double alpha)
{
    return gain_test_log_wealth(self) > -log(alpha);
}
