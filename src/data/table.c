/* CSV, TSV and their like. The first feature of a row is a constant 1, if it is wanted; then come those of the columns,
 * from left to right:
 *
 *     a numeric column       the number less the column's mean, divided by its deviation; where the column misses any,
 *                            a missing one is the mean, and a second feature is 1 where it is missing
 *     a categorical column   a feature for each different value, 1 in the rows that have it; a missing one is a value
 *
 * A column that has the same value in every row tells nothing, and is left out. */
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/memory.h"
#include "categories.h"

enum { HEADER_AUTO, HEADER_YES, HEADER_NO };

static const option entries[] = {
    OPTION_ROW_TEXT(table_options, label, "label", "auto", "auto|COLUMN",
                    "the column with the classes; auto: target, label or class, else the last"),
    OPTION_ROW_TEXT(table_options, categorical, "categorical", "auto", "auto|all|COLUMN+...",
                    "columns whose numbers are codes"),
    OPTION_ROW_TEXT(table_options, numeric, "numeric", "auto", "auto|COLUMN+...", "columns that must be numbers"),
    OPTION_ROW_TEXT(table_options, ignore, "ignore", "none", "none|COLUMN+...", "columns that are left out"),
    OPTION_ROW_CHOICE(table_options, header, "header", "auto", "auto|yes|no",
                      "whether the first row names the columns"),
    OPTION_ROW_CHOICE(table_options, normalize, "normalize", "unit", "unit|standard|none",
                      "numeric columns to mean 0 and deviation 1, and rows to length 1; the first alone; or neither"),
    OPTION_ROW_FLAG(table_options, constant, "constant", "on", "a feature that is always 1"),
    OPTION_ROW_CHOICE(table_options, order, "order", "random", "random|file",
                      "rows in a random order, another one each time; or as the file has them, for every seed"),
};
static const option_table entry_table = OPTION_TABLE(entries);
static const option_group groups[] = {OPTION_GROUP_OWN(entry_table, NULL)};
static const option_schema schema = OPTION_SCHEMA("table", groups, table_options, NULL);

typedef enum column_type { TYPE_AUTO, TYPE_NUMERIC, TYPE_CATEGORICAL, TYPE_IGNORED } column_type;

typedef struct column {
    column_type type;
    size_t missing;
    size_t first;             /* of its features */
    size_t value, indicator;  /* numeric: how many features they take, 0 or 1 */
    double mean, scale;       /* numeric: what is taken away, and what the rest is divided by */
    category_list categories; /* categorical */
} column;

typedef struct table {
    source *file;
    const table_options *options;
    size_t width, height;
    cell *cells; /* (height, width), the row with the names included */
    size_t capacity;
    size_t *lines; /* (height) */
    size_t lines_capacity;
    const char *codes; /* (width) as in table_cells; NULL: none */
    size_t header;     /* rows that hold names: 0 or 1 */
    size_t label;
    column *columns; /* (width) */
    size_t features;
} table;

/* ---- reading ---- */

static ee_status read_cells(table *t, row_reader *rows, ee_error *error)
{
    for (;;) {
        bool found;
        ee_status status = rows_next(rows, &found, error);
        if (status || !found) return status;
        if (t->height == 0) t->width = rows->count;
        if (rows->count != t->width)
            return rows_fail(rows, error, "expected %zu fields as in line %zu, got %zu", t->width, t->lines[0],
                             rows->count);
        status = memory_grow(NULL, &t->cells, &t->capacity, (t->height + 1) * t->width, sizeof *t->cells, error);
        if (!status) status = memory_grow(NULL, &t->lines, &t->lines_capacity, t->height + 1, sizeof *t->lines, error);
        if (status) return status;
        t->lines[t->height] = rows->line;
        for (size_t i = 0; i < t->width; i++)
            t->cells[t->height * t->width + i] = cell_of(rows->file, &rows->fields[i]);
        t->height++;
    }
}

static const cell *cell_at(const table *t, size_t row, size_t index)
{
    return &t->cells[(t->header + row) * t->width + index];
}

static size_t row_count(const table *t)
{
    return t->height - t->header;
}

/* ---- columns and their names ---- */

static const char *const label_words[] = {"target", "label", "class"};

enum { LABEL_WORDS = sizeof label_words / sizeof label_words[0] };

/* Looks in the first row, whether it is a header or not. SIZE_MAX where there is none. */
static size_t find_name(const table *t, const char *name, int (*compare)(const char *, const char *))
{
    for (size_t i = 0; i < t->width; i++)
        if (t->cells[i].text && compare(t->cells[i].text, name) == 0) return i;
    return SIZE_MAX;
}

/* A header has a word where the next row has a number, or one that names the label. */
static bool has_header(const table *t)
{
    if (t->options->header.pick != HEADER_AUTO) return t->options->header.pick == HEADER_YES;
    for (size_t i = 0; i < t->width; i++) {
        const cell *first = &t->cells[i];
        if (!first->text || !isnan(first->number)) continue;
        if (strcmp(first->text, t->options->label) == 0) return true;
        if (t->height > 1 && !isnan(t->cells[t->width + i].number)) return true;
    }
    for (size_t i = 0; i < LABEL_WORDS; i++)
        if (find_name(t, label_words[i], strcasecmp) != SIZE_MAX) return true;
    return false;
}

/* "column 'age'", or "column 3" where it has no name. */
static const char *column_title(const table *t, size_t index, char title[64])
{
    if (t->header && t->cells[index].text)
        snprintf(title, 64, "column '%.24s'", t->cells[index].text);
    else
        snprintf(title, 64, "column %zu", index + 1);
    return title;
}

static ee_status fail_no_column(const table *t, const char *name, ee_error *error)
{
    char list[100] = "";
    size_t length = 0;
    for (size_t i = 0; t->header && i < t->width && length < sizeof list; i++) {
        const char *text = t->cells[i].text ? t->cells[i].text : "";
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : ": ", text);
    }
    return status_fail(error, EE_BAD_OPTION, "table: %s has no column '%.40s'; it has %zu%s%s",
                       file_tail(t->file->path), name, t->width, list, length < sizeof list ? "" : "...");
}

/* A number of a column, from 1; 0 where text is none. */
static size_t column_number(const table *t, const char *text, char **end)
{
    unsigned long long number = *text >= '0' && *text <= '9' ? strtoull(text, end, 10) : 0;
    return number <= t->width ? (size_t)number : 0;
}

/* A column's name, its number, or two numbers with a hyphen between them. */
static ee_status find_columns(const table *t, const char *word, size_t *first, size_t *last, ee_error *error)
{
    char *end = NULL;
    *first = t->header ? find_name(t, word, strcmp) : SIZE_MAX;
    *last = *first;
    if (*first != SIZE_MAX) return EE_OK;
    size_t low = column_number(t, word, &end), high = low;
    if (low && *end == '-') high = column_number(t, end + 1, &end);
    if (low == 0 || high < low || *end) return fail_no_column(t, word, error);
    *first = low - 1;
    *last = high - 1;
    return EE_OK;
}

/* Gives the columns of a list, as "age+sex" or "1-4+7", their type. */
static ee_status mark_columns(table *t, const char *list, column_type type, ee_error *error)
{
    if (strcmp(list, "auto") == 0 || strcmp(list, "none") == 0) return EE_OK;
    char copy[OPTION_TEXT_SIZE];
    snprintf(copy, sizeof copy, "%s", list);
    for (char *word = copy, *plus; word; word = plus) {
        plus = strchr(word, '+');
        if (plus) *plus++ = '\0';
        size_t first, last;
        ee_status status = find_columns(t, word, &first, &last, error);
        if (status) return status;
        for (size_t i = first; i <= last; i++) t->columns[i].type = type;
    }
    return EE_OK;
}

static ee_status find_label(table *t, ee_error *error)
{
    const char *wanted = t->options->label;
    if (strcmp(wanted, "auto") != 0) {
        size_t last;
        ee_status status = find_columns(t, wanted, &t->label, &last, error);
        return !status && last != t->label ? fail_no_column(t, wanted, error) : status;
    }
    t->label = SIZE_MAX;
    for (size_t i = 0; t->header && i < LABEL_WORDS && t->label == SIZE_MAX; i++)
        t->label = find_name(t, label_words[i], strcasecmp);
    if (t->label == SIZE_MAX) t->label = t->width - 1;
    return EE_OK;
}

/* What is said of the columns. Those that must be numbers come later than "all", from which they are exceptions. */
static ee_status settle_columns(table *t, ee_error *error)
{
    t->header = t->height && has_header(t);
    if (row_count(t) == 0) return status_fail(error, EE_BAD_INPUT, "%s: there are no rows", file_tail(t->file->path));
    ee_status status = memory_create(NULL, &t->columns, t->width, sizeof *t->columns, error);
    if (!status) status = find_label(t, error);
    if (status) return status;
    for (size_t i = 0; t->codes && i < t->width; i++)
        if (t->codes[i]) t->columns[i].type = TYPE_CATEGORICAL;
    if (strcmp(t->options->categorical, "all") == 0)
        for (size_t i = 0; i < t->width; i++) t->columns[i].type = TYPE_CATEGORICAL;
    else
        status = mark_columns(t, t->options->categorical, TYPE_CATEGORICAL, error);
    if (!status) status = mark_columns(t, t->options->numeric, TYPE_NUMERIC, error);
    if (!status) status = mark_columns(t, t->options->ignore, TYPE_IGNORED, error);
    t->columns[t->label].type = TYPE_IGNORED; /* as a feature */
    return status;
}

/* ---- what the columns hold ---- */

static ee_status fail_text(const table *t, size_t index, size_t row, size_t numbers, ee_error *error)
{
    char title[64], others[48] = "";
    if (numbers) snprintf(others, sizeof others, ", as %zu others are", numbers);
    return status_fail(error, EE_BAD_INPUT,
                       "%s, line %zu, %s: expected a number%s, got '%.20s'; 'categorical' takes text",
                       file_tail(t->file->path), t->lines[t->header + row], column_title(t, index, title), others,
                       cell_at(t, row, index)->text);
}

/* A column is numeric where all are numbers. Where only most are, the others are hardly meant. */
static ee_status settle_type(table *t, size_t index, ee_error *error)
{
    column *c = &t->columns[index];
    size_t numbers = 0, texts = 0, first_text = 0;
    for (size_t row = 0; row < row_count(t); row++) {
        const cell *value = cell_at(t, row, index);
        if (!value->text)
            c->missing++;
        else if (!isnan(value->number))
            numbers++;
        else if (texts++ == 0)
            first_text = row;
    }
    if (c->type == TYPE_CATEGORICAL) return EE_OK;
    if (texts && (numbers > texts || c->type == TYPE_NUMERIC)) return fail_text(t, index, first_text, numbers, error);
    c->type = texts ? TYPE_CATEGORICAL : TYPE_NUMERIC;
    return EE_OK;
}

static void measure_numeric(const table *t, size_t index)
{
    column *c = &t->columns[index];
    double mean = 0.0, squares = 0.0; /* Welford's */
    size_t count = 0;
    for (size_t row = 0; row < row_count(t); row++) {
        double number = cell_at(t, row, index)->number;
        if (isnan(number)) continue;
        double before = number - mean;
        mean += before / (double)++count;
        squares += before * (number - mean);
    }
    bool plain = t->options->normalize.pick == NORMALIZE_NONE;
    c->value = squares > 0.0;
    c->indicator = c->missing > 0 && count > 0;
    c->mean = mean;
    c->scale = plain || count == 0 ? 1.0 : sqrt(squares) / sqrt((double)count); /* never 0 where squares is not */
}

static ee_status collect(const table *t, size_t index, category_list *list, ee_error *error)
{
    char title[64], where[180];
    snprintf(where, sizeof where, "%s, %s", file_tail(t->file->path), column_title(t, index, title));
    return categories_collect(cell_at(t, 0, index), row_count(t), t->width, where, list, error);
}

static ee_status measure_columns(table *t, ee_error *error)
{
    t->features = t->options->constant;
    for (size_t i = 0; i < t->width; i++) {
        column *c = &t->columns[i];
        if (c->type == TYPE_IGNORED) continue;
        ee_status status = settle_type(t, i, error);
        if (!status && c->type == TYPE_CATEGORICAL) status = collect(t, i, &c->categories, error);
        if (status) return status;
        c->first = t->features;
        if (c->type == TYPE_NUMERIC) {
            measure_numeric(t, i);
            t->features += c->value + c->indicator;
        } else {
            c->value = c->categories.count + (c->missing > 0) > 1;
            if (c->value) t->features += c->categories.count + (c->missing > 0);
        }
    }
    return EE_OK;
}

/* ---- rows ---- */

static ee_status number_labels(const table *t, classes_dataset *data, ee_error *error)
{
    char title[64];
    category_list classes = {0};
    for (size_t row = 0; row < row_count(t); row++)
        if (!cell_at(t, row, t->label)->text)
            return status_fail(error, EE_BAD_INPUT, "%s, line %zu, %s: the label is missing", file_tail(t->file->path),
                               t->lines[t->header + row], column_title(t, t->label, title));
    ee_status status = collect(t, t->label, &classes, error);
    for (size_t row = 0; row < row_count(t) && !status; row++)
        data->labels[row] = (uint32_t)categories_find(&classes, cell_at(t, row, t->label));
    data->classes = classes.count;
    categories_release(&classes);
    return status;
}

static size_t append(classes_dataset *data, size_t at, size_t index, double value)
{
    if ((float)value == 0.0f) return at;
    data->indices[at] = (uint32_t)index;
    data->values[at] = (float)value;
    return at + 1;
}

/* The features of one cell from entry `at` on; returns where the next begin. */
static size_t append_cell(const table *t, const column *c, const cell *from, classes_dataset *data, size_t at)
{
    if (c->type == TYPE_CATEGORICAL) {
        size_t category = from->text ? categories_find(&c->categories, from) : c->categories.count;
        return c->value ? append(data, at, c->first + category, 1.0) : at;
    }
    double number = from->text ? from->number : c->mean;
    if (t->options->normalize.pick != NORMALIZE_NONE) number -= c->mean;
    if (c->value) at = append(data, at, c->first, number / c->scale);
    return c->indicator && !from->text ? append(data, at, c->first + c->value, 1.0) : at;
}

static void fill_rows(const table *t, classes_dataset *data)
{
    size_t at = 0;
    for (size_t row = 0; row < data->rows; row++) {
        if (t->options->constant) at = append(data, at, 0, 1.0);
        for (size_t i = 0; i < t->width; i++)
            if (t->columns[i].type != TYPE_IGNORED) at = append_cell(t, &t->columns[i], cell_at(t, row, i), data, at);
        data->starts[row + 1] = at;
    }
}

static ee_status make_rows(table *t, classes_dataset **out, ee_error *error)
{
    size_t most = t->options->constant; /* entries of a row */
    for (size_t i = 0; i < t->width; i++) most += t->columns[i].value + t->columns[i].indicator;
    classes_dataset *data;
    ee_status status = classes_create(row_count(t), row_count(t) * most, &data, error);
    if (status) return status;
    data->features = most == t->options->constant ? 0 : t->features;
    status = number_labels(t, data, error);
    if (!status) status = classes_finish(data, file_tail(t->file->path), error);
    if (status) {
        classes_close(&data->head);
        return status;
    }
    fill_rows(t, data);
    if (t->options->normalize.pick == NORMALIZE_UNIT) classes_scale_rows(data);
    *out = data;
    return EE_OK;
}

static void table_release(table *t)
{
    for (size_t i = 0; t->columns && i < t->width; i++) categories_release(&t->columns[i].categories);
    memory_free(t->columns);
    memory_free(t->cells);
    memory_free(t->lines);
}

static ee_status finish_table(table *t, classes_dataset **out, ee_error *error)
{
    ee_status status = settle_columns(t, error);
    if (!status) status = measure_columns(t, error);
    return status ? status : make_rows(t, out, error);
}

static ee_status separated_parse(source *file, const table_options *options, classes_dataset **out, ee_error *error)
{
    table t = {.file = file, .options = options};
    row_reader rows = rows_start(file, NULL);
    ee_status status = read_cells(&t, &rows, error);
    rows_release(&rows);
    if (!status) status = finish_table(&t, out, error);
    table_release(&t);
    return status;
}

/* Lines are counted from 1 without the names: line n is row n. */
static ee_status cells_take(const table_cells *from, const char *name, const table_options *options,
                            classes_dataset **out, ee_error *error)
{
    source file = {.path = (char *)name};
    table t = {&file, options, from->width, from->height, from->cells, .codes = from->codes};
    ee_status status = memory_create(NULL, &t.lines, t.height, sizeof *t.lines, error);
    for (size_t i = 0; i < t.height && !status; i++) t.lines[i] = i;
    if (!status) status = finish_table(&t, out, error);
    t.cells = NULL;
    table_release(&t);
    return status;
}

static ee_status read_options(const char *text, table_options *options, ee_error *error)
{
    options_set_defaults(&schema, options);
    return options_parse(&schema, text, options, error);
}

ee_status table_parse(source *file, const char *text, classes_dataset **out, ee_error *error)
{
    table_options options;
    ee_status status = read_options(text, &options, error);
    if (status) return status;
    status =
        libsvm_recognize(file) ? libsvm_parse(file, &options, out, error) : separated_parse(file, &options, out, error);
    if (!status) (*out)->in_order = options.order.pick == ORDER_FILE;
    return status;
}

static ee_status open_cells(const dataset_request *request, dataset **out, ee_error *error)
{
    table_options options;
    classes_dataset *data = NULL;
    ee_status status = read_options(request->options, &options, error);
    if (!status) status = cells_take(request->cells, request->place, &options, &data, error);
    if (status) return status;
    data->in_order = options.order.pick == ORDER_FILE;
    data->head.fingerprint = request->cells->fingerprint;
    *out = &data->head;
    return EE_OK;
}

static ee_status table_open(const dataset_request *request, dataset **out, ee_error *error)
{
    uint64_t fingerprint = 0;
    source file;
    classes_dataset *data = NULL;
    if (request->cells) return open_cells(request, out, error);
    ee_status status = source_load(NULL, request->place, &fingerprint, &file, error);
    if (!status) status = source_unpack(&file, error);
    if (!status) status = table_parse(&file, request->options, &data, error);
    source_release(&file);
    if (status) return status;
    data->head.fingerprint = fingerprint;
    *out = &data->head;
    return EE_OK;
}

const dataset_kind dataset_table = {
    .name = "table",
    .form = "table:FILE[,OPTION=VALUE...]",
    .summary = "CSV, TSV or libsvm, gz or plain: a row is as many arms as there are classes, one of them its own",
    .options = &schema,
    .named_by_place = true,
    .open = table_open,
    .close = classes_close,
    .start = classes_start,
    .next = classes_next,
    .stop = classes_stop,
};
