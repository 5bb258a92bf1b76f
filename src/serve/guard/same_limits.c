#include "same_limits.h"

static bool same_words(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_value(const guard_value *a, const guard_value *b)
{
    return same_words(a->words, b->words) && (a->words || (a->low == b->low && a->high == b->high));
}

static bool same_term(const guard_term *a, const guard_term *b)
{
    if (a->of_action != b->of_action || strcmp(a->path, b->path) != 0 || a->value_count != b->value_count) return false;
    for (size_t i = 0; i < a->value_count; i++)
        if (!same_value(&a->values[i], &b->values[i])) return false;
    return true;
}

/* The next term of a mask from *place on; NULL: there is none. */
static const guard_term *next_term(const guard_settings *of, uint64_t mask, size_t *place)
{
    for (; *place < of->term_count; ++*place)
        if (mask >> *place & 1) return &of->terms[(*place)++];
    return NULL;
}

/* In the same order: otherwise they count as different. */
static bool same_terms(const guard_settings *a, uint64_t of_a, const guard_settings *b, uint64_t of_b)
{
    size_t place_a = 0, place_b = 0;
    for (;;) {
        const guard_term *left = next_term(a, of_a, &place_a), *right = next_term(b, of_b, &place_b);
        if (!left || !right) return left == right;
        if (!same_term(left, right)) return false;
    }
}

bool same_cap(const guard_settings *a, size_t of_a, const guard_settings *b, size_t of_b)
{
    const guard_cap *left = &a->caps[of_a], *right = &b->caps[of_b];
    return left->most == right->most && left->per == right->per && left->each_key == right->each_key &&
           same_terms(a, left->terms, b, right->terms);
}

bool same_budget(const guard_settings *a, size_t of_a, const guard_settings *b, size_t of_b)
{
    const guard_budget *left = &a->budgets[of_a], *right = &b->budgets[of_b];
    return strcmp(left->name, right->name) == 0 && same_words(left->cost_path, right->cost_path) &&
           left->cost == right->cost && left->limit == right->limit && left->per == right->per &&
           left->even == right->even && same_terms(a, left->terms, b, right->terms);
}

bool same_share(const guard_settings *a, const guard_settings *b, size_t share)
{
    if (share >= a->share_count || share >= b->share_count) return false;
    for (size_t i = 0; i <= share; i++)
        if (!same_terms(a, a->shares[i].terms, b, b->shares[i].terms)) return false;
    return a->shares[share].window == b->shares[share].window;
}
