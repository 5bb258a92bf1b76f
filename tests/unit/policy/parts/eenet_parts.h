/* What the tests of EE-Net's parts share: its options, and f1, f2 and f3 played one by one. */
#ifndef EENET_TEST_EENET_PARTS_H
#define EENET_TEST_EENET_PARTS_H

#include "engine/rounds.h"

#include "math/float_mode.h"
#include "policy/eenet_options.h"
#include "support_network.h"

/* EE-Net's defaults, then `text`. */
static inline eenet_options eenet_options_from(const char *text)
{
    const policy_class *class;
    const char *preset;
    eenet_options options;
    ok(policy_find("eenet", &class, &preset, &last_error));
    options_set_defaults(class->schema, &options);
    ok(options_parse(class->schema, text, &options, &last_error));
    return options;
}

/* ---- f1, f2 and f3 ---- */

enum { PARTS_DIM = 12, PARTS_SEED = 5 };

typedef struct parts {
    memory owner;
    eenet_options options;
    exploitation f1;
    exploration *f2;
    decision_maker f3;
    float *theta1, *theta2, *theta3;
    uint64_t round; /* rewards so far */
} parts;

/* From here on the test computes as the engine does. */
static inline void parts_make(parts *self, const char *options)
{
    ee_error error = {0};
    float_mode_enter();
    memset(self, 0, sizeof *self);
    self->options = eenet_options_from(options);
    policy_setup setup = {NULL, &self->owner, PARTS_DIM, PARTS_SEED, &self->options, SIZE_MAX, NULL, 0};
    ee_status status = exploitation_create(&self->f1, &setup, &error);
    if (!status) status = exploitation_start(&self->f1, &setup, 0, &error);
    exploration_setup second = {
        &self->options.exploration, &self->owner, &self->f1.f1.networks[0], PARTS_SEED, SIZE_MAX, 1};
    if (!status) status = exploration_create(&second, &self->f2, &error);
    if (!status) status = memory_create(&self->owner, &self->theta2, self->f2->theta_count, sizeof(float), &error);
    if (!status)
        status = decision_maker_create(&self->f3, &self->owner, &self->options.decision,
                                       self->options.exploration.network.label_offset, PARTS_SEED, SIZE_MAX, &error);
    size_t theta3_count = decision_maker_theta_count(&self->f3);
    if (!status) status = memory_create(&self->owner, &self->theta3, theta3_count, sizeof(float), &error);
    if (status) fail_msg("%s: %s", options, error.message);
    learner_start(&self->f3.f3, self->theta3);
    self->theta1 = self->f1.base.parameters.values;
    self->f2->class->start(self->f2, self->f1.f1.initial, self->theta2);
}

static inline void parts_free(parts *self)
{
    memory_release(&self->owner);
}

/* Arms of a round: where there are blocks, the first arm's values in one block after the other. */
static inline void parts_draw(const parts *self, round_arms *round, uint64_t number, size_t count)
{
    size_t blocks = (size_t)self->options.exploitation.common.blocks, block = PARTS_DIM / blocks;
    round_draw(round, number, count, PARTS_DIM, blocks > 1 ? PARTS_DIM : PARTS_DIM / 2);
    if (blocks == 1) return;
    float context[PARTS_DIM];
    memcpy(context, round->values, sizeof context);
    for (size_t i = 0; i < count * PARTS_DIM; i++)
        round->values[i] = i % PARTS_DIM / block == i / PARTS_DIM % blocks ? context[i % block] : 0;
    round_compress(round, count, PARTS_DIM);
}

/* ---- playing ---- */

/* A decision that waits for its reward. */
typedef struct parts_decision {
    observation seen;
    float values[PARTS_DIM]; /* of the played arm */
    uint32_t indices[PARTS_DIM];
    guard kept;
} parts_decision;

/* The room of a round in which all arms have been scored, ending at a wall. scores is (arms->count). */
static inline float *parts_score(const parts *self, const ee_arms *arms, guard *end, ee_score *scores)
{
    const exploration_class *class = self->f2->class;
    float *room = guard_end(end, class->scratch_count(self->f2, arms->count));
    auto_free float *activations = malloc(exploitation_pass_count(&self->f1, arms->count) * sizeof *activations);
    passed_arms passed = {.arms = arms};
    for (size_t i = 0; i < arms->count; i++) scores[i] = (ee_score){NAN, NAN, NAN};
    while (exploitation_pass(&self->f1.base.parameters, activations, &passed, scores))
        class->score(self->f2, &self->f1.base.parameters, self->theta2, &passed, room, scores);
    RELEASED_BY(guard_free) guard third;
    float *room_of_f3 = guard_end(&third, decision_maker_scratch_count(&self->f3));
    decision_maker_score(&self->f3, self->theta3, self->round, room_of_f3, scores, arms->count);
    return room;
}

/* What f2 keeps of a decision, in memory that ends at a wall. */
static inline const float *parts_keep(const parts *self, const ee_arms *arms, size_t arm, const float *room, guard *end,
                                      size_t *count)
{
    const exploration_class *class = self->f2->class;
    *count = class->kept_count ? class->kept_count(self->f2, self->round, arms->count) : 0;
    float *kept = guard_end(end, *count);
    if (class->keep) class->keep(self->f2, self->round, arms, arm, room, kept);
    return kept;
}

/* Scores the arms of a round and plays this one. scores is (arms->count). */
static inline void parts_decide(const parts *self, const ee_arms *arms, size_t arm, parts_decision *made,
                                ee_score *scores)
{
    RELEASED_BY(guard_free) guard end;
    size_t count;
    float *room = parts_score(self, arms, &end, scores);
    const float *kept = parts_keep(self, arms, arm, room, &made->kept, &count);
    vector x = vector_of_arm(arms, arm);
    memcpy(made->values, x.values, x.count * sizeof *x.values);
    if (x.indices) memcpy(made->indices, x.indices, x.count * sizeof *x.indices);
    x = (vector){made->values, x.indices ? made->indices : NULL, x.count};
    made->seen = (observation){.round = self->round, .x = x, .score = scores[arm], .kept = kept, .kept_count = count};
}

/* The decision waits, as EE-Net is told before the next one. */
static inline void parts_await(parts *self, parts_decision *made)
{
    exploration_await(self->f2, &made->seen, self->f1.base.parameters.spread, self->theta1, self->theta2);
    made->seen.awaited = true;
}

/* Takes in a reward, as EE-Net does: all three observe it. */
static inline void parts_observe(parts *self, parts_decision *made, float reward)
{
    ee_error error = {0};
    learner *f1 = &self->f1.f1;
    observation *o = &made->seen;
    ee_status status = learner_reserve(f1, 1, o->x, &error);
    if (!status && self->f2->class->reserve) status = self->f2->class->reserve(self->f2, o, &error);
    if (!status) status = decision_maker_reserve(&self->f3, &error);
    if (status) fail_msg("%s", error.message);
    float optimal = decision_maker_optimal(&self->f3, reward);
    self->f1.base.units_before = self->f1.base.units;
    (void)reward_units_take(&self->f1.base.units, (double)reward);
    exploitation_take(&self->f1.base, o, reward);
    if (o->round == 0 && self->f1.base.units.on) o->score.exploitation = (float)self->f1.base.parameters.centre;
    history_set_predicted(&f1->history, f1->history.newest, o->score.exploitation);
    training_sample l = {o, reward, optimal > 0, self->round++, self->f1.base.parameters.spread};
    exploration_take(self->f2, &l, self->theta2);
    decision_maker_take(&self->f3, o->score, optimal);
    exploration_observe(self->f2, &l, self->theta1, self->theta2);
    self->f1.base.parameters.round = self->round;
    guard_free(&made->kept);
}

static inline void parts_train_f2(parts *self)
{
    assert_true(exploration_prepare(self->f2, self->round, self->theta2));
    self->f2->class->train(self->f2, &self->f1, self->theta1, self->theta2);
}

static inline void parts_train(parts *self)
{
    assert_true(learner_train(&self->f1.f1, self->theta1));
    parts_train_f2(self);
    assert_true(decision_maker_prepare(&self->f3, self->theta3));
    decision_maker_train(&self->f3, self->theta3);
}

#endif
