#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "bandit_settings.h"
#include "data/values/json_members.h"

/* ---- reading and writing ---- */

static const struct {
    const char *name;
    size_t at, size;
} members[] = {
    {"name", offsetof(challenger_settings, name), BANDIT_NAME_SIZE},
    {"policy", offsetof(challenger_settings, policy), sizeof(((challenger_settings *)0)->policy)},
    {"options", offsetof(challenger_settings, options), CHALLENGER_TEXT_SIZE},
    {"propensity", offsetof(challenger_settings, propensity), sizeof(((challenger_settings *)0)->propensity)},
    {"number", offsetof(challenger_settings, number), 0}, /* overwritten: see bandit_settings_number */
};

static ee_status read_text(const json_token *token, const char *name, char *into, size_t size, ee_error *error)
{
    if (token->kind != JSON_KIND_TEXT)
        return status_fail(error, EE_BAD_INPUT, "challengers: %s must be a string", name);
    if (token->text.length >= size || memchr(token->text.bytes, 0, token->text.length))
        return status_fail(error, EE_BAD_INPUT, "challengers: %s must have at most %zu bytes, none of them zero", name,
                           size - 1);
    memset(into, 0, size);
    memcpy(into, token->text.bytes, token->text.length);
    return EE_OK;
}

static ee_status read_number(const json_token *token, uint64_t *into, ee_error *error)
{
    if (token->kind != JSON_KIND_NUMBER || token->number != floor(token->number) ||
        !(token->number >= 0 && token->number <= 0x1p53))
        return status_fail(error, EE_BAD_INPUT, "challengers: number must be an integer from 0 to 2^53");
    *into = (uint64_t)token->number;
    return EE_OK;
}

static ee_status read_member(challenger_settings *into, const json_token *token, ee_error *error)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (!json_is(token->key, members[i].name)) continue;
        if (!members[i].size) return read_number(token, &into->number, error);
        return read_text(token, members[i].name, (char *)into + members[i].at, members[i].size, error);
    }
    return status_fail(error, EE_BAD_INPUT,
                       "challengers: unknown key '%.*s'; expected name, policy, options or propensity",
                       (int)(token->key.length < 40 ? token->key.length : 40), token->key.bytes);
}

ee_status challenger_settings_read(challenger_settings *into, json_reader *reader, ee_error *error)
{
    json_token token;
    ee_status status = EE_OK;
    memset(into, 0, sizeof *into);
    while (!(status = json_next(reader, &token, error)) && token.kind != JSON_KIND_OBJECT_END) {
        status = read_member(into, &token, error);
        if (status) return status;
    }
    return status;
}

void challenger_settings_write(const challenger_settings *from, text *into)
{
    text_bytes(into, "{", 1);
    text_member(into, "name", from->name);
    text_member(into, "policy", from->policy);
    text_member(into, "options", from->options);
    text_member(into, "propensity", from->propensity);
    text_member_count(into, "number", from->number);
    text_add(into, "}");
}

/* ---- names ---- */

const challenger_settings *bandit_settings_challenger(const bandit_settings *of, json_text name)
{
    for (size_t i = 0; i < of->challenger_count; i++)
        if (json_is(name, of->challengers[i].name)) return &of->challengers[i];
    return NULL;
}

static ee_status check_name(const bandit_settings *of, const challenger_settings *one, ee_error *error)
{
    static const char *const taken[] = {"online", "baseline", "uniform"}; /* names of the other evaluated policies */
    json_text name = {one->name, strlen(one->name)};
    if (!bandit_name_is_valid(name))
        return status_fail(
            error, EE_BAD_INPUT,
            "challengers: name must be 1 to 64 letters, digits, '-', '_' or '.', starting with a letter or digit");
    bool known = bandit_settings_challenger(of, name) != one; /* an earlier one has it */
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) known = known || json_is(name, taken[i]);
    return known ? status_fail(error, EE_BAD_INPUT, "challengers: duplicate name '%s'", one->name) : EE_OK;
}

ee_status challenger_settings_complete(bandit_settings *of, ee_error *error)
{
    for (size_t i = 0; i < of->challenger_count; i++) {
        challenger_settings *one = &of->challengers[i];
        ee_status status = check_name(of, one, error);
        if (status) return status;
        if (!one->policy[0]) return status_fail(error, EE_BAD_INPUT, "challengers: '%s' needs a \"policy\"", one->name);
        if (one->propensity[0]) continue;
        bool chosen = policy_has_option(one->policy, "propensity") && policy_has_option(of->policy, "propensity");
        const char *rule = chosen                                         ? of->propensity
                           : policy_has_option(one->policy, "propensity") ? "floor:0.05"
                                                                          : "own";
        snprintf(one->propensity, sizeof one->propensity, "%s", rule);
    }
    return EE_OK;
}

/* ---- tests ---- */

static bool are_alike(const challenger_settings *a, const challenger_settings *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->policy, b->policy) == 0 && strcmp(a->options, b->options) == 0 &&
           strcmp(a->propensity, b->propensity) == 0;
}

void bandit_settings_number(bandit_settings *next, const bandit_settings *before, bool anew)
{
    next->tests = before->tests;
    for (size_t i = 0; i < next->challenger_count; i++) {
        challenger_settings *one = &next->challengers[i];
        const challenger_settings *same = NULL;
        for (size_t k = 0; k < before->challenger_count && !anew; k++)
            if (are_alike(one, &before->challengers[k])) same = &before->challengers[k];
        one->number = same ? same->number : ++next->tests;
    }
}

bool bandit_settings_decide_alike(const bandit_settings *a, const bandit_settings *b)
{
    return a->mode == b->mode && strcmp(a->policy, b->policy) == 0 && strcmp(a->options, b->options) == 0 &&
           strcmp(a->propensity, b->propensity) == 0 && a->reward_low == b->reward_low &&
           a->reward_high == b->reward_high &&
           metric_objective_checksum(&a->joining) == metric_objective_checksum(&b->joining);
}

bandit_settings challenger_settings_in_place(const bandit_settings *of, const challenger_settings *challenger)
{
    bandit_settings made = *of;
    memset(made.options, 0, sizeof made.options);
    memcpy(made.policy, challenger->policy, sizeof made.policy);
    memcpy(made.options, challenger->options, sizeof challenger->options);
    memcpy(made.propensity, challenger->propensity, sizeof made.propensity);
    return made;
}
