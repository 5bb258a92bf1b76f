/* Private to the served bandits. Each file uses only those above it:
 *
 *   turn_queue.c      the order of turns
 *   served_bandit.c   one bandit: its published model, and the threads that decide with it
 *   served_table.c    all bandits, by name and by number
 *   training_turn.c   one turn of a bandit: load it, train one step, save a checkpoint, unload it
 *   trainers.c        the training threads
 *   served_bandits.c  starts and stops all of it */
#ifndef EENET_SERVED_INSIDE_H
#define EENET_SERVED_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "served_bandit.h"
#include "turn_queue.h"

/* Whether the guardrails that decide are those of the settings. */
typedef enum guard_age {
    GUARD_NONE,    /* the bandit is not loaded */
    GUARD_MAKING,  /* a training thread makes them */
    GUARD_CURRENT, /* they are */
    GUARD_OLD      /* the settings have changed: the next turn makes others */
} guard_age;

/* Called when the bandit is loaded, or could not be loaded. */
typedef struct served_waiter {
    void (*ready)(void *context, const ee_error *error);
    void *context;
    struct served_waiter *next;
} served_waiter;

struct served_bandit {
    served_bandits *all;
    uint32_t number;
    char name[BANDIT_NAME_SIZE];
    turn turn;
    served_bandit *next_removed;

    pthread_mutex_t mutex; /* of what follows, to `standing`; held for a moment */
    pthread_cond_t left;   /* the last room was given back */
    bandit_settings settings;
    bool archived, awake;
    guard_age guard_age;
    guardrails *guard; /* NULL: it has none. Changes only while nobody decides */
    bool removed;      /* from the table */
    bool save_wanted;  /* a checkpoint, now */
    bool tired;        /* it is unloaded as soon as possible */
    size_t users;
    served_room *rooms; /* free ones */
    ee_snapshot *snapshot;
    served_waiter *waiters, **last_waiter; /* in the order in which they came; last_waiter: where the next one goes */
    double asked, published;               /* when: seconds of turn_queue_now */
    uint64_t events;                       /* number of the last that a model can learn from */
    double oldest;                         /* arrival of the first that the published model has not processed */
    served_standing standing;

    /* Of the training thread that has its turn. */
    follower *model;  /* NULL: not loaded */
    ee_bandit *shown; /* whose snapshot it is */
    uint64_t version, taken;
    step_body unwritten;    /* upto 0: none */
    bool unpublished;       /* the model is newer than the snapshot */
    double publish_seconds; /* duration of the last publication */
    double publish_due;
    uint64_t stride;
    uint64_t saved_version, saved_upto; /* of the last checkpoint */
    double saved;                       /* time of the last attempt */
    double save_seconds;                /* duration of the last one; 0: unknown */
    double unsaved;                     /* processor seconds of training since it */
    bool save_failed;                   /* then */
    double wake_due;                    /* loading is not retried before this time */
    ee_error wake_error;                /* why it failed */
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
    served_bandit *removed; /* from the table: requests may still have them */

    turn_queue queue;
    atomic_uint_fast64_t used; /* bytes of all models in memory */
    training_metrics training;
    atomic_bool interrupted;        /* loading and steps end at the next event */
    atomic_bool stopping;           /* threads end after the turn that they give */
    atomic_int_least64_t next_look; /* for idle bandits: microseconds of turn_queue_now */
    pthread_t *threads;             /* (thread_count) */
    size_t thread_count;
};

/* ---- served_bandit.c ---- */

/* Ends deciding, waits until all rooms are left, and frees them and the snapshot. */
void served_bandit_close(served_bandit *self);
/* Waits for the end of a turn that begins now or later. The bandit is archived: then its model is unloaded. */
void served_bandit_await_turn(served_bandit *self);
/* Makes the snapshot of this version and the guard, and lets threads decide. */
ee_status served_bandit_open(served_bandit *self, store_reader *log, ee_error *error);
/* These two change what is open; close it if they fail. A snapshot for another model: */
ee_status served_bandit_reopen(served_bandit *self, ee_error *error);
/* A guard for other settings. The one before decides until it is made. */
ee_status served_bandit_renew_guard(served_bandit *self, store_reader *log, ee_error *error);

/* ---- served_table.c ---- */

/* A bandit that is not in the table: a new one, or one that was removed from it. */
ee_status served_table_make(served_bandits *self, uint32_t number, json_text name, const bandit_settings *settings,
                            bool archived, served_bandit **out, ee_error *error);
ee_status served_table_insert(served_bandits *self, served_bandit *bandit, ee_error *error);
/* Not inserted: keeps it for the next served_table_make. */
void served_table_discard(served_bandits *self, served_bandit *bandit);
/* Both. */
ee_status served_table_add(served_bandits *self, uint32_t number, json_text name, const bandit_settings *settings,
                           bool archived, served_bandit **out, ee_error *error);
/* The bandit stays in memory. */
void served_table_remove(served_bandits *self, served_bandit *bandit);
void served_table_free(served_bandits *self);

/* ---- training_turn.c ---- */

typedef struct trainer_turn {
    served_bandits *all;
    served_bandit *bandit;
    store_reader *log; /* the trainer's */
} trainer_turn;

/* Gives the bandit its turn. Returns the time of the next; infinity: only on request. */
double trainer_turn_give(trainer_turn *t);
/* The last turn: saves a checkpoint if it is expected to end before `until`, and unloads the model. */
void trainer_turn_last(trainer_turn *t, double until);
/* Arrival of the first event after `taken` that a model learns from. */
ee_status trainer_find_oldest(trainer_turn *t, uint64_t taken, double *oldest, ee_error *error);

/* ---- trainers.c ---- */

ee_status trainers_start(served_bandits *self, ee_error *error);
/* Ends them, saves checkpoints until then (turn_queue_now), and unloads all bandits. */
void trainers_stop(served_bandits *self, double until);

#endif
