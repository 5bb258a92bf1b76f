#include "members.h"

#include <math.h>

ee_status members_create(members *self, memory *owner, const member_options *options, const network_options *learning,
                         size_t input, size_t nonzeros, uint64_t seed, ee_error *error)
{
    random_stream init = random_named(seed, "priors.init"), noise = random_named(seed, "noise");
    network_options priors = *learning;
    priors.width = options->prior_width;
    *self = (members){.options = *options, .seed = random_bits(&noise)};
    size_t stored = learning->room ? learning->room->capacity : input;
    ee_status status = network_create(&self->network, "f1", &priors, stored, error);
    if (!status && learning->room)
        status = network_store_columns(&self->network, learning->room, input, INIT_PAPER, init, error);
    size_t parameters = self->network.parameter_count;
    if (!status) status = memory_create(owner, &self->theta, parameters, sizeof *self->theta, error);
    if (!status) status = memory_create(owner, &self->priors, (size_t)options->count, sizeof *self->priors, error);
    if (!status) status = memory_create(owner, &self->noise, (size_t)options->count, sizeof *self->noise, error);
    if (!status) status = batch_create(&self->batch, owner, &self->network, nonzeros, error);
    if (status) return status;
    network_initialize(&self->network, INIT_PAPER, &init, self->theta);
    const layer *last = &self->network.layers[self->network.layer_count - 1];
    float scale = (float)sqrt((double)shape_size(last->in)); /* from N(0, 1/in) to N(0, 1) */
    for (size_t i = 0; i < last->weight_count; i++) self->theta[last->parameters + i] *= scale;
    return EE_OK;
}

void members_start_column(members *self, size_t column, size_t place)
{
    size_t out = self->network.layers[0].out.width;
    initial_rows_draw(self->network.initial, place, self->theta + column * out, out);
}

/* values (count) = factor (values - their mean) */
static void centre(float *values, size_t count, double factor)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (double)values[i];
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) values[i] = (float)(factor * ((double)values[i] - mean));
}

void members_priors(const members *self, const float *outputs, float *priors)
{
    size_t count = self->network.members;
    for (size_t i = 0; i < count; i++) priors[i] = outputs[i];
    centre(priors, count, self->options.prior);
}

/* ---- learning ---- */

void members_add(members *self, vector input, uint32_t number)
{
    self->numbers[self->batch.count] = number;
    batch_add(&self->batch, input);
}

void members_forward(members *self)
{
    if (self->options.prior > 0) batch_forward(&self->batch, self->theta);
}

void members_drop(members *self)
{
    batch_drop(&self->batch);
}

const float *members_priors_of(members *self, size_t sample, size_t head)
{
    if (!(self->options.prior > 0)) return NULL;
    members_priors(self, batch_outputs(&self->batch, sample) + head * self->network.members, self->priors);
    return self->priors;
}

/* splitmix64: scramble of key, key + STEP, key + 2 STEP, ... are random numbers. */
static const uint64_t STEP = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Mean 0 and variance 1, the same for the same key: the sum of four uniform numbers is nearly normal. */
static float noise_of(uint64_t key)
{
    uint64_t bits = scramble(key);
    uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    return ((float)sum - 131070.0f) * (float)(1.7320508075688772 / 65536);
}

const float *members_noise_of(members *self, size_t sample)
{
    if (!(self->options.noise > 0)) return NULL;
    size_t count = self->network.members;
    uint64_t key = scramble(self->seed + (uint64_t)self->numbers[sample] * STEP);
    for (size_t i = 0; i < count; i++) self->noise[i] = noise_of(key + i * STEP);
    centre(self->noise, count, self->options.noise);
    return self->noise;
}
