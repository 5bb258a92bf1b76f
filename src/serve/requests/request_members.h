/* What the bodies of requests have in common: objects whose members are known by name, and texts that are ids. */
#ifndef EENET_REQUEST_MEMBERS_H
#define EENET_REQUEST_MEMBERS_H

#include "base/json.h"

typedef struct member_names {
    const char *const *names;
    size_t count;
} member_names;

/* Which member a key is: *which is its place. Refuses one that is unknown, with the nearest known name, and one that
 * came before: *seen has a bit for each. where: as "actions[3]", or "" for the body itself. */
ee_status request_member(json_text key, const member_names *known, const char *where, unsigned *seen, size_t *which,
                         ee_error *error);

/* Of an id: 1 to 256 bytes, no control characters. what: as "id" or "actions[3].id". */
enum { REQUEST_ID_MOST = 256 };
ee_status request_check_id(const json_token *token, const char *what, ee_error *error);

/* How much of a text a message shows: whole characters, at most 60 bytes. */
int request_shown(json_text text);

/* Texts that had escapes, kept until the next body. {.owner = ...} starts it. */
typedef struct kept_texts {
    memory *owner;
    char *bytes;
    size_t size, capacity;
} kept_texts;

/* *text as it was read by this reader: where it does not lie in the input, a copy takes its place. */
ee_status kept_texts_keep(kept_texts *self, const json_reader *reader, json_text *text, ee_error *error);

#endif
