/* f2 as in the paper: a network on phi, the features of f1's gradient at the decision (gradient_features.h).
 *
 * Extra samples: if the chosen arm was not the best, every other arm of the round deserves to be tried, and f2
 * learns the gain extra_gain for each of them, until reward extra_until (the paper's c_r).
 *
 * features=lle: phi is an embedding that is fitted repeatedly on a window of past gradients; at each fit f2's history
 * restarts with the window in the new coordinates. A fit is not undone if the training after it diverges.
 *
 * theta2: the parameters of the network, then what gradient_features fits. Stored with a decision: phi of the chosen
 * arm; its gradient's point (lle); phi of every other arm, as long as they may become extra samples. */
#include <string.h>

#include "base/memory.h"
#include "exploration.h"

/* features=lle: the latest gradients and their labels. */
typedef struct gradient_window {
    lle embedding;
    float *points;   /* (window, point_count) */
    float *labels;   /* (window) */
    float *remapped; /* (k) phi of a point that was stored before the last fit */
    double *gram, *coordinates;
    uint64_t fitted_at; /* rewards at the last fit */

    /* To undo the newest entry: its position, and what it displaced. */
    size_t place;
    float *displaced; /* (point_count) */
    float displaced_label;
    bool fits; /* the prepared training began with a fit, which cannot be undone */
} gradient_window;

typedef struct network_exploration {
    exploration base;
    network_exploration_options options;
    option_choice label;
    const network *f1;
    gradient_features features;
    learner f2;
    gradient_window window;
} network_exploration;

static const option rows[] = {
    OPTION_ROW_REAL(network_exploration_options, label_offset, "label_offset", "0", -1e6, 1e6,
                    "added to f2's labels, subtracted from its output"),
    OPTION_ROW_INTEGER(network_exploration_options, extra_until, "extra_until", "0", 0, 1e9,
                       "first rewards with extra samples: if the chosen arm was not optimal (p_t = 0), the round's "
                       "other arms; 0: none"),
    OPTION_ROW_REAL(network_exploration_options, extra_gain, "extra_gain", "0.1", -1e6, 1e6,
                    "c_r: label of the extra samples", .needs = "extra_until>0"),
};
const option_table network_exploration_option_table = OPTION_TABLE(rows);

/* ---- making ---- */

/* Whether the other arms of a round may become extra samples after this many rewards. */
static bool keeps_others(const network_exploration *self, uint64_t round)
{
    return round < (uint64_t)self->options.extra_until;
}

static ee_status create_window(network_exploration *self, memory *owner, ee_error *error)
{
    const gradient_features *f = &self->features;
    gradient_window *w = &self->window;
    ee_status status = lle_create(&w->embedding, owner, f->window, f->neighbors, f->k, error);
    if (!status) status = memory_create(owner, &w->points, f->window * f->point_count, sizeof(float), error);
    if (!status) status = memory_create(owner, &w->labels, f->window, sizeof(float), error);
    if (!status) status = memory_create(owner, &w->displaced, f->point_count, sizeof(float), error);
    if (!status) status = memory_create(owner, &w->remapped, f->k, sizeof(float), error);
    if (!status) status = memory_create(owner, &w->gram, f->window * f->window, sizeof(double), error);
    if (!status) status = memory_create(owner, &w->coordinates, f->window * f->k, sizeof(double), error);
    if (!status) status = learner_reserve(&self->f2, f->window, (vector){.count = f->k}, error);
    return status;
}

static ee_status create_parts(network_exploration *self, const exploration_setup *setup, ee_error *error)
{
    ee_status status =
        gradient_features_create(&self->features, setup->memory, &self->options.features, self->f1, error);
    if (status) return status;
    learner_options options = self->options.f2;
    if (strncmp(options.network.front, "conv", 4) == 0) {
        gradient_features_factor(&self->features);
        options.network.rows = self->features.rows;
        options.network.columns = self->features.columns;
    }
    size_t seen = self->features.count;
    status = learner_create(&self->f2, setup->memory, "f2", &options, seen, (seen + 1) / 2, setup->seed,
                            setup->most_parameters, error);
    size_t samples = keeps_others(self, 0) ? setup->arms : 1;
    if (!status) status = learner_reserve(&self->f2, samples, (vector){.count = seen}, error);
    if (!status && self->features.point_count) status = create_window(self, setup->memory, error);
    return status;
}

static ee_status create(const exploration_setup *setup, exploration **out, ee_error *error)
{
    network_exploration *self;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (status) return status;
    self->base.class = &network_exploration_class;
    self->options = setup->options->network;
    self->label = setup->options->label;
    self->f1 = setup->f1;
    status = create_parts(self, setup, error);
    if (status) return status;
    gradient_features_start(&self->features, setup->seed);
    self->base.theta_count = self->f2.parameter_count + self->features.parameter_count;
    *out = &self->base;
    return EE_OK;
}

static void start(exploration *base, const float *initial, float *theta2)
{
    (void)initial;
    learner_start(&((network_exploration *)base)->f2, theta2);
}

/* ---- scoring ---- */

/* The layout of the scratch. */
typedef struct layout {
    size_t deltas, formed, workspace; /* workspace for the gradient of one arm */
    size_t activations;               /* (PASSED_TOGETHER, activation_count) of f2 */
    size_t phi;                       /* (arms, features.count) */
    size_t points;                    /* (arms, features.point_count) */
    size_t count;                     /* total floats */
} layout;

static layout lay_out(const network_exploration *self, size_t arms)
{
    layout w;
    size_t together = arms < PASSED_TOGETHER ? arms : PASSED_TOGETHER;
    w.deltas = 0;
    w.formed = w.deltas + self->f1->activation_count;
    w.workspace = w.formed + network_formed_count(self->f1);
    w.activations = w.workspace + self->features.workspace_count;
    w.phi = w.activations + together * self->f2.networks[0].activation_count;
    w.points = w.phi + arms * self->features.count;
    w.count = w.points + arms * self->features.point_count;
    return w;
}

static size_t scratch_count(const exploration *base, size_t arms)
{
    return lay_out((const network_exploration *)base, arms).count;
}

/* What gradient_features fits, after the parameters of the network. */
static const float *fitted_in(const network_exploration *self, const float *theta2)
{
    return theta2 + self->f2.parameter_count;
}

/* Computes phi of an arm from the activations of its pass through f1. */
static void compute_phi(const network_exploration *self, const float *theta1, const float *theta2, vector x,
                        const float *activations, const layout *w, float *room, float *workspace, float *phi)
{
    float *deltas = room + w->deltas;
    gradient_factor factors[NETWORK_LAYERS];
    network_backward(self->f1, theta1, x, activations, 1, deltas);
    network_factors(self->f1, x, activations, deltas, room + w->formed, factors);
    gradient_features_compute(&self->features, fitted_in(self, theta2), factors, x, workspace, phi);
}

/* Computes phi for these arms, then runs f2 on them. */
static void score(const exploration *base, const parameters *learned, const float *theta2, const passed_arms *passed,
                  float *room, ee_score *scores)
{
    const network_exploration *self = (const network_exploration *)base;
    const network *f2 = &self->f2.networks[0];
    layout w = lay_out(self, passed->arms->count);
    size_t points = self->features.point_count, size = self->features.count, first = passed->first;
    float *activations = room + w.activations, *phi = room + w.phi + first * size;
    for (size_t i = 0; i < passed->count; i++) {
        float *workspace = room + (points ? w.points + (first + i) * points : w.workspace);
        compute_phi(self, learned->values, theta2, vector_of_arm(passed->arms, first + i),
                    passed->activations[0] + i * self->f1->activation_count, &w, room, workspace, phi + i * size);
    }
    network_outputs_of_many(f2, theta2, phi, passed->count, activations);
    for (size_t i = 0; i < passed->count; i++)
        scores[first + i].exploration =
            (float)learned->spread *
            (network_output(f2, vector_dense(phi + i * size, size), activations + i * f2->activation_count) -
             (float)self->options.label_offset);
}

/* ---- what is stored with a decision ---- */

static size_t kept_count(const exploration *base, uint64_t round, size_t arms)
{
    const network_exploration *self = (const network_exploration *)base;
    size_t phis = keeps_others(self, round) ? arms : 1;
    return phis * self->features.count + self->features.point_count;
}

static void keep(const exploration *base, uint64_t round, const ee_arms *arms, size_t arm, const float *room,
                 float *kept)
{
    const network_exploration *self = (const network_exploration *)base;
    layout w = lay_out(self, arms->count);
    size_t count = self->features.count, points = self->features.point_count;
    const float *phi = room + w.phi;
    memcpy(kept, phi + arm * count, count * sizeof *kept);
    kept += count;
    memcpy(kept, room + w.points + arm * points, points * sizeof *kept);
    kept += points;
    if (!keeps_others(self, round)) return;
    memcpy(kept, phi, arm * count * sizeof *kept);
    memcpy(kept + arm * count, phi + (arm + 1) * count, (arms->count - arm - 1) * count * sizeof *kept);
}

/* The other arms that were stored. */
static size_t extra_count(const network_exploration *self, const observation *o)
{
    return (o->kept_count - self->features.point_count) / self->features.count - 1;
}

static ee_status reserve(exploration *base, const observation *o, ee_error *error)
{
    network_exploration *self = (network_exploration *)base;
    return learner_reserve(&self->f2, 1 + extra_count(self, o), vector_dense(o->kept, self->features.count), error);
}

/* ---- learning ---- */

static void append(network_exploration *self, const float *phi, float label)
{
    learner_append(&self->f2, vector_dense(phi, self->features.count), label);
}

static void window_add(network_exploration *self, const float *point, float label, uint64_t round)
{
    gradient_window *w = &self->window;
    size_t size = self->features.point_count;
    w->place = (size_t)(round % self->features.window);
    memcpy(w->displaced, w->points + w->place * size, size * sizeof *point);
    w->displaced_label = w->labels[w->place];
    memcpy(w->points + w->place * size, point, size * sizeof *point);
    w->labels[w->place] = label;
}

static void window_undo(network_exploration *self)
{
    gradient_window *w = &self->window;
    size_t size = self->features.point_count;
    if (w->fits) return;
    memcpy(w->points + w->place * size, w->displaced, size * sizeof *w->displaced);
    w->labels[w->place] = w->displaced_label;
}

static void take(exploration *base, const training_sample *s, const float *theta2)
{
    network_exploration *self = (network_exploration *)base;
    const observation *o = s->o;
    float offset = (float)self->options.label_offset;
    float gain = s->spread > 0 ? (s->reward - o->score.exploitation) / (float)s->spread : 0;
    float label = exploration_label(self->label, gain) + offset;
    size_t count = self->features.count, points = self->features.point_count;
    const float *phi = o->kept, *point = phi + count, *others = point + points;
    /* phi of a decision from before the last fit has old coordinates. */
    bool outdated = points && o->round < self->window.fitted_at;
    self->window.fits = false;
    if (points) window_add(self, point, label, s->round);
    if (outdated) {
        gradient_features_map(&self->features, fitted_in(self, theta2), point, self->window.remapped);
        phi = self->window.remapped;
    }
    append(self, phi, label);
    if (!s->best && keeps_others(self, s->round) && !outdated)
        for (size_t i = 0; i < extra_count(self, o); i++)
            append(self, others + i * count, (float)(self->options.extra_gain + self->options.label_offset));
    history_end_round(&self->f2.history);
}

static void refit_window(network_exploration *self, uint64_t rewards, float *theta2)
{
    const gradient_features *f = &self->features;
    gradient_window *w = &self->window;
    float *fitted = theta2 + self->f2.parameter_count;
    if (rewards < w->fitted_at + f->window) return;
    w->fitted_at = rewards;
    if (!gradient_features_fit(f, &w->embedding, w->gram, w->coordinates, w->points, fitted)) return;
    w->fits = true;
    learner_clear(&self->f2);
    for (size_t i = 0; i < f->window; i++) append(self, gradient_features_embedding(f, fitted, i), w->labels[i]);
    history_settle(&self->f2.history);
}

static bool prepare(exploration *base, uint64_t rewards, float *theta2)
{
    network_exploration *self = (network_exploration *)base;
    if (self->features.point_count) refit_window(self, rewards, theta2);
    return learner_prepare(&self->f2, theta2);
}

static bool descend(exploration *base, size_t rounds, float *theta2)
{
    network_exploration *self = (network_exploration *)base;
    return learner_prepare_descent(&self->f2, history_count_after(&self->f2.history, rounds), theta2);
}

static void undo(exploration *base, float *theta2)
{
    network_exploration *self = (network_exploration *)base;
    learner_abort(&self->f2, theta2);
    learner_undo(&self->f2);
    if (self->features.point_count) window_undo(self);
}

static void train(exploration *base, exploitation *f1, const float *theta1, float *theta2)
{
    (void)f1;
    (void)theta1;
    learner_commit(&((network_exploration *)base)->f2, theta2);
}

static void archive_network(exploration *base, archive *a)
{
    network_exploration *self = (network_exploration *)base;
    gradient_window *w = &self->window;
    learner_archive(&self->f2, a);
    if (!w->points) return;
    archive_floats(a, w->points, self->features.window * self->features.point_count);
    archive_floats(a, w->labels, self->features.window);
    archive_u64(a, &w->fitted_at);
}

const exploration_class network_exploration_class = {
    .create = create,
    .start = start,
    .scratch_count = scratch_count,
    .score = score,
    .kept_count = kept_count,
    .keep = keep,
    .reserve = reserve,
    .take = take,
    .prepare = prepare,
    .descend = descend,
    .undo = undo,
    .train = train,
    .archive = archive_network,
};
