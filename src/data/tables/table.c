/* CSV, TSV and their like. row_encoding.h says what features they have. */
#include "table.h"

#include <math.h>

#include "base/file.h"
#include "table_inside.h"

static const option entries[] = {
    OPTION_ROW_TEXT(table_options, label, "label", "auto", "auto|COLUMN",
                    "column with the classes; auto: named target, label or class, else the last"),
    OPTION_ROW_TEXT(table_options, categorical, "categorical", "auto", "auto|all|COLUMN+...",
                    "columns whose numbers are codes, not quantities"),
    OPTION_ROW_TEXT(table_options, numeric, "numeric", "auto", "auto|COLUMN+...", "columns that must hold numbers"),
    OPTION_ROW_TEXT(table_options, ignore, "ignore", "none", "none|COLUMN+...", "columns to leave out"),
    OPTION_ROW_TEXT(table_options, missing, "missing", "auto", "auto|none|TEXT+...",
                    "values that count as missing; auto, in a numeric column: N/A, NA, None, null, -, #N/A, ? and nan"),
    OPTION_ROW_CHOICE(table_options, header, "header", "auto", "auto|yes|no",
                      "whether the first row names the columns"),
    OPTION_ROW_CHOICE(table_options, normalize, "normalize", "unit", "unit|standard|none",
                      "standard: numeric columns to mean 0 and deviation 1; unit: then rows to length 1"),
    OPTION_ROW_FLAG(table_options, constant, "constant", "on", "a feature that is always 1"),
    OPTION_ROW_CHOICE(table_options, order, "order", "random", "random|file",
                      "random: rows in a random order, new in each pass; file: the order of the file, for every seed"),
    OPTION_ROW_CHOICE(table_options, decimal, "decimal", "point", "point|comma", "decimal separator"),
};
static const option_table entry_table = OPTION_TABLE(entries);
static const option_group groups[] = {OPTION_GROUP_OWN(entry_table, NULL)};
static const option_schema schema = OPTION_SCHEMA("table", groups, table_options, NULL);

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

/* Numbers of which each has a comma in place of the point. */
static void read_commas(table *t)
{
    for (size_t i = 0; i < t->height * t->width; i++)
        if (t->cells[i].text && isnan(t->cells[i].number)) t->cells[i].number = cell_with_comma(&t->cells[i]);
}

/* ---- rows ---- */

static void fill_rows(const table *t, classes_dataset *data)
{
    size_t at = 0;
    for (size_t row = 0; row < data->rows; row++) {
        at += row_encoding_cells(t->encoding, table_cell(t, row, 0), data->indices + at, data->values + at);
        data->starts[row + 1] = at;
        data->labels[row] = (uint32_t)categories_find(&t->encoding->classes, table_cell(t, row, t->label));
    }
}

/* The data set has the encoding then. */
static ee_status make_rows(table *t, survey *seen, classes_dataset **out, ee_error *error)
{
    size_t most = row_encoding_entries(t->encoding);
    classes_dataset *data;
    ee_status status = classes_create(table_rows(t), table_rows(t) * most, &data, error);
    if (status) return status;
    data->features = most == t->encoding->constant ? 0 : row_encoding_features(t->encoding);
    data->classes = row_encoding_classes(t->encoding);
    status = classes_finish(data, file_tail(t->file->path), error);
    if (!status) {
        fill_rows(t, data);
        status = table_report(t, seen, error);
    }
    if (!status) status = classes_report(data, &t->encoding->classes, seen, error);
    if (status) {
        classes_close(&data->head);
        return status;
    }
    data->head.encoding = t->encoding;
    t->encoding = NULL;
    *out = data;
    return EE_OK;
}

static void table_release(table *t)
{
    row_encoding_free(t->encoding);
    memory_free(t->columns);
    memory_free(t->names);
    memory_free(t->cells);
    memory_free(t->lines);
}

static ee_status finish_table(table *t, survey *seen, classes_dataset **out, ee_error *error)
{
    for (size_t i = 0; i < t->height * t->width; i++) missing_words_apply(t->options->missing, &t->cells[i], false);
    if (t->options->decimal.pick == DECIMAL_COMMA) read_commas(t);
    ee_status status = table_settle_columns(t, error);
    if (!status) status = table_measure_columns(t, error);
    return status ? status : make_rows(t, seen, out, error);
}

static ee_status separated_parse(source *file, const table_options *options, survey *seen, classes_dataset **out,
                                 ee_error *error)
{
    table t = {.file = file, .options = options};
    row_reader rows = rows_start(file, NULL);
    ee_status status = read_cells(&t, &rows, error);
    rows_release(&rows);
    if (!status) status = finish_table(&t, seen, out, error);
    table_release(&t);
    return status;
}

/* Lines are counted from 1 without the names: line n is row n. */
static ee_status cells_take(const table_cells *from, const char *name, const table_options *options, survey *seen,
                            classes_dataset **out, ee_error *error)
{
    source file = {.path = (char *)name};
    table t = {&file, options, from->width, from->height, from->cells, .codes = from->codes};
    ee_status status = memory_create(NULL, &t.lines, t.height, sizeof *t.lines, error);
    for (size_t i = 0; i < t.height && !status; i++) t.lines[i] = i;
    if (!status) status = finish_table(&t, seen, out, error);
    t.cells = NULL;
    table_release(&t);
    return status;
}

static ee_status read_options(const char *text, table_options *options, ee_error *error)
{
    options_set_defaults(&schema, options);
    return options_parse_once(&schema, text, options, error);
}

ee_status table_parse(source *file, const char *text, survey *seen, classes_dataset **out, ee_error *error)
{
    table_options options;
    ee_status status = read_options(text, &options, error);
    if (status) return status;
    rows_fix_line_ends(file);
    status = libsvm_recognize(file) ? libsvm_parse(file, &options, seen, out, error)
                                    : separated_parse(file, &options, seen, out, error);
    if (!status) (*out)->in_order = options.order.pick == ORDER_FILE;
    return status;
}

static ee_status open_cells(const dataset_request *request, dataset **out, ee_error *error)
{
    table_options options;
    classes_dataset *data = NULL;
    ee_status status = read_options(request->options, &options, error);
    if (!status) status = cells_take(request->cells, request->place, &options, request->survey, &data, error);
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
    if (!status) status = table_parse(&file, request->options, request->survey, &data, error);
    source_release(&file);
    if (status) return status;
    data->head.fingerprint = fingerprint;
    *out = &data->head;
    return EE_OK;
}

const dataset_kind dataset_table = {
    .name = "table",
    .form = "table:FILE[,OPTION=VALUE...]",
    .summary =
        "CSV, TSV or libsvm, plain or .gz; a row is a round with an arm per class, and its own class has the reward",
    .options = &schema,
    .named_by_place = true,
    .open = table_open,
    .close = classes_close,
    .start = classes_start,
    .next = classes_next,
};
