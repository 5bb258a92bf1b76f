#include <math.h>
#include <string.h>

#include "bandit_settings.h"
#include "data/values/json_members.h"

static const char *const aggregations[] = {
    [LOG_REWARD_FIRST] = "first", [LOG_REWARD_LAST] = "last", [LOG_REWARD_SUM] = "sum",
    [LOG_REWARD_MEAN] = "mean",   [LOG_REWARD_MAX] = "max",
};

static bool is_name(json_text given)
{
    if (!given.length || given.length >= METRIC_NAME_SIZE || json_is(given, "reward")) return false;
    for (size_t i = 0; i < given.length; i++) {
        char c = given.bytes[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && ((c >= '0' && c <= '9') || c == '-' || c == '.'))) return false;
    }
    return true;
}

static ee_status read_name(metric_settings *into, const json_token *token, ee_error *error)
{
    if (token->kind != JSON_KIND_TEXT || !is_name(token->text))
        return status_fail(
            error, EE_BAD_INPUT,
            "metrics: a name has 1 to %d letters, digits, '_', '-' and '.', begins with a letter or '_', "
            "and is not \"reward\"",
            METRIC_NAME_SIZE - 1);
    memset(into->name, 0, sizeof into->name);
    memcpy(into->name, token->text.bytes, token->text.length);
    return EE_OK;
}

static ee_status read_aggregation(metric_settings *into, const json_token *token, ee_error *error)
{
    for (size_t i = LOG_REWARD_FIRST; i < sizeof aggregations / sizeof *aggregations; i++) {
        if (token->kind != JSON_KIND_TEXT || !json_is(token->text, aggregations[i])) continue;
        into->aggregation = (log_aggregation)i;
        return EE_OK;
    }
    return status_fail(error, EE_BAD_INPUT, "metrics: aggregation must be one of first, last, sum, mean, max");
}

static bool is_number(const json_token *token)
{
    return token->kind == JSON_KIND_NUMBER && fabs(token->number) <= 1e9;
}

static ee_status read_missing(metric_settings *into, const json_token *token, ee_error *error)
{
    if (!is_number(token) && token->kind != JSON_KIND_NULL)
        return status_fail(error, EE_BAD_INPUT,
                           "metrics: missing must be a number from -1e9 to 1e9, or null: not counted");
    into->missing = is_number(token) ? token->number : NAN;
    return EE_OK;
}

static ee_status read_weight(metric_settings *into, const json_token *token, ee_error *error)
{
    if (!is_number(token)) return status_fail(error, EE_BAD_INPUT, "metrics: weight must be a number from -1e9 to 1e9");
    into->weight = token->number;
    return EE_OK;
}

static const struct {
    const char *name;
    ee_status (*read)(metric_settings *into, const json_token *token, ee_error *error);
} members[] = {
    {"name", read_name},
    {"aggregation", read_aggregation},
    {"missing", read_missing},
    {"weight", read_weight},
};

static ee_status read_member(metric_settings *into, const json_token *token, ee_error *error)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (json_is(token->key, members[i].name)) return members[i].read(into, token, error);
    return status_fail(error, EE_BAD_INPUT,
                       "metrics: unknown member '%.*s'; expected name, aggregation, missing or weight",
                       json_shown(token->key), token->key.bytes);
}

static ee_status read_metric(metric_settings *into, json_reader *reader, ee_error *error)
{
    json_token token;
    ee_status status;
    *into = (metric_settings){.aggregation = LOG_REWARD_SUM};
    while (!(status = json_next(reader, &token, error)) && token.kind != JSON_KIND_OBJECT_END) {
        status = read_member(into, &token, error);
        if (status) return status;
    }
    if (!status && !into->name[0]) return status_fail(error, EE_BAD_INPUT, "metrics: a metric has no name");
    return status;
}

ee_status metric_settings_read(joining_rules *into, json_reader *reader, ee_error *error)
{
    json_token token;
    ee_status status;
    memset(into->metrics, 0, sizeof into->metrics);
    into->metric_count = 0;
    while (!(status = json_next(reader, &token, error)) && token.kind != JSON_KIND_ARRAY_END) {
        if (token.kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "metrics: each must be an object");
        if (into->metric_count == MOST_METRICS)
            return status_fail(error, EE_BAD_INPUT, "metrics: expected at most %d", MOST_METRICS);
        metric_settings *next = &into->metrics[into->metric_count];
        status = read_metric(next, reader, error);
        if (status) return status;
        if (metric_find(into, (json_text){next->name, strlen(next->name)}) < into->metric_count)
            return status_fail(error, EE_BAD_INPUT, "metrics: two have the name '%s'", next->name);
        into->metric_count++;
    }
    return status;
}

void metric_settings_write(const joining_rules *from, text *into)
{
    if (!from->metric_count) return;
    text_key(into, "metrics");
    text_add(into, "[");
    for (size_t i = 0; i < from->metric_count; i++) {
        const metric_settings *metric = &from->metrics[i];
        text_add(into, i ? ",{" : "{");
        text_member(into, "name", metric->name);
        text_member(into, "aggregation", aggregations[metric->aggregation]);
        text_member_number(into, "missing", metric->missing);
        text_member_number(into, "weight", metric->weight);
        text_add(into, "}");
    }
    text_add(into, "]");
}

size_t metric_find(const joining_rules *of, json_text name)
{
    size_t place = 0;
    while (place < of->metric_count && !json_is(name, of->metrics[place].name)) place++;
    return place;
}

double metric_objective(const joining_rules *of, double reward, const double *values)
{
    double sum = reward;
    for (size_t i = 0; i < of->metric_count; i++) {
        double value = isnan(values[i]) ? of->metrics[i].missing : values[i];
        if (!isnan(value)) sum += of->metrics[i].weight * value;
    }
    return sum;
}

/* FNV-1a. */
static uint64_t add_bytes(uint64_t sum, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) sum = (sum ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
    return sum;
}

uint64_t metric_objective_checksum(const joining_rules *of)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < of->metric_count; i++) {
        const metric_settings *metric = &of->metrics[i];
        double missing = isnan(metric->missing) ? (double)NAN : metric->missing;
        if (metric->weight == 0) continue;
        sum = add_bytes(sum ? sum : 0xcbf29ce484222325, metric->name, strlen(metric->name) + 1);
        sum = add_bytes(add_bytes(sum, &missing, sizeof missing), &metric->weight, sizeof metric->weight);
    }
    return sum;
}
