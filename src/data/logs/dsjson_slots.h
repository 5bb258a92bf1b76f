/* The slots of a line of dsjson: "_slots" in the context describes them, "_outcomes" has their results. */
#ifndef EENET_DSJSON_SLOTS_H
#define EENET_DSJSON_SLOTS_H

#include "dsjson_values.h"

ee_status line_take_outcomes(dsjson_line *self, const json_token *token, ee_error *error);
ee_status line_take_slots(dsjson_line *self, const json_token *token, ee_error *error);

#endif
