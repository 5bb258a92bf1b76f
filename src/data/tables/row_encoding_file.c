/* An encoding as a file, which row_encoding.h describes. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "data/values/json_tree.h"
#include "data/values/text.h"
#include "row_encoding.h"

enum { VERSION = 1, NORMALIZES = NORMALIZE_NONE + 1 };

static const char format_name[] = "eenet rows";
static const char *const normalize_names[NORMALIZES] = {"unit", "standard", "none"};

/* ---- writing ---- */

static void add_word(text *out, const char *name)
{
    json_text words = {name, strlen(name)};
    if (!out->status && !json_is_utf8(words))
        out->status =
            status_fail(out->error, EE_BAD_INPUT, "rows: '%.60s' is not UTF-8; save the table as UTF-8", name);
    text_json(out, words);
}

static void add_categories(text *out, const category_list *list)
{
    text_add(out, "[");
    for (size_t i = 0; i < list->count; i++) {
        text_add(out, "%s", i ? ", " : "");
        add_word(out, list->sorted[i].text);
    }
    text_add(out, "]");
}

static void add_column(text *out, const row_column *column)
{
    text_add(out, "{\"name\": ");
    add_word(out, column->name);
    text_add(out, ", \"kind\": \"%s\"", survey_kind_name(column->kind));
    if (column->kind == SURVEY_NUMERIC) {
        text_add(out, ", \"mean\": ");
        text_double(out, column->mean);
        text_add(out, ", \"scale\": ");
        text_double(out, column->scale);
    } else if (column->kind == SURVEY_CATEGORICAL) {
        text_add(out, ", \"categories\": ");
        add_categories(out, &column->categories);
    }
    if (column->kind == SURVEY_NUMERIC || column->kind == SURVEY_CATEGORICAL)
        text_add(out, ", \"missing\": %s", column->missing ? "true" : "false");
    text_add(out, "}");
}

void row_encoding_format(const row_encoding *self, text *into)
{
    text_add(into, "{\"format\": \"%s\", \"version\": %d, \"constant\": %s, \"normalize\": \"%s\", \"missing\": ",
             format_name, VERSION, self->constant ? "true" : "false", normalize_names[self->normalize]);
    add_word(into, self->words);
    text_add(into, ",\n \"columns\": [");
    for (size_t i = 0; i < self->width; i++) {
        text_add(into, "%s", i ? ",\n   " : "\n   ");
        add_column(into, &self->columns[i]);
    }
    text_add(into, "],\n \"classes\": ");
    add_categories(into, &self->classes);
    text_add(into, "}\n");
}

ee_status row_encoding_write(const row_encoding *self, const char *path, ee_error *error)
{
    text out = text_start(error);
    row_encoding_format(self, &out);
    return text_save(&out, path);
}

/* ---- reading ---- */

typedef struct rows_file {
    const char *path;
    ee_error *error;
} rows_file;

static ee_status fail(const rows_file *file, const char *expected)
{
    return status_fail(file->error, EE_BAD_INPUT, "%s: expected %s", file_tail(file->path), expected);
}

static ee_status read_flag(const rows_file *file, const json_value *object, const char *name, bool *out)
{
    const json_value *value = json_member(object, name);
    char expected[64];
    snprintf(expected, sizeof expected, "'%s' to be true or false", name);
    if (!json_is_flag(value)) return fail(file, expected);
    *out = json_has_kind(value, JSON_KIND_TRUE);
    return EE_OK;
}

static ee_status read_word(const rows_file *file, const json_value *object, const char *name, const char *const *words,
                           size_t count, size_t *out)
{
    const char *value = json_text_of(json_member(object, name));
    char expected[64];
    for (*out = 0; value && *out < count; ++*out)
        if (strcmp(words[*out], value) == 0) return EE_OK;
    snprintf(expected, sizeof expected, "a known value for '%s'", name);
    return fail(file, expected);
}

/* Like the cells of a table: sorted, all different, and numbers if all are numbers. */
static ee_status read_categories(const rows_file *file, const json_value *array, size_t least, category_list *list)
{
    size_t count = json_count(array);
    if (!json_has_kind(array, JSON_KIND_ARRAY) || count < least || count > CATEGORIES_MOST)
        return fail(file, "'categories' and 'classes' to be lists of different strings");
    ee_status status =
        memory_grow(list->owner, &list->sorted, &list->capacity, count, sizeof *list->sorted, file->error);
    list->by_number = true;
    const json_value *item = array->first;
    for (size_t i = 0; i < count && !status; i++, item = item->next) {
        char *copy;
        if (!json_has_kind(item, JSON_KIND_TEXT)) return fail(file, "'categories' and 'classes' to hold only strings");
        size_t length = strlen(item->text);
        status = memory_create(list->owner, &copy, length + 1, 1, file->error);
        if (status) return status;
        memcpy(copy, item->text, length);
        list->sorted[i] = cell_read(copy, length);
        if (!list->sorted[i].text) return fail(file, "'categories' and 'classes' without empty strings");
        if (isnan(list->sorted[i].number)) list->by_number = false;
        list->count++;
    }
    for (size_t i = 1; i < count && !status; i++)
        if (categories_compare(list, &list->sorted[i - 1], &list->sorted[i]) >= 0)
            return fail(file, "'categories' and 'classes' in ascending order");
    return status;
}

static ee_status read_number(const rows_file *file, const json_value *object, const char *name, double low, double *out)
{
    const json_value *value = json_member(object, name);
    char expected[64];
    snprintf(expected, sizeof expected, "'%s' of a numeric column to be a number", name);
    if (!json_has_kind(value, JSON_KIND_NUMBER)) return fail(file, expected);
    *out = value->number + 0.0; /* a zero has no sign */
    return *out >= low && fabs(*out) <= (double)FLT_MAX ? EE_OK : fail(file, expected);
}

static ee_status read_column(const rows_file *file, const json_value *object, row_column *column)
{
    const char *kinds[SURVEY_KINDS], *name = json_text_of(json_member(object, "name"));
    size_t kind;
    for (int i = 0; i < SURVEY_KINDS; i++) kinds[i] = survey_kind_name((survey_kind)i);
    if (!name) return fail(file, "a name in each of 'columns'");
    column->name = name; /* row_encoding_finish copies it */
    ee_status status = read_word(file, object, "kind", kinds, SURVEY_KINDS, &kind);
    if (status) return status;
    column->kind = (survey_kind)kind;
    if (column->kind == SURVEY_NUMERIC) {
        status = read_number(file, object, "mean", -INFINITY, &column->mean);
        if (!status) status = read_number(file, object, "scale", 0.0, &column->scale);
    } else if (column->kind == SURVEY_CATEGORICAL) {
        status = read_categories(file, json_member(object, "categories"), 0, &column->categories);
    } else {
        return EE_OK;
    }
    return status ? status : read_flag(file, object, "missing", &column->missing);
}

/* Default: "auto". */
static ee_status read_missing_words(const rows_file *file, const json_value *root, row_encoding *self)
{
    const json_value *value = json_member(root, "missing");
    if (!value) return EE_OK;
    if (!json_has_kind(value, JSON_KIND_TEXT) || strlen(value->text) >= sizeof self->words)
        return fail(file, "'missing' to be a value of the option missing=");
    strcpy(self->words, json_text_of(value));
    return EE_OK;
}

static ee_status read_members(const rows_file *file, const json_value *root, row_encoding *self)
{
    size_t normalize;
    ee_status status = read_flag(file, root, "constant", &self->constant);
    if (!status) status = read_missing_words(file, root, self);
    if (!status) status = read_word(file, root, "normalize", normalize_names, NORMALIZES, &normalize);
    if (!status) self->normalize = (row_normalize)normalize;
    const json_value *column = json_member(root, "columns")->first;
    for (size_t i = 0; i < self->width && !status; i++, column = column->next)
        status = read_column(file, column, &self->columns[i]);
    if (!status) status = read_categories(file, json_member(root, "classes"), 2, &self->classes);
    if (!status) status = row_encoding_finish(self, file->error);
    if (!status && (self->features == 0 || self->features > UINT32_MAX / self->classes.count))
        status = fail(file, "at least one column with features");
    return status;
}

static ee_status read_root(const rows_file *file, const json_value *root, row_encoding **out)
{
    const json_value *columns = json_member(root, "columns");
    uint64_t version;
    const char *format = json_text_of(json_member(root, "format"));
    if (!format || strcmp(format, format_name) != 0)
        return fail(file, "a file of row encodings, which --save writes next to a model");
    if (!json_whole(json_member(root, "version"), &version) || version != VERSION)
        return fail(file, "version 1 of the format; another version of the program wrote it");
    if (json_count(columns) == 0) return fail(file, "'columns' to be a list");
    ee_status status = row_encoding_create(json_count(columns), out, file->error);
    if (!status) status = read_members(file, root, *out);
    if (!status) return EE_OK;
    row_encoding_free(*out);
    *out = NULL;
    return status;
}

ee_status row_encoding_parse(const char *bytes, size_t size, const char *name, row_encoding **out, ee_error *error)
{
    rows_file file = {name, error};
    ee_error reason;
    json_tree tree;
    *out = NULL;
    ee_status status = json_tree_read(&tree, bytes, size, &reason);
    if (status)
        status_fail(error, status, "%s: %.160s", file_tail(name), reason.message);
    else
        status = read_root(&file, tree.root, out);
    json_tree_release(&tree);
    return status;
}

ee_status row_encoding_read(const char *path, row_encoding **out, ee_error *error)
{
    uint8_t *bytes;
    size_t size;
    *out = NULL;
    ee_status status = file_read(path, &bytes, &size, error);
    if (status) return status;
    status = row_encoding_parse((const char *)bytes, size, path, out, error);
    memory_free(bytes);
    return status;
}
