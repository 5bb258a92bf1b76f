/* Figures, drawn by gnuplot. In the folder figures/ of the results each has four files: NAME.gp, a script that anyone
 * may change and run again there, NAME.dat, what it draws, NAME.svg for web pages and NAME.pdf for papers. */
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

/* Puts the figure's SVG into a page, with title for those who do not see it. gnuplot gives the same ids in every file:
 * here they begin with the figure's name. */
void figure_embed(const summary_group *group, figure_kind kind, const char *folder, const char *title, text *page);

/* How the line of a cell looks: in the main part it has the same style in all groups, in an ablation one of its own. */
size_t figure_style(const summary_group *group, summary_part part, size_t cell);

/* The colour of a style: Okabe and Ito's colours, which the colour-blind tell apart too. */
const char *figure_colour(size_t style);

/* Whether that colour is another's too: then the line is dashed. */
bool figure_is_dashed(size_t style);

#endif
