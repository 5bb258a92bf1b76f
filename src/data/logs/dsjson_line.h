/* Collects the values of a line of dsjson in one pass, in any order of its keys; dsjson.c interprets them. Features are
 * skipped, except the number of actions and their names. */
#ifndef EENET_DSJSON_LINE_H
#define EENET_DSJSON_LINE_H

#include <stdbool.h>

#include "log_guard.h"

typedef struct number_list {
    double *values;
    size_t count, capacity;
} number_list;

/* A number that a line may or may not have. */
typedef struct maybe {
    bool known;
    double value;
} maybe;

typedef struct observations {
    size_t count;
    double first, last, sum, max;
    bool activated;
} observations;

typedef struct slot_facts {
    json_text id;
    maybe cost, original;
    observations seen;
    size_t first_action, action_count; /* in `slot_actions` */
    size_t first_probability, probability_count;
    bool skip;
} slot_facts;

/* The description of a slot in the context. */
typedef struct slot_description {
    json_text id;
    json_text features;                  /* an object with the other members; empty if there are none */
    size_t first_allowed, allowed_count; /* in `allowed` */
} slot_description;

typedef struct facts {
    maybe cost, original, probability, index, action, drop, dim;
    bool skip, deferred, continuous, dangling, slate;
    observations seen;
    json_text id, time;
    json_text context;
    log_guard guard;
    bool vectors_read; /* of the context */
    const char *wrong; /* a sentence about the first wrong value; NULL: none */
} facts;

/* Buffers for one line, and its values. */
typedef struct dsjson_line {
    memory *owner;
    json_room room;
    json_reader reader;
    const char *bytes; /* (size) of the line */
    size_t size;
    char *texts; /* texts without their escapes, and objects without some of their members */
    size_t texts_size, texts_capacity;

    facts of;
    number_list actions, probabilities, baselines; /* of the line */
    number_list slot_actions, slot_probabilities;  /* of all slots */
    slot_facts *outcomes;
    size_t outcome_count, outcome_capacity;
    slot_description *slots;
    size_t slot_count, slot_capacity;
    number_list allowed; /* of all slots */

    log_metric *metrics;
    size_t metric_count, metric_capacity;

    size_t action_count; /* in _multi */
    json_text *names;    /* (action_count) */
    size_t names_capacity;
    bool named;
    size_t vector_count; /* of the actions that have one */
    float *values;
    size_t value_count, values_capacity;
    uint32_t *indices;
    size_t indices_capacity;
    size_t *starts;
    size_t starts_capacity;
    bool sparse;
} dsjson_line;

dsjson_line dsjson_line_start(memory *owner);

/* Reads a line, which must stay valid until the next. *object: whether it is an object; other JSON is skipped.
 * EE_BAD_INPUT if it is not JSON. */
ee_status dsjson_line_gather(dsjson_line *self, const char *bytes, size_t size, bool *object, ee_error *error);

#endif
