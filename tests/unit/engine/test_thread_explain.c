/* Many threads explain on a snapshot while one learns: each explanation is that of the version that it names. Run under
 * ThreadSanitizer. */
#define _DEFAULT_SOURCE
#include "every_policy.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "engine/snapshot.h"

enum { DIM = 8, ARMS = 4, THREADS = 4, VERSIONS = 40 };

typedef struct shared {
    ee_bandit *bandit;
    ee_snapshot *snapshot;
    round_arms round;
    float expected[VERSIONS + 1][ARMS * DIM]; /* by version, by entry */
    atomic_bool ends;
    atomic_uint wrong, explained;
} shared;

typedef struct seen {
    uint64_t version;
    float contributions[ARMS * DIM];
    size_t count;
} seen;

typedef struct reader {
    shared *shared;
    seen seen[256]; /* of the last ones */
    size_t count;
} reader;

static void *read_on(void *argument)
{
    reader *self = argument;
    shared *all = self->shared;
    ee_scratch *own = NULL;
    if (ee_scratch_create(all->snapshot, 1, &own, NULL)) {
        atomic_fetch_add(&all->wrong, 1);
        return NULL;
    }
    for (bool ends = false; !ends;) {
        ends = atomic_load(&all->ends);
        explanation *reported;
        if (snapshot_explain(all->snapshot, own, &all->round.sparse, NULL, 1, EXPLAIN_ALL, &reported, NULL)) {
            atomic_fetch_add(&all->wrong, 1);
            break;
        }
        seen *next = &self->seen[self->count++ % (sizeof self->seen / sizeof *self->seen)];
        next->version = reported->version;
        next->count = reported->entry_count;
        for (size_t i = 0; i < reported->entry_count; i++) next->contributions[i] = reported->entries[i].contribution;
        atomic_fetch_add(&all->explained, 1);
    }
    ee_scratch_free(own);
    return NULL;
}

/* What an explanation of this version has to be: told by the bandit before the version is published. */
static void note(shared *all, uint64_t version)
{
    ee_error error = {EE_OK, ""};
    float *next = all->expected[version];
    for (size_t arm = 0; arm < ARMS; arm++) {
        if (ee_bandit_explain(all->bandit, &all->round.sparse, arm, next, &error)) fail_msg("%s", error.message);
        next += all->round.starts[arm + 1] - all->round.starts[arm];
    }
}

static void learn_on(shared *all)
{
    ee_error error = {EE_OK, ""};
    for (uint64_t version = 1; version <= VERSIONS; version++) {
        bandit_play(all->bandit, 10 * version, 10 * version + 4, ARMS, true);
        note(all, version);
        if (snapshot_update(all->snapshot, all->bandit, version, &error)) fail_msg("%s", error.message);
        unsigned before = atomic_load(&all->explained);
        while (atomic_load(&all->explained) == before && !atomic_load(&all->wrong)) sched_yield();
    }
    atomic_store(&all->ends, true);
}

static void check(const reader *self)
{
    size_t most = sizeof self->seen / sizeof *self->seen, count = self->count < most ? self->count : most;
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        const seen *one = &self->seen[i];
        assert_true(one->version <= VERSIONS);
        for (size_t j = 0; j < one->count; j++)
            assert_close(one->contributions[j], self->shared->expected[one->version][j], 1e-6);
    }
}

TEST(explained_while_it_learns)
{
    const policy_case cases[] = {
        {"eenet", "f1.width=6 units=4"}, {"linucb", ""}, {"kernelucb", ""}, {"neural-linear", "f1.width=6"}};
    static shared all;
    static reader readers[THREADS];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pthread_t threads[THREADS];
        memset(&all, 0, sizeof all);
        memset(readers, 0, sizeof readers);
        round_draw(&all.round, 9999, ARMS, DIM, DIM / 2);
        all.bandit = bandit_make(cases[i].name, DIM, 3, cases[i].options);
        bandit_play(all.bandit, 1, 5, ARMS, true);
        note(&all, 0);
        ok(ee_snapshot_create(all.bandit, &all.snapshot, NULL));
        for (size_t t = 0; t < THREADS; t++) {
            readers[t].shared = &all;
            assert_int_equal(pthread_create(&threads[t], NULL, read_on, &readers[t]), 0);
        }
        learn_on(&all);
        for (size_t t = 0; t < THREADS; t++) assert_int_equal(pthread_join(threads[t], NULL), 0);
        assert_int_equal(atomic_load(&all.wrong), 0);
        for (size_t t = 0; t < THREADS; t++) check(&readers[t]);
        ee_snapshot_free(all.snapshot);
        ee_bandit_free(all.bandit);
    }
}
