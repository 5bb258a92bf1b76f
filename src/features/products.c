#include "products.h"

#include <string.h>

/* ---- reading ---- */

static ee_status fail(const char *text, ee_error *error)
{
    return status_fail(error, EE_BAD_OPTION,
                       "options: features.products must be none, or at most %d terms like context*action or "
                       "user*item+device*item, got %s",
                       MOST_PRODUCTS, text);
}

static bool is_word(product_word word, const char *expected)
{
    return word.length == strlen(expected) && memcmp(word.bytes, expected, word.length) == 0;
}

ee_status products_read(product_terms *self, const char *text, ee_error *error)
{
    *self = (product_terms){0};
    if (strcmp(text, "none") == 0) return EE_OK;
    if (strlen(text) >= sizeof self->text) return fail(text, error);
    memcpy(self->text, text, strlen(text) + 1);
    for (const char *at = self->text;; at++) {
        size_t left = strcspn(at, "*+");
        if (!left || at[left] != '*' || self->count == MOST_PRODUCTS) return fail(text, error);
        const char *second = at + left + 1;
        size_t right = strcspn(second, "*+");
        if (!right || second[right] == '*') return fail(text, error);
        product_word *words = &self->words[2 * self->count];
        words[0] = (product_word){at, left};
        words[1] = (product_word){second, right};
        self->squares[self->count++] = left == right && memcmp(at, second, left) == 0;
        at = second + right;
        if (!*at) return EE_OK;
    }
}

/* ---- sides ---- */

/* Whether a namespace of this name is on the path, between points or ends. */
static bool lies_within(product_word word, const char *path, size_t bytes)
{
    for (size_t start = 0; start + word.length <= bytes;) {
        size_t end = start + word.length;
        if (memcmp(path + start, word.bytes, word.length) == 0 && (end == bytes || path[end] == '.')) return true;
        while (start < bytes && path[start] != '.') start++;
        start++;
    }
    return false;
}

void products_mark(const product_terms *self, const char *text, round_feature *features, size_t count, bool of_action)
{
    uint32_t all = 0, named = 0;
    for (size_t i = 0; i < 2 * self->count; i++) {
        bool context = is_word(self->words[i], "context"), action = is_word(self->words[i], "action");
        if (of_action ? action : context) all |= 1U << i;
        if (!context && !action) named |= 1U << i;
    }
    for (size_t f = 0; f < count; f++) {
        features[f].sides = all;
        for (size_t i = 0; i < 2 * self->count; i++)
            if (named >> i & 1 && lies_within(self->words[i], text + features[f].text, features[f].path))
                features[f].sides |= 1U << i;
    }
}

static size_t count_side(const round_feature *features, size_t count, size_t side)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) found += features[i].sides >> side & 1;
    return found;
}

size_t products_most(const product_terms *self, const round_feature *context, size_t context_count,
                     const round_feature *action, size_t action_count)
{
    size_t most = 0;
    for (size_t term = 0; term < self->count; term++) {
        size_t left = count_side(context, context_count, 2 * term) + count_side(action, action_count, 2 * term);
        size_t right =
            count_side(context, context_count, 2 * term + 1) + count_side(action, action_count, 2 * term + 1);
        most += left * right;
    }
    return most;
}

size_t products_list(const product_terms *self, const placed_feature *placed, size_t count, uint32_t *rights,
                     feature_pair *pairs)
{
    size_t listed = 0;
    for (size_t term = 0; term < self->count; term++) {
        size_t right_count = 0;
        for (size_t i = 0; i < count; i++)
            if (placed[i].sides >> (2 * term + 1) & 1) rights[right_count++] = (uint32_t)i;
        for (size_t i = 0; i < count; i++) {
            if (!(placed[i].sides >> (2 * term) & 1)) continue;
            for (size_t j = 0; j < right_count; j++)
                if (rights[j] > i || (rights[j] < i && !self->squares[term]))
                    pairs[listed++] = (feature_pair){(uint32_t)i, rights[j]};
        }
    }
    return listed;
}
