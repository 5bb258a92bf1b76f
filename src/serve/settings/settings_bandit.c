/* From settings to the library: options, and a bandit with them. */
#include <stdio.h>
#include <stdlib.h>

#include "bandit_settings.h"

enum { USUAL_DRAWS = 100 }; /* by which the probabilities of a policy that draws its scores are estimated */

bool policy_has_option(const char *policy, const char *name)
{
    ee_option known;
    for (size_t i = 0; !ee_option_describe(policy, i, &known, NULL); i++)
        if (strcmp(known.name, name) == 0) return true;
    return false;
}

/* The names in the options that are not the user's to set; *draws becomes whether probability_draws is among them. */
static ee_status check_options(const char *options, bool *draws, ee_error *error)
{
    static const char separators[] = ", \t\r\n";
    *draws = false;
    for (const char *at = options + strspn(options, separators); *at; at += strspn(at, separators)) {
        size_t length = strcspn(at, separators), name = strcspn(at, "=");
        if (name > length) name = length;
        json_text word = {at, name};
        at += length;
        if (json_is(word, "wait") || json_is(word, "default_reward"))
            return status_fail(error, EE_BAD_OPTION,
                               "options: %.*s is not allowed here; it is a setting of the bandit, next to \"options\"",
                               (int)name, word.bytes);
        if (name >= 10 && memcmp(word.bytes, "propensity", 10) == 0)
            return status_fail(error, EE_BAD_OPTION,
                               "options: %.*s is not allowed here; use the bandit's setting \"propensity\", for "
                               "example \"floor:0.05\"",
                               (int)name, word.bytes);
        if (!json_is(word, "probability_draws")) continue;
        *draws = true;
        if (name < length && strtoll(word.bytes + name + 1, NULL, 10) == 0)
            return status_fail(error, EE_BAD_OPTION,
                               "options: probability_draws must be above 0: the server logs the probability of every "
                               "decision");
    }
    return EE_OK;
}

/* "floor:0.1" as "propensity=floor propensity_epsilon=0.1". */
static ee_status add_rule(const char *rule, text *into, ee_error *error)
{
    static const struct {
        const char *word, *amount;
    } rules[] = {{"floor", "propensity_epsilon"},
                 {"softmax", "propensity_temperature"},
                 {"igw", "propensity_gamma"},
                 {"own", NULL},
                 {"argmax", NULL},
                 {"first", NULL}};
    size_t length = strcspn(rule, ":");
    bool has_amount = rule[length] == ':';
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!json_is((json_text){rule, length}, rules[i].word)) continue;
        if (has_amount && (!rules[i].amount || !rule[length + 1] || strpbrk(rule, ", \t\r\n="))) break;
        text_add(into, " propensity=%s", rules[i].word);
        if (has_amount) text_add(into, " %s=%s", rules[i].amount, rule + length + 1);
        return EE_OK;
    }
    return status_fail(error, EE_BAD_OPTION,
                       "propensity must be floor:EPSILON, softmax:TEMPERATURE, igw:GAMMA, own, argmax or first, "
                       "got '%s'",
                       rule);
}

ee_status bandit_settings_options(const bandit_settings *from, text *into, ee_error *error)
{
    bool draws;
    text_add(into, "%s", from->options);
    ee_status status = check_options(from->options, &draws, error);
    if (status) return status;
    if (policy_has_option(from->policy, "propensity")) return add_rule(from->propensity, into, error);
    if (strcmp(from->propensity, "own") != 0)
        return status_fail(error, EE_BAD_OPTION, "propensity: %s takes only \"own\"", from->policy);
    if (!draws && policy_has_option(from->policy, "probability_draws"))
        text_add(into, " probability_draws=%d", USUAL_DRAWS);
    return EE_OK;
}

ee_status bandit_settings_create(const bandit_settings *from, ee_bandit **out, ee_error *error)
{
    ee_option any;
    ee_status status = ee_option_describe(from->policy, 0, &any, error); /* an unknown policy says so itself */
    if (status) return status;
    text options = text_start(error);
    status = bandit_settings_options(from, &options, error);
    if (!status) status = options.status;
    ee_settings settings = {.policy = from->policy, .dim = from->dim, .seed = from->seed, .options = options.bytes};
    if (!from->dim) settings.features = from->features;
    if (!status) status = ee_bandit_create(&settings, out, error);
    memory_free(options.bytes);
    return status;
}
