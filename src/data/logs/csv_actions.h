/* The actions of a CSV log: names that occur in it or were listed, or numbers from 0. */
#ifndef EENET_CSV_ACTIONS_H
#define EENET_CSV_ACTIONS_H

#include <stdbool.h>

#include "base/json.h"
#include "data/files/rows.h"
#include "data/values/vocabulary.h"

/* Most actions that are collected from a file (more are ids of something else), and most that an option or a row may
 * give. */
enum { CSV_ACTIONS_NAMED = 10000, CSV_ACTIONS_NUMBERED = 100000 };

/* Starts as zeros, except words.owner, which owns all of it. */
typedef struct csv_actions {
    bool any;         /* every name is action 0: while the names are collected */
    bool collected;   /* the names come from the file's events */
    size_t count;     /* 0: each row has a count */
    json_text *names; /* (count) in order; NULL: numbers */
    size_t *places;   /* (count) the place in names of each word */
    vocabulary words;
} csv_actions;

/* The name in a field: without blanks around it, and without the ".0" that some programs add to whole numbers. */
json_text csv_action_name(const field *from);

/* Adds a name if it is new. */
ee_status csv_actions_add(csv_actions *self, json_text name, ee_error *error);

/* Orders the names: as numbers if all are whole numbers, otherwise by their bytes. Call once, after the last name. */
ee_status csv_actions_order(csv_actions *self, ee_error *error);

/* The action of a field in an event with this many actions; SIZE_MAX if it is none of them. */
size_t csv_actions_find(const csv_actions *self, const field *from, size_t count);

/* Parses a whole number from 0, also written as 3.0; SIZE_MAX if it is not one. */
size_t csv_whole_number(const field *from);

#endif
