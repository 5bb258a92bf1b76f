#include "bandit.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "arms.h"
#include "features/features.h"
#include "math/kernels.h"
#include "policy/parts/recall.h"

/* ---- making ---- */

/* Defaults, then the preset, then the options of the caller. Free *options with memory_free. */
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

ee_status bandit_read_options(ee_bandit *self, void **options, ee_error *error)
{
    ee_status status = read_options(&self->memory, self->policy->class, "", self->options, options, error);
    if (!status) ((common_options *)*options)->grows = self->features != NULL;
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

ee_status bandit_check_reserved(const ee_settings *settings, const char *verb, ee_error *error)
{
    for (size_t i = 0; i < sizeof settings->reserved / sizeof *settings->reserved; i++)
        if (settings->reserved[i])
            return status_fail(error, EE_BAD_INPUT, "%s: settings.reserved must be zero: initialise settings with {0}",
                               verb);
    return EE_OK;
}

static ee_status check_settings(const ee_settings *settings, ee_error *error)
{
    if (!settings || !settings->policy)
        return status_fail(error, EE_BAD_INPUT, "create: settings.policy must not be NULL");
    ee_status status = bandit_check_reserved(settings, "create", error);
    if (status) return status;
    if (!settings->features && (settings->dim < 1 || settings->dim > UINT32_MAX))
        return status_fail(error, EE_BAD_INPUT, "create: dim must be 1 to %lu, got %zu", (unsigned long)UINT32_MAX,
                           settings->dim);
    const ee_allocator *allocator = settings->allocator;
    if (allocator && (!allocator->allocate || !allocator->release))
        return status_fail(error, EE_BAD_INPUT, "create: the allocator must have both allocate and release");
    return EE_OK;
}

/* The options that change what keep() writes: all except those for drawing, pending decisions and rewards. */
static bool changes_what_is_kept(const option_table *table)
{
    const option_table *others[] = {&room_option_table,   &late_option_table,       &reward_option_table,
                                    &recall_option_table, &propensity_option_table, &estimate_option_table};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (table == others[i]) return false;
    return true;
}

/* Writes the options that change what keep() writes; "" if the policy stores nothing with a decision. */
static void format_kept_options(const policy *decider, const option_schema *schema, const void *options, char *text)
{
    enum { MOST_GROUPS = 32 };
    option_group groups[MOST_GROUPS];
    option_schema kept = *schema;
    text[0] = 0;
    if (!policy_kept_count(decider, 0, 1)) return;
    kept.groups = groups;
    kept.count = 0;
    for (size_t i = 0; i < schema->count && kept.count < MOST_GROUPS; i++)
        if (changes_what_is_kept(schema->groups[i].table)) groups[kept.count++] = schema->groups[i];
    options_format(&kept, options, text, OPTIONS_SIZE);
}

static uint64_t text_checksum(const char *text)
{
    return archive_checksum((const uint8_t *)text, strlen(text));
}

/* A bandit learns the records of bandits with the same fingerprint. It covers what changes the meaning of a record: the
 * policy, the dimension, the named features, the option `scale`, and the options that change what the policy stores
 * with a decision. */
static uint64_t fingerprint_of(const ee_bandit *self, const void *options)
{
    char kept[OPTIONS_SIZE];
    const option_schema *schema = self->policy->class->schema;
    format_kept_options(self->policy, schema, options, kept);
    uint64_t parts[] = {text_checksum(schema->owner), text_checksum(kept), self->dim,
                        text_checksum(self->feature_options), self->rules.scales};
    return archive_checksum((const uint8_t *)parts, sizeof parts);
}

ee_status bandit_reserve_words(ee_bandit *self, size_t words, ee_error *error)
{
    return memory_grow(&self->memory, &self->words, &self->word_capacity, words, sizeof *self->words, error);
}

/* The columns of a loaded policy; a new one has that of the constant. */
static ee_status create_columns(ee_bandit *self, const bandit_origin *origin, ee_error *error)
{
    columns *stored = &self->policy->parameters.columns;
    if (stored->table && !origin->count) policy_add_column(self->policy, 0);
    for (size_t i = 0; i < origin->count; i++) {
        uint32_t place = origin->places[i];
        bool sound = stored->table && place < stored->places && columns_fit(stored, place) &&
                     columns_find(stored, place) >= stored->capacity;
        if (!sound) return status_fail(error, EE_BAD_MODEL, "model: invalid columns");
        policy_add_column(self->policy, place);
    }
    return EE_OK;
}

static ee_status create_parts(ee_bandit *self, const policy_class *class, const void *options,
                              const bandit_origin *origin, ee_error *error)
{
    const common_options *common = options;
    decision_rules_read(&self->rules, common, self->dim);
    size_t capacity = origin->stores_all ? 0 : bandit_column_capacity(self, origin->count);
    ee_status status = reward_range_read(&self->range, common, error);
    if (!status)
        status = bandit_create_policy(self, class, options, capacity, origin->most_parameters, &self->arena, error);
    if (status) return status;
    self->policy = self->arena->policy;
    self->fingerprint = fingerprint_of(self, options);
    status = create_columns(self, origin, error);
    if (!status) status = pending_create(&self->pending, &self->memory, self->policy, common, self->dim, error);
    if (!status) status = counted_decisions_create(&self->counted, &self->memory, self->pending.limit, error);
    if (!status) status = memory_create(&self->memory, &self->room, 1, sizeof *self->room, error);
    if (!status)
        status = deciding_room_create(self->room, &self->memory, &self->rules, self->policy, self->seed, error);
    if (!status) status = bandit_reserve_words(self, self->pending.slots.stride, error);
    return status;
}

ee_status bandit_create(const ee_settings *settings, const bandit_origin *origin, ee_bandit **out, ee_error *error)
{
    if (!out) return status_fail(error, EE_BAD_INPUT, "create: out must not be NULL");
    *out = NULL;
    const policy_class *class;
    const char *preset;
    void *options = NULL;
    features_options named;
    ee_bandit *self = NULL;
    ee_status status = check_settings(settings, error);
    if (!status) status = policy_find(settings->policy, &class, &preset, error);
    if (!status) status = memory_create_owner(settings->allocator, &self, sizeof *self, error);
    if (!status) status = read_options(&self->memory, class, preset, settings->options, &options, error);
    if (!status) status = options_settle(class->schema, settings->options ? settings->options : "", options, error);
    if (status) goto done;
    strncpy(self->name, settings->policy, sizeof self->name - 1);
    if (options_format(class->schema, options, self->options, sizeof self->options) >= sizeof self->options) {
        status = status_fail(error, EE_BAD_OPTION, "options: longer than %d bytes in total", OPTIONS_SIZE - 1);
        goto done;
    }
    self->dim = settings->dim;
    self->seed = settings->seed;
    if (settings->features) status = bandit_read_features(self, settings, &named, error);
    ((common_options *)options)->grows = settings->features != NULL;
    if (!status && settings->features) status = bandit_create_features(self, &named, error);
    if (!status) status = create_parts(self, class, options, origin, error);
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
    return bandit_create(settings, &(bandit_origin){.most_parameters = SIZE_MAX}, out, error);
}

void ee_bandit_free(ee_bandit *bandit)
{
    if (!bandit) return;
    policy_arena_release(bandit->arena);
    memory_release(&bandit->memory);
}

/* ---- saving and loading ---- */

static void archive_late(ee_bandit *self, archive *a)
{
    archive_count(a, &self->expired, 0, self->decisions, "number of expired decisions");
    archive_count(a, &self->defaulted, 0, self->decisions, "number of decisions with the default reward");
    archive_bytes(a, &self->now, sizeof self->now);
    if (a->reading && !a->status && !(self->now >= 0 && isfinite(self->now)))
        archive_fail(a, EE_BAD_MODEL, "model: invalid time");
}

/* The rows of unused columns are not visited. */
static void archive_values(policy *self, archive *a)
{
    const parameters *learned = &self->parameters;
    const columns *stored = &learned->columns;
    size_t end = learned->count - learned->unsaved, at = 0;
    if (stored->table && self->class->archive_columns) {
        self->class->archive_columns(self, a);
        return;
    }
    for (size_t i = 0; i < self->row_part_count; i++) {
        row_part part = self->row_parts[i];
        archive_sparse_floats(a, learned->values + at, part.start + stored->count * part.width - at);
        at = part.start + stored->capacity * part.width;
    }
    if (a->version < self->class->earlier.version && self->class->read_earlier)
        self->class->read_earlier(self, at, a);
    else
        archive_sparse_floats(a, learned->values + at, end - at);
}

void bandit_archive_policy(policy *self, archive *a)
{
    parameters *learned = &self->parameters;
    archive_u64(a, &learned->round);
    archive_u64(a, &learned->changes);
    archive_values(self, a);
    if (!a->status && !vector_is_within(learned->values, learned->floats, FLT_MAX))
        archive_fail(a, a->reading ? EE_BAD_MODEL : EE_DIVERGED, "model: a parameter is not a finite number");
    size_t absent = a->version < 12 && self->recalled_arms ? RECALL_SINCE_12 : 0;
    archive_sparse_floats(a, learned->recalled + absent, recall_count(self->recalled_arms) - absent);
    if (a->reading && !a->status && !recall_is_sound(learned->recalled, self->recalled_arms))
        archive_fail(a, EE_BAD_MODEL, "model: invalid arm memory");
    for (size_t i = 0; self->recalled_arms && i < RECALL_CLASSES; i++) slope_archive(&self->recall_weights[i], a);
    if (self->class->archive) self->class->archive(self, a);
}

void bandit_archive(ee_bandit *self, archive *a)
{
    parameters *learned = &self->policy->parameters;
    archive_count(a, &self->decisions, 0, MOST_DECISIONS, "decisions");
    archive_count(a, &self->rewards, 0, MOST_DECISIONS, "rewards");
    archive_late(self, a);
    if (a->version >= 11) archive_u64(a, &self->policy->limited);
    arm_length_archive(&learned->length, a);
    archive_stream(a, &self->room->streams.exploration);
    archive_stream(a, &self->room->streams.posterior);
    archive_stream(a, &self->room->streams.estimation);
    bandit_archive_policy(self->policy, a);
    pending_archive(&self->pending, self->decisions, self->now, a);
    counted_decisions_archive(&self->counted, learned->round, a);
    if (self->features) features_archive(self->features, a);
}

/* ---- describing ---- */

size_t ee_bandit_memory(const ee_bandit *bandit)
{
    return bandit ? memory_bytes(&bandit->memory) + memory_bytes(&bandit->arena->memory) : 0;
}

ee_info ee_bandit_info(const ee_bandit *bandit)
{
    if (!bandit) return (ee_info){.policy = "", .options = ""};
    return (ee_info){.policy = bandit->name,
                     .options = bandit->options,
                     .dim = bandit->dim,
                     .seed = bandit->seed,
                     .decisions = bandit->decisions,
                     .rewards = bandit->rewards,
                     .pending = pending_count(&bandit->pending),
                     .expired = bandit->expired,
                     .defaulted = bandit->defaulted,
                     .limited = bandit->policy->limited,
                     .features = bandit->features ? bandit->feature_options : NULL};
}

ee_status ee_option_describe(const char *policy_name, size_t index, ee_option *out, ee_error *error)
{
    const policy_class *class;
    const char *preset;
    void *options;
    if (!policy_name || !out) return status_fail(error, EE_BAD_INPUT, "describe: policy_name and out must not be NULL");
    if (strcmp(policy_name, "features") == 0) return features_describe_option(index, out, error);
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
