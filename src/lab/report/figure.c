#include "figure.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "drawing.h"

/* ---- regret over the rounds ---- */

/* The highest comes first, as it is named first. */
static size_t block_of(const figure_cells *cells, size_t place)
{
    return cells->count - 1 - place;
}

static void add_curve_data(const figure_cells *cells, text *data)
{
    const summary_cell *reference = cells->reference < cells->count ? figure_cells_at(cells, cells->reference) : NULL;
    for (size_t i = cells->count; i-- > 0;) {
        const summary_cell *cell = figure_cells_at(cells, i);
        text_add(data, "%s# %s: round, mean, standard deviation, mean minus the reference's mean\n",
                 block_of(cells, i) ? "\n\n" : "", figure_cells_label(cells, i));
        for (size_t k = 0; k < cell->points; k++) {
            const summary_point *point = &cell->curve[k];
            text_add(data, "%.0f %.8g %.8g %.8g\n", point->round, point->mean, point->deviation,
                     reference ? point->mean - reference->curve[k].mean : NAN);
        }
    }
}

/* Each line has its marks at different rounds, so that they do not cover each other. */
static void add_curve(text *script, const figure_cells *cells, size_t place, const char *name, int column)
{
    size_t style = figure_cells_style(cells, place);
    text_add(script, "'%s.dat' index %zu using 1:%d with linespoints ps 0.6 pi %zu ", name, block_of(cells, place),
             column, figure_cells_at(cells, place)->points / 8 + 1 + 3 * style);
    drawing_line_style(script, style);
}

/* The lines of a column, the reference's below the others; those that are named, the highest first. */
static void add_lines(const figure_cells *cells, const char *name, int column, bool named, text *script)
{
    size_t reference = cells->reference;
    if (reference < cells->count) {
        add_curve(script, cells, reference, name, column);
        text_add(script, " notitle");
    }
    for (size_t i = cells->count; i-- > 0;) {
        if (i == reference && !named) continue;
        text_add(script, i + 1 < cells->count || reference < cells->count ? ", \\\n" : "");
        if (i == reference) {
            text_add(script, "keyentry with linespoints ps 0.6 ");
            drawing_line_style(script, figure_cells_style(cells, i));
        } else {
            add_curve(script, cells, i, name, column);
        }
        text_add(script, named ? " title " : " notitle");
        if (named) drawing_quoted(script, figure_cells_label(cells, i));
    }
}

static void add_differences(const figure_cells *cells, const char *name, text *script)
{
    double low, high;
    figure_cells_differences(cells, &low, &high);
    text_add(script,
             "\nset tmargin at screen 0.39\nset bmargin at screen 0.11\nset xlabel 'round'\nset ylabel 'difference'\n"
             "set yrange [%.6g:%.6g]\nplot ",
             low, high);
    add_lines(cells, name, 4, false, script);
}

static void add_bands(const figure_cells *cells, const char *name, text *script)
{
    for (size_t i = cells->count; i-- > 0;)
        if (figure_cells_at(cells, i)->count > 1)
            text_add(script, "'%s.dat' index %zu using 1:($2-$3):($2+$3) with filledcurves fc rgb '%s' notitle, \\\n",
                     name, block_of(cells, i), drawing_colour(figure_cells_style(cells, i)));
}

/* The regret, and where there is a reference, below it, how far each line is from that. */
static void add_regret(const figure_cells *cells, const char *name, text *script, text *data)
{
    bool compared = figure_cells_compared(cells);
    size_t longest = 0;
    for (size_t i = 0; i < cells->count; i++) {
        size_t length = strlen(figure_cells_label(cells, i));
        if (length > longest) longest = length;
    }
    add_curve_data(cells, data);
    text_add(script, "set xrange [0:%" PRIu64 "]\nset lmargin 10\nset rmargin %zu\n", cells->group->first->rounds,
             longest + 9);
    drawing_begin(script, name, compared ? 640 : 480);
    text_add(script, "set multiplot\n%s\nset ylabel 'regret'\nset yrange [0:%.6g]\nplot ",
             compared ? "set tmargin at screen 0.97\nset bmargin at screen 0.47\nunset xlabel" : "set xlabel 'round'",
             figure_cells_top(cells));
    add_bands(cells, name, script);
    add_lines(cells, name, 2, true, script);
    if (compared) add_differences(cells, name, script);
    text_add(script, "\nunset multiplot");
    drawing_end(script);
}

/* ---- exploration direction ---- */

static void add_directions(const figure_cells *cells, const char *name, text *script, text *data)
{
    uint64_t rounds = cells->group->first->rounds;
    text_add(script,
             "set xlabel 'round'\nset ylabel 'correlation of exploration with the error of f1'\nset xrange [0:%" PRIu64
             "]\n"
             "set yrange [-1:1]\nset ytics 0.5\nset xzeroaxis lt 1 lc rgb '#555555'\n",
             rounds);
    drawing_begin(script, name, 380);
    text_add(script, "plot ");
    for (size_t i = 0; i < cells->count; i++) {
        text_add(data, "%s# %s: last round of the part, correlation\n", i ? "\n\n" : "", figure_cells_label(cells, i));
        for (size_t k = 0; k < RUN_PARTS; k++)
            text_add(data, "%" PRIu64 " %.6g\n", (k + 1) * rounds / RUN_PARTS,
                     figure_cells_at(cells, i)->correlations[k]);
        text_add(script, "'%s.dat' index %zu using 1:2 with linespoints ps 0.6 ", name, i);
        drawing_line_style(script, figure_cells_style(cells, i));
        text_add(script, " title ");
        drawing_quoted(script, figure_cells_label(cells, i));
        if (i + 1 < cells->count) text_add(script, ", \\\n");
    }
    drawing_end(script);
}

/* ---- time and memory ---- */

/* A logarithmic axis has no zero. */
static double above_zero(double value, double least)
{
    return value > least ? value : least;
}

static void add_panel(text *script, const char *name, const char *title, int column, double low, double high,
                      const char *colour)
{
    text_add(script,
             "set title '%s'\n"
             "set xrange [%.6g:%.6g]\n"
             "plot '%s.dat' using (%.6g):0:($%d-%.6g):(0) with vectors nohead lw 1.2 lc rgb '#cfcfcf' notitle, \\\n"
             "'' using %d:0:ytic(%s) with points pt 7 ps 0.8 lc rgb '%s' notitle, \\\n"
             "'' using %d:0:(sprintf($%d < 99.95 ? '%%.3g' : '%%.0f', $%d)) with labels left offset 1,0 textcolor rgb "
             "'#333333' notitle\n",
             title, low, high, name, low, column, low, column, column == 2 ? "1" : "''", colour, column, column,
             column);
}

static void add_cost(const figure_cells *cells, const char *name, text *script, text *data)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {0.0, 0.0};
    size_t longest = 0;
    text_add(data, "# policy, CPU seconds per run, megabytes\n");
    for (size_t i = 0; i < cells->count; i++) {
        const summary_cell *cell = figure_cells_at(cells, i);
        const char *label = figure_cells_label(cells, i);
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
             "unset key\nset logscale x\nset border 1\nset grid noytics\nset tics scale 0.4\n"
             "set yrange [%.1f:-0.6]\n",
             (double)cells->count - 0.4);
    drawing_begin(script, name, 110 + 22 * (int)cells->count);
    text_add(script, "set multiplot layout 1,2\nset lmargin %zu\nset rmargin 1\n", longest + 2);
    /* To the right of the largest there is room for its number. */
    add_panel(script, name, "CPU seconds per run", 2, low[0] / 2.0, high[0] * pow(high[0] / low[0], 0.35) * 2.5,
              drawing_colour(1));
    text_add(script, "set lmargin 3\nset rmargin 2\n");
    add_panel(script, name, "memory at the end (MB)", 3, low[1] / 2.0, high[1] * pow(high[1] / low[1], 0.35) * 2.5,
              drawing_colour(2));
    text_add(script, "unset multiplot");
    drawing_end(script);
}

/* ---- a figure ---- */

ee_status figure_draw(const summary_group *group, figure_kind kind, const char *folder, ee_error *error)
{
    text script = text_start(error), data = text_start(error);
    char *name = NULL;
    figure_cells cells = {0};
    ee_status status = figure_name(group, kind, &name, error);
    if (!status) status = figure_cells_create(group, kind, &cells, error);
    if (status) goto done;
    drawing_head(&script, name);
    if (kind == FIGURE_DIRECTION)
        add_directions(&cells, name, &script, &data);
    else if (kind == FIGURE_COST)
        add_cost(&cells, name, &script, &data);
    else
        add_regret(&cells, name, &script, &data);
    status = drawing_save(folder, name, &script, &data);
done:
    figure_cells_release(&cells);
    memory_free(name);
    return status;
}
