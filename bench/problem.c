#include "problem.h"

#include <stdbool.h>

#include "base/memory.h"
#include "base/random.h"

struct problem {
    const problem_shape *shape;
    size_t rounds;
    size_t stored;     /* entries of an arm */
    float *values;     /* (rounds, arms, stored) */
    uint32_t *indices; /* (rounds, arms, stored); NULL where dense */
    size_t *starts;    /* (arms + 1), the same in every round; NULL where dense */
};

static void draw_dense(problem *self, random_stream *draw)
{
    size_t count = self->rounds * self->shape->arms * self->stored;
    for (size_t i = 0; i < count; i++) self->values[i] = (float)random_normal(draw) / 4;
}

/* One entry in each of as many equal parts of the block as there are non-zeros: ascending, and never twice the same. */
static void draw_arm(problem *self, size_t round, size_t arm, random_stream *draw)
{
    const problem_shape *shape = self->shape;
    size_t side = shape->dim / shape->blocks, part = side / self->stored;
    size_t at = (round * shape->arms + arm) * self->stored, first = round * shape->arms * self->stored;
    bool copied = shape->blocks > 1 && arm > 0;
    for (size_t i = 0; i < self->stored; i++) {
        size_t index = copied ? self->indices[first + i] + arm * side : i * part + random_below(draw, part);
        self->indices[at + i] = (uint32_t)index;
        self->values[at + i] = copied ? self->values[first + i] : (float)random_unit(draw) / 10;
    }
}

static ee_status create_sparse(problem *self, random_stream *draw, ee_error *error)
{
    const problem_shape *shape = self->shape;
    ee_status status = memory_create(NULL, &self->starts, shape->arms + 1, sizeof *self->starts, error);
    if (!status)
        status = memory_create(NULL, &self->indices, self->rounds * shape->arms * self->stored, sizeof *self->indices,
                               error);
    if (status) return status;
    for (size_t arm = 0; arm <= shape->arms; arm++) self->starts[arm] = arm * self->stored;
    for (size_t round = 0; round < self->rounds; round++)
        for (size_t arm = 0; arm < shape->arms; arm++) draw_arm(self, round, arm, draw);
    return EE_OK;
}

ee_status problem_create(const problem_shape *shape, size_t rounds, problem **out, ee_error *error)
{
    problem *self = NULL;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    self->shape = shape;
    self->rounds = rounds;
    self->stored = shape->nonzeros ? shape->nonzeros : shape->dim;
    random_stream draw = random_named(1, "problem");
    status = memory_create(NULL, &self->values, rounds * shape->arms * self->stored, sizeof *self->values, error);
    if (!status && shape->nonzeros) status = create_sparse(self, &draw, error);
    if (!status && !shape->nonzeros) draw_dense(self, &draw);
    if (status) {
        problem_free(self);
        self = NULL;
    }
    *out = self;
    return status;
}

void problem_free(problem *self)
{
    if (!self) return;
    memory_free(self->values);
    memory_free(self->indices);
    memory_free(self->starts);
    memory_free(self);
}

const problem_shape *problem_shape_of(const problem *self)
{
    return self->shape;
}

ee_arms problem_round(const problem *self, size_t round)
{
    const problem_shape *shape = self->shape;
    size_t at = round % self->rounds * shape->arms * self->stored;
    if (!shape->nonzeros) return ee_arms_dense(self->values + at, shape->arms, shape->dim);
    return ee_arms_sparse(self->starts, self->indices + at, self->values + at, shape->arms, shape->dim);
}

double problem_reward(const problem *self, size_t round, size_t arm)
{
    const problem_shape *shape = self->shape;
    size_t at = (round % self->rounds * shape->arms + arm) * self->stored;
    if (shape->blocks > 1) return round % self->rounds % shape->arms == arm;
    return self->values[at] > (shape->nonzeros ? 0.05f : 0.0f);
}
