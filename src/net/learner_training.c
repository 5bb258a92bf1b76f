/* How a learner trains: batches, steps, the order of the samples, and trainings that can be undone. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "learner.h"
#include "math/float_mode.h"

/* ---- losses ---- */

double learner_loss_value(learner_loss loss, float output, float target)
{
    double f = output, y = target;
    switch (loss) {
    case LOSS_SQUARED:
        return (f - y) * (f - y);
    case LOSS_HALF:
        return (f - y) * (f - y) / 2;
    case LOSS_CROSS_ENTROPY:
        /* log(1 + exp(f)) - y f, without overflow at either end */
        return (f > 0 ? f : 0) - y * f + log1p(exp(-fabs(f)));
    }
    return 0;
}

float learner_loss_derivative(learner_loss loss, float output, float target)
{
    switch (loss) {
    case LOSS_SQUARED:
        return 2 * (output - target);
    case LOSS_HALF:
        return output - target;
    case LOSS_CROSS_ENTROPY:
        return (float)(1 / (1 + exp(-(double)output))) - target;
    }
    return 0;
}

/* ---- training ---- */

/* Runs one sample forward and backward, its deltas multiplied by scale. Returns its loss. */
static double visit(learner *self, vector x, float target, const float *theta, float scale)
{
    learner_loss loss = (learner_loss)self->options.loss.pick;
    float output = network_forward(&self->networks[0], theta, x, self->activations);
    float derivative = learner_loss_derivative(loss, output, target);
    network_backward(&self->networks[0], theta, x, self->activations, scale * derivative, self->deltas);
    return learner_loss_value(loss, output, target);
}

/* The weights that a step moves: theta or, with `average`, the weights that theta is the average of. */
static float *moving_of(learner *self, float *theta)
{
    return self->moving ? self->moving : theta;
}

/* The share of the latest step in the average. At first the average covers the last tenth of all steps, so that the
 * initial weights, which are far off, are forgotten soon. */
static float next_share(learner *self)
{
    double early = 1 / (1 + (double)++self->averaged / 10);
    return (float)fmax(early, 1 - exp2(-1 / (double)self->options.average));
}

static void add_to_average(const learner *self, float *theta, span part, float share)
{
    const float *moving = self->moving + part.start;
    float *mean = theta + part.start;
    for (size_t i = 0; i < part.count; i++) mean[i] += share * (moving[i] - mean[i]);
}

double learner_step(learner *self, vector x, float target, float *theta)
{
    gradient_factor factors[NETWORK_LAYERS];
    double loss = visit(self, x, target, moving_of(self, theta), optimizer_scale(&self->optimizer));
    size_t count = network_factors(&self->networks[0], x, self->activations, self->deltas, self->gradient, factors);
    optimizer_step(&self->optimizer, moving_of(self, theta), factors, count);
    memset(self->gradient, 0, network_formed_count(&self->networks[0]) * sizeof *self->gradient);
    span all = {0, self->parameter_count};
    self->trained = self->time;
    if (self->moving) add_to_average(self, theta, all, next_share(self));
    return loss;
}

/* ---- batches ---- */

static float cut_target(const target_units *units, float target)
{
    return target < units->low ? units->low : target > units->high ? units->high : target;
}

float learner_target(const learner *self, float target)
{
    const target_units *units = &self->units;
    return cut_target(units, (target - units->centre) * units->scale);
}

static float target_of(const learner *self, size_t sample)
{
    return learner_target(self, history_target(&self->history, sample));
}

static void add_to_batch(learner *self, size_t sample, float *targets)
{
    vector input = history_input(&self->history, sample);
    targets[self->batches[0].count] = target_of(self, sample);
    for (size_t k = 0; k < self->network_count; k++) {
        batch_add(&self->batches[k], input);
        if (self->members[k]) members_add(self->members[k], input, history_number(&self->history, sample));
    }
}

/* Sets the output deltas of a sample, times scale. Heads that were not chosen learn the lowest reward. Returns the loss
 * of the chosen one. */
static double set_deltas(learner *self, batch *passed, size_t sample, float target, float scale)
{
    learner_loss loss = (learner_loss)self->options.loss.pick;
    const float *outputs = batch_outputs(passed, sample);
    float *deltas = batch_output_deltas(passed, sample);
    float least = self->units.least, others = target != least ? scale * (float)self->options.others : 0;
    size_t played = network_head(passed->network, passed->inputs[sample]);
    for (size_t head = 0; head < passed->network->heads; head++)
        deltas[head] = others != 0 ? others * learner_loss_derivative(loss, outputs[head], least) : 0;
    deltas[played] = scale * learner_loss_derivative(loss, outputs[played], target);
    return learner_loss_value(loss, outputs[played], target);
}

/* The same for the members of one head. priors and noise may be NULL. Returns the mean of their losses. */
static double set_members(const learner *self, const float *outputs, const float *priors, const float *noise,
                          float target, float scale, float *deltas)
{
    learner_loss loss = (learner_loss)self->options.loss.pick;
    size_t count = self->networks[0].members;
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        float output = outputs[k] + (priors ? priors[k] : 0);
        float aim = noise ? cut_target(&self->units, target + noise[k]) : target;
        deltas[k] = scale / (float)count * learner_loss_derivative(loss, output, aim);
        sum += learner_loss_value(loss, output, aim);
    }
    return sum / (double)count;
}

/* The same for the members of all heads. */
static double set_member_deltas(learner *self, batch *passed, members *ensemble, size_t sample, float target,
                                float scale)
{
    const float *outputs = batch_outputs(passed, sample);
    float *deltas = batch_output_deltas(passed, sample), least = self->units.least;
    float others = target != least ? scale * (float)self->options.others : 0;
    size_t heads = passed->network->heads, count = passed->network->members;
    size_t played = network_head(passed->network, passed->inputs[sample]);
    memset(deltas, 0, heads * count * sizeof *deltas);
    for (size_t head = 0; others != 0 && head < heads; head++)
        set_members(self, outputs + head * count, members_priors_of(ensemble, sample, head), NULL, least, others,
                    deltas + head * count);
    return set_members(self, outputs + played * count, members_priors_of(ensemble, sample, played),
                       members_noise_of(ensemble, sample), target, scale, deltas + played * count);
}

/* Runs the batch forward and backward through a network, each gradient multiplied by scale. Returns the sum of the
 * losses. */
static double pass_network(learner *self, size_t k, const float *targets, const float *theta, float scale)
{
    batch *passed = &self->batches[k];
    members *ensemble = self->members[k];
    double sum = 0;
    batch_forward(passed, theta + self->starts[k]);
    if (ensemble) members_forward(ensemble);
    for (size_t s = 0; s < passed->count; s++)
        sum += ensemble ? set_member_deltas(self, passed, ensemble, s, targets[s], scale)
                        : set_deltas(self, passed, s, targets[s], scale);
    if (ensemble) members_drop(ensemble);
    batch_backward(passed, theta + self->starts[k], self->gradient + self->starts[k]);
    return sum;
}

/* The same for all networks. share is the weight of each gradient in the step. */
static double pass_batch(learner *self, const float *targets, const float *theta, float share)
{
    float scale = share * optimizer_scale(&self->optimizer);
    double sum = 0;
    for (size_t k = 0; k < self->network_count; k++) sum += pass_network(self, k, targets, theta, scale);
    return sum;
}

/* Everything a step does to a part of theta, while that part is in the cache. */
static void step_part(learner *self, float *theta, const adam_step *step, float share, span part)
{
    enum { PIECE = 2048 };
    for (size_t end = part.start + part.count; part.start < end; part.start += part.count) {
        part.count = end - part.start < PIECE ? end - part.start : PIECE;
        optimizer_step_part(&self->optimizer, step, moving_of(self, theta), self->gradient, part);
        if (self->moving) add_to_average(self, theta, part, share);
        memset(self->gradient + part.start, 0, part.count * sizeof *self->gradient);
    }
}

/* The parameters that members do not share: the last layer. Empty without members or without shared layers. */
static span unshared_part(const learner *self, size_t k)
{
    const network *net = &self->networks[k];
    const layer *last = &net->layers[net->layer_count - 1];
    if (!self->members[k] || net->layer_count == 1) return (span){self->starts[k] + net->parameter_count, 0};
    return (span){self->starts[k] + last->parameters, last->parameter_count};
}

/* Steps the parameters of one network. */
static void end_network(learner *self, size_t k, float *theta, adam_step step, float share)
{
    const network *net = &self->networks[k];
    const batch *passed = &self->batches[k];
    size_t start = self->starts[k], end = start + net->parameter_count, width = net->layers[0].out.width;
    size_t rows = self->leaves_rows ? passed->row_count : self->steps_rows ? net->block : 0;
    for (size_t r = 0; r < rows; r++) {
        size_t row = self->leaves_rows ? passed->rows[r] : r;
        step_part(self, theta, &step, share, (span){start + row * width, width});
    }
    if (self->leaves_rows || self->steps_rows) start += net->block * width;
    span last = unshared_part(self, k);
    float usual = step.rate;
    step_part(self, theta, &step, share, (span){start, last.start - start});
    if (self->members[k]) step.rate *= (float)self->options.members.rate;
    step_part(self, theta, &step, share, last);
    step.rate = usual;
    step_part(self, theta, &step, share, (span){last.start + last.count, end - last.start - last.count});
}

static void end_batch(learner *self, float *theta)
{
    const batch *first = &self->batches[0];
    self->trained = self->time;
    adam_step step = optimizer_begin(&self->optimizer);
    float share = self->moving ? next_share(self) : 0;
    for (size_t r = 0; self->row_times && r < first->row_count; r++) self->row_times[first->rows[r]] = self->time;
    for (size_t k = 0; k < self->network_count; k++) {
        end_network(self, k, theta, step, share);
        batch_clear_rows(&self->batches[k]);
    }
}

static void descend(learner *self, size_t samples, float *theta)
{
    memcpy(theta, self->initial, self->parameter_count * sizeof *theta);
    if (self->moving) memcpy(self->moving, self->initial, self->parameter_count * sizeof *theta);
    self->averaged = 0;
    self->trained = self->descended = self->time;
    optimizer_reset(&self->optimizer);
    float share = self->options.loss.pick == LOSS_CROSS_ENTROPY ? 1 / (float)samples : 1;
    for (int64_t step = 0; samples && step < self->options.steps; step++) {
        for (size_t i = 0; i < samples;) {
            float targets[BATCH_SAMPLES];
            for (; self->batches[0].count < BATCH_SAMPLES && i < samples; i++) add_to_batch(self, i, targets);
            pass_batch(self, targets, moving_of(self, theta), share);
        }
        end_batch(self, theta);
    }
}

/* Extends the permutation to the history. New samples come last; the shuffle then moves them anywhere. */
static void refresh_order(learner *self)
{
    for (; self->order_count < self->history.count; self->order_count++)
        self->order[self->order_count] = (uint32_t)self->order_count;
}

/* Whether sample number `turn` is drawn from the latest samples. */
static bool is_recent(const learner *self, uint64_t turn)
{
    double share = self->options.recent;
    return floor((double)(turn + 1) * share) > floor((double)turn * share);
}

/* Draws any sample, or one of the latest. In a ring they are before the position of the next one. */
static size_t draw_sample(learner *self, uint64_t turn)
{
    enum { RECENT = 1000 };
    size_t count = self->history.count;
    if (count <= RECENT || !is_recent(self, turn)) return (size_t)random_below(&self->sampling, count);
    size_t ago = (size_t)random_below(&self->sampling, RECENT), newest = self->history.newest;
    return newest >= ago ? newest - ago : newest + count - ago;
}

/* Picks sample number `turn` of a training. Shuffles only as far as needed, one step of Fisher-Yates for each sample of
 * the first pass, so a short training is cheap on a long history. */
static size_t pick_sample(learner *self, uint64_t turn)
{
    size_t count = self->history.count;
    if (self->options.order.pick == ORDER_RANDOM) {
        if (turn == 0 && self->history.newest < count) return self->history.newest;
        return draw_sample(self, turn);
    }
    size_t place = (size_t)(turn % count);
    if (turn < count) {
        size_t other = place + (size_t)random_below(&self->sampling, count - place);
        uint32_t swapped = self->order[place];
        self->order[place] = self->order[other];
        self->order[other] = swapped;
    }
    return self->order[place];
}

/* Returns sample number `turn` of a training of `end` samples, and prefetches the next one. */
static size_t take_sample(learner *self, uint64_t turn, uint64_t end)
{
    size_t sample = self->next;
    if (turn + 1 == end) return sample;
    self->next = pick_sample(self, turn + 1);
    history_prefetch(&self->history, self->next);
    return sample;
}

/* Computes the gradient of the batch that begins with sample number `turn`. Returns the sum of the losses. */
static double pass_samples(learner *self, uint64_t turn, uint64_t end, const float *theta)
{
    size_t size = (size_t)self->options.batch;
    double loss = 0;
    for (size_t i = 0; i < size;) {
        float targets[BATCH_SAMPLES];
        for (; self->batches[0].count < BATCH_SAMPLES && i < size; i++)
            add_to_batch(self, take_sample(self, turn + i, end), targets);
        loss += pass_batch(self, targets, theta, 1 / (float)size);
    }
    return loss;
}

static double train_batch(learner *self, uint64_t turn, uint64_t end, float *theta)
{
    if (self->options.batch == 1 && self->steps_by_sample) {
        size_t sample = take_sample(self, turn, end);
        return learner_step(self, history_input(&self->history, sample), target_of(self, sample), theta);
    }
    double loss = pass_samples(self, turn, end, moving_of(self, theta));
    end_batch(self, theta);
    return loss;
}

static void train(learner *self, float *theta)
{
    size_t count = self->history.count;
    if (!self->options.keep_moments) optimizer_reset(&self->optimizer);
    if (self->options.order.pick == ORDER_SHUFFLE) refresh_order(self);
    uint64_t size = (uint64_t)self->options.batch, end = (uint64_t)self->options.steps * size, pass_end = count;
    double pass_loss = 0;
    self->next = pick_sample(self, 0);
    for (uint64_t turn = 0; turn < end;) {
        pass_loss += train_batch(self, turn, end, theta);
        turn += size;
        if (turn < pass_end) continue;
        double mean = pass_loss / (double)(turn + count - pass_end) / (double)self->network_count;
        if (self->options.stop_loss > 0 && mean <= self->options.stop_loss) return;
        pass_end = turn + count;
        pass_loss = 0;
    }
}

/* ---- trainings that can be undone ---- */

/* A larger parameter means that training has diverged. Two layers of parameters this large still give finite scores. */
static const float LARGEST_PARAMETER = 1e9f;
/* The kernel `adam` squares a gradient. */
static const float LARGEST_GRADIENT = 1e18f;
/* If the loss of every sample is below this, no gradient comes near that limit. */
static const double CALM_LOSS = 1e6;

/* Lists the arrays that a training changes; NULL for those that this learner does not have. */
enum { CHANGED = 4 };
static void changed_by_training(learner *self, float *theta, float *arrays[CHANGED])
{
    arrays[0] = theta;
    arrays[1] = self->moving;
    arrays[2] = self->optimizer.first;
    arrays[3] = self->optimizer.second;
}

/* Saves or restores the arrays. */
static void copy_arrays(learner *self, float *theta, bool back)
{
    size_t count = self->parameter_count;
    float *arrays[CHANGED], *saved = self->before.values;
    changed_by_training(self, theta, arrays);
    for (size_t i = 0; i < CHANGED; i++) {
        if (!arrays[i]) continue;
        memcpy(back ? arrays[i] : saved, back ? saved : arrays[i], count * sizeof *saved);
        saved += count;
    }
}

static void save(learner *self, float *theta)
{
    self->prepared = true;
    self->before.sampling = self->sampling;
    if (!self->before.values) return;
    self->before.averaged = self->averaged;
    self->before.steps = self->optimizer.steps;
    self->before.order_count = self->order_count;
    if (self->order) memcpy(self->before.order, self->order, self->order_count * sizeof *self->order);
    copy_arrays(self, theta, false);
}

void learner_abort(learner *self, float *theta)
{
    if (!self->prepared) return;
    self->prepared = false;
    self->sampling = self->before.sampling;
    memset(self->gradient, 0, self->parameter_count * sizeof *self->gradient);
    for (size_t k = 0; k < self->network_count; k++) batch_clear_rows(&self->batches[k]);
    if (!self->before.values) return;
    self->averaged = self->before.averaged;
    self->optimizer.steps = self->before.steps;
    self->order_count = self->before.order_count;
    if (self->order) memcpy(self->order, self->before.order, self->order_count * sizeof *self->order);
    copy_arrays(self, theta, true);
}

/* After a training: undoes it and returns false if it diverged. */
static bool accept_or_abort(learner *self, float *theta)
{
    size_t count = self->parameter_count;
    const float *second = self->optimizer.second;
    if (vector_is_within(theta, count, LARGEST_PARAMETER) &&
        (!self->moving || vector_is_within(self->moving, count, LARGEST_PARAMETER)) &&
        (!second || vector_is_within(second, count, FLT_MAX)))
        return true;
    learner_abort(self, theta);
    return false;
}

bool learner_prepare_descent(learner *self, size_t samples, float *theta)
{
    save(self, theta);
    descend(self, samples, theta);
    return accept_or_abort(self, theta);
}

bool learner_prepare(learner *self, float *theta)
{
    size_t count = self->history.count;
    if (self->options.training.pick == TRAINING_GD) return learner_prepare_descent(self, count, theta);
    save(self, theta);
    if (!count) return true;
    if (!self->is_one_step) {
        train(self, theta);
        return accept_or_abort(self, theta);
    }
    self->next = pick_sample(self, 0);
    float_flags_clear();
    double loss = pass_samples(self, 0, (uint64_t)self->options.batch, moving_of(self, theta));
    bool calm = !float_flags_raised() && loss <= CALM_LOSS * (double)self->options.batch;
    if (calm || vector_is_within(self->gradient, self->parameter_count, LARGEST_GRADIENT)) return true;
    learner_abort(self, theta);
    return false;
}

void learner_commit(learner *self, float *theta)
{
    if (self->prepared && self->is_one_step && self->history.count) end_batch(self, theta);
    self->prepared = false;
}
