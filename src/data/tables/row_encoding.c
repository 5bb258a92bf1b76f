#include "row_encoding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/values/text.h"

/* ---- made ---- */

ee_status row_encoding_create(size_t width, row_encoding **out, ee_error *error)
{
    *out = NULL;
    row_encoding *self;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->width = width;
    strcpy(self->words, "auto");
    self->classes.owner = self->names.owner = &self->owner;
    status = memory_create(&self->owner, &self->columns, width, sizeof *self->columns, error);
    for (size_t i = 0; i < width && !status; i++) self->columns[i].categories.owner = &self->owner;
    if (status)
        row_encoding_free(self);
    else
        *out = self;
    return status;
}

void row_encoding_free(row_encoding *self)
{
    if (self) memory_release(&self->owner);
}

static ee_status copy_text(row_encoding *self, const char **name, ee_error *error)
{
    char *copy;
    ee_status status = memory_create(&self->owner, &copy, strlen(*name) + 1, 1, error);
    if (!status) *name = strcpy(copy, *name);
    return status;
}

/* A number without a text, or with a decimal comma, gets a text that reads back as the same number. */
static ee_status copy_number(row_encoding *self, cell *category, ee_error *error)
{
    double number;
    if (field_number(&(field){category->text, strlen(category->text)}, &number))
        return copy_text(self, &category->text, error);
    text written = text_start(error);
    text_double(&written, category->number);
    if (!written.status) {
        category->text = written.bytes;
        written.status = copy_text(self, &category->text, error);
    }
    memory_free(written.bytes);
    return written.status;
}

static ee_status copy_categories(row_encoding *self, category_list *list, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < list->count && !status; i++)
        status = list->by_number ? copy_number(self, &list->sorted[i], error)
                                 : copy_text(self, &list->sorted[i].text, error);
    return status;
}

/* Features that a column takes; *entries is how many of them a row can have. */
static size_t count_features(const row_column *column, size_t *entries)
{
    size_t features = 0;
    *entries = 0;
    if (column->kind == SURVEY_NUMERIC) {
        features = (size_t)(column->scale != 0.0) + column->missing;
        *entries = features;
    } else if (column->kind == SURVEY_CATEGORICAL) {
        features = column->categories.count + column->missing;
        *entries = 1;
    }
    return features;
}

static void number_features(row_encoding *self)
{
    self->features = self->entries = self->constant;
    for (size_t i = 0; i < self->width; i++) {
        size_t entries;
        self->columns[i].first = self->features;
        self->features += count_features(&self->columns[i], &entries);
        self->entries += entries;
    }
}

/* A column without a name is called by its number from 1, one with the name of another by both: "age.7". */
static ee_status name_column(row_encoding *self, size_t index, ee_error *error)
{
    row_column *column = &self->columns[index];
    text name = text_start(error);
    size_t number = 0;
    if (column->name[0])
        text_add(&name, "%s", column->name);
    else
        text_add(&name, "%zu", index + 1);
    while (!name.status && vocabulary_find(&self->names, name.bytes, name.length) < index)
        text_add(&name, ".%zu", index + 1);
    if (!name.status) name.status = vocabulary_add(&self->names, name.bytes, name.length, &number, error);
    if (!name.status) {
        column->name = name.bytes;
        name.status = copy_text(self, &column->name, error);
    }
    memory_free(name.bytes);
    return name.status;
}

ee_status row_encoding_finish(row_encoding *self, ee_error *error)
{
    ee_status status = copy_categories(self, &self->classes, error);
    for (size_t i = 0; i < self->width && !status; i++) {
        status = name_column(self, i, error);
        if (!status) status = copy_categories(self, &self->columns[i].categories, error);
    }
    number_features(self);
    return status;
}

/* ---- names ---- */

size_t row_encoding_features(const row_encoding *self)
{
    return self->features;
}

size_t row_encoding_entries(const row_encoding *self)
{
    return self->entries;
}

size_t row_encoding_classes(const row_encoding *self)
{
    return self->classes.count;
}

const char *row_encoding_class(const row_encoding *self, size_t index)
{
    return self->classes.sorted[index].text;
}

void row_encoding_feature_name(const row_encoding *self, size_t feature, char *name, size_t capacity)
{
    size_t index = self->width;
    while (index > 0 && self->columns[index - 1].first > feature) index--;
    if (index == 0) {
        snprintf(name, capacity, "constant");
        return;
    }
    /* A column without features has the same start as the next one. */
    const row_column *column = &self->columns[index - 1];
    size_t place = feature - column->first;
    if (column->kind == SURVEY_CATEGORICAL && place < column->categories.count)
        snprintf(name, capacity, "%s=%s", column->name, column->categories.sorted[place].text);
    else if (column->kind == SURVEY_CATEGORICAL || place > 0 || column->scale == 0.0)
        snprintf(name, capacity, "%s is missing", column->name);
    else
        snprintf(name, capacity, "%s", column->name);
}

/* ---- rows ---- */

/* The entries of a row under construction. */
typedef struct row_entries {
    uint32_t *indices;
    float *values;
    size_t count;
} row_entries;

static void append(row_entries *row, size_t index, double value)
{
    if ((float)value == 0.0f) return;
    row->indices[row->count] = (uint32_t)index;
    row->values[row->count++] = (float)value;
}

static void append_number(const row_encoding *self, const row_column *column, const cell *from, row_entries *row)
{
    double number = from->text ? from->number : column->mean;
    if (self->normalize != NORMALIZE_NONE) number -= column->mean;
    if (column->scale != 0.0) append(row, column->first, number / column->scale);
    if (column->missing && !from->text) append(row, column->first + (column->scale != 0.0), 1.0);
}

static void append_category(const row_column *column, const cell *from, row_entries *row)
{
    size_t count = column->categories.count, place = from->text ? categories_place(&column->categories, from) : count;
    if (place < count || (!from->text && column->missing)) append(row, column->first + place, 1.0);
}

size_t row_encoding_cells(const row_encoding *self, const cell *cells, uint32_t *indices, float *values)
{
    row_entries row = {indices, values, 0};
    if (self->constant) append(&row, 0, 1.0);
    for (size_t i = 0; i < self->width; i++) {
        const row_column *column = &self->columns[i];
        if (column->kind == SURVEY_NUMERIC) append_number(self, column, &cells[i], &row);
        if (column->kind == SURVEY_CATEGORICAL) append_category(column, &cells[i], &row);
    }
    if (self->normalize == NORMALIZE_UNIT) row_scale_to_unit(values, row.count);
    return row.count;
}

void row_scale_to_unit(float *values, size_t count)
{
    double squares = 0.0;
    for (size_t i = 0; i < count; i++) squares += (double)values[i] * (double)values[i];
    if (squares == 0.0) return;
    double scale = 1.0 / sqrt(squares);
    for (size_t i = 0; i < count; i++) values[i] = (float)(values[i] * scale);
}
