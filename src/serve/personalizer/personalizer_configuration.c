/* Personalizer's ServiceConfiguration, written and read. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "data/values/json_members.h"
#include "data/values/log_time.h"
#include "personalizer.h"
#include "personalizer_settings.h"

/* By log_aggregation, whose first is none of ours, and learning_mode. */
static const char *const aggregations[] = {"", "earliest", "latest", "sum", "average", "max"};
static const char *const modes[] = {"Online", "Apprentice", "LoggingOnly"};
enum { DAY = 86400, AGGREGATIONS = sizeof aggregations / sizeof *aggregations };

/* ---- writing ---- */

double service_exploration(const bandit_settings *settings)
{
    return strncmp(settings->propensity, "floor:", 6) == 0 ? strtod(settings->propensity + 6, NULL) : 0;
}

static void add_text(text *into, const char *name, const char *value)
{
    if (value[0]) text_member(into, name, value);
}

void service_configuration_write(const bandit_settings *from, bool with_retrain, text *into)
{
    personalizer_kept kept = personalizer_kept_of(from);
    char wait[ISO_DURATION_SIZE];
    iso_duration_format((double)from->joining.wait * 1e-6, wait);
    text_add(into, "{");
    text_member(into, "rewardWaitTime", wait);
    text_member_number(into, "defaultReward", isnan(from->joining.default_reward) ? 0 : from->joining.default_reward);
    add_text(into, "rewardAggregation", aggregations[from->joining.aggregation]);
    text_member_number(into, "explorationPercentage", service_exploration(from));
    add_text(into, "modelExportFrequency", kept.export_frequency);
    text_add(into, ",\"logMirrorEnabled\":false,\"logRetentionDays\":%lld",
             (long long)(from->retention_days ? from->retention_days : -1));
    add_text(into, "lastConfigurationEditDate", kept.edited);
    add_text(into, "learningMode", modes[from->mode]);
    text_member_flag(into, "isAutoOptimizationEnabled", from->promote == PROMOTE_AUTO);
    add_text(into, "autoOptimizationFrequency", kept.optimization_frequency);
    add_text(into, "autoOptimizationStartDate", kept.optimization_start);
    if (with_retrain) text_add(into, ",\"modelRetrainDays\":%lld", (long long)kept.retrain_days);
    text_add(into, "}");
}

/* ---- reading ---- */

typedef struct configuration {
    bandit_settings *into;
    personalizer_kept kept;
    double exploration;
    const char **code;
    ee_error *error;
} configuration;

static ee_status refuse(configuration *self, const char *code, const char *message)
{
    *self->code = code;
    return status_fail(self->error, EE_BAD_INPUT, "%s", message);
}

static ee_status take_duration(configuration *self, const json_token *token, const char *name, double *seconds,
                               char kept[ISO_DURATION_SIZE])
{
    if (token->kind != JSON_KIND_TEXT || token->text.length >= ISO_DURATION_SIZE ||
        !iso_duration_parse(token->text, seconds))
        return status_fail(self->error, EE_BAD_INPUT, "%s must be a duration such as PT10M", name);
    if (kept) snprintf(kept, ISO_DURATION_SIZE, "%.*s", (int)token->text.length, token->text.bytes);
    return EE_OK;
}

static ee_status read_wait(configuration *self, const json_token *token)
{
    double seconds;
    ee_status status = take_duration(self, token, "rewardWaitTime", &seconds, NULL);
    if (status || !(seconds > 0 && seconds <= 366.0 * DAY))
        return refuse(self, "InvalidRewardWaitTime",
                      "rewardWaitTime must be a duration such as PT10M, above 0 and at most 366 days");
    self->into->joining.wait = llround(seconds * 1e6);
    return EE_OK;
}

static ee_status read_default(configuration *self, const json_token *token)
{
    if (token->kind != JSON_KIND_NUMBER || !(fabs(token->number) <= 1))
        return status_fail(self->error, EE_BAD_INPUT, "defaultReward must be a number from -1 to 1");
    /* A bandit without a default reward keeps none if the request says 0, which is what we showed. */
    if (token->number != 0 || !isnan(self->into->joining.default_reward))
        self->into->joining.default_reward = token->number;
    return EE_OK;
}

/* Which of the (count) words the token is; count: none. */
static size_t find_word(const json_token *token, const char *const *words, size_t count)
{
    size_t found = 0;
    while (found < count && !(token->kind == JSON_KIND_TEXT && strlen(words[found]) == token->text.length &&
                              strncasecmp(words[found], token->text.bytes, token->text.length) == 0))
        found++;
    return found;
}

static ee_status read_aggregation(configuration *self, const json_token *token)
{
    size_t found = find_word(token, aggregations, AGGREGATIONS);
    if (found == LOG_REWARD_LABEL || found == AGGREGATIONS)
        return status_fail(self->error, EE_BAD_INPUT,
                           "rewardAggregation must be earliest, latest, sum, average or max");
    self->into->joining.aggregation = (log_aggregation)found;
    return EE_OK;
}

static ee_status read_exploration(configuration *self, const json_token *token)
{
    if (token->kind != JSON_KIND_NUMBER || !(token->number >= 0 && token->number <= 1))
        return status_fail(self->error, EE_BAD_INPUT, "explorationPercentage must be a number from 0 to 1");
    self->exploration = token->number;
    return EE_OK;
}

static ee_status read_export(configuration *self, const json_token *token)
{
    double seconds;
    return take_duration(self, token, "modelExportFrequency", &seconds, self->kept.export_frequency);
}

static ee_status read_retention(configuration *self, const json_token *token)
{
    double days = token->kind == JSON_KIND_NUMBER ? token->number : 0;
    if (days != -1 && !(days >= 1 && days <= 36500 && days == floor(days)))
        return refuse(self, "InvalidLogRetentionDays",
                      "logRetentionDays must be 1 to 36500, or -1 to keep the log forever");
    /* Unset and -1 are shown alike. */
    if (days != -1 || self->into->retention_days) self->into->retention_days = (int64_t)days;
    return EE_OK;
}

static ee_status read_mirror(configuration *self, const json_token *token)
{
    if (token->kind == JSON_KIND_FALSE || token->kind == JSON_KIND_NULL) return EE_OK;
    return status_fail(self->error, EE_BAD_INPUT,
                       "logMirrorEnabled: not supported; export the log with GET /v1/bandits/NAME/log");
}

static ee_status read_mode(configuration *self, const json_token *token)
{
    size_t found = find_word(token, modes, 3);
    if (token->kind == JSON_KIND_NULL) return EE_OK;
    if (found == 3)
        return status_fail(self->error, EE_BAD_INPUT, "learningMode must be Online, Apprentice or LoggingOnly");
    self->into->mode = (learning_mode)found;
    return EE_OK;
}

static ee_status read_auto(configuration *self, const json_token *token)
{
    if (token->kind == JSON_KIND_NULL) return EE_OK;
    if (token->kind != JSON_KIND_TRUE && token->kind != JSON_KIND_FALSE)
        return status_fail(self->error, EE_BAD_INPUT, "isAutoOptimizationEnabled must be true or false");
    self->into->promote = token->kind == JSON_KIND_TRUE ? PROMOTE_AUTO : PROMOTE_OFFER;
    return EE_OK;
}

static ee_status read_frequency(configuration *self, const json_token *token)
{
    double seconds;
    if (token->kind == JSON_KIND_NULL) return EE_OK;
    return take_duration(self, token, "autoOptimizationFrequency", &seconds, self->kept.optimization_frequency);
}

static ee_status read_start(configuration *self, const json_token *token)
{
    double seconds;
    if (token->kind == JSON_KIND_NULL) return EE_OK;
    if (token->kind != JSON_KIND_TEXT || !log_time_parse(token->text, &seconds))
        return status_fail(self->error, EE_BAD_INPUT, "autoOptimizationStartDate must be a time");
    log_time_format(seconds, self->kept.optimization_start);
    return EE_OK;
}

static ee_status read_retrain(configuration *self, const json_token *token)
{
    if (token->kind == JSON_KIND_NULL) return EE_OK;
    if (token->kind != JSON_KIND_NUMBER || !(token->number >= 0 && token->number <= 36500) ||
        token->number != floor(token->number))
        return status_fail(self->error, EE_BAD_INPUT, "modelRetrainDays must be an integer from 0 to 36500");
    self->kept.retrain_days = (int64_t)token->number;
    return EE_OK;
}

/* The first six are required. */
static const char *const names[] = {"rewardWaitTime",
                                    "defaultReward",
                                    "rewardAggregation",
                                    "explorationPercentage",
                                    "modelExportFrequency",
                                    "logRetentionDays",
                                    "logMirrorEnabled",
                                    "learningMode",
                                    "isAutoOptimizationEnabled",
                                    "autoOptimizationFrequency",
                                    "autoOptimizationStartDate",
                                    "modelRetrainDays"};
static ee_status (*const readers[])(configuration *self, const json_token *token) = {
    read_wait,   read_default, read_aggregation, read_exploration, read_export, read_retention,
    read_mirror, read_mode,    read_auto,        read_frequency,   read_start,  read_retrain};
enum { MEMBERS = sizeof names / sizeof *names, REQUIRED = 6 };

static ee_status read_members(configuration *self, json_reader *reader)
{
    member_reader at = {.reader = reader, .names = names, .count = MEMBERS, .lenient = true};
    member_begin_body(&at, self->error);
    while (member_next(&at, self->error)) at.status = readers[at.which](self, &at.token);
    for (size_t i = 0; i < REQUIRED && !at.status; i++)
        if (!(at.seen & 1u << i)) at.status = status_fail(self->error, EE_BAD_INPUT, "missing %s", names[i]);
    return member_end_body(&at, self->error);
}

static bool are_rewards_alike(const joining_rules *a, const joining_rules *b)
{
    bool both_none = isnan(a->default_reward) && isnan(b->default_reward);
    return a->wait == b->wait && a->aggregation == b->aggregation &&
           (both_none || a->default_reward == b->default_reward);
}

/* Sets the propensity rule for this share of exploration. */
static ee_status set_exploration(configuration *self)
{
    char rule[sizeof self->into->propensity] = "";
    if (self->exploration == service_exploration(self->into)) return EE_OK;
    if (!policy_has_option(self->into->policy, "propensity"))
        return status_fail(self->error, EE_BAD_INPUT,
                           "explorationPercentage: cannot be set; the policy %s controls its own exploration",
                           self->into->policy);
    snprintf(rule, sizeof rule, "floor:%.15g", self->exploration);
    memcpy(self->into->propensity, rule, sizeof rule);
    return EE_OK;
}

ee_status service_configuration_read(bandit_settings *into, json_text body, const char **code, ee_error *error)
{
    bandit_settings next = *into;
    memory escapes = {0};
    json_room room = {.owner = &escapes};
    json_reader reader = json_start(body.bytes, body.length, &room);
    configuration self = {.into = &next, .kept = personalizer_kept_of(into), .code = code, .error = error};
    *code = "InvalidServiceConfiguration";
    ee_status status = read_members(&self, &reader);
    memory_release(&escapes);
    if (!status) status = set_exploration(&self);
    if (!status && next.mode != into->mode && !are_rewards_alike(&next.joining, &into->joining))
        status = refuse(&self, "InvalidLearningModeServiceConfiguration",
                        "learningMode and the reward settings cannot change in the same request");
    if (!status && next.retention_days > 0 && (double)next.retention_days < (double)next.joining.wait / 1e6 / DAY + 1)
        status =
            refuse(&self, "InvalidLogRetentionDays", "logRetentionDays must be at least rewardWaitTime plus one day");
    if (!status) status = personalizer_keep(&self.kept, &next, error);
    if (!status) *into = next;
    return status;
}
