/* Draws the scores of the arms. Arms that share no block of A have independent scores, so the arms are first put into
 * groups: two arms are in one group if they have features of the same block, or if other arms link them. */
#include <string.h>

#include "cholesky.h"
#include "doubles.h"
#include "ridge.h"
#include "ridge_state.h"

static const uint32_t NONE = UINT32_MAX;

typedef struct drawing {
    const double *state;
    size_t dim;
    size_t places; /* of the features, which are ordered by place */
    size_t most;   /* features that an arm may have: dim, plus all places without a column */
    const ee_arms *arms;
    random_stream *random;
    double *deviations; /* (arms) */

    double *matrix;  /* (order, order), order the least of dim and arms */
    double *normals; /* (order) */
    double *product; /* (most) */

    uint32_t *of_block;     /* (most) at the head of a block: an arm with a feature of it, or NONE */
    uint32_t *of_feature;   /* (most) the first arm that has a feature, or NONE */
    uint32_t *of_place;     /* (places) the feature of a place that an arm has, or NONE */
    uint32_t *features;     /* (most) that arms have, group after group */
    uint32_t *roots;        /* (arms) an arm's group, by an arm of it: the first, once all are joined */
    uint32_t *members;      /* (arms) the arms, group after group */
    uint32_t *feature_ends; /* (arms) at the first arm of a group: where it ends in features */
    uint32_t *member_ends;  /* (arms) the same in members */
} drawing;

static size_t order_of(size_t dim, size_t arms)
{
    return dim < arms ? dim : arms;
}

size_t ridge_draw_room(size_t dim, size_t arms)
{
    size_t order = order_of(dim, arms), places = 4 * dim + 4 * arms;
    return order * order + order + dim + (places * sizeof(uint32_t) + sizeof(double) - 1) / sizeof(double);
}

static void take_room(drawing *self, double *room)
{
    size_t dim = self->most, count = self->arms->count, order = order_of(dim, count);
    self->matrix = room;
    self->normals = self->matrix + order * order;
    self->product = self->normals + order;
    self->of_block = (uint32_t *)(void *)(self->product + dim);
    self->of_feature = self->of_block + dim;
    self->of_place = self->of_feature + dim;
    self->features = self->of_place + self->places;
    self->roots = self->features + dim;
    self->members = self->roots + count;
    self->feature_ends = self->members + count;
    self->member_ends = self->feature_ends + count;
    memset(self->product, 0, dim * sizeof *self->product); /* zeros of a dense arm are multiplied too */
}

/* ---- groups ---- */

static uint32_t root_of(uint32_t *roots, uint32_t arm)
{
    while (roots[arm] != arm) arm = roots[arm] = roots[roots[arm]];
    return arm;
}

static void join(uint32_t *roots, uint32_t a, uint32_t b)
{
    a = root_of(roots, a);
    b = root_of(roots, b);
    if (a < b)
        roots[b] = a;
    else
        roots[a] = b;
}

static void join_arms(drawing *self)
{
    memset(self->of_block, 0xff, self->most * sizeof *self->of_block); /* NONE */
    memset(self->of_feature, 0xff, self->most * sizeof *self->of_feature);
    memset(self->of_place, 0xff, self->places * sizeof *self->of_place);
    for (uint32_t arm = 0; arm < self->arms->count; arm++) {
        vector x = vector_of_arm(self->arms, arm);
        self->roots[arm] = arm;
        for (size_t i = 0; i < x.count; i++) {
            size_t feature = x.indices ? x.indices[i] : i, block = ridge_block(self->state, self->dim, feature);
            if (x.values[i] == 0) continue;
            if (self->of_feature[feature] == NONE) self->of_feature[feature] = arm;
            self->of_place[ridge_place(self->state, self->dim, feature)] = (uint32_t)feature;
            if (self->of_block[block] == NONE)
                self->of_block[block] = arm;
            else
                join(self->roots, arm, self->of_block[block]);
        }
    }
    for (uint32_t arm = 0; arm < self->arms->count; arm++) self->roots[arm] = root_of(self->roots, arm);
}

/* Turns counts, at the first arms of groups, into the start of each group in a list. */
static void starts_of_counts(const drawing *self, uint32_t *counts)
{
    uint32_t start = 0;
    for (size_t arm = 0; arm < self->arms->count; arm++) {
        uint32_t count = counts[arm];
        counts[arm] = start;
        start += count;
    }
}

/* Lists arms and features by group. An end is first a count, then the start of the group, and advances as entries are
 * added. */
static void list_groups(drawing *self)
{
    size_t count = self->arms->count;
    memset(self->feature_ends, 0, count * sizeof *self->feature_ends);
    memset(self->member_ends, 0, count * sizeof *self->member_ends);
    for (size_t arm = 0; arm < count; arm++) self->member_ends[self->roots[arm]]++;
    for (size_t place = 0; place < self->places; place++) {
        uint32_t f = self->of_place[place];
        if (f != NONE) self->feature_ends[self->roots[self->of_feature[f]]]++;
    }
    starts_of_counts(self, self->member_ends);
    starts_of_counts(self, self->feature_ends);
    for (uint32_t arm = 0; arm < count; arm++) self->members[self->member_ends[self->roots[arm]]++] = arm;
    for (size_t place = 0; place < self->places; place++) {
        uint32_t f = self->of_place[place];
        if (f != NONE) self->features[self->feature_ends[self->roots[self->of_feature[f]]]++] = f;
    }
}

/* ---- the draw of a group ---- */

/* values (order) = a draw from the normal distribution with the covariance in the matrix */
static double drawn_entry(const drawing *self, size_t order, size_t i)
{
    return doubles_dot(self->matrix + i * order, self->normals, i + 1);
}

/* Factors the lower triangle of the covariance. It is singular if arms repeat or outnumber their dimension. */
static void draw_normals(drawing *self, size_t order)
{
    cholesky_factor_semidefinite(self->matrix, order, 1e-12, 0);
    for (size_t i = 0; i < order; i++) self->normals[i] = random_normal(self->random);
}

static void draw_features(drawing *self, const uint32_t *members, size_t count, const uint32_t *features, size_t order)
{
    for (size_t i = 0; i < order; i++) {
        const double *row = self->state + features[i] * self->dim;
        double *to = self->matrix + i * order;
        for (size_t j = 0; j <= i; j++)
            to[j] = features[i] < self->dim && features[j] < self->dim ? row[features[j]] : 0;
        if (to[i] == 0) to[i] = ridge_prior(self->state, self->dim);
    }
    draw_normals(self, order);
    for (size_t i = 0; i < order; i++) self->product[features[i]] = drawn_entry(self, order, i);
    for (size_t i = 0; i < count; i++)
        self->deviations[members[i]] = ridge_dot(self->product, vector_of_arm(self->arms, members[i]));
}

/* product = A^-1 x, for a dense x */
static void multiply_dense(drawing *self, vector x)
{
    size_t dim = self->dim;
    memset(self->product, 0, dim * sizeof *self->product);
    for (size_t i = 0; i < dim; i++) {
        const double *row = self->state + i * dim;
        if (x.values[i] == 0) continue;
        if (row[i] == 0)
            self->product[i] += ridge_prior(self->state, dim) * x.values[i];
        else
            doubles_add_scaled(self->product, x.values[i], row, dim);
    }
}

static void draw_arms(drawing *self, const uint32_t *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        vector x = vector_of_arm(self->arms, members[i]);
        if (!x.indices) multiply_dense(self, x);
        for (size_t j = 0; j <= i; j++) {
            vector other = vector_of_arm(self->arms, members[j]);
            self->matrix[i * count + j] =
                x.indices ? ridge_covariance(self->state, self->dim, x, other) : ridge_dot(self->product, other);
        }
    }
    draw_normals(self, count);
    for (size_t i = 0; i < count; i++) self->deviations[members[i]] = drawn_entry(self, count, i);
}

void ridge_draw(const double *state, size_t dim, const ee_arms *arms, random_stream *random, double *room,
                double *deviations)
{
    drawing self = {.state = state, .dim = dim, .arms = arms, .random = random, .deviations = deviations};
    size_t first_member = 0, first_feature = 0;
    size_t places = ridge_places(state, dim);
    self.places = places ? places : dim;
    self.most = dim + places;
    take_room(&self, room);
    join_arms(&self);
    list_groups(&self);
    for (size_t arm = 0; arm < arms->count; arm++) {
        if (self.roots[arm] != arm) continue;
        size_t members = self.member_ends[arm] - first_member, features = self.feature_ends[arm] - first_feature;
        if (features < members)
            draw_features(&self, self.members + first_member, members, self.features + first_feature, features);
        else
            draw_arms(&self, self.members + first_member, members);
        first_member += members;
        first_feature += features;
    }
}
