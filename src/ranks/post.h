/* How messages travel. Each rank has a main thread and hands, which are threads too: a place is a rank and one of
 * these. Messages from one place to another come in the order in which they were sent.
 *
 * MPI waits in a busy loop, which takes a core that a run could use; here a waiting thread polls, and sleeps in
 * between. A message that cannot be sent or read ends all ranks, as MPI does if a call fails. */
#ifndef EENET_POST_H
#define EENET_POST_H

#include <mpi.h>

#include "messages.h"

/* From rank 0 to the others, and to rank 0's main thread. */
typedef enum post_way { POST_DOWN, POST_UP } post_way;

enum { POST_MAIN = 0, POST_ANYWHERE = -1 }; /* a thread: the main one, or hand number thread - 1; any that sends */

/* Between MPI_Init and MPI_Finalize; in all ranks. */
void post_open(void);
void post_close(void);

size_t post_ranks(void);
size_t post_own_rank(void);

/* What is on its way; starts as zeros. */
typedef struct parcel {
    MPI_Request request;
    uint64_t *words; /* NULL: nothing is */
} parcel;

/* Sends to rank 0 where the way is up, and else to the rank. thread: whose the message is, the sender's where the way
 * is up and the receiver's where it is down. The first returns when the message has left; the other at once, and the
 * parcel is to be finished. */
void post_send(post_way way, size_t rank, size_t thread, const message *what);
void post_begin(post_way way, size_t rank, size_t thread, const message *what, parcel *out);
void post_finish(parcel *of);

/* A message that came, or of which a part has come; starts as zeros. */
typedef struct letter {
    size_t rank, thread; /* where it is from; the receiver's thread where the way is down */
    message what;        /* points into words */
    uint64_t *words;     /* (count); NULL: nothing has come */
    size_t count;
    MPI_Request request;
} letter;

/* Whether the next message is complete: then release it; otherwise call again with the same letter, because a sender
 * may pause in the middle of a message. thread: the receiver's, if the way is down. */
bool post_take(post_way way, int thread, letter *out);

/* The same, and waits for it. */
void post_wait(post_way way, int thread, letter *out);
void letter_release(letter *of);

/* Sleeping between looks: longer each time, up to a millisecond; from the start again after a wake. Starts as zeros. */
typedef struct nap {
    long nanoseconds;
} nap;

void nap_sleep(nap *self);
void nap_wake(nap *self);

/* Says on stderr why, and ends all ranks. */
_Noreturn void post_fail(const char *sentence);

#endif
