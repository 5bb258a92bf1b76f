#include "reward_request.h"

#include <math.h>
#include <stdio.h>

static ee_status read_text(json_text *out, json_reader *reader, const json_token *token, const char *what,
                           kept_texts *texts, ee_error *error)
{
    ee_status status = request_check_id(token, what, error);
    *out = token->text;
    return status ? status : kept_texts_keep(texts, reader, out, error);
}

static ee_status read_value(double *out, const json_token *token, ee_error *error)
{
    if (token->kind != JSON_KIND_NUMBER) return status_fail(error, EE_BAD_INPUT, "value must be a number");
    if (!(fabs(token->number) <= 1e9))
        return status_fail(error, EE_BAD_INPUT, "value must be -1e9 to 1e9, got %g", token->number);
    *out = token->number;
    return EE_OK;
}

static bool has_metric(const metric_values *in, json_text name)
{
    for (size_t i = 0; i < in->count; i++)
        if (json_is(name, in->list[i].name)) return true;
    return false;
}

static ee_status read_metric(metric_values *into, const json_token *token, ee_error *error)
{
    int shown = request_shown(token->key);
    if (!token->key.length || token->key.length >= METRIC_NAME_SIZE)
        return status_fail(error, EE_BAD_INPUT, "metrics: there is no metric \"%.*s\"", shown, token->key.bytes);
    if (token->kind != JSON_KIND_NUMBER || !(fabs(token->number) <= 1e9))
        return status_fail(error, EE_BAD_INPUT, "metrics: \"%.*s\" must be a number from -1e9 to 1e9", shown,
                           token->key.bytes);
    if (has_metric(into, token->key))
        return status_fail(error, EE_BAD_INPUT, "metrics: duplicate key \"%.*s\"", shown, token->key.bytes);
    if (into->count == MOST_METRICS)
        return status_fail(error, EE_BAD_INPUT, "metrics: expected at most %d", MOST_METRICS);
    metric_value *next = &into->list[into->count++];
    *next = (metric_value){.count = 1, .value = token->number + 0.0};
    memcpy(next->name, token->key.bytes, token->key.length);
    return EE_OK;
}

static ee_status read_metrics(metric_values *into, json_reader *reader, const json_token *first, ee_error *error)
{
    json_token token;
    ee_status status;
    if (first->kind == JSON_KIND_NULL) return EE_OK;
    if (first->kind != JSON_KIND_OBJECT)
        return status_fail(error, EE_BAD_INPUT, "metrics must be an object, such as {\"refund\": 1}");
    while (!(status = json_next(reader, &token, error)) && token.kind != JSON_KIND_OBJECT_END) {
        status = read_metric(into, &token, error);
        if (status) return status;
    }
    return status;
}

ee_status reward_request_read(reward_request *out, json_reader *reader, kept_texts *texts, ee_error *error)
{
    enum { ID, VALUE, REWARD_ID, SLOT, METRICS };
    static const char *const names[] = {"id", "value", "reward_id", "slot", "metrics"};
    member_reader at = {.reader = reader, .names = names, .count = 5};
    *out = (reward_request){.value = 0};
    while (member_next(&at, error)) {
        json_text *const ids[] = {[ID] = &out->id, [REWARD_ID] = &out->reward_id, [SLOT] = &out->slot};
        if (at.which == VALUE)
            at.status = read_value(&out->value, &at.token, error);
        else if (at.which == METRICS)
            at.status = read_metrics(&out->metrics, reader, &at.token, error);
        else if (at.which == ID || at.token.kind != JSON_KIND_NULL)
            at.status = read_text(ids[at.which], reader, &at.token, names[at.which], texts, error);
    }
    if (at.status && json_is(at.token.key, "reward")) /* nearer to "reward_id", which would only mislead */
        return status_fail(error, EE_BAD_INPUT, "unknown key \"reward\"; did you mean \"value\"?");
    if (at.status) return at.status;
    out->has_value = at.seen & 1u << VALUE;
    out->metrics.reward = out->has_value ? out->value : NAN;
    if (!(at.seen & 1u << ID)) return status_fail(error, EE_BAD_INPUT, "missing \"id\"");
    if (!out->has_value && !out->metrics.count) return status_fail(error, EE_BAD_INPUT, "missing \"value\"");
    return EE_OK;
}

ee_status reward_request_check(const reward_request *self, const joining_rules *rules, ee_error *error)
{
    for (size_t i = 0; i < self->metrics.count; i++) {
        const char *name = self->metrics.list[i].name;
        char known[MOST_METRICS * (METRIC_NAME_SIZE + 2)] = "";
        size_t length = 0;
        if (metric_find(rules, (json_text){name, strlen(name)}) < rules->metric_count) continue;
        if (!rules->metric_count)
            return status_fail(error, EE_BAD_INPUT,
                               "metrics: the bandit has no metrics; add \"metrics\" to its settings");
        for (size_t k = 0; k < rules->metric_count; k++)
            length +=
                (size_t)snprintf(known + length, sizeof known - length, "%s%s", k ? ", " : "", rules->metrics[k].name);
        return status_fail(error, EE_BAD_INPUT, "metrics: there is no metric \"%s\"; the bandit has %s", name, known);
    }
    return EE_OK;
}
