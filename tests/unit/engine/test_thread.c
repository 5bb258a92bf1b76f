/* Threads: bandits that do not meet, and many that decide on a snapshot while one learns. Run under ThreadSanitizer. */
#define _DEFAULT_SOURCE
#include "every_policy.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "engine/bandit.h"

enum { DIM = 8, ARMS = 5 };

/* Threads only fill in results; cmocka's asserts belong to the thread that runs the test. */
static void start(pthread_t *thread, void *(*body)(void *), void *argument)
{
    assert_int_equal(pthread_create(thread, NULL, body, argument), 0);
}

static void join(pthread_t thread)
{
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ---- bandits that do not meet ---- */

typedef struct lone_run {
    const char *policy, *options;
    uint64_t seed;
    model end;
    ee_status status;
    round_arms round;
} lone_run;

static const lone_run runs[] = {
    {.policy = "eenet",
     .options =
         "f1.width=6 exploration=network f2.width=6 f3.width=4 features=sketch:8 decision=hybrid hybrid_after=20",
     .seed = 1},
    {.policy = "eenet",
     .options =
         "f1.width=6 exploration=network f2.width=6 f3.width=4 features=sketch:8 decision=hybrid hybrid_after=20",
     .seed = 2},
    {.policy = "eenet",
     .options = "f1.width=6 exploration=network f2.width=6 features=pooled:2 keep=reservoir:5",
     .seed = 1},
    {.policy = "eenet",
     .options = "f1.width=6 exploration=network f2.width=6 features=normalized f1.front=conv1d:2:3",
     .seed = 1},
    {.policy = "eenet",
     .options = "f1.width=6 exploration=network f2.width=6 features=lle:3 lle_window=16 lle_neighbors=6",
     .seed = 1},
    {.policy = "eenet:paper",
     .options = "f1.width=4 exploration=network f2.width=4 f3.width=4 train_every=20",
     .seed = 1},
    {.policy = "eenet:authors",
     .options = "f1.width=6 exploration=network f2.width=6 f2.front=none f1.steps=50 f2.steps=50",
     .seed = 1},
    {.policy = "greedy", .options = "f1.width=6", .seed = 1},
    {.policy = "neural-fastcb", .options = "f1.width=6", .seed = 1},
    {.policy = "neural-ensemble", .options = "f1.width=6 members=3", .seed = 1},
    {.policy = "neural-ensemble", .options = "f1.width=6 members=3 decision=thompson", .seed = 1},
    {.policy = "neural-ts", .options = "f1.width=6 probability_draws=2", .seed = 1},
    {.policy = "lints", .options = "refresh=5 probability_draws=2", .seed = 1},
    {.policy = "kernelts", .options = "max_contexts=20 probability_draws=2", .seed = 1},
    {.policy = "ucb1", .options = "pending=8", .seed = 1},
    {.policy = "thompson", .options = "probability_draws=2", .seed = 1},
    {.policy = "uniform", .options = "pending=8", .seed = 1},
};
enum { RUNS = sizeof runs / sizeof *runs, ROUNDS = 60 };

/* All calls of the header: create, decide, score, learn, save, load, info, describe, free. */
static ee_status play_run(lone_run *run)
{
    ee_settings settings = {.policy = run->policy, .dim = DIM, .seed = run->seed, .options = run->options};
    ee_bandit *bandit = NULL;
    ee_status status = ee_bandit_create(&settings, &bandit, NULL);
    for (uint64_t t = 1; t <= ROUNDS && !status; t++) {
        ee_score scores[ARMS];
        ee_decision decision = {0};
        ee_option described;
        round_draw(&run->round, t, ARMS, DIM, 4);
        const ee_arms *arms = t % 2 ? &run->round.dense : &run->round.sparse;
        status = ee_bandit_score(bandit, arms, scores, NULL);
        if (!status) status = ee_bandit_decide(bandit, arms, &decision, scores, NULL, NULL);
        if (!status) status = ee_bandit_learn(bandit, decision.id, round_reward(&run->round, decision.arm), NULL);
        if (!status) status = ee_option_describe(run->policy, 0, &described, NULL);
        if (status || t % 20) continue;
        model_free(&run->end);
        status = ee_bandit_save_bytes(bandit, &run->end.bytes, &run->end.size, NULL);
        ee_bandit_free(bandit);
        bandit = NULL;
        if (!status)
            status = ee_bandit_load_bytes(run->end.bytes, run->end.size, &(ee_settings){.policy = run->policy}, &bandit,
                                          NULL);
        if (!status && ee_bandit_info(bandit).decisions != t) status = EE_BAD_MODEL;
    }
    ee_bandit_free(bandit);
    return status;
}

static void *run_alone(void *argument)
{
    lone_run *run = argument;
    run->status = play_run(run);
    return NULL;
}

TEST(bandits_in_threads_do_not_meet)
{
    static lone_run alone[RUNS], together[RUNS];
    pthread_t threads[RUNS];
    for (size_t i = 0; i < RUNS; i++) {
        alone[i] = runs[i];
        together[i] = runs[i];
        run_alone(&alone[i]);
        ok(alone[i].status);
    }
    for (size_t i = 0; i < RUNS; i++) start(&threads[i], run_alone, &together[i]);
    for (size_t i = 0; i < RUNS; i++) join(threads[i]);
    for (size_t i = 0; i < RUNS; i++) {
        ok(together[i].status);
        assert_true(model_equal(alone[i].end, together[i].end));
        model_free(&alone[i].end);
        model_free(&together[i].end);
    }
}

/* ---- many decide, one learns ---- */

enum { DECIDERS = 8, VERSIONS = 9, LEARNED_A_VERSION = 4, MADE_A_VERSION = 3, LOGGED_A_VERSION = 4 };
enum { MOST_LOGGED = VERSIONS * LOGGED_A_VERSION };

/* A decision on a snapshot, and of which version of the bandit that was: the rewards that it had learned. */
typedef struct logged_decision {
    uint64_t round, seed, version;
    ee_decision decision;
    ee_score scores[ARMS];
    double probabilities[ARMS];
} logged_decision;

/* What the threads share. */
typedef struct server {
    ee_snapshot *snapshot;
    atomic_size_t made; /* decisions */
    atomic_bool over;
} server;

typedef struct decider {
    server *server;
    uint64_t number;
    ee_status status;
    round_arms round;
    logged_decision log[MOST_LOGGED];
    size_t made, count; /* decisions, and how many of them are logged */
} decider;

static const ee_arms *arms_of_round(round_arms *round, uint64_t number)
{
    round_draw(round, number, ARMS, DIM, 4);
    return number % 2 ? &round->sparse : &round->dense;
}

static ee_status decide_once(decider *self, ee_scratch *room, logged_decision *out)
{
    const void *record;
    size_t size;
    *out = (logged_decision){.round = self->number * 1000 + self->made % 1000, .seed = self->number + 77 * self->made};
    const ee_arms *arms = arms_of_round(&self->round, out->round);
    ee_scratch_seed(room, out->seed);
    ee_status status =
        ee_snapshot_decide(self->server->snapshot, room, arms, &out->decision, out->scores, out->probabilities, NULL);
    if (!status) status = ee_scratch_record(room, 0, &record, &size, NULL);
    if (!status) memcpy(&out->version, (const uint8_t *)record + 32, sizeof out->version); /* docs/model-file.md */
    return status;
}

/* Some of the decisions of each version are checked: those that are made first. */
static bool is_logged(const decider *self, const logged_decision *made)
{
    size_t first = self->count < LOGGED_A_VERSION ? 0 : self->count - LOGGED_A_VERSION;
    bool full = self->count == MOST_LOGGED;
    return !full && (self->count < LOGGED_A_VERSION || self->log[first].version != made->version);
}

static void *decide_all_the_time(void *argument)
{
    decider *self = argument;
    ee_scratch *room = NULL;
    self->status = ee_scratch_create(self->server->snapshot, 1, &room, NULL);
    while (!self->status && !atomic_load(&self->server->over)) {
        logged_decision made;
        self->status = decide_once(self, room, &made);
        if (!self->status && is_logged(self, &made)) self->log[self->count++] = made;
        self->made++;
        atomic_fetch_add(&self->server->made, 1);
    }
    ee_scratch_free(room);
    return NULL;
}

/* What a bandit that is at this version decides, drawing as the seed says. */
static void check_decision(ee_bandit *at, const logged_decision *made)
{
    static round_arms round;
    logged_decision again = {0};
    arm_length length = at->policy->parameters.length;
    const ee_arms *arms = arms_of_round(&round, made->round);
    at->room->streams = decision_streams_of(made->seed);
    ok(ee_bandit_decide(at, arms, &again.decision, again.scores, again.probabilities, NULL));
    assert_int_equal(made->decision.id, 0);
    assert_int_equal(made->decision.arm, again.decision.arm);
    assert_memory_equal(&made->decision.probability, &again.decision.probability, sizeof(double));
    assert_memory_equal(made->scores, again.scores, sizeof again.scores);
    assert_memory_equal(made->probabilities, again.probabilities, sizeof again.probabilities);
    at->policy->parameters.length = length;            /* a decision compares its round */
    ok(ee_bandit_forget(at, again.decision.id, NULL)); /* the next one is not to know of it */
}

/* Learns, publishes, and lets the others decide some more, until all versions are out. */
static void learn_and_publish(ee_bandit *bandit, server *self, model *versions)
{
    for (uint64_t version = 0; version < VERSIONS; version++) {
        uint64_t first = 1 + version * LEARNED_A_VERSION;
        versions[version] = model_save(bandit);
        ok(ee_snapshot_update(self->snapshot, bandit, NULL));
        size_t enough = atomic_load(&self->made) + MADE_A_VERSION;
        while (atomic_load(&self->made) < enough) sched_yield();
        bandit_play(bandit, first, first + LEARNED_A_VERSION - 1, ARMS, version % 2);
    }
    atomic_store(&self->over, true);
}

static void serve(policy_case c)
{
    static decider deciders[DECIDERS];
    static model versions[VERSIONS];
    pthread_t threads[DECIDERS];
    server self = {0};
    ee_bandit *bandit = bandit_make(c.name, DIM, 3, c.options);
    ok(ee_snapshot_create(bandit, &self.snapshot, NULL));
    for (uint64_t i = 0; i < DECIDERS; i++) {
        deciders[i] = (decider){.server = &self, .number = i + 1};
        start(&threads[i], decide_all_the_time, &deciders[i]);
    }
    learn_and_publish(bandit, &self, versions);
    size_t of_version[VERSIONS] = {0};
    for (size_t i = 0; i < DECIDERS; i++) join(threads[i]);
    for (size_t v = 0; v < VERSIONS; v++) {
        ee_bandit *at = model_load(versions[v]);
        uint64_t rewards = at->policy->parameters.round;
        for (size_t i = 0; i < DECIDERS; i++) {
            ok(deciders[i].status);
            for (size_t d = 0; d < deciders[i].count; d++) {
                if (deciders[i].log[d].version != rewards) continue;
                check_decision(at, &deciders[i].log[d]);
                of_version[v]++;
            }
        }
        ee_bandit_free(at);
        model_free(&versions[v]);
    }
    size_t checked = 0, made = 0, seen = 0;
    for (size_t v = 0; v < VERSIONS; v++) seen += of_version[v] > 0;
    for (size_t v = 0; v < VERSIONS; v++) checked += of_version[v];
    for (size_t i = 0; i < DECIDERS; i++) made += deciders[i].count;
    if (bandit->policy->class->learn) {
        assert_int_equal(checked, made); /* each was made on a version that was published */
        assert_true(seen > VERSIONS / 2);
    }
    ee_snapshot_free(self.snapshot);
    ee_bandit_free(bandit);
}

TEST(many_decide_while_one_learns)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) serve(c);
}
