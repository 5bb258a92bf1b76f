/* Threads: bandits that do not meet, and many that score on a snapshot while one trains. Run under ThreadSanitizer. */
#define _DEFAULT_SOURCE
#include "rounds.h"

#include <pthread.h>

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
     .options = "f1.width=6 exploration=network f2.width=6 f3.width=4 features=sketch:8 hybrid_after=20",
     .seed = 1},
    {.policy = "eenet",
     .options = "f1.width=6 exploration=network f2.width=6 f3.width=4 features=sketch:8 hybrid_after=20",
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
    {.policy = "neural-ts", .options = "f1.width=6 probability_draws=2", .seed = 1},
    {.policy = "lints", .options = "refresh=5 probability_draws=2", .seed = 1},
    {.policy = "kernelts", .options = "max_contexts=20 probability_draws=2", .seed = 1},
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

static void bandits_in_threads_do_not_meet(void **state)
{
    (void)state;
    static lone_run alone[RUNS], together[RUNS];
    pthread_t threads[RUNS];
    for (size_t i = 0; i < RUNS; i++) {
        alone[i] = runs[i];
        together[i] = runs[i];
        run_alone(&alone[i]);
        assert_int_equal(alone[i].status, EE_OK);
    }
    for (size_t i = 0; i < RUNS; i++) start(&threads[i], run_alone, &together[i]);
    for (size_t i = 0; i < RUNS; i++) join(threads[i]);
    for (size_t i = 0; i < RUNS; i++) {
        assert_int_equal(together[i].status, EE_OK);
        assert_true(model_equal(alone[i].end, together[i].end));
        model_free(&alone[i].end);
        model_free(&together[i].end);
    }
}

/* ---- many score, one trains ---- */

enum { SCORERS = 3, BATCHES = 6, SCORES_A_BATCH = 30, ROUNDS_A_BATCH = 20, TESTED = 4 };

/* What the threads share. Between the two barriers of a batch the snapshot does not change and the bandit trains. */
typedef struct server {
    ee_bandit *bandit;
    parameters snapshot;
    round_arms rounds[TESTED];
    ee_score expected[TESTED][ARMS]; /* of the snapshot, before the batch */
    pthread_barrier_t begin, end;
} server;

typedef struct scorer {
    server *server;
    scratch room;
    size_t wrong; /* scores that were not bit-equal */
    size_t made;
} scorer;

static void score_snapshot(const server *self, scratch *room, size_t tested, ee_score *scores)
{
    const ee_arms *arms = tested % 2 ? &self->rounds[tested].sparse : &self->rounds[tested].dense;
    policy_score(&self->snapshot, arms, room, scores);
}

static void *score_batches(void *argument)
{
    scorer *self = argument;
    for (size_t batch = 0; batch < BATCHES; batch++) {
        pthread_barrier_wait(&self->server->begin);
        for (size_t i = 0; i < SCORES_A_BATCH * TESTED; i++) {
            ee_score scores[ARMS];
            score_snapshot(self->server, &self->room, i % TESTED, scores);
            self->wrong += memcmp(scores, self->server->expected[i % TESTED], sizeof scores) != 0;
            self->made++;
        }
        pthread_barrier_wait(&self->server->end);
    }
    return NULL;
}

/* Publishes what the bandit has learned, and writes down what the snapshot must score from now on. The scores are those
 * that the bandit itself gives. */
static void publish(server *self)
{
    parameters_copy(&self->snapshot, &self->bandit->policy->parameters);
    for (size_t i = 0; i < TESTED; i++) {
        const ee_arms *arms = i % 2 ? &self->rounds[i].sparse : &self->rounds[i].dense;
        assert_int_equal(ee_bandit_score(self->bandit, arms, self->expected[i], NULL), EE_OK);
    }
}

static void serve(const char *name, const char *options)
{
    static server self;
    scorer scorers[SCORERS];
    pthread_t threads[SCORERS];
    self.bandit = bandit_make(name, DIM, 3, options);
    for (size_t i = 0; i < TESTED; i++) round_draw(&self.rounds[i], 1000 + i, ARMS, DIM, 4);
    assert_int_equal(parameters_create(self.bandit->policy, &self.snapshot, NULL), EE_OK);
    assert_ptr_not_equal(self.snapshot.values, self.bandit->policy->parameters.values);
    assert_int_equal(pthread_barrier_init(&self.begin, NULL, SCORERS + 1), 0);
    assert_int_equal(pthread_barrier_init(&self.end, NULL, SCORERS + 1), 0);
    size_t floats = self.bandit->policy->class->scratch_count(self.bandit->policy, ARMS);
    for (size_t i = 0; i < SCORERS; i++) {
        scorers[i] = (scorer){.server = &self};
        assert_int_equal(scratch_reserve(&scorers[i].room, floats, NULL), EE_OK);
    }
    for (size_t i = 0; i < SCORERS; i++) start(&threads[i], score_batches, &scorers[i]);
    size_t changed = 0;
    for (size_t batch = 0; batch < BATCHES; batch++) {
        ee_score old[TESTED][ARMS];
        memcpy(old, self.expected, sizeof old);
        publish(&self);
        changed += memcmp(old, self.expected, sizeof old) != 0;
        pthread_barrier_wait(&self.begin);
        bandit_play(self.bandit, batch * ROUNDS_A_BATCH + 1, (batch + 1) * ROUNDS_A_BATCH, ARMS, batch % 2);
        pthread_barrier_wait(&self.end);
    }
    for (size_t i = 0; i < SCORERS; i++) {
        join(threads[i]);
        assert_int_equal(scorers[i].made, BATCHES * SCORES_A_BATCH * TESTED);
        assert_int_equal(scorers[i].wrong, 0);
        scratch_destroy(&scorers[i].room);
    }
    /* Publications show what was learned; parameters drawn from a reservoir may by chance be the old ones. */
    assert_true(changed > BATCHES / 2);
    pthread_barrier_destroy(&self.begin);
    pthread_barrier_destroy(&self.end);
    parameters_destroy(&self.snapshot);
    ee_bandit_free(self.bandit);
}

static void many_score_while_one_trains(void **state)
{
    (void)state;
    /* scale=off: a snapshot is given the arms as they are */
    serve("eenet", "scale=off f1.width=6 exploration=network f2.width=6 f3.width=4 features=sketch:8 hybrid_after=40");
    serve("eenet", "scale=off f1.width=6 exploration=network f2.width=6 features=pooled:2 decision=neural "
                   "f1.history=all f2.history=ring:9");
    serve("eenet", "scale=off f1.width=6 exploration=network f2.width=6 features=normalized keep=reservoir:5 "
                   "f1.front=conv1d:2:3+relu");
    serve("eenet", "scale=off f1.width=6 units=4");
    serve("eenet", "scale=off f1.width=6 blocks=2 refresh=3");
    serve("greedy", "f1.width=6 f1.order=shuffle f1.optimizer=adam");
}

/* A snapshot that outlives many trainings scores as it did when it was taken. */
static void a_snapshot_does_not_change(void **state)
{
    (void)state;
    static round_arms round;
    ee_bandit *bandit = bandit_make(
        "eenet", DIM, 3, "scale=off f1.width=6 exploration=network f2.width=6 features=sketch:8 hybrid_after=30");
    bandit_play(bandit, 1, 20, ARMS, false);
    parameters snapshot;
    scratch room = {0};
    ee_score before[ARMS], after[ARMS], now[ARMS];
    round_draw(&round, 999, ARMS, DIM, DIM);
    const policy_class *class = bandit->policy->class;
    assert_int_equal(parameters_create(bandit->policy, &snapshot, NULL), EE_OK);
    assert_int_equal(scratch_reserve(&room, class->scratch_count(bandit->policy, ARMS), NULL), EE_OK);
    assert_int_equal(snapshot.round, 20);
    policy_score(&snapshot, &round.dense, &room, before);
    assert_int_equal(ee_bandit_score(bandit, &round.dense, now, NULL), EE_OK);
    assert_memory_equal(before, now, sizeof now);
    bandit_play(bandit, 21, 200, ARMS, false);
    policy_score(&snapshot, &round.dense, &room, after);
    assert_memory_equal(before, after, sizeof after);
    assert_int_equal(ee_bandit_score(bandit, &round.dense, now, NULL), EE_OK);
    assert_true(memcmp(before, now, sizeof now) != 0);
    parameters_copy(&snapshot, &bandit->policy->parameters);
    policy_score(&snapshot, &round.dense, &room, after);
    assert_memory_equal(now, after, sizeof after);
    parameters_destroy(&snapshot);
    scratch_destroy(&room);
    ee_bandit_free(bandit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bandits_in_threads_do_not_meet),
        cmocka_unit_test(many_score_while_one_trains),
        cmocka_unit_test(a_snapshot_does_not_change),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
