#include "ridge.h"

#include <math.h>
#include <string.h>

#include "cholesky.h"
#include "doubles.h"
#include "ridge_state.h"

static const uint32_t NONE = UINT32_MAX;

/* An update loses as many digits as its gain has; with a larger gain the block is factorised at once. Scores have
 * single precision, and features of a sane scale stay far below. */
static const double LARGEST_GAIN = 1e7;

/* Adjacent features of one block. */
typedef struct run {
    uint32_t first, count;
} run;

struct ridge {
    size_t dim, refresh;
    size_t places, used; /* if features are columns: how many there can be, and are; otherwise 0 and dim */
    uint32_t *sorted;    /* (dim) the columns in the order of their places; NULL: features are not columns */
    uint32_t *order;     /* (dim) the places of the columns */
    double lambda;
    double *sums;     /* (dim, dim) sum x x^T; only the lower triangle is used */
    double *moments;  /* (dim) sum y x */
    uint32_t *heads;  /* (dim) the first feature of the block that a feature is in; NONE: it was never seen */
    uint32_t *nexts;  /* (dim) the next feature of the same block, ascending; NONE after the last */
    uint64_t *counts; /* (dim) at the head of a block: updates since its factorisation */
    uint64_t *times;  /* (dim) at the head of a block: of its last sample */

    /* The sample being added. */
    uint32_t *support; /* (dim) its features, ascending */
    double *values;    /* (dim) their values */
    size_t support_count;

    /* The block that it is in. */
    uint32_t *members; /* (dim) its features, ascending */
    run *runs;         /* (dim) the same as runs */
    size_t member_count, run_count;

    double *product; /* (dim) A^-1 x, at the features of the block */
    double *block;   /* (dim, dim) the matrix being factorised, without gaps */
    double *column;  /* (dim) right-hand side */
    uint8_t *marks;  /* (dim) nonzero at the heads of blocks being joined */
};

/* ---- state ---- */

enum { LARGEST_DIM = 1 << 28 };

size_t ridge_saved_count(size_t dim)
{
    return dim > LARGEST_DIM ? SIZE_MAX / sizeof(double) : dim * dim + dim + 1;
}

size_t ridge_state_count(size_t dim)
{
    return dim > LARGEST_DIM ? SIZE_MAX / sizeof(double) : ridge_saved_count(dim) + 2 * dim + 1;
}

void ridge_start(const ridge *self, double *state)
{
    state[self->dim * self->dim + self->dim] = 1 / self->lambda;
    ridge_note_places(state, self->dim, self->places);
}

ee_status ridge_store_columns(ridge *self, memory *owner, size_t places, ee_error *error)
{
    self->places = places;
    self->used = 0;
    ee_status status = memory_create(owner, &self->sorted, self->dim, sizeof *self->sorted, error);
    return status ? status : memory_create(owner, &self->order, self->dim, sizeof *self->order, error);
}

void ridge_add_column(ridge *self, double *state, size_t place)
{
    uint32_t column = (uint32_t)self->used++;
    size_t at = column;
    for (; at > 0 && self->order[self->sorted[at - 1]] > place; at--) self->sorted[at] = self->sorted[at - 1];
    self->sorted[at] = column;
    self->order[column] = (uint32_t)place;
    ridge_note_place(state, self->dim, column, place);
}

double ridge_mean(const double *state, size_t dim, vector x)
{
    const double *theta = ridge_theta(state, dim);
    return ridge_places(state, dim) ? ridge_dot_within(theta, dim, x) : ridge_dot(theta, x);
}

void ridge_gradient(const double *state, size_t dim, vector x, float *gradient)
{
    const double *theta = ridge_theta(state, dim);
    for (size_t i = 0; i < x.count; i++) {
        size_t feature = x.indices ? x.indices[i] : i;
        gradient[i] = feature < dim ? (float)theta[feature] : 0;
    }
}

/* The entry of x at a feature. place advances as features ascend from call to call. */
static double entry_at(const double *state, size_t dim, vector x, size_t feature, size_t *place)
{
    if (!x.indices) return x.values[feature];
    if (ridge_places(state, dim)) {
        size_t wanted = ridge_place(state, dim, feature);
        while (*place < x.count && ridge_place(state, dim, x.indices[*place]) < wanted) ++*place;
    } else {
        while (*place < x.count && x.indices[*place] < feature) ++*place;
    }
    return *place < x.count && x.indices[*place] == feature ? x.values[*place] : 0;
}

double ridge_covariance(const double *state, size_t dim, vector a, vector b)
{
    double sum = 0, prior = ridge_prior(state, dim);
    bool stored = ridge_places(state, dim) != 0;
    size_t place = 0;
    for (size_t i = 0; i < a.count; i++) {
        if (a.values[i] == 0) continue;
        size_t feature = a.indices ? a.indices[i] : i;
        const double *row = state + feature * dim;
        if ((stored && feature >= dim) || row[feature] == 0)
            sum += a.values[i] * (prior * entry_at(state, dim, b, feature, &place));
        else
            sum += a.values[i] * (stored ? ridge_dot_within(row, dim, b) : ridge_dot(row, b));
    }
    return sum;
}

/* ---- making ---- */

ee_status ridge_create(memory *owner, size_t dim, double lambda, size_t refresh, ridge **out, ee_error *error)
{
    ridge *self;
    ee_status status = dim > LARGEST_DIM ? status_no_memory(error, SIZE_MAX) : EE_OK;
    if (!status) status = memory_create(owner, &self, 1, sizeof *self, error);
    if (status) return status;
    self->dim = self->used = dim;
    self->lambda = lambda;
    self->refresh = refresh;
    status = memory_create(owner, &self->sums, dim * dim, sizeof *self->sums, error);
    if (!status) status = memory_create(owner, &self->block, dim * dim, sizeof *self->block, error);
    if (!status) status = memory_create(owner, &self->moments, dim, sizeof *self->moments, error);
    if (!status) status = memory_create(owner, &self->heads, dim, sizeof *self->heads, error);
    if (!status) status = memory_create(owner, &self->nexts, dim, sizeof *self->nexts, error);
    if (!status) status = memory_create(owner, &self->counts, dim, sizeof *self->counts, error);
    if (!status) status = memory_create(owner, &self->times, dim, sizeof *self->times, error);
    if (!status) status = memory_create(owner, &self->support, dim, sizeof *self->support, error);
    if (!status) status = memory_create(owner, &self->values, dim, sizeof *self->values, error);
    if (!status) status = memory_create(owner, &self->members, dim, sizeof *self->members, error);
    if (!status) status = memory_create(owner, &self->runs, dim, sizeof *self->runs, error);
    if (!status) status = memory_create(owner, &self->product, dim, sizeof *self->product, error);
    if (!status) status = memory_create(owner, &self->column, dim, sizeof *self->column, error);
    if (!status) status = memory_create(owner, &self->marks, dim, sizeof *self->marks, error);
    if (status) return status;
    memset(self->heads, 0xff, dim * sizeof *self->heads); /* NONE */
    *out = self;
    return EE_OK;
}

/* ---- blocks ---- */

/* Compares features by their order. */
static uint32_t feature_at(const ridge *self, size_t turn)
{
    return self->sorted ? self->sorted[turn] : (uint32_t)turn;
}

static bool is_before(const ridge *self, uint32_t a, uint32_t b)
{
    return self->sorted ? self->order[a] < self->order[b] : a < b;
}

/* Sets nexts according to heads. */
static void link_blocks(ridge *self)
{
    uint32_t *last = self->members; /* of each block, at its head */
    for (size_t turn = 0; turn < self->used; turn++) {
        uint32_t f = feature_at(self, turn);
        uint32_t head = self->heads[f];
        self->nexts[f] = NONE;
        if (head == NONE) continue;
        if (head != f) self->nexts[last[head]] = f;
        last[head] = f;
    }
}

static bool support_is_joined(const ridge *self)
{
    uint32_t head = self->heads[self->support[0]];
    for (size_t i = 0; i < self->support_count; i++)
        if (self->heads[self->support[i]] != head) return false;
    return head != NONE;
}

/* Joins all blocks that the sample touches. This goes through all features, but at most once for each. */
static void join_support(ridge *self)
{
    uint32_t target = self->support[0];
    uint64_t count = 0;
    for (size_t i = 0; i < self->support_count; i++) {
        uint32_t head = self->heads[self->support[i]];
        if (head == NONE) {
            head = self->heads[self->support[i]] = self->support[i];
            self->counts[head] = 0;
        }
        if (!self->marks[head]) count += self->counts[head];
        self->marks[head] = 1;
        if (is_before(self, head, target)) target = head;
    }
    for (size_t f = 0; f < self->dim; f++) {
        uint32_t head = self->heads[f];
        if (head != NONE && self->marks[head]) self->heads[f] = target;
    }
    memset(self->marks, 0, self->dim);
    self->counts[target] = count;
    link_blocks(self);
}

static void list_block(ridge *self, uint32_t head)
{
    self->member_count = self->run_count = 0;
    for (uint32_t f = head; f != NONE; f = self->nexts[f]) {
        run *last = self->runs + self->run_count - 1;
        if (self->run_count && last->first + last->count == f)
            last->count++;
        else
            self->runs[self->run_count++] = (run){f, 1};
        self->members[self->member_count++] = f;
    }
}

static void note_block(const ridge *self, double *state, uint32_t head)
{
    for (size_t i = 0; i < self->member_count; i++) ridge_note_block(state, self->dim, self->members[i], head);
}

/* ---- learning ---- */

static void take_support(ridge *self, vector x)
{
    self->support_count = 0;
    for (size_t i = 0; i < x.count; i++) {
        if (x.values[i] == 0) continue;
        self->support[self->support_count] = x.indices ? x.indices[i] : (uint32_t)i;
        self->values[self->support_count++] = x.values[i];
    }
}

static void add_sums(ridge *self, double y)
{
    for (size_t i = 0; i < self->support_count; i++) {
        double *row = self->sums + self->support[i] * self->dim;
        for (size_t j = 0; j <= i; j++) row[self->support[j]] += self->values[i] * self->values[j];
        self->moments[self->support[i]] += y * self->values[i];
    }
}

/* product = A^-1 x; returns x . product */
static double multiply_support(ridge *self, const double *state)
{
    for (size_t r = 0; r < self->run_count; r++)
        memset(self->product + self->runs[r].first, 0, self->runs[r].count * sizeof *self->product);
    for (size_t i = 0; i < self->support_count; i++) {
        const double *row = state + self->support[i] * self->dim;
        for (size_t r = 0; r < self->run_count; r++) {
            run s = self->runs[r];
            doubles_add_scaled(self->product + s.first, self->values[i], row + s.first, s.count);
        }
    }
    double gain = 0;
    for (size_t i = 0; i < self->support_count; i++) gain += self->values[i] * self->product[self->support[i]];
    return gain;
}

/* A^-1 -= p p^T / (1 + gain) and theta += p (y - theta . x) / (1 + gain), with p = A^-1 x. */
static void update_state(ridge *self, double *state, double gain, double y)
{
    double *theta = state + self->dim * self->dim, error = y;
    for (size_t i = 0; i < self->support_count; i++) error -= theta[self->support[i]] * self->values[i];
    /* Scaled on both sides, so that the inverse stays symmetric to the last bit. */
    double scale = 1 / sqrt(1 + gain), *product = self->product;
    for (size_t i = 0; i < self->member_count; i++) {
        uint32_t f = self->members[i];
        theta[f] += product[f] * error / (1 + gain);
        product[f] *= scale;
    }
    for (size_t i = 0; i < self->member_count; i++) {
        double *row = state + self->members[i] * self->dim;
        for (size_t r = 0; r < self->run_count; r++) {
            run s = self->runs[r];
            doubles_add_scaled(row + s.first, -product[self->members[i]], product + s.first, s.count);
        }
    }
}

/* block = (1 + excess) (lambda I + the sums of the block) on the diagonal, and the sums elsewhere. */
static void gather_block(ridge *self, double excess)
{
    size_t n = self->member_count;
    for (size_t i = 0; i < n; i++) {
        const double *row = self->sums + self->members[i] * self->dim;
        double *to = self->block + i * n;
        for (size_t j = 0; j <= i; j++) to[j] = row[self->members[j]];
        to[i] = (to[i] + self->lambda) * (1 + excess);
        self->column[i] = self->moments[self->members[i]];
    }
}

/* If lambda is lost in the rounding of the sums, the diagonal is increased: at first by enough that the variances,
 * which are differences of entries of the inverse, keep some digits. */
static bool factor_block(ridge *self)
{
    for (double excess = 0; excess < 1; excess = excess == 0 ? 1e-12 : excess * 10) {
        gather_block(self, excess);
        if (cholesky_factor(self->block, self->member_count, 0)) return true;
    }
    return false;
}

/* Computes the inverse and theta of a block from the sums. Changes nothing if that is impossible, as with sums of a
 * damaged model. */
static void refresh_block(ridge *self, double *state)
{
    size_t n = self->member_count, dim = self->dim;
    if (!factor_block(self)) return;
    cholesky_solve(self->block, n, self->column);
    cholesky_invert(self->block, n);
    for (size_t i = 0; i < n; i++) {
        size_t f = self->members[i];
        for (size_t j = 0; j <= i; j++) {
            size_t g = self->members[j];
            state[f * dim + g] = state[g * dim + f] = self->block[i * n + j];
        }
        state[dim * dim + f] = self->column[i];
    }
}

void ridge_observe(ridge *self, double *state, vector x, double y, uint64_t time)
{
    take_support(self, x);
    if (!self->support_count) return;
    bool joined = support_is_joined(self);
    if (!joined) join_support(self);
    uint32_t head = self->heads[self->support[0]];
    list_block(self, head);
    if (!joined) note_block(self, state, head);
    self->times[head] = time;
    for (size_t i = 0; i < self->support_count; i++) {
        double *diagonal = state + self->support[i] * self->dim + self->support[i];
        if (*diagonal == 0) *diagonal = ridge_prior(state, self->dim);
    }
    add_sums(self, y);
    double gain = multiply_support(self, state);
    self->counts[head]++;
    if (gain >= 0 && gain <= LARGEST_GAIN && self->counts[head] < self->refresh) {
        update_state(self, state, gain, y);
        return;
    }
    refresh_block(self, state);
    self->counts[head] = 0;
}

void ridge_correct(ridge *self, double *state, vector x, double difference, uint64_t time)
{
    double *theta = state + self->dim * self->dim;
    take_support(self, x);
    /* A damaged model may claim that a sample was observed. */
    if (!self->support_count || !support_is_joined(self)) return;
    uint32_t head = self->heads[self->support[0]];
    list_block(self, head);
    self->times[head] = time;
    for (size_t i = 0; i < self->support_count; i++) self->moments[self->support[i]] += difference * self->values[i];
    multiply_support(self, state);
    for (size_t i = 0; i < self->member_count; i++)
        theta[self->members[i]] += difference * self->product[self->members[i]];
}

/* For the block in `members`. */
static void shift_block(ridge *self, double *state, const double *sum, double amount)
{
    double *theta = state + self->dim * self->dim;
    for (size_t i = 0; i < self->member_count; i++) {
        uint32_t f = self->members[i];
        double product = 0;
        for (size_t r = 0; r < self->run_count; r++) {
            run s = self->runs[r];
            product += doubles_dot(state + f * self->dim + s.first, sum + s.first, s.count);
        }
        theta[f] += amount * product;
        self->moments[f] += amount * sum[f];
    }
}

void ridge_shift(ridge *self, double *state, const double *sum, double amount, uint64_t time)
{
    for (uint32_t f = 0; f < self->used; f++) {
        if (self->heads[f] != f) continue;
        list_block(self, f);
        self->times[f] = time;
        shift_block(self, state, sum, amount);
    }
}

/* ---- copying ---- */

/* Copies the rows, theta and head of the block in `members`. Returns the number of doubles. */
static size_t copy_block(const ridge *self, const double *state, double *to)
{
    size_t dim = self->dim;
    for (size_t r = 0; r < self->run_count; r++) {
        run s = self->runs[r];
        for (size_t i = 0; i < self->member_count; i++) {
            size_t place = self->members[i] * dim + s.first;
            memcpy(to + place, state + place, s.count * sizeof *to);
        }
        memcpy(to + dim * dim + s.first, state + dim * dim + s.first, s.count * sizeof *to);
    }
    note_block(self, to, self->members[0]);
    return self->member_count * (self->member_count + 2);
}

size_t ridge_copy(ridge *self, const double *state, uint64_t since, double *to)
{
    size_t last = self->dim * self->dim + self->dim, copied = 1;
    to[last] = state[last];
    for (size_t f = 0; self->sorted && f < self->used; f++) ridge_note_place(to, self->dim, f, self->order[f]);
    ridge_note_places(to, self->dim, self->places);
    for (uint32_t f = 0; f < self->used; f++) {
        if (self->heads[f] != f || self->times[f] < since) continue;
        list_block(self, f);
        copied += copy_block(self, state, to);
    }
    return copied;
}

/* ---- saving and loading ---- */

static bool heads_are_sound(const ridge *self)
{
    for (uint32_t f = 0; f < self->used; f++) {
        uint32_t head = self->heads[f];
        if (head == NONE) continue;
        if (head >= self->used || is_before(self, f, head) || self->heads[head] != head) return false;
    }
    return true;
}

void ridge_archive_columns(const ridge *self, double *state, archive *a)
{
    enum { FLOATS = sizeof(double) / sizeof(float) };
    for (size_t f = 0; f < self->used; f++)
        archive_sparse_floats(a, (float *)(void *)(state + f * self->dim), self->used * FLOATS);
    archive_sparse_floats(a, (float *)(void *)(state + self->dim * self->dim), self->used * FLOATS);
}

/* Visits a row of the sums, without gaps, then its moment. */
static void archive_sums(ridge *self, size_t member, archive *a)
{
    double *row = self->sums + self->members[member] * self->dim, *packed = self->column;
    for (size_t j = 0; j <= member; j++) packed[j] = row[self->members[j]];
    archive_bytes(a, packed, (member + 1) * sizeof *packed);
    archive_bytes(a, &self->moments[self->members[member]], sizeof *self->moments);
    if (!a->reading || a->status) return;
    bool finite = isfinite(self->moments[self->members[member]]);
    for (size_t j = 0; j <= member; j++) {
        finite = finite && isfinite(packed[j]);
        row[self->members[j]] = packed[j];
    }
    if (!finite) archive_fail(a, EE_BAD_MODEL, "model: a sum of a ridge regression is not a finite number");
}

void ridge_archive(ridge *self, double *state, archive *a)
{
    archive_u32s(a, self->heads, self->used);
    if (a->reading && !a->status && !heads_are_sound(self))
        archive_fail(a, EE_BAD_MODEL, "model: invalid blocks of a ridge regression");
    if (a->status) return;
    link_blocks(self);
    for (uint32_t f = 0; f < self->used && !a->status; f++) {
        if (self->heads[f] != f) continue;
        archive_count(a, &self->counts[f], 0, self->refresh, "updates of a ridge regression");
        list_block(self, f);
        if (a->reading) note_block(self, state, f);
        for (size_t i = 0; i < self->member_count && !a->status; i++) archive_sums(self, i, a);
    }
}
