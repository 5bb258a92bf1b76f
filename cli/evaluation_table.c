#include "evaluation_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "command.h"
#include "evaluate/evaluations/pareto.h"

enum { COLUMNS = 7, CELL = 64 };

/* One line of the table. */
typedef struct row {
    char cells[COLUMNS][CELL];
    bool best;
} row;

/* Decimals: four significant digits of the log's mean reward. */
static int find_decimals(const evaluation_result *of)
{
    enum { FEWEST = 1, MOST = 9, COUNTING = 4 };
    double size = fabs(of->log.reward);
    if (!(size > 0.0)) size = fmax(fabs(of->log.range.reward_low), fabs(of->log.range.reward_high));
    int decimals = size > 0.0 ? COUNTING - 1 - (int)floor(log10(size)) : COUNTING;
    return decimals < FEWEST ? FEWEST : decimals > MOST ? MOST : decimals;
}

static void format_number(char *cell, const char *sign, int decimals, double value)
{
    if (isnan(value))
        snprintf(cell, CELL, "-");
    else
        snprintf(cell, CELL, sign[0] ? "%+.*f" : "%.*f", decimals, value);
}

static void format_interval(char *cell, const char *sign, int decimals, double low, double high)
{
    char ends[2][CELL];
    format_number(ends[0], sign, decimals, low);
    format_number(ends[1], sign, decimals, high);
    if (isnan(low) || isnan(high))
        snprintf(cell, CELL, "-");
    else
        snprintf(cell, CELL, "%.28s to %.28s", ends[0], ends[1]);
}

static bool is_repeated(const evaluation_request *request, size_t place)
{
    const candidate_request *all = request->candidates;
    size_t same = 0;
    for (size_t i = 0; i < request->candidate_count; i++) same += strcmp(all[i].text, all[place].text) == 0;
    return same > 1;
}

static void name_row(const evaluation_request *request, size_t place, char *cell)
{
    const candidate_request *one = &request->candidates[place];
    if (is_repeated(request, place))
        snprintf(cell, CELL, "%.30s seed %" PRIu64, one->text, one->seed);
    else
        snprintf(cell, CELL, "%.60s", one->text);
}

static void fill_row(const evaluation_request *request, const evaluation_result *of, const estimate *found,
                     double logged, size_t index, row *into)
{
    int decimals = find_decimals(of);
    snprintf(into->cells[1], CELL, "%s", estimator_request_name(request->estimators[index]));
    format_number(into->cells[2], "", decimals, found->value);
    format_interval(into->cells[3], "", decimals, found->low, found->high);
    format_number(into->cells[4], "+", decimals, found->gain);
    format_interval(into->cells[5], "+", decimals, found->gain_low, found->gain_high);
    double percent = logged > 0.0 ? 100.0 * found->gain / logged : (double)NAN;
    format_number(into->cells[6], "+", 1, percent);
    if (!isnan(percent)) strcat(into->cells[6], "%");
}

/* The rows of a candidate: one per estimator, then the same for each slot. Returns their number. */
static size_t fill_candidate(const evaluation_request *request, const evaluation_result *of, row *rows)
{
    size_t used = 0;
    for (size_t i = 0; i < request->estimator_count; i++)
        fill_row(request, of, &of->estimates[i], of->log.reward, i, &rows[used++]);
    for (size_t k = 0; k < of->slot_count; k++) {
        const slot_result *slot = &of->slots[k];
        snprintf(rows[used].cells[0], CELL, slot->id[0] ? "  slot %zu, %.40s" : "  slot %zu", k + 1, slot->id);
        for (size_t i = 0; i < request->estimator_count; i++)
            fill_row(request, of, &slot->estimates[i], slot->reward, i, &rows[used++]);
    }
    return used;
}

/* The header row, with "95% interval". */
static void fill_head(const evaluation_request *request, row *head)
{
    static const char *const names[COLUMNS] = {"candidate", "estimator", "value", "", "difference", "", "percent"};
    for (size_t i = 0; i < COLUMNS; i++) snprintf(head->cells[i], CELL, "%s", names[i]);
    for (size_t i = 3; i < COLUMNS; i += 2)
        snprintf(head->cells[i], CELL, "%.4g%% interval", 100.0 * (1.0 - request->alpha));
}

/* Text is aligned left, numbers right. */
static void print_rows(const row *rows, size_t count)
{
    size_t widths[COLUMNS] = {0};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < COLUMNS; k++) widths[k] = command_wider(widths[k], rows[i].cells[k]);
    for (size_t i = 0; i < count; i++) {
        printf("%c", rows[i].best ? '*' : ' ');
        for (size_t k = 0; k < COLUMNS; k++)
            printf("%s%*s", k ? "  " : " ", k < 2 ? -(int)widths[k] : (int)widths[k], rows[i].cells[k]);
        printf("\n");
    }
}

static void print_head(const evaluation_request *request, const evaluation_result *of)
{
    const evaluated_log *log = &of->log;
    char mean[CELL], ends[CELL];
    format_number(mean, "", find_decimals(of), log->reward);
    format_interval(ends, "", find_decimals(of), log->rewards.low, log->rewards.high);
    printf("%s: %" PRIu64 " events", request->log, log->slot_rounds ? log->slot_rounds : log->events);
    if (log->slot_rounds) printf(" with %" PRIu64 " slots", log->events);
    if (log->learned) printf(", after %" PRIu64 " used for learning", log->learned);
    if (log->skipped) printf(", %" PRIu64 " never shown left out", log->skipped);
    if (log->passed) printf(", %" PRIu64 " lines skipped ('eenet log' lists them)", log->passed);
    printf("\n");
    char left_out[LOG_LEFT_OUT_TEXT];
    log_left_out_format(&log->left_out, log->slot_rounds ? log->slot_rounds : log->events + log->learned, left_out);
    if (left_out[0]) command_print_wrapped(left_out, 0, command_line_width());
    if (log->columns[0]) command_print_wrapped(log->columns, 0, command_line_width());
    printf("The logging policy earned %s per %s (%.4g%% interval: %s).\n", mean, log->slot_rounds ? "slot" : "event",
           100.0 * (1.0 - request->alpha), ends);
}

static void print_sentence(const diagnosis_sentence *one)
{
    printf("  %c ", one->grave ? '!' : '-');
    command_print_wrapped(one->text, 4, command_line_width());
}

/* Whether a candidate before this one has the same sentence. */
static bool was_said(const evaluation_result *results, size_t place, const char *text)
{
    bool said = false;
    for (size_t i = 0; i < place; i++)
        for (size_t k = 0; results[i].finished && k < results[i].diagnosis.count; k++)
            said = said || strcmp(results[i].diagnosis.sentences[k].text, text) == 0;
    return said;
}

/* Sentences about the log, each once. */
static void print_about_log(const evaluation_request *request, const evaluation_result *results)
{
    for (size_t i = 0; i < request->candidate_count; i++)
        for (size_t k = 0; results[i].finished && k < results[i].diagnosis.count; k++) {
            const diagnosis_sentence *one = &results[i].diagnosis.sentences[k];
            if (!one->log || was_said(results, i, one->text)) continue;
            print_sentence(one);
        }
}

static void print_about_candidates(const evaluation_request *request, const evaluation_result *results)
{
    for (size_t i = 0; i < request->candidate_count; i++) {
        const evaluation_result *of = &results[i];
        if (!of->finished) continue;
        printf("\n");
        command_print_wrapped(of->headline, 0, command_line_width());
        for (size_t k = 0; k < of->diagnosis.count; k++)
            if (!of->diagnosis.sentences[k].log) print_sentence(&of->diagnosis.sentences[k]);
    }
}

/* ---- metrics ---- */

/* Decimals: four significant digits of the logging policy's mean. */
static int metric_decimals(const metric_result *of)
{
    evaluation_result one = {.log = {.reward = of->logged, .range = of->range}};
    return find_decimals(&one);
}

/* "0.1234 (0.1 to 0.15)" */
static void format_estimate(char *cell, int decimals, const estimate *found)
{
    char value[CELL], ends[CELL];
    format_number(value, "", decimals, found->value);
    format_interval(ends, "", decimals, found->low, found->high);
    snprintf(cell, CELL, ends[0] == '-' && !ends[1] ? "%.20s" : "%.20s (%.40s)", value, ends);
}

/* One cell of the table of metrics: column 0 has the names, 1 the reward, then the metrics, and last the Pareto front.
 */
static void format_metric_cell(const evaluation_request *request, const evaluation_result *results, size_t place,
                               size_t column, const pareto_place *front, char *cell)
{
    const evaluation_result *of = &results[place];
    size_t lead = evaluation_headline_estimator(request) % request->estimator_count;
    char name[CELL];
    if (column == 0) {
        name_row(request, place, cell);
    } else if (column == 1) {
        format_estimate(cell, find_decimals(of), &of->estimates[lead]);
    } else if (column < 2 + of->metric_count) {
        const metric_result *metric = &of->metrics[column - 2];
        format_estimate(cell, metric_decimals(metric), &metric->estimates[lead]);
    } else {
        bool beaten = pareto_is_beaten(front);
        if (beaten) name_row(request, front->dominator, name);
        snprintf(cell, CELL, "%.30s%s", beaten ? name : "", pareto_words(front));
    }
}

static void format_metric_head(const evaluation_result *of, size_t column, char *cell)
{
    if (column >= 2 && column < 2 + of->metric_count)
        snprintf(cell, CELL, "%.40s (%s is better)", of->metrics[column - 2].name,
                 of->metrics[column - 2].smaller_better ? "smaller" : "larger");
    else
        snprintf(cell, CELL, "%s", column == 0 ? "candidate" : column == 1 ? "reward" : "Pareto front");
}

static void print_metrics(const evaluation_request *request, const evaluation_result *results, size_t shown,
                          const pareto_place *fronts)
{
    const evaluation_result *first = &results[shown];
    size_t widths[EVALUATION_METRICS + 3] = {0}, columns = first->metric_count + 3;
    size_t lead = evaluation_headline_estimator(request) % request->estimator_count;
    char cell[CELL];
    printf("\nMetrics by %s, with %.4g%% intervals:\n", estimator_request_name(request->estimators[lead]),
           100.0 * (1.0 - request->alpha));
    for (int printed = 0; printed < 2; printed++)
        for (size_t line = 0; line <= request->candidate_count; line++) {
            if (line && !results[line - 1].finished) continue;
            for (size_t k = 0; k < columns; k++) {
                if (line)
                    format_metric_cell(request, results, line - 1, k, &fronts[line - 1], cell);
                else
                    format_metric_head(first, k, cell);
                if (printed)
                    printf("%s%-*s", "  ", k + 1 < columns ? (int)widths[k] : 0, cell);
                else
                    widths[k] = command_wider(widths[k], cell);
            }
            if (printed) printf("\n");
        }
    for (size_t i = 0; i < first->metric_count; i++)
        if (first->metrics[i].events != first->log.events)
            printf("  - Only %" PRIu64 " of %" PRIu64 " events have the metric '%s'; the others are left out of it.\n",
                   first->metrics[i].events, first->log.events, first->metrics[i].name);
    if (first->log.metrics_left)
        printf("  - The log has %" PRIu64 " more metrics; choose with --metrics.\n", first->log.metrics_left);
}

ee_status evaluation_table_print(const evaluation_request *request, const evaluation_result *results, ee_error *error)
{
    row *rows = NULL;
    pareto_place *fronts = NULL;
    size_t estimators = request->estimator_count, used = 0, shown = request->candidate_count;
    size_t best = evaluation_best(request, results, false);
    size_t slots = 0;
    for (size_t i = 0; i < request->candidate_count; i++) slots += 1 + results[i].slot_count;
    ee_status status = memory_create(NULL, &rows, 1 + slots * estimators, sizeof *rows, error);
    if (!status) status = pareto_create(request, results, &fronts, error);
    if (status) {
        memory_free(rows);
        return status;
    }
    fill_head(request, &rows[used++]);
    for (size_t i = 0; i < request->candidate_count; i++) {
        if (!results[i].finished) continue;
        if (shown == request->candidate_count) shown = i;
        name_row(request, i, rows[used].cells[0]);
        rows[used].best = i == best && request->candidate_count > 1;
        used += fill_candidate(request, &results[i], rows + used);
    }
    if (shown < request->candidate_count) {
        print_head(request, &results[shown]);
        print_about_log(request, results);
        printf("\n");
        print_rows(rows, used);
        if (fronts) print_metrics(request, results, shown, fronts);
        print_about_candidates(request, results);
    }
    memory_free(rows);
    memory_free(fronts);
    return EE_OK;
}
