#include "csv_actions.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/files/column_names.h"

json_text csv_action_name(const field *from)
{
    field name = field_trim(*from);
    size_t digits = strspn(name.text, "0123456789");
    if (digits && digits + 1 < name.length && name.text[digits] == '.' &&
        digits + 1 + strspn(name.text + digits + 1, "0") == name.length)
        name.length = digits;
    return (json_text){name.text, name.length};
}

size_t csv_whole_number(const field *from)
{
    double number;
    if (!from->length || !isdigit((unsigned char)field_trim(*from).text[0]) || !field_number(from, &number))
        return SIZE_MAX;
    return number < 0x1p32 && number == floor(number) ? (size_t)number : SIZE_MAX;
}

ee_status csv_actions_add(csv_actions *self, json_text name, ee_error *error)
{
    size_t number;
    return vocabulary_add(&self->words, name.bytes, name.length, &number, error);
}

/* ---- order ---- */

typedef struct ordered_name {
    json_text name;
    long long number; /* if all are whole numbers; else 0 */
    size_t word;
} ordered_name;

static int compare_names(const void *a, const void *b)
{
    const ordered_name *one = a, *other = b;
    if (one->number != other->number) return one->number < other->number ? -1 : 1;
    return json_compare(one->name, other->name);
}

static bool is_whole(json_text name)
{
    enum { DIGITS = 18 }; /* that a long long holds */
    size_t sign = name.length && name.bytes[0] == '-', digits = sign;
    while (digits < name.length && isdigit((unsigned char)name.bytes[digits])) digits++;
    return digits == name.length && digits > sign && digits - sign <= DIGITS;
}

static void fill_names(const csv_actions *self, ordered_name *into)
{
    const vocabulary *words = &self->words;
    bool whole = true;
    for (size_t i = 0; i < words->count; i++) {
        into[i].name = (json_text){words->letters + words->words[i].start, words->words[i].length};
        into[i].word = i;
        whole = whole && is_whole(into[i].name);
    }
    for (size_t i = 0; i < words->count && whole; i++) {
        char digits[24] = "";
        memcpy(digits, into[i].name.bytes, into[i].name.length);
        into[i].number = strtoll(digits, NULL, 10);
    }
}

ee_status csv_actions_order(csv_actions *self, ee_error *error)
{
    ordered_name *sorted = NULL;
    size_t count = self->words.count;
    ee_status status = memory_create(NULL, &sorted, count, sizeof *sorted, error);
    if (!status) status = memory_create(self->words.owner, &self->names, count, sizeof *self->names, error);
    if (!status) status = memory_create(self->words.owner, &self->places, count, sizeof *self->places, error);
    if (!status) {
        fill_names(self, sorted);
        qsort(sorted, count, sizeof *sorted, compare_names);
        self->count = count;
    }
    for (size_t i = 0; !status && i < count; i++) {
        self->names[i] = sorted[i].name;
        self->places[sorted[i].word] = i;
    }
    memory_free(sorted);
    return status;
}

/* ---- use ---- */

size_t csv_actions_find(const csv_actions *self, const field *from, size_t count)
{
    json_text name = csv_action_name(from);
    if (self->any) return name.length ? 0 : SIZE_MAX;
    if (self->names) {
        size_t found = vocabulary_find(&self->words, name.bytes, name.length);
        return found < self->count ? self->places[found] : SIZE_MAX;
    }
    size_t number = csv_whole_number(from);
    return number < count ? number : SIZE_MAX;
}
