/* Functions that read the values of a line of dsjson. Each gets the token read last and reads up to the end of its
 * value. */
#ifndef EENET_DSJSON_VALUES_H
#define EENET_DSJSON_VALUES_H

#include "dsjson_line.h"

/* Records a problem of the line; the first one counts. */
void line_set_problem(dsjson_line *self, const char *what);

/* Whether the key is this word, in any case. */
bool line_is_word(json_text key, const char *word);

/* Makes a text valid until the next line; the reader keeps a text with escapes only until the next token. */
json_text line_keep_text(dsjson_line *self, json_text string);

/* The next member or element of an object or array; false at its end, and after an error, which becomes *status. */
bool line_next(dsjson_line *self, json_token *item, ee_status *status, ee_error *error);

ee_status line_skip(dsjson_line *self, const json_token *token, ee_error *error);

/* null counts as absent. */
ee_status line_take_number(dsjson_line *self, const json_token *token, maybe *into, const char *wrong, ee_error *error);

ee_status line_add_number(dsjson_line *self, number_list *list, double number, ee_error *error);

/* Adds the numbers of an array to the list. */
ee_status line_take_numbers(dsjson_line *self, const json_token *token, number_list *list, const char *wrong,
                            ee_error *error);

ee_status line_take_observations(dsjson_line *self, const json_token *token, observations *seen, ee_error *error);

/* Copies an object of the line, read before, without the members with these names (count). *out is empty if it has no
 * others. */
ee_status line_copy_without(dsjson_line *self, json_text object, const char *const *names, size_t count, json_text *out,
                            ee_error *error);

#endif
