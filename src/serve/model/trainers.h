/* The training threads, and what they share with the deciding threads. Bandits with work are in a queue. A trainer
 * takes the first that is due, gives it one turn (load, one step, a checkpoint, or unload) and appends it again, so
 * that none starves and each bandit has one trainer at a time. */
#ifndef EENET_TRAINERS_H
#define EENET_TRAINERS_H

#include <pthread.h>
#include <stdatomic.h>

#include "served_bandit.h"

/* Somebody who waits for a bandit to be awake. */
typedef struct served_waiter {
    void (*ready)(void *context, const ee_error *error);
    void *context;
    struct served_waiter *next;
} served_waiter;

typedef enum turn_state { TURN_NONE, TURN_QUEUED, TURN_RUNNING } turn_state;

struct served_bandit {
    served_bandits *all;
    uint32_t number;
    char name[BANDIT_NAME_SIZE];
    atomic_uint_fast64_t events; /* number of the last that a model can learn from */

    pthread_mutex_t mutex; /* of what follows, to `turn`; held for a moment */
    pthread_cond_t left;   /* the last room was given back */
    bandit_settings settings;
    bool archived, awake;
    bool tired; /* it is to go to sleep as soon as it may */
    size_t users;
    served_room *rooms; /* free ones */
    ee_snapshot *snapshot;
    served_waiter *waiters;
    double asked, published; /* when: seconds */
    served_standing standing;

    /* Of the queue, under its mutex. */
    turn_state turn;
    bool again; /* a turn was asked for while one runs */
    double due;
    double step_due; /* not before may the next step begin */
    served_bandit *next;

    /* Of the trainer whose turn it is. */
    follower *model;  /* NULL: asleep */
    ee_bandit *shown; /* whose snapshot it is */
    uint64_t version, taken;
    step_body unwritten; /* upto 0: none */
    uint64_t stride;
    uint64_t saved_version, saved_upto; /* of the last checkpoint */
    double saved;                       /* when it was tried last */
    bool save_failed;                   /* then */
    double wake_due;                    /* not before is it tried again to wake it */
    ee_error wake_error;                /* why it was not woken then */
};

struct served_bandits {
    memory memory; /* all blocks that live as long, itself the first */
    store *kept;
    journal *written;
    served_options options;

    pthread_rwlock_t lock;   /* of the table */
    served_bandit **bandits; /* (count) in the order of their numbers */
    uint32_t *slots;         /* (slot_count, a power of two) by name: place among them + 1; 0: free */
    size_t count, capacity, slot_count;
    atomic_size_t awake;
    training_metrics training;

    pthread_mutex_t queue; /* of the queue */
    pthread_cond_t queued;
    served_bandit *first, *last;
    double next_look; /* time of the next check for idle bandits */
    atomic_bool stopping, hurry;
    pthread_t *threads; /* (thread_count) */
    size_t thread_count;
};

/* Seconds of a clock that never goes back. */
double trainers_now(void);

/* Asks for a turn of the bandit, not before due; 0: ahead of all others. */
void trainers_ask(served_bandit *bandit, double due);

ee_status trainers_start(served_bandits *self, ee_error *error);
/* Ends them, saves checkpoints unless in a hurry, and puts all to sleep. */
void trainers_stop(served_bandits *self);

typedef struct trainer_turn {
    served_bandits *all;
    served_bandit *bandit;
    store_reader *log; /* the trainer's */
    double step_due;   /* as the bandit's: the turn sets it */
} trainer_turn;

/* Gives the bandit its turn. Returns when it wants the next; infinity: not unless it is asked for. */
double trainer_turn_give(trainer_turn *t);
/* The last one: saves a checkpoint, if it is to, and puts the bandit to sleep. */
void trainer_turn_last(trainer_turn *t, bool saves);

/* Ends deciding, waits until all rooms were given back, and frees them and the snapshot. */
void served_bandit_close(served_bandit *self);
/* Makes the snapshot of this version, and lets threads decide. */
ee_status served_bandit_open(served_bandit *self, ee_error *error);

#endif
