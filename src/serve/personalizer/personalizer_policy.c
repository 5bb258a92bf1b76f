/* Personalizer's PolicyContract: a name, and arguments of Vowpal Wabbit, or of ours. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/values/json_members.h"
#include "personalizer.h"
#include "personalizer_settings.h"

static const char prefix[] = "eenet:";

void policy_contract_write(const bandit_settings *from, text *into)
{
    personalizer_kept kept = personalizer_kept_of(from);
    char arguments[sizeof prefix + sizeof from->policy + sizeof from->options];
    bool named = kept.policy_name[0];
    snprintf(arguments, sizeof arguments, "%s%s%s%s", prefix, from->policy, from->options[0] ? " " : "", from->options);
    text_add(into, "{");
    text_member(into, "name", named ? kept.policy_name : from->policy);
    text_member(into, "arguments", named ? kept.policy_arguments : arguments);
    text_add(into, "}");
}

/* ---- reading ---- */

/* Copies the options except propensity=RULE, which is a separate setting: *rule, if it is given. */
static ee_status take_options(bandit_settings *into, json_text given, json_text *rule, ee_error *error)
{
    static const char word[] = "propensity=";
    size_t used = 0;
    memset(into->options, 0, sizeof into->options);
    for (size_t at = 0; at < given.length;) {
        size_t length = 0;
        while (at + length < given.length && given.bytes[at + length] != ' ') length++;
        json_text one = {given.bytes + at, length};
        at += length + 1;
        if (length >= sizeof word - 1 && memcmp(one.bytes, word, sizeof word - 1) == 0) {
            *rule = (json_text){one.bytes + sizeof word - 1, length - (sizeof word - 1)};
        } else if (length) {
            if (used + length + 2 > sizeof into->options)
                return status_fail(error, EE_BAD_INPUT, "arguments: the options are too long");
            if (used) into->options[used++] = ' ';
            memcpy(into->options + used, one.bytes, length);
            used += length;
        }
    }
    return EE_OK;
}

/* "eenet:POLICY OPTIONS propensity=RULE" */
static ee_status take_eenet(bandit_settings *into, json_text arguments, ee_error *error)
{
    json_text given = {arguments.bytes + sizeof prefix - 1, arguments.length - (sizeof prefix - 1)}, rule = {NULL, 0};
    char kept[sizeof into->propensity] = "";
    size_t policy = 0;
    while (policy < given.length && given.bytes[policy] != ' ') policy++;
    if (!policy || policy >= sizeof into->policy)
        return status_fail(error, EE_BAD_INPUT,
                           "arguments must be eenet:POLICY OPTIONS; 'eenet policies' lists the policies");
    memset(into->policy, 0, sizeof into->policy);
    memcpy(into->policy, given.bytes, policy);
    json_text options = {given.bytes + policy, given.length - policy};
    ee_status status = take_options(into, options, &rule, error);
    if (status) return status;
    if (rule.length >= sizeof kept) return status_fail(error, EE_BAD_INPUT, "arguments: propensity is too long");
    /* Policies that sample their scores have only their own rule; others default to the bandit's. */
    bool draws = !policy_has_option(into->policy, "propensity"), drew = strcmp(into->propensity, "own") == 0;
    if (rule.length)
        memcpy(kept, rule.bytes, rule.length);
    else
        snprintf(kept, sizeof kept, "%s", draws ? "own" : drew ? bandit_settings_usual().propensity : into->propensity);
    memcpy(into->propensity, kept, sizeof kept);
    return EE_OK;
}

/* The last --epsilon of Vowpal Wabbit's arguments; NaN: there is none. */
static double find_epsilon(const char *arguments)
{
    static const char word[] = "--epsilon";
    double found = NAN;
    for (const char *at = arguments; (at = strstr(at, word)); at += sizeof word - 1) {
        const char *value = at + sizeof word - 1;
        char *end;
        if ((at > arguments && at[-1] != ' ') || (*value != ' ' && *value != '=')) continue;
        double number = strtod(value + 1, &end);
        if (end != value + 1 && number >= 0 && number <= 1) found = number;
    }
    return found;
}

ee_status policy_contract_apply(bandit_settings *into, json_text name, json_text arguments, ee_error *error)
{
    bandit_settings next = *into;
    personalizer_kept kept = personalizer_kept_of(into);
    ee_status status = EE_OK;
    if (!name.length || name.length > POLICY_NAME_MOST)
        return status_fail(error, EE_BAD_INPUT, "name must have 1 to %d bytes", POLICY_NAME_MOST);
    if (!arguments.length || arguments.length > POLICY_ARGUMENTS_MOST)
        return status_fail(error, EE_BAD_INPUT, "arguments must have 1 to %d bytes", POLICY_ARGUMENTS_MOST);
    snprintf(kept.policy_name, sizeof kept.policy_name, "%.*s", (int)name.length, name.bytes);
    snprintf(kept.policy_arguments, sizeof kept.policy_arguments, "%.*s", (int)arguments.length, arguments.bytes);
    if (strlen(kept.policy_name) != name.length || strlen(kept.policy_arguments) != arguments.length)
        return status_fail(error, EE_BAD_INPUT, "name and arguments must not contain a zero byte");
    double epsilon = find_epsilon(kept.policy_arguments);
    if (strncmp(kept.policy_arguments, prefix, sizeof prefix - 1) == 0) {
        status = take_eenet(&next, arguments, error);
    } else if (kept.policy_arguments[strspn(kept.policy_arguments, " ")] != '-') {
        status = status_fail(error, EE_BAD_INPUT,
                             "arguments: expected eenet:POLICY OPTIONS or Vowpal Wabbit arguments (--...), got %.40s",
                             kept.policy_arguments);
    } else if (!isnan(epsilon) && policy_has_option(next.policy, "propensity")) {
        char rule[sizeof next.propensity] = "";
        snprintf(rule, sizeof rule, "floor:%.15g", epsilon);
        memcpy(next.propensity, rule, sizeof rule);
    }
    if (!status) status = personalizer_keep(&kept, &next, error);
    if (!status) *into = next;
    return status;
}

static ee_status read_contract(bandit_settings *into, json_reader *reader, kept_texts *texts, ee_error *error)
{
    static const char *const names[] = {"name", "arguments"};
    json_text found[2] = {{NULL, 0}, {NULL, 0}};
    member_reader at = {.reader = reader, .names = names, .count = 2, .lenient = true};
    member_begin_body(&at, error);
    while (member_next(&at, error)) {
        if (at.token.kind != JSON_KIND_TEXT)
            return status_fail(error, EE_BAD_INPUT, "%s must be a string", names[at.which]);
        found[at.which] = at.token.text;
        at.status = kept_texts_keep(texts, reader, &found[at.which], error);
    }
    ee_status status = member_end_body(&at, error);
    return status ? status : policy_contract_apply(into, found[0], found[1], error);
}

ee_status policy_contract_read(bandit_settings *into, json_text body, ee_error *error)
{
    memory owner = {0};
    json_room room = {.owner = &owner};
    kept_texts texts = {.owner = &owner};
    json_reader reader = json_start(body.bytes, body.length, &room);
    ee_status status = read_contract(into, &reader, &texts, error);
    memory_release(&owner);
    return status;
}

ee_status policy_contract_reset(bandit_settings *into, ee_error *error)
{
    bandit_settings usual = bandit_settings_usual(), next = *into;
    personalizer_kept kept = personalizer_kept_of(into);
    kept.policy_name[0] = kept.policy_arguments[0] = '\0';
    memcpy(next.policy, usual.policy, sizeof next.policy);
    memcpy(next.options, usual.options, sizeof next.options);
    memcpy(next.propensity, usual.propensity, sizeof next.propensity);
    ee_status status = personalizer_keep(&kept, &next, error);
    if (!status) *into = next;
    return status;
}
