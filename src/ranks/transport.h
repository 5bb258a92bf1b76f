/* Sends messages between threads of ranks. Each rank has a main thread and workers. Messages between two threads arrive
 * in the order in which they were sent.
 *
 * MPI waits in a busy loop, which takes a core that a run could use; here a waiting thread polls, with a backoff. A
 * message that cannot be sent or read ends all ranks, as MPI does if a call fails. */
#ifndef EENET_TRANSPORT_H
#define EENET_TRANSPORT_H

#include <mpi.h>

#include "messages.h"

/* From rank 0 to any thread, or from any thread to rank 0's main thread. */
typedef enum transport_direction { TO_WORKERS, TO_RANK_0 } transport_direction;

enum { MAIN_THREAD = 0, ANY_THREAD = -1 }; /* number of a thread; workers count from 1 */

/* Called by all ranks, between MPI_Init and MPI_Finalize. */
void transport_open(void);
void transport_close(void);

size_t transport_ranks(void);
size_t transport_own_rank(void);

/* A message that is being sent; starts as zeros. */
typedef struct outgoing_message {
    MPI_Request request;
    uint64_t *words; /* NULL: none */
} outgoing_message;

/* Sends to a thread of a rank; with TO_RANK_0, rank is 0 and thread is the sender's. transport_send returns when the
 * message has left; transport_begin at once, and *out must be finished. */
void transport_send(transport_direction to, size_t rank, size_t thread, const message *what);
void transport_begin(transport_direction to, size_t rank, size_t thread, const message *what, outgoing_message *out);
void transport_finish(outgoing_message *of);

/* A message that has arrived, completely or in part; starts as zeros. */
typedef struct incoming_message {
    size_t rank, thread; /* the sender; with TO_WORKERS, thread is the receiver's */
    message what;        /* points into words */
    uint64_t *words;     /* (count); NULL: nothing has arrived */
    size_t count;
    MPI_Request request;
} incoming_message;

/* Whether the next message is complete: then release it. Otherwise call again with the same *out, which may hold a
 * part. thread: with TO_WORKERS, the receiver's. */
bool transport_receive(transport_direction to, int thread, incoming_message *out);

/* Waits for the next message. */
void transport_wait(transport_direction to, int thread, incoming_message *out);
void incoming_release(incoming_message *of);

/* Sleeps between polls, longer each time up to a millisecond, until it is reset. Starts as zeros. */
typedef struct backoff {
    long nanoseconds;
} backoff;

void backoff_wait(backoff *self);
void backoff_reset(backoff *self);

/* Prints the reason on stderr and ends all ranks. */
_Noreturn void transport_fail(const char *sentence);

#endif
