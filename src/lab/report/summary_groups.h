/* The groups and cells of a summary.
 *
 * Runs on the same rounds (data set, its files, number of rounds) with the same delay and slots are a group; those of a
 * group that differ only in the seed are a cell. Groups and cells keep the order of their first runs. Cells that differ
 * from EE-Net's only in f2's label, f3's kind or f2's weight are ablations, and are kept apart. */
#ifndef EENET_SUMMARY_GROUPS_H
#define EENET_SUMMARY_GROUPS_H

#include "evaluate/intervals/comparison.h"
#include "lab/results/results.h"

typedef enum summary_part {
    SUMMARY_MAIN,
    SUMMARY_LABEL,    /* ablation 1: cells with another `label` */
    SUMMARY_DECISION, /* ablation 2: cells with another `decision` or `hybrid_after` */
    SUMMARY_WEIGHT,   /* cells with another `w2`, such as 0, which ignores f2 (not in the paper) */
    SUMMARY_PARTS
} summary_part;

/* The regret after a round, over the seeds. */
typedef struct summary_point {
    double round, mean, deviation; /* deviation: NaN for one seed */
} summary_point;

enum { SUMMARY_POINTS = 500 }; /* largest number of points of a curve: a figure shows no more */

/* Unknown numbers are NaN. */
typedef struct summary_cell {
    const stored_run **runs; /* (count) one per seed; borrowed */
    size_t count, capacity;
    char *labels[SUMMARY_PARTS]; /* its name in a part; NULL if it is not in it */
    size_t style;                /* the same number for the same policy in all groups; 0 for the reference */
    bool best;                   /* the lowest regret of the main part, among the cells with most seeds */
    double mean, deviation;      /* of the regret */
    double margin;               /* the 95% interval is mean - margin to mean + margin */
    double growth;               /* slope of log regret over log round in the last half; sqrt(T) has 0.5 */
    double optimal;              /* share of the rounds */
    double seconds, bytes;       /* of a run */
    comparison against;          /* its regret minus the regret of the part's reference, over common seeds */
    double p_holm;               /* corrected for all comparisons of its part */
    bool testable;               /* whether p_holm can be below COMPARISON_LEVEL with its number of seeds */
    run_direction direction;     /* all parts of all runs */
    double correlation;          /* of exploration with h - f1 */
    double correlations[RUN_PARTS];
    summary_point *curve; /* (points); none if a run has no stored curve */
    size_t points;
} summary_cell;

/* The leader of the main part, and its lead. */
typedef struct summary_lead {
    size_t best, next; /* lowest and second lowest regret, as places in cells; count: none */
    comparison by;     /* regret of the next minus regret of the best, over common seeds */
    size_t tests;      /* comparisons of the best with others */
    double p_holm;     /* corrected for all of them */
    bool testable;     /* as in a cell */
} summary_lead;

typedef struct summary_group {
    const stored_run *first; /* has the group's data set, dim, arms, rounds, delay and slots; borrowed */
    char *label;             /* the data set's name, its delay, slots, and what distinguishes it from others */
    char *title;             /* the same without the data set's options, if that is unique: for headings */
    char *file;              /* the label, as a part of a file's name */
    bool other_files;        /* another group has the same name and another fingerprint */
    summary_cell *cells;     /* (count) */
    size_t count, capacity;
    summary_lead lead;
    size_t references[SUMMARY_PARTS]; /* the cell that a part is compared with; count: none */
} summary_group;

typedef struct summary_groups {
    summary_group *groups; /* (count) */
    size_t count, capacity;
} summary_groups;

/* Adds the run to its cell, which is created with its group if missing; a seed that the cell has is not added. */
ee_status summary_groups_add(summary_groups *list, const stored_run *run, ee_error *error);
void summary_groups_release(summary_groups *list);

/* The name of the cell in the first part that has it. */
const char *summary_name(const summary_cell *cell);

/* Sorts the cells of a part by mean regret: order is (group->count) places in group->cells. Returns their number. */
size_t summary_order(const summary_group *group, summary_part part, size_t *order);

#endif
