/* What all figures have in common. In the folder figures/ of the results each has four files: NAME.gp, a script for
 * gnuplot that anyone may change and run again there, NAME.dat, what it draws, NAME.svg for web pages and NAME.pdf for
 * papers. A script is drawing_head, settings, drawing_begin, what is drawn once for each of the two, drawing_end. */
#ifndef EENET_DRAWING_H
#define EENET_DRAWING_H

#include "data/values/text.h"

void drawing_head(text *script, const char *name);
void drawing_begin(text *script, const char *name, int height);
void drawing_end(text *script);

/* Words in gnuplot's single quotes, in which only those have a meaning. */
void drawing_quoted(text *script, const char *words);

/* The colour, dashes, mark and breadth of a line. */
void drawing_line_style(text *script, size_t style);

/* The colour of a style: Okabe and Ito's colours, which the colour-blind tell apart too. */
const char *drawing_colour(size_t style);
size_t drawing_colour_number(size_t style);

/* How often the colours have come round before this style: then the line is dashed, each time in another way. */
size_t drawing_turn(size_t style);

/* `--line-0:#d55e00;` and so on, for a style sheet: the colours by their number, on a white or a dark ground. */
void drawing_colours(text *sheet, bool dark);

/* Writes the four files, and frees the two texts. EE_FILE_ERROR, with the package to install, where gnuplot is missing
 * or fails. */
ee_status drawing_save(const char *folder, const char *name, text *script, text *data);

#endif
