/* What a bandit has learned, for threads that decide while it goes on learning.
 *
 * There are two copies of the parameters. Threads decide on the one that was published last; an update writes the other
 * and publishes it. A thread announces on which copy it decides, and an update waits until nobody decides on the copy
 * that it is about to write. Threads that decide never wait. */
#ifndef EENET_SNAPSHOT_H
#define EENET_SNAPSHOT_H

#include <pthread.h>
#include <stdatomic.h>

#include "bandit.h"
#include "explanation.h"

/* How many threads decide on each copy. A thread announces itself and then looks again whether the copy is still the
 * published one: if so, an update that is to write it will see the thread; if not, the thread has not read anything. */
typedef struct snapshot_gate {
    atomic_size_t published; /* 0 or 1 */
    atomic_bool waited_for;  /* somebody waits for a copy to be left */
    pthread_mutex_t mutex;
    pthread_cond_t left;
    /* Threads write these all the time: each in a line of the cache of its own. */
    struct {
        _Alignas(64) atomic_size_t count;
    } readers[2];
} snapshot_gate;

struct ee_snapshot {
    memory memory; /* all blocks of the snapshot, itself the first */
    const ee_bandit *bandit;
    policy_arena *arenas[2]; /* of each copy, whose policy it is of */
    uint64_t fingerprint;
    decision_rules rules;
    parameters copies[2];
    uint64_t versions[2];         /* of each copy, see snapshot_update */
    uint64_t version;             /* of the copy that is published next */
    struct features *features[2]; /* of each copy; NULL where the bandit takes vectors alone */
    snapshot_gate *gate;          /* what deciding on a constant snapshot changes */
};

struct ee_scratch {
    memory memory; /* all blocks of the scratch, itself the first */
    deciding_room room;
    uint8_t *records;    /* those of the last call that decided, one after the other */
    size_t *record_ends; /* (record_count) where each of them ends */
    size_t record_count, record_capacity, record_end_capacity;
    uint64_t version;        /* of what they were decided on */
    explanation explanation; /* of the last round that was explained */
};

/* The copy that was published last. Nobody writes it until snapshot_leave. */
size_t snapshot_enter(const ee_snapshot *self);
void snapshot_leave(const ee_snapshot *self, size_t copy);

/* As ee_snapshot_update, with a number for what is published. ee_snapshot_create and ee_snapshot_update give 0. */
ee_status snapshot_update(ee_snapshot *self, ee_bandit *bandit, uint64_t version, ee_error *error);

/* The number of what the last call with this scratch decided on. */
uint64_t scratch_version(const ee_scratch *own);

/* What ee_snapshot_update does; returns how many floats it copied. */
size_t snapshot_publish(ee_snapshot *self, const parameters *learned);

#endif
