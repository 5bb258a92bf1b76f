/* EE-Net: Ban, Yan, Banerjee, He, "EE-Net: Exploitation-Exploration Neural Networks in Contextual Bandits", ICLR 2022.
 *
 * f1 learns the reward of an arm. f2 sees the gradient of f1 at the arm and learns r - f1, how wrong f1 is and in which
 * direction: the potential gain. f3 combines the two into the score that the arms are ranked by.
 *
 * Parameters: theta1, theta2, theta3, and what gradient_features fits.
 * Kept of a decision: phi of the played arm; its gradient's point (lle); phi of every other arm, as long as they may
 * become extra samples. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gradient_features.h"
#include "net/learner.h"
#include "policy.h"
#include "schedule.h"

typedef enum label_kind { LABEL_GAIN, LABEL_ABS, LABEL_RELU } label_kind;
typedef enum decision_kind { DECISION_LINEAR, DECISION_NEURAL, DECISION_HYBRID } decision_kind;
typedef enum optimal_kind { OPTIMAL_BINARY, OPTIMAL_RANGE, OPTIMAL_THRESHOLD } optimal_kind;
typedef enum keep_kind { KEEP_LAST, KEEP_ALL, KEEP_RESERVOIR } keep_kind;

typedef struct own_options {
    option_choice label;
    double label_offset;
    double extra_gain;
    int64_t extra_until;
    option_choice decision;
    int64_t hybrid_after;
    double w1, w2, w2_late;
    int64_t w2_late_after;
    option_choice optimal;
    double reward_low, reward_high, reward_threshold;
    option_choice keep;
} own_options;

typedef struct eenet_options {
    common_options common;
    schedule schedule;
    feature_options features;
    own_options own;
    learner_options f1, f2, f3;
} eenet_options;

typedef struct eenet {
    policy base;
    eenet_options options;
    learner f1, f2, f3;
    gradient_features features;
    float *theta1, *theta2, *theta3, *fitted; /* where they lie in the parameters */

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

static ee_status check_options(const eenet_options *o, ee_error *error)
{
    if (o->own.reward_low >= o->own.reward_high)
        return status_fail(error, EE_BAD_OPTION,
                           "options: eenet.reward_low must be below eenet.reward_high, got %g and %g",
                           o->own.reward_low, o->own.reward_high);
    if (o->own.keep.pick != KEEP_LAST && o->features.kind.pick == FEATURES_LLE)
        return status_fail(
            error, EE_BAD_OPTION,
            "options: eenet.features=lle needs keep=last: parameters of f2 from before a fit are of no use "
            "after it");
    if (o->own.keep.pick != KEEP_ALL) return EE_OK;
    const learner_options *learners[] = {&o->f1, &o->f2, &o->f3};
    for (int i = 0; i < 3; i++) {
        if (learners[i]->training.pick == TRAINING_GD && learners[i]->history.pick == HISTORY_ALL) continue;
        return status_fail(error, EE_BAD_OPTION,
                           "options: eenet.keep=all needs f%d.training=gd and f%d.history=all; else take "
                           "keep=reservoir:N",
                           i + 1, i + 1);
    }
    return EE_OK;
}

static void free_eenet(policy *base)
{
    eenet *self = (eenet *)base;
    learner_destroy(&self->f1);
    learner_destroy(&self->f2);
    learner_destroy(&self->f3);
    gradient_features_destroy(&self->features);
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
    return self->f1.network.parameter_count + self->f2.network.parameter_count;
}

static size_t third_count(const eenet *self)
{
    return self->f3.network.parameter_count;
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

static ee_status create_parts(eenet *self, const policy_setup *setup, ee_error *error)
{
    const eenet_options *o = &self->options;
    size_t nonzeros = (size_t)o->common.nonzeros, most = setup->most_parameters;
    ee_status status = check_options(o, error);
    if (!status) status = learner_create(&self->f1, "f1", &o->f1, setup->dim, nonzeros, setup->seed, most, error);
    if (!status) status = gradient_features_create(&self->features, &o->features, &self->f1.network, error);
    size_t seen = self->features.count;
    if (!status) status = learner_create(&self->f2, "f2", &o->f2, seen, (seen + 1) / 2, setup->seed, most, error);
    if (!status) status = learner_create(&self->f3, "f3", &o->f3, 2, 1, setup->seed, most, error);
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
    learner_start(&self->f2, self->theta2);
    learner_start(&self->f3, self->theta3);
    if (self->latest) memcpy(self->latest, self->theta1, (pair_count(self) + third_count(self)) * sizeof(float));
    *out = &self->base;
    return EE_OK;
}

/* ---- scoring ---- */

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

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const eenet *self = (const eenet *)learned->policy;
    const own_options *o = &self->options.own;
    const gradient_features *features = &self->features;
    const float *theta1 = learned->values, *theta2 = theta1 + self->f1.network.parameter_count;
    const float *theta3 = theta1 + pair_count(self), *fitted = theta3 + third_count(self);
    layout w = lay_out(self, arms->count);
    float *values = room->values;
    bool neural = decides_neurally(o, learned->round);
    float w1 = (float)o->w1, w2 = (float)(learned->round >= (uint64_t)o->w2_late_after ? o->w2_late : o->w2);
    for (size_t i = 0; i < arms->count; i++) {
        vector x = vector_of_arm(arms, i);
        float *activations1 = values + w.activations1, *deltas1 = values + w.deltas1;
        float *phi = values + w.phi + i * features->count;
        gradient_factor factors[NETWORK_LAYERS];
        float f1 = network_forward(&self->f1.network, theta1, x, activations1);
        network_backward(&self->f1.network, theta1, x, activations1, 1, deltas1);
        network_factors(&self->f1.network, x, activations1, deltas1, values + w.formed, factors);
        float *workspace = values + (features->point_count ? w.points + i * features->point_count : w.features);
        gradient_features_compute(features, fitted, factors, x, workspace, phi);
        float f2 =
            network_forward(&self->f2.network, theta2, vector_dense(phi, features->count), values + w.activations2) -
            (float)o->label_offset;
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
    if (!status) status = learner_reserve(&self->f2, 1 + extra_count(self, o), phi, error);
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

static void observe(policy *base, const observation *o, float reward)
{
    eenet *self = (eenet *)base;
    const own_options *own = &self->options.own;
    size_t count = self->features.count, points = self->features.point_count;
    float optimal = optimal_probability(own, reward);
    float label = label_of(own, reward - o->score.exploitation);
    learner_append(&self->f1, o->x, reward);
    /* phi of a decision that was made before the last fit is in coordinates that are gone. */
    bool outdated = points && o->round < self->fitted_at;
    if (points) window_add(self, o->kept + count, label);
    if (outdated) gradient_features_map(&self->features, self->fitted, o->kept + count, self->remapped);
    learner_append(&self->f2, vector_dense(outdated ? self->remapped : o->kept, count), label);
    /* The best arm was among the others: each of them deserves to be tried. */
    if (optimal == 0 && keeps_others(self, self->base.parameters.round) && !outdated) {
        const float *others = o->kept + count + points;
        float extra = (float)(own->extra_gain + own->label_offset);
        for (size_t i = 0; i < extra_count(self, o); i++)
            learner_append(&self->f2, vector_dense(others + i * count, count), extra);
    }
    if (own->decision.pick != DECISION_LINEAR) {
        float both[2] = {o->score.exploitation, o->score.exploration};
        learner_append(&self->f3, vector_dense(both, 2), optimal);
    }
    if (own->keep.pick == KEEP_ALL) self->marks[self->f1.history.count - 1] = self->f2.history.count;
    self->base.parameters.round++;
}

/* ---- training ---- */

static void train_networks(eenet *self, float *theta1, float *theta2, float *theta3)
{
    learner_train(&self->f1, theta1);
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
    const void *blocks[] = {self->features.signs,    self->marks,   self->latest, self->pairs, self->thirds,
                            self->embedding.work,    self->points,  self->labels, self->gram,  self->coordinates,
                            self->embedding.nearest, self->remapped};
    size_t bytes = learner_memory(&self->f1) + learner_memory(&self->f2) + learner_memory(&self->f3);
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

static void archive_eenet(policy *base, archive *a)
{
    eenet *self = (eenet *)base;
    learner_archive(&self->f1, a);
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

/* ---- the tables ---- */

#define FIELD(name) offsetof(own_options, name)
static const option own_option_table[] = {
    {"label", OPTION_CHOICE, FIELD(label), "gain", 0, 0, "gain|abs|relu",
     "what f2 learns: r - f1, |r - f1|, max(r - f1, 0)"},
    {"label_offset", OPTION_REAL, FIELD(label_offset), "0", -1e6, 1e6, NULL,
     "added to f2's labels and taken off its output"},
    {"extra_gain", OPTION_REAL, FIELD(extra_gain), "0.1", -1e6, 1e6, NULL,
     "c_r: label of the arms that were not played, where the played one was not optimal (p_t = 0)"},
    {"extra_until", OPTION_INTEGER, FIELD(extra_until), "0", 0, 1e9, NULL, "rewards with such extra samples; 0: none"},
    {"decision", OPTION_CHOICE, FIELD(decision), "linear", 0, 0, "linear|neural|hybrid",
     "f3: w1 f1 + w2 f2, a network, or the one and then the other"},
    {"hybrid_after", OPTION_INTEGER, FIELD(hybrid_after), "500", 0, 1e9, NULL, "rounds that hybrid decides linearly"},
    {"w1", OPTION_REAL, FIELD(w1), "1", -1e6, 1e6, NULL, "weight of f1 in the linear f3"},
    {"w2", OPTION_REAL, FIELD(w2), "1", -1e6, 1e6, NULL, "weight of f2 in the linear f3"},
    {"w2_late", OPTION_REAL, FIELD(w2_late), "0.1", -1e6, 1e6, NULL, "weight of f2 after w2_late_after"},
    {"w2_late_after", OPTION_INTEGER, FIELD(w2_late_after), "100", 0, 1e9, NULL,
     "rewards after which w2_late takes over"},
    {"optimal", OPTION_CHOICE, FIELD(optimal), "range", 0, 0, "binary|range|threshold",
     "p_t, what f3 learns: r = high; (r - low) / (high - low); r > threshold"},
    {"reward_low", OPTION_REAL, FIELD(reward_low), "0", -1e9, 1e9, NULL, "smallest reward"},
    {"reward_high", OPTION_REAL, FIELD(reward_high), "1", -1e9, 1e9, NULL, "largest reward"},
    {"reward_threshold", OPTION_REAL, FIELD(reward_threshold), "0.5", -1e9, 1e9, NULL, "for optimal=threshold"},
    {"keep", OPTION_CHOICE, FIELD(keep), "last", 1, 1e6, "last|all|reservoir:N",
     "parameters that decide: the last; or drawn from those of all rounds, or of N rounds"},
};

static const option_group groups[] = {
    {"", own_option_table, sizeof own_option_table / sizeof *own_option_table, offsetof(eenet_options, own), NULL},
    {"", feature_option_table, FEATURE_OPTIONS, offsetof(eenet_options, features), NULL},
    {"", schedule_option_table, SCHEDULE_OPTIONS, offsetof(eenet_options, schedule), NULL},
    {"f1.", learner_option_table, LEARNER_OPTIONS, offsetof(eenet_options, f1), NULL},
    {"f2.", learner_option_table, LEARNER_OPTIONS, offsetof(eenet_options, f2), NULL},
    {"f3.", learner_option_table, LEARNER_OPTIONS, offsetof(eenet_options, f3), "layers=3 width=20 loss=cross_entropy"},
    {"", common_option_table, COMMON_OPTIONS, offsetof(eenet_options, common), NULL},
};

/* A preset names all that it means, so that no change of a default moves it. */
static const policy_preset presets[] = {
    {"eenet:paper", "EE-Net as the paper's Algorithm 1 has it; for arms of length 1",
     "features=normalized label=gain label_offset=0 extra_until=0 decision=hybrid hybrid_after=500 w1=1 w2=1 w2_late=1 "
     "optimal=range keep=all train_every=1 train_late_every=1 "
     "f1.layers=2 f1.width=100 f1.bias=off f1.init=paper f1.front=none f1.loss=half f1.training=gd f1.optimizer=sgd "
     "f1.rate=0.0005 f1.decay=0 f1.steps=20 f1.history=all "
     "f2.layers=2 f2.width=100 f2.bias=off f2.init=paper f2.front=none f2.loss=half f2.training=gd f2.optimizer=sgd "
     "f2.rate=0.0005 f2.decay=0 f2.steps=20 f2.history=all "
     "f3.layers=3 f3.width=20 f3.bias=off f3.init=paper f3.front=none f3.loss=cross_entropy f3.training=gd "
     "f3.optimizer=sgd f3.rate=0.1 f3.decay=0 f3.steps=20 f3.history=all"},
    {"eenet:authors", "EE-Net as the authors' released code has it",
     "features=pooled:2 label=gain label_offset=1 extra_gain=0.2 extra_until=1000 decision=linear w1=1 w2=0.1 "
     "w2_late=0.01 w2_late_after=1001 optimal=binary keep=last train_every=10 train_late_every=100 "
     "train_late_after=1000 "
     "f1.layers=2 f1.width=100 f1.bias=on f1.init=uniform f1.front=none f1.loss=squared f1.training=sgd "
     "f1.optimizer=sgd "
     "f1.rate=0.01 f1.decay=0 f1.steps=2000 f1.batch=1 f1.order=shuffle f1.stop_loss=0.001 f1.history=all "
     "f2.layers=2 f2.width=100 f2.bias=on f2.init=uniform f2.front=conv1d:1:100:50 f2.loss=squared f2.training=sgd "
     "f2.optimizer=adam f2.rate=0.001 f2.decay=0.0001 f2.keep_moments=off f2.steps=2000 f2.batch=1 f2.order=shuffle "
     "f2.stop_loss=0.001 f2.history=all "
     "f3.layers=2 f3.width=20 f3.bias=on f3.init=uniform f3.front=none f3.loss=squared f3.training=sgd "
     "f3.optimizer=sgd "
     "f3.rate=0.001 f3.decay=0 f3.steps=1000 f3.batch=1 f3.order=shuffle f3.stop_loss=0.001 f3.history=all"},
};

const policy_class eenet_class = {
    .summary = "EE-Net: f1 exploits, f2 explores from f1's gradient, f3 decides",
    .paper =
        "Ban, Yan, Banerjee, He: EE-Net: Exploitation-Exploration Neural Networks in Contextual Bandits, ICLR 2022",
    .schema = {"eenet", groups, sizeof groups / sizeof *groups, sizeof(eenet_options)},
    .presets = presets,
    .preset_count = sizeof presets / sizeof *presets,
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
