#include "bandit.h"

#include <math.h>
#include <string.h>

#include "math/kernels.h"
#include "propensity.h"

/* ---- making ---- */

/* Defaults, then the preset, then what the caller says. *options is to be freed with memory_free. */
static ee_status read_options(memory *owner, const policy_class *class, const char *preset, const char *text,
                              void **options, ee_error *error)
{
    ee_status status = memory_create(owner, options, class->schema->size, 1, error);
    if (status) return status;
    options_set_defaults(class->schema, *options);
    status = options_parse(class->schema, preset, *options, error);
    if (!status && text) status = options_parse(class->schema, text, *options, error);
    if (!status) return EE_OK;
    memory_free(*options);
    *options = NULL;
    return status;
}

bool bandit_takes(const char *policy_name, const char *assignment, const char *options)
{
    const policy_class *class;
    const char *preset;
    void *read;
    if (policy_find(policy_name, &class, &preset, NULL)) return false;
    if (read_options(NULL, class, preset, assignment, &read, NULL)) return false;
    ee_status status = options_parse(class->schema, options, read, NULL);
    if (!status) status = options_settle(class->schema, assignment, read, NULL);
    memory_free(read);
    return !status;
}

static ee_status check_settings(const ee_settings *settings, ee_error *error)
{
    if (!settings || !settings->policy) return status_fail(error, EE_BAD_INPUT, "create: no policy is named");
    for (size_t i = 0; i < sizeof settings->reserved / sizeof *settings->reserved; i++)
        if (settings->reserved[i])
            return status_fail(error, EE_BAD_INPUT,
                               "create: the reserved words of the settings must be zero: start them from {0}");
    if (settings->dim < 1 || settings->dim > UINT32_MAX)
        return status_fail(error, EE_BAD_INPUT, "create: dim must be 1 to %lu, got %zu", (unsigned long)UINT32_MAX,
                           settings->dim);
    const ee_allocator *allocator = settings->allocator;
    if (allocator && (!allocator->allocate || !allocator->release))
        return status_fail(error, EE_BAD_INPUT, "create: the allocator must have both functions, allocate and release");
    return EE_OK;
}

static ee_status reserve_scores(ee_bandit *bandit, size_t arms, ee_error *error)
{
    size_t floats = bandit->policy->class->scratch_count(bandit->policy, arms);
    ee_status status = scratch_reserve(&bandit->scratch, &bandit->memory, floats, error);
    if (!status)
        status = memory_grow(&bandit->memory, &bandit->scores, &bandit->score_capacity, arms, sizeof(ee_score), error);
    if (!status)
        status = memory_grow(&bandit->memory, &bandit->probabilities, &bandit->probability_capacity, arms,
                             sizeof(double), error);
    if (!status && bandit->probability_draws)
        status =
            memory_grow(&bandit->memory, &bandit->redrawn, &bandit->redrawn_capacity, arms, sizeof(ee_score), error);
    return status;
}

static void choose_rule(ee_bandit *self, const common_options *common)
{
    const double amounts[] = {0, 0, common->propensity_epsilon, common->propensity_temperature,
                              common->propensity_gamma};
    self->rule = (propensity_rule){(propensity_kind)common->propensity.pick, amounts[common->propensity.pick]};
    self->probability_draws = (uint64_t)common->probability_draws;
}

/* Room for the arms of a round as they are scaled: as pending.c, a dense arm may have twice as many values as a sparse
 * one. */
static ee_status reserve_scaled(ee_bandit *self, const common_options *common, ee_error *error)
{
    if (!self->scales) return EE_OK;
    size_t values = 2 * (size_t)common->nonzeros < self->dim ? 2 * (size_t)common->nonzeros : self->dim;
    return memory_grow(&self->memory, &self->scaled, &self->scaled_capacity, (size_t)common->arms * values,
                       sizeof(float), error);
}

static ee_status create_parts(ee_bandit *self, const policy_class *class, const void *options, size_t most_parameters,
                              ee_error *error)
{
    const common_options *common = options;
    policy_setup setup = {&self->memory, self->dim, self->seed, options, most_parameters};
    self->scales = common->scale;
    choose_rule(self, common);
    ee_status status = class->create(&setup, &self->policy, error);
    if (!status) status = pending_create(&self->pending, &self->memory, self->policy, common, self->dim, error);
    size_t arms = (size_t)common->arms;
    if (!status) status = reserve_scores(self, arms, error);
    if (!status) status = reserve_scaled(self, common, error);
    return status;
}

ee_status bandit_create(const ee_settings *settings, size_t most_parameters, ee_bandit **out, ee_error *error)
{
    if (!out) return status_fail(error, EE_BAD_INPUT, "create: nowhere to put the bandit");
    *out = NULL;
    const policy_class *class;
    const char *preset;
    void *options = NULL;
    ee_bandit *self = NULL;
    ee_status status = check_settings(settings, error);
    if (!status) status = policy_find(settings->policy, &class, &preset, error);
    if (!status) status = memory_create_owner(settings->allocator, &self, sizeof *self, error);
    if (!status) status = read_options(&self->memory, class, preset, settings->options, &options, error);
    if (!status) status = options_settle(class->schema, settings->options ? settings->options : "", options, error);
    if (status) goto done;
    strncpy(self->name, settings->policy, sizeof self->name - 1);
    if (options_format(class->schema, options, self->options, sizeof self->options) >= sizeof self->options) {
        status = status_fail(error, EE_BAD_OPTION, "options: together they are longer than %d bytes", OPTIONS_SIZE - 1);
        goto done;
    }
    self->dim = settings->dim;
    self->seed = settings->seed;
    self->exploration = random_named(settings->seed, "exploration");
    self->scratch.random = random_named(settings->seed, "posterior");
    self->estimation = random_named(settings->seed, "estimation");
    status = create_parts(self, class, options, most_parameters, error);
    if (status) goto done;
    *out = self;
    self = NULL;
done:
    memory_free(options);
    ee_bandit_free(self);
    return status;
}

ee_status ee_bandit_create(const ee_settings *settings, ee_bandit **out, ee_error *error)
{
    return bandit_create(settings, SIZE_MAX, out, error);
}

void ee_bandit_free(ee_bandit *bandit)
{
    if (bandit) memory_release(&bandit->memory);
}

/* ---- checking ---- */

/* Squares of squares of larger numbers, which a gradient's second moment has, overflow. */
static const float LARGEST_INPUT = 1e9f;

static ee_status check_values(const ee_arms *arms, size_t count, ee_error *error)
{
    if (vector_is_within(arms->values, count, LARGEST_INPUT)) return EE_OK;
    size_t at = 0, arm = 0;
    while (fabsf(arms->values[at]) <= LARGEST_INPUT) at++;
    while (arms->starts ? arms->starts[arm + 1] <= at : (arm + 1) * arms->dim <= at) arm++;
    size_t feature = arms->starts ? arms->indices[at] : at % arms->dim;
    if (!isfinite(arms->values[at]))
        return status_fail(error, EE_BAD_INPUT, "arms: feature %zu of arm %zu is not a finite number", feature, arm);
    return status_fail(error, EE_BAD_INPUT, "arms: feature %zu of arm %zu is %g; beyond 1e9 it must be scaled", feature,
                       arm, (double)arms->values[at]);
}

/* Says what is wrong with the indices of an arm, of which something is. */
static ee_status fail_indices(const ee_arms *arms, size_t arm, ee_error *error)
{
    vector x = vector_of_arm(arms, arm);
    size_t i = 0;
    while (x.indices[i] < arms->dim && (i == 0 || x.indices[i] > x.indices[i - 1])) i++;
    unsigned long index = x.indices[i];
    if (index >= arms->dim)
        return status_fail(error, EE_BAD_INPUT, "arms: arm %zu has index %lu, but the dimension is %zu", arm, index,
                           arms->dim);
    return status_fail(error, EE_BAD_INPUT, "arms: the indices of arm %zu must ascend, but %lu follows %lu", arm, index,
                       (unsigned long)x.indices[i - 1]);
}

static ee_status check_sparse(const ee_arms *arms, ee_error *error)
{
    if (arms->starts[0] != 0)
        return status_fail(error, EE_BAD_INPUT, "arms: starts[0] must be 0, got %zu", arms->starts[0]);
    for (size_t arm = 0; arm < arms->count; arm++) {
        size_t start = arms->starts[arm], end = arms->starts[arm + 1];
        if (end < start || end - start > arms->dim)
            return status_fail(error, EE_BAD_INPUT, "arms: arm %zu has entries %zu to %zu; expected 0 to %zu of them",
                               arm, start, end, arms->dim);
    }
    if (arms->starts[arms->count] && (!arms->indices || !arms->values))
        return status_fail(error, EE_BAD_INPUT, "arms: sparse arms without indices or values");
    for (size_t arm = 0; arm < arms->count; arm++)
        if (!vector_is_sound(vector_of_arm(arms, arm), arms->dim)) return fail_indices(arms, arm, error);
    return EE_OK;
}

static ee_status check_arms(const ee_bandit *bandit, const ee_arms *arms, ee_error *error)
{
    if (!bandit || !arms) return status_fail(error, EE_BAD_INPUT, "arms: no bandit or no arms");
    if (arms->count < 1) return status_fail(error, EE_BAD_INPUT, "arms: a round needs at least one arm");
    if (arms->dim != bandit->dim)
        return status_fail(error, EE_BAD_INPUT, "arms: the dimension is %zu, but the bandit's is %zu", arms->dim,
                           bandit->dim);
    if (!arms->starts && !arms->values) return status_fail(error, EE_BAD_INPUT, "arms: dense arms without values");
    if (!arms->starts && arms->count > SIZE_MAX / sizeof(float) / arms->dim)
        return status_fail(error, EE_BAD_INPUT, "arms: %zu arms of %zu features are more than memory holds",
                           arms->count, arms->dim);
    ee_status status = arms->starts ? check_sparse(arms, error) : EE_OK;
    if (status) return status;
    return check_values(arms, arms->starts ? arms->starts[arms->count] : arms->count * arms->dim, error);
}

/* ---- deciding and learning ---- */

/* A length this small or smaller says nothing. */
static const double smallest_length = 1e-6;

/* The mean length of the arms, or 0 where it says nothing. */
static double mean_length(const ee_arms *arms)
{
    double sum = 0;
    for (size_t arm = 0; arm < arms->count; arm++) {
        vector x = vector_of_arm(arms, arm), values = vector_dense(x.values, x.count);
        sum += sqrt(vector_dot(values, values));
    }
    double mean = sum / (double)arms->count;
    return mean > smallest_length ? mean : 0;
}

/* The arms as the policy is to see them, and the length that they are divided by. */
static ee_status see_arms(ee_bandit *bandit, const ee_arms *arms, ee_arms *seen, double *length, ee_error *error)
{
    *seen = *arms;
    *length = bandit->length;
    if (!bandit->scales) return EE_OK;
    size_t count = arms->starts ? arms->starts[arms->count] : arms->count * arms->dim;
    ee_status status =
        memory_grow(&bandit->memory, &bandit->scaled, &bandit->scaled_capacity, count, sizeof(float), error);
    if (status) return status;
    if (*length == 0) *length = mean_length(arms);
    float scale = *length > 0 ? (float)(1 / *length) : 1;
    for (size_t i = 0; i < count; i++) bandit->scaled[i] = scale * arms->values[i];
    seen->values = bandit->scaled;
    if (vector_is_within(bandit->scaled, count, LARGEST_INPUT)) return EE_OK;
    return status_fail(error, EE_BAD_INPUT,
                       "arms: a feature is more than 1e9 times the length of the arms of the first round, which was %g",
                       *length);
}

/* Scores are the last thing that may be refused: what they are computed from is finite, but may be too large, and a
 * network may have diverged. */
static ee_status score_arms(ee_bandit *bandit, const ee_arms *arms, ee_score *scores, ee_error *error)
{
    policy_score(&bandit->policy->parameters, arms, &bandit->scratch, scores);
    for (size_t i = 0; i < arms->count; i++)
        if (!isfinite(scores[i].score))
            return status_fail(error, EE_DIVERGED,
                               "score: that of arm %zu is not a finite number: its features are too large, or training "
                               "diverged and needs a smaller learning rate",
                               i);
    return EE_OK;
}

ee_status ee_bandit_score(ee_bandit *bandit, const ee_arms *arms, ee_score *scores, ee_error *error)
{
    ee_arms seen;
    double length;
    ee_status status = check_arms(bandit, arms, error);
    if (!status && !scores) status = status_fail(error, EE_BAD_INPUT, "score: nowhere to put the scores");
    if (!status) status = reserve_scores(bandit, arms->count, error);
    if (!status) status = see_arms(bandit, arms, &seen, &length, error);
    if (status) return status;
    random_stream before = bandit->scratch.random; /* a look changes nothing */
    status = score_arms(bandit, &seen, scores, error);
    bandit->scratch.random = before;
    return status;
}

static propensity_rule rule_now(const ee_bandit *bandit)
{
    const policy_class *class = bandit->policy->class;
    if (bandit->rule.kind != PROPENSITY_OWN || !class->rule) return bandit->rule;
    return class->rule(&bandit->policy->parameters);
}

/* The share of fresh draws in which the arm wins too; the draw that decided counts as one of them. */
static double estimate_probability(ee_bandit *bandit, const ee_arms *arms, size_t arm)
{
    if (!bandit->probability_draws) return NAN;
    double wins = 1;
    random_stream deciding = bandit->scratch.random;
    bandit->scratch.random = bandit->estimation;
    for (uint64_t i = 0; i < bandit->probability_draws; i++) {
        policy_score(&bandit->policy->parameters, arms, &bandit->scratch, bandit->redrawn);
        propensity_fill((propensity_rule){PROPENSITY_ARGMAX, 0}, bandit->redrawn, arms->count, bandit->probabilities);
        wins += bandit->probabilities[arm];
    }
    bandit->estimation = bandit->scratch.random;
    bandit->scratch.random = deciding;
    return wins / (double)(bandit->probability_draws + 1);
}

ee_status ee_bandit_decide(ee_bandit *bandit, const ee_arms *arms, ee_decision *decision, ee_score *scores,
                           ee_error *error)
{
    ee_status status = check_arms(bandit, arms, error);
    if (!status && !decision) status = status_fail(error, EE_BAD_INPUT, "decide: nowhere to put the decision");
    if (!status) status = reserve_scores(bandit, arms->count, error);
    ee_arms seen;
    double length;
    if (!status) status = see_arms(bandit, arms, &seen, &length, error);
    if (status) return status;
    arms = &seen;
    const policy_class *class = bandit->policy->class;
    const parameters *learned = &bandit->policy->parameters;
    uint64_t id = bandit->decisions + 1;
    ee_score *each = bandit->scores;
    random_stream before = bandit->scratch.random;
    status = score_arms(bandit, arms, each, error);
    if (!status) status = pending_reserve(&bandit->pending, arms, learned->round, error);
    if (status) {
        bandit->scratch.random = before;
        return status;
    }

    propensity_fill(rule_now(bandit), each, arms->count, bandit->probabilities);
    decision->arm = propensity_draw(bandit->probabilities, arms->count, &bandit->exploration);
    decision->probability = bandit->probabilities[decision->arm];
    decision->id = id;
    float *kept = pending_add(&bandit->pending, id, arms, decision->arm, each[decision->arm], learned->round);
    if (class->keep) class->keep(learned, arms, decision->arm, &bandit->scratch, kept);
    if (class->draws) decision->probability = estimate_probability(bandit, arms, decision->arm);
    bandit->decisions = id;
    bandit->length = length;
    if (scores) memcpy(scores, each, arms->count * sizeof *scores);
    return EE_OK;
}

ee_status ee_bandit_learn(ee_bandit *bandit, uint64_t decision_id, double reward, ee_error *error)
{
    if (!bandit) return status_fail(error, EE_BAD_INPUT, "learn: no bandit");
    if (!(fabs(reward) <= LARGEST_INPUT))
        return status_fail(error, EE_BAD_INPUT, "learn: the reward of decision %llu must be -1e9 to 1e9, got %g",
                           (unsigned long long)decision_id, reward);
    pending_entry *entry;
    ee_status status = pending_find(&bandit->pending, decision_id, bandit->decisions, &entry, error);
    if (status) return status;
    policy *learner = bandit->policy;
    const policy_class *class = learner->class;
    if (class->observe) {
        observation seen = pending_observation(&bandit->pending, entry);
        status = class->reserve(learner, &seen, error);
        if (status) return status;
        policy_observe(learner, &seen, (float)reward);
    }
    pending_remove(&bandit->pending, entry);
    bandit->rewards++;
    if (class->train) policy_train(learner);
    return EE_OK;
}

void bandit_archive(ee_bandit *self, archive *a)
{
    size_t decisions = self->decisions, rewards = self->rewards;
    archive_size(a, &decisions, 0, MOST_DECISIONS, "decisions");
    archive_size(a, &rewards, 0, MOST_DECISIONS, "rewards");
    if (a->reading) {
        self->decisions = decisions;
        self->rewards = rewards;
    }
    archive_bytes(a, &self->length, sizeof self->length);
    bool is_length = self->length == 0 || (self->length > smallest_length && isfinite(self->length));
    if (a->reading && !a->status && !is_length)
        archive_fail(a, EE_BAD_MODEL, "model: the length of its arms is not one");
    archive_stream(a, &self->exploration);
    archive_stream(a, &self->scratch.random);
    archive_stream(a, &self->estimation);
    archive_u64(a, &self->policy->parameters.round);
    archive_sparse_floats(a, self->policy->parameters.values, self->policy->parameters.count);
    if (self->policy->class->archive) self->policy->class->archive(self->policy, a);
    pending_archive(&self->pending, self->decisions, a);
}

/* ---- describing ---- */

size_t ee_bandit_memory(const ee_bandit *bandit)
{
    return bandit ? memory_bytes(&bandit->memory) : 0;
}

ee_info ee_bandit_info(const ee_bandit *bandit)
{
    if (!bandit) return (ee_info){.policy = "", .options = ""};
    return (ee_info){.policy = bandit->name,
                     .options = bandit->options,
                     .dim = bandit->dim,
                     .seed = bandit->seed,
                     .decisions = bandit->decisions,
                     .rewards = bandit->rewards};
}

ee_status ee_option_describe(const char *policy_name, size_t index, ee_option *out, ee_error *error)
{
    const policy_class *class;
    const char *preset;
    void *options;
    if (!policy_name || !out)
        return status_fail(error, EE_BAD_INPUT, "describe: no policy or nowhere to put the option");
    ee_status status = policy_find(policy_name, &class, &preset, error);
    if (!status) status = read_options(NULL, class, preset, NULL, &options, error);
    if (status) return status;
    status = options_describe(class->schema, options, index, out, error);
    if (!status) memset(out->reserved, 0, sizeof out->reserved);
    memory_free(options);
    return status;
}

const char *ee_version(void)
{
    return EE_VERSION;
}

const char *ee_kernels(void)
{
    return kernels_best()->name;
}
