/* Threads that decide rounds of named features on a snapshot, while one learns names and publishes: each decision is by
 * names and parameters of one and the same version. Run under ThreadSanitizer. */
#define _DEFAULT_SOURCE
#include "named_play.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "engine/bandit.h"
#include "features/features.h"

enum { DECIDERS = 6, VERSIONS = 12, LEARNED_A_VERSION = 5, MADE_A_VERSION = 30, LOGGED_A_VERSION = 5 };
enum { MOST_LOGGED = VERSIONS * LOGGED_A_VERSION };

typedef struct logged {
    uint64_t round, version; /* version: rewards that the parameters had learned */
    ee_score scores[NAMED_ARMS];
} logged;

typedef struct server {
    ee_snapshot *snapshot;
    atomic_size_t made;
    atomic_bool over;
} server;

typedef struct decider {
    server *server;
    uint64_t number;
    ee_status status;
    logged log[MOST_LOGGED];
    size_t count;
} decider;

/* A round that has names which only later versions know. Threads must not use cmocka's asserts. */
static ee_status read_round(ee_round *round, uint64_t number)
{
    char json[256];
    ee_round_clear(round);
    int used = snprintf(json, sizeof json,
                        "{\"u\":{\"x\":%d,\"w\":\"v%d\"%s},\"_multi\":[{\"a\":1,\"n\":%d},{\"b\":true},{\"n\":3},{}]}",
                        (int)(number % 1000), (int)(number % 50), number % 4 ? "" : ",\"rare\":7", (int)(number % 7));
    return ee_round_read(round, json, (size_t)used, NULL);
}

static ee_status decide_once(decider *self, ee_round *round, ee_scratch *room, logged *out)
{
    ee_decision decision;
    const void *record;
    size_t size;
    ee_status status = read_round(round, out->round);
    if (!status)
        status = ee_snapshot_decide_round(self->server->snapshot, room, round, &decision, out->scores, NULL, NULL);
    if (!status) status = ee_scratch_record(room, 0, &record, &size, NULL);
    if (!status) memcpy(&out->version, (const uint8_t *)record + 32, sizeof out->version); /* docs/model-file.md */
    return status;
}

/* Of each version the first decisions are. */
static bool is_logged(const decider *self, const logged *made)
{
    if (self->count == MOST_LOGGED) return false;
    return self->count < LOGGED_A_VERSION || self->log[self->count - LOGGED_A_VERSION].version != made->version;
}

static void *decide_all_the_time(void *argument)
{
    decider *self = argument;
    ee_scratch *room = NULL;
    ee_round *round = NULL;
    self->status = ee_scratch_create(self->server->snapshot, 1, &room, NULL);
    if (!self->status) self->status = ee_round_create(NULL, &round, NULL);
    for (uint64_t i = 0; !self->status && !atomic_load(&self->server->over); i++) {
        logged made = {.round = self->number * 37 + i};
        self->status = decide_once(self, round, room, &made);
        if (is_logged(self, &made)) self->log[self->count++] = made;
        atomic_fetch_add(&self->server->made, 1);
    }
    ee_scratch_free(room);
    ee_round_free(round);
    return NULL;
}

static void learn_round(ee_bandit *bandit, ee_round *round, uint64_t number)
{
    ee_arms arms;
    ok(read_round(round, number));
    ok(ee_bandit_arms(bandit, round, &arms, NULL));
    bandit_reward(bandit, bandit_choose(bandit, &arms, NULL).id, (double)(number % 3));
}

/* What a bandit of this version scores: its features encode as the snapshot's did. */
static void check_logged(ee_bandit *at, ee_round *round, const logged *made)
{
    ee_arms arms;
    ee_score scores[NAMED_ARMS];
    ok(read_round(round, made->round));
    ok(features_encode(at->features, round, &arms, NULL));
    ok(ee_bandit_score(at, &arms, scores, NULL));
    assert_memory_equal(scores, made->scores, sizeof scores);
}

TEST(names_and_parameters_are_of_one_version)
{
    static decider deciders[DECIDERS];
    model versions[VERSIONS];
    pthread_t threads[DECIDERS];
    server self = {0};
    ee_round *round;
    ee_bandit *bandit = named_make("greedy", "f1.width=4", "names=150 hashes=20");
    ok(ee_round_create(NULL, &round, NULL));
    ok(ee_snapshot_create(bandit, &self.snapshot, NULL));
    for (uint64_t i = 0; i < DECIDERS; i++) {
        deciders[i] = (decider){.server = &self, .number = i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, decide_all_the_time, &deciders[i]), 0);
    }
    for (uint64_t version = 0; version < VERSIONS; version++) {
        versions[version] = model_save(bandit);
        ok(ee_snapshot_update(self.snapshot, bandit, NULL));
        size_t enough = atomic_load(&self.made) + MADE_A_VERSION;
        while (atomic_load(&self.made) < enough) sched_yield();
        for (uint64_t i = 0; i < LEARNED_A_VERSION; i++) learn_round(bandit, round, version * LEARNED_A_VERSION + i);
    }
    atomic_store(&self.over, true);
    for (size_t i = 0; i < DECIDERS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < DECIDERS; i++) ok(deciders[i].status);
    size_t checked = 0, made = 0, seen = 0;
    for (size_t v = 0; v < VERSIONS; v++) {
        ee_bandit *at = model_load(versions[v]);
        size_t before = checked;
        for (size_t i = 0; i < DECIDERS; i++)
            for (size_t d = 0; d < deciders[i].count; d++) {
                if (deciders[i].log[d].version != at->policy->parameters.round) continue;
                check_logged(at, round, &deciders[i].log[d]);
                checked++;
            }
        seen += checked > before;
        ee_bandit_free(at);
        model_free(&versions[v]);
    }
    for (size_t i = 0; i < DECIDERS; i++) made += deciders[i].count;
    assert_int_equal(checked, made); /* each was made on a version that was published */
    assert_true(seen > VERSIONS / 2);
    ee_snapshot_free(self.snapshot);
    ee_bandit_free(bandit);
    ee_round_free(round);
}
