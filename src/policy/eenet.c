/* EE-Net: Ban, Yan, Banerjee, He, "EE-Net: Exploitation-Exploration Neural Networks in Contextual Bandits", ICLR 2022.
 *
 * f1 learns the reward of an arm. f2 sees the gradient of f1 at the arm and learns r - f1, how wrong f1 is and in which
 * direction: the potential gain. f3 combines the two into the score that the arms are ranked by.
 *
 * f2 is a network that sees the gradient as it is at the decision; or, exploration=ridge, it is solved exactly
 * (gain_regression.h) and sees the gradient at theta_0. A gain is told by the f1 of its time. A ridge f2 has some past
 * gains told anew at each training, by f1 as it is then, so that f2 makes up for what f1 lacks now.
 *
 * Parameters: theta1, theta2, theta3, and what gradient_features fits.
 * Kept of a decision: phi of the played arm; its gradient's point (lle); phi of every other arm, as long as they may
 * become extra samples. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "eenet_options.h"
#include "gain_regression.h"

typedef struct eenet {
    policy base;
    eenet_options options;
    learner f1, f2, f3; /* f2: unless it is solved */
    gradient_features features;
    float *theta1, *theta2, *theta3, *fitted; /* where they lie in the parameters */

    /* exploration=ridge */
    gain_regression gains;
    float *told; /* (told_capacity) what f1 said when the gain of this sample of its history was told last */
    size_t told_capacity;
    float *room; /* (lay_out of one arm) */
    random_stream refreshing;

    /* keep=all: samples that f2 had after each reward. */
    size_t *marks;
    size_t mark_capacity;

    /* keep=reservoir: (theta1, theta2) and theta3 of past trainings, and the ones that training goes on from. */
    float *latest, *pairs, *thirds;
    size_t stored_pairs, stored_thirds;
    uint64_t trainings;
    random_stream drawing;

    /* features=lle: the last points and labels of f2. */
    lle embedding;
    float *points, *labels, *remapped;
    double *gram, *coordinates;
    uint64_t fitted_at; /* rewards at the last fit */
} eenet;

extern const policy_class eenet_class;

/* ---- making ---- */

static void free_eenet(policy *base)
{
    eenet *self = (eenet *)base;
    learner_destroy(&self->f1);
    learner_destroy(&self->f2);
    learner_destroy(&self->f3);
    gradient_features_destroy(&self->features);
    gain_regression_destroy(&self->gains);
    memory_free(self->told);
    memory_free(self->room);
    lle_destroy(&self->embedding);
    memory_free(self->marks);
    memory_free(self->latest);
    memory_free(self->pairs);
    memory_free(self->thirds);
    memory_free(self->points);
    memory_free(self->labels);
    memory_free(self->remapped);
    memory_free(self->gram);
    memory_free(self->coordinates);
    parameters_destroy(&self->base.parameters);
    memory_free(self);
}

static size_t pair_count(const eenet *self)
{
    size_t second = eenet_solves(&self->options) ? self->features.count : self->f2.network.parameter_count;
    return self->f1.network.parameter_count + second;
}

static size_t third_count(const eenet *self)
{
    return self->f3.network.parameter_count;
}

/* Where things lie in the scratch. */
typedef struct layout {
    size_t activations1, deltas1, formed, features, activations2, activations3;
    size_t phi;    /* (arms, features.count) */
    size_t points; /* (arms, features.point_count) */
    size_t count;  /* floats of all */
} layout;

static layout lay_out(const eenet *self, size_t arms)
{
    layout w;
    w.activations1 = 0;
    w.deltas1 = w.activations1 + self->f1.network.activation_count;
    w.formed = w.deltas1 + self->f1.network.activation_count;
    w.features = w.formed + network_formed_count(&self->f1.network);
    w.activations2 = w.features + self->features.workspace_count;
    w.activations3 = w.activations2 + self->f2.network.activation_count;
    w.phi = w.activations3 + self->f3.network.activation_count;
    w.points = w.phi + arms * self->features.count;
    w.count = w.points + arms * self->features.point_count;
    return w;
}

static ee_status create_reservoir(eenet *self, ee_error *error)
{
    size_t pair = pair_count(self), third = third_count(self), limit = (size_t)self->options.own.keep.number;
    ee_status status = memory_create(&self->latest, pair + third, sizeof(float), error);
    if (!status) status = memory_create(&self->pairs, limit, pair * sizeof(float), error);
    if (!status) status = memory_create(&self->thirds, limit, third * sizeof(float), error);
    return status;
}

static ee_status create_window(eenet *self, ee_error *error)
{
    const gradient_features *f = &self->features;
    ee_status status = lle_create(&self->embedding, f->window, f->neighbors, f->k, error);
    if (!status) status = memory_create(&self->points, f->window * f->point_count, sizeof(float), error);
    if (!status) status = memory_create(&self->labels, f->window, sizeof(float), error);
    if (!status) status = memory_create(&self->remapped, f->k, sizeof(float), error);
    if (!status) status = memory_create(&self->gram, f->window * f->window, sizeof(double), error);
    if (!status) status = memory_create(&self->coordinates, f->window * f->k, sizeof(double), error);
    if (!status) status = learner_reserve(&self->f2, f->window, (vector){.count = f->k}, error);
    return status;
}

/* As much room as f1's history has. */
static ee_status grow_told(eenet *self, ee_error *error)
{
    return memory_grow(&self->told, &self->told_capacity, self->f1.history.capacity, sizeof(float), error);
}

static ee_status create_second(eenet *self, const policy_setup *setup, ee_error *error)
{
    const eenet_options *o = &self->options;
    size_t seen = self->features.count;
    if (!eenet_solves(o))
        return learner_create(&self->f2, "f2", &o->f2, seen, (seen + 1) / 2, setup->seed, setup->most_parameters,
                              error);
    if (seen > GAIN_MOST_FEATURES)
        return status_fail(error, EE_BAD_OPTION,
                           "options: eenet.exploration=ridge takes %d features at most, these are %zu; take "
                           "features=hidden:N or sketch:N",
                           GAIN_MOST_FEATURES, seen);
    self->refreshing = random_named(setup->seed, "refreshing");
    ee_status status = gain_regression_create(&self->gains, seen, o->own.ridge, error);
    if (!status) status = memory_create(&self->room, lay_out(self, 1).count, sizeof(float), error);
    if (!status) status = grow_told(self, error);
    return status;
}

static ee_status create_parts(eenet *self, const policy_setup *setup, ee_error *error)
{
    const eenet_options *o = &self->options;
    size_t nonzeros = (size_t)o->common.nonzeros, most = setup->most_parameters;
    ee_status status = eenet_check(o, error);
    if (!status) status = learner_create(&self->f1, "f1", &o->f1, setup->dim, nonzeros, setup->seed, most, error);
    if (!status) status = gradient_features_create(&self->features, &o->features, &self->f1.network, error);
    if (!status) status = learner_create(&self->f3, "f3", &o->f3, 2, 1, setup->seed, most, error);
    if (!status) status = create_second(self, setup, error);
    size_t count = pair_count(self) + third_count(self) + self->features.parameter_count;
    if (!status) status = policy_set_parameters(&self->base, setup, count, error);
    if (!status && o->own.keep.pick == KEEP_RESERVOIR) status = create_reservoir(self, error);
    if (!status && self->features.point_count) status = create_window(self, error);
    if (!status && o->own.keep.pick == KEEP_ALL)
        status = memory_grow(&self->marks, &self->mark_capacity, self->f1.history.capacity, sizeof(size_t), error);
    return status;
}

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    eenet *self;
    ee_status status = memory_create(&self, 1, sizeof *self, error);
    if (status) return status;
    self->base.class = &eenet_class;
    self->options = *(const eenet_options *)setup->options;
    self->drawing = random_named(setup->seed, "drawing");
    status = create_parts(self, setup, error);
    if (status) {
        free_eenet(&self->base);
        return status;
    }
    self->theta1 = self->base.parameters.values;
    self->theta2 = self->theta1 + self->f1.network.parameter_count;
    self->theta3 = self->theta1 + pair_count(self);
    self->fitted = self->theta3 + third_count(self);
    gradient_features_start(&self->features, setup->seed);
    learner_start(&self->f1, self->theta1);
    if (!eenet_solves(&self->options)) learner_start(&self->f2, self->theta2);
    learner_start(&self->f3, self->theta3);
    if (self->latest) memcpy(self->latest, self->theta1, (pair_count(self) + third_count(self)) * sizeof(float));
    *out = &self->base;
    return EE_OK;
}

/* ---- scoring ---- */

static size_t scratch_count(const policy *base, size_t arms)
{
    return lay_out((const eenet *)base, arms).count;
}

/* The round that is being decided is number round + 1. */
static bool decides_neurally(const own_options *o, uint64_t round)
{
    return o->decision.pick == DECISION_NEURAL ||
           (o->decision.pick == DECISION_HYBRID && round >= (uint64_t)o->hybrid_after);
}

/* phi of an arm, in a room laid out as w, where f1's pass at this theta has been made. */
static void see_gradient(const eenet *self, const float *theta, const float *fitted, vector x, const layout *w,
                         float *room, float *workspace, float *phi)
{
    const network *f1 = &self->f1.network;
    float *activations = room + w->activations1, *deltas = room + w->deltas1;
    gradient_factor factors[NETWORK_LAYERS];
    network_backward(f1, theta, x, activations, 1, deltas);
    network_factors(f1, x, activations, deltas, room + w->formed, factors);
    gradient_features_compute(&self->features, fitted, factors, x, workspace, phi);
}

/* phi of an arm as a solved f2 sees it: at theta_0. */
static void see_start(const eenet *self, vector x, const layout *w, float *room, float *workspace, float *phi)
{
    network_forward(&self->f1.network, self->f1.initial, x, room + w->activations1);
    see_gradient(self, self->f1.initial, NULL, x, w, room, workspace, phi);
}

/* phi and f2 of an arm, after f1's pass over it. */
static float explore(const eenet *self, const float *values, vector x, const layout *w, float *room, float *workspace,
                     float *phi)
{
    const float *theta2 = values + self->f1.network.parameter_count;
    const float *fitted = values + pair_count(self) + third_count(self);
    float offset = (float)self->options.own.label_offset;
    size_t count = self->features.count;
    if (eenet_solves(&self->options)) {
        see_start(self, x, w, room, workspace, phi);
        return (float)self->options.own.prior_gain + self->features.kernels->dot(theta2, phi, count) - offset;
    }
    see_gradient(self, values, fitted, x, w, room, workspace, phi);
    return network_forward(&self->f2.network, theta2, vector_dense(phi, count), room + w->activations2) - offset;
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const eenet *self = (const eenet *)learned->policy;
    const own_options *o = &self->options.own;
    const float *theta1 = learned->values, *theta3 = theta1 + pair_count(self);
    layout w = lay_out(self, arms->count);
    float *values = room->values;
    size_t points = self->features.point_count;
    bool neural = decides_neurally(o, learned->round);
    bool late = o->w2_late_after && learned->round >= (uint64_t)o->w2_late_after;
    float w1 = (float)o->w1, w2 = (float)(late ? o->w2_late : o->w2);
    for (size_t i = 0; i < arms->count; i++) {
        vector x = vector_of_arm(arms, i);
        float *workspace = values + (points ? w.points + i * points : w.features);
        float f1 = network_forward(&self->f1.network, theta1, x, values + w.activations1);
        float f2 = explore(self, theta1, x, &w, values, workspace, values + w.phi + i * self->features.count);
        float f3 = w1 * f1 + w2 * f2;
        float both[2] = {f1, f2};
        if (neural) f3 = network_forward(&self->f3.network, theta3, vector_dense(both, 2), values + w.activations3);
        scores[i] = (ee_score){f1, f2, f3};
    }
}

/* ---- what a decision leaves behind ---- */

static bool keeps_others(const eenet *self, uint64_t round)
{
    return round < (uint64_t)self->options.own.extra_until;
}

static size_t kept_count(const policy *base, uint64_t round, size_t arms)
{
    const eenet *self = (const eenet *)base;
    size_t phis = keeps_others(self, round) ? arms : 1;
    return phis * self->features.count + self->features.point_count;
}

static void keep(const parameters *learned, const ee_arms *arms, size_t arm, const scratch *room, float *kept)
{
    const eenet *self = (const eenet *)learned->policy;
    layout w = lay_out(self, arms->count);
    size_t count = self->features.count, points = self->features.point_count;
    const float *phi = room->values + w.phi;
    memcpy(kept, phi + arm * count, count * sizeof *kept);
    kept += count;
    memcpy(kept, room->values + w.points + arm * points, points * sizeof *kept);
    kept += points;
    if (!keeps_others(self, learned->round)) return;
    memcpy(kept, phi, arm * count * sizeof *kept);
    memcpy(kept + arm * count, phi + (arm + 1) * count, (arms->count - arm - 1) * count * sizeof *kept);
}

static size_t extra_count(const eenet *self, const observation *o)
{
    return (o->kept_count - self->features.point_count) / self->features.count - 1;
}

static ee_status reserve(policy *base, const observation *o, ee_error *error)
{
    eenet *self = (eenet *)base;
    static const float zeros[2] = {0};
    vector phi = vector_dense(o->kept, self->features.count);
    ee_status status = learner_reserve(&self->f1, 1, o->x, error);
    if (!status)
        status = eenet_solves(&self->options) ? grow_told(self, error)
                                              : learner_reserve(&self->f2, 1 + extra_count(self, o), phi, error);
    if (!status) status = learner_reserve(&self->f3, 1, vector_dense(zeros, 2), error);
    if (!status && self->options.own.keep.pick == KEEP_ALL)
        status = memory_grow(&self->marks, &self->mark_capacity, self->f1.history.count + 1, sizeof(size_t), error);
    return status;
}

/* p_t: the probability that the played arm was the best (the paper, section 4). */
static float optimal_probability(const own_options *o, double reward)
{
    double share = (reward - o->reward_low) / (o->reward_high - o->reward_low);
    switch ((optimal_kind)o->optimal.pick) {
    case OPTIMAL_BINARY:
        return reward >= o->reward_high ? 1 : 0;
    case OPTIMAL_RANGE:
        return (float)(share < 0 ? 0 : share > 1 ? 1 : share);
    case OPTIMAL_THRESHOLD:
        return reward > o->reward_threshold ? 1 : 0;
    }
    return 0;
}

static float label_of(const own_options *o, float gain)
{
    switch ((label_kind)o->label.pick) {
    case LABEL_GAIN:
        break;
    case LABEL_ABS:
        gain = fabsf(gain);
        break;
    case LABEL_RELU:
        gain = gain > 0 ? gain : 0;
        break;
    }
    return gain + (float)o->label_offset;
}

static void window_add(eenet *self, const float *point, float label)
{
    size_t size = self->features.point_count, place = (size_t)(self->base.parameters.round % self->features.window);
    memcpy(self->points + place * size, point, size * sizeof *point);
    self->labels[place] = label;
}

static void add_gain(eenet *self, const float *phi, float label)
{
    if (eenet_solves(&self->options))
        gain_regression_add(&self->gains, phi, label - (float)self->options.own.prior_gain);
    else
        learner_append(&self->f2, vector_dense(phi, self->features.count), label);
}

static void observe(policy *base, const observation *o, float reward)
{
    eenet *self = (eenet *)base;
    const own_options *own = &self->options.own;
    size_t count = self->features.count, points = self->features.point_count;
    float optimal = optimal_probability(own, reward);
    float label = label_of(own, reward - o->score.exploitation);
    learner_append(&self->f1, o->x, reward);
    const history *kept = &self->f1.history;
    if (self->told && kept->newest < kept->count) self->told[kept->newest] = o->score.exploitation;
    /* phi of a decision that was made before the last fit is in coordinates that are gone. */
    bool outdated = points && o->round < self->fitted_at;
    if (points) window_add(self, o->kept + count, label);
    if (outdated) gradient_features_map(&self->features, self->fitted, o->kept + count, self->remapped);
    add_gain(self, outdated ? self->remapped : o->kept, label);
    /* The best arm was among the others: each of them deserves to be tried. */
    if (optimal == 0 && keeps_others(self, self->base.parameters.round) && !outdated) {
        const float *others = o->kept + count + points;
        float extra = (float)(own->extra_gain + own->label_offset);
        for (size_t i = 0; i < extra_count(self, o); i++) add_gain(self, others + i * count, extra);
    }
    if (own->decision.pick != DECISION_LINEAR) {
        float both[2] = {o->score.exploitation, o->score.exploration};
        learner_append(&self->f3, vector_dense(both, 2), optimal);
    }
    if (own->keep.pick == KEEP_ALL) self->marks[self->f1.history.count - 1] = self->f2.history.count;
    self->base.parameters.round++;
}

/* ---- training ---- */

/* Tells some past gains anew, and solves f2. */
static void solve_second(eenet *self)
{
    const own_options *own = &self->options.own;
    const history *samples = &self->f1.history;
    layout w = lay_out(self, 1);
    float *room = self->room, *phi = room + w.phi;
    for (int64_t i = 0; i < own->refresh && samples->count; i++) {
        size_t sample = (size_t)random_below(&self->refreshing, samples->count);
        vector x = history_input(samples, sample);
        float reward = history_target(samples, sample), before = self->told[sample];
        float now = network_forward(&self->f1.network, self->theta1, x, room + w.activations1);
        see_start(self, x, &w, room, room + w.features, phi);
        gain_regression_correct(&self->gains, phi, label_of(own, reward - now) - label_of(own, reward - before));
        self->told[sample] = now;
    }
    gain_regression_solve(&self->gains, self->theta2);
}

static void train_networks(eenet *self, float *theta1, float *theta2, float *theta3)
{
    learner_train(&self->f1, theta1);
    if (eenet_solves(&self->options))
        solve_second(self);
    else
        learner_train(&self->f2, theta2);
    if (self->options.own.decision.pick != DECISION_LINEAR) learner_train(&self->f3, theta3);
}

/* Algorithm 1 draws from the parameters of all rounds so far, 0 to t. Those of round s are what descent reaches from
 * theta_0 over the samples that there were after round s: the round is drawn first and the descent made for it alone,
 * so nothing is stored, and every draw is the one that stored parameters would have given. */
static void train_drawn(eenet *self)
{
    size_t rounds = self->f1.history.count;
    size_t pair = (size_t)random_below(&self->drawing, rounds + 1);
    learner_descend(&self->f1, pair, self->theta1);
    learner_descend(&self->f2, pair ? self->marks[pair - 1] : 0, self->theta2);
    if (self->options.own.decision.pick == DECISION_LINEAR) return;
    learner_descend(&self->f3, (size_t)random_below(&self->drawing, rounds + 1), self->theta3);
}

/* Puts an item into a reservoir, as history.c does with samples. */
static void store(eenet *self, float *items, size_t *stored, const float *item, size_t size)
{
    size_t limit = (size_t)self->options.own.keep.number;
    size_t place = *stored < limit ? (*stored)++ : (size_t)random_below(&self->drawing, self->trainings + 1);
    if (place < limit) memcpy(items + place * size, item, size * sizeof *item);
}

static void train_reservoir(eenet *self)
{
    size_t pair = pair_count(self), third = third_count(self);
    float *theta3 = self->latest + pair;
    for (int turn = self->trainings ? 1 : 0; turn < 2; turn++) { /* before the first training: theta_0 */
        if (turn == 1) train_networks(self, self->latest, self->latest + self->f1.network.parameter_count, theta3);
        store(self, self->pairs, &self->stored_pairs, self->latest, pair);
        store(self, self->thirds, &self->stored_thirds, theta3, third);
        self->trainings++;
    }
    size_t drawn = (size_t)random_below(&self->drawing, self->stored_pairs);
    memcpy(self->theta1, self->pairs + drawn * pair, pair * sizeof(float));
    drawn = (size_t)random_below(&self->drawing, self->stored_thirds);
    memcpy(self->theta3, self->thirds + drawn * third, third * sizeof(float));
}

/* A new embedding has new coordinates: f2's history begins anew with the window in them. */
static void refit_window(eenet *self)
{
    const gradient_features *f = &self->features;
    if (self->base.parameters.round < self->fitted_at + f->window) return;
    self->fitted_at = self->base.parameters.round;
    if (!gradient_features_fit(f, &self->embedding, self->gram, self->coordinates, self->points, self->fitted)) return;
    learner_clear(&self->f2);
    for (size_t i = 0; i < f->window; i++)
        learner_append(&self->f2, vector_dense(gradient_features_embedding(f, self->fitted, i), f->k), self->labels[i]);
}

static void train(policy *base)
{
    eenet *self = (eenet *)base;
    if (!schedule_is_due(&self->options.schedule, self->base.parameters.round)) return;
    if (self->features.point_count) refit_window(self);
    switch ((keep_kind)self->options.own.keep.pick) {
    case KEEP_LAST:
        train_networks(self, self->theta1, self->theta2, self->theta3);
        break;
    case KEEP_ALL:
        train_drawn(self);
        break;
    case KEEP_RESERVOIR:
        train_reservoir(self);
        break;
    }
}

static size_t memory_of(const policy *base)
{
    const eenet *self = (const eenet *)base;
    const void *blocks[] = {self->features.signs,    self->marks,    self->latest, self->pairs, self->thirds,
                            self->embedding.work,    self->points,   self->labels, self->gram,  self->coordinates,
                            self->embedding.nearest, self->remapped, self->told,   self->room};
    size_t bytes = learner_memory(&self->f1) + learner_memory(&self->f2) + learner_memory(&self->f3) +
                   gain_regression_memory(&self->gains);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) bytes += memory_size(blocks[i]);
    return bytes;
}

/* ---- saving and loading ---- */

static void archive_marks(eenet *self, archive *a)
{
    size_t count = self->f1.history.count;
    bool linear = self->options.own.decision.pick == DECISION_LINEAR;
    if (self->f3.history.count != (linear ? 0 : count))
        archive_fail(a, EE_BAD_MODEL, "model: f1 and f3 have not seen the same rounds");
    if (a->reading && !a->status)
        a->status = memory_grow(&self->marks, &self->mark_capacity, count, sizeof(size_t), a->error);
    for (size_t i = 0; i < count && !a->status; i++)
        archive_size(a, &self->marks[i], 0, self->f2.history.count, "samples of f2 after a round");
}

static void archive_reservoir(eenet *self, archive *a)
{
    size_t limit = (size_t)self->options.own.keep.number, pair = pair_count(self), third = third_count(self);
    archive_floats(a, self->latest, pair + third);
    archive_size(a, &self->stored_pairs, 0, limit, "stored parameters");
    archive_size(a, &self->stored_thirds, 0, limit, "stored parameters of f3");
    archive_floats(a, self->pairs, self->stored_pairs * pair);
    archive_floats(a, self->thirds, self->stored_thirds * third);
    archive_u64(a, &self->trainings);
}

static void archive_gains(eenet *self, archive *a)
{
    gain_regression_archive(&self->gains, a);
    archive_stream(a, &self->refreshing);
    if (a->reading && !a->status) a->status = grow_told(self, a->error);
    if (!a->status) archive_floats(a, self->told, self->f1.history.count);
}

static void archive_eenet(policy *base, archive *a)
{
    eenet *self = (eenet *)base;
    learner_archive(&self->f1, a);
    if (eenet_solves(&self->options))
        archive_gains(self, a);
    else
        learner_archive(&self->f2, a);
    learner_archive(&self->f3, a);
    archive_stream(a, &self->drawing);
    if (self->options.own.keep.pick == KEEP_ALL) archive_marks(self, a);
    if (self->latest) archive_reservoir(self, a);
    if (!self->points) return;
    archive_floats(a, self->points, self->features.window * self->features.point_count);
    archive_floats(a, self->labels, self->features.window);
    size_t fitted_at = self->fitted_at;
    archive_size(a, &fitted_at, 0, self->base.parameters.round, "rewards at the last fit");
    self->fitted_at = fitted_at;
}

const policy_class eenet_class = {
    .summary = "EE-Net: f1 exploits, f2 explores from f1's gradient, f3 decides",
    .paper =
        "Ban, Yan, Banerjee, He: EE-Net: Exploitation-Exploration Neural Networks in Contextual Bandits, ICLR 2022",
    .schema = {"eenet", eenet_groups, EENET_GROUPS, sizeof(eenet_options)},
    .presets = eenet_presets,
    .preset_count = EENET_PRESETS,
    .create = create,
    .free = free_eenet,
    .scratch_count = scratch_count,
    .score = score,
    .kept_count = kept_count,
    .keep = keep,
    .reserve = reserve,
    .observe = observe,
    .train = train,
    .memory = memory_of,
    .archive = archive_eenet,
};
