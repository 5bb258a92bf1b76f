#include <inttypes.h>
#include <math.h>

#include "page.h"
#include "report_parts.h"

/* ---- who leads ---- */

static const char *name_of(const summary_group *group, size_t place)
{
    return group->cells[place].labels[SUMMARY_MAIN];
}

static void add_bold(text *page, const char *name)
{
    text_add(page, "<b>");
    text_html(page, name);
    text_add(page, "</b>");
}

static bool leads_significantly(const summary_lead *lead)
{
    return lead->testable && lead->p_holm < SUMMARY_LEVEL;
}

/* Whether there is another that met the same rounds. */
static bool has_rival(const summary_group *group)
{
    const summary_lead *lead = &group->lead;
    return lead->next < group->count && lead->by.pairs == group->cells[lead->best].count;
}

static bool is_tied(const summary_group *group)
{
    return has_rival(group) && group->lead.by.difference == 0.0;
}

/* Who has the regret of the best too: "linucb and 2 others". */
static void add_tied(text *page, const summary_group *group)
{
    size_t others = 0;
    for (size_t i = 0; i < group->count; i++)
        others += i != group->lead.best && i != group->lead.next && group->cells[i].best;
    text_html(page, name_of(group, group->lead.next));
    if (!others) return;
    text_add(page, " and ");
    report_plural(page, others, "other", "others");
}

/* "99.0 (16%) less than neural-linear": over the seeds that both have. */
static void add_distance(text *page, const summary_group *group)
{
    const summary_lead *lead = &group->lead;
    double next = group->cells[lead->next].mean;
    page_number(page, lead->by.difference, report_decimals(group));
    if (next > 0.0) {
        text_add(page, " (");
        page_number(page, 100.0 * lead->by.difference / next, 100.0 * lead->by.difference < 9.95 * next);
        text_add(page, "%%)");
    }
    text_add(page, " less than ");
    text_html(page, name_of(group, lead->next));
}

/* "p = 0.016, 8 seeds" */
static void add_test(text *page, const summary_lead *lead)
{
    text_add(page, lead->p_holm < 0.001 ? "p " : "p = ");
    page_p(page, lead->p_holm);
    text_add(page, ", ");
    report_plural(page, lead->by.pairs, "seed", "seeds");
}

/* Whether that is more than chance. */
static void add_verdict(text *page, const summary_lead *lead)
{
    if (lead->testable) {
        text_add(page, leads_significantly(lead) ? ", which is significant (" : ", which is not significant (");
        add_test(page, lead);
        text_add(page, ")");
    } else {
        text_add(page, "; ");
        report_plural(page, lead->by.pairs, "seed is", "seeds are");
        text_add(page, " too few to test that");
    }
}

/* What follows the name of the best: "has the least regret, 511.0: ..." */
static void add_lead(text *page, const summary_group *group)
{
    const summary_cell *best = &group->cells[group->lead.best];
    bool rival = has_rival(group), tied = is_tied(group);
    text_add(page, tied ? " has, with " : rival ? " has the least regret, " : " has a regret of ");
    if (tied) add_tied(page, group);
    if (tied) text_add(page, ", the least regret, ");
    page_number(page, best->mean, report_decimals(group));
    if (!rival && group->lead.next < group->count) text_add(page, "; no other has played the same seeds");
    if (!rival || tied) return;
    text_add(page, ": ");
    add_distance(page, group);
    add_verdict(page, &group->lead);
}

static void add_one(text *page, const summary_group *group)
{
    text_add(page, "<p class=\"headline\">On ");
    text_html(page, group->label);
    text_add(page, ", ");
    add_bold(page, name_of(group, group->lead.best));
    add_lead(page, group);
    text_add(page, ".</p>\n");
}

/* ---- several data sets ---- */

/* The data sets that a policy leads, alone or with others; and its name, where there are some. */
static size_t count_wins(const summary_groups *list, size_t style, const char **name)
{
    size_t wins = 0;
    for (size_t g = 0; g < list->count; g++)
        for (size_t i = 0; i < list->groups[g].count; i++) {
            if (list->groups[g].cells[i].style != style || !list->groups[g].cells[i].best) continue;
            *name = name_of(&list->groups[g], i);
            wins++;
        }
    return wins;
}

/* "eenet has the least regret on 3 of 4 data sets, linucb on 1": who wins most often comes first. */
static void add_winners(text *page, const summary_groups *list)
{
    bool begun = false;
    size_t styles = report_styles(list);
    for (size_t wins = list->count; wins; wins--)
        for (size_t style = 0; style < styles; style++) {
            const char *name = NULL;
            if (count_wins(list, style, &name) != wins) continue;
            text_add(page, begun ? ", " : "");
            add_bold(page, name);
            if (begun)
                text_add(page, " on %zu", wins);
            else if (wins == 2 && list->count == 2)
                text_add(page, " has the least regret on both data sets");
            else if (wins == list->count)
                text_add(page, " has the least regret on all %zu data sets", wins);
            else
                text_add(page, " has the least regret on %zu of %zu data sets", wins, list->count);
            begun = true;
        }
}

static void add_overall(text *page, const summary_groups *list)
{
    size_t rivals = 0, tested = 0, significant = 0;
    for (size_t g = 0; g < list->count; g++) {
        const summary_group *group = &list->groups[g];
        rivals += has_rival(group);
        tested += has_rival(group) && group->lead.testable;
        significant += has_rival(group) && leads_significantly(&group->lead);
    }
    if (!rivals) return; /* who is alone leads nobody */
    text_add(page, "<p class=\"headline\">");
    add_winners(page, list);
    if (!tested)
        text_add(page, "; the seeds are too few to test that");
    else if (significant == list->count)
        text_add(page, "; the lead is significant on each");
    else if (significant)
        text_add(page, "; the lead is significant on %zu", significant);
    else
        text_add(page, "; no lead is significant");
    text_add(page, ".</p>\n");
}

/* "eenet, 511.0: 99.0 (16%) less than neural-linear (not significant: p = 0.2, 8 seeds)" */
static void add_short(text *page, const summary_group *group)
{
    const summary_lead *lead = &group->lead;
    bool rival = has_rival(group), tied = is_tied(group);
    add_bold(page, name_of(group, lead->best));
    if (tied) text_add(page, " with ");
    if (tied) add_tied(page, group);
    text_add(page, ", ");
    page_number(page, group->cells[lead->best].mean, report_decimals(group));
    if (!rival || tied) return;
    text_add(page, ": ");
    add_distance(page, group);
    text_add(page, !lead->testable             ? " (too few seeds for a test"
                   : leads_significantly(lead) ? " ("
                                               : " (not significant: ");
    if (lead->testable) add_test(page, lead);
    text_add(page, ")");
}

void report_headlines(text *page, const summary *of)
{
    const summary_groups *list = &of->results;
    if (list->count == 1) add_one(page, &list->groups[0]);
    if (list->count < 2) return;
    add_overall(page, list);
    text_add(page, "<ul class=\"headlines\">\n");
    for (size_t g = 0; g < list->count; g++) {
        const summary_group *group = &list->groups[g];
        text_add(page, "<li><a href=\"#%s\">", group->file);
        text_html(page, group->label);
        text_add(page, "</a>: ");
        add_short(page, group);
        text_add(page, "</li>\n");
    }
    text_add(page, "</ul>\n");
}

/* ---- warnings ---- */

/* How many seeds the comparisons of a group have, and how many they would need for any to be significant: Holm's
 * correction multiplies the least p by the number of comparisons. */
typedef struct seed_needs {
    size_t has, needs; /* needs is 0 where nothing is compared */
} seed_needs;

static seed_needs find_needs(const summary_group *group)
{
    enum { MOST = 20 }; /* beyond, p is drawn and hardly falls */
    seed_needs out = {0};
    size_t tests = 0;
    for (size_t i = 0; i < group->count; i++) {
        const summary_cell *cell = &group->cells[i];
        if (!cell->labels[SUMMARY_MAIN] || !cell->against.pairs) continue;
        tests++;
        if (cell->against.pairs > out.has) out.has = cell->against.pairs;
    }
    if (!tests) { /* the reference was not played: what is tested is the lead */
        tests = group->lead.tests;
        out.has = group->lead.by.pairs;
    }
    if (!tests) return out;
    out.needs = 1;
    while (out.needs < MOST && (double)tests * comparison_least_p(out.needs) >= SUMMARY_LEVEL) out.needs++;
    return out;
}

/* Once for all data sets. */
static void warn_of_few_seeds(text *page, const summary *of)
{
    size_t most = 0;
    for (size_t g = 0; g < of->results.count; g++) {
        const summary_group *group = &of->results.groups[g];
        seed_needs seeds = find_needs(group);
        if (seeds.has >= seeds.needs) continue;
        text_add(page, most ? ", " : "<p class=\"note\"><b>Too few seeds for a test:</b> ");
        text_html(page, group->label);
        text_add(page, " has %zu and needs %zu", seeds.has, seeds.needs);
        if (seeds.needs > most) most = seeds.needs;
    }
    if (most)
        text_add(page,
                 ". Whatever the numbers, no difference there can be significant: a dash stands in place of p. The "
                 "same command with more seeds, as <code>-s 0-%zu</code>, plays those that are missing.</p>\n",
                 most - 1);
}

static size_t most_seeds(const summary_group *group)
{
    size_t most = 0;
    for (size_t i = 0; i < group->count; i++)
        if (group->cells[i].count > most) most = group->cells[i].count;
    return most;
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

void report_warnings(text *page, const summary *of)
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
    }
    warn_of_few_seeds(page, of);
}
