#include "figure_cells.h"

#include <math.h>

#include "base/memory.h"
#include "data/values/text.h"

static summary_part part_of(figure_kind kind)
{
    static const summary_part parts[FIGURE_KINDS] = {
        [FIGURE_LABEL] = SUMMARY_LABEL, [FIGURE_DECISION] = SUMMARY_DECISION, [FIGURE_WEIGHT] = SUMMARY_WEIGHT};
    return parts[kind];
}

/* Some cells have no exploration scores, and some no stored curve. */
static bool shows(const summary_cell *cell, figure_kind kind)
{
    if (!cell->labels[part_of(kind)]) return false;
    if (kind == FIGURE_COST) return true;
    return kind == FIGURE_DIRECTION ? cell->direction.arms > 0 : cell->points > 0;
}

bool figure_has(const summary_group *group, figure_kind kind)
{
    for (size_t i = 0; i < group->count; i++)
        if (shows(&group->cells[i], kind)) return true;
    return false;
}

ee_status figure_name(const summary_group *group, figure_kind kind, char **out, ee_error *error)
{
    static const char *const kinds[FIGURE_KINDS] = {"regret",          "ablation-label", "ablation-decision",
                                                    "ablation-weight", "exploration",    "cost"};
    text name = text_start(error);
    text_add(&name, "%s-%s", kinds[kind], group->file);
    *out = name.bytes;
    return name.status;
}

size_t figure_style(const summary_group *group, summary_part part, size_t cell)
{
    if (part == SUMMARY_MAIN) return group->cells[cell].style;
    size_t style = 1;
    for (size_t i = 0; i < cell; i++) style += group->cells[i].labels[part] && i != group->references[part];
    return cell == group->references[part] ? 0 : style;
}

ee_status figure_cells_create(const summary_group *group, figure_kind kind, figure_cells *out, ee_error *error)
{
    *out = (figure_cells){.group = group, .part = part_of(kind)};
    ee_status status = memory_create(NULL, &out->order, group->count, sizeof *out->order, error);
    if (status) return status;
    size_t all = summary_order(group, out->part, out->order);
    for (size_t i = 0; i < all; i++)
        if (shows(&group->cells[out->order[i]], kind)) out->order[out->count++] = out->order[i];
    while (out->reference < out->count && out->order[out->reference] != group->references[out->part]) out->reference++;
    return EE_OK;
}

void figure_cells_release(figure_cells *self)
{
    memory_free(self->order);
    *self = (figure_cells){0};
}

const summary_cell *figure_cells_at(const figure_cells *of, size_t place)
{
    return &of->group->cells[of->order[place]];
}

const char *figure_cells_label(const figure_cells *of, size_t place)
{
    return figure_cells_at(of, place)->labels[of->part];
}

size_t figure_cells_style(const figure_cells *of, size_t place)
{
    return figure_style(of->group, of->part, of->order[place]);
}

bool figure_cells_compared(const figure_cells *of)
{
    return of->count > 1 && of->reference < of->count;
}

/* An axis cannot be drawn from zero to zero. */
static double above_zero(double value)
{
    return value > 1e-6 ? value : 1.0;
}

/* Next to uniform's regret all others would look alike: the frame ends at twice the lowest. */
double figure_cells_top(const figure_cells *of)
{
    const summary_cell *least = figure_cells_at(of, 0), *most = figure_cells_at(of, of->count - 1);
    double highest = most->mean + (most->deviation > 0.0 ? most->deviation : 0.0);
    return above_zero(least->mean > 0.0 ? fmin(highest, FIGURE_FRAME * least->mean) : highest);
}

/* The nearest half of the others are in the frame. */
void figure_cells_differences(const figure_cells *of, double *low, double *high)
{
    const summary_cell *reference = figure_cells_at(of, of->reference);
    double widest = 0.0, least = 0.0;
    for (size_t half = of->count > 2 ? (of->count - 1) / 2 : 1; half; half--) {
        double next = INFINITY; /* the nearest of those beyond */
        for (size_t i = 0; i < of->count; i++) {
            double distance = fabs(figure_cells_at(of, i)->mean - reference->mean);
            if (distance > widest) next = fmin(next, distance);
        }
        if (isfinite(next)) widest = next;
    }
    for (size_t i = 0; i < of->count; i++)
        for (size_t k = 0; k < figure_cells_at(of, i)->points; k++)
            least = fmin(least, figure_cells_at(of, i)->curve[k].mean - reference->curve[k].mean);
    *high = above_zero(2.5 * widest);
    *low = fmin(fmax(1.1 * least, -*high), -0.1 * *high);
}
