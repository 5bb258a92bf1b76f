/* Threads: bandits that do not meet, and many that decide or explain on a snapshot while one learns: each answer is of
 * one version. Run under ThreadSanitizer. */
#define _DEFAULT_SOURCE
#include "every_policy.h"

#include <pthread.h>

#include "engine/bandit.h"
#include "engine/snapshot.h"
#include "features/features.h"
#include "named_play.h"

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

typedef struct lone_run {
    policy_case about;
    model end;
    ee_status status;
    round_arms round;
} lone_run;

enum { MOST_RUNS = 64 };

/* All calls of the header: create, decide, score, learn, save, load, info, describe, free. */
static ee_status play_run(lone_run *run)
{
    enum { ROUNDS = 30, SAVED = 10 };
    ee_settings settings = {.policy = run->about.name, .dim = DIM, .seed = 1, .options = run->about.options};
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
        if (!status) status = ee_option_describe(run->about.name, 0, &described, NULL);
        if (status || t % SAVED) continue;
        model_free(&run->end);
        status = ee_bandit_save_bytes(bandit, &run->end.bytes, &run->end.size, NULL);
        ee_bandit_free(bandit);
        bandit = NULL;
        if (!status)
            status = ee_bandit_load_bytes(run->end.bytes, run->end.size, &(ee_settings){.policy = run->about.name},
                                          &bandit, NULL);
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
    static lone_run alone[MOST_RUNS], together[MOST_RUNS];
    pthread_t threads[MOST_RUNS];
    size_t count = 0;
    for (; policy_case_at(count, &alone[count].about); count++) {
        assert_true(count + 1 < MOST_RUNS);
        together[count].about = alone[count].about;
        run_alone(&alone[count]);
        ok(alone[count].status);
    }
    for (size_t i = 0; i < count; i++) start(&threads[i], run_alone, &together[i]);
    for (size_t i = 0; i < count; i++) join(threads[i]);
    for (size_t i = 0; i < count; i++) {
        ok(together[i].status);
        assert_true(model_equal(alone[i].end, together[i].end));
        model_free(&alone[i].end);
        model_free(&together[i].end);
    }
}

/* ---- many decide, one learns ---- */

enum { DECIDERS = 6, VERSIONS = 9, LEARNED_A_VERSION = 4, MADE_A_VERSION = 12 };
enum { MOST_LOGGED = 2 * VERSIONS * MADE_A_VERSION };

/* What the threads do: decide among vectors, or among named features, of which later versions know more; or explain. */
typedef enum work { DECIDE, DECIDE_NAMED, EXPLAIN } work;

/* An answer of a snapshot, and of which version of the bandit that was: the rewards that it had learned. */
typedef struct answer {
    uint64_t round, seed, version;
    ee_decision decision;
    ee_score scores[ARMS];
    double probabilities[ARMS];
    float contributions[ARMS * DIM];
} answer;

/* What the threads share. Those that decide stop when they have made the allowed decisions: half of them while the
 * next version is learned and published. */
typedef struct server {
    work work;
    ee_snapshot *snapshot;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t begun, made, allowed;
    bool over;
} server;

typedef struct decider {
    server *server;
    uint64_t number;
    ee_status status;
    round_arms round;
    answer log[MOST_LOGGED];
    size_t count;
} decider;

static const ee_arms *arms_of_round(round_arms *round, uint64_t number)
{
    round_draw(round, number, ARMS, DIM, 4);
    return number % 2 ? &round->sparse : &round->dense;
}

static ee_status read_round(ee_round *round, uint64_t number)
{
    char json[256];
    ee_round_clear(round);
    int used =
        snprintf(json, sizeof json,
                 "{\"u\":{\"x\":%d,\"w\":\"v%d\"%s},\"_multi\":[{\"a\":1,\"n\":%d},{\"b\":true},{\"n\":3},{},{}]}",
                 (int)(number % 1000), (int)(number % 50), number % 4 ? "" : ",\"rare\":7", (int)(number % 7));
    return ee_round_read(round, json, (size_t)used, NULL);
}

static ee_status explain_once(decider *self, ee_scratch *room, answer *out)
{
    explanation *reported;
    round_draw(&self->round, out->round, ARMS, DIM, DIM);
    ee_status status =
        snapshot_explain(self->server->snapshot, room, &self->round.sparse, NULL, 1, EXPLAIN_ALL, &reported, NULL);
    if (status) return status;
    out->version = reported->version;
    for (size_t i = 0; i < reported->entry_count; i++) out->contributions[i] = reported->entries[i].contribution;
    return EE_OK;
}

static ee_status answer_once(decider *self, ee_scratch *room, ee_round *named, answer *out)
{
    const ee_snapshot *snapshot = self->server->snapshot;
    const void *record;
    size_t size;
    ee_status status;
    *out = (answer){.round = self->number * 1000 + self->count, .seed = self->number + 77 * self->count};
    ee_scratch_seed(room, out->seed);
    if (self->server->work == EXPLAIN) return explain_once(self, room, out);
    if (self->server->work == DECIDE) {
        status = ee_snapshot_decide(snapshot, room, arms_of_round(&self->round, out->round), &out->decision,
                                    out->scores, out->probabilities, NULL);
    } else {
        status = read_round(named, out->round);
        if (!status)
            status =
                ee_snapshot_decide_round(snapshot, room, named, &out->decision, out->scores, out->probabilities, NULL);
    }
    if (!status) status = ee_scratch_record(room, 0, &record, &size, NULL);
    if (!status) memcpy(&out->version, (const uint8_t *)record + 32, sizeof out->version); /* docs/model-file.md */
    return status;
}

/* Waits until a decision may be made; false when all is over. */
static bool begin_decision(server *self)
{
    pthread_mutex_lock(&self->mutex);
    while (self->begun == self->allowed && !self->over) pthread_cond_wait(&self->changed, &self->mutex);
    bool goes_on = !self->over;
    self->begun++;
    pthread_mutex_unlock(&self->mutex);
    return goes_on;
}

static void end_decision(server *self, bool failed)
{
    pthread_mutex_lock(&self->mutex);
    self->made++;
    self->over |= failed;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static void *answer_all_the_time(void *argument)
{
    decider *self = argument;
    auto_scratch *room = NULL;
    auto_round *named = NULL;
    self->status = ee_scratch_create(self->server->snapshot, 1, &room, NULL);
    if (!self->status) self->status = ee_round_create(NULL, &named, NULL);
    while (begin_decision(self->server)) {
        if (!self->status) self->status = answer_once(self, room, named, &self->log[self->count]);
        self->count += !self->status;
        end_decision(self->server, self->status != EE_OK);
    }
    return NULL;
}

/* What a bandit that is at this version answers, drawing as the seed says. */
static void check_answer(work what, ee_bandit *at, ee_round *named, const answer *made)
{
    static round_arms round;
    answer again = {0};
    ee_arms arms;
    arm_length length = at->policy->parameters.length;
    if (what == EXPLAIN) {
        float *next = again.contributions;
        round_draw(&round, made->round, ARMS, DIM, DIM);
        for (size_t arm = 0; arm < ARMS; next += round.starts[arm + 1] - round.starts[arm], arm++)
            ok(ee_bandit_explain(at, &round.sparse, arm, next, NULL));
        assert_floats_close(made->contributions, again.contributions, ARMS * DIM, 1e-6);
        return;
    }
    if (what == DECIDE_NAMED) {
        ok(read_round(named, made->round));
        ok(features_encode(at->features, named, &arms, NULL));
    } else {
        arms = *arms_of_round(&round, made->round);
    }
    at->room->streams = decision_streams_of(made->seed);
    ok(ee_bandit_decide(at, &arms, &again.decision, again.scores, again.probabilities, NULL));
    assert_int_equal(made->decision.id, 0);
    assert_int_equal(made->decision.arm, again.decision.arm);
    assert_memory_equal(&made->decision.probability, &again.decision.probability, sizeof(double));
    assert_memory_equal(made->scores, again.scores, sizeof again.scores);
    assert_memory_equal(made->probabilities, again.probabilities, sizeof again.probabilities);
    at->policy->parameters.length = length;            /* a decision compares its round */
    ok(ee_bandit_forget(at, again.decision.id, NULL)); /* the next one is not to know of it */
}

static void learn(ee_bandit *bandit, work what, ee_round *named, uint64_t number)
{
    ee_arms arms;
    if (what != DECIDE_NAMED) {
        bandit_play(bandit, number, number, ARMS, number / LEARNED_A_VERSION % 2);
        return;
    }
    ok(read_round(named, number));
    ok(ee_bandit_arms(bandit, named, &arms, NULL));
    bandit_reward(bandit, bandit_choose(bandit, &arms, NULL).id, (double)(number % 3));
}

/* Publishes, lets the others decide, and learns, until all versions are out. */
static void learn_and_publish(ee_bandit *bandit, server *self, ee_round *named, model *versions)
{
    for (uint64_t version = 0; version < VERSIONS; version++) {
        versions[version] = model_save(bandit);
        ok(snapshot_update(self->snapshot, bandit, bandit->policy->parameters.round, NULL));
        pthread_mutex_lock(&self->mutex);
        size_t enough = self->made + MADE_A_VERSION;
        self->allowed = self->begun + 2 * MADE_A_VERSION;
        pthread_cond_broadcast(&self->changed);
        while (self->made < enough && !self->over) pthread_cond_wait(&self->changed, &self->mutex);
        pthread_mutex_unlock(&self->mutex);
        for (uint64_t i = 1; i <= LEARNED_A_VERSION; i++)
            learn(bandit, self->work, named, version * LEARNED_A_VERSION + i);
    }
    pthread_mutex_lock(&self->mutex);
    self->over = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static void serve(work what, ee_bandit *bandit)
{
    static decider deciders[DECIDERS];
    static model versions[VERSIONS];
    pthread_t threads[DECIDERS];
    server self = {.work = what, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    auto_round *named = round_make();
    ok(ee_snapshot_create(bandit, &self.snapshot, NULL));
    for (uint64_t i = 0; i < DECIDERS; i++) {
        deciders[i] = (decider){.server = &self, .number = i + 1};
        start(&threads[i], answer_all_the_time, &deciders[i]);
    }
    learn_and_publish(bandit, &self, named, versions);
    size_t checked = 0, made = 0, seen = 0;
    for (size_t i = 0; i < DECIDERS; i++) {
        join(threads[i]);
        ok(deciders[i].status);
        made += deciders[i].count;
    }
    for (size_t v = 0; v < VERSIONS; v++) {
        auto_bandit *at = model_load(versions[v]);
        size_t before = checked;
        for (size_t i = 0; i < DECIDERS; i++)
            for (size_t d = 0; d < deciders[i].count; d++) {
                if (deciders[i].log[d].version != at->policy->parameters.round) continue;
                check_answer(what, at, named, &deciders[i].log[d]);
                checked++;
            }
        seen += checked > before;
        model_free(&versions[v]);
    }
    if (bandit->policy->class->learn) {
        assert_int_equal(checked, made); /* each was made on a version that was published */
        assert_true(seen > VERSIONS / 2);
    }
    ee_snapshot_free(self.snapshot);
    ee_bandit_free(bandit);
}

/* Names and parameters are of one and the same version, also where the parameters grow. */
TEST(many_decide_while_one_learns)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));)
        serve(DECIDE, bandit_make(c->name, DIM, 3, c->options));
    serve(DECIDE_NAMED, named_make("greedy", "f1.width=4 f1.deep_width=4", "names=150 hashes=20"));
    serve(DECIDE_NAMED, named_make("linucb", "refresh=30", "names=1000 hashes=100"));
}

TEST(many_explain_while_one_learns)
{
    const policy_case cases[] = {
        {"eenet", "f1.width=6 units=4"}, {"linucb", ""}, {"kernelucb", ""}, {"neural-linear", "f1.width=6"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        serve(EXPLAIN, bandit_make(cases[i].name, DIM, 3, cases[i].options));
}

/* ---- one reads while an update would write ---- */

static pthread_mutex_t stage_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stage_changed = PTHREAD_COND_INITIALIZER;
static int stage; /* 1: it reads; 2: the update that must wait begins */
static void (*score_of_class)(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores);
static bool same_scores;
static _Thread_local bool is_slow; /* learning scores too */

static void set_stage(int next)
{
    pthread_mutex_lock(&stage_mutex);
    stage = next;
    pthread_cond_broadcast(&stage_changed);
    pthread_mutex_unlock(&stage_mutex);
}

static void wait_for_stage(int wanted)
{
    pthread_mutex_lock(&stage_mutex);
    while (stage < wanted) pthread_cond_wait(&stage_changed, &stage_mutex);
    pthread_mutex_unlock(&stage_mutex);
}

static void score_twice(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    ee_score before[ARMS];
    score_of_class(learned, arms, room, is_slow ? before : scores);
    if (!is_slow) return;
    set_stage(1);
    wait_for_stage(2);
    score_of_class(learned, arms, room, scores);
    same_scores = memcmp(before, scores, sizeof before) == 0;
}

typedef struct slow_decision {
    ee_snapshot *snapshot;
    ee_scratch *room;
    round_arms round;
    ee_status status;
} slow_decision;

static void *decide_slowly(void *argument)
{
    slow_decision *self = argument;
    ee_decision decision;
    is_slow = true;
    round_draw(&self->round, 99, ARMS, DIM, DIM);
    self->status = ee_snapshot_decide(self->snapshot, self->room, &self->round.dense, &decision, NULL, NULL, NULL);
    return NULL;
}

/* The second update after a decision began writes where it reads. */
TEST(an_update_waits_for_a_decision)
{
    static slow_decision self;
    static round_arms learned;
    pthread_t thread;
    auto_bandit *bandit = bandit_make("linucb", DIM, 3, NULL);
    const policy_class *class = bandit->policy->class;
    policy_class slow = *class;
    score_of_class = class->score;
    slow.score = score_twice;
    bandit_play(bandit, 1, 5, ARMS, false);
    ok(ee_snapshot_create(bandit, &self.snapshot, NULL));
    ok(ee_scratch_create(self.snapshot, 1, &self.room, NULL));
    bandit->policy->class = &slow;
    start(&thread, decide_slowly, &self);
    wait_for_stage(1);
    for (int update = 1; update <= 2; update++) {
        round_draw(&learned, (uint64_t)update, ARMS, DIM, DIM);
        ok(ee_bandit_learn_from(bandit, &learned.dense, 0, update, NULL));
        if (update == 2) set_stage(2);
        ok(ee_snapshot_update(self.snapshot, bandit, NULL));
    }
    join(thread);
    bandit->policy->class = class;
    ok(self.status);
    assert_true(same_scores);
    ee_scratch_free(self.room);
    ee_snapshot_free(self.snapshot);
}
