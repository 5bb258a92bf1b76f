/* Rounds of named features for a bandit. */
#include "bandit.h"

#include "features/features.h"

ee_status bandit_read_features(ee_bandit *self, const ee_settings *settings, features_options *options, ee_error *error)
{
    ee_status status = features_read_options(options, settings->features, error);
    if (status) return status;
    self->dim = features_dim(options);
    if (settings->dim && settings->dim != self->dim)
        return status_fail(error, EE_BAD_INPUT,
                           "create: give dim or features, not both: dim must be 0 or %zu with these features, got %zu",
                           self->dim, settings->dim);
    features_format_options(options, self->feature_options, sizeof self->feature_options);
    return EE_OK;
}

ee_status bandit_create_features(ee_bandit *self, const features_options *options, ee_error *error)
{
    ee_status status = memory_create(&self->memory, &self->features, 1, sizeof *self->features, error);
    return status ? status : features_create(self->features, &self->memory, options, error);
}

static ee_status check_takes_rounds(const ee_bandit *self, const char *verb, ee_error *error)
{
    if (self->features) return EE_OK;
    return status_fail(error, EE_BAD_INPUT,
                       "%s: this bandit takes vectors; for named features, set features when you create it", verb);
}

ee_status ee_bandit_arms(ee_bandit *bandit, ee_round *round, ee_arms *arms, ee_error *error)
{
    if (!bandit || !round) return status_fail(error, EE_BAD_INPUT, "arms: bandit and round must not be NULL");
    ee_status status = check_takes_rounds(bandit, "arms", error);
    if (!status) status = features_learn(bandit->features, round, error);
    if (status) return status;
    ee_arms unused;
    /* Cannot fail: learning the round has reserved the memory. */
    status = features_encode(bandit->features, round, arms ? arms : &unused, error);
    if (!status) bandit_add_round(bandit, arms ? arms : &unused);
    return status;
}

ee_status ee_bandit_feature(ee_bandit *bandit, size_t index, ee_feature *out, ee_error *error)
{
    if (!bandit || !out) return status_fail(error, EE_BAD_INPUT, "feature: bandit and out must not be NULL");
    ee_status status = check_takes_rounds(bandit, "feature", error);
    if (status) return status;
    if (index >= bandit->dim)
        return status_fail(error, EE_BAD_INPUT, "feature: index must be 0 to %zu, got %zu", bandit->dim - 1, index);
    ee_feature feature;
    size_t *capacity = &bandit->feature_name_capacity;
    size_t length = features_describe(bandit->features, index, &feature, bandit->feature_name, *capacity);
    status = memory_grow(&bandit->memory, &bandit->feature_name, capacity, length + 1, 1, error);
    if (status) return status;
    features_describe(bandit->features, index, &feature, bandit->feature_name, *capacity);
    feature.name = bandit->feature_name;
    *out = feature;
    return EE_OK;
}
