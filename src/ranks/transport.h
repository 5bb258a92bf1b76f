/* How messages travel. Each rank has a main thread and workers, which are threads too: a place is a rank and one of
 * these. Messages from one place to another come in the order in which they were sent.
 *
 * MPI waits in a busy loop, which takes a core that a run could use; here a waiting thread polls, and sleeps in
 * between. A message that cannot be sent or read ends all ranks, as MPI does if a call fails. */
#ifndef EENET_TRANSPORT_H
#define EENET_TRANSPORT_H

#include <mpi.h>

#include "messages.h"

/* From rank 0 to the others, and to rank 0's main thread. */
typedef enum transport_direction { TO_WORKERS, TO_RANK_0 } transport_direction;

enum { MAIN_THREAD = 0, ANY_THREAD = -1 }; /* a thread: the main one, or worker number thread - 1; any that sends */

/* Between MPI_Init and MPI_Finalize; in all ranks. */
void transport_open(void);
void transport_close(void);

size_t transport_ranks(void);
size_t transport_own_rank(void);

/* What is on its way; starts as zeros. */
typedef struct outgoing_message {
    MPI_Request request;
    uint64_t *words; /* NULL: nothing is */
} outgoing_message;

/* Sends to rank 0 where the way is up, and else to the rank. thread: whose the message is, the sender's where the way
 * is up and the receiver's where it is down. The first returns when the message has left; the other at once, and the
 * outgoing_message is to be finished. */
void transport_send(transport_direction to, size_t rank, size_t thread, const message *what);
void transport_begin(transport_direction to, size_t rank, size_t thread, const message *what, outgoing_message *out);
void transport_finish(outgoing_message *of);

/* A message that came, or of which a part has come; starts as zeros. */
typedef struct incoming_message {
    size_t rank, thread; /* where it is from; the receiver's thread where the way is down */
    message what;        /* points into words */
    uint64_t *words;     /* (count); NULL: nothing has come */
    size_t count;
    MPI_Request request;
} incoming_message;

/* Whether the next message is complete: then release it; otherwise call again with the same incoming_message, because a
 * sender may pause in the middle of a message. thread: the receiver's, if the way is down. */
bool transport_receive(transport_direction to, int thread, incoming_message *out);

/* The same, and waits for it. */
void transport_wait(transport_direction to, int thread, incoming_message *out);
void incoming_release(incoming_message *of);

/* Sleeping between looks: longer each time, up to a millisecond; from the start again after a wake. Starts as zeros. */
typedef struct backoff {
    long nanoseconds;
} backoff;

void backoff_wait(backoff *self);
void backoff_reset(backoff *self);

/* Says on stderr why, and ends all ranks. */
_Noreturn void transport_fail(const char *sentence);

#endif
