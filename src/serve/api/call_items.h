/* The items of a call: decisions, rewards and activations, one or a batch. Each is read, written by the journal, and
 * answered. */
#ifndef EENET_CALL_ITEMS_H
#define EENET_CALL_ITEMS_H

#include "call.h"

/* Reads the item of the body or, for a batch, those of the array self->member. `read` is called after the { of each; if
 * it fails, the error becomes the item's response. If the body is not JSON, the call fails.
 */
typedef ee_status read_item(call *self, call_item *item, json_reader *reader, const void *context, ee_error *error);
ee_status call_read_items(call *self, read_item *read, const void *context);

/* Adds the only item of a request without a body. */
ee_status call_only_item(call *self, call_item **out, ee_error *error);

/* Adds a part to the item that was added last. Pointers to items become invalid. */
ee_status call_add_part(call *self, call_item **out, ee_error *error);

/* Sets entry.event.id to the id of this slot's decision in the round `id`. */
ee_status call_name_slot(call *self, call_item *item, json_text id, json_text slot, ee_error *error);

/* Submits all items that were not refused to the journal; answers at once if there are none. */
ee_status call_submit(call *self, void (*done)(journal_entry *entry));
/* For done: answers the call after its last item. */
void call_item_done(call *self);

/* The response of an item is what is added to self->answers between these two calls. */
void call_begin_answer(call *self, call_item *item);
void call_end_answer(call *self, call_item *item, int status);
void call_item_refuse(call *self, call_item *item, int status, const char *message);
/* For done: the journal did not write it. */
void call_item_failed(call *self, call_item *item);

#endif
