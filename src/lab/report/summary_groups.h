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
    SUMMARY_WEIGHT,   /* ours: cells with another `w2`, as 0, which takes no heed of f2 */
    SUMMARY_PARTS
} summary_part;

/* The regret after a round, over the seeds. */
typedef struct summary_point {
    double round, mean, deviation; /* deviation: NaN for one seed */
} summary_point;

enum { SUMMARY_POINTS = 500 }; /* of a curve, at most: a figure shows no more */

/* What is not known is NaN. */
typedef struct summary_cell {
    const stored_run **runs; /* (count) one a seed; borrowed */
    size_t count, capacity;
    char *labels[SUMMARY_PARTS]; /* its name in a part; NULL where it is not shown in it */
    size_t style;                /* the same number for the same policy in all groups; 0 for the reference */
    bool best;                   /* of the main part: least regret, among those that have most seeds */
    double mean, deviation;      /* of the regret, as the next */
    double margin;               /* mean - margin to mean + margin is the 95% interval */
    double growth;               /* slope of log regret over log round in the last half; sqrt(T) has 0.5 */
    double optimal;              /* share of the rounds */
    double seconds, bytes;       /* of a run */
    comparison against;          /* its regret minus the regret of the part's reference, over common seeds */
    double p_holm;               /* corrected for all comparisons of its part */
    bool testable;               /* whether it has seeds enough for p_holm to be below COMPARISON_LEVEL at all */
    run_direction direction;     /* all parts of all runs */
    double correlation;          /* of exploration with h - f1 */
    double correlations[RUN_PARTS];
    summary_point *curve; /* (points); none where a run has no stored curve */
    size_t points;
} summary_cell;

/* The leader of the main part, and its lead. */
typedef struct summary_lead {
    size_t best, next; /* least and next least regret, as places in cells; the number of cells where there is none */
    comparison by;     /* regret of the next minus regret of the best, over common seeds */
    size_t tests;      /* comparisons of the best with others */
    double p_holm;     /* corrected for all of them */
    bool testable;     /* as in a cell */
} summary_lead;

typedef struct summary_group {
    const stored_run *first; /* data set, dim, arms, rounds, delay and slots are its; borrowed */
    char *label;             /* the data set's name, its delay, slots, and what tells it from others with that name */
    char *title;             /* the same without the data set's options, if that is unique: for headings */
    char *file;              /* the label, as a part of a file's name */
    bool other_files;        /* another group has the same name and another fingerprint */
    summary_cell *cells;     /* (count) */
    size_t count, capacity;
    summary_lead lead;
    size_t references[SUMMARY_PARTS]; /* what the cells of a part are compared with; count where there is none */
} summary_group;

typedef struct summary_groups {
    summary_group *groups; /* (count) */
    size_t count, capacity;
} summary_groups;

/* Adds the run to its cell, which is created with its group if missing; a seed that the cell has is not added. */
ee_status summary_groups_add(summary_groups *list, const stored_run *run, ee_error *error);
void summary_groups_release(summary_groups *list);

/* The first of its names. */
const char *summary_name(const summary_cell *cell);

/* The cells of a part by mean regret, as places in group->cells; order is (group->count). Returns how many. */
size_t summary_order(const summary_group *group, summary_part part, size_t *order);

#endif
