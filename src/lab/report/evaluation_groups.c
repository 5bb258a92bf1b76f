#include "evaluation_groups.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/values/text.h"

/* ---- groups ---- */

static bool asked_alike(const stored_evaluation *a, const stored_evaluation *b)
{
    return a->result.log.fingerprint == b->result.log.fingerprint && strcmp(a->log, b->log) == 0 &&
           strcmp(a->asked, b->asked) == 0;
}

/* Unreliable candidates come after the others, those without a value last. */
static bool comes_before(const stored_evaluation *a, const stored_evaluation *b)
{
    if (a->result.diagnosis.trusted != b->result.diagnosis.trusted) return a->result.diagnosis.trusted;
    double left = a->result.estimates[evaluations_lead(a)].value,
           right = b->result.estimates[evaluations_lead(b)].value;
    return left > right || (isnan(right) && !isnan(left));
}

static ee_status add_row(evaluation_group *group, size_t room, const stored_evaluation *row, ee_error *error)
{
    if (!group->rows) {
        ee_status status = memory_create(NULL, &group->rows, room, sizeof *group->rows, error);
        if (!status) status = memory_create(NULL, &group->labels, room, sizeof *group->labels, error);
        if (!status) status = memory_create(NULL, &group->styles, room, sizeof *group->styles, error);
        if (status) return status;
    }
    size_t place = group->count++;
    for (; place && comes_before(row, group->rows[place - 1]); place--) group->rows[place] = group->rows[place - 1];
    group->rows[place] = row;
    return EE_OK;
}

/* The candidate's name, with a number if several share it. */
static ee_status add_labels(evaluation_group *group, ee_error *error)
{
    for (size_t i = 0; i < group->count; i++) {
        const char *name = group->rows[i]->result.candidate;
        size_t before = 0, same = 0;
        for (size_t k = 0; k < group->count; k++) {
            bool is_same = strcmp(group->rows[k]->result.candidate, name) == 0;
            same += is_same;
            before += is_same && k < i;
        }
        text label = text_start(error);
        text_add(&label, "%s", name);
        if (same > 1) text_add(&label, " (%zu)", before + 1);
        group->labels[i] = label.bytes;
        if (label.status) return label.status;
    }
    return EE_OK;
}

/* The style of the same label in an earlier group; SIZE_MAX: none. */
static size_t earlier_style(const evaluation_groups *of, size_t before, const char *label)
{
    for (size_t g = 0; g < before; g++)
        for (size_t i = 0; i < of->groups[g].count; i++)
            if (strcmp(of->groups[g].labels[i], label) == 0) return of->groups[g].styles[i];
    return SIZE_MAX;
}

static void number_styles(evaluation_groups *of)
{
    size_t next = 0;
    for (size_t g = 0; g < of->count; g++)
        for (size_t i = 0; i < of->groups[g].count; i++) {
            size_t earlier = earlier_style(of, g, of->groups[g].labels[i]);
            of->groups[g].styles[i] = earlier == SIZE_MAX ? next++ : earlier;
        }
}

size_t evaluation_candidates(const evaluation_groups *of)
{
    size_t count = 0;
    for (size_t g = 0; g < of->count; g++)
        for (size_t i = 0; i < of->groups[g].count; i++)
            count += earlier_style(of, g, of->groups[g].labels[i]) == SIZE_MAX;
    return count;
}

/* ---- titles ---- */

/* "log.csv" of "csv:log.csv,action=item". */
static void find_short(const char *log, const char **start, size_t *length)
{
    bool csv = strncmp(log, "csv:", 4) == 0;
    *start = csv ? log + 4 : log;
    *length = csv ? strcspn(*start, ",") : strlen(*start);
}

static bool same_short(const stored_evaluation *a, const stored_evaluation *b)
{
    const char *left, *right;
    size_t left_length, right_length;
    find_short(a->log, &left, &left_length);
    find_short(b->log, &right, &right_length);
    return left_length == right_length && memcmp(left, right, left_length) == 0;
}

static uint64_t count_events(const stored_evaluation *row)
{
    return row->result.log.slot_rounds ? row->result.log.slot_rounds : row->result.log.events;
}

/* Groups of one log differ in its options, its events or the request: the title has the first that differs. */
static ee_status add_title(const evaluation_groups *of, size_t place, ee_error *error)
{
    const stored_evaluation *row = of->groups[place].rows[0];
    size_t same_log = 0, same_size = 0, same_all = 0, before = 0;
    bool ambiguous = false;
    for (size_t g = 0; g < of->count; g++) {
        const stored_evaluation *other = of->groups[g].rows[0];
        if (g == place || !same_short(row, other)) continue;
        bool log = strcmp(row->log, other->log) == 0, size = log && count_events(row) == count_events(other);
        bool all = size && strcmp(row->mode, other->mode) == 0 && strcmp(row->interval, other->interval) == 0;
        ambiguous = ambiguous || !log;
        same_log += log;
        same_size += size;
        same_all += all;
        before += all && g < place;
    }
    const char *start = row->log;
    size_t length = strlen(start);
    if (!ambiguous) find_short(row->log, &start, &length);
    text title = text_start(error);
    text_add(&title, "%.*s", (int)length, start);
    if (same_log > same_size) text_add(&title, ", %" PRIu64 " events", count_events(row));
    if (same_size > same_all) text_add(&title, ", %s, %s", row->mode, row->interval);
    if (same_all) text_add(&title, " (%zu)", before + 1);
    of->groups[place].title = title.bytes;
    return title.status;
}

ee_status evaluation_groups_create(const stored_evaluations *from, evaluation_groups *out, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < from->count && !status; i++) {
        const stored_evaluation *row = &from->rows[i];
        size_t g = 0;
        if (!row->estimator_count) continue;
        while (g < out->count && !asked_alike(out->groups[g].rows[0], row)) g++;
        if (g == out->count) {
            status = memory_grow(NULL, &out->groups, &out->capacity, g + 1, sizeof *out->groups, error);
            if (status) return status;
            snprintf(out->groups[g].file, sizeof out->groups[g].file, "log-%zu", ++out->count);
        }
        status = add_row(&out->groups[g], from->count, row, error);
    }
    for (size_t g = 0; g < out->count && !status; g++) status = add_labels(&out->groups[g], error);
    for (size_t g = 0; g < out->count && !status; g++) status = add_title(out, g, error);
    if (!status) number_styles(out);
    return status;
}

void evaluation_groups_release(evaluation_groups *self)
{
    for (size_t g = 0; g < self->count; g++) {
        for (size_t i = 0; self->groups[g].labels && i < self->groups[g].count; i++)
            memory_free(self->groups[g].labels[i]);
        memory_free(self->groups[g].labels);
        memory_free(self->groups[g].styles);
        memory_free(self->groups[g].title);
        memory_free(self->groups[g].rows);
    }
    memory_free(self->groups);
    *self = (evaluation_groups){0};
}

/* ---- CSV ---- */

static void add_real(text *csv, double value)
{
    text_add(csv, isnan(value) ? "," : ",%.10g", value);
}

static void add_csv_row(text *csv, const stored_evaluation *row, size_t k)
{
    const evaluation_result *of = &row->result;
    const estimate *by = &of->estimates[k];
    const double numbers[] = {by->value,
                              by->low,
                              by->high,
                              by->gain,
                              by->gain_low,
                              by->gain_high,
                              by->lambda,
                              of->log.reward,
                              of->facts.effective,
                              of->facts.largest_weight,
                              of->facts.mean_weight,
                              of->facts.unsupported};
    text_csv(csv, row->log);
    text_add(csv, ",%016" PRIx64 ",", of->log.fingerprint);
    text_csv(csv, row->mode);
    text_add(csv, ",%s,%s,%g,", row->model, row->interval, row->confidence);
    text_csv(csv, of->candidate);
    text_add(csv, ",%" PRIu64 ",%" PRIu64 ",%s", of->seed, of->log.events, row->estimators[k]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) add_real(csv, numbers[i]);
    text_add(csv, ",%d,", of->diagnosis.trusted);
    text_csv(csv, of->options ? of->options : "");
    text_add(csv, "\n");
}

ee_status evaluation_csv(const evaluation_groups *of, const char *path, ee_error *error)
{
    text csv = text_start(error);
    text_add(&csv, "log,fingerprint,mode,model,interval,confidence,candidate,seed,events,estimator,value,low,high,gain,"
                   "gain_low,gain_high,lambda,log_reward,effective,largest_weight,mean_weight,unsupported,trusted,"
                   "options\n");
    for (size_t g = 0; g < of->count; g++)
        for (size_t i = 0; i < of->groups[g].count; i++)
            for (size_t k = 0; k < of->groups[g].rows[i]->estimator_count; k++)
                add_csv_row(&csv, of->groups[g].rows[i], k);
    return text_save(&csv, path);
}
