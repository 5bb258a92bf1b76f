#include "summary_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/values/text.h"
#include "lab/runs/assignments.h"

static ee_status keep_text(text *from, char **out)
{
    *out = from->bytes;
    return from->status;
}

/* Whether a cell of the same policy, among those shown in the part, has another value. */
static bool distinguishes(const summary_group *group, const bool *shown, const summary_cell *cell,
                          const assignment *one)
{
    for (size_t i = 0; i < group->count; i++)
        if (shown[i] && strcmp(cell_policy(&group->cells[i]), cell_policy(cell)) == 0 &&
            assignment_differs(one, cell_options(&group->cells[i])))
            return true;
    return false;
}

/* "neural-ucb nu=0.1": the policy, and the options in which the part's cells of that policy differ; "neural-ucb #2" if
 * that is too long for a legend. */
static ee_status name_cell(const summary_group *group, const bool *shown, size_t place, char **out, ee_error *error)
{
    enum { LONGEST = 60 };
    const summary_cell *cell = &group->cells[place];
    text name = text_start(error);
    text_add(&name, "%s", cell_policy(cell));
    size_t policy_length = name.length;
    const char *options = cell_options(cell);
    assignment one;
    while (assignment_next(&options, &one))
        if (distinguishes(group, shown, cell, &one)) text_add(&name, " %.*s", (int)one.length, one.name);
    if (!name.status && name.length > policy_length + LONGEST) {
        size_t number = 1;
        for (size_t i = 0; i < place; i++)
            number += shown[i] && strcmp(cell_policy(&group->cells[i]), cell_policy(cell)) == 0;
        name.length = policy_length;
        text_add(&name, " #%zu", number);
    }
    return keep_text(&name, out);
}

ee_status summary_name_part(summary_group *group, summary_part part, const bool *shown, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < group->count && !status; i++)
        if (shown[i]) status = name_cell(group, shown, i, &group->cells[i].labels[part], error);
    return status;
}

static bool has_style(const summary_group *group, size_t style)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->cells[i].style == style) return true;
    return false;
}

/* The style of a cell in an earlier group with the same policy and options, else with the same name; 0: none. */
static size_t earlier_style(const summary_groups *list, size_t g, const summary_cell *cell)
{
    size_t same_name = 0;
    for (size_t k = 0; k < g; k++)
        for (size_t i = 0; i < list->groups[k].count; i++) {
            const summary_cell *other = &list->groups[k].cells[i];
            if (!other->style || has_style(&list->groups[g], other->style)) continue;
            if (strcmp(cell_policy(other), cell_policy(cell)) == 0 &&
                strcmp(cell_options(other), cell_options(cell)) == 0)
                return other->style;
            if (!same_name && strcmp(other->labels[SUMMARY_MAIN], cell->labels[SUMMARY_MAIN]) == 0)
                same_name = other->style;
        }
    return same_name;
}

void summary_number_styles(summary_groups *list)
{
    size_t next = 1;
    for (size_t g = 0; g < list->count; g++)
        for (size_t i = 0; i < list->groups[g].count; i++) {
            summary_cell *cell = &list->groups[g].cells[i];
            if (!cell->labels[SUMMARY_MAIN] || i == list->groups[g].references[SUMMARY_MAIN]) continue;
            cell->style = earlier_style(list, g, cell);
            if (!cell->style) cell->style = next++;
        }
}

static ee_status name_file(const summary_groups *list, size_t place, ee_error *error)
{
    enum { LONGEST = 60 };
    summary_group *group = &list->groups[place];
    text name = text_start(error);
    for (const char *from = group->label; *from && name.length < LONGEST; from++) {
        bool plain = isalnum((unsigned char)*from) != 0;
        if (plain || (name.length && name.bytes[name.length - 1] != '-'))
            text_add(&name, "%c", plain ? tolower((unsigned char)*from) : '-');
    }
    while (name.length && name.bytes[name.length - 1] == '-') name.bytes[--name.length] = '\0';
    bool taken = name.length == 0;
    for (size_t i = 0; i < place && !taken; i++) taken = name.bytes && strcmp(list->groups[i].file, name.bytes) == 0;
    if (taken) text_add(&name, "%s%zu", name.length ? "-" : "", place + 1);
    return keep_text(&name, &group->file);
}

/* "customers" of "table:customers,label=answer", "synthetic:cosine" of "synthetic:cosine,arms=3". */
static const char *short_name(const char *whole, size_t *length)
{
    static const char table[] = "table:";
    size_t skipped = strncmp(whole, table, sizeof table - 1) == 0 ? sizeof table - 1 : 0;
    *length = strcspn(whole + skipped, ",");
    if (!*length) skipped = 0;
    if (!*length) *length = strlen(whole);
    return whole + skipped;
}

/* Whether no other data set has the short name. */
static bool is_unique(const summary_groups *list, const char *whole)
{
    size_t length, other_length;
    const char *name = short_name(whole, &length);
    for (size_t i = 0; i < list->count; i++) {
        const char *other = short_name(list->groups[i].first->dataset, &other_length);
        if (strcmp(list->groups[i].first->dataset, whole) == 0) continue;
        if (other_length == length && memcmp(other, name, length) == 0) return false;
    }
    return true;
}

/* The name of the data set, then what distinguishes the group from others. */
static ee_status write_label(const summary_group *group, const char *name, size_t length, bool other_rounds, char **out,
                             ee_error *error)
{
    text label = text_start(error);
    text_add(&label, "%.*s", (int)length, name);
    if (other_rounds) text_add(&label, ", %" PRIu64 " rounds", group->first->rounds);
    char late[DELAY_TEXT];
    delay_format(&group->first->late, late);
    if (!delay_is_none(&group->first->late)) text_add(&label, ", delay %s", late);
    if (group->first->slots) text_add(&label, ", %zu slots", group->first->slots);
    if (group->other_files) text_add(&label, ", files %08" PRIx64, group->first->fingerprint >> 32);
    return keep_text(&label, out);
}

ee_status summary_name_group(const summary_groups *list, size_t place, ee_error *error)
{
    summary_group *group = &list->groups[place];
    bool other_rounds = false;
    for (size_t i = 0; i < list->count; i++) {
        const stored_run *first = list->groups[i].first;
        if (i == place || strcmp(first->dataset, group->first->dataset) != 0) continue;
        if (first->fingerprint != group->first->fingerprint) group->other_files = true;
        if (first->rounds != group->first->rounds) other_rounds = true;
    }
    const char *whole = group->first->dataset, *name = whole;
    size_t length = strlen(whole);
    ee_status status = write_label(group, whole, length, other_rounds, &group->label, error);
    if (is_unique(list, whole)) name = short_name(whole, &length);
    if (!status) status = write_label(group, name, length, other_rounds, &group->title, error);
    return status ? status : name_file(list, place, error);
}
