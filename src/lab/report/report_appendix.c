#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "lab/runs/assignments.h"
#include "page.h"
#include "report_parts.h"

/* ---- the grid ---- */

/* Longer runs come before shorter ones, which successive halving stopped. */
static bool comes_before(const summary_cell *left, const summary_cell *right)
{
    if (left->runs[0]->rounds != right->runs[0]->rounds) return left->runs[0]->rounds > right->runs[0]->rounds;
    if (left->count != right->count) return left->count > right->count;
    return left->mean < right->mean;
}

/* The cells of one policy, best first. Returns their number. */
static size_t order_grid(const summary_group *group, const char *policy, size_t *order)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        if (strcmp(group->cells[i].runs[0]->policy, policy) != 0) continue;
        size_t place = count++;
        for (; place && comes_before(&group->cells[i], &group->cells[order[place - 1]]); place--)
            order[place] = order[place - 1];
        order[place] = i;
    }
    return count;
}

/* Whether final runs used the setting. */
static bool is_played(const summary_groups *results, const stored_run *tuned)
{
    for (size_t g = 0; g < results->count; g++) {
        const summary_group *group = &results->groups[g];
        if (group->first->fingerprint != tuned->fingerprint || strcmp(group->first->dataset, tuned->dataset) != 0 ||
            !delay_same(&group->first->late, &tuned->late) || group->first->slots != tuned->slots)
            continue;
        for (size_t i = 0; i < group->count; i++) {
            const stored_run *run = group->cells[i].runs[0];
            if (strcmp(run->policy, tuned->policy) == 0 && strcmp(run->options, tuned->options) == 0) return true;
        }
    }
    return false;
}

/* The number of settings; each may have run in several stages of a halving. */
static size_t count_settings(const summary_group *group, const size_t *order, size_t count)
{
    size_t settings = 0;
    for (size_t i = 0; i < count; i++) {
        const char *options = group->cells[order[i]].runs[0]->options;
        size_t before = 0;
        while (before < i && strcmp(group->cells[order[before]].runs[0]->options, options) != 0) before++;
        settings += before == i;
    }
    return settings;
}

static void add_grid_policy(text *page, const summary *of, const summary_group *group, const char *policy,
                            size_t *order)
{
    static const column columns[] = {
        {"setting", 0}, {"regret", NOTE_REGRET}, {"sd", NOTE_DEVIATION}, {"rounds", 0}, {"seeds", 0}};
    size_t count = order_grid(group, policy, order);
    int decimals = report_decimals(group);
    text_add(page, "<details><summary>");
    text_html(page, policy);
    text_add(page, ": ");
    report_plural(page, count_settings(group, order, count), "setting", "settings");
    text_add(page, "</summary>\n<div class=\"scroll\"><table>\n");
    report_head(page, columns, sizeof columns / sizeof columns[0]);
    text_add(page, "<tbody>\n");
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        const summary_cell *cell = &group->cells[order[i]];
        bool chosen = !found && is_played(&of->results, cell->runs[0]);
        found = found || chosen;
        text_add(page, "<tr%s><th scope=\"row\">", chosen ? " class=\"reference\"" : "");
        text_html(page, cell->labels[SUMMARY_MAIN]);
        text_add(page, "%s</th><td>", chosen ? "<span class=\"tag\">chosen</span>" : "");
        page_number(page, cell->mean, decimals);
        text_add(page, "</td><td>");
        page_number(page, cell->deviation, decimals);
        text_add(page, "</td><td>%" PRIu64 "</td><td>", cell->runs[0]->rounds);
        report_seeds(page, group, cell);
        text_add(page, "</td></tr>\n");
    }
    text_add(page, "</tbody></table></div>\n</details>\n");
}

static void add_grid(text *page, const summary *of, const summary_group *group)
{
    size_t *order; /* (group->count) */
    ee_status status = memory_create(NULL, &order, group->count, sizeof *order, page->error);
    if (status) {
        page->status = status;
        return;
    }
    text_add(page, "<details><summary>");
    text_html(page, group->title);
    text_add(page, "</summary>\n");
    for (size_t i = 0; i < group->count; i++) {
        const char *policy = group->cells[i].runs[0]->policy;
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++) seen = strcmp(group->cells[k].runs[0]->policy, policy) == 0;
        if (!seen) add_grid_policy(page, of, group, policy, order);
    }
    text_add(page, "</details>\n");
    memory_free(order);
}

void report_grids(text *page, const summary *of)
{
    if (!of->grids.count) return;
    text_add(
        page,
        "<h2 id=\"grid\">Tuning grid</h2>\n<p>These runs chose the settings of each policy. They use separate seeds, "
        "so the tables above are not biased by the choice. Among the settings with the longest runs, the one "
        "with the lowest mean regret was chosen.</p>\n");
    for (size_t g = 0; g < of->grids.count; g++) add_grid(page, of, &of->grids.groups[g]);
}

/* ---- settings, and how to reproduce the runs ---- */

/* Whether it is the number of pending decisions that a run with this delay gets automatically. */
static bool is_of_delay(const stored_run *run, const assignment *one)
{
    char room[32];
    if (!assignment_has_name(one, "pending")) return false;
    snprintf(room, sizeof room, "%" PRIu64, runner_pending(run->policy, &run->late, run->slots));
    return assignment_has_value(one, room);
}

/* The description of an option, searched from *place on, which moves behind it: describing one parses all. */
static bool find_option(const char *policy, const assignment *one, size_t *place, ee_option *known)
{
    for (size_t i = *place; !ee_option_describe(policy, i, known, NULL); i++) {
        if (!assignment_has_name(one, known->name)) continue;
        *place = i + 1;
        return true;
    }
    return false;
}

/* place is 0 for the first option of a run; the others mostly follow in the order of the descriptions. */
static bool is_default(const stored_run *run, const assignment *one, size_t *place)
{
    if (is_of_delay(run, one)) return true;
    ee_option known;
    bool found = find_option(run->policy, one, place, &known);
    if (!found) *place = 0;
    if (!found) found = find_option(run->policy, one, place, &known);
    return found && assignment_has_value(one, known.value);
}

static void add_cell_settings(text *page, const summary_cell *cell)
{
    const stored_run *first = cell->runs[0];
    text_add(page, "<details><summary>");
    text_html(page, summary_name(cell));
    text_add(page, "</summary>\n<div class=\"options\">");
    const char *options = first->options;
    assignment one;
    size_t place = 0;
    while (assignment_next(&options, &one)) {
        bool usual = is_default(first, &one, &place);
        text_add(page, usual ? "<code>" : "<code><b>");
        page_piece(page, one.name, one.length);
        text_add(page, usual ? "</code> " : "</b></code> ");
    }
    text_add(page, "</div></details>\n");
}

void report_settings(text *page, const summary *of)
{
    text_add(page, "<h2 id=\"settings\">All settings</h2>\n<p>All options of all policies in these runs. <b>Bold</b>: "
                   "different from the default of the policy or preset. <code>eenet describe POLICY</code> explains "
                   "the options.</p>\n");
    for (size_t g = 0; g < of->results.count; g++) {
        const summary_group *group = &of->results.groups[g];
        text_add(page, "<details><summary>");
        text_html(page, group->title);
        text_add(page, "</summary>\n");
        for (size_t i = 0; i < group->count; i++) add_cell_settings(page, &group->cells[i]);
        text_add(page, "</details>\n");
    }
}

static bool has_defaults(const summary_cell *cell)
{
    const char *options = cell->runs[0]->options;
    assignment one;
    size_t place = 0;
    while (assignment_next(&options, &one))
        if (!is_default(cell->runs[0], &one, &place)) return false;
    return true;
}

static bool same_seeds(const summary_cell *left, const summary_cell *right)
{
    if (left->count != right->count) return false;
    for (size_t i = 0; i < left->count; i++)
        if (left->runs[i]->seed != right->runs[i]->seed) return false;
    return true;
}

/* Whether the results do not say where the files of the data set are: its cells were in memory, or the run is of an
 * earlier version. */
static bool lacks_path(const stored_run *run)
{
    return run->fingerprint && !run->source;
}

/* The data set as -d takes it. PATH replaces an unknown path: "table:PATH,label=answer" for
 * "table:customers,label=answer". */
static void add_data_set(text *page, const stored_run *run)
{
    const char *name = run->dataset, *options = name + strcspn(name, ",");
    text whole = text_start(page->error);
    if (lacks_path(run))
        text_add(&whole, "%.*s:PATH%s", (int)strcspn(name, ":,"), name, options);
    else
        text_add(&whole, "%s", run->source ? run->source : name);
    if (whole.status)
        page->status = whole.status;
    else
        page_shell_word(page, whole.bytes);
    memory_free(whole.bytes);
}

static void add_command_start(text *page, const summary_group *group)
{
    text_add(page, "eenet run -d ");
    add_data_set(page, group->first);
    text_add(page, " -p ");
}

static void add_command_end(text *page, const summary_group *group, const summary_cell *cell)
{
    text_add(page, " -T %" PRIu64 " -s ", group->first->rounds);
    report_seeds(page, group, cell);
    char late[DELAY_TEXT];
    delay_format(&group->first->late, late);
    if (!delay_is_none(&group->first->late)) text_add(page, " --delay %s", late);
    if (group->first->slots) text_add(page, " --slots %zu", group->first->slots);
    text_add(page, " -o DIR");
    const char *options = cell->runs[0]->options;
    assignment one;
    size_t place = 0;
    while (assignment_next(&options, &one)) {
        if (is_default(cell->runs[0], &one, &place)) continue;
        char word[320];
        snprintf(word, sizeof word, "%s.%.*s", cell->runs[0]->policy, (int)one.length, one.name);
        text_add(page, " \\\n  --set ");
        page_shell_word(page, word);
    }
    text_add(page, "\n");
}

/* One command for all cells that have default options and the seeds of the first of them, then one for each other. */
static void add_commands(text *page, const summary_group *group)
{
    const summary_cell *usual = NULL;
    for (size_t i = 0; i < group->count; i++) {
        const summary_cell *cell = &group->cells[i];
        if (!has_defaults(cell) || (usual && !same_seeds(usual, cell))) continue;
        if (!usual) add_command_start(page, group);
        text_add(page, usual ? "," : "");
        text_html(page, cell->runs[0]->policy);
        if (!usual) usual = cell;
    }
    if (usual) add_command_end(page, group, usual);
    for (size_t i = 0; i < group->count; i++) {
        const summary_cell *cell = &group->cells[i];
        if (has_defaults(cell) && usual && same_seeds(usual, cell)) continue;
        add_command_start(page, group);
        text_html(page, cell->runs[0]->policy);
        add_command_end(page, group, cell);
    }
}

static void add_paths_note(text *page, const summary_groups *list)
{
    bool given = false, missing = false;
    for (size_t g = 0; g < list->count; g++) {
        given = given || list->groups[g].first->source;
        missing = missing || lacks_path(list->groups[g].first);
    }
    if (given)
        text_add(page,
                 "Paths of data sets are as they were given: run the commands in the folder of the original runs. ");
    if (missing)
        text_add(page, "Replace <code>PATH</code> with the file or folder of the data set, which the results do not "
                       "contain. ");
}

void report_commands(text *page, const summary *of)
{
    text_add(
        page,
        "<h2 id=\"reproduce\">How to reproduce</h2>\n<p>Run these commands, then <code>eenet report DIR</code>. The "
        "same version on the same kind of machine gives the same regret to the last digit; only the seconds "
        "differ. ");
    add_paths_note(page, &of->results);
    text_add(page, "<code>summary.csv</code> has the checksums of the files and all numbers of this page.</p>\n");
    for (size_t g = 0; g < of->results.count; g++) {
        text_add(page, "<details%s><summary>", of->results.count == 1 ? " open" : "");
        text_html(page, of->results.groups[g].title);
        text_add(page, "</summary>\n<pre>");
        add_commands(page, &of->results.groups[g]);
        text_add(page, "</pre></details>\n");
    }
}
