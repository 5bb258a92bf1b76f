#include "figure.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "drawing.h"

/* ---- regret over the rounds ---- */

static summary_part part_of(figure_kind kind)
{
    static const summary_part parts[FIGURE_KINDS] = {
        [FIGURE_LABEL] = SUMMARY_LABEL, [FIGURE_DECISION] = SUMMARY_DECISION, [FIGURE_WEIGHT] = SUMMARY_WEIGHT};
    return parts[kind];
}

size_t figure_style(const summary_group *group, summary_part part, size_t cell)
{
    if (part == SUMMARY_MAIN) return group->cells[cell].style;
    size_t style = 1;
    for (size_t i = 0; i < cell; i++) style += group->cells[i].labels[part] && i != group->references[part];
    return cell == group->references[part] ? 0 : style;
}

/* Takes the cells that have no curve out of the order. */
static size_t order_curves(const summary_group *group, summary_part part, size_t *order)
{
    size_t all = summary_order(group, part, order), count = 0;
    for (size_t i = 0; i < all; i++)
        if (group->cells[order[i]].points) order[count++] = order[i];
    return count;
}

/* The marks of each line stand elsewhere, so that they do not hide each other. */
static void add_curve(text *script, const summary_group *group, summary_part part, size_t cell, const char *name,
                      size_t block, int column)
{
    size_t style = figure_style(group, part, cell);
    text_add(script, "'%s.dat' index %zu using 1:%d with linespoints ps 0.6 pi %zu ", name, block, column,
             group->cells[cell].points / 8 + 1 + 3 * style);
    drawing_line_style(script, style);
}

/* An axis that is empty or logarithmic cannot be drawn from zero to zero. */
static double above_zero(double value, double least)
{
    return value > least ? value : least;
}

/* Beside uniform's regret all others look alike: the frame ends at twice the least. */
static double frame_top(const summary_group *group, const size_t *order, size_t count)
{
    const summary_cell *least = &group->cells[order[0]], *most = &group->cells[order[count - 1]];
    double highest = most->mean + (most->deviation > 0.0 ? most->deviation : 0.0);
    return least->mean > 0.0 ? fmin(highest, FIGURE_FRAME * least->mean) : highest;
}

/* The cells of a figure of regret. */
typedef struct curves {
    const summary_group *group;
    summary_part part;
    const size_t *order; /* (count) of the cells, least regret first */
    size_t count;
    size_t reference; /* its place in order; count where there is none */
    const char *name; /* of the figure */
} curves;

/* The highest comes first, as it is named first. */
static size_t block_of(const curves *of, size_t place)
{
    return of->count - 1 - place;
}

static void add_curve_data(const curves *of, text *data)
{
    for (size_t i = of->count; i-- > 0;) {
        const summary_cell *cell = &of->group->cells[of->order[i]];
        const summary_cell *reference = of->reference < of->count ? &of->group->cells[of->order[of->reference]] : NULL;
        text_add(data, "%s# %s: round, mean, standard deviation, mean less that of the reference\n",
                 block_of(of, i) ? "\n\n" : "", cell->labels[of->part]);
        for (size_t k = 0; k < cell->points; k++) {
            const summary_point *point = &cell->curve[k];
            text_add(data, "%.0f %.8g %.8g %.8g\n", point->round, point->mean, point->deviation,
                     reference ? point->mean - reference->curve[k].mean : NAN);
        }
    }
}

/* The lines of a column, the reference's below the others; those that are named, the highest first. */
static void add_lines(const curves *of, int column, bool named, text *script)
{
    size_t reference = of->reference;
    if (reference < of->count) {
        add_curve(script, of->group, of->part, of->order[reference], of->name, block_of(of, reference), column);
        text_add(script, " notitle");
    }
    for (size_t i = of->count; i-- > 0;) {
        size_t cell = of->order[i];
        if (i == reference && !named) continue;
        text_add(script, i + 1 < of->count || reference < of->count ? ", \\\n" : "");
        if (i == reference) {
            text_add(script, "keyentry with linespoints ps 0.6 ");
            drawing_line_style(script, figure_style(of->group, of->part, cell));
        } else {
            add_curve(script, of->group, of->part, cell, of->name, block_of(of, i), column);
        }
        text_add(script, named ? " title " : " notitle");
        if (named) drawing_quoted(script, of->group->cells[cell].labels[of->part]);
    }
}

/* The frame of the differences: the nearest half of the others are in it. */
static void frame_differences(const curves *of, double *low, double *high)
{
    const summary_cell *cells = of->group->cells, *reference = &cells[of->order[of->reference]];
    double widest = 0.0, least = 0.0;
    for (size_t half = of->count > 2 ? (of->count - 1) / 2 : 1; half; half--) {
        double next = INFINITY; /* the nearest of those beyond */
        for (size_t i = 0; i < of->count; i++) {
            double distance = fabs(cells[of->order[i]].mean - reference->mean);
            if (distance > widest) next = fmin(next, distance);
        }
        if (isfinite(next)) widest = next;
    }
    for (size_t i = 0; i < of->count; i++)
        for (size_t k = 0; k < cells[of->order[i]].points; k++)
            least = fmin(least, cells[of->order[i]].curve[k].mean - reference->curve[k].mean);
    *high = above_zero(2.5 * widest, 1e-6);
    *low = fmin(fmax(1.1 * least, -*high), -0.1 * *high);
}

static void add_differences(const curves *of, text *script)
{
    double low, high;
    frame_differences(of, &low, &high);
    text_add(script,
             "\nset tmargin at screen 0.39\nset bmargin at screen 0.11\nset xlabel 'round'\nset ylabel 'difference'\n"
             "set yrange [%.6g:%.6g]\nplot ",
             low, high);
    add_lines(of, 4, false, script);
}

/* The regret, and where there is a reference, below it, how far each line is from that. */
static void add_regret(const curves *of, text *script, text *data)
{
    const summary_group *group = of->group;
    bool compared = of->count > 1 && of->reference < of->count;
    size_t longest = 0;
    for (size_t i = 0; i < of->count; i++) {
        size_t length = strlen(group->cells[of->order[i]].labels[of->part]);
        if (length > longest) longest = length;
    }
    add_curve_data(of, data);
    text_add(script, "set xrange [0:%" PRIu64 "]\nset lmargin 10\nset rmargin %zu\n", group->first->rounds,
             longest + 9);
    drawing_begin(script, of->name, compared ? 640 : 480);
    text_add(script, "set multiplot\n%s\nset ylabel 'regret'\nset yrange [0:%.6g]\nplot ",
             compared ? "set tmargin at screen 0.97\nset bmargin at screen 0.47\nunset xlabel" : "set xlabel 'round'",
             above_zero(frame_top(group, of->order, of->count), 1e-6));
    for (size_t i = of->count; i-- > 0;)
        if (group->cells[of->order[i]].count > 1)
            text_add(script, "'%s.dat' index %zu using 1:($2-$3):($2+$3) with filledcurves fc rgb '%s' notitle, \\\n",
                     of->name, block_of(of, i), drawing_colour(figure_style(group, of->part, of->order[i])));
    add_lines(of, 2, true, script);
    if (compared) add_differences(of, script);
    text_add(script, "\nunset multiplot");
    drawing_end(script);
}

/* ---- exploration direction ---- */

/* Takes the cells that do not explore by scores out of the order. */
static size_t order_directions(const summary_group *group, size_t *order)
{
    size_t all = summary_order(group, SUMMARY_MAIN, order), count = 0;
    for (size_t i = 0; i < all; i++)
        if (group->cells[order[i]].direction.arms) order[count++] = order[i];
    return count;
}

static void add_directions(const summary_group *group, const size_t *order, size_t count, const char *name,
                           text *script, text *data)
{
    text_add(script,
             "set xlabel 'round'\nset ylabel 'correlation of exploration with h - f1'\nset xrange [0:%" PRIu64 "]\n"
             "set yrange [-1:1]\nset ytics 0.5\nset xzeroaxis lt 1 lc rgb '#555555'\n",
             group->first->rounds);
    drawing_begin(script, name, 380);
    text_add(script, "plot ");
    for (size_t i = 0; i < count; i++) {
        const summary_cell *cell = &group->cells[order[i]];
        text_add(data, "%s# %s: last round of the part, correlation\n", i ? "\n\n" : "", cell->labels[SUMMARY_MAIN]);
        for (size_t k = 0; k < RUN_PARTS; k++)
            text_add(data, "%" PRIu64 " %.6g\n", (k + 1) * group->first->rounds / RUN_PARTS, cell->correlations[k]);
        text_add(script, "'%s.dat' index %zu using 1:2 with linespoints ps 0.6 ", name, i);
        drawing_line_style(script, cell->style);
        text_add(script, " title ");
        drawing_quoted(script, cell->labels[SUMMARY_MAIN]);
        if (i + 1 < count) text_add(script, ", \\\n");
    }
    drawing_end(script);
}

/* ---- time and memory ---- */

static void add_panel(text *script, const char *name, const char *title, int column, double low, double high,
                      const char *colour)
{
    text_add(script,
             "set title '%s'\n"
             "set xrange [%.6g:%.6g]\n"
             "plot '%s.dat' using (%.6g):0:($%d-%.6g):(0) with vectors nohead lw 1.2 lc rgb '#cfcfcf' notitle, \\\n"
             "'' using %d:0:ytic(%s) with points pt 7 ps 0.8 lc rgb '%s' notitle, \\\n"
             "'' using %d:0:(sprintf('%%.3g', $%d)) with labels left offset 1,0 textcolor rgb '#333333' notitle\n",
             title, low, high, name, low, column, low, column, column == 2 ? "1" : "''", colour, column, column);
}

static void add_cost(const summary_group *group, const size_t *order, size_t count, const char *name, text *script,
                     text *data)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {0.0, 0.0};
    size_t longest = 0;
    text_add(data, "# policy, seconds of a run, megabytes\n");
    for (size_t i = 0; i < count; i++) {
        const summary_cell *cell = &group->cells[order[i]];
        const char *label = cell->labels[SUMMARY_MAIN];
        double values[2] = {above_zero(cell->seconds, 1e-4), above_zero(cell->bytes / 1e6, 1e-4)};
        for (size_t k = 0; k < 2; k++) {
            low[k] = fmin(low[k], values[k]);
            high[k] = fmax(high[k], values[k]);
        }
        if (strlen(label) > longest) longest = strlen(label);
        text_add(data, "\"");
        for (; *label; label++) text_bytes(data, *label == '"' ? "'" : label, 1);
        text_add(data, "\" %.6g %.6g\n", values[0], values[1]);
    }
    text_add(script,
             "unset key\nset logscale x\nset format x '%%g'\nset border 1\nset grid noytics\nset tics scale 0.4\n"
             "set yrange [%.1f:-0.6]\n",
             (double)count - 0.4);
    drawing_begin(script, name, 110 + 22 * (int)count);
    text_add(script, "set multiplot layout 1,2\nset lmargin %zu\nset rmargin 1\n", longest + 2);
    /* To the right of the largest there is room for its number. */
    add_panel(script, name, "seconds of processor time a run", 2, low[0] / 2.0,
              high[0] * pow(high[0] / low[0], 0.35) * 2.5, drawing_colour(1));
    text_add(script, "set lmargin 3\nset rmargin 2\n");
    add_panel(script, name, "megabytes held at the end", 3, low[1] / 2.0, high[1] * pow(high[1] / low[1], 0.35) * 2.5,
              drawing_colour(2));
    text_add(script, "unset multiplot");
    drawing_end(script);
}

/* ---- a figure ---- */

static const char *const kind_names[FIGURE_KINDS] = {"regret",          "ablation-label", "ablation-decision",
                                                     "ablation-weight", "exploration",    "cost"};

ee_status figure_name(const summary_group *group, figure_kind kind, char **out, ee_error *error)
{
    text name = text_start(error);
    text_add(&name, "%s-%s", kind_names[kind], group->file);
    *out = name.bytes;
    return name.status;
}

static size_t order_cells(const summary_group *group, figure_kind kind, size_t *order)
{
    if (kind == FIGURE_DIRECTION) return order_directions(group, order);
    if (kind == FIGURE_COST) return summary_order(group, SUMMARY_MAIN, order);
    return order_curves(group, part_of(kind), order);
}

bool figure_has(const summary_group *group, figure_kind kind)
{
    for (size_t i = 0; i < group->count; i++) {
        const summary_cell *cell = &group->cells[i];
        if (!cell->labels[part_of(kind)]) continue;
        if (kind == FIGURE_COST || (kind == FIGURE_DIRECTION ? cell->direction.arms > 0 : cell->points > 0))
            return true;
    }
    return false;
}

ee_status figure_draw(const summary_group *group, figure_kind kind, const char *folder, ee_error *error)
{
    text script = text_start(error), data = text_start(error);
    char *name = NULL;
    size_t *order = NULL;
    ee_status status = figure_name(group, kind, &name, error);
    if (!status) status = memory_create(NULL, &order, group->count, sizeof *order, error);
    if (status) goto done;
    size_t count = order_cells(group, kind, order);
    curves of = {group, part_of(kind), order, count, 0, name};
    while (of.reference < count && order[of.reference] != group->references[of.part]) of.reference++;
    drawing_head(&script, name);
    if (kind == FIGURE_DIRECTION)
        add_directions(group, order, count, name, &script, &data);
    else if (kind == FIGURE_COST)
        add_cost(group, order, count, name, &script, &data);
    else
        add_regret(&of, &script, &data);
    status = drawing_save(folder, name, &script, &data);
done:
    memory_free(order);
    memory_free(name);
    return status;
}

void figure_embed(const summary_group *group, figure_kind kind, const char *folder, const char *title, text *page)
{
    char *name = NULL;
    if (!page->status) page->status = figure_name(group, kind, &name, page->error);
    drawing_embed(folder, name, title, page);
    memory_free(name);
}
