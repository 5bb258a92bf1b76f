/* The figures of runs for papers: see drawing.h. */
#ifndef EENET_FIGURE_H
#define EENET_FIGURE_H

#include "figure_cells.h"

/* Writes the four files. EE_FILE_ERROR, with the package to install, where gnuplot is missing or fails. */
ee_status figure_draw(const summary_group *group, figure_kind kind, const char *folder, ee_error *error);

#endif
