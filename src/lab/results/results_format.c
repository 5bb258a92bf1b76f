#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/runs/host.h"
#include "results.h"

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

static void append_quoted(line_writer *out, const char *words)
{
    append(out, "\"");
    for (; *words; words++) {
        unsigned char byte = (unsigned char)*words;
        if (byte == '"' || byte == '\\')
            append(out, "\\%c", byte);
        else if (byte < 32)
            append(out, "\\u%04x", byte);
        else
            append(out, "%c", byte);
    }
    append(out, "\"");
}

static void append_text(line_writer *out, const char *name, const char *words)
{
    append(out, "\"%s\":", name);
    append_quoted(out, words);
    append(out, ",");
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

stored_run results_of_report(const run_report *report)
{
    const run_job *job = report->job;
    return (stored_run){.dataset = dataset_name(job->data),
                        .source = dataset_source(job->data),
                        .fingerprint = dataset_fingerprint(job->data),
                        .dim = dataset_dim(job->data),
                        .arms = dataset_arms(job->data),
                        .rows = dataset_rows(job->data),
                        .policy = job->policy,
                        .options = report->options,
                        .seed = job->seed,
                        .rounds = report->result->rounds,
                        .tuning = job->tuning,
                        .late = job->late,
                        .slots = report->result->slots,
                        .result = *report->result,
                        .version = report->version ? report->version : ee_version(),
                        .kernels = report->kernels ? report->kernels : ee_kernels(),
                        .machine = report->machine ? report->machine : host_describe()};
}

size_t results_format(const stored_run *run, char *line, size_t capacity)
{
    const run_result *result = &run->result;
    line_writer out = {line, capacity, 0};
    append(&out, "{");
    append_text(&out, "dataset", run->dataset);
    if (run->source) append_text(&out, "source", run->source);
    append(&out, "\"fingerprint\":\"%016" PRIx64 "\",", run->fingerprint);
    append(&out, "\"dim\":%zu,\"arms\":%zu,", run->dim, run->arms);
    if (run->rows) append(&out, "\"rows\":%" PRIu64 ",", run->rows);
    append_text(&out, "policy", run->policy);
    append_text(&out, "options", run->options);
    append_seed(&out, run->seed);
    append(&out, "\"rounds\":%" PRIu64 ",\"tuning\":%s,", run->rounds, run->tuning ? "true" : "false");
    append_delay(&out, &run->late);
    append_slots(&out, result);
    append_real(&out, "regret", result->regret);
    append_real(&out, "reward", result->reward);
    append_real(&out, "optimal", (double)result->optimal / (double)run->rounds);
    append_real(&out, "seconds", result->seconds);
    append(&out, "\"bytes\":%zu,", result->bytes);
    append_marks(&out, result->marks);
    append_directions(&out, result);
    if (run->curve) {
        append_text(&out, "curve", run->curve);
        append(&out, "\"row\":%zu,", run->curve_row);
    }
    if (run->machine) append_text(&out, "machine", run->machine);
    append_text(&out, "version", run->version);
    append(&out, "\"kernels\":");
    append_quoted(&out, run->kernels);
    append(&out, "}\n");
    return out.length;
}
