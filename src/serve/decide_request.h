/* The body of a decide request, read in one pass:
 *
 *     {"id": "a1", "context": {"user": {"age": 31}}, "exclude": ["b"],
 *      "actions": [{"id": "a", "features": {"price": 9.5}}, {"id": "b", "features": {}}]}
 *
 * or with "vector": [...] in the place of "features", or plain arrays in that of the actions. One request serves any
 * number of bodies, and allocates for those alone that are larger than all before. */
#ifndef EENET_DECIDE_REQUEST_H
#define EENET_DECIDE_REQUEST_H

#include "request_members.h"

typedef struct decide_limits {
    size_t dim;      /* that the bandit takes; 0: named features */
    size_t actions;  /* at most */
    size_t features; /* named, of the context and all actions, at most */
} decide_limits;

typedef struct decide_request {
    json_text id;        /* bytes NULL: none was given */
    json_text bytes;     /* of the whole object */
    json_text context;   /* as it came, an object; bytes NULL: none was given */
    size_t count;        /* actions */
    bool named;          /* they have ids: else they are called "0", "1", ... */
    json_text *names;    /* (count) where named */
    json_text *features; /* (count) as they came, objects, where dim is 0 */
    float *values;       /* (count, dim) */
    uint8_t *excluded;   /* (count) */
    size_t excluded_count;
    bool too_large; /* it was refused because it is beyond a limit */

    memory *owner; /* {.owner = ...} starts it */
    json_room room;
    kept_texts texts;
    json_text *excludes; /* (exclude_count) as they were named */
    size_t exclude_count;
    uint32_t *places; /* of the names, by their hashes: index + 1 */
    size_t name_capacity, feature_capacity, value_capacity, excluded_capacity, exclude_capacity, place_capacity;
} decide_request;

/* Begins with a body: forgets the texts of the last. */
json_reader decide_request_start(decide_request *self, json_text body);

/* Reads the request whose { was read last. After EE_BAD_INPUT the reader is somewhere within it. What is read is valid
 * until the next; id until the next start. */
ee_status decide_request_read(decide_request *self, json_reader *reader, const decide_limits *limits, ee_error *error);

/* Adds the context of named features as one object, as Vowpal Wabbit has it: the members of the context, and "_multi"
 * with the actions, their ids as "_tag". It has no end of line. */
ee_status decide_request_context(const decide_request *self, memory *owner, char **bytes, size_t *size,
                                 size_t *capacity, ee_error *error);

#endif
