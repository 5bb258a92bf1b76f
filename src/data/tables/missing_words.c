#include "missing_words.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static const char *const of_numbers[] = {"N/A", "NA", "None", "null", "-", "#N/A", "?", "nan", NULL};
static const char *const of_others[] = {"?", "NA", "NaN", "nan", "null", NULL};

static bool is_one_of(const char *const *words, const char *text, int (*compare)(const char *, const char *))
{
    for (; *words; words++)
        if (compare(*words, text) == 0) return true;
    return false;
}

static bool is_same(const char *word, size_t length, const cell *value)
{
    double number;
    if (!isnan(value->number) && field_number(&(field){word, length}, &number)) return number == value->number;
    return strlen(value->text) == length && strncasecmp(word, value->text, length) == 0;
}

bool missing_words_have(const option_text words, const cell *value, bool numeric)
{
    if (!value->text) return true;
    if (strcmp(words, "auto") == 0) {
        if (!isnan(value->number)) return false;
        return numeric ? is_one_of(of_numbers, value->text, strcasecmp) : is_one_of(of_others, value->text, strcmp);
    }
    if (strcmp(words, "none") == 0) return false;
    for (const char *word = words; *word; word += strspn(word, "+")) {
        size_t length = strcspn(word, "+");
        if (is_same(word, length, value)) return true;
        word += length;
    }
    return false;
}

void missing_words_apply(const option_text words, cell *value, bool numeric)
{
    if (missing_words_have(words, value, numeric)) *value = (cell){NULL, NAN};
}
