/* What the values of a line of dsjson are read with. All take the token that was read last, and go on to its end. */
#ifndef EENET_DSJSON_VALUES_H
#define EENET_DSJSON_VALUES_H

#include "dsjson_line.h"

/* What is wrong with the line, unless something was before. */
void line_set_problem(dsjson_line *self, const char *what);

/* Whether it is this word, in letters of any size. */
bool line_is_word(json_text key, const char *word);

/* A text that stays until the next line: those with escapes lie in the reader's room only until the next token. */
json_text line_keep_text(dsjson_line *self, json_text string);

/* The next member or element of an object or array; false at its end, and after an error, which becomes *status. */
bool line_next(dsjson_line *self, json_token *item, ee_status *status, ee_error *error);

ee_status line_skip(dsjson_line *self, const json_token *token, ee_error *error);

/* Null is as if it were not there. */
ee_status line_take_number(dsjson_line *self, const json_token *token, maybe *into, const char *wrong, ee_error *error);

ee_status line_add_number(dsjson_line *self, number_list *list, double number, ee_error *error);

/* Adds the numbers of an array to the list. */
ee_status line_take_numbers(dsjson_line *self, const json_token *token, number_list *list, const char *wrong,
                            ee_error *error);

ee_status line_take_observations(dsjson_line *self, const json_token *token, observations *seen, ee_error *error);

/* An object of the line, which was read already, without the members of these names (count). Empty where it has no
 * others. */
ee_status line_copy_without(dsjson_line *self, json_text object, const char *const *names, size_t count, json_text *out,
                            ee_error *error);

#endif
