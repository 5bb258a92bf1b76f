#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "data/values/text.h"
#include "inspection.h"

static void add_text(text *into, const char *words)
{
    json_text given = {words, strlen(words)};
    if (json_is_utf8(given)) {
        text_json(into, given);
        return;
    }
    text ascii = text_start(into->error);
    for (size_t i = 0; i < given.length; i++) text_add(&ascii, "%c", (unsigned char)words[i] < 0x80 ? words[i] : '?');
    text_json(into, (json_text){ascii.bytes, ascii.length});
    memory_free(ascii.bytes);
}

static void add_columns(text *into, const survey *seen)
{
    text_add(into, ",\"columns\":[");
    for (size_t i = 0; i < seen->column_count; i++) {
        const survey_column *column = &seen->columns[i];
        text_add(into, "%s{\"name\":", i ? "," : "");
        add_text(into, column->name);
        text_add(into, ",\"kind\":\"%s\",\"missing\":%" PRIu64 ",\"features\":%" PRIu64, survey_kind_name(column->kind),
                 column->missing, column->features);
        if (column->distinct) text_add(into, ",\"values\":%" PRIu64, column->distinct);
        if (column->low <= column->high) {
            text_add(into, ",\"low\":");
            text_number(into, column->low);
            text_add(into, ",\"high\":");
            text_number(into, column->high);
        }
        text_add(into, "}");
    }
    text_add(into, "]");
}

static void add_classes(text *into, const survey *seen)
{
    text_add(into, ",\"classes\":[");
    for (size_t i = 0; i < seen->class_count; i++) {
        text_add(into, "%s{\"name\":", i ? "," : "");
        add_text(into, seen->classes[i].name);
        text_add(into, ",\"rows\":%" PRIu64 "}", seen->classes[i].count);
    }
    text_add(into, "]");
}

static void add_numbers(text *into, const survey *seen)
{
    text_add(into, ",\"numbers\":{");
    for (size_t i = 0; i < seen->number_count; i++) {
        text_add(into, "%s", i ? "," : "");
        add_text(into, seen->numbers[i].name);
        text_add(into, ":");
        text_number(into, seen->numbers[i].value);
    }
    text_add(into, "}");
}

static void add_remarks(text *into, const survey *seen)
{
    text_add(into, ",\"remarks\":[");
    for (size_t i = 0; i < seen->remark_count; i++) {
        text_add(into, "%s", i ? "," : "");
        add_text(into, seen->remarks[i]);
    }
    text_add(into, "]");
}

static void add_entries(text *into, const inspection *of, size_t arm)
{
    arm_entry entry;
    size_t count = 0;
    text_add(into, "{");
    for (size_t at = 0; inspection_next_entry(of, arm, &at, &entry);) {
        char name[256];
        inspection_feature_name(of, entry.index, name, sizeof name);
        text_add(into, "%s", count++ ? "," : "");
        add_text(into, name);
        text_add(into, ":");
        text_float(into, entry.value);
    }
    text_add(into, "}");
}

static void add_round(text *into, const inspection *of)
{
    bool context = inspection_has_context(of), classes = context && of->seen->class_count == of->round.arms.count;
    text_add(into, ",\"round\":{\"seed\":%" PRIu64, of->seed);
    if (context) {
        text_add(into, ",\"context\":");
        add_entries(into, of, 0);
    }
    text_add(into, ",\"arms\":[");
    for (size_t i = 0; i < of->round.arms.count; i++) {
        text_add(into, "%s{\"reward\":", i ? "," : "");
        text_number(into, of->round.rewards[i]);
        text_add(into, ",\"expected\":");
        text_number(into, of->round.expected[i]);
        if (classes) {
            text_add(into, ",\"class\":");
            add_text(into, of->seen->classes[i].name);
        }
        if (!context) {
            text_add(into, ",\"features\":");
            add_entries(into, of, i);
        }
        text_add(into, "}");
    }
    text_add(into, "]}");
}

ee_status inspection_print_json(const inspection *of, ee_error *error)
{
    const dataset *data = of->data;
    text line = text_start(error);
    text_add(&line, "{\"dataset\":");
    add_text(&line, dataset_name(data));
    text_add(&line,
             ",\"fingerprint\":\"%016" PRIx64 "\",\"rows\":%" PRIu64 ",\"rounds\":%" PRIu64
             ",\"arms\":%zu,\"dim\":%zu,\"blocks\":%zu,\"exclusive\":%s",
             dataset_fingerprint(data), dataset_rows(data), dataset_rounds(data), dataset_arms(data), dataset_dim(data),
             dataset_blocks(data), dataset_exclusive(data) ? "true" : "false");
    add_columns(&line, of->seen);
    add_classes(&line, of->seen);
    add_numbers(&line, of->seen);
    add_remarks(&line, of->seen);
    add_round(&line, of);
    text_add(&line, "}\n");
    if (!line.status) fwrite(line.bytes, 1, line.length, stdout);
    memory_free(line.bytes);
    return line.status;
}
