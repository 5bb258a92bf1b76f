/* The parts of the page, and what they share. */
#ifndef EENET_REPORT_PARTS_H
#define EENET_REPORT_PARTS_H

#include "figure_link.h"
#include "summary.h"

/* ---- the parts ---- */

/* The headline: which policy leads, by how much, and whether the lead is significant. */
void report_headlines(text *page, const summary *of);

/* Warnings about the numbers: few seeds, missing runs, different files. */
void report_warnings(text *page, const summary *of);

/* A data set: its figures, tables and ablations. results: see figure_link_folder. */
void report_group(text *page, const summary_group *group, const char *results);

/* The tuning runs that chose the settings, if any. */
void report_grids(text *page, const summary *of);

/* Every option of every cell, and the commands that reproduce the numbers. */
void report_settings(text *page, const summary *of);
void report_commands(text *page, const summary *of);

/* What the columns mean, at the end of the page. */
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

/* ---- text and numbers ---- */

/* "1 seed", "3 seeds" */
void report_plural(text *page, size_t count, const char *one, const char *many);

/* The seeds of a cell, or of all cells of the group if cell is NULL. */
void report_seeds(text *page, const summary_group *group, const summary_cell *cell);

/* The delay of the rewards as a clause that ends in "; "; nothing if there is none. */
void report_delay(text *page, const delay *late);

/* The number of decimals in the tables of a group. */
int report_decimals(const summary_group *group);

/* The number of cells of the group in the part. */
size_t report_count(const summary_group *group, summary_part part);

/* One more than the largest style of a policy. */
size_t report_styles(const summary_groups *list);

bool report_is_significant(const summary_cell *cell);

#endif
