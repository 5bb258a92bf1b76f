/* Converts a decide request to the input of decision_arms_make, for deciding without a server. */
#ifndef EENET_REQUEST_BODY_H
#define EENET_REQUEST_BODY_H

#include "serve/requests/decide_request.h"
#include "serve/store/event.h"

/* Room for the context of named features; one serves any number of requests. {.owner = ...} starts it. */
typedef struct request_body_room {
    memory *owner;
    char *context;
    size_t capacity;
} request_body_room;

/* *out borrows from the request and the room until the next call. dim is the length of vectors; 0: named features. */
ee_status request_body_make(request_body_room *room, const decide_request *request, size_t dim, decision_body *out,
                            ee_error *error);

#endif
