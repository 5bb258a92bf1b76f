#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "page.h"
#include "report_parts.h"

/* ---- the leader ---- */

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
    return lead->testable && lead->p_holm < COMPARISON_LEVEL;
}

/* Whether another policy ran on the same rounds. */
static bool has_rival(const summary_group *group)
{
    const summary_lead *lead = &group->lead;
    return lead->next < group->count && lead->by.pairs == group->cells[lead->best].count;
}

static bool is_tied(const summary_group *group)
{
    return has_rival(group) && group->lead.by.difference == 0.0;
}

/* Those that tie with the best: " and linucb", ", linucb and 2 others". */
static void add_tied(text *page, const summary_group *group)
{
    size_t others = 0;
    for (size_t i = 0; i < group->count; i++)
        others += i != group->lead.best && i != group->lead.next && group->cells[i].best;
    text_add(page, others ? ", " : " and ");
    text_html(page, name_of(group, group->lead.next));
    if (!others) return;
    text_add(page, " and ");
    report_plural(page, others, "other", "others");
}

/* "99.0 (16%) lower than neural-linear": over the seeds that both have. */
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
    text_add(page, " lower than ");
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

/* What follows the mean regret of a leader that has a rival: the distance, and whether it is significant. */
static void add_verdict(text *page, const summary_group *group, bool says_untested)
{
    const summary_lead *lead = &group->lead;
    text_add(page, ": ");
    add_distance(page, group);
    if (!lead->testable) {
        text_add(page, says_untested ? " (not tested)" : "");
        return;
    }
    text_add(page, leads_significantly(lead) ? ", significant (" : ", but not significantly different (");
    add_test(page, lead);
    text_add(page, ")");
}

/* "eenet leads with mean regret 511.0: 99.0 (16%) lower than linucb, significant (p = 0.016, 8 seeds)" */
static void add_standing(text *page, const summary_group *group, const char *on, bool says_untested)
{
    const summary_lead *lead = &group->lead;
    bool rival = has_rival(group), tied = is_tied(group);
    add_bold(page, name_of(group, lead->best));
    if (tied) add_tied(page, group);
    text_add(page, tied ? " are tied" : rival ? " leads" : " ran");
    if (on) text_add(page, " on ");
    if (on) text_html(page, on);
    text_add(page, " with mean regret ");
    page_number(page, group->cells[lead->best].mean, report_decimals(group));
    if (!rival)
        text_add(page, "; nothing to compare with%s",
                 lead->next < group->count ? " yet: no other policy has finished the same seeds" : "");
    else if (!tied)
        add_verdict(page, group, says_untested);
}

/* ---- several data sets ---- */

static bool is_led(const summary_group *group)
{
    return has_rival(group) && !is_tied(group);
}

/* The number of data sets on which the policy is the only one with the lowest mean regret; and its name, if any. */
static size_t count_leads(const summary_groups *list, size_t style, const char **name)
{
    size_t leads = 0;
    for (size_t g = 0; g < list->count; g++) {
        const summary_group *group = &list->groups[g];
        if (!is_led(group) || group->cells[group->lead.best].style != style) continue;
        *name = name_of(group, group->lead.best);
        leads++;
    }
    return leads;
}

/* "eenet leads on 3 of 4 data sets, linucb on 1": the most leads first. */
static void add_leaders(text *page, const summary_groups *list)
{
    bool begun = false;
    size_t styles = report_styles(list);
    for (size_t leads = list->count; leads; leads--)
        for (size_t style = 0; style < styles; style++) {
            const char *name = NULL;
            if (count_leads(list, style, &name) != leads) continue;
            text_add(page, begun ? ", " : "");
            add_bold(page, name);
            if (begun)
                text_add(page, " on %zu", leads);
            else if (leads == 2 && list->count == 2)
                text_add(page, " leads on both data sets");
            else if (leads == list->count)
                text_add(page, " leads on all %zu data sets", leads);
            else
                text_add(page, " leads on %zu of %zu data sets", leads, list->count);
            begun = true;
        }
}

/* Adds "; tied on 2", if there are some. */
static void add_share(text *page, size_t count, const char *label, const char *joint, bool *begun)
{
    if (!count) return;
    text_add(page, "%s%s on %zu", *begun ? joint : "", label, count);
    *begun = true;
}

/* Whether the leads are significant, on how many data sets. */
static void add_significance(text *page, size_t significant, size_t chance, size_t untested)
{
    bool begun = false;
    if (!chance && !untested) {
        text_add(page, " The lead is significant on each.");
    } else if (!significant && !chance) {
        text_add(page, " The lead is not tested.");
    } else if (!significant && !untested) {
        text_add(page, " No lead is significant.");
    } else {
        text_add(page, " The lead is ");
        add_share(page, significant, "significant", ", ", &begun);
        add_share(page, chance, "not significant", ", ", &begun);
        add_share(page, untested, "not tested", ", ", &begun);
        text_add(page, ".");
    }
}

/* If no lead is tested, the first sentence says so for all. */
static bool any_tested(const summary_groups *list)
{
    bool any = false;
    for (size_t g = 0; g < list->count; g++) any = any || (is_led(&list->groups[g]) && list->groups[g].lead.testable);
    return any;
}

static void add_overall(text *page, const summary_groups *list)
{
    size_t rivals = 0, led = 0, untested = 0, significant = 0;
    for (size_t g = 0; g < list->count; g++) {
        const summary_group *group = &list->groups[g];
        rivals += has_rival(group);
        led += is_led(group);
        untested += is_led(group) && !group->lead.testable;
        significant += is_led(group) && leads_significantly(&group->lead);
    }
    text_add(page, "<p class=\"headline\">");
    if (!rivals) {
        text_add(page, "Nothing to compare with: no data set has two policies with the same seeds.</p>\n");
        return;
    }
    bool begun = led > 0;
    if (led)
        add_leaders(page, list);
    else
        text_add(page, "No policy leads: ");
    add_share(page, rivals - led, "tied", "; ", &begun);
    add_share(page, list->count - rivals, "nothing to compare with", "; ", &begun);
    text_add(page, ".");
    if (led) add_significance(page, significant, led - significant - untested, untested);
    text_add(page, "</p>\n");
}

/* ---- how often the best arm was chosen ---- */

/* Whether rewards are 1 for the best arm and 0 for others, as in classification: then the regret counts the rounds in
 * which another arm was chosen. */
static bool is_right_or_wrong(const summary_group *group)
{
    double rounds = (double)group->first->rounds;
    bool all = !group->first->slots;
    for (size_t i = 0; i < group->count && all; i++) {
        const summary_cell *cell = &group->cells[i];
        all = fabs(cell->mean - rounds * (1.0 - cell->optimal)) < 1e-6 * rounds;
    }
    return all;
}

static void add_percent(text *page, double share)
{
    page_number(page, 100.0 * share, 1);
    text_add(page, "%%");
}

/* "eenet chose the best arm in 73.1% of the rounds; linucb 72.0%, uniform 25.0%.": the best three, and uniform. */
static void add_best_arms(text *page, const summary_group *group)
{
    enum { SHOWN = 3 };
    size_t *order; /* (group->count) */
    ee_status status = memory_create(NULL, &order, group->count, sizeof *order, page->error);
    if (status) {
        page->status = status;
        return;
    }
    size_t count = summary_order(group, SUMMARY_MAIN, order);
    if (count) text_add(page, "<p>");
    for (size_t i = 0; i < count; i++) {
        const summary_cell *cell = &group->cells[order[i]];
        if (i >= SHOWN && strcmp(cell->runs[0]->policy, "uniform") != 0) continue;
        text_add(page, i > 1 ? ", " : i ? "; " : "");
        text_html(page, cell->labels[SUMMARY_MAIN]);
        text_add(page, i ? " " : " chose the best arm in ");
        add_percent(page, cell->optimal);
        text_add(page, i ? "" : " of the rounds");
    }
    if (count) text_add(page, ".</p>\n");
    memory_free(order);
}

void report_headlines(text *page, const summary *of)
{
    const summary_groups *list = &of->results;
    if (list->count == 1) {
        text_add(page, "<p class=\"headline\">");
        add_standing(page, &list->groups[0], list->groups[0].title, true);
        text_add(page, ".</p>\n");
        if (is_right_or_wrong(&list->groups[0])) add_best_arms(page, &list->groups[0]);
    }
    if (list->count < 2) return;
    add_overall(page, list);
    text_add(page, "<ul class=\"headlines\">\n");
    for (size_t g = 0; g < list->count; g++) {
        const summary_group *group = &list->groups[g];
        text_add(page, "<li><a href=\"#%s\">", group->file);
        text_html(page, group->title);
        text_add(page, "</a>: ");
        add_standing(page, group, NULL, any_tested(list));
        if (is_right_or_wrong(group)) {
            text_add(page, "; best arm in ");
            add_percent(page, group->cells[group->lead.best].optimal);
            text_add(page, " of the rounds");
        }
        text_add(page, "</li>\n");
    }
    text_add(page, "</ul>\n");
}

/* ---- warnings ---- */

/* How many seeds the comparisons of a group have, and how many they would need for any to be significant: Holm's
 * correction multiplies the least p by the number of comparisons. */
typedef struct seed_needs {
    size_t has, needs; /* needs is 0 if nothing is compared */
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
    if (!tests) { /* the reference did not run: the lead is tested */
        tests = group->lead.tests;
        out.has = group->lead.by.pairs;
    }
    if (!tests) return out;
    out.needs = 1;
    while (out.needs < MOST && (double)tests * comparison_least_p(out.needs) >= COMPARISON_LEVEL) out.needs++;
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
        text_add(page, most ? ", " : "<p class=\"note\"><b>Too few seeds to test for significance:</b> ");
        text_html(page, group->title);
        text_add(page, " has %zu and needs %zu", seeds.has, seeds.needs);
        if (seeds.needs > most) most = seeds.needs;
    }
    if (most)
        text_add(page,
                 ". No difference there can be significant, so the p column shows a dash. To test, repeat the "
                 "command with more seeds, such as <code>-s 0-%zu</code>; it runs only those that are missing.</p>\n",
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
            text_html(page, group->title);
            text_add(page, "</b>: some policies have fewer than %zu runs: ", most);
        }
        text_add(page, begun ? ", " : "");
        text_html(page, summary_name(cell));
        text_add(page, " has %zu", cell->count);
        begun = true;
    }
    if (begun) text_add(page, ". Differences use the seeds that both policies have.</p>\n");
}

void report_warnings(text *page, const summary *of)
{
    for (size_t g = 0; g < of->results.count; g++) {
        const summary_group *group = &of->results.groups[g];
        if (group->other_files) {
            text_add(page, "<p class=\"note\"><b>");
            text_html(page, group->first->dataset);
            text_add(page,
                     "</b> was read from different files with the same name. This report shows them as separate data "
                     "sets; the checksum of this one is %016" PRIx64 ".</p>\n",
                     group->first->fingerprint);
        }
        warn_of_missing_runs(page, group);
    }
    warn_of_few_seeds(page, of);
}
