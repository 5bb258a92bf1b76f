#include "reward_model.h"

#include <math.h>

#include "base/memory.h"
#include "evaluate/estimators/ridge_model.h"
#include "features/features.h"
#include "logged_bandit.h"

typedef struct reward_model_class {
    ee_status (*create)(const candidate_setup *setup, reward_model **out, ee_error *error);
    void (*free)(reward_model *self);
    ee_status (*play)(reward_model *self, const candidate_round *round, double weight, double *q, ee_error *error);
    ee_status (*freeze)(reward_model *self, ee_error *error);
} reward_model_class;

/* Every model's struct begins with this. */
struct reward_model {
    const reward_model_class *class;
    double low, high; /* of the learned rewards; low is above high before the first */
};

/* ---- f1: what a greedy bandit expects ---- */

typedef struct f1_model {
    reward_model base;
    logged_bandit player;
    ee_score *scores; /* (capacity) */
    size_t capacity;
} f1_model;

static const reward_model_class f1_class;

static void free_f1(reward_model *base)
{
    f1_model *self = (f1_model *)base;
    logged_bandit_release(&self->player);
    memory_free(self->scores);
    memory_free(self);
}

static ee_status create_f1(const candidate_setup *setup, reward_model **out, ee_error *error)
{
    f1_model *self;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    self->base.class = &f1_class;
    status = logged_bandit_create(&self->player, setup, "greedy", error);
    if (status)
        free_f1(&self->base);
    else
        *out = &self->base;
    return status;
}

static ee_status play_f1(reward_model *base, const candidate_round *round, double weight, double *q, ee_error *error)
{
    f1_model *self = (f1_model *)base;
    size_t count = round->event->count;
    ee_status status = memory_grow(NULL, &self->scores, &self->capacity, count, sizeof *self->scores, error);
    if (!status) status = logged_bandit_play(&self->player, round, weight != 0.0, NULL, q ? self->scores : NULL, error);
    for (size_t i = 0; !status && q && i < count; i++) q[i] = (double)self->scores[i].exploitation;
    return status;
}

static ee_status freeze_f1(reward_model *base, ee_error *error)
{
    return logged_bandit_freeze(&((f1_model *)base)->player, error);
}

static const reward_model_class f1_class = {create_f1, free_f1, play_f1, freeze_f1};

/* ---- ridge ---- */

typedef struct linear_model {
    reward_model base;
    memory memory; /* of what follows */
    ridge_model ridge;
    features names; /* of named features */
    bool frozen;
    uint64_t rows, next; /* learned rows; and their number at which it is solved again */
} linear_model;

static const reward_model_class linear_class;

static void free_linear(reward_model *base)
{
    memory_release(&((linear_model *)base)->memory);
    memory_free(base);
}

/* If a log has more names than the sums have room for, some share places. */
static ee_status create_names(linear_model *self, const char *text, ee_error *error)
{
    enum { SHARED = RIDGE_MODEL_DIM / 4, BITS = 12 };
    features_options options;
    ee_status status = features_read_options(&options, text, error);
    if (status) return status;
    if (features_dim(&options) > RIDGE_MODEL_DIM) {
        options.names = RIDGE_MODEL_DIM - SHARED;
        options.hashes = SHARED;
        options.bits = BITS;
    }
    return features_create(&self->names, &self->memory, &options, error);
}

static ee_status create_linear(const candidate_setup *setup, reward_model **out, ee_error *error)
{
    const double penalty = 1.0; /* like one event with reward 0 in each feature */
    const uint64_t first = 16;
    linear_model *self;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    self->base.class = &linear_class;
    self->next = first;
    if (!setup->dim) status = create_names(self, setup->features, error);
    size_t dim = setup->dim ? setup->dim : self->names.dim;
    if (!status) status = ridge_model_create(&self->ridge, &self->memory, dim, penalty, error);
    if (status)
        free_linear(&self->base);
    else
        *out = &self->base;
    return status;
}

/* Solved when there are twice the rows, then after each `dim` more, then after each quarter more: so solving costs
 * about as much as adding up. */
static ee_status learn_linear(linear_model *self, const ee_arms *arms, const log_event *event, double weight,
                              ee_error *error)
{
    ridge_model_add(&self->ridge, vector_of_arm(arms, event->action), event->reward, weight);
    if (++self->rows < self->next) return EE_OK;
    uint64_t step = self->rows < self->ridge.dim ? self->rows : self->ridge.dim;
    self->next = self->rows + (step > self->rows / 4 ? step : self->rows / 4);
    return ridge_model_solve(&self->ridge, error);
}

static ee_status play_linear(reward_model *base, const candidate_round *round, double weight, double *q,
                             ee_error *error)
{
    linear_model *self = (linear_model *)base;
    ee_arms arms = round->event->arms;
    ee_status status = EE_OK;
    if (round->features && !self->frozen) status = features_learn(&self->names, round->features, error);
    if (round->features && !status) status = features_encode(&self->names, round->features, &arms, error);
    if (status) return status;
    if (q) ridge_model_predict(&self->ridge, &arms, q);
    return weight == 0.0 ? EE_OK : learn_linear(self, &arms, round->event, weight, error);
}

static ee_status freeze_linear(reward_model *base, ee_error *error)
{
    linear_model *self = (linear_model *)base;
    self->frozen = true;
    return ridge_model_solve(&self->ridge, error);
}

static const reward_model_class linear_class = {create_linear, free_linear, play_linear, freeze_linear};

/* ---- any ---- */

ee_status reward_model_create(reward_model_kind kind, const candidate_setup *setup, reward_model **out, ee_error *error)
{
    static const reward_model_class *const classes[] = {
        [REWARD_MODEL_F1] = &f1_class,
        [REWARD_MODEL_RIDGE] = &linear_class,
    };
    ee_status status = classes[kind]->create(setup, out, error);
    if (status) return status;
    (*out)->low = INFINITY;
    (*out)->high = -INFINITY;
    return EE_OK;
}

void reward_model_free(reward_model *self)
{
    if (self) self->class->free(self);
}

ee_status reward_model_play(reward_model *self, const candidate_round *round, double weight, double *q, ee_error *error)
{
    ee_status status = self->class->play(self, round, weight, q, error);
    if (status) return status;
    for (size_t i = 0; q && self->low <= self->high && i < round->event->count; i++)
        q[i] = fmin(self->high, fmax(self->low, q[i]));
    if (weight == 0.0) return EE_OK;
    self->low = fmin(self->low, round->event->reward);
    self->high = fmax(self->high, round->event->reward);
    return EE_OK;
}

ee_status reward_model_freeze(reward_model *self, ee_error *error)
{
    return self->class->freeze(self, error);
}
