/* The order in which bandits get the training threads. A bandit that wants a turn is in the queue, and has one turn at
 * a time. Turns are short, but an engine call on a huge model cannot be interrupted.
 *
 * Fair share: among the bandits that are due, the one that has used the least time goes first; if they have used about
 * the same, the one that has waited longest. So an expensive bandit takes no more than its share while others wait. A
 * bandit that was idle may catch up on CREDIT seconds of its share, no more.
 *
 * If a bandit's turns are long, they never occupy the last thread: bandits with short turns do not wait for long ones.
 *
 *     turn_queue_ask(queue, &bandit->turn, false);      // any thread
 *     while ((mine = turn_queue_take(queue, until))) {  // a training thread
 *         ...
 *         turn_queue_end(queue, mine, due);
 *     } */
#ifndef EENET_TURN_QUEUE_H
#define EENET_TURN_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum turn_state { TURN_NONE, TURN_QUEUED, TURN_RUNNING } turn_state;

/* Part of what gets turns. The first three are set by the owner: earliest and since only in its turn. */
typedef struct turn {
    void *owner;
    double earliest; /* a turn that is asked for begins then, unless it is urgent */
    double since;    /* for how long it has had something to do: a time; 0: since it was asked for */
    turn_state state;
    bool again, urgent; /* asked for while it runs; urgently */
    double due;         /* not before */
    double begun;       /* turn_queue_thread_seconds when it began */
    double used;        /* processor time in seconds, on the queue's clock */
    double longest;     /* of its last turns, seconds: decays */
    struct turn *next;
} turn;

typedef struct turn_queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    turn *first;
    double clock; /* time used by the bandit that was furthest behind its share; never decreases */
    size_t threads, running_long;
    bool stopping;
} turn_queue;

/* Seconds of a clock that never goes back. */
double turn_queue_now(void);
/* Processor time of this thread, seconds. */
double turn_queue_thread_seconds(void);

void turn_queue_init(turn_queue *self);
void turn_queue_destroy(turn_queue *self);
/* How many threads take turns; before the first one does. */
void turn_queue_set_threads(turn_queue *self, size_t threads);

/* Asks for a turn: at of->earliest, or now if it is urgent. */
void turn_queue_ask(turn_queue *self, turn *of, bool urgent);

/* The next turn, once one is due; NULL at `until` or after turn_queue_stop. */
turn *turn_queue_take(turn_queue *self, double until);

/* Ends the turn. The next is at due, or when it is asked for; INFINITY: only then. */
void turn_queue_end(turn_queue *self, turn *of, double due);

/* All turn_queue_take return NULL from now on. */
void turn_queue_stop(turn_queue *self);

#endif
