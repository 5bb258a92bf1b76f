#include "summary_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "lab/runs/assignments.h"
#include "summary_names.h"

/* ---- ablations ---- */

/* Whether some options differ, and all that do are among the two named ones. */
static bool differ_in(const char *left, const char *right, const char *name, const char *other)
{
    assignment one;
    bool differ = false;
    while (assignment_next(&left, &one)) {
        if (!assignment_differs(&one, right)) continue;
        if (!assignment_has_name(&one, name) && !assignment_has_name(&one, other)) return false;
        differ = true;
    }
    return differ;
}

static bool is_ablation(const summary_cell *cell, const summary_cell *base, summary_part part)
{
    static const char *const names[SUMMARY_PARTS][2] = {[SUMMARY_LABEL] = {"label", "label"},
                                                        [SUMMARY_DECISION] = {"decision", "hybrid_after"},
                                                        [SUMMARY_WEIGHT] = {"w2", "w2"}};
    const char *name = names[part][0], *other = names[part][1];
    return strcmp(cell_policy(cell), cell_policy(base)) == 0 &&
           differ_in(cell_options(cell), cell_options(base), name, other);
}

/* ---- the reference ---- */

static bool has_all(const char *options, const char *wanted)
{
    assignment one;
    while (assignment_next(&wanted, &one))
        if (!assignment_is_in(&one, options)) return false;
    return true;
}

/* The first cell of "eenet", "eenet:paper" or "eenet label=abs": of that policy, else of a preset of it, with these
 * options. group->count: none. */
static size_t find_policy(const summary_group *group, const char *name)
{
    size_t length = strcspn(name, " "), preset = group->count;
    for (size_t i = 0; i < group->count; i++) {
        const char *policy = cell_policy(&group->cells[i]);
        if (strncmp(policy, name, length) != 0 || !has_all(cell_options(&group->cells[i]), name + length)) continue;
        if (policy[length] == '\0') return i;
        if (policy[length] == ':' && preset == group->count) preset = i;
    }
    return preset;
}

/* The cell with this name in a report without --reference, else the first of the named policy. */
static size_t find_reference(const summary_group *group, const char *name)
{
    for (size_t i = 0; i < group->count; i++)
        for (summary_part part = SUMMARY_MAIN; part < SUMMARY_PARTS; part++) {
            const char *label = group->cells[i].labels[part];
            if (label && strcmp(label, name) == 0) return i;
        }
    return find_policy(group, name);
}

static bool is_named_before(const summary_groups *list, size_t group, size_t cell)
{
    const char *label = summary_name(&list->groups[group].cells[cell]);
    for (size_t g = 0; g <= group; g++)
        for (size_t i = 0; i < (g < group ? list->groups[g].count : cell); i++)
            if (strcmp(summary_name(&list->groups[g].cells[i]), label) == 0) return true;
    return false;
}

/* As many names as fit: "eenet, greedy and 3 more". */
static void list_names(const summary_groups *list, char *names, size_t capacity)
{
    enum { MORE = 24 }; /* bytes of " and 3 more" */
    size_t length = 0, more = 0;
    for (size_t g = 0; g < list->count; g++)
        for (size_t i = 0; i < list->groups[g].count; i++) {
            const char *label = summary_name(&list->groups[g].cells[i]);
            if (is_named_before(list, g, i)) continue;
            if (more || length + strlen(label) + MORE > capacity)
                more++;
            else
                length += (size_t)snprintf(names + length, capacity - length, "%s%s", length ? ", " : "", label);
        }
    if (more) snprintf(names + length, capacity - length, " and %zu more", more);
}

ee_status summary_fail_reference(const summary_groups *list, const char *reference, ee_error *error)
{
    char names[150] = "";
    list_names(list, names, sizeof names);
    return status_fail(error, EE_BAD_INPUT, "no runs of the reference '%.60s'; the results have %s", reference, names);
}

/* ---- the parts ---- */

/* Makes the cell at main the reference. Ablations are of this cell if it is EE-Net, else of the first EE-Net cell. */
static ee_status split_around(summary_group *group, size_t main, ee_error *error)
{
    bool *shown; /* (SUMMARY_PARTS, count) */
    ee_status status = memory_create(NULL, &shown, SUMMARY_PARTS * group->count, sizeof *shown, error);
    if (status) return status;
    size_t length = strlen("eenet");
    const char *policy = main < group->count ? cell_policy(&group->cells[main]) : "";
    bool is_eenet = strncmp(policy, "eenet", length) == 0 && (policy[length] == '\0' || policy[length] == ':');
    size_t base = is_eenet ? main : find_policy(group, "eenet");
    group->references[SUMMARY_MAIN] = main;
    for (size_t i = 0; i < group->count; i++) shown[i] = true;
    for (summary_part part = SUMMARY_LABEL; part < SUMMARY_PARTS; part++) {
        group->references[part] = group->count;
        for (size_t i = 0; i < group->count && base < group->count; i++) {
            if (i == base || i == main || !is_ablation(&group->cells[i], &group->cells[base], part)) continue;
            shown[i] = false;
            shown[part * group->count + i] = shown[part * group->count + base] = true;
            group->references[part] = base;
        }
    }
    for (summary_part part = SUMMARY_MAIN; part < SUMMARY_PARTS && !status; part++)
        status = summary_name_part(group, part, shown + part * group->count, error);
    memory_free(shown);
    return status;
}

static void free_names(summary_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        for (summary_part part = SUMMARY_MAIN; part < SUMMARY_PARTS; part++) {
            memory_free(group->cells[i].labels[part]);
            group->cells[i].labels[part] = NULL;
        }
}

ee_status summary_split(summary_group *group, const char *reference, ee_error *error)
{
    ee_status status = split_around(group, find_policy(group, "eenet"), error);
    if (status || !reference) return status;
    size_t main = find_reference(group, reference);
    if (main == group->references[SUMMARY_MAIN]) return EE_OK;
    free_names(group);
    return split_around(group, main, error);
}
