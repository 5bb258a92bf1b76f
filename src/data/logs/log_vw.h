/* The parts of a log in Vowpal Wabbit's text format: log_vw.c reads lines and examples, log_vw_slots.c interprets those
 * with slots, vw_context.c makes the contexts of both. */
#ifndef EENET_LOG_VW_H
#define EENET_LOG_VW_H

#include "vw_text.h"

typedef enum vw_form { VW_AUTO, VW_CB, VW_CB_ADF, VW_CCB, VW_SLATES, VW_CB_EVAL } vw_form;

/* A line of an example. */
typedef struct vw_row {
    size_t start, size; /* in the bytes of the example */
    size_t number;      /* in its file */
    vw_line line;
} vw_row;

/* A list of numbers that grows. */
typedef struct vw_sizes {
    size_t *values;
    size_t count, capacity;
} vw_sizes;

/* What the line of a slot says. */
typedef struct vw_slot {
    size_t row;
    json_text outcome;                    /* ccb: "a:COST:P,b:P,..."; slates: "a:P,b:P,..."; empty: none */
    size_t first_allowed, allowed_count;  /* in `allowed` */
    size_t first_action;                  /* in `actions` and `probabilities` */
    size_t features_start, features_size; /* in `slot_features` */
} vw_slot;

typedef struct vw_log {
    log_reader head;
    vw_form form;
    double sign; /* reward = sign * cost */
    vw_features *features;

    /* The example: */
    text bytes;
    vw_row *rows;
    size_t row_count, row_capacity;
    text context;
    json_text *names; /* of its actions */
    size_t names_capacity;
    vw_sizes of_action; /* the row of each action */

    /* cb: */
    vw_sizes known;  /* the actions that there are, ascending */
    vw_sizes listed; /* those that the line lists; empty: all */
    text multi;      /* the part of the context with all actions */

    /* Slots: */
    vw_slot *described;
    log_slot *slots;
    size_t slot_count, described_capacity, slots_capacity;
    vw_sizes of_slot; /* slates: the slot of each action */
    vw_sizes sizes;   /* slates: the number of actions of each slot */
    vw_sizes marks;   /* of each action: see log_vw_slots.c */
    vw_sizes actions, allowed;
    double *probabilities, *by_action;
    size_t probabilities_capacity, by_action_capacity;
    text slot_features;
} vw_log;

ee_status vw_sizes_add(vw_log *log, vw_sizes *into, size_t value, ee_error *error);

/* Adds the features of a line as members of an object. */
ee_status vw_add_features(vw_log *log, const vw_row *row, text *into, bool *any, log_event *event, log_note *note,
                          ee_error *error);

/* Makes the context of the event from the shared line (NULL: none) and the lines in of_action, and names the actions.
 */
ee_status vw_make_context(vw_log *log, const vw_row *shared, log_event *event, log_note *note, ee_error *error);

/* An event from an example of ccb or slates. */
ee_status vw_read_slots(vw_log *log, log_event *event, log_note *note, ee_error *error);

#endif
