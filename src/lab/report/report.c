#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "chart.h"
#include "lab/runs/host.h"
#include "page.h"
#include "report_parts.h"
#include "run_chart.h"

ee_status report_figures(const summary *of, const char *folder, size_t *count, ee_error *error)
{
    *count = 0;
    for (size_t g = 0; g < of->results.count; g++)
        for (figure_kind kind = FIGURE_REGRET; kind < FIGURE_KINDS; kind++) {
            if (!figure_has(&of->results.groups[g], kind)) continue;
            ee_status status = run_figure(&of->results.groups[g], kind, folder, error);
            if (status) return status;
            ++*count;
        }
    return EE_OK;
}

/* ---- versions and machines ---- */

static bool same_text(const char *left, const char *right)
{
    return left == right || (left && right && strcmp(left, right) == 0);
}

static bool same_program(const stored_run *left, const stored_run *right)
{
    return same_text(left->version, right->version) && same_text(left->kernels, right->kernels) &&
           same_text(left->machine, right->machine);
}

/* The versions and machines of the runs. */
static void add_programs(text *page, const summary *of)
{
    const stored_run *shown[8];
    size_t count = 0;
    for (size_t g = 0; g < of->results.count; g++)
        for (size_t i = 0; i < of->results.groups[g].count; i++) {
            const summary_cell *cell = &of->results.groups[g].cells[i];
            for (size_t k = 0; k < cell->count; k++) {
                const stored_run *run = cell->runs[k];
                size_t known = 0;
                while (known < count && !same_program(shown[known], run)) known++;
                if (known < count || count == sizeof shown / sizeof shown[0]) continue;
                text_add(page, count ? "; eenet " : "eenet ");
                text_html(page, run->version);
                text_add(page, " ");
                text_html(page, run->kernels);
                if (run->machine) text_add(page, " on ");
                if (run->machine) text_html(page, run->machine);
                shown[count++] = run;
            }
        }
}

/* The program and the time, from SOURCE_DATE_EPOCH if set, so that the same results can give the same bytes
 * (https://reproducible-builds.org/specs/source-date-epoch/). */
static void add_byline(text *page)
{
    const char *given = getenv("SOURCE_DATE_EPOCH");
    time_t now = given ? (time_t)strtoll(given, NULL, 10) : time(NULL);
    char moment[40] = "";
    struct tm parts;
    if (gmtime_r(&now, &parts)) strftime(moment, sizeof moment, "%Y-%m-%d %H:%M UTC", &parts);
    text_add(page, "<p class=\"facts byline\">Made %s by eenet %s on ", moment, ee_version());
    text_html(page, host_describe());
    text_add(page, ".</p>\n");
}

/* ---- title, overview and what was run ---- */

static bool is_played_before(const summary_groups *list, size_t group, size_t cell)
{
    const char *policy = list->groups[group].cells[cell].runs[0]->policy;
    for (size_t g = 0; g <= group; g++)
        for (size_t i = 0; i < (g < group ? list->groups[g].count : cell); i++)
            if (strcmp(list->groups[g].cells[i].runs[0]->policy, policy) == 0) return true;
    return false;
}

static size_t count_policies(const summary_groups *list)
{
    size_t count = 0;
    for (size_t g = 0; g < list->count; g++)
        for (size_t i = 0; i < list->groups[g].count; i++) count += !is_played_before(list, g, i);
    return count;
}

static void write_title(text *title, const summary *of, const evaluation_groups *evaluations)
{
    if (of->results.count) {
        size_t policies = count_policies(&of->results);
        report_plural(title, policies, "policy", "policies");
        text_add(title, policies > 1 ? " compared on " : " on ");
        report_plural(title, of->results.count, "data set", "data sets");
        return;
    }
    text_add(title, "What ");
    report_plural(title, evaluation_candidates(evaluations), "candidate", "candidates");
    text_add(title, " would have earned");
}

static void add_run_links(text *page, const summary *of)
{
    text_add(page, "<a href=\"#overview\">Overview</a>");
    for (size_t g = 0; g < of->results.count; g++) {
        text_add(page, "<a href=\"#%s\">", of->results.groups[g].file);
        text_html(page, of->results.groups[g].title);
        text_add(page, "</a>");
    }
    text_add(page,
             "%s<a href=\"#settings\">Settings</a><a href=\"#reproduce\">Reproduce</a>"
             "<a href=\"#notes\">What the columns mean</a>",
             of->grids.count ? "<a href=\"#grid\">Grid</a>" : "");
}

static void add_title(text *page, const summary *of, const evaluation_groups *evaluations)
{
    text title = text_start(page->error);
    write_title(&title, of, evaluations);
    if (title.status)
        page->status = title.status;
    else
        page_begin(page, title.bytes);
    text_add(page, "<h1>%s</h1>\n", title.bytes ? title.bytes : "");
    report_headlines(page, of);
    text_add(page, "<p class=\"lead\">%s</p>\n<nav>",
             of->results.count
                 ? "In each round a policy chooses one of several arms and sees only the reward of that arm. "
                   "<b>Regret</b> is "
                   "the total reward it lost by not always choosing the best arm: lower is better. The policy with "
                   "the lowest mean regret <b>leads</b>; its lead is <b>significant</b> if chance is an unlikely "
                   "explanation (p below 0.05). All policies face the same rounds for each seed."
                 : "Off-policy evaluation estimates what other policies would have earned on the events of a log. The "
                   "log has each decision, its probability and its reward.");
    memory_free(title.bytes);
    if (of->results.count) add_run_links(page, of);
    evaluation_links(page, evaluations);
    text_add(page, "</nav>\n");
    add_byline(page);
}

static void add_what_was_run(text *page, const summary *of)
{
    static const column columns[] = {{"data set", 0}, {"features per arm", 0}, {"arms", 0},     {"rounds", 0},
                                     {"seeds", 0},    {"policies", 0},         {"ablations", 0}};
    text_add(page, "<h3>What was run</h3>\n<div class=\"scroll\"><table>\n");
    report_head(page, columns, sizeof columns / sizeof columns[0]);
    text_add(page, "<tbody>\n");
    for (size_t g = 0; g < of->results.count; g++) {
        const summary_group *group = &of->results.groups[g];
        size_t shown = report_count(group, SUMMARY_MAIN);
        text_add(page, "<tr><th scope=\"row\"><a href=\"#%s\">", group->file);
        text_html(page, group->label);
        text_add(page, "</a></th><td>%zu</td><td>%zu</td><td>%" PRIu64 "</td><td>", group->first->dim,
                 group->first->arms, group->first->rounds);
        report_seeds(page, group, NULL);
        text_add(page, "</td><td>%zu</td><td>%zu</td></tr>\n", shown, group->count - shown);
    }
    text_add(page, "</tbody></table></div>\n<p class=\"legend\">Run with ");
    add_programs(page, of);
    text_add(page, ".</p>\n");
}

static const summary_cell *cell_of_style(const summary_group *group, size_t style)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->cells[i].labels[SUMMARY_MAIN] && group->cells[i].style == style &&
            (style || i == group->references[SUMMARY_MAIN]))
            return &group->cells[i];
    return NULL;
}

/* The rank of a policy over the data sets on which it ran. */
typedef struct standing {
    size_t style;
    size_t played; /* number of data sets */
    double rank;   /* mean over them; 1 for the lowest regret of a data set */
} standing;

static standing standing_of(const summary_groups *list, size_t style)
{
    standing out = {style, 0, 0.0};
    for (size_t g = 0; g < list->count; g++) {
        const summary_cell *cell = cell_of_style(&list->groups[g], style);
        if (!cell) continue;
        out.played++;
        out.rank += 1.0;
        for (size_t i = 0; i < list->groups[g].count; i++) {
            const summary_cell *other = &list->groups[g].cells[i];
            if (other == cell || !other->labels[SUMMARY_MAIN]) continue;
            out.rank += other->mean < cell->mean ? 1.0 : other->mean == cell->mean ? 0.5 : 0.0;
        }
    }
    if (out.played) out.rank /= (double)out.played;
    return out;
}

/* Whether the difference from the reference is significant, as a mark. */
static const char *mark_of(const summary_cell *cell)
{
    if (!cell->against.pairs) return "&ensp;";
    return !cell->testable ? "?" : report_is_significant(cell) ? "&ensp;" : "≈";
}

static void add_overview_row(text *page, const summary_groups *list, size_t style)
{
    const char *label = NULL;
    for (size_t g = 0; g < list->count && !label; g++) {
        const summary_cell *cell = cell_of_style(&list->groups[g], style);
        if (cell) label = cell->labels[SUMMARY_MAIN];
    }
    if (!label) return;
    text_add(page, "<tr%s", style ? "" : " class=\"reference\"");
    run_chart_line_name(page, SUMMARY_MAIN, style);
    text_add(page, "><th scope=\"row\">");
    chart_swatch(page, style);
    text_html(page, label);
    text_add(page, "%s</th>", style ? "" : "<span class=\"tag\">reference</span>");
    for (size_t g = 0; g < list->count; g++) {
        const summary_group *group = &list->groups[g];
        const summary_cell *cell = cell_of_style(group, style);
        text_add(page, cell ? "<td>" : "<td><span class=\"faint\">–</span>");
        if (cell) {
            int decimals = report_decimals(group);
            text_add(page, cell->best ? "<b>" : "");
            page_number(page, cell->mean, decimals);
            text_add(page, cell->best ? "</b>" : "");
            text_add(page, " <span class=\"faint\">");
            if (cell->count > 1) text_add(page, "± ");
            if (cell->count > 1) page_number(page, cell->deviation, decimals);
            text_add(page, " %s</span>", mark_of(cell));
        }
        text_add(page, "</td>");
    }
    if (list->count > 1) text_add(page, "<td>");
    if (list->count > 1) page_number(page, standing_of(list, style).rank, 1);
    text_add(page, list->count > 1 ? "</td></tr>\n" : "</tr>\n");
}

static int by_standing(const void *left, const void *right)
{
    const standing *a = left, *b = right;
    if (a->played != b->played) return a->played > b->played ? -1 : 1;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return (a->style > b->style) - (a->style < b->style);
}

static void add_overview_rows(text *page, const summary_groups *list)
{
    standing *order; /* (count) */
    size_t count = report_styles(list);
    ee_status status = memory_create(NULL, &order, count, sizeof *order, page->error);
    if (status) {
        page->status = status;
        return;
    }
    for (size_t style = 0; style < count; style++) order[style] = standing_of(list, style);
    qsort(order, count, sizeof *order, by_standing);
    for (size_t i = 0; i < count; i++) add_overview_row(page, list, order[i].style);
    memory_free(order);
}

static bool is_compared(const summary_groups *list)
{
    for (size_t g = 0; g < list->count; g++)
        for (size_t i = 0; i < list->groups[g].count; i++)
            if (list->groups[g].cells[i].against.pairs) return true;
    return false;
}

static void add_overview(text *page, const summary *of)
{
    const summary_groups *list = &of->results;
    text_add(page, "<h2 id=\"overview\">Overview</h2>\n<div class=\"scroll\"><table class=\"overview\">\n<thead><tr>"
                   "<th scope=\"col\">policy</th>");
    for (size_t g = 0; g < list->count; g++) {
        text_add(page, "<th scope=\"col\">");
        text_html(page, list->groups[g].title);
        text_add(page, "</th>");
    }
    text_add(page, "%s</tr></thead>\n<tbody>\n", list->count > 1 ? "<th scope=\"col\">mean rank</th>" : "");
    add_overview_rows(page, list);
    text_add(page,
             "</tbody></table></div>\n<p class=\"legend\">Mean regret<sup><a href=\"#note-1\">1</a></sup> ± "
             "standard deviation over the seeds; lower is better. %s <b>Bold</b>: lowest mean of the column, among "
             "policies that ran all its seeds.%s</p>\n",
             list->count > 1 ? "Sorted by mean rank; the lowest regret on a data set has rank 1." : "Lowest first.",
             is_compared(list) ? " ≈: not significantly different from the reference (paired sign-flip test, "
                                 "Holm-corrected within the data set, p of 0.05 or more). ?: not tested. "
                                 "No mark: significantly different."
                               : "");
}

static void add_runs(text *page, const summary *of, const char *results)
{
    report_warnings(page, of);
    add_overview(page, of);
    add_what_was_run(page, of);
    for (size_t g = 0; g < of->results.count; g++) report_group(page, &of->results.groups[g], results);
    report_grids(page, of);
    report_settings(page, of);
    report_commands(page, of);
    report_notes(page);
}

ee_status report_page(const summary *of, const evaluation_groups *evaluations, const char *folder, const char *path,
                      ee_error *error)
{
    char *results = NULL;
    text page = text_start(error);
    page.status = figure_link_folder(folder, path, &results, error);
    add_title(&page, of, evaluations);
    evaluation_sections(&page, evaluations, results);
    if (of->results.count) add_runs(&page, of, results);
    page_end(&page);
    memory_free(results);
    return text_save(&page, path);
}
