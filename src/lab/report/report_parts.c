#include "report_parts.h"

#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "data/values/plain_number.h"
#include "page.h"

/* ---- the heads of tables ---- */

static const char *const notes[NOTES] = {
    [NOTE_REGRET] =
        "<b>Regret</b> of a round is the expected reward of the best arm minus the chosen arm's. The regret of a run "
        "is the sum over its rounds, in units of reward. The table shows the mean over the seeds. Lower is better.",
    [NOTE_DEVIATION] = "<b>sd</b>: standard deviation of the regret over the seeds (with n − 1). The bands in the "
                       "figures are the mean ± one sd.",
    [NOTE_INTERVAL] = "<b>95% interval</b>: confidence interval of the mean regret (Student’s t).",
    [NOTE_DIFFERENCE] =
        "<b>Difference</b>: regret of the policy minus regret of the reference on the same seed, averaged over the "
        "seeds. Above zero, the reference is better. In brackets: 95% confidence interval, the values that the "
        "sign-flip test does not reject. It excludes 0 exactly if p before Holm’s correction is below 0.05. Unbounded: "
        "fewer than 6 seeds, which exclude no value.",
    [NOTE_P] = "<b>p (Holm)</b>: probability of a difference at least this large if both policies were equally good. "
               "Two-sided paired sign-flip test over the seeds (exact up to 20 seeds, 100,000 random flips beyond), "
               "Holm-corrected for all comparisons of the table. Below 0.05 a difference is significant; “≈” marks "
               "those that are not. A dash: too few seeds for p to fall below 0.05.",
    [NOTE_GROWTH] =
        "<b>Growth</b>: exponent of the regret’s growth, the slope of log regret over log round in the last half of "
        "the mean curve. 0.5: regret grows like √T, so the policy is still learning. 1: a constant loss per round.",
    [NOTE_OPTIMAL] =
        "<b>Best arm</b>: share of rounds in which the policy chose an arm with the highest expected reward.",
    [NOTE_SECONDS] = "<b>CPU (s)</b>: seconds of processor time of one run on one core, including the generation of "
                     "rounds; mean over the seeds.",
    [NOTE_MEMORY] = "<b>MB</b>: memory of the policy at the end of a run, in millions of bytes.",
    [NOTE_DIRECTION] =
        "<b>Up, down</b>: exploration is what a policy adds to its estimate f1, such as f2, a confidence width or a "
        "random draw. “Moved up” is the share of arms whose score it raised. “Right when up” is the share of those "
        "whose expected reward h was in fact above f1. “Moved down” and “right when down” are the same for lowered "
        "scores. Counted over all arms of all rounds.",
    [NOTE_CORRELATION] = "<b>Correlation</b> of exploration with the error of f1 (h − f1), over the same arms. 1: "
                         "exploration corrects f1 exactly in direction and proportion. 0: it carries no information.",
};

void report_head(text *page, const column *columns, size_t count)
{
    text_add(page, "<thead><tr>");
    for (size_t i = 0; i < count; i++) {
        text_add(page, "<th scope=\"col\">%s", columns[i].title);
        if (columns[i].note) text_add(page, "<sup><a href=\"#note-%d\">%d</a></sup>", columns[i].note, columns[i].note);
        text_add(page, "</th>");
    }
    text_add(page, "</tr></thead>\n");
}

void report_notes(text *page)
{
    text_add(page, "<h2 id=\"notes\">What the columns mean</h2>\n<ol>\n");
    for (int i = NO_NOTE + 1; i < NOTES; i++) text_add(page, "<li id=\"note-%d\">%s</li>\n", i, notes[i]);
    text_add(page, "</ol>\n");
}

/* ---- text and numbers ---- */

void report_plural(text *page, size_t count, const char *one, const char *many)
{
    text_add(page, "%zu %s", count, count == 1 ? one : many);
}

void report_seeds(text *page, const summary_group *group, const summary_cell *cell)
{
    size_t count = 0, first = cell ? (size_t)(cell - group->cells) : 0, end = cell ? first + 1 : group->count;
    for (size_t i = first; i < end; i++) count += group->cells[i].count;
    uint64_t *seeds; /* (count) */
    ee_status status = memory_create(NULL, &seeds, count, sizeof *seeds, page->error);
    if (status) {
        page->status = status;
        return;
    }
    count = 0;
    for (size_t i = first; i < end; i++)
        for (size_t k = 0; k < group->cells[i].count; k++) seeds[count++] = group->cells[i].runs[k]->seed;
    page_seeds(page, seeds, count);
    memory_free(seeds);
}

void report_delay(text *page, const delay *late)
{
    if (delay_is_none(late)) return;
    if (late->kind == DELAY_ROUNDS)
        text_add(page, "each reward arrives %" PRIu64 " round%s after its decision; ", late->rounds,
                 late->rounds == 1 ? "" : "s");
    if (late->kind == DELAY_GEOMETRIC)
        text_add(page, "each reward arrives a random number of rounds after its decision (geometric, mean %s); ",
                 plain_number_of(late->mean, 6).text);
    if (late->kind == DELAY_CLICKS)
        text_add(
            page,
            "a reward above 0 arrives a random number of rounds after its decision (geometric, mean %s, below %" PRIu64
            "); all others arrive as 0 after %" PRIu64 " rounds; ",
            plain_number_of(late->mean, 6).text, late->rounds, late->rounds);
}

int report_decimals(const summary_group *group)
{
    double smallest = INFINITY;
    for (size_t i = 0; i < group->count; i++) smallest = fmin(smallest, fabs(group->cells[i].mean));
    return page_decimals(smallest);
}

size_t report_count(const summary_group *group, summary_part part)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) count += group->cells[i].labels[part] != NULL;
    return count;
}

size_t report_styles(const summary_groups *list)
{
    size_t most = 0;
    for (size_t g = 0; g < list->count; g++)
        for (size_t i = 0; i < list->groups[g].count; i++)
            if (list->groups[g].cells[i].labels[SUMMARY_MAIN] && list->groups[g].cells[i].style + 1 > most)
                most = list->groups[g].cells[i].style + 1;
    return most;
}

bool report_is_significant(const summary_cell *cell)
{
    return cell->p_holm < COMPARISON_LEVEL;
}
