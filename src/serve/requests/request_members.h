/* Shared by readers of request bodies: objects with known members, and ids. */
#ifndef EENET_REQUEST_MEMBERS_H
#define EENET_REQUEST_MEMBERS_H

#include "base/json.h"

/* Reads the members of an object one by one, after its { was read:
 *
 *     member_reader at = {.reader = reader, .names = names, .count = 2, .where = "key"};
 *     while (member_next(&at, error)) at.status = read_text(&at.token, texts[at.which], error);
 *     return at.status;
 *
 * Refuses a member that is unknown, with the nearest known name, and one that came before. If lenient, as Personalizer
 * is, it skips unknown members, accepts repeated ones, and ignores the case of names. */
typedef struct member_reader {
    json_reader *reader;
    const char *const *names; /* (count) */
    size_t count;
    const char *where; /* for messages: "actions[3]"; NULL for the body itself */
    bool lenient;
    size_t which;     /* place of the member's name */
    json_token token; /* its value, or what it begins */
    unsigned seen;    /* a bit for each name that came */
    ee_status status; /* anything but EE_OK ends the loop */
} member_reader;
bool member_next(member_reader *self, ee_error *error);

/* For a body: reads its {; and checks after the last member that nothing follows its }. */
ee_status member_begin_body(member_reader *self, ee_error *error);
ee_status member_end_body(member_reader *self, ee_error *error);

/* Checks an id: 1 to 256 bytes, no control characters. what: for messages, "id" or "actions[3].id". */
enum { REQUEST_ID_MOST = 256 };
ee_status request_check_id(const json_token *token, const char *what, ee_error *error);

/* How much of a text a message shows: whole characters, at most 60 bytes. */
int request_shown(json_text text);

/* Copies of texts with escapes, until the next body. {.owner = ...} starts it. */
typedef struct kept_texts {
    memory *owner;
    char *bytes;
    size_t size, capacity;
} kept_texts;

/* Replaces *text, which this reader read, by a copy if it does not lie in the input. */
ee_status kept_texts_keep(kept_texts *self, const json_reader *reader, json_text *text, ee_error *error);

#endif
