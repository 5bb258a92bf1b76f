/* The figures of runs: see drawing.h. */
#ifndef EENET_FIGURE_H
#define EENET_FIGURE_H

#include "data/text.h"
#include "summary.h"

typedef enum figure_kind {
    FIGURE_REGRET,    /* mean regret over the rounds, with a band of a standard deviation to each side, and its
                         difference to the reference's */
    FIGURE_LABEL,     /* the same for ablation 1 */
    FIGURE_DECISION,  /* the same for ablation 2 */
    FIGURE_WEIGHT,    /* the same without f2 */
    FIGURE_DIRECTION, /* correlation of exploration with h - f1 over the rounds */
    FIGURE_COST,      /* seconds and memory of a run */
    FIGURE_KINDS
} figure_kind;

/* A figure of regret ends at so many times the least regret: what is far above leaves it. */
enum { FIGURE_FRAME = 2 };

/* Whether the group has anything to show in it. */
bool figure_has(const summary_group *group, figure_kind kind);

/* Writes the four files. EE_FILE_ERROR, with the package to install, where gnuplot is missing or fails. */
ee_status figure_draw(const summary_group *group, figure_kind kind, const char *folder, ee_error *error);

/* "regret-yelp", to be freed with memory_free. */
ee_status figure_name(const summary_group *group, figure_kind kind, char **out, ee_error *error);

/* See drawing_embed. */
void figure_embed(const summary_group *group, figure_kind kind, const char *folder, const char *title, text *page);

/* How the line of a cell looks: in the main part it has the same style in all groups, in an ablation one of its own. */
size_t figure_style(const summary_group *group, summary_part part, size_t cell);

#endif
