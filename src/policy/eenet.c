/* EE-Net: Ban, Yan, Banerjee, He, "EE-Net: Exploitation-Exploration Neural Networks in Contextual Bandits", ICLR 2022.
 *
 * f1 learns the reward of an arm. f2 sees the gradient of f1 at the arm and learns r - f1, how wrong f1 is and in which
 * direction: the potential gain. f3 combines the two into the score that the arms are ranked by.
 *
 * f2 is a network that sees the gradient as it is at the decision; or, exploration=ridge, it is solved exactly and sees
 * of the gradient at theta_0 what solved_exploration.h says.
 *
 * Parameters: theta1, filled up to a line of the cache, theta2, theta3, and what gradient_features fits.
 * Kept of a decision, where f2 is a network: phi of the played arm; its gradient's point (lle); phi of every other arm,
 * as long as they may become extra samples. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "parts/solved_exploration.h"

typedef struct eenet {
    policy base;
    eenet_options options;
    learner f1, f3;
    float *theta1, *theta2, *theta3, *fitted; /* where they lie in the parameters */

    solved_exploration solved; /* exploration=ridge */
    learner f2;                /* exploration=network */
    gradient_features features;

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
    solved_exploration_destroy(&self->solved);
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

static bool solves(const eenet *self)
{
    return self->options.own.exploration.pick == EXPLORATION_RIDGE;
}

/* Floats of theta1 and what fills its last line of the cache. */
static size_t first_count(const eenet *self)
{
    return memory_whole_lines(self->f1.network.parameter_count);
}

static size_t pair_count(const eenet *self)
{
    size_t second = solves(self) ? solved_exploration_count(&self->solved) : self->f2.network.parameter_count;
    return first_count(self) + second;
}

/* Floats of what f2 sees of an arm. */
static size_t phi_count(const eenet *self)
{
    return solves(self) ? self->solved.features.count : self->features.count;
}

static size_t third_count(const eenet *self)
{
    return self->f3.network.parameter_count;
}

enum { TOGETHER = 16 }; /* arms that pass through f1 and f2 at once: four times the rows that `multiply` takes */

/* Where things lie in the scratch. */
typedef struct layout {
    size_t activations1; /* (TOGETHER, its activation_count) */
    size_t deltas1, formed, features;
    size_t activations2; /* (TOGETHER, its activation_count) */
    size_t activations3;
    size_t phi;    /* (arms, phi_count), or (TOGETHER, phi_count) where f2 is solved */
    size_t points; /* (arms, features.point_count) */
    size_t count;  /* floats of all */
} layout;

static layout lay_out(const eenet *self, size_t arms)
{
    layout w;
    size_t together = arms < TOGETHER ? arms : TOGETHER;
    w.activations1 = 0;
    w.deltas1 = w.activations1 + together * self->f1.network.activation_count;
    w.formed = w.deltas1 + self->f1.network.activation_count;
    w.features = w.formed + network_formed_count(&self->f1.network);
    w.activations2 = w.features + self->features.workspace_count;
    const network *second = solves(self) ? &self->solved.features.network : &self->f2.network;
    w.activations3 = w.activations2 + together * second->activation_count;
    w.phi = w.activations3 + self->f3.network.activation_count;
    w.points = w.phi + (solves(self) ? together : arms) * phi_count(self);
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

static ee_status create_second(eenet *self, const policy_setup *setup, ee_error *error)
{
    const eenet_options *o = &self->options;
    if (solves(self)) return solved_exploration_create(&self->solved, &o->own, &self->f1, setup->seed, error);
    ee_status status = gradient_features_create(&self->features, &o->features, &self->f1.network, error);
    if (status) return status;
    learner_options second = learner_for_problem(&o->f2, 1, false);
    if (strncmp(second.network.front, "conv", 4) == 0 && second.network.heads <= 1) {
        gradient_features_factor(&self->features);
        second.network.rows = self->features.rows;
        second.network.columns = self->features.columns;
    }
    size_t seen = self->features.count;
    return learner_create(&self->f2, "f2", &second, seen, (seen + 1) / 2, setup->seed, setup->most_parameters, error);
}

static ee_status create_parts(eenet *self, const policy_setup *setup, ee_error *error)
{
    const eenet_options *o = &self->options;
    size_t nonzeros = (size_t)o->common.nonzeros, most = setup->most_parameters;
    learner_options first = learner_for_problem(&o->f1, o->common.blocks, o->common.exclusive);
    learner_options third = learner_for_problem(&o->f3, 1, false);
    ee_status status = eenet_check(o, error);
    if (!status) status = learner_create(&self->f1, "f1", &first, setup->dim, nonzeros, setup->seed, most, error);
    if (!status) status = learner_create(&self->f3, "f3", &third, 2, 1, setup->seed, most, error);
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
    self->theta2 = self->theta1 + first_count(self);
    self->theta3 = self->theta1 + pair_count(self);
    self->fitted = self->theta3 + third_count(self);
    learner_start(&self->f1, self->theta1);
    learner_start(&self->f3, self->theta3);
    if (solves(self)) {
        solved_exploration_start(&self->solved);
    } else {
        gradient_features_start(&self->features, setup->seed);
        learner_start(&self->f2, self->theta2);
    }
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

/* How many arms can pass at once: dense ones, which lie together as a matrix. */
static size_t arms_together(const eenet *self, const ee_arms *arms)
{
    return !arms->starts && self->f1.network.heads == 1 ? TOGETHER : 1;
}

/* f1's pass over some arms, and where f2 is solved their phi. */
static void pass_first(const eenet *self, const float *values, const ee_arms *arms, size_t first, size_t count,
                       const layout *w, float *room)
{
    const network *f1 = &self->f1.network;
    float *activations1 = room + w->activations1, *activations2 = room + w->activations2, *phi = room + w->phi;
    if (count > 1) {
        const float *inputs = arms->values + first * arms->dim;
        network_outputs_of_many(f1, values, inputs, count, activations1);
        if (solves(self)) start_features_compute_many(&self->solved.features, inputs, count, activations2, phi);
        return;
    }
    vector x = vector_of_arm(arms, first);
    if (first && network_sees_same(f1, vector_of_arm(arms, first - 1), x)) return; /* the last pass was for both */
    network_outputs(f1, values, x, activations1);
    if (solves(self)) start_features_compute(&self->solved.features, x, activations2, phi);
}

/* phi of an arm that has passed f1. */
static void see_gradient(const eenet *self, const float *values, vector x, const float *activations, const layout *w,
                         float *room, float *workspace, float *phi)
{
    const network *f1 = &self->f1.network;
    const float *fitted = values + pair_count(self) + third_count(self);
    float *deltas = room + w->deltas1;
    gradient_factor factors[NETWORK_LAYERS];
    network_backward(f1, values, x, activations, 1, deltas);
    network_factors(f1, x, activations, deltas, room + w->formed, factors);
    gradient_features_compute(&self->features, fitted, factors, x, workspace, phi);
}

/* Of a network f2: phi of some arms that have passed f1, and its pass over them. */
static void pass_second(const eenet *self, const float *values, const ee_arms *arms, size_t first, size_t count,
                        const layout *w, float *room)
{
    size_t points = self->features.point_count, size = phi_count(self);
    for (size_t turn = 0; turn < count; turn++) {
        size_t arm = first + turn;
        const float *activations = room + w->activations1 + turn * self->f1.network.activation_count;
        float *workspace = room + (points ? w->points + arm * points : w->features);
        see_gradient(self, values, vector_of_arm(arms, arm), activations, w, room, workspace,
                     room + w->phi + arm * size);
    }
    network_outputs_of_many(&self->f2.network, values + first_count(self), room + w->phi + first * size, count,
                            room + w->activations2);
}

/* Fills in f1 and f2 of an arm that was number `turn` of those that passed together. */
static void score_arm(const eenet *self, const float *values, const ee_arms *arms, size_t arm, size_t turn,
                      const layout *w, float *room, ee_score *score)
{
    const network *f1 = &self->f1.network, *f2 = &self->f2.network;
    vector x = vector_of_arm(arms, arm);
    size_t count = phi_count(self);
    score->exploitation = network_output(f1, x, room + w->activations1 + turn * f1->activation_count);
    if (solves(self)) {
        score->exploration = solved_exploration_gain(&self->solved, values + first_count(self), x,
                                                     room + w->phi + turn * count, score->exploitation);
        return;
    }
    vector phi = vector_dense(room + w->phi + arm * count, count);
    score->exploration = network_output(f2, phi, room + w->activations2 + turn * f2->activation_count) -
                         (float)self->options.own.label_offset;
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const eenet *self = (const eenet *)learned->policy;
    const own_options *o = &self->options.own;
    const float *theta3 = learned->values + pair_count(self);
    layout w = lay_out(self, arms->count);
    bool neural = decides_neurally(o, learned->round);
    bool late = o->w2_late_after && learned->round >= (uint64_t)o->w2_late_after;
    float w1 = (float)o->w1, w2 = (float)(late ? o->w2_late : o->w2);
    size_t together = arms_together(self, arms);
    for (size_t i = 0; i < arms->count; i++) {
        size_t turn = i % together, left = arms->count - i;
        size_t count = left < together ? left : together;
        if (!turn) pass_first(self, learned->values, arms, i, count, &w, room->values);
        if (!turn && !solves(self)) pass_second(self, learned->values, arms, i, count, &w, room->values);
        score_arm(self, learned->values, arms, i, turn, &w, room->values, &scores[i]);
        float both[2] = {scores[i].exploitation, scores[i].exploration};
        scores[i].score =
            neural ? network_forward(&self->f3.network, theta3, vector_dense(both, 2), room->values + w.activations3)
                   : w1 * both[0] + w2 * both[1];
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
    if (solves(self)) return 0;
    size_t phis = keeps_others(self, round) ? arms : 1;
    return phis * self->features.count + self->features.point_count;
}

static void keep(const parameters *learned, const ee_arms *arms, size_t arm, const scratch *room, float *kept)
{
    const eenet *self = (const eenet *)learned->policy;
    if (solves(self)) return;
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
        status = solves(self) ? solved_exploration_reserve(&self->solved, error)
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

static void window_add(eenet *self, const float *point, float label)
{
    size_t size = self->features.point_count, place = (size_t)(self->base.parameters.round % self->features.window);
    memcpy(self->points + place * size, point, size * sizeof *point);
    self->labels[place] = label;
}

static void add_gain(eenet *self, const float *phi, float label)
{
    learner_append(&self->f2, vector_dense(phi, self->features.count), label);
}

/* What f2 as a network learns from. */
static void add_gains(eenet *self, const observation *o, float label, float optimal)
{
    const own_options *own = &self->options.own;
    size_t count = self->features.count, points = self->features.point_count;
    /* phi of a decision that was made before the last fit is in coordinates that are gone. */
    bool outdated = points && o->round < self->fitted_at;
    if (points) window_add(self, o->kept + count, label);
    if (outdated) gradient_features_map(&self->features, self->fitted, o->kept + count, self->remapped);
    add_gain(self, outdated ? self->remapped : o->kept, label);
    /* The best arm was among the others: each of them deserves to be tried. */
    if (optimal != 0 || !keeps_others(self, self->base.parameters.round) || outdated) return;
    const float *others = o->kept + count + points;
    float extra = (float)(own->extra_gain + own->label_offset);
    for (size_t i = 0; i < extra_count(self, o); i++) add_gain(self, others + i * count, extra);
}

static void observe(policy *base, const observation *o, float reward)
{
    eenet *self = (eenet *)base;
    const own_options *own = &self->options.own;
    float optimal = optimal_probability(own, reward), expected = o->score.exploitation;
    learner_append(&self->f1, o->x, reward);
    if (solves(self))
        solved_exploration_add(&self->solved, o->x, reward, expected, self->theta2);
    else
        add_gains(self, o, eenet_label(own, reward - expected), optimal);
    if (own->decision.pick != DECISION_LINEAR) {
        float both[2] = {expected, o->score.exploration};
        learner_append(&self->f3, vector_dense(both, 2), optimal);
    }
    if (own->keep.pick == KEEP_ALL) self->marks[self->f1.history.count - 1] = self->f2.history.count;
    self->base.parameters.round++;
}

/* ---- training ---- */

static void train_networks(eenet *self, float *theta1, float *theta2, float *theta3)
{
    learner_train(&self->f1, theta1);
    if (solves(self))
        solved_exploration_train(&self->solved, theta1, theta2);
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
        if (turn == 1) train_networks(self, self->latest, self->latest + first_count(self), theta3);
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
    size_t bytes = learner_memory(&self->f1) + learner_memory(&self->f2) + learner_memory(&self->f3) +
                   solved_exploration_memory(&self->solved);
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
    if (solves(self))
        solved_exploration_archive(&self->solved, a);
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
    .alone = true,
    .kept_count = kept_count,
    .keep = keep,
    .reserve = reserve,
    .observe = observe,
    .train = train,
    .memory = memory_of,
    .archive = archive_eenet,
};
