/* Whether two settings of guardrails do the same to decisions. */
#include "guard_settings.h"

static bool same_words(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_term(const guard_term *a, const guard_term *b)
{
    bool same = strcmp(a->path, b->path) == 0 && a->of_action == b->of_action && a->value_count == b->value_count;
    for (size_t i = 0; i < a->value_count && same; i++) {
        const guard_value *left = &a->values[i], *right = &b->values[i];
        same = same_words(left->words, right->words) &&
               (left->words || (left->low == right->low && left->high == right->high));
    }
    return same;
}

/* The number of the first term of a mask from `at`; GUARD_TERMS: none. */
static size_t next_term(uint64_t terms, size_t at)
{
    while (at < GUARD_TERMS && !(terms >> at & 1)) at++;
    return at;
}

bool guard_same_terms(const guard_settings *a, uint64_t of_a, const guard_settings *b, uint64_t of_b)
{
    size_t i = next_term(of_a, 0), k = next_term(of_b, 0);
    while (i < GUARD_TERMS && k < GUARD_TERMS) {
        if (!same_term(&a->terms[i], &b->terms[k])) return false;
        i = next_term(of_a, i + 1);
        k = next_term(of_b, k + 1);
    }
    return i == k;
}

bool guard_same_cap(const guard_settings *a, size_t of_a, const guard_settings *b, size_t of_b)
{
    const guard_cap *left = &a->caps[of_a], *right = &b->caps[of_b];
    return left->most == right->most && left->per == right->per && left->each_key == right->each_key &&
           guard_same_terms(a, left->terms, b, right->terms);
}

bool guard_same_budget(const guard_settings *a, size_t of_a, const guard_settings *b, size_t of_b)
{
    const guard_budget *left = &a->budgets[of_a], *right = &b->budgets[of_b];
    return same_words(left->cost_path, right->cost_path) && left->cost == right->cost && left->limit == right->limit &&
           left->per == right->per && left->even == right->even && guard_same_terms(a, left->terms, b, right->terms);
}

static size_t next_rule(const guard_settings *of, int64_t now, size_t at)
{
    while (at < of->rule_count && of->rules[at].until <= now) at++;
    return at;
}

static bool same_rules(const guard_settings *a, const guard_settings *b, int64_t now)
{
    size_t i = next_rule(a, now, 0), k = next_rule(b, now, 0);
    while (i < a->rule_count && k < b->rule_count) {
        const guard_rule *left = &a->rules[i], *right = &b->rules[k];
        bool same = left->excludes == right->excludes && left->boost == right->boost && left->from == right->from &&
                    left->until == right->until && guard_same_terms(a, left->terms, b, right->terms);
        if (!same) return false;
        i = next_rule(a, now, i + 1);
        k = next_rule(b, now, k + 1);
    }
    return i == a->rule_count && k == b->rule_count;
}

static bool same_shares(const guard_settings *a, const guard_settings *b)
{
    bool same = a->share_count == b->share_count;
    for (size_t i = 0; i < a->share_count && same; i++) {
        const guard_share *left = &a->shares[i], *right = &b->shares[i];
        same = left->low == right->low && left->high == right->high && left->window == right->window &&
               guard_same_terms(a, left->terms, b, right->terms);
    }
    return same;
}

static bool same_caps(const guard_settings *a, const guard_settings *b)
{
    bool same = a->cap_count == b->cap_count;
    for (size_t i = 0; i < a->cap_count && same; i++) same = guard_same_cap(a, i, b, i);
    return same;
}

static bool same_budgets(const guard_settings *a, const guard_settings *b)
{
    bool same = a->budget_count == b->budget_count;
    for (size_t i = 0; i < a->budget_count && same; i++) same = guard_same_budget(a, i, b, i);
    return same;
}

bool guard_settings_limit_alike(const guard_settings *a, const guard_settings *b, int64_t now)
{
    return same_rules(a, b, now) && same_shares(a, b) && same_caps(a, b) && same_budgets(a, b) &&
           a->sticky == b->sticky && a->sticky_change == b->sticky_change;
}
