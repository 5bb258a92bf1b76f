#include "survey.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

ee_status survey_create(survey **out, ee_error *error)
{
    return memory_create_owner(NULL, out, sizeof **out, error);
}

void survey_free(survey *of)
{
    if (of) memory_release(&of->owner);
}

static ee_status copy_text(survey *into, const char *text, const char **out, ee_error *error)
{
    char *copy;
    ee_status status = memory_create(&into->owner, &copy, strlen(text) + 1, 1, error);
    if (status) return status;
    *out = strcpy(copy, text);
    return EE_OK;
}

ee_status survey_add_column(survey *into, const survey_column *column, ee_error *error)
{
    ee_status status = memory_grow(&into->owner, &into->columns, &into->column_capacity, into->column_count + 1,
                                   sizeof *into->columns, error);
    if (status) return status;
    survey_column *added = &into->columns[into->column_count];
    *added = *column;
    status = copy_text(into, column->name, &added->name, error);
    if (!status) into->column_count++;
    return status;
}

ee_status survey_add_class(survey *into, const char *name, uint64_t count, ee_error *error)
{
    ee_status status = memory_grow(&into->owner, &into->classes, &into->class_capacity, into->class_count + 1,
                                   sizeof *into->classes, error);
    if (status) return status;
    survey_class *added = &into->classes[into->class_count];
    added->count = count;
    status = copy_text(into, name, &added->name, error);
    if (!status) into->class_count++;
    return status;
}

ee_status survey_add_number(survey *into, const char *name, double value, ee_error *error)
{
    ee_status status = memory_grow(&into->owner, &into->numbers, &into->number_capacity, into->number_count + 1,
                                   sizeof *into->numbers, error);
    if (status) return status;
    survey_number *added = &into->numbers[into->number_count];
    added->value = value;
    status = copy_text(into, name, &added->name, error);
    if (!status) into->number_count++;
    return status;
}

ee_status survey_suggest_ignore(survey *into, const char *columns, ee_error *error)
{
    return copy_text(into, columns, &into->ignore, error);
}

ee_status survey_remark(survey *into, ee_error *error, const char *format, ...)
{
    ee_status status = memory_grow(&into->owner, &into->remarks, &into->remark_capacity, into->remark_count + 1,
                                   sizeof *into->remarks, error);
    if (status) return status;
    char **added = &into->remarks[into->remark_count];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t size = (size_t)vsnprintf(NULL, 0, format, arguments) + 1;
    status = memory_create(&into->owner, added, size, 1, error);
    if (!status) {
        vsnprintf(*added, size, format, again);
        status_keep_in_one_line(*added);
        into->remark_count++;
    }
    va_end(again);
    va_end(arguments);
    return status;
}

const char *survey_kind_name(survey_kind kind)
{
    static const char *const names[SURVEY_KINDS] = {
        [SURVEY_NUMERIC] = "numeric", [SURVEY_CATEGORICAL] = "categorical", [SURVEY_LABEL] = "label",
        [SURVEY_IGNORED] = "ignored", [SURVEY_CONSTANT] = "constant",       [SURVEY_TEXT] = "text",
    };
    return names[kind];
}
