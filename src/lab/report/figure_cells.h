/* What a figure of runs shows: its cells, their order and styles, and the range of its axes. */
#ifndef EENET_FIGURE_CELLS_H
#define EENET_FIGURE_CELLS_H

#include "summary_groups.h"

typedef enum figure_kind {
    FIGURE_REGRET,    /* mean regret over the rounds ± one standard deviation, and its difference from the
                         reference's */
    FIGURE_LABEL,     /* the same for ablation 1 */
    FIGURE_DECISION,  /* the same for ablation 2 */
    FIGURE_WEIGHT,    /* the same without f2 */
    FIGURE_DIRECTION, /* correlation of exploration with h - f1 over the rounds */
    FIGURE_COST,      /* seconds and memory of a run */
    FIGURE_KINDS
} figure_kind;

/* The upper end of a regret figure, as a multiple of the lowest regret; lines above leave the frame. */
enum { FIGURE_FRAME = 2 };

/* The cells of a figure. All curves of a group have the same rounds. */
typedef struct figure_cells {
    const summary_group *group; /* borrowed */
    summary_part part;
    size_t *order; /* (count) places of the cells, lowest regret first */
    size_t count;
    size_t reference; /* its place in order; count: none */
} figure_cells;

ee_status figure_cells_create(const summary_group *group, figure_kind kind, figure_cells *out, ee_error *error);
void figure_cells_release(figure_cells *self);

const summary_cell *figure_cells_at(const figure_cells *of, size_t place);
const char *figure_cells_label(const figure_cells *of, size_t place);
size_t figure_cells_style(const figure_cells *of, size_t place);

/* Whether there is something to compare with the reference. */
bool figure_cells_compared(const figure_cells *of);

/* The upper end of a regret figure, and the range of differences from the reference, which must exist. */
double figure_cells_top(const figure_cells *of);
void figure_cells_differences(const figure_cells *of, double *low, double *high);

/* Whether the group has anything to show in it. */
bool figure_has(const summary_group *group, figure_kind kind);

/* "regret-yelp", to be freed with memory_free. */
ee_status figure_name(const summary_group *group, figure_kind kind, char **out, ee_error *error);

/* The style of a cell's line: the same in all groups for the main part, separate in each ablation. */
size_t figure_style(const summary_group *group, summary_part part, size_t cell);

#endif
