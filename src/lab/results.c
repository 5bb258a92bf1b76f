#include "results.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "curves.h"
#include "data/text.h"
#include "host.h"

/* ---- writing ---- */

typedef struct line_writer {
    char *text;
    size_t capacity;
    size_t length; /* of the whole line, even where it does not fit */
} line_writer;

__attribute__((format(printf, 2, 3))) static void append(line_writer *out, const char *format, ...)
{
    size_t room = out->length < out->capacity ? out->capacity - out->length : 0;
    va_list arguments;
    va_start(arguments, format);
    out->length += (size_t)vsnprintf(room ? out->text + out->length : NULL, room, format, arguments);
    va_end(arguments);
}

static void append_text(line_writer *out, const char *name, const char *words)
{
    append(out, "\"%s\":\"", name);
    for (; *words; words++) {
        unsigned char byte = (unsigned char)*words;
        if (byte == '"' || byte == '\\')
            append(out, "\\%c", byte);
        else if (byte < 32)
            append(out, "\\u%04x", byte);
        else
            append(out, "%c", byte);
    }
    append(out, "\",");
}

/* JSON readers refuse whole numbers that int64_t cannot hold: such a seed is text. */
static void append_seed(line_writer *out, uint64_t seed)
{
    const char *quote = seed > INT64_MAX ? "\"" : "";
    append(out, "\"seed\":%s%" PRIu64 "%s,", quote, seed, quote);
}

/* The shortest decimal that reads back as the same double: where 15 digits do, %g has taken the zeros away. */
static void append_number(line_writer *out, double value)
{
    char number[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, value + 0.0); /* a zero has no sign */
        if (strtod(number, NULL) == value) break;
    }
    append(out, "%s", number);
}

static void append_real(line_writer *out, const char *name, double value)
{
    append(out, "\"%s\":", name);
    append_number(out, value);
    append(out, ",");
}

static void append_marks(line_writer *out, const double *marks)
{
    append(out, "\"marks\":");
    for (size_t i = 0; i < RUN_PARTS; i++) {
        append(out, i ? "," : "[");
        append_number(out, marks[i]);
    }
    append(out, "],");
}

/* The members of a direction, in their order. */
static void append_direction(line_writer *out, const run_direction *part)
{
    append(out, "[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, part->arms, part->up, part->down,
           part->up_right, part->down_right);
    const double sums[] = {part->gain, part->exploration, part->gain_squares, part->exploration_squares,
                           part->products};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        append(out, ",");
        append_number(out, sums[i]);
    }
    append(out, "]");
}

static bool has_directions(const run_result *result)
{
    for (size_t i = 0; i < RUN_PARTS; i++)
        if (result->directions[i].arms) return true;
    return false;
}

static void append_directions(line_writer *out, const run_result *result)
{
    if (!has_directions(result)) return;
    append(out, "\"directions\":");
    for (size_t i = 0; i < RUN_PARTS; i++) {
        append(out, i ? "," : "[");
        append_direction(out, &result->directions[i]);
    }
    append(out, "],");
}

/* A line of a run whose rewards came at once has none: it is as it was before there were delays. */
static void append_delay(line_writer *out, const delay *late)
{
    char words[DELAY_TEXT];
    delay_format(late, words);
    if (!delay_is_none(late)) append_text(out, "delay", words);
}

/* A line of a run with one slot has none. */
static void append_slots(line_writer *out, const run_result *result)
{
    if (!result->slots) return;
    append(out, "\"slots\":%zu,\"slot_regrets\":", result->slots);
    for (size_t k = 0; k < result->slots; k++) {
        append(out, k ? "," : "[");
        append_number(out, result->slot_regrets[k]);
    }
    append(out, "],");
}

size_t results_format(const run_report *report, const char *curve, size_t curve_row, char *line, size_t capacity)
{
    const run_job *job = report->job;
    const run_result *result = report->result;
    line_writer out = {line, capacity, 0};
    append(&out, "{");
    append_text(&out, "dataset", dataset_name(job->data));
    append(&out, "\"fingerprint\":\"%016" PRIx64 "\",", dataset_fingerprint(job->data));
    append(&out, "\"dim\":%zu,\"arms\":%zu,", dataset_dim(job->data), dataset_arms(job->data));
    if (dataset_rows(job->data)) append(&out, "\"rows\":%" PRIu64 ",", dataset_rows(job->data));
    append_text(&out, "policy", job->policy);
    append_text(&out, "options", report->options);
    append_seed(&out, job->seed);
    append(&out, "\"rounds\":%" PRIu64 ",\"tuning\":%s,", result->rounds, job->tuning ? "true" : "false");
    append_delay(&out, &job->late);
    append_slots(&out, result);
    append_real(&out, "regret", result->regret);
    append_real(&out, "reward", result->reward);
    append_real(&out, "optimal", (double)result->optimal / (double)result->rounds);
    append_real(&out, "seconds", result->seconds);
    append(&out, "\"bytes\":%zu,", result->bytes);
    append_marks(&out, result->marks);
    append_directions(&out, result);
    if (curve) {
        append_text(&out, "curve", curve);
        append(&out, "\"row\":%zu,", curve_row);
    }
    char machine[HOST_TEXT];
    host_describe(machine);
    append_text(&out, "machine", machine);
    append(&out, "\"version\":\"%s\",\"kernels\":\"%s\"}\n", ee_version(), ee_kernels());
    return out.length;
}

/* ---- reading ---- */

/* The members of one line. The first error stays: after it every visit does nothing. */
typedef struct line_reader {
    const json_t *members;
    size_t number; /* of the line */
    ee_status status;
    ee_error *error;
} line_reader;

static const json_t *find(line_reader *from, const char *name, bool right_type, const char *type, const json_t *value)
{
    if (from->status) return NULL;
    if (right_type) return value;
    from->status = status_fail(from->error, EE_BAD_INPUT, "line %zu: expected %s in '%s'", from->number, type, name);
    return NULL;
}

static char *read_text(line_reader *from, const char *name)
{
    const json_t *value = json_object_get(from->members, name);
    value = find(from, name, json_is_string(value), "text", value);
    char *copy = NULL;
    if (!value) return NULL;
    from->status = memory_create(NULL, &copy, json_string_length(value) + 1, 1, from->error);
    if (copy) memcpy(copy, json_string_value(value), json_string_length(value));
    return copy;
}

static uint64_t whole_of(line_reader *from, const char *name, const json_t *value)
{
    value = find(from, name, json_is_integer(value) && json_integer_value(value) >= 0, "a whole number", value);
    return value ? (uint64_t)json_integer_value(value) : 0;
}

static uint64_t read_whole(line_reader *from, const char *name)
{
    return whole_of(from, name, json_object_get(from->members, name));
}

static double real_of(line_reader *from, const char *name, const json_t *value)
{
    value = find(from, name, json_is_number(value), "a number", value);
    return value ? json_number_value(value) : 0.0;
}

static double read_real(line_reader *from, const char *name)
{
    return real_of(from, name, json_object_get(from->members, name));
}

static uint64_t read_seed(line_reader *from)
{
    const json_t *value = json_object_get(from->members, "seed");
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : whole_of(from, "seed", value);
}

static uint64_t read_fingerprint(line_reader *from)
{
    const json_t *value = json_object_get(from->members, "fingerprint");
    value = find(from, "fingerprint", json_is_string(value), "text", value);
    return value ? strtoull(json_string_value(value), NULL, 16) : 0;
}

static bool read_flag(line_reader *from, const char *name)
{
    const json_t *value = json_object_get(from->members, name);
    value = find(from, name, json_is_boolean(value), "true or false", value);
    return value && json_is_true(value);
}

static void read_marks(line_reader *from, double *marks)
{
    const json_t *list = json_object_get(from->members, "marks");
    list = find(from, "marks", json_array_size(list) == RUN_PARTS, "20 numbers", list);
    for (size_t i = 0; i < RUN_PARTS; i++) marks[i] = real_of(from, "marks", json_array_get(list, i));
}

static void read_direction(line_reader *from, const json_t *list, run_direction *part)
{
    static const char name[] = "directions";
    enum { MEMBERS = 10 };
    list = find(from, name, json_array_size(list) == MEMBERS, "10 numbers in each of 20", list);
    uint64_t *counts[] = {&part->arms, &part->up, &part->down, &part->up_right, &part->down_right};
    double *sums[] = {&part->gain, &part->exploration, &part->gain_squares, &part->exploration_squares,
                      &part->products};
    for (size_t i = 0; i < 5; i++) *counts[i] = whole_of(from, name, json_array_get(list, i));
    for (size_t i = 0; i < 5; i++) *sums[i] = real_of(from, name, json_array_get(list, 5 + i));
}

static void read_directions(line_reader *from, run_direction *directions)
{
    const json_t *list = json_object_get(from->members, "directions");
    if (!list) return;
    for (size_t i = 0; i < RUN_PARTS; i++) read_direction(from, json_array_get(list, i), &directions[i]);
}

static void read_delay(line_reader *from, delay *late)
{
    const json_t *value = json_object_get(from->members, "delay");
    if (!value) return;
    bool right = json_is_string(value) && delay_parse(json_string_value(value), late, NULL) == EE_OK;
    find(from, "delay", right, "a delay", value);
}

static void read_slots(line_reader *from, run_result *result)
{
    const json_t *value = json_object_get(from->members, "slots");
    if (!value) return;
    uint64_t slots = whole_of(from, "slots", value);
    find(from, "slots", slots >= 2 && slots <= RUN_SLOTS, "2 to 16", value);
    if (from->status) return;
    result->slots = (size_t)slots;
    const json_t *list = json_object_get(from->members, "slot_regrets");
    list = find(from, "slot_regrets", json_array_size(list) == slots, "a number a slot", list);
    for (size_t k = 0; k < slots; k++) result->slot_regrets[k] = real_of(from, "slot_regrets", json_array_get(list, k));
}

/* "0.1.0 neon" */
static char *read_version(line_reader *from)
{
    char *version = read_text(from, "version"), *kernels = read_text(from, "kernels"), *both = NULL;
    if (version && kernels) {
        size_t capacity = strlen(version) + strlen(kernels) + 2;
        from->status = memory_create(NULL, &both, capacity, 1, from->error);
        if (both) snprintf(both, capacity, "%s %s", version, kernels);
    }
    memory_free(version);
    memory_free(kernels);
    return both;
}

static void read_members(line_reader *from, stored_run *out)
{
    out->dataset = read_text(from, "dataset");
    out->fingerprint = read_fingerprint(from);
    out->dim = (size_t)read_whole(from, "dim");
    out->arms = (size_t)read_whole(from, "arms");
    if (json_object_get(from->members, "rows")) out->rows = read_whole(from, "rows");
    out->policy = read_text(from, "policy");
    out->options = read_text(from, "options");
    out->seed = read_seed(from);
    out->rounds = read_whole(from, "rounds");
    out->tuning = read_flag(from, "tuning");
    read_delay(from, &out->late);
    run_result *result = &out->result;
    read_slots(from, result);
    out->slots = result->slots;
    result->finished = true;
    result->rounds = out->rounds;
    result->regret = read_real(from, "regret");
    result->reward = read_real(from, "reward");
    double optimal = read_real(from, "optimal");
    find(from, "optimal", optimal >= 0.0 && optimal <= 1.0, "a share", NULL);
    if (!from->status) result->optimal = (uint64_t)llround(optimal * (double)out->rounds);
    result->seconds = read_real(from, "seconds");
    result->bytes = (size_t)read_whole(from, "bytes");
    read_marks(from, result->marks);
    read_directions(from, result->directions);
    if (json_object_get(from->members, "curve")) {
        out->curve = read_text(from, "curve");
        out->curve_row = (size_t)read_whole(from, "row");
    }
    if (json_object_get(from->members, "machine")) out->machine = read_text(from, "machine");
    out->version = read_version(from);
}

ee_status results_parse(const char *line, size_t length, size_t number, stored_run *out, ee_error *error)
{
    json_error_t problem;
    json_t *members = json_loadb(line, length, 0, &problem);
    line_reader from = {members, number, EE_OK, error};
    if (json_is_object(members))
        read_members(&from, out);
    else
        from.status = status_fail(error, EE_BAD_INPUT, "line %zu, byte %d: %s", number,
                                  members ? 1 : problem.position + 1, members ? "expected {" : problem.text);
    json_decref(members);
    return from.status;
}

void results_release_run(stored_run *run)
{
    memory_free(run->dataset);
    memory_free(run->policy);
    memory_free(run->options);
    memory_free(run->curve);
    memory_free(run->version);
    memory_free(run->machine);
}

void results_release(stored_runs *list)
{
    for (size_t i = 0; i < list->count; i++) results_release_run(&list->runs[i]);
    memory_free(list->runs);
    *list = (stored_runs){0};
}

/* A curve is named by what follows the last slash: a line does not lead out of the folder. */
static ee_status check_curve(const stored_run *run, size_t number, ee_error *error)
{
    if (run->curve && run->curve[0] && run->curve[0] != '.' && !strchr(run->curve, '/')) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "line %zu: expected the name of a file in 'curve'", number);
}

static ee_status take_line(void *context, const char *line, size_t length, size_t number, ee_error *error)
{
    stored_runs *into = context;
    ee_status status = memory_grow(NULL, &into->runs, &into->capacity, into->count + 1, sizeof *into->runs, error);
    if (status) return status;
    stored_run *run = &into->runs[into->count++];
    status = results_parse(line, length, number, run, error);
    return status ? status : check_curve(run, number, error);
}

ee_status results_read(const char *folder, stored_runs *out, ee_error *error)
{
    return line_file_each(folder, "results.jsonl", take_line, out, error);
}

static ee_status curve_path(const char *folder, const stored_run *run, char **path, ee_error *error)
{
    char *curves = NULL;
    ee_status status = file_join(folder, "curves", &curves, error);
    if (!status) status = file_join(curves, run->curve, path, error);
    memory_free(curves);
    return status;
}

ee_status results_has_curve(const char *folder, const stored_run *run, bool *there, ee_error *error)
{
    char *path = NULL;
    ee_status status = curve_path(folder, run, &path, error);
    if (!status) status = curves_has(path, run->curve_row, run->rounds, run->result.regret, there, error);
    memory_free(path);
    return status;
}

ee_status results_curve(const char *folder, const stored_run *run, double *out, ee_error *error)
{
    bool there = false;
    char *path = NULL;
    ee_status status = results_has_curve(folder, run, &there, error);
    if (!status) status = curve_path(folder, run, &path, error);
    if (!status && !there)
        status = status_fail(error, EE_BAD_INPUT,
                             "%s is missing, cut or damaged; the command that played its runs plays them again",
                             file_tail(path));
    if (!status) status = curves_read(path, run->curve_row, run->rounds, out, error);
    memory_free(path);
    return status;
}

/* ---- lines that go ---- */

typedef struct line_filter {
    const bool *dropped; /* by the number of the line */
    text kept;
} line_filter;

static ee_status filter_line(void *context, const char *line, size_t length, size_t number, ee_error *error)
{
    line_filter *self = context;
    self->kept.error = error;
    if (!self->dropped[number - 1]) text_bytes(&self->kept, line, length + 1);
    return self->kept.status;
}

ee_status results_drop(const char *folder, line_file *file, const bool *dropped, ee_error *error)
{
    line_filter filter = {dropped, text_start(error)};
    ee_status status = line_file_each(folder, "results.jsonl", filter_line, &filter, error);
    if (!status) status = line_file_replace(file, filter.kept.bytes, filter.kept.length, error);
    memory_free(filter.kept.bytes);
    return status;
}
