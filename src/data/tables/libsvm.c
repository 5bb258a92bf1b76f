/* libsvm's format: a line is a label and the features that are not zero, as index:value, indices from 1 and ascending.
 * What follows a # is a comment.
 *
 * Features are divided by the largest absolute value that they have: that keeps zeros zero, which taking their mean
 * away would not. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "categories.h"
#include "table_inside.h"

/* Twice as many as in the largest data sets of this format. A wrong index must not take all memory. */
enum { MOST_FEATURES = 100000000 };

static const char query_mark[] = "qid:"; /* the query of a line, in ranking files */

static bool is_query(const char *text)
{
    return strncmp(text, query_mark, sizeof query_mark - 1) == 0;
}

bool libsvm_recognize(const source *file)
{
    const char *at = (const char *)file->bytes;
    at += strspn(at, " \r\n");
    while (*at == '#') {
        at += strcspn(at, "\n");
        at += strspn(at, " \r\n");
    }
    if (!*at || *at == '"') return false;
    at += strcspn(at, " \t,;:\r\n");
    if (*at != ' ') return false;
    at += strspn(at, " ");
    if (is_query(at)) at += strcspn(at, " \r\n");
    at += strspn(at, " ");
    size_t digits = strspn(at, "0123456789");
    return digits && at[digits] == ':' && at[digits + 1] && strchr("-+.0123456789", at[digits + 1]);
}

static size_t count_bytes(const source *file, uint8_t wanted)
{
    size_t count = 0;
    for (size_t i = 0; i < file->size; i++) count += file->bytes[i] == wanted;
    return count;
}

static ee_status fail_number(const row_reader *rows, unsigned long long index, const char *text, ee_error *error)
{
    if (cell_is_beyond(&(cell){text, NAN}))
        return rows_fail(rows, error, "expected a number of at most %.3g after '%llu:', got '%.40s'", (double)FLT_MAX,
                         index, text);
    return rows_fail(rows, error, "expected a number after '%llu:', got '%.40s'", index, text);
}

/* Stores index:value as entry *at. *last is the index before it, and becomes this one. */
static ee_status read_entry(const row_reader *rows, const field *from, classes_dataset *data, size_t shift, size_t *at,
                            unsigned long long *last, ee_error *error)
{
    char *colon;
    unsigned long long index = strtoull(from->text, &colon, 10);
    if (from->text[0] < '0' || from->text[0] > '9' || *colon != ':')
        return rows_fail(rows, error, "expected index:value, got '%.40s'", from->text);
    if (index <= *last || index > MOST_FEATURES)
        return rows_fail(rows, error, "expected an index of %llu to %d, got '%.40s'", *last + 1, MOST_FEATURES,
                         from->text);
    *last = index;
    field value = {colon + 1, (size_t)(from->text + from->length - colon) - 1};
    double number;
    if (!field_number(&value, &number) || fabs(number) > (double)FLT_MAX)
        return fail_number(rows, index, value.text, error);
    if ((float)number == 0.0f) return EE_OK;
    data->indices[*at] = (uint32_t)(index - 1 + shift);
    data->values[(*at)++] = (float)number;
    if (data->features < index + shift) data->features = index + shift;
    return EE_OK;
}

/* Reads the rows, with a constant first feature if the options ask for it. labels is (lines of the file). queries:
 * number of lines with a query. */
static ee_status read_rows(row_reader *rows, const table_options *options, classes_dataset *data, cell *labels,
                           size_t *queries, ee_error *error)
{
    size_t at = 0, shift = options->constant;
    *queries = 0;
    data->rows = 0;
    for (;;) {
        bool found;
        ee_status status = rows_next(rows, &found, error);
        if (status || !found) return status;
        if (rows->fields[0].text[0] == '#') continue;
        labels[data->rows] = cell_of(rows->file, &rows->fields[0]);
        if (missing_words_have(options->missing, &labels[data->rows], false))
            return rows_fail(rows, error, "the label is missing; delete the row or give it a class");
        if (shift) data->values[at++] = 1.0f; /* of index 0 */
        unsigned long long last = 0;
        size_t first = rows->count > 1 && is_query(rows->fields[1].text) ? 2 : 1;
        *queries += first - 1;
        for (size_t i = first; i < rows->count && rows->fields[i].text[0] != '#'; i++) {
            status = read_entry(rows, &rows->fields[i], data, shift, &at, &last, error);
            if (status) return status;
        }
        data->starts[++data->rows] = at;
    }
}

static ee_status scale_features(classes_dataset *data, ee_error *error)
{
    float *largest;
    size_t entries = data->starts[data->rows];
    ee_status status = memory_create(NULL, &largest, data->features, sizeof *largest, error);
    if (status) return status;
    for (size_t i = 0; i < entries; i++) {
        float *most = &largest[data->indices[i]];
        *most = fmaxf(*most, fabsf(data->values[i]));
    }
    for (size_t i = 0; i < entries; i++) data->values[i] /= largest[data->indices[i]];
    memory_free(largest);
    return EE_OK;
}

static ee_status report_rows(const classes_dataset *data, const category_list *classes, size_t queries, survey *seen,
                             ee_error *error)
{
    ee_status status = classes_report(data, classes, seen, error);
    if (!status) status = survey_add_number(seen, "entries that are not zero", (double)data->starts[data->rows], error);
    if (!status && queries)
        status = survey_remark(seen, error,
                               "qid: is ignored in %zu lines: each line becomes a round, and its grade a class; to "
                               "rank the documents of a query as the arms of one round, use rounds:DIR",
                               queries);
    if (!status) status = table_remark_label(classes, data->rows, "the label", "", seen, error);
    return status;
}

static ee_status number_labels(const cell *labels, const char *name, classes_dataset *data, category_list *classes,
                               ee_error *error)
{
    ee_status status = categories_collect(labels, data->rows, 1, name, "", classes, error);
    for (size_t row = 0; row < data->rows && !status; row++)
        data->labels[row] = (uint32_t)categories_find(classes, &labels[row]);
    data->classes = classes->count;
    return status;
}

ee_status libsvm_parse(source *file, const table_options *options, survey *seen, classes_dataset **out, ee_error *error)
{
    size_t lines = count_bytes(file, '\n') + 1, shift = options->constant, queries;
    classes_dataset *data = NULL;
    cell *labels = NULL;
    category_list classes = {0};
    row_reader rows = rows_start(file, " ");
    ee_status status = classes_create(lines, count_bytes(file, ':') + shift * lines, &data, error);
    if (!status) status = memory_create(NULL, &labels, lines, sizeof *labels, error);
    if (!status) status = read_rows(&rows, options, data, labels, &queries, error);
    if (!status) status = number_labels(labels, file_tail(file->path), data, &classes, error);
    if (!status) status = classes_finish(data, file_tail(file->path), error);
    if (!status) status = report_rows(data, &classes, queries, seen, error);
    if (!status && options->normalize.pick != NORMALIZE_NONE) status = scale_features(data, error);
    if (!status && options->normalize.pick == NORMALIZE_UNIT) classes_scale_rows(data);
    rows_release(&rows);
    categories_release(&classes);
    memory_free(labels);
    if (status && data) classes_close(&data->head);
    if (!status) *out = data;
    return status;
}
