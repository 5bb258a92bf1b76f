#include "survey_archive.h"

#include <string.h>

static void visit_text(archive *a, survey *of, char **text)
{
    size_t length = a->reading ? 0 : strlen(*text);
    archive_size(a, &length, 0, a->reading ? archive_remaining(a) : SIZE_MAX, "the length of a string");
    if (a->reading && !a->status) a->status = memory_create(&of->owner, text, length + 1, 1, a->error);
    if (!a->status) archive_bytes(a, *text, length);
}

/* The same for a constant text. */
static void visit_name(archive *a, survey *of, const char **name)
{
    char *text = (char *)(uintptr_t)*name;
    visit_text(a, of, &text);
    *name = text;
}

static void visit_real(archive *a, double *number)
{
    uint64_t bits;
    memcpy(&bits, number, sizeof bits);
    archive_u64(a, &bits);
    memcpy(number, &bits, sizeof bits);
}

static void visit_column(archive *a, survey *of, survey_column *column)
{
    size_t kind = column->kind;
    visit_name(a, of, &column->name);
    archive_size(a, &kind, 0, SURVEY_KINDS - 1, "the kind of a column");
    column->kind = (survey_kind)kind;
    archive_u64(a, &column->missing);
    archive_u64(a, &column->distinct);
    archive_u64(a, &column->features);
    visit_real(a, &column->low);
    visit_real(a, &column->high);
}

/* The number of elements; reserves room for them when reading. */
static void visit_count(archive *a, survey *of, void *array, size_t *count, size_t *capacity, size_t size)
{
    archive_size(a, count, 0, a->reading ? archive_remaining(a) : SIZE_MAX, "the length of a list");
    if (a->reading && !a->status) a->status = memory_grow(&of->owner, array, capacity, *count, size, a->error);
}

void survey_visit(archive *a, survey *of)
{
    visit_count(a, of, &of->columns, &of->column_count, &of->column_capacity, sizeof *of->columns);
    for (size_t i = 0; i < of->column_count && !a->status; i++) visit_column(a, of, &of->columns[i]);
    visit_count(a, of, &of->classes, &of->class_count, &of->class_capacity, sizeof *of->classes);
    for (size_t i = 0; i < of->class_count && !a->status; i++) {
        visit_name(a, of, &of->classes[i].name);
        archive_u64(a, &of->classes[i].count);
    }
    visit_count(a, of, &of->numbers, &of->number_count, &of->number_capacity, sizeof *of->numbers);
    for (size_t i = 0; i < of->number_count && !a->status; i++) {
        visit_name(a, of, &of->numbers[i].name);
        visit_real(a, &of->numbers[i].value);
    }
    visit_count(a, of, &of->remarks, &of->remark_count, &of->remark_capacity, sizeof *of->remarks);
    for (size_t i = 0; i < of->remark_count && !a->status; i++) visit_text(a, of, &of->remarks[i]);
    /* An incomplete survey would mislead. */
    if (a->reading && a->status) of->column_count = of->class_count = of->number_count = of->remark_count = 0;
}
