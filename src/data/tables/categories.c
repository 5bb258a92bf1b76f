#include "categories.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

cell cell_of(source *file, const field *from)
{
    return cell_read((char *)file->bytes + (from->text - (const char *)file->bytes), from->length);
}

cell cell_read(char *text, size_t length)
{
    char *end = text + length;
    while (text < end && *text == ' ') text++;
    while (end > text && end[-1] == ' ') end--;
    *end = '\0';
    cell value = {text, NAN};
    double number;
    if (field_number(&(field){text, (size_t)(end - text)}, &number)) {
        if (fabs(number) <= (double)FLT_MAX) value.number = number;
    } else if (!*text) {
        value.text = NULL;
    }
    return value;
}

bool cell_is_beyond(const cell *value)
{
    if (!value->text || !isnan(value->number)) return false;
    char *end;
    double number = strtod(value->text, &end);
    /* Words for infinity are words. */
    return end != value->text && !*end && fabs(number) > (double)FLT_MAX && strpbrk(value->text, "0123456789");
}

double cell_with_comma(const cell *value)
{
    char copy[64];
    double number;
    size_t length = strlen(value->text);
    if (length >= sizeof copy) return NAN;
    memcpy(copy, value->text, length + 1);
    char *comma = strchr(copy, ',');
    if (!comma || comma[1] < '0' || comma[1] > '9') return NAN;
    *comma = '.';
    bool good = field_number(&(field){copy, length}, &number) && fabs(number) <= (double)FLT_MAX;
    return good ? number : NAN;
}

int categories_compare(const category_list *list, const cell *a, const cell *b)
{
    return list->by_number ? (a->number > b->number) - (a->number < b->number) : strcmp(a->text, b->text);
}

/* The place of the first that is not before the value. */
size_t categories_find(const category_list *list, const cell *value)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (categories_compare(list, &list->sorted[middle], value) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t categories_place(const category_list *list, const cell *value)
{
    if (list->by_number && isnan(value->number)) return list->count;
    size_t place = categories_find(list, value);
    bool same = place < list->count && categories_compare(list, &list->sorted[place], value) == 0;
    return same ? place : list->count;
}

static ee_status add(category_list *list, const cell *value, ee_error *error)
{
    size_t place = categories_find(list, value);
    if (place < list->count && categories_compare(list, &list->sorted[place], value) == 0) return EE_OK;
    ee_status status =
        memory_grow(list->owner, &list->sorted, &list->capacity, list->count + 1, sizeof *list->sorted, error);
    if (status) return status;
    memmove(list->sorted + place + 1, list->sorted + place, (list->count - place) * sizeof *list->sorted);
    list->sorted[place] = *value;
    list->count++;
    return EE_OK;
}

ee_status categories_collect(const cell *cells, size_t rows, size_t stride, const char *where, const char *advice,
                             category_list *list, ee_error *error)
{
    list->by_number = true;
    for (size_t row = 0; row < rows; row++)
        if (cells[row * stride].text && isnan(cells[row * stride].number)) list->by_number = false;
    for (size_t row = 0; row < rows; row++) {
        if (!cells[row * stride].text) continue;
        ee_status status = add(list, &cells[row * stride], error);
        if (status) return status;
        if (list->count > CATEGORIES_MOST)
            return status_fail(error, EE_BAD_INPUT, "%s: expected categories, got more than %d different values%s",
                               where, CATEGORIES_MOST, advice);
    }
    return EE_OK;
}

void categories_release(category_list *list)
{
    memory_free(list->sorted);
    *list = (category_list){0};
}
