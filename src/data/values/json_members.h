/* Writes the members of a JSON object, and the elements of an array, with the commas between them:
 *
 *     text_add(into, "{");
 *     text_member(into, "name", name);
 *     text_member_number(into, "value", value);
 *     text_add(into, "}"); */
#ifndef EENET_JSON_MEMBERS_H
#define EENET_JSON_MEMBERS_H

#include "text.h"

/* A comma, except after { and [. */
void text_comma(text *into);
/* The comma, and the name of a member whose value follows. */
void text_key(text *into, const char *key);

/* Whole members. */
void text_member(text *into, const char *key, const char *value);
void text_member_number(text *into, const char *key, double value); /* null if it is not finite */
void text_member_count(text *into, const char *key, uint64_t value);
void text_member_flag(text *into, const char *key, bool value);
void text_member_time(text *into, const char *key, double seconds); /* ISO 8601; null for NaN */

/* A string without a key. */
void text_string(text *into, const char *value);

#endif
