/* The parts of the page, one after the other, and what they share. */
#ifndef EENET_REPORT_PARTS_H
#define EENET_REPORT_PARTS_H

#include "figure_link.h"
#include "summary.h"

/* ---- the parts ---- */

/* The headline: which policy leads, by how much, and whether the lead is significant. */
void report_headlines(text *page, const summary *of);

/* What a reader must know of the numbers before he reads them. */
void report_warnings(text *page, const summary *of);

/* A data set: its figures, tables and ablations. results: see figure_link_folder. */
void report_group(text *page, const summary_group *group, const char *results);

/* By which runs the settings were chosen; nothing where none were. */
void report_grids(text *page, const summary *of);

/* Every option of every cell, and the commands that give the same numbers again. */
void report_settings(text *page, const summary *of);
void report_commands(text *page, const summary *of);

/* What every column means, said once, at the end of the page. */
void report_notes(text *page);

/* ---- the heads of tables ---- */

typedef enum note_number {
    NO_NOTE,
    NOTE_REGRET,
    NOTE_DEVIATION,
    NOTE_INTERVAL,
    NOTE_DIFFERENCE,
    NOTE_P,
    NOTE_GROWTH,
    NOTE_OPTIMAL,
    NOTE_SECONDS,
    NOTE_MEMORY,
    NOTE_DIRECTION,
    NOTE_CORRELATION,
    NOTES
} note_number;

typedef struct column {
    const char *title;
    note_number note;
} column;

void report_head(text *page, const column *columns, size_t count);

/* ---- words and numbers ---- */

/* "1 seed", "3 seeds" */
void report_plural(text *page, size_t count, const char *one, const char *many);

/* The seeds of a cell, or of all cells of a group where cell is NULL. */
void report_seeds(text *page, const summary_group *group, const summary_cell *cell);

/* When the rewards of a group came: nothing where that was at once, else a clause that ends in "; ". */
void report_delay(text *page, const delay *late);

/* The digits after the point that the numbers of a group are shown with. */
int report_decimals(const summary_group *group);

/* How many cells of the group are in the part. */
size_t report_count(const summary_group *group, summary_part part);

/* One more than the largest style of a policy. */
size_t report_styles(const summary_groups *list);

bool report_is_significant(const summary_cell *cell);

#endif
