/* EE-Net: Ban, Yan, Banerjee, He, "EE-Net: Exploitation-Exploration Neural Networks in Contextual Bandits", ICLR 2022.
 *
 *   in the paper                     here
 *   f1(x; theta1)                    exploitation (parts/exploitation.h), score.exploitation
 *   f2(phi(grad f1); theta2)         exploration (parts/exploration.h), score.exploration
 *   f3(f1, f2; theta3)               decision_maker (parts/decision_maker.h), score.score
 *   phi, the gradient's features     parts/gradient_features.h
 *   r_t - f1, the potential gain     exploration_label
 *   p_t                              decision_maker_optimal
 *   c_r, extra samples               parts/network_exploration.c
 *   theta_0                          learner_start of each network
 *
 *   line of Algorithm 1                      function
 *   1      initialise theta_0                create
 *   3-6    f1, f2 and f3 of every arm        score
 *   7-8    play the best, see its reward     the engine (engine/deciding.h, engine/propensity.h)
 *   9      GradientDescent                   learn
 *   12-17  L1 and its descent                take, descend_networks
 *   18-23  L2 and its descent                the same, by take and descend of parts/network_exploration.c
 *   24-30  p_t, L3 and its descent           the same, by parts/decision_maker.c
 *   31-32  draw (theta1, theta2), theta3     descend_networks, which draws first (parts/drawing.h)
 *
 * eenet:paper is Algorithm 1. In the default preset f2 is a regression on f1's gradient, f3 a sum, and the latest
 * parameters decide.
 *
 * Parameters: theta1, padded to a cache line, theta2, theta3. */
#include <string.h>

#include "base/memory.h"
#include "eenet_options.h"

typedef struct eenet {
    exploitation exploitation; /* the policy, its schedule, and f1 */
    exploration *exploration;
    decision_maker decision_maker;
    drawing drawing;
    size_t theta2, theta3; /* offsets in the parameters */
} eenet;

/* ---- making ---- */

static ee_status create_parts(eenet *self, const policy_setup *setup, ee_error *error)
{
    const eenet_options *o = setup->options;
    const network *f1 = &self->exploitation.f1.networks[0];
    ee_status status = eenet_check(o, error);
    if (!status) status = exploitation_create(&self->exploitation, setup, error);
    if (status) return status;
    exploration_setup second = {&o->exploration, setup->memory,          f1,
                                setup->seed,     setup->most_parameters, (size_t)o->exploitation.common.arms};
    status = exploration_create(&second, &self->exploration, error);
    if (!status)
        status = decision_maker_create(&self->decision_maker, setup->memory, &o->decision,
                                       o->exploration.network.label_offset, setup->seed, setup->most_parameters, error);
    if (status) return status;
    size_t theta3_count = decision_maker_theta_count(&self->decision_maker);
    self->theta2 = exploitation_end(&self->exploitation);
    self->theta3 = self->theta2 + self->exploration->theta_count;
    status = exploitation_start(&self->exploitation, setup, self->exploration->theta_count + theta3_count, error);
    if (!status)
        status =
            drawing_create(&self->drawing, setup->memory, &o->drawing, self->theta3, theta3_count, setup->seed, error);
    return status;
}

static ee_status create(const policy_setup *given, policy **out, ee_error *error)
{
    eenet *self;
    eenet_options options = *(const eenet_options *)given->options;
    policy_setup changed = *given, *setup = &changed;
    setup->options = &options;
    /* The output of f3 as a network is not a reward, so arm memory cannot correct it. */
    if (options.decision.kind.pick != DECISION_LINEAR) options.exploitation.common.recall = 0;
    /* f2 as a network, and drawing, need all places. */
    bool stores_columns =
        options.exploration.kind.pick == EXPLORATION_RIDGE && options.drawing.keep.pick == DRAWING_LAST;
    if (!stores_columns) setup->room = NULL;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (status) return status;
    status = create_parts(self, setup, error);
    if (status) return status;
    if (options.exploration.kind.pick == EXPLORATION_RIDGE)
        self->exploitation.base.recall_width = (float)options.exploration.regression.recall_width;
    float *theta = self->exploitation.base.parameters.values;
    self->exploration->class->start(self->exploration, self->exploitation.f1.initial, theta + self->theta2);
    learner_start(&self->decision_maker.f3, theta + self->theta3);
    self->exploitation.base.parameters.floats = self->exploitation.base.parameters.count;
    drawing_start(&self->drawing, theta);
    *out = &self->exploitation.base;
    return EE_OK;
}

static void start_column(policy *base, size_t place)
{
    eenet *self = (eenet *)base;
    size_t column = self->exploitation.f1.used;
    exploitation_start_column(base, place);
    self->exploration->class->start_column(self->exploration, column, self->exploitation.f1.initial);
}

/* ---- scoring ---- */

/* In the scratch: the activations of f1, those of f3, then what f2 needs. */
static size_t room_of_f3(const eenet *self, size_t arms)
{
    return exploitation_pass_count(&self->exploitation, arms);
}

static size_t room_of_f2(const eenet *self, size_t arms)
{
    return room_of_f3(self, arms) + decision_maker_scratch_count(&self->decision_maker);
}

static size_t scratch_count(const policy *base, size_t arms)
{
    const eenet *self = (const eenet *)base;
    return room_of_f2(self, arms) + self->exploration->class->scratch_count(self->exploration, arms);
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const eenet *self = (const eenet *)learned->policy;
    const float *theta1 = learned->values, *theta2 = theta1 + self->theta2, *theta3 = theta1 + self->theta3;
    float *of_f2 = room->values + room_of_f2(self, arms->count);
    passed_arms passed = {.arms = arms};
    while (exploitation_pass(learned, room->values, &passed, scores))
        self->exploration->class->score(self->exploration, learned, theta2, &passed, of_f2, scores);
    decision_maker_score(&self->decision_maker, theta3, learned->round, room->values + room_of_f3(self, arms->count),
                         scores, arms->count);
}

/* Arm memory is on only with a linear f3. */
static float expected_reward(const parameters *learned, ee_score score)
{
    const eenet *self = (const eenet *)learned->policy;
    return decision_maker_linear(&self->decision_maker, learned->round, score);
}

static size_t kept_count(const policy *base, uint64_t round, size_t arms)
{
    return exploration_kept_count(((const eenet *)base)->exploration, round, arms);
}

static void keep(const parameters *learned, const ee_arms *arms, size_t arm, const scratch *room, float *kept)
{
    const eenet *self = (const eenet *)learned->policy;
    const exploration *f2 = self->exploration;
    f2->class->keep(f2, learned->round, arms, arm, room->values + room_of_f2(self, arms->count), kept);
}

/* ---- learning ---- */

static ee_status reserve(policy *base, const observation *o, ee_error *error)
{
    eenet *self = (eenet *)base;
    ee_status status = exploitation_reserve(base, o, error);
    if (!status) status = exploration_reserve(self->exploration, o, error);
    if (!status) status = decision_maker_reserve(&self->decision_maker, error);
    return status;
}

/* The parameters that training changes: those that decide, or the latest. */
static float *trained_theta(eenet *self)
{
    return self->drawing.kind == DRAWING_RESERVOIR ? self->drawing.latest : self->exploitation.base.parameters.values;
}

/* Adds the reward to the samples of all three networks. seen is the observation of the sample. */
static void take(eenet *self, training_sample *sample, observation *seen, float optimal)
{
    history *samples = &self->exploitation.f1.history;
    exploitation_take(&self->exploitation.base, sample->o, sample->reward);
    sample->spread = self->exploitation.base.parameters.spread;
    /* Before any reward there was no centre, and f1 predicted 0: add the centre. */
    if (seen->round == 0 && self->exploitation.base.units.on)
        seen->score.exploitation = (float)self->exploitation.base.parameters.centre;
    history_set_predicted(samples, samples->newest, sample->o->score.exploitation);
    exploration_take(self->exploration, sample, self->exploitation.base.parameters.values + self->theta2);
    decision_maker_take(&self->decision_maker, sample->o->score, optimal);
}

/* Trains all three networks from the current theta. */
static bool train_networks(eenet *self, uint64_t rewards, float *theta)
{
    return learner_prepare(&self->exploitation.f1, theta) &&
           exploration_prepare(self->exploration, rewards, theta + self->theta2) &&
           decision_maker_prepare(&self->decision_maker, theta + self->theta3);
}

/* Sets theta to the result of descent from theta_0 on the samples of a drawn number of rounds. */
static bool descend_networks(eenet *self, float *theta)
{
    random_stream before = self->drawing.stream;
    size_t rounds = self->exploitation.f1.history.count, drawn = drawing_round(&self->drawing, rounds);
    bool learned = learner_prepare_descent(&self->exploitation.f1, drawn, theta) &&
                   self->exploration->class->descend(self->exploration, drawn, theta + self->theta2);
    if (learned && decision_maker_learns(&self->decision_maker))
        learned =
            decision_maker_descend(&self->decision_maker, drawing_round(&self->drawing, rounds), theta + self->theta3);
    if (!learned) self->drawing.stream = before;
    return learned;
}

/* Undoes take(), train_networks() and descend_networks(). */
static void undo(eenet *self, float *theta)
{
    exploitation_undo(&self->exploitation.base, theta);
    exploration_undo(self->exploration, theta + self->theta2);
    decision_maker_undo(&self->decision_maker, theta + self->theta3);
}

/* Keeps what was prepared. */
static void commit(eenet *self, const training_sample *sample, bool trains, float *theta)
{
    float *theta2 = theta + self->theta2;
    exploration_observe(self->exploration, sample, theta, theta2);
    self->exploitation.base.parameters.round++;
    if (!trains) return;
    learner_commit(&self->exploitation.f1, theta);
    self->exploration->class->train(self->exploration, &self->exploitation, theta, theta2);
    decision_maker_train(&self->decision_maker, theta + self->theta3);
    if (self->drawing.kind != DRAWING_RESERVOIR) return;
    drawing_store(&self->drawing);
    drawing_draw(&self->drawing, self->exploitation.base.parameters.values);
    exploitation_set_weights(&self->exploitation); /* theta is drawn */
}

static bool learn(policy *base, const observation *o, float reward)
{
    eenet *self = (eenet *)base;
    float *theta = trained_theta(self), optimal = decision_maker_optimal(&self->decision_maker, reward); /* p_t */
    observation seen = *o;
    training_sample sample = {.o = &seen, .reward = reward, .best = optimal > 0, .round = base->parameters.round};
    bool trains = exploitation_trains_next(base), learned = true;
    take(self, &sample, &seen, optimal);
    if (trains)
        learned = self->drawing.kind == DRAWING_ALL ? descend_networks(self, theta)
                                                    : train_networks(self, sample.round + 1, theta);
    if (learned)
        commit(self, &sample, trains, theta);
    else
        undo(self, theta);
    return learned;
}

static float await(policy *base, const observation *o)
{
    eenet *self = (eenet *)base;
    float *theta = trained_theta(self);
    exploration_await(self->exploration, o, base->parameters.spread, theta, theta + self->theta2);
    return 0;
}

static size_t copy(const policy *base, uint64_t first, float *to)
{
    const eenet *self = (const eenet *)base;
    const parameters *learned = &base->parameters;
    const float *theta2 = learned->values + self->theta2, *theta3 = learned->values + self->theta3;
    if (self->drawing.kind != DRAWING_LAST || !self->exploration->class->copy) {
        memcpy(to, learned->values, learned->count * sizeof *to);
        return learned->count;
    }
    size_t theta3_count = learned->count - self->theta3;
    memcpy(to + self->theta3, theta3, theta3_count * sizeof *to);
    return exploitation_copy_f1(base, first, to) +
           self->exploration->class->copy(self->exploration, theta2, first, to + self->theta2) + theta3_count;
}

/* An older theta2 may have another length: archive_eenet recomputes it. */
static void read_earlier(policy *base, size_t at, archive *a)
{
    const eenet *self = (const eenet *)base;
    const exploration_class *f2 = self->exploration->class;
    float *theta = base->parameters.values, *read;
    if (!f2->earlier_theta_count) {
        archive_sparse_floats(a, theta + at, base->parameters.count - at);
        return;
    }
    size_t theta1_count = self->theta2 - at, theta3_count = base->parameters.count - self->theta3;
    size_t before_theta3 = theta1_count + f2->earlier_theta_count(self->exploration, a->gone);
    if (!a->status) a->status = memory_create(NULL, &read, before_theta3 + theta3_count, sizeof *read, a->error);
    if (a->status) return;
    archive_sparse_floats(a, read, before_theta3 + theta3_count);
    memcpy(theta + at, read, theta1_count * sizeof *read);
    memcpy(theta + self->theta3, read + before_theta3, theta3_count * sizeof *read);
    memory_free(read);
}

static void archive_eenet(policy *base, archive *a)
{
    eenet *self = (eenet *)base;
    exploitation_archive(base, a);
    self->exploration->class->archive(self->exploration, a);
    if (a->version < eenet_class.earlier.version && self->exploration->class->restore && !a->status)
        self->exploration->class->restore(self->exploration, base->parameters.spread,
                                          base->parameters.values + self->theta2);
    learner_archive(&self->decision_maker.f3, a);
    drawing_archive(&self->drawing, a);
    size_t rounds = decision_maker_learns(&self->decision_maker) ? self->exploitation.f1.history.count : 0;
    if (self->drawing.kind == DRAWING_ALL && self->decision_maker.f3.history.count != rounds)
        archive_fail(a, EE_BAD_MODEL, "model: f1 and f3 have not seen the same rounds");
}

const policy_class eenet_class = {
    .summary = "EE-Net: f1 predicts the reward, f2 gives the exploration bonus, f3 decides",
    .paper =
        "Ban, Yan, Banerjee, He: EE-Net: Exploitation-Exploration Neural Networks in Contextual Bandits, ICLR 2022",
    .schema = &eenet_schema,
    .presets = {eenet_presets, EENET_PRESETS},
    .earlier = {.version = 12, .options = "f1.committee=1", .gone = "alpha"},
    .create = create,
    .scratch_count = scratch_count,
    .score = score,
    .arms_independent = true,
    .explain_count = exploitation_explain_count,
    .explain = exploitation_explain,
    .expected_reward = expected_reward,
    .kept_count = kept_count,
    .keep = keep,
    .reserve = reserve,
    .learn = learn,
    .await = await,
    .copy = copy,
    .start_column = start_column,
    .read_earlier = read_earlier,
    .archive = archive_eenet,
};
