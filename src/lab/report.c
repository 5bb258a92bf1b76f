#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "chart.h"
#include "figure.h"
#include "page.h"
#include "report_parts.h"
#include "run_chart.h"

ee_status report_figures(const summary *of, const char *folder, size_t *count, ee_error *error)
{
    *count = 0;
    for (size_t g = 0; g < of->results.count; g++)
        for (figure_kind kind = FIGURE_REGRET; kind < FIGURE_KINDS; kind++) {
            if (!figure_has(&of->results.groups[g], kind)) continue;
            ee_status status = figure_draw(&of->results.groups[g], kind, folder, error);
            if (status) return status;
            ++*count;
        }
    return EE_OK;
}

/* ---- what the page is about ---- */

static size_t most_seeds(const summary_group *group)
{
    size_t most = 0;
    for (size_t i = 0; i < group->count; i++)
        if (group->cells[i].count > most) most = group->cells[i].count;
    return most;
}

static void add_versions(text *page, const summary *of)
{
    const char *shown[8];
    size_t count = 0;
    for (size_t g = 0; g < of->results.count; g++)
        for (size_t i = 0; i < of->results.groups[g].count; i++) {
            const summary_cell *cell = &of->results.groups[g].cells[i];
            for (size_t k = 0; k < cell->count; k++) {
                const char *version = cell->runs[k]->version ? cell->runs[k]->version : "of unknown version";
                size_t known = 0;
                while (known < count && strcmp(shown[known], version) != 0) known++;
                if (known < count || count == sizeof shown / sizeof shown[0]) continue;
                text_add(page, count ? "; eenet " : "eenet ");
                text_html(page, version);
                shown[count++] = version;
            }
        }
}

/* ---- the first part: what was run, and all data sets at one glance ---- */

static size_t count_styles(const summary_groups *list)
{
    size_t most = 0;
    for (size_t g = 0; g < list->count; g++)
        for (size_t i = 0; i < list->groups[g].count; i++)
            if (list->groups[g].cells[i].labels[SUMMARY_MAIN] && list->groups[g].cells[i].style + 1 > most)
                most = list->groups[g].cells[i].style + 1;
    return most;
}

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
        text_add(title, "Regret of ");
        report_plural(title, count_policies(&of->results), "policy", "policies");
        text_add(title, " on ");
        report_plural(title, of->results.count, "data set", "data sets");
        return;
    }
    size_t candidates = 0;
    for (size_t g = 0; g < evaluations->count; g++) candidates += evaluations->groups[g].count;
    text_add(title, "What ");
    report_plural(title, candidates, "candidate", "candidates");
    text_add(title, " would have earned");
}

static void add_run_links(text *page, const summary *of)
{
    text_add(page, "<a href=\"#overview\">Overview</a>");
    for (size_t g = 0; g < of->results.count; g++) {
        text_add(page, "<a href=\"#%s\">", of->results.groups[g].file);
        text_html(page, of->results.groups[g].label);
        text_add(page, "</a>");
    }
    text_add(page,
             "%s<a href=\"#settings\">Settings</a><a href=\"#reproduce\">Reproduce</a>"
             "<a href=\"#notes\">Columns</a>",
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
    text_add(page, "<h1>%s</h1>\n<p class=\"lead\">%s</p>\n<nav>", title.bytes ? title.bytes : "",
             of->results.count
                 ? "Contextual bandits: in each round a policy sees some arms, plays one and learns its reward alone. "
                   "Policies with the same seed meet the same rounds."
                 : "Off-policy evaluation: a log tells what one policy chose, how probably, and what came of it. From "
                   "that follows what another policy would have earned in the same events.");
    memory_free(title.bytes);
    if (of->results.count) add_run_links(page, of);
    evaluation_links(page, evaluations);
    text_add(page, "</nav>\n");
}

/* With n pairs no p is below 2 / 2^n, and Holm's correction multiplies the smallest by the number of comparisons. */
static void warn_of_few_seeds(text *page, const summary_group *group)
{
    size_t tests = 0, pairs = 0;
    for (size_t i = 0; i < group->count; i++) {
        const summary_cell *cell = &group->cells[i];
        if (!cell->labels[SUMMARY_MAIN] || !cell->against.pairs) continue;
        tests++;
        if (cell->against.pairs > pairs) pairs = cell->against.pairs;
    }
    size_t needed = 1;
    while (tests && (double)tests * exp2(1.0 - (double)needed) >= SUMMARY_LEVEL) needed++;
    if (!tests || pairs >= needed) return;
    text_add(page, "<p class=\"note\"><b>");
    text_html(page, group->label);
    text_add(page, "</b>: ");
    report_plural(page, pairs, "seed is", "seeds are");
    text_add(page, " too few for a test: whatever the numbers, no difference can be significant. With ");
    report_plural(page, tests, "comparison", "comparisons");
    text_add(page, " it takes at least %zu seeds.</p>\n", needed);
}

static void warn_of_missing_runs(text *page, const summary_group *group)
{
    size_t most = most_seeds(group);
    bool begun = false;
    for (size_t i = 0; i < group->count; i++) {
        const summary_cell *cell = &group->cells[i];
        if (cell->count == most) continue;
        if (!begun) {
            text_add(page, "<p class=\"note\"><b>");
            text_html(page, group->label);
            text_add(page, "</b>: not all policies have %zu runs: ", most);
        }
        text_add(page, begun ? ", " : "");
        text_html(page, summary_name(cell));
        text_add(page, " has %zu", cell->count);
        begun = true;
    }
    if (begun) text_add(page, ". Differences are over the seeds that both have.</p>\n");
}

static void add_warnings(text *page, const summary *of)
{
    for (size_t g = 0; g < of->results.count; g++) {
        const summary_group *group = &of->results.groups[g];
        if (group->other_files) {
            text_add(page, "<p class=\"note\"><b>");
            text_html(page, group->first->dataset);
            text_add(page,
                     "</b> was played from different files under the same name. They are told apart by their "
                     "checksum: this one is %016" PRIx64 ".</p>\n",
                     group->first->fingerprint);
        }
        warn_of_missing_runs(page, group);
        warn_of_few_seeds(page, group);
    }
}

static void add_what_was_run(text *page, const summary *of)
{
    static const column columns[] = {{"data set", 0}, {"features of an arm", 0}, {"arms", 0},     {"rounds", 0},
                                     {"seeds", 0},    {"policies", 0},           {"ablations", 0}};
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
    text_add(page, "</tbody></table></div>\n<p class=\"legend\">Played by ");
    add_versions(page, of);
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
        text_add(page, "<td>");
        if (cell) {
            int decimals = report_decimals(group);
            text_add(page, cell->best ? "<b>" : "");
            page_number(page, cell->mean, decimals);
            text_add(page, cell->best ? "</b>" : "");
            text_add(page, " <span class=\"faint\">± ");
            page_number(page, cell->deviation, decimals);
            text_add(page, " %s</span>", cell->against.pairs && !report_is_significant(cell) ? "≈" : "&ensp;");
        }
        text_add(page, "</td>");
    }
    text_add(page, "</tr>\n");
}

static void add_overview(text *page, const summary *of)
{
    const summary_groups *list = &of->results;
    text_add(page, "<h2 id=\"overview\">Overview</h2>\n<div class=\"scroll\"><table>\n<thead><tr>"
                   "<th scope=\"col\">policy</th>");
    for (size_t g = 0; g < list->count; g++) {
        text_add(page, "<th scope=\"col\">");
        text_html(page, list->groups[g].label);
        text_add(page, "</th>");
    }
    text_add(page, "</tr></thead>\n<tbody>\n");
    for (size_t style = 0; style < count_styles(list); style++) add_overview_row(page, list, style);
    text_add(page,
             "</tbody></table></div>\n<p class=\"legend\">Mean regret<sup><a href=\"#note-1\">1</a></sup> ± "
             "standard deviation over the seeds; less is better. <b>Bold</b>: the least mean of the column, among "
             "the policies that have all its seeds. ≈: the difference to the reference is not significant (p of "
             "the paired sign-flip test, Holm-corrected within the data set, is 0.05 or more). No mark: it is "
             "significant.</p>\n");
}

static void add_runs(text *page, const summary *of)
{
    add_warnings(page, of);
    add_overview(page, of);
    add_what_was_run(page, of);
    for (size_t g = 0; g < of->results.count; g++) report_group(page, &of->results.groups[g]);
    report_grids(page, of);
    report_settings(page, of);
    report_commands(page, of);
    report_notes(page);
}

ee_status report_page(const summary *of, const evaluation_groups *evaluations, const char *path, ee_error *error)
{
    text page = text_start(error);
    add_title(&page, of, evaluations);
    evaluation_sections(&page, evaluations);
    if (of->results.count) add_runs(&page, of);
    text_add(&page, "<footer>Made by eenet report %s.</footer>\n", ee_version());
    page_end(&page);
    return text_save(&page, path);
}
