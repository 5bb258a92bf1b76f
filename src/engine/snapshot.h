/* What a bandit has learned, for threads that decide while it continues to learn.
 *
 * There are two copies of the parameters. Threads decide on the one published last; an update writes the other one and
 * publishes it. A thread announces which copy it uses, and an update waits until no thread uses the copy that it will
 * write. Deciding threads never wait. */
#ifndef EENET_SNAPSHOT_H
#define EENET_SNAPSHOT_H

#include <stdatomic.h>

#include "bandit.h"
#include "base/threads.h"
#include "explanation.h"

/* The number of threads that use each copy. A thread announces itself and then checks again that the copy is still
 * published: if so, an update that wants to write it will see the thread; if not, the thread has not read anything. */
typedef struct snapshot_gate {
    atomic_size_t published; /* 0 or 1 */
    atomic_bool waited_for;  /* an update waits for a copy */
    pthread_mutex_t mutex;
    pthread_cond_t left;
    /* Threads write these all the time, so each has its own cache line. */
    struct {
        _Alignas(64) atomic_size_t count;
    } readers[2];
} snapshot_gate;

struct ee_snapshot {
    memory memory; /* all blocks of the snapshot; it is the first */
    const ee_bandit *bandit;
    policy_arena *arenas[2]; /* the policy of each copy */
    uint64_t fingerprint;
    decision_rules rules;
    parameters copies[2];
    uint64_t versions[2];         /* of each copy, see snapshot_update */
    uint64_t version;             /* of the copy that is published next */
    struct features *features[2]; /* of each copy; NULL if the bandit takes only vectors */
    snapshot_gate *gate;          /* deciding on a const snapshot writes here */
};

struct ee_scratch {
    memory memory; /* all blocks of the scratch; it is the first */
    deciding_room room;
    uint8_t *records;    /* records of the last deciding call, one after the other */
    size_t *record_ends; /* (record_count) the end of each record */
    size_t record_count, record_capacity, record_end_capacity;
    uint64_t version;        /* of the state that decided */
    explanation explanation; /* of the last explained round */
};

/* The copy published last. It is not written until snapshot_leave. */
size_t snapshot_enter(const ee_snapshot *self);
void snapshot_leave(const ee_snapshot *self, size_t copy);

/* Like ee_snapshot_update, with a number for the published state. ee_snapshot_create and ee_snapshot_update use 0. */
ee_status snapshot_update(ee_snapshot *self, ee_bandit *bandit, uint64_t version, ee_error *error);

/* The number of the state that the last call with this scratch used. */
uint64_t scratch_version(const ee_scratch *work);

/* The work of ee_snapshot_update; returns the number of floats copied. */
size_t snapshot_publish(ee_snapshot *self, const parameters *learned);

#endif
