/* Vowpal Wabbit's text format, line by line:
 *
 *     LABEL 'TAG|NAMESPACE:WEIGHT NAME NAME:NUMBER NAME:WORD :NUMBER |NAMESPACE ...
 *
 * The features become members of VW's JSON, which the rest of eenet reads: "a" is true, "a:2" is 2, "a:red" is "red",
 * in an object named after their namespace; features of the namespace without a name are members of the object itself.
 * Both forms have the same names here and, with hashing=vw, the same places as VW's text has there. */
#ifndef EENET_VW_TEXT_H
#define EENET_VW_TEXT_H

#include "data/values/text.h"
#include "log_kind.h"

/* The parts of a line; they lie in it. */
typedef struct vw_line {
    json_text label;    /* words: see vw_next_word */
    json_text tag;      /* without its quote; empty: none */
    json_text features; /* from the first '|' */
} vw_line;

/* False, with a note, if the line has no features or its label would be taken for a tag. */
bool vw_line_split(json_text bytes, vw_line *out, log_note *note);

/* Takes the next word from rest; false if there is none. ' ' separates at any white space and gives no empty words;
 * ':' and ',' do. */
bool vw_next_word(json_text *rest, char separator, json_text *word);

/* A finite decimal number, and nothing after it. */
bool vw_number(json_text word, double *number);

/* A whole number from 0 to 2^32 - 1; SIZE_MAX if it is not one. */
size_t vw_whole(json_text word);

/* Buffers for the features of one line. */
typedef struct vw_features vw_features;

ee_status vw_features_create(memory *owner, vw_features **out, ee_error *error);

/* Adds the features of a line as members of an object, without its braces, and sets *any if there are some. A note says
 * what is malformed; `into` may then have some of them. Fails only if memory runs out. */
ee_status vw_features_add(vw_features *self, json_text features, text *into, bool *any, log_note *note,
                          ee_error *error);

#endif
