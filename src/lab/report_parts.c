#include "report_parts.h"

#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "data/plain_number.h"
#include "page.h"

/* ---- the heads of tables ---- */

static const char *const notes[NOTES] = {
    [NOTE_REGRET] = "<b>Regret.</b> In each round: the expected reward of the best arm, less that of the arm that was "
                    "played. Added up over the rounds of a run; the mean over the seeds is shown. Less is better.",
    [NOTE_DEVIATION] = "<b>sd.</b> Standard deviation of the regret over the seeds (the sum of squares is divided by "
                       "n − 1). The bands in the figures are one sd to each side of the mean.",
    [NOTE_INTERVAL] = "<b>95% interval</b> of the mean regret, by Student’s t.",
    [NOTE_DIFFERENCE] =
        "<b>Difference.</b> Regret of the policy less regret of the reference, seed by seed, since both "
        "meet the same rounds; the mean is shown. Above zero the reference is better. In brackets: 95% "
        "percentile bootstrap interval, from 10,000 resamples of the seeds.",
    [NOTE_P] =
        "<b>p (Holm).</b> Sign-flip test of the same differences: the share of all ways to flip their signs that "
        "give a mean at least as far from zero (all of them up to 20 seeds, 100,000 random ones beyond). "
        "Two-sided. Corrected by Holm’s method for all comparisons of the table. Below 0.05 a difference is "
        "called significant; “≈” stands before a p that is not. A dash: with so few seeds p cannot be below 0.05, "
        "whatever the numbers.",
    [NOTE_GROWTH] =
        "<b>Growth.</b> Exponent of the regret’s growth: slope of log regret over log round in the last half "
        "of the mean curve. 0.5 is growth like √T, 1 is a constant loss a round.",
    [NOTE_OPTIMAL] = "<b>Optimal.</b> Share of the rounds in which no arm had a larger expected reward than the one "
                     "that was played.",
    [NOTE_SECONDS] = "<b>Seconds</b> of processor time that one run took, on one core, the drawing of the rounds "
                     "included; mean over the seeds.",
    [NOTE_MEMORY] = "<b>MB.</b> Memory that the policy held at the end of a run, in millions of bytes.",
    [NOTE_DIRECTION] =
        "<b>Up, down.</b> A policy’s exploration is what it adds to its estimate f1: f2, a confidence "
        "width, a random draw. “Moved up” is the share of the arms that it raised. “Right when up” is how "
        "often, of those, the expected reward h (the reward itself, where that is certain) was in fact above f1. "
        "“Moved down” and “right when down” the same for below. Over all arms of all rounds.",
    [NOTE_CORRELATION] =
        "<b>Correlation</b> of the exploration with what f1 missed, h − f1, over the same arms. 1: the "
        "exploration points the right way, by the right amount. 0: it knows nothing of it.",
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

/* ---- words and numbers ---- */

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
        text_add(page, "each reward comes %" PRIu64 " round%s after its decision; ", late->rounds,
                 late->rounds == 1 ? "" : "s");
    if (late->kind == DELAY_GEOMETRIC)
        text_add(page, "each reward comes a random number of rounds after its decision, geometric with mean %s; ",
                 plain_number_of(late->mean, 6).text);
    if (late->kind == DELAY_CLICKS)
        text_add(page,
                 "a reward above 0 comes a random number of rounds after its decision, geometric with mean %s and "
                 "below %" PRIu64 ", and any other is told as 0 after %" PRIu64 " rounds; ",
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
    return cell->p_holm < SUMMARY_LEVEL;
}
