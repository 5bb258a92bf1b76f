#include "policy.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/float_mode.h"
#include "parts/recall.h"

enum { RECENT = 256 }; /* a copy that is further behind copies all places */

static const option scale_rows[] = {
    OPTION_ROW_FLAG(common_options, scale, "scale", "off",
                    "divide arms by the mean length of the arms of the first rounds"),
};
const option_table scale_option_table = OPTION_TABLE(scale_rows);

static const option problem_rows[] = {
    OPTION_ROW_INTEGER(common_options, blocks, "blocks", "1", 1, 65536,
                       "number of blocks, if every arm of a round is the same context in another block of the features",
                       .needs = "f1.heads=0"),
    OPTION_ROW_FLAG(common_options, exclusive, "exclusive", "off",
                    "at most one arm of a round has a reward above the minimum", .needs = "f1.heads>1 or blocks>1"),
};
const option_table problem_option_table = OPTION_TABLE(problem_rows);

static const option standardize_rows[] = {
    OPTION_ROW_FLAG(common_options, standardize, "standardize", "on",
                    "rescale rewards before learning: minus their mean or minimum, over twice their standard "
                    "deviation; with cross-entropy, to shares of their range. Outliers are limited until they recur"),
};
const option_table standardize_option_table = OPTION_TABLE(standardize_rows);

static const option recall_rows[] = {
    OPTION_ROW_INTEGER(common_options, recall, "recall", "16384", 0, 1e8,
                       "remember the rewards of up to this many recurring arms; 0: off"),
};
const option_table recall_option_table = OPTION_TABLE(recall_rows);

static const option room_rows[] = {
    OPTION_ROW_INTEGER(common_options, pending, "pending", "1024", 1, 1e8,
                       "a decision without its reward expires after this many more decisions"),
    OPTION_ROW_INTEGER(common_options, arms, "arms", "32", 1, 1e7,
                       "arms per round to reserve memory for; a round may have more"),
    OPTION_ROW_INTEGER(
        common_options, nonzeros, "nonzeros", "1024", 1, 1e9,
        "non-zeros per sparse arm, or half the features of a dense arm, to reserve memory for; an arm may have more"),
};
const option_table room_option_table = OPTION_TABLE(room_rows);

static const option reward_rows[] = {
    OPTION_ROW_TEXT(common_options, rewards, "rewards", "none", "none or LOW:HIGH",
                    "range of valid rewards; none: any reward is valid"),
    OPTION_ROW_CHOICE(common_options, outside, "outside", "reject", "reject|clip",
                      "a reward outside the range is an error (reject), or is learned as the nearest end (clip)",
                      .needs = "rewards!=none"),
};
const option_table reward_option_table = OPTION_TABLE(reward_rows);

static const option late_rows[] = {
    OPTION_ROW_REAL(common_options, wait, "wait", "0", 0, 1e12,
                    "a decision without its reward expires after this time; 0: never by time"),
    OPTION_ROW_REAL_OR(common_options, default_reward, "default_reward", "none", "none", -1e9, 1e9,
                       "reward to learn for an expired decision; none: forget the decision"),
};
const option_table late_option_table = OPTION_TABLE(late_rows);

static const option propensity_rows[] = {
    OPTION_ROW_CHOICE(common_options, propensity, "propensity", "own", "own|argmax|first|floor|softmax|igw",
                      "how an arm is chosen. own: the policy's own way; argmax: the best, ties at random; first: the "
                      "best, ties to the first; floor: the best or, with probability propensity_epsilon, any; softmax: "
                      "by exp(score); igw: inverse-gap weighting"),
    OPTION_ROW_REAL(common_options, propensity_epsilon, "propensity_epsilon", "0.05", 0, 1,
                    "probability of choosing uniformly among all arms", .needs = "propensity=floor"),
    OPTION_ROW_REAL(common_options, propensity_temperature, "propensity_temperature", "0.1", 1e-6, 1e6,
                    "scores are divided by this before exp, in units of the rewards' spread",
                    .needs = "propensity=softmax"),
    OPTION_ROW_REAL(common_options, propensity_gamma, "propensity_gamma", "100", 0, 1e9,
                    "the larger, the less often arms below the best are chosen; per unit of the rewards' spread",
                    .needs = "propensity=igw"),
};
const option_table propensity_option_table = OPTION_TABLE(propensity_rows);

static const option estimate_rows[] = {
    OPTION_ROW_INTEGER(common_options, probability_draws, "probability_draws", "0", 0, 1e6,
                       "draws to estimate the probability of a decision; 0: the probability is NaN"),
};
const option_table estimate_option_table = OPTION_TABLE(estimate_rows);

ee_status parameters_create(memory *owner, const policy *source, parameters *out, ee_error *error)
{
    *out = (parameters){0};
    size_t recalled = recall_count(source->recalled_arms);
    const columns *stored = &source->parameters.columns;
    size_t table = stored->table ? columns_table_count(stored) : 0;
    ee_status status = memory_create(owner, &out->values, source->parameters.count, sizeof *out->values, error);
    if (!status) status = memory_create(owner, &out->recalled, recalled, sizeof *out->recalled, error);
    if (!status && table) status = memory_create(owner, &out->columns.table, table, sizeof *stored->table, error);
    if (status) {
        parameters_free(out);
        return status;
    }
    memory_take_large_pages(out->values, source->parameters.filled * sizeof *out->values);
    parameters_copy(out, &source->parameters);
    return EE_OK;
}

void parameters_free(parameters *self)
{
    memory_free(self->values);
    memory_free(self->recalled);
    memory_free(self->columns.table);
    *self = (parameters){0};
}

bool parameters_are_finite(const parameters *self)
{
    const double *doubles = (const double *)(const void *)(self->values + self->floats);
    for (size_t i = 0; i < self->doubles; i++)
        if (!isfinite(doubles[i])) return false;
    return vector_is_within(self->values, self->floats, FLT_MAX);
}

static size_t copy_recalled(const policy *owner, uint64_t first, float *to)
{
    const float *from = owner->parameters.recalled;
    size_t arms = owner->recalled_arms, copied = recall_copy_weights(from, arms, to);
    uint64_t rewards = owner->parameters.round;
    if (!arms || first > rewards) return copied;
    if (!first || rewards - first >= RECENT) return copied + recall_copy_places(from, arms, to);
    for (; first <= rewards; first++) copied += recall_copy_place(from, owner->recalled_places[first % RECENT], to);
    return copied;
}

size_t parameters_copy(parameters *to, const parameters *from)
{
    const policy *owner = from->policy;
    uint64_t first = to->policy ? to->round + 1 : 0; /* a new copy has no policy */
    float *values = to->values, *recalled = to->recalled;
    columns stored = from->columns;
    stored.table = to->columns.table;
    stored.order = NULL; /* not read by scoring */
    if (stored.table && stored.count != to->columns.count)
        memcpy(stored.table, from->columns.table, columns_table_count(&stored) * sizeof *stored.table);
    *to = *from;
    to->values = values;
    to->recalled = recalled;
    to->columns = stored;
    size_t copied = copy_recalled(owner, first, recalled);
    if (owner->class->copy) return copied + owner->class->copy(owner, first, values);
    memcpy(values, from->values, from->count * sizeof *values);
    return copied + from->count;
}

ee_status scratch_reserve(scratch *self, memory *owner, size_t floats, ee_error *error)
{
    return memory_grow(owner, &self->values, &self->capacity, floats, sizeof *self->values, error);
}

/* The 32-bit words of the arms with columns: the indices of sparse arms; packed dense arms. */
static size_t seen_words(const ee_arms *arms)
{
    if (arms->starts) return arms->starts[arms->count];
    return (arms->count + 1) * (sizeof(size_t) / sizeof(uint32_t)) + 2 * arms->count * arms->dim;
}

ee_status scratch_reserve_seen(scratch *self, memory *owner, const parameters *learned, const ee_arms *arms,
                               ee_error *error)
{
    if (!learned->columns.table) return EE_OK;
    return memory_grow(owner, &self->seen, &self->seen_capacity, seen_words(arms), sizeof *self->seen, error);
}

/* Dense arms without their zeros, with columns in place of places. */
static ee_arms pack(const columns *stored, const ee_arms *arms, scratch *room)
{
    size_t *starts = (size_t *)(void *)room->seen, end = 0, most = arms->count * arms->dim;
    uint32_t *indices = (uint32_t *)(void *)(starts + arms->count + 1);
    float *values = (float *)(void *)(indices + most);
    for (size_t i = 0; i < most; i++) {
        if (i % arms->dim == 0) starts[i / arms->dim] = end;
        if (arms->values[i] == 0) continue;
        indices[end] = columns_find(stored, (uint32_t)(i % arms->dim));
        values[end++] = arms->values[i];
    }
    starts[arms->count] = end;
    return ee_arms_sparse(starts, indices, values, arms->count, stored->capacity);
}

/* The arms as the functions of the policy see them. */
static ee_arms see(const columns *stored, const ee_arms *arms, scratch *room)
{
    if (!stored->table) return *arms;
    if (!arms->starts) return pack(stored, arms, room);
    ee_arms seen = *arms;
    size_t count = arms->indices ? arms->starts[arms->count] : 0;
    for (size_t i = arms->starts[0]; i < count; i++) room->seen[i] = columns_find(stored, arms->indices[i]);
    seen.indices = room->seen;
    seen.dim = stored->capacity;
    return seen;
}

/* One arm as a round. starts is (2), for a sparse one. */
static ee_arms arm_of(vector x, size_t *starts)
{
    starts[0] = 0;
    starts[1] = x.count;
    return x.indices ? ee_arms_sparse(starts, x.indices, x.values, 1, 0) : ee_arms_dense(x.values, 1, x.count);
}

ee_status policy_check_blocks(const policy_setup *setup, ee_error *error)
{
    int64_t blocks = ((const common_options *)setup->options)->blocks;
    if (setup->dim % (size_t)blocks == 0) return EE_OK;
    return status_fail(error, EE_BAD_OPTION, "options: blocks must divide the %zu features of an arm, got %lld",
                       setup->dim, (long long)blocks);
}

ee_status policy_set_parameters(policy *self, const policy_setup *setup, size_t count, ee_error *error)
{
    const common_options *options = setup->options;
    self->class = setup->class;
    self->recalled_arms = (size_t)options->recall;
    self->stride = 1;
    self->units.on = options->standardize;
    self->units.from_least = options->exclusive;
    self->units.bounded = strcmp(options->rewards, "none") != 0;
    size_t recalled = recall_count(self->recalled_arms);
    if (count + recalled > setup->most_parameters)
        return status_fail(error, EE_BAD_MODEL, "model: its options ask for %zu parameters, but it holds at most %zu",
                           count + recalled, setup->most_parameters);
    self->parameters = (parameters){.policy = self, .spread = 1, .count = count};
    ee_status status = memory_create(setup->memory, &self->parameters.values, count, sizeof(float), error);
    if (!status) status = memory_create(setup->memory, &self->parameters.recalled, recalled, sizeof(float), error);
    if (status || !recalled) return status;
    status = memory_create(setup->memory, &self->recall_weights, RECALL_CLASSES, sizeof *self->recall_weights, error);
    if (!status)
        status = memory_create(setup->memory, &self->recalled_places, RECENT, sizeof *self->recalled_places, error);
    return status;
}

void policy_fills_parameters(policy *self, size_t count)
{
    self->parameters.filled = count;
    memory_take_large_pages(self->parameters.values, count * sizeof(float));
}

size_t policy_scratch_count(const policy *self, size_t arms)
{
    return self->class->scratch_count ? self->class->scratch_count(self, arms) : 0;
}

size_t policy_kept_count(const policy *self, uint64_t round, size_t arms)
{
    return self->class->kept_count ? self->class->kept_count(self, round, arms) : 0;
}

/* Adjusts the scores by arm memory. A width or a draw is not an expectation: it is added unchanged, so that a
 * remembered arm is still explored. all: the whole score is the expected reward.
 *
 * What f1 learned about a recurring arm can stay wrong if the arm is no longer chosen, so the
 * confidence width of the arm's mean never reaches 0. */
static void recall(const parameters *learned, const ee_arms *arms, bool all, ee_score *scores)
{
    size_t remembered = learned->policy->recalled_arms;
    float width = learned->policy->recall_width * sqrtf(log1pf((float)learned->round));
    for (size_t i = 0; remembered && i < arms->count; i++) {
        float expected = all ? scores[i].score : scores[i].exploitation, beyond = scores[i].score - expected;
        recalled_arm found = recall_find(learned->recalled, remembered, vector_of_arm(arms, i), arm_id_of(arms, i));
        scores[i].score = expected + found.weight * (found.mean - expected) + beyond;
        if (width > 0) scores[i].score += width * found.deviation;
    }
}

void policy_score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    float_mode mode = float_mode_enter();
    ee_arms seen = see(&learned->columns, arms, room);
    learned->policy->class->score(learned, &seen, room, scores);
    recall(learned, arms, learned->policy->class->expected_reward, scores);
    float_mode_leave(mode);
}

void policy_vote(const parameters *learned, const ee_arms *arms, size_t voter, const scratch *room, ee_score *scores)
{
    float_mode mode = float_mode_enter();
    learned->policy->class->vote(learned, voter, room, scores, arms->count);
    recall(learned, arms, true, scores);
    float_mode_leave(mode);
}

size_t policy_explain_count(const policy *self, size_t entries)
{
    return self->class->explain_count ? self->class->explain_count(self, entries) : 0;
}

/* Moves the gradient of the non-zero entries of a dense arm to their positions, last first. */
static void spread_gradient(vector x, size_t entries, float *gradient)
{
    for (size_t i = x.count; i-- > 0;) gradient[i] = x.values[i] != 0 ? gradient[--entries] : 0;
}

void policy_explain(const parameters *learned, vector x, scratch *room, float *gradient)
{
    const policy_class *class = learned->policy->class;
    if (!class->explain) {
        for (size_t i = 0; i < x.count; i++) gradient[i] = 0;
        return;
    }
    float_mode mode = float_mode_enter();
    size_t starts[2];
    ee_arms arm = arm_of(x, starts);
    arm = see(&learned->columns, &arm, room);
    vector seen = vector_of_arm(&arm, 0);
    class->explain(learned, seen, room, gradient);
    if (!x.indices && seen.indices) spread_gradient(x, seen.count, gradient);
    float_mode_leave(mode);
}

/* The expected reward in a score before arm memory changes it. */
static float expected_reward(const parameters *learned, ee_score score)
{
    const policy_class *class = learned->policy->class;
    return class->expected_reward ? class->expected_reward(learned, score) : score.exploitation;
}

float policy_recalled(const parameters *learned, vector x, arm_id id, ee_score score)
{
    size_t arms = learned->policy->recalled_arms;
    if (!arms) return 0;
    float expected = expected_reward(learned, score);
    return recall_expect(learned->recalled, arms, x, id, expected) - expected;
}

static void update_memory(policy *self, const observation *o, float reward)
{
    const parameters *learned = &self->parameters;
    float expected = expected_reward(learned, o->score);
    if (o->round == 0) expected += (float)learned->centre; /* before any reward the expectation has no centre */
    recall_sample sample = {o->x, o->id, expected, reward, learned->spread};
    self->recalled_places[learned->round % RECENT] =
        recall_add(learned->recalled, self->recalled_arms, &sample, self->recall_weights);
}

ee_status policy_store_columns(policy *self, const policy_setup *setup, ee_error *error)
{
    self->memory = setup->memory;
    return columns_create(&self->parameters.columns, setup->memory, setup->dim, setup->names, setup->room->capacity,
                          error);
}

void policy_add_rows(policy *self, row_part part)
{
    self->row_parts[self->row_part_count++] = part;
}

void policy_add_column(policy *self, uint32_t place)
{
    columns_add(&self->parameters.columns, place);
    self->class->start_column(self, place);
}

/* The observation as the functions of the policy see it; policy_reserve has reserved the memory. */
static observation seen_observation(policy *self, const observation *o)
{
    size_t starts[2];
    observation seen = *o;
    if (!self->parameters.columns.table) return seen;
    ee_arms arm = arm_of(o->x, starts);
    arm = see(&self->parameters.columns, &arm, &self->seen);
    seen.x = vector_of_arm(&arm, 0);
    return seen;
}

ee_status policy_reserve(policy *self, const observation *o, ee_error *error)
{
    size_t starts[2];
    ee_arms arm = arm_of(o->x, starts);
    ee_status status = scratch_reserve_seen(&self->seen, self->memory, &self->parameters, &arm, error);
    if (status || !self->class->reserve) return status;
    observation seen = seen_observation(self, o);
    return self->class->reserve(self, &seen, error);
}

bool policy_learn(policy *self, const observation *o, float reward)
{
    float_mode mode = float_mode_enter();
    observation seen = seen_observation(self, o);
    self->units_before = self->units;
    float taken = (float)reward_units_take(&self->units, (double)reward);
    bool learned = self->class->learn(self, &seen, taken);
    if (learned && self->recalled_arms) update_memory(self, o, taken);
    if (learned)
        self->limited += taken != reward;
    else
        self->units = self->units_before;
    float_mode_leave(mode);
    return learned;
}

float policy_await(policy *self, const observation *o)
{
    float_mode mode = float_mode_enter();
    observation seen = seen_observation(self, o);
    float expected = self->class->await(self, &seen);
    float_mode_leave(mode);
    self->parameters.changes++;
    return expected;
}
