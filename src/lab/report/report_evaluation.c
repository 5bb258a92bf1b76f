#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include "report_evaluation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "chart.h"
#include "page.h"
#include "report_parts.h"

/* ---- numbers ---- */

/* So that the width of the narrowest interval has two digits. */
static int decimals_of(const evaluation_group *group)
{
    double narrowest = INFINITY;
    for (size_t i = 0; i < group->count; i++)
        for (size_t k = 0; k < group->rows[i]->estimator_count; k++) {
            const estimate *by = &group->rows[i]->result.estimates[k];
            if (by->high > by->low) narrowest = fmin(narrowest, by->high - by->low);
        }
    if (!isfinite(narrowest)) return 4;
    return (int)fmin(fmax(1 - floor(log10(narrowest)), 0), 6);
}

static void add_interval(text *page, double low, double high, int decimals, bool is_difference)
{
    void (*add)(text *, double, int) = is_difference ? page_signed : page_number;
    if (isnan(low) || isnan(high)) return;
    text_add(page, " <span class=\"faint\">[");
    add(page, low, decimals);
    text_add(page, ", ");
    add(page, high, decimals);
    text_add(page, "]</span>");
}

static void add_day(text *page, double time)
{
    char day[32] = "";
    struct tm parts;
    time_t seconds = (time_t)time;
    if (gmtime_r(&seconds, &parts)) strftime(day, sizeof day, "%Y-%m-%d", &parts);
    text_add(page, "%s", day);
}

/* ---- terms explained at their first use ---- */

static bool has_estimator(const stored_evaluation *row, const char *name)
{
    for (size_t k = 0; k < row->estimator_count; k++)
        if (strcmp(row->estimators[k], name) == 0) return true;
    return false;
}

static const char *explain_mode(const char *mode)
{
    if (strncmp(mode, "split", 5) == 0)
        return "the candidates learn from the first part of the log and are scored on the rest";
    if (strncmp(mode, "cross", 5) == 0) return "each part of the log is scored with what was learned from the others";
    return "each event is scored before the candidates learn from it";
}

static const char *explain_interval(const char *name)
{
    if (strcmp(name, "cs") == 0) return "anytime-valid: they hold however often you look";
    return "for a log that is looked at once";
}

static const char *explain_estimator(const char *name)
{
    if (strcmp(name, "mrdr") == 0) return "DR with a reward model fitted to minimise its variance";
    estimator_kind kind = estimator_find(name);
    return kind == ESTIMATOR_KINDS ? NULL : estimator_describe(kind)->summary;
}

static void add_explained(text *page, const char *term, const char *meaning, bool is_new)
{
    text_html(page, term);
    if (is_new) text_add(page, " (%s)", meaning);
}

/* The terms that no earlier section has explained. */
typedef struct first_uses {
    bool mode, interval, estimators[EVALUATION_ESTIMATORS];
} first_uses;

static first_uses find_first_uses(const evaluation_groups *of, size_t place)
{
    first_uses out = {.mode = true, .interval = true};
    const stored_evaluation *row = of->groups[place].rows[0];
    for (size_t k = 0; k < row->estimator_count; k++) out.estimators[k] = explain_estimator(row->estimators[k]) != NULL;
    for (size_t g = 0; g < place; g++) {
        const stored_evaluation *other = of->groups[g].rows[0];
        out.mode = out.mode && strcmp(row->mode, other->mode) != 0;
        out.interval = out.interval && strcmp(row->interval, other->interval) != 0;
        for (size_t k = 0; k < row->estimator_count; k++)
            if (has_estimator(other, row->estimators[k])) out.estimators[k] = false;
    }
    return out;
}

/* "10000 events from 2026-01-01 to 2026-01-31; the logging policy earned 0.1 [0.09, 0.11] per event; ..." */
static void add_facts(text *page, const stored_evaluation *row, int decimals, const first_uses *uses)
{
    const evaluated_log *log = &row->result.log;
    text_add(page, "<p class=\"facts\">%" PRIu64 " events", log->slot_rounds ? log->slot_rounds : log->events);
    if (log->slot_rounds) text_add(page, " with %" PRIu64 " slots", log->events);
    if (!isnan(log->first_time) && !isnan(log->last_time)) {
        text_add(page, " from ");
        add_day(page, log->first_time);
        text_add(page, " to ");
        add_day(page, log->last_time);
    }
    text_add(page, "; the logging policy earned ");
    page_number(page, log->reward, decimals);
    add_interval(page, log->rewards.low, log->rewards.high, decimals, false);
    text_add(page, " per %s", log->slot_rounds ? "slot" : "event");
    if (log->learned) text_add(page, "; %" PRIu64 " earlier events used for learning", log->learned);
    if (log->skipped) text_add(page, "; %" PRIu64 " never shown, left out", log->skipped);
    if (log->passed) text_add(page, "; %" PRIu64 " lines skipped", log->passed);
    text_add(page, ". ");
    char left_out[LOG_LEFT_OUT_TEXT];
    log_left_out_format(&log->left_out, log->slot_rounds ? log->slot_rounds : log->events + log->learned, left_out);
    text_add(page, left_out[0] ? "%s " : "%s", left_out);
    if (strncmp(row->log, "csv:", 4) == 0) {
        text_add(page, "Log: ");
        text_html(page, row->log);
        text_add(page, ". ");
    }
    text_html(page, log->columns);
    text_add(page, "%sMode: ", log->columns[0] ? " " : "");
    add_explained(page, row->mode, explain_mode(row->mode), uses->mode);
    text_add(page, "; reward model: ");
    text_html(page, row->model);
    text_add(page, "; %g%% intervals: ", 100 * row->confidence);
    add_explained(page, row->interval, explain_interval(row->interval), uses->interval);
    text_add(page, ".</p>\n");
}

/* The candidate of the headline: the best one other than the logging policy. */
static const stored_evaluation *find_best(const evaluation_group *group)
{
    bool is_logged = strcmp(group->rows[0]->result.candidate, "logged") == 0;
    return group->rows[is_logged && group->count > 1];
}

/* One cell per estimator, with the difference from the logging policy after the headline's. */
static void add_estimates(text *page, const stored_evaluation *row, const estimate *estimates, double logged,
                          int decimals)
{
    size_t lead = evaluations_lead(row);
    for (size_t k = 0; k < row->estimator_count; k++) {
        const estimate *by = &estimates[k];
        text_add(page, "<td>");
        page_number(page, by->value, decimals);
        add_interval(page, by->low, by->high, decimals, false);
        text_add(page, "</td>");
        if (k != lead) continue;
        text_add(page, "<td>");
        page_signed(page, by->gain, decimals);
        add_interval(page, by->gain_low, by->gain_high, decimals, true);
        text_add(page, "</td><td>");
        page_signed(page, logged > 0 ? 100 * by->gain / logged : NAN, 1);
        text_add(page, logged > 0 ? "%%</td>" : "</td>");
    }
}

static void add_slot_rows(text *page, const stored_evaluation *row, int decimals)
{
    for (size_t k = 0; k < row->result.slot_count; k++) {
        const slot_result *slot = &row->result.slots[k];
        text_add(page, "<tr class=\"part\"><th scope=\"row\">slot %zu%s", k + 1, slot->id[0] ? ", " : "");
        text_html(page, slot->id);
        text_add(page, "</th>");
        add_estimates(page, row, slot->estimates, slot->reward, decimals);
        text_add(page, "<td>");
        page_number(page, slot->effective, 0);
        text_add(page, "</td><td></td></tr>\n");
    }
}

static void add_row_of(text *page, const evaluation_group *group, size_t place, int decimals)
{
    const stored_evaluation *row = group->rows[place];
    const evaluation_result *of = &row->result;
    text_add(page, "<tr");
    chart_line_name(page, EVALUATION_PART, group->styles[place]);
    text_add(page, "><th scope=\"row\">");
    chart_swatch(page, group->styles[place]);
    text_html(page, group->labels[place]);
    if (!of->diagnosis.trusted) text_add(page, "<span class=\"tag\">not reliable</span>");
    text_add(page, "</th>");
    add_estimates(page, row, of->estimates, of->log.reward, decimals);
    text_add(page, "<td>");
    page_number(page, of->facts.effective, 0);
    text_add(page, "</td><td>");
    page_amount(page, of->facts.largest_weight);
    text_add(page, "</td></tr>\n");
    add_slot_rows(page, row, decimals);
}

/* "dr: doubly robust: right if ..." */
static void add_estimator_legend(text *page, const stored_evaluation *row, const first_uses *uses)
{
    for (size_t k = 0; k < row->estimator_count; k++) {
        if (!uses->estimators[k]) continue;
        text_add(page, " <b>");
        text_html(page, row->estimators[k]);
        text_add(page, "</b>: %s.", explain_estimator(row->estimators[k]));
    }
}

/* Which candidates are on the Pareto front; free with memory_free. */
static pareto_place *find_fronts(text *page, const evaluation_group *group, size_t lead)
{
    const evaluation_result **results = NULL;
    pareto_place *fronts = NULL;
    page->status = memory_create(NULL, &results, group->count, sizeof *results, page->error);
    if (!page->status) page->status = memory_create(NULL, &fronts, group->count, sizeof *fronts, page->error);
    for (size_t i = 0; i < group->count && !page->status; i++) results[i] = &group->rows[i]->result;
    if (!page->status) pareto_find(results, group->count, lead, fronts);
    memory_free(results);
    return fronts;
}

static void add_front(text *page, const evaluation_group *group, const pareto_place *front)
{
    text_add(page, "<td>");
    if (pareto_is_beaten(front)) text_html(page, group->labels[front->dominator]);
    text_add(page, "%s</td>", pareto_words(front));
}

/* A table of the metrics, by the estimator that the candidates are compared by. */
static void add_metrics(text *page, const evaluation_group *group)
{
    const stored_evaluation *first = group->rows[0];
    size_t lead = evaluations_lead(first), count = first->result.metric_count;
    if (!count || page->status) return;
    pareto_place *fronts = find_fronts(page, group, lead);
    text_add(page, "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">candidate</th>");
    for (size_t k = 0; k < count; k++) {
        text_add(page, "<th scope=\"col\">");
        text_html(page, first->result.metrics[k].name);
        text_add(page, "<br>%s is better</th>", first->result.metrics[k].smaller_better ? "smaller" : "larger");
    }
    text_add(page, "<th scope=\"col\">Pareto front</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < group->count && !page->status; i++) {
        const evaluation_result *of = &group->rows[i]->result;
        text_add(page, "<tr><th scope=\"row\">");
        text_html(page, group->labels[i]);
        text_add(page, "</th>");
        for (size_t k = 0; k < count && k < of->metric_count; k++) {
            const estimate *by = &of->metrics[k].estimates[lead];
            text_add(page, "<td>");
            page_number(page, by->value, 4);
            add_interval(page, by->low, by->high, 4, false);
            text_add(page, "</td>");
        }
        add_front(page, group, &fronts[i]);
        text_add(page, "</tr>\n");
    }
    text_add(
        page,
        "</tbody></table></div>\n<p class=\"legend\">Metrics of the log per event, estimated as the reward is, by ");
    text_html(page, first->estimators[lead]);
    text_add(page, ". Pareto front: no other candidate is at least as good in the reward and all metrics, and better "
                   "in one.</p>\n");
    memory_free(fronts);
}

static void add_table(text *page, const evaluation_group *group, int decimals, const first_uses *uses)
{
    const stored_evaluation *first = group->rows[0];
    size_t lead = evaluations_lead(first);
    text_add(page, "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">candidate</th>");
    for (size_t k = 0; k < first->estimator_count; k++) {
        text_add(page, "<th scope=\"col\">");
        text_add(page, "reward per %s<br>by ", first->result.slot_count ? "slot" : "event");
        text_html(page, first->estimators[k]);
        text_add(page,
                 k != lead
                     ? "</th>"
                     : "</th><th scope=\"col\">difference from<br>logging policy</th><th scope=\"col\">change</th>");
    }
    text_add(page,
             "<th scope=\"col\">effective<br>sample size</th><th scope=\"col\">largest<br>weight</th></tr></thead>\n"
             "<tbody>\n");
    for (size_t i = 0; i < group->count; i++) add_row_of(page, group, i, decimals);
    text_add(
        page,
        "</tbody></table></div>\n<p class=\"legend\">Reward: the mean that the candidate would have earned in "
        "these events, with its %g%% confidence interval, by each estimator. Difference: that minus what "
        "the logging policy earned. Effective sample size: the log is worth as much "
        "as this many events decided by the candidate itself. Largest weight: how many events the most influential one "
        "counts for.",
        100 * first->confidence);
    add_estimator_legend(page, first, uses);
    text_add(page, "</p>\n");
}

static void add_figure(text *page, const evaluation_group *group, evaluation_figure which, const char *results,
                       const char *caption)
{
    text_add(page, "<figure>");
    evaluation_chart(page, group, which, caption);
    text_add(page, "<figcaption>%s", caption);
    char *name = NULL;
    if (!page->status) page->status = evaluation_figure_name(group, which, &name, page->error);
    if (!page->status) figure_link(page, results, name);
    memory_free(name);
    text_add(page, "</figcaption></figure>\n");
}

static bool says(const stored_evaluation *row, const char *sentence)
{
    const diagnosis_report *report = &row->result.diagnosis;
    for (size_t k = 0; k < report->count; k++)
        if (strcmp(report->sentences[k].text, sentence) == 0) return true;
    return false;
}

static bool all_say(const evaluation_group *group, const char *sentence)
{
    for (size_t i = 0; i < group->count; i++)
        if (!says(group->rows[i], sentence)) return false;
    return true;
}

/* The sentences that all candidates share, or only those about this candidate. */
static void add_sentences(text *page, const evaluation_group *group, size_t place, bool shared)
{
    const diagnosis_report *report = &group->rows[place]->result.diagnosis;
    for (size_t k = 0; k < report->count; k++) {
        const diagnosis_sentence *one = &report->sentences[k];
        if (all_say(group, one->text) != shared) continue;
        text_add(page, one->grave ? "<li class=\"note\"><b>" : "<li><b>");
        text_html(page, shared ? "All candidates" : group->labels[place]);
        text_add(page, ":</b> ");
        text_html(page, one->text);
        text_add(page, "</li>\n");
    }
}

/* Whether the candidate has a sentence that is no problem at all. */
static bool is_clean(const stored_evaluation *row)
{
    return says(row, diagnosis_no_problems);
}

/* "Yes.", "Yes, with a caution:", "Yes, except for linucb:" or "No:", before the sentences. */
static void add_answer(text *page, const evaluation_group *group)
{
    size_t unreliable = 0, reliable = 0, clean = 0, named = 0;
    for (size_t i = 0; i < group->count; i++) {
        bool trusted = group->rows[i]->result.diagnosis.trusted;
        unreliable += !trusted;
        reliable += trusted && strcmp(group->rows[i]->result.candidate, "logged") != 0;
        clean += is_clean(group->rows[i]);
    }
    text_add(page, "<p><b>");
    if (unreliable && !reliable)
        text_add(page, "No:");
    else if (!unreliable)
        text_add(page, clean == group->count ? "Yes." : "Yes, with a caution:");
    else
        text_add(page, "Yes, except for ");
    for (size_t i = 0; i < group->count && reliable; i++) {
        if (group->rows[i]->result.diagnosis.trusted) continue;
        text_add(page, !named ? "" : named + 1 == unreliable ? " and " : ", ");
        text_html(page, group->labels[i]);
        text_add(page, ++named == unreliable ? ":" : "");
    }
    text_add(page, "</b>%s</p>\n", clean == group->count ? " No problems found." : "");
}

static void add_diagnosis(text *page, const evaluation_group *group)
{
    bool clean = true;
    text_add(page, "<h3>Can you trust these numbers?</h3>\n");
    add_answer(page, group);
    for (size_t i = 0; i < group->count; i++) clean = clean && is_clean(group->rows[i]);
    if (clean) return;
    text_add(page, "<ul>\n");
    add_sentences(page, group, 0, true);
    for (size_t i = 0; i < group->count; i++) add_sentences(page, group, i, false);
    text_add(page, "</ul>\n");
}

/* Whether the candidate can be compared with the best, and their intervals overlap. */
static bool overlaps(const stored_evaluation *best, const stored_evaluation *row)
{
    const estimate *a = &best->result.estimates[evaluations_lead(best)];
    const estimate *b = &row->result.estimates[evaluations_lead(row)];
    bool judged = row->result.diagnosis.trusted && strcmp(row->result.candidate, "logged") != 0;
    return judged && a->low <= b->high && b->low <= a->high;
}

/* "eenet and linucb cannot be told apart: their 95% intervals overlap."; of more, "eenet cannot be told apart from
 * linucb and first: ...". */
static void add_alike(text *page, const evaluation_group *group)
{
    const stored_evaluation *best = find_best(group);
    size_t count = 0, named = 0;
    for (size_t i = 0; i < group->count; i++) count += overlaps(best, group->rows[i]);
    if (count < 2 || !overlaps(best, best)) return;
    text_add(page, "<p>");
    for (size_t i = 0; i < group->count; i++) {
        if (!overlaps(best, group->rows[i])) continue;
        bool second = named == 1 && count > 2;
        text_add(page, !named ? "" : second ? " cannot be told apart from " : named + 1 == count ? " and " : ", ");
        text_html(page, group->labels[i]);
        named++;
    }
    text_add(page, "%s: their %g%% intervals overlap.</p>\n", count == 2 ? " cannot be told apart" : "",
             100 * best->confidence);
}

static void add_section(text *page, const evaluation_groups *of, size_t number, const char *results)
{
    const evaluation_group *group = &of->groups[number];
    const stored_evaluation *first = group->rows[0];
    first_uses uses = find_first_uses(of, number);
    int decimals = decimals_of(group);
    text_add(page, "<section>\n<h2 id=\"%s\">Evaluation of ", group->file);
    text_html(page, group->title);
    text_add(page, "</h2>\n<p class=\"headline\">");
    text_html(page, find_best(group)->result.headline);
    text_add(page, "</p>\n");
    add_alike(page, group);
    add_facts(page, first, decimals, &uses);
    add_diagnosis(page, group);
    add_table(page, group, decimals, &uses);
    add_metrics(page, group);
    add_figure(
        page, group, EVALUATION_FIGURE_VALUE, results,
        "Estimated reward of each candidate as the log grows; the bands are confidence intervals. The dotted line "
        "is what the logging policy earned.");
    add_figure(
        page, group, EVALUATION_FIGURE_WEIGHTS, results,
        "How much the events count for each candidate. Weight 0: it would not have chosen the logged action. Weight "
        "2: it would have chosen it twice as often as the logging policy. If a few large weights dominate, the "
        "estimate depends on luck. If the log has all probabilities, a second chart shows how likely the "
        "logging policy was to make the candidate's choices: those it never makes cannot be evaluated.");
    text_add(page, "</section>\n");
}

void evaluation_links(text *page, const evaluation_groups *of)
{
    for (size_t g = 0; g < of->count; g++) {
        text_add(page, "<a href=\"#%s\">", of->groups[g].file);
        text_html(page, of->groups[g].title);
        text_add(page, "</a>");
    }
}

void evaluation_sections(text *page, const evaluation_groups *of, const char *results)
{
    for (size_t g = 0; g < of->count; g++) add_section(page, of, g, results);
}
