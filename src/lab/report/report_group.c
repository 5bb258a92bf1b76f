#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "chart.h"
#include "page.h"
#include "repeats.h"
#include "report_parts.h"
#include "run_chart.h"

/* NULL if there is none. */
static const char *reference_name(const summary_group *group, summary_part part)
{
    size_t place = group->references[part];
    return place < group->count ? group->cells[place].labels[part] : NULL;
}

static void begin_row(text *page, const summary_group *group, summary_part part, size_t place, size_t style)
{
    bool reference = place == group->references[part];
    text_add(page, "<tr%s", reference ? " class=\"reference\"" : "");
    run_chart_line_name(page, part, style);
    text_add(page, "><th scope=\"row\">");
    chart_swatch(page, style);
    text_html(page, group->cells[place].labels[part]);
    text_add(page, "%s</th>", reference ? "<span class=\"tag\">reference</span>" : "");
}

static void add_comparison(text *page, const summary_cell *cell, int decimals)
{
    text_add(page, "<td>");
    page_signed(page, cell->against.difference, decimals);
    if (isinf(cell->against.low)) {
        text_add(page, " <span class=\"faint\">[unbounded]</span>");
    } else if (!isnan(cell->against.low)) {
        text_add(page, " <span class=\"faint\">[");
        page_signed(page, cell->against.low, decimals);
        text_add(page, ", ");
        page_signed(page, cell->against.high, decimals);
        text_add(page, "]</span>");
    }
    bool mark = cell->testable && !report_is_significant(cell);
    text_add(page, "</td><td>%s", mark ? "<span class=\"faint\">≈ " : "");
    page_p(page, cell->testable ? cell->p_holm : NAN);
    text_add(page, "%s</td>", mark ? "</span>" : "");
}

static void add_result_row(text *page, const summary_group *group, summary_part part, size_t place)
{
    const summary_cell *cell = &group->cells[place];
    bool reference = place == group->references[part], best = cell->best && part == SUMMARY_MAIN;
    int decimals = report_decimals(group);
    begin_row(page, group, part, place, figure_style(group, part, place));
    text_add(page, "<td>%s", best ? "<b>" : "");
    page_number(page, cell->mean, decimals);
    text_add(page, "%s</td><td>", best ? "</b>" : "");
    page_number(page, cell->deviation, decimals);
    text_add(page, "</td><td>");
    page_number(page, cell->mean - cell->margin, decimals);
    if (!isnan(cell->margin)) text_add(page, " to ");
    if (!isnan(cell->margin)) page_number(page, cell->mean + cell->margin, decimals);
    text_add(page, "</td>");
    if (reference)
        text_add(page, "<td></td><td></td>");
    else
        add_comparison(page, cell, decimals);
    text_add(page, "<td>");
    page_number(page, cell->growth, 2);
    text_add(page, "</td><td>");
    page_share(page, cell->optimal);
    text_add(page, "</td><td>");
    page_amount(page, cell->seconds);
    text_add(page, "</td><td>");
    page_amount(page, cell->bytes / 1e6);
    text_add(page, "</td><td>%zu</td></tr>\n", cell->count);
}

/* Adds the row of a cell, or nothing if the table does not show it. */
typedef void add_row(text *page, const summary_group *group, summary_part part, size_t place);

static void add_rows(text *page, const summary_group *group, summary_part part, add_row *add)
{
    size_t *order; /* (group->count) */
    ee_status status = memory_create(NULL, &order, group->count, sizeof *order, page->error);
    if (status) {
        page->status = status;
        return;
    }
    size_t count = summary_order(group, part, order);
    text_add(page, "<tbody>\n");
    for (size_t i = 0; i < count; i++) add(page, group, part, order[i]);
    text_add(page, "</tbody></table></div>\n");
    memory_free(order);
}

static void add_result_table(text *page, const summary_group *group, summary_part part)
{
    static const column columns[] = {{"policy", 0},
                                     {"regret", NOTE_REGRET},
                                     {"sd", NOTE_DEVIATION},
                                     {"95% interval", NOTE_INTERVAL},
                                     {"difference", NOTE_DIFFERENCE},
                                     {"p (Holm)", NOTE_P},
                                     {"growth", NOTE_GROWTH},
                                     {"best arm", NOTE_OPTIMAL},
                                     {"CPU (s)", NOTE_SECONDS},
                                     {"MB", NOTE_MEMORY},
                                     {"seeds", 0}};
    text_add(page, "<div class=\"scroll\"><table>\n");
    report_head(page, columns, sizeof columns / sizeof columns[0]);
    add_rows(page, group, part, add_result_row);
    const char *reference = reference_name(group, part);
    text_add(page, "<p class=\"legend\">Sorted by regret, lowest first. ");
    if (reference) {
        text_add(page, "Differences are from ");
        text_html(page, reference);
        text_add(page, ".");
    } else {
        text_add(page, "No comparison: the reference did not run here. Choose another: <code>eenet report DIR "
                       "--reference POLICY</code>.");
    }
    text_add(page, " The small numbers link to what the columns mean.</p>\n");
}

static void add_figure(text *page, const summary_group *group, figure_kind kind, const char *results,
                       const char *caption)
{
    if (!figure_has(group, kind)) return;
    char *name;
    ee_status status = figure_name(group, kind, &name, page->error);
    if (status) {
        page->status = status;
        return;
    }
    text_add(page, "<figure>");
    run_chart(page, group, kind, caption);
    text_add(page, "<figcaption>%s", caption);
    figure_link(page, results, name);
    text_add(page, "</figcaption></figure>\n");
    memory_free(name);
}

/* Describes what this figure shows. */
static void write_regret_caption(text *caption, const figure_cells *cells)
{
    bool bands = false;
    for (size_t i = 0; i < cells->count; i++) bands = bands || figure_cells_at(cells, i)->count > 1;
    text_add(caption,
             bands ? "Mean regret so far, over the seeds (lower is better); the bands are ± one standard deviation."
                   : "Regret so far, on one seed (lower is better).");
    if (cells->count > 1) text_add(caption, " The legend is sorted by final regret.");
    if (figure_cells_at(cells, cells->count - 1)->mean > figure_cells_top(cells))
        text_add(caption, " Lines above twice the lowest regret leave the frame; the logarithmic view shows them.");
    if (figure_cells_compared(cells))
        text_add(caption, " Lower chart: difference from the reference, enlarged%s.",
                 cells->count > 2 ? "; it fits the nearest half of the policies" : "");
}

static void add_regret_figure(text *page, const summary_group *group, figure_kind kind, const char *results)
{
    if (page->status || !figure_has(group, kind)) return;
    figure_cells cells = {0};
    text caption = text_start(page->error);
    ee_status status = figure_cells_create(group, kind, &cells, page->error);
    if (!status) write_regret_caption(&caption, &cells);
    page->status = status ? status : caption.status;
    if (!page->status) add_figure(page, group, kind, results, caption.bytes);
    memory_free(caption.bytes);
    figure_cells_release(&cells);
}

static void add_ablation(text *page, const summary_group *group, summary_part part, const char *results)
{
    if (!report_count(group, part)) return;
    static const struct {
        const char *title, *text;
        figure_kind figure;
    } kinds[SUMMARY_PARTS] = {
        [SUMMARY_LABEL] =
            {"Ablation: the label of f2",
             "f2 learns the error of f1, r − f1: with its sign (gain), as an absolute value (abs), or only if "
             "positive (relu).",
             FIGURE_LABEL},
        [SUMMARY_DECISION] = {"Ablation: the kind of f3",
                              "f3 combines f1 and f2: as a weighted sum (linear), with a network (neural), or first "
                              "the one, then the other (hybrid).",
                              FIGURE_DECISION},
        [SUMMARY_WEIGHT] = {"Ablation: the weight of f2",
                            "The score is w1 f1 + w2 f2. With w2 = 0 only f1 decides, so the difference is what f2 "
                            "contributes.",
                            FIGURE_WEIGHT},
    };
    text_add(page, "<h3>%s</h3>\n<p>%s Everything else equals the reference.</p>\n", kinds[part].title,
             kinds[part].text);
    add_regret_figure(page, group, kinds[part].figure, results);
    add_result_table(page, group, part);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

static void add_direction_row(text *page, const summary_group *group, summary_part part, size_t place)
{
    const summary_cell *cell = &group->cells[place];
    const run_direction *sums = &cell->direction;
    if (!sums->arms) return;
    const double shares[] = {share(sums->up, sums->arms), share(sums->up_right, sums->up),
                             share(sums->down, sums->arms), share(sums->down_right, sums->down)};
    begin_row(page, group, part, place, cell->style);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        text_add(page, "<td>");
        page_share(page, shares[i]);
        text_add(page, "</td>");
    }
    text_add(page, "<td>");
    page_signed(page, cell->correlation, 3);
    text_add(page, "</td></tr>\n");
}

static void add_directions(text *page, const summary_group *group, const char *results)
{
    if (!figure_has(group, FIGURE_DIRECTION)) return;
    static const column columns[] = {{"policy", 0},
                                     {"moved up", NOTE_DIRECTION},
                                     {"right when up", NOTE_DIRECTION},
                                     {"moved down", NOTE_DIRECTION},
                                     {"right when down", NOTE_DIRECTION},
                                     {"correlation", NOTE_CORRELATION}};
    text_add(page,
             "<h3>Exploration direction</h3>\n<p>Does exploration point the right way? It should raise the score of an "
             "arm whose estimate f1 is below its expected reward h, and lower it if f1 is above. A confidence width "
             "can only raise a score; a random draw goes either way; f2 learns the direction. If rewards are not "
             "random, as for classes and ratings, h is the reward itself. This counts all arms of a round, although "
             "a policy learns only from the one it chose.</p>\n");
    add_figure(page, group, FIGURE_DIRECTION, results,
               "Correlation of each policy’s exploration with the error of its estimate, per twentieth of the run. 1 "
               "is ideal.");
    text_add(page, "<div class=\"scroll\"><table>\n");
    report_head(page, columns, sizeof columns / sizeof columns[0]);
    add_rows(page, group, SUMMARY_MAIN, add_direction_row);
}

static void add_slot_row(text *page, const summary_group *group, summary_part part, size_t place)
{
    const summary_cell *cell = &group->cells[place];
    begin_row(page, group, part, place, cell->style);
    for (size_t k = 0; k < group->first->slots; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < cell->count; i++) sum += cell->runs[i]->result.slot_regrets[k];
        text_add(page, "<td>");
        page_number(page, sum / (double)cell->count, 1);
        text_add(page, "</td>");
    }
    text_add(page, "</tr>\n");
}

static void add_slots(text *page, const summary_group *group)
{
    if (!group->first->slots) return;
    char names[RUN_SLOTS][32];
    column columns[RUN_SLOTS + 1] = {{"policy", 0}};
    for (size_t k = 0; k < group->first->slots; k++) {
        snprintf(names[k], sizeof names[k], "slot %zu", k + 1);
        columns[k + 1] = (column){names[k], NOTE_REGRET};
    }
    text_add(page,
             "<h3>Regret per slot</h3>\n<p>Mean regret of each slot; they add up to the regret of the round. Slot 1 is "
             "compared with the best arm, slot 2 with the second best, and so on. A slot with a better arm than "
             "that has negative regret.</p>\n<div class=\"scroll\"><table>\n");
    report_head(page, columns, group->first->slots + 1);
    add_rows(page, group, SUMMARY_MAIN, add_slot_row);
}

static void add_repeats(text *page, const summary_group *group)
{
    char line[160];
    uint64_t rows = 0;
    for (size_t i = 0; i < group->count; i++) /* lines of older versions do not say */
        for (size_t k = 0; k < group->cells[i].count; k++)
            if (group->cells[i].runs[k]->rows) rows = group->cells[i].runs[k]->rows;
    if (repeats_format(rows, group->first->rounds, line, sizeof line))
        text_add(page, "<p class=\"facts\">%s</p>\n", line);
}

void report_group(text *page, const summary_group *group, const char *results)
{
    text_add(page, "<section>\n<h2 id=\"%s\">", group->file);
    text_html(page, group->title);
    text_add(page, "</h2>\n<p class=\"facts\">%" PRIu64 " rounds of %zu arms with %zu features each; ",
             group->first->rounds, group->first->arms, group->first->dim);
    report_delay(page, &group->first->late);
    if (group->first->slots) text_add(page, "each round fills %zu slots with different arms; ", group->first->slots);
    text_add(page, "seeds ");
    report_seeds(page, group, NULL);
    text_add(page, "</p>\n");
    add_repeats(page, group);
    add_regret_figure(page, group, FIGURE_REGRET, results);
    add_result_table(page, group, SUMMARY_MAIN);
    add_slots(page, group);
    add_ablation(page, group, SUMMARY_LABEL, results);
    add_ablation(page, group, SUMMARY_DECISION, results);
    add_ablation(page, group, SUMMARY_WEIGHT, results);
    add_directions(page, group, results);
    text_add(page, "<h3>Time and memory</h3>\n");
    add_figure(page, group, FIGURE_COST, results,
               "Processor time and memory per run, on logarithmic scales; policies sorted by regret, lowest first.");
    text_add(page, "</section>\n");
}
