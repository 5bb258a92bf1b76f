/* A request to decide, as all dialects share it, and the body of ours, read in one pass:
 *
 *     {"id": "a1", "key": "u17", "context": {"user": {"age": 31}}, "exclude": ["b"], "defer": false, "dry_run": false,
 *      "actions": [{"id": "a", "features": {"price": 9.5}}, {"id": "b", "features": {}}]}
 *
 * or with "vector": [...] instead of "features", or plain arrays instead of action objects. With several slots:
 *
 *      "slots": [{"id": "top", "features": {"width": 2}, "exclude": ["a"], "baseline": "b"}, {"id": "side"}]
 *
 * A decide_request can be reused for any number of bodies; it allocates only for one larger than all before. */
#ifndef EENET_DECIDE_REQUEST_H
#define EENET_DECIDE_REQUEST_H

#include "request_members.h"

typedef struct decide_limits {
    size_t dim;      /* of the bandit's vectors; 0: named features */
    size_t actions;  /* maximum, of slots too */
    size_t features; /* maximum number of named ones in context, actions and slots */
} decide_limits;

/* One of several slots. */
typedef struct decide_slot {
    json_text id;
    json_text features; /* as received; bytes NULL: not given */
    json_text baseline; /* the id of an action; bytes NULL: not given */
    size_t first_exclude, exclude_count;
    size_t baseline_action; /* its place; count: not given */
} decide_slot;

typedef struct decide_request {
    json_text id;          /* bytes NULL: not given */
    json_text key;         /* of the person, for guardrails; bytes NULL: not given */
    json_text bytes;       /* of the whole object */
    json_text context;     /* as received; bytes NULL: not given */
    size_t count;          /* actions */
    bool named;            /* they have ids; otherwise they are "0", "1", ... */
    bool deferred;         /* it counts once it is activated */
    bool dry_run;          /* answer only: nothing is written or counted */
    json_text *names;      /* (count) if named */
    json_text *features;   /* (count) as received, if dim is 0; bytes NULL: not given */
    float *values;         /* (count, dim) */
    uint8_t *excluded;     /* (slot_count or 1, count) */
    size_t excluded_count; /* of the first of these rows */
    decide_slot *slots;
    size_t slot_count; /* 0: there are none */
    bool too_large;    /* it was refused because it exceeds a limit */

    memory *owner; /* {.owner = ...} starts it */
    json_room room;
    kept_texts texts;
    json_text *excludes; /* (exclude_count) ids: request_excludes for all slots, then those of each slot */
    size_t exclude_count, first_exclude, request_excludes;
    size_t feature_count; /* so far */
    uint32_t *places;     /* of the names, by their hashes: index + 1 */
    size_t place_count;
    size_t name_capacity, feature_capacity, value_capacity, excluded_capacity, exclude_capacity, place_capacity,
        slot_capacity;
} decide_request;

/* Starts reading a body; texts of the last one become invalid. */
json_reader decide_request_start(decide_request *self, json_text body);

/* Reads a request after its {. After EE_BAD_INPUT the reader is somewhere inside it. The result is valid until the next
 * request, the id until the next start. */
ee_status decide_request_read(decide_request *self, json_reader *reader, const decide_limits *limits, ee_error *error);

/* Adds the named features as one object in Vowpal Wabbit's form, without line ends: the members of the context, and
 * "_multi" with the actions, whose ids are "_tag". */
ee_status decide_request_context(const decide_request *self, memory *owner, char **bytes, size_t *size,
                                 size_t *capacity, ee_error *error);

/* ---- parts of readers (decide_parts.c) ---- */

/* Empties the request, so that it can read another body. */
void decide_request_clear(decide_request *self);

__attribute__((format(printf, 3, 4))) ee_status decide_refuse_size(decide_request *self, ee_error *error,
                                                                   const char *format, ...);

/* Room for the name and the features of action number count, and for slot number slot_count. */
ee_status decide_room_for_action(decide_request *self, ee_error *error);
ee_status decide_room_for_slot(decide_request *self, ee_error *error);

/* Reads an id and keeps it in *out. what: for messages, "actions[3].id". */
ee_status decide_read_id(decide_request *self, json_reader *reader, const json_token *token, const char *what,
                         json_text *out, ee_error *error);

/* Skips and counts the features of an object or array, after its { or [. taken: names that members must not have.
 * of_array: every element must be an object. */
ee_status decide_pass_features(decide_request *self, json_reader *reader, const decide_limits *limits,
                               const char *where, const char *const *taken, bool of_array, json_text *span,
                               ee_error *error);

/* Adds an array of action ids to the excludes; null means none. */
ee_status decide_read_excludes(decide_request *self, json_reader *reader, const decide_limits *limits,
                               const char *where, const json_token *first, ee_error *error);

/* Read a member of the request, after its first token: "context", "actions", "exclude". */
ee_status decide_read_context(decide_request *self, json_reader *reader, const decide_limits *limits,
                              const json_token *token, ee_error *error);
ee_status decide_read_actions(decide_request *self, json_reader *reader, const decide_limits *limits,
                              const json_token *first, ee_error *error);
ee_status decide_read_request_excludes(decide_request *self, json_reader *reader, const decide_limits *limits,
                                       const json_token *token, ee_error *error);

/* Reads the numbers of the next action, after the [. where: "actions[3]"; member: ".vector" or "". */
ee_status decide_read_vector(decide_request *self, json_reader *reader, const decide_limits *limits, const char *where,
                             const char *member, ee_error *error);

/* After everything was read: checks that all ids differ, and marks the excluded actions. lenient: unknown ids in
 * excludes are ignored. */
ee_status decide_request_settle(decide_request *self, bool lenient, ee_error *error);

#endif
