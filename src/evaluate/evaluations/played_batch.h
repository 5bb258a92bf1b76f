/* Events of a log, copied so that several threads can play them while the log is read on. */
#ifndef EENET_PLAYED_BATCH_H
#define EENET_PLAYED_BATCH_H

#include "evaluation_play.h"

/* Limits of a batch. A larger event is the only one in its batch. */
enum { PLAYED_BATCH_MOST = 256, PLAYED_BATCH_BYTES = 1 << 18 };

typedef struct batch_event {
    played_event played;   /* rounds[k].features is NULL: see features */
    const void **features; /* (played.count) packed features of each round (round_unpack); NULL: none */
    bool freezes;          /* candidates and models stop learning before it */
    play_mark mark;        /* after it */
} batch_event;

/* {0} is empty. */
typedef struct played_batch {
    batch_event events[PLAYED_BATCH_MOST]; /* (count) */
    size_t count;
    char *bytes; /* (capacity) what the events point to */
    size_t used, capacity;
} played_batch;

/* Copies an event, with its vectors if arms. *added false: the batch is full. */
ee_status played_batch_add(played_batch *self, const batch_event *event, bool arms, bool *added, ee_error *error);
void played_batch_clear(played_batch *self);
void played_batch_release(played_batch *self);

#endif
