/* The items of a call: decisions, rewards and activations, one or a batch. Each is read, written by the journal, and
 * answered. */
#ifndef EENET_CALL_ITEMS_H
#define EENET_CALL_ITEMS_H

#include "call.h"

/* Reads the one item of the body, or those of the array self->member where it is a batch, and gives each to `read`:
 * behind its {. What read refuses becomes the item's error, unless the body is no JSON: then the whole is refused.
 */
typedef ee_status read_item(call *self, call_item *item, json_reader *reader, const void *context, ee_error *error);
ee_status call_read_items(call *self, read_item *read, const void *context);

/* One item, where the body has nothing to read. */
ee_status call_only_item(call *self, call_item **out, ee_error *error);

/* Another part of the item that was added last; items move. */
ee_status call_add_part(call *self, call_item **out, ee_error *error);

/* The item is for this slot of the decision id: entry.event.id becomes the id of the slot's decision. */
ee_status call_name_slot(call *self, call_item *item, json_text id, json_text slot, ee_error *error);

/* Hands all items that are not refused to the journal; answers at once where there are none. */
ee_status call_submit(call *self, void (*done)(journal_entry *entry));
/* For done: counts, and answers after the last. */
void call_item_done(call *self);

/* The answer of an item is what is added to self->answers between the two. */
void call_begin_answer(call *self, call_item *item);
void call_end_answer(call *self, call_item *item, int status);
void call_item_refuse(call *self, call_item *item, int status, const char *message);
/* For done: the journal did not write it. */
void call_item_failed(call *self, call_item *item);

#endif
