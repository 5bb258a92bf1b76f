/* Allocation: none where none is promised, and any one may fail: a status, nothing leaked, nothing changed. */
#define _DEFAULT_SOURCE
#include "every_policy.h"

#include <unistd.h>

#include "counted_memory.h"
#include "support_files.h"

static round_arms round_now;

/* ---- none in the hot path ---- */

typedef enum form { DENSE, SPARSE, MIXED } form;

/* Plays rounds of ten arms, with rewards up to three rounds late, and returns how many allocations they made. */
static size_t count_allocations(const char *policy, const char *options, size_t dim, size_t nonzeros, form kind,
                                uint64_t rounds)
{
    enum { ARMS = 10, LATE = 4 };
    auto_bandit *bandit = bandit_make(policy, dim, 3, options);
    double rewards[LATE] = {0};
    size_t made = 0;
    for (uint64_t t = 1; t <= rounds; t++) {
        ee_score scores[ARMS];
        double probabilities[ARMS];
        round_draw(&round_now, t, t % 13 == 0 ? 1 : ARMS, dim, nonzeros);
        bool sparse = kind == SPARSE || (kind == MIXED && t % 2 == 0);
        const ee_arms *arms = sparse ? &round_now.sparse : &round_now.dense;
        size_t before = calls;
        ok(ee_bandit_score(bandit, arms, scores, NULL));
        ok(ee_bandit_probabilities(bandit, arms, probabilities, NULL));
        ee_decision decision = bandit_choose(bandit, arms, scores);
        rewards[t % LATE] = round_reward(&round_now, decision.arm);
        /* Four rounds' rewards at once, the last first. */
        for (uint64_t late = 0; t % LATE == 0 && late < LATE; late++)
            bandit_reward(bandit, t - late, rewards[(t - late) % LATE]);
        made += calls - before;
    }
    return made;
}

/* Three slots a call, of ten arms each: from the second call on, since the first makes room. */
static size_t count_allocations_of_slots(const policy_case *c, form kind, uint64_t rounds)
{
    enum { ARMS = 10, SLOTS = 3 };
    auto_bandit *bandit = bandit_make(c->name, 20, 3, c->options);
    size_t before = 0;
    for (uint64_t t = 1; t <= rounds; t++) {
        ee_decision decisions[SLOTS];
        ee_score scores[SLOTS * ARMS];
        double probabilities[SLOTS * ARMS];
        static uint8_t excluded[SLOTS * ARMS];
        excluded[t % sizeof excluded] ^= t % 2;
        round_draw(&round_now, t, ARMS, 20, kind == SPARSE ? 5 : 20);
        if (t == 2) before = calls;
        const ee_arms arms = kind == SPARSE ? round_now.sparse : round_now.dense, slots[] = {arms, arms, arms};
        ok(ee_bandit_decide_slots(bandit, slots, SLOTS, t > 2 ? excluded : NULL, decisions, scores, probabilities,
                                  NULL));
        for (size_t k = t % 2; k < SLOTS; k++)
            bandit_reward(bandit, decisions[k].id, round_reward(&round_now, decisions[k].arm));
    }
    return calls - before;
}

/* On a snapshot too: from the second decision on, since the first makes room for the record. */
static size_t count_allocations_of_snapshot(const policy_case *c, uint64_t rounds)
{
    enum { ARMS = 10 };
    auto_bandit *bandit = bandit_make(c->name, 20, 3, c->options);
    size_t before = 0;
    auto_snapshot *snapshot = snapshot_make(bandit);
    auto_scratch *room = scratch_make(snapshot, 1);
    for (uint64_t t = 1; t <= rounds; t++) {
        const void *record;
        size_t size;
        ee_score scores[ARMS];
        double probabilities[ARMS];
        ee_decision decision;
        round_draw(&round_now, t, ARMS, 20, 20);
        if (t == 2) before = calls;
        const ee_arms *arms = &round_now.dense;
        ee_scratch_seed(room, t);
        ok(ee_snapshot_decide(snapshot, room, arms, &decision, scores, probabilities, NULL));
        ok(ee_scratch_record(room, 0, &record, &size, NULL));
        ok(ee_bandit_learn_record(bandit, record, size, t % 2 ? 1 : 0, NULL));
        ok(ee_bandit_learn_from(bandit, arms, t % ARMS, t % 3 == 0, NULL));
        ok(ee_snapshot_update(snapshot, bandit, NULL));
    }
    return calls - before;
}

TEST(policies_allocate_nothing)
{
    const size_t few = test_long(10, 100), many = test_long(30, 256); /* with more a history would grow */
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        if (strcmp(c->name, "eenet:authors") == 0) continue; /* see unbounded_histories_double */
        size_t held = live;
        assert_int_equal(count_allocations(c->name, c->options, 20, 20, DENSE, few), 0);
        assert_int_equal(count_allocations(c->name, c->options, 20, 5, SPARSE, few), 0);
        assert_int_equal(count_allocations(c->name, c->options, 20, 5, MIXED, many), 0);
        assert_int_equal(count_allocations_of_slots(c, DENSE, few), 0);
        assert_int_equal(count_allocations_of_slots(c, SPARSE, few), 0);
        assert_int_equal(count_allocations_of_snapshot(c, few), 0);
        assert_int_equal(live, held);
    }
}

/* The reserve for a sparse arm is what the option nonzeros says, up to all features. */
TEST(sparse_arms_and_bounded_histories_allocate_nothing)
{
    static const char *const policies[] = {"eenet", "greedy", "uniform"};
    for (size_t p = 0; p < 3; p++) {
        assert_int_equal(count_allocations(policies[p], NULL, 20, 20, SPARSE, 20), 0);
        assert_int_equal(count_allocations(policies[p], NULL, 20, 11, SPARSE, 20), 0);
        assert_int_equal(count_allocations(policies[p], "nonzeros=12", 20, 12, SPARSE, 20), 0);
        assert_int_equal(count_allocations(policies[p], "nonzeros=3", 20, 3, SPARSE, 20), 0);
        assert_true(p == 2 || count_allocations(policies[p], "nonzeros=3", 20, 4, SPARSE, 20) > 0); /* growth */
    }
    static const char *const options[] = {
        "f1.width=8 exploration=network f2.width=8 f3.width=4 features=normalized f1.history=ring:9 f2.history=ring:9 "
        "f3.history=ring:9 decision=neural",
        "f1.width=8 exploration=network f2.width=8 f3.width=4 features=pooled:2 keep=reservoir:5 decision=neural "
        "extra_until=1000",
        "f1.width=8 exploration=network f2.width=8 features=lle:3 lle_window=16 lle_neighbors=6 "
        "f2.order=shuffle",
        "f1.width=8 exploration=network f2.width=8 f1.front=conv1d:2:3+relu+pool:2 features=sketch:8 "
        "f1.training=gd",
        "f1.width=8 exploration=network f2.width=8 f1.heads=2 f1.image=1x2x5 f1.front=conv2d:2:2+relu "
        "features=pooled:2",
        "f1.width=8 exploration=ridge units=3 refresh=4",
        "f1.width=8 exploration=ridge units=3 refresh=4 f1.history=ring:9 f1.lazy=off f1.average=0",
        "f1.width=8 exploration=ridge units=3 refresh=4 blocks=4",
        "f1.width=8 exploration=ridge units=30 scale=off blocks=2 f1.image=1x2x5 f1.front=conv2d:2:2+relu",
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        assert_int_equal(count_allocations("eenet", options[i], 20, 5, MIXED, test_long(40, 300)), 0);
}

/* An unbounded history doubles: 256, 512, ... samples. Nothing else is allocated. */
TEST(unbounded_histories_double)
{
    static const char small[] =
        "f1.width=8 exploration=network f2.width=8 f1.steps=5 f2.steps=5 f2.front=conv1d:1:10:5";
    char options[128];
    snprintf(options, sizeof options, "%s extra_until=0", small);
    enum { OF_ONE_GROWTH = 4 }; /* rows, what is known of them; the order, and what it was before a training */
    assert_int_equal(count_allocations("eenet:authors", options, 20, 20, DENSE, 256), 0);
    /* f1 and f2 at 257 and at 513; f3's history stays empty where the decision is linear */
    assert_int_equal(count_allocations("eenet:authors", options, 20, 20, DENSE, 600), 4 * OF_ONE_GROWTH);
    /* with extra samples f2 grows more often, but still by doubling */
    size_t made = count_allocations("eenet:authors", small, 20, 20, DENSE, 600);
    assert_true(made > 4 * OF_ONE_GROWTH && made <= 9 * OF_ONE_GROWTH);
}

/* ---- any may fail ---- */

/* What decide, score, learn, save and load work on. */
typedef struct call_context {
    ee_bandit *bandit;
    ee_snapshot *snapshot;
    const ee_arms *arms;
    uint64_t id;
    const char *path;
    model saved;
    union {
        void *any;
        ee_bandit *bandit;
        ee_snapshot *snapshot;
        ee_scratch *scratch;
    } made;
} call_context;

/* A call that may run out of memory. */
typedef ee_status (*attempt)(call_context *c, ee_error *error);

/* Which allocations fail: number `first`, and those that are `stride` apart. */
static size_t first = 1, stride = 1;

/* Each ninth allocation, other ones for the next policy. */
static void choose_places(size_t policy)
{
    stride = test_long(9, 1);
    first = 1 + policy % stride;
}

/* Makes the call with allocation number `place` failing. Returns whether it came so far: then the call must have
 * failed; else it must have succeeded. */
static bool fail_once(attempt call, call_context *c, size_t place)
{
    ee_error error = {EE_OK, ""};
    memory_fail(place);
    bool failed = memory_failed(call(c, &error));
    assert_int_equal(error.status, failed ? EE_NO_MEMORY : EE_OK);
    const char *expected = failed ? "memory: could not allocate " : "";
    assert_memory_equal(error.message, expected, failed ? 27 : 1);
    return failed;
}

/* Fails the chosen allocations, one after the other, until the call succeeds; returns how many it makes. Until then the
 * call must not change the bandit, and must set to NULL what it would make. */
static size_t fail_each(attempt call, call_context *c)
{
    static char anything;
    auto_model before = model_save(c->bandit);
    size_t held = live;
    c->made.any = &anything;
    for (size_t place = first; fail_once(call, c, place); place += stride) {
        assert_null(c->made.any);
        assert_int_equal(live, held);
        assert_true(model_is_of(before, c->bandit));
        memory_fail(place); /* the same without a place for the sentence */
        assert_true(memory_failed(call(c, NULL)));
        c->made.any = &anything;
    }
    return calls;
}

static ee_status try_score(call_context *c, ee_error *error)
{
    static ee_score scores[ROUND_ARMS];
    return ee_bandit_score(c->bandit, c->arms, scores, error);
}

static ee_status try_decide(call_context *c, ee_error *error)
{
    ee_decision decision = {0};
    ee_status status = ee_bandit_decide(c->bandit, c->arms, &decision, NULL, NULL, error);
    c->id = decision.id;
    return status;
}

static ee_status try_learn(call_context *c, ee_error *error)
{
    return ee_bandit_learn(c->bandit, c->id, 0, error);
}

static ee_status try_decide_slots(call_context *c, ee_error *error)
{
    const ee_arms slots[] = {*c->arms, *c->arms, *c->arms};
    ee_decision decisions[3] = {{0}};
    ee_status status = ee_bandit_decide_slots(c->bandit, slots, 3, NULL, decisions, NULL, NULL, error);
    c->id = decisions[0].id;
    return status;
}

/* A snapshot does, as the next decision would. */
static void tell_of_what_waits(ee_bandit *bandit)
{
    auto_snapshot *snapshot = snapshot_make(bandit);
}

/* The same for a call on a bandit, which may keep the room that it got before an allocation failed: each failure meets
 * a fresh copy. The copy is what it was, and when memory is there again it goes on as the bandit itself does. What
 * waits is told beforehand: a decision that fails does that too, and it stays. */
static size_t fail_each_on_copies(attempt call, call_context *context)
{
    call_context copy = *context;
    uint64_t id = context->id;
    tell_of_what_waits(context->bandit);
    auto_model before = model_save(context->bandit);
    ok(call(context, NULL));
    auto_model after = model_save(context->bandit);
    size_t made = 0, held = live, place = first;
    for (bool failed = true; failed; place += stride) {
        copy.bandit = model_load(before);
        failed = fail_once(call, &copy, place);
        made = calls;
        if (failed) {
            assert_true(model_is_of(before, copy.bandit));
            copy.id = id;
            ok(call(&copy, NULL));
        }
        assert_true(model_is_of(after, copy.bandit));
        ee_bandit_free(copy.bandit);
        assert_int_equal(live, held);
    }
    return made;
}

/* A round with more arms and more non-zeros than the reserve: everything grows in one call. */
TEST(a_large_round_may_fail_anywhere)
{
    static const char *const policies[][2] = {
        {"uniform", "arms=2 nonzeros=1 pending=3"},
        {"greedy", "arms=2 nonzeros=1 pending=3 f1.width=6"},
        {"eenet",
         "arms=2 nonzeros=1 pending=3 f1.width=6 exploration=network f2.width=6 features=sketch:4 extra_until=1000"},
        {"eenet", "arms=2 nonzeros=1 pending=3 f1.width=6 exploration=network f2.width=6 features=normalized"},
        {"neural-ensemble", "arms=2 nonzeros=1 pending=3 f1.width=6 decision=thompson"},
    };
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        size_t held = live;
        call_context c = {.bandit = bandit_make(policies[p][0], 12, 2, policies[p][1]), .arms = &round_now.sparse};
        for (uint64_t t = 1; t <= 4; t++) { /* the table of pending decisions is full */
            round_draw(&round_now, t, 2, 12, 1);
            bandit_choose(c.bandit, &round_now.sparse, NULL);
        }
        round_draw(&round_now, 9, 50, 12, 9);
        assert_true(fail_each_on_copies(try_score, &c) >= 1);
        assert_true(fail_each_on_copies(try_decide, &c) >= 2);
        assert_int_equal(c.id, 5);
        round_draw(&round_now, 10, 60, 12, 12);
        assert_true(fail_each_on_copies(try_decide, &c) >= 2);
        assert_true(fail_each_on_copies(try_decide_slots, &c) >= 6);
        bandit_reward(c.bandit, c.id, 1);
        bandit_play(c.bandit, 11, 20, 5, true);
        ee_bandit_free(c.bandit);
        assert_int_equal(live, held);
    }
}

enum { ROUNDS_A_CALL = 7 };

/* As many rounds as the call has, the first of them large. */
static ee_status try_decide_many(call_context *c, ee_error *error)
{
    ee_arms rounds[ROUNDS_A_CALL];
    ee_decision decisions[ROUNDS_A_CALL];
    for (size_t i = 0; i < ROUNDS_A_CALL; i++) {
        rounds[i] = *c->arms;
        if (i) rounds[i].count = i;
    }
    return ee_bandit_decide_many(c->bandit, rounds, ROUNDS_A_CALL, NULL, decisions, NULL, NULL, error);
}

static ee_status try_learn_from(call_context *c, ee_error *error)
{
    return ee_bandit_learn_from(c->bandit, c->arms, 1, 1, error);
}

static ee_status try_learn_record(call_context *c, ee_error *error)
{
    return ee_bandit_learn_record(c->bandit, c->saved.bytes, c->saved.size, 1, error);
}

static ee_status try_take_record(call_context *c, ee_error *error)
{
    ee_decision decision;
    return ee_bandit_take_record(c->bandit, c->saved.bytes, c->saved.size, &decision, error);
}

static ee_status try_snapshot(call_context *c, ee_error *error)
{
    return ee_snapshot_create(c->bandit, &c->made.snapshot, error);
}

static ee_status try_scratch(call_context *c, ee_error *error)
{
    return ee_scratch_create(c->snapshot, 1, &c->made.scratch, error);
}

/* A large round on a snapshot, each of whose allocations fails once; then its record is learned likewise. */
static void decide_on_a_snapshot(call_context *c)
{
    const void *record;
    size_t failures = 0;
    tell_of_what_waits(c->bandit);
    assert_true(fail_each(try_snapshot, c) >= 4);
    c->snapshot = c->made.snapshot;
    assert_true(fail_each(try_scratch, c) >= 3);
    for (bool failed = true; failed; failures += failed) {
        ee_decision decision;
        ee_scratch_free(c->made.scratch);
        ok(try_scratch(c, NULL));
        memory_fail(failures + 1);
        failed = memory_failed(ee_snapshot_decide(c->snapshot, c->made.scratch, c->arms, &decision, NULL, NULL, NULL));
        ee_status status = ee_scratch_record(c->made.scratch, 0, &record, &c->saved.size, NULL);
        assert_int_equal(status, failed ? EE_BAD_INPUT : EE_OK);
    }
    assert_true(failures >= 3);
    c->saved.bytes = (void *)(uintptr_t)record;
    fail_each_on_copies(try_learn_record, c);
    fail_each_on_copies(try_take_record, c);
    ee_scratch_free(c->made.scratch);
    ee_snapshot_free(c->snapshot);
}

TEST(many_rounds_logs_and_snapshots_may_fail_anywhere)
{
    policy_case about;
    for (size_t i = 0; policy_case_at(i, &about); i++) {
        char options[256];
        size_t held = live;
        choose_places(i);
        snprintf(options, sizeof options, "%s arms=2 nonzeros=1 pending=7", about.options);
        call_context c = {.bandit = bandit_make(about.name, 6, 2, options), .arms = &round_now.dense};
        bandit_play(c.bandit, 1, 9, 2, false);
        round_draw(&round_now, 10, 50, 6, 6);
        assert_true(fail_each_on_copies(try_decide_many, &c) >= 2);
        assert_true(fail_each_on_copies(try_learn_from, &c) >= 1);
        round_draw(&round_now, 11, 90, 6, 6);
        decide_on_a_snapshot(&c);
        bandit_play(c.bandit, 12, 20, 5, true);
        ee_bandit_free(c.bandit);
        assert_int_equal(live, held);
    }
}

/* Learns until `growths` learns have allocated; if `fails`, each of their allocations fails first. */
static void learn_through_growth(const char *policy, const char *options, size_t nonzeros, size_t growths, bool fails)
{
    enum { MOST = 2000 };
    static bool grows[MOST]; /* known from the time when nothing failed */
    size_t held = live;
    call_context c = {.bandit = bandit_make(policy, 12, 2, options)};
    if (!fails) memset(grows, false, sizeof grows);
    for (uint64_t t = 1; growths; t++) {
        assert_true(t < MOST);
        round_draw(&round_now, t, 5, 12, t % 200 == 0 ? nonzeros : 1);
        c.id = bandit_choose(c.bandit, &round_now.sparse, NULL).id;
        if (fails && grows[t]) {
            assert_true(fail_each_on_copies(try_learn, &c) > 0);
        } else {
            calls = 0;
            bandit_reward(c.bandit, c.id, 0);
            assert_true(!fails || !calls);
            grows[t] |= calls > 0;
        }
        growths -= grows[t];
        assert_int_equal(ee_bandit_info(c.bandit).rewards, t);
    }
    ee_bandit_free(c.bandit);
    assert_int_equal(live, held);
}

TEST(growth_of_a_history_may_fail_anywhere)
{
    static const struct {
        const char *policy, *options;
        size_t nonzeros, growths;
    } cases[] = {
        {"greedy", "f1.width=2 f1.history=all f1.order=shuffle train_every=50", 1, 2},
        {"greedy", "f1.width=2 f1.history=ring:5 f1.order=shuffle nonzeros=1", 4, 1},
        {"eenet", "f1.width=2 exploration=ridge units=2 f1.history=all train_every=50", 1, 2},
        {"eenet:authors", "f1.width=4 exploration=network f2.width=2 f1.steps=1 f2.steps=1 f2.front=none", 1, 4},
        {"eenet:paper",
         "f1.width=2 exploration=network f2.width=2 f3.width=2 f1.steps=1 f2.steps=1 f3.steps=1 train_every=100 "
         "decision=neural",
         1, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int fails = 0; fails < 2; fails++)
            learn_through_growth(cases[i].policy, cases[i].options, cases[i].nonzeros, cases[i].growths, fails);
    /* A wide arm that comes when the histories are full: f1's rows grow, and then the rest may still fail. */
    call_context c = {
        .bandit = bandit_make("eenet", 24, 2,
                              "f1.width=2 exploration=network f2.width=2 features=sketch:2 nonzeros=1 decision=neural "
                              "f1.history=all f2.history=all f3.history=all")};
    for (uint64_t t = 1; t <= 257; t++) {
        round_draw(&round_now, t, 3, 24, t < 257 ? 1 : 11);
        c.id = bandit_choose(c.bandit, &round_now.sparse, NULL).id;
        if (t < 257) bandit_reward(c.bandit, c.id, round_reward(&round_now, 0));
    }
    assert_true(fail_each_on_copies(try_learn, &c) >= 6);
    bandit_play(c.bandit, 258, 300, 3, true);
    ee_bandit_free(c.bandit);
}

static ee_status try_save_bytes(call_context *c, ee_error *error)
{
    return ee_bandit_save_bytes(c->bandit, &c->made.any, &c->saved.size, error);
}

static ee_status try_load_bytes(call_context *c, ee_error *error)
{
    return ee_bandit_load_bytes(c->saved.bytes, c->saved.size, NULL, &c->made.bandit, error);
}

static ee_status try_save(call_context *c, ee_error *error)
{
    c->made.any = NULL;
    return ee_bandit_save(c->bandit, c->path, error);
}

static ee_status try_load(call_context *c, ee_error *error)
{
    return ee_bandit_load(c->path, NULL, &c->made.bandit, error);
}

/* A bandit with decisions waiting, some larger than the reserve, and every kind of state in it. */
static ee_bandit *busy_bandit(const policy_case *c, const char *more)
{
    char options[256];
    snprintf(options, sizeof options, "%s %s", c->options, more);
    ee_bandit *bandit = bandit_make(c->name, 6, 5, options);
    for (uint64_t t = 1; t <= 40; t++) {
        round_draw(&round_now, t, 1 + t % 7, 6, 1 + t % 6);
        ee_decision decision = bandit_choose(bandit, t % 2 ? &round_now.sparse : &round_now.dense, NULL);
        if (t % 4) bandit_reward(bandit, decision.id, t % 3 == 0 ? 1 : 0);
    }
    return bandit;
}

TEST(saving_and_loading_may_fail_anywhere)
{
    policy_case about;
    for (size_t i = 0; policy_case_at(i, &about); i++) {
        size_t held = live;
        choose_places(i);
        call_context c = {.bandit = busy_bandit(&about, "arms=3 nonzeros=1 pending=16")};
        assert_true(fail_each(try_save_bytes, &c) >= 3);
        c.saved.bytes = c.made.any;
        assert_true(fail_each(try_load_bytes, &c) >= 8);
        ee_bandit *loaded = c.made.bandit;
        assert_true(model_is_of(c.saved, loaded));
        bandit_reward(loaded, 40, 1); /* it waited through all of this */
        bandit_reward(c.bandit, 40, 1);
        bandit_play(loaded, 41, 60, 4, true);
        bandit_play(c.bandit, 41, 60, 4, true);
        assert_true(bandits_equal(c.bandit, loaded));
        model_free(&c.saved);
        ee_bandit_free(loaded);
        ee_bandit_free(c.bandit);
        assert_int_equal(live, held);
    }
}

/* Where waiting decisions are most of the model, a save fails in the middle of them, and each still gets its reward. */
TEST(saving_may_fail_among_waiting_decisions)
{
    enum { WAITING = 200 };
    static const char *const policies[][2] = {{"uniform", ""},
                                              {"eenet", "f1.width=2 exploration=network f2.width=2 features=sketch:2"}};
    for (size_t p = 0; p < 2; p++) {
        call_context c = {.bandit = bandit_make(policies[p][0], 6, 5, policies[p][1])};
        for (uint64_t t = 1; t <= WAITING; t++) {
            round_draw(&round_now, t, 3, 6, 1 + t % 6);
            bandit_choose(c.bandit, t % 2 ? &round_now.sparse : &round_now.dense, NULL);
        }
        assert_true(fail_each(try_save_bytes, &c) >= 6);
        ee_bytes_free(c.made.any);
        for (uint64_t t = 1; t <= WAITING; t++) bandit_reward(c.bandit, t, 1);
        ee_bandit_free(c.bandit);
    }
}

static ee_status try_describe(call_context *c, ee_error *error)
{
    ee_option option;
    c->made.any = NULL;
    return ee_option_describe("eenet:paper", 0, &option, error);
}

TEST_IN_FOLDER(files_and_descriptions_may_fail_anywhere)
{
    size_t held = live;
    call_context c = {.bandit = busy_bandit(&(policy_case){"squarecb", "f1.width=6"}, "")};
    c.path = folder_path(&here, "model");
    assert_true(fail_each(try_describe, &c) >= 1);
    assert_true(fail_each(try_save, &c) >= 4);
    assert_true(fail_each(try_load, &c) >= 8);
    assert_true(bandits_equal(c.bandit, c.made.bandit));
    ee_bandit_free(c.made.bandit);
    ee_bandit_free(c.bandit);
    assert_int_equal(live, held);
    assert_int_equal(unlink(c.path), 0);
    assert_int_equal(rmdir(here.path), 0); /* which it can only be when no temporary file is left */
    here = folder_make();
}

/* ---- an allocator of the user's ---- */

/* Gives memory that is neither zero nor aligned, and knows what it gave. */
typedef struct pool {
    size_t calls, live, bytes;
    size_t fail_at; /* the call that fails; 0: none */
} pool;

enum { POOL_HEAD = 2 * sizeof(size_t) + 1 };

static void *pool_allocate(void *context, size_t size)
{
    pool *self = context;
    self->calls++;
    if (self->calls == self->fail_at) return NULL;
    char *raw = malloc(POOL_HEAD + size);
    assert_non_null(raw);
    memcpy(raw, &size, sizeof size);
    memset(raw + POOL_HEAD, 0xa5, size);
    self->live++;
    self->bytes += size;
    return raw + POOL_HEAD;
}

static void pool_release(void *context, void *block, size_t size)
{
    pool *self = context;
    char *raw = (char *)block - POOL_HEAD;
    size_t given;
    memcpy(&given, raw, sizeof given);
    assert_int_equal(size, given);
    memset(block, 0x5a, size);
    self->live--;
    self->bytes -= size;
    __real_free(raw);
}

static ee_bandit *create_from_pool(const policy_case *c, pool *own)
{
    ee_allocator allocator = {pool_allocate, pool_release, own};
    ee_settings settings = {.policy = c->name, .dim = 6, .seed = 1, .options = c->options, .allocator = &allocator};
    ee_bandit *bandit = NULL;
    for (size_t place = first; !bandit; place += stride) {
        own->calls = 0;
        own->fail_at = place;
        ee_status status = ee_bandit_create(&settings, &bandit, NULL);
        assert_int_equal(status, bandit ? EE_OK : EE_NO_MEMORY);
        if (!bandit) assert_true(own->live == 0 && own->bytes == 0);
    }
    own->fail_at = 0;
    return bandit;
}

/* More arms than there is room for: the round is decided and learned when enough of the allocations do not fail. */
static void grow_from_pool(ee_bandit *bandit, pool *own)
{
    call_context c = {.bandit = bandit, .arms = &round_now.sparse};
    static const attempt attempts[] = {try_decide, try_learn};
    size_t failures = 0;
    round_draw(&round_now, 21, 60, 6, 3);
    for (size_t i = 0; i < 2;) {
        own->fail_at = own->calls + failures + 1;
        ee_status status = attempts[i](&c, NULL);
        if (status) {
            assert_int_equal(status, EE_NO_MEMORY);
            failures++;
        } else {
            i++;
        }
    }
    assert_true(failures >= 2);
    own->fail_at = 0;
}

/* Those of the C library that a snapshot, its scratch and a decision make. */
static size_t count_allocations_in_pool(ee_bandit *bandit)
{
    ee_snapshot *snapshot = NULL;
    ee_scratch *room = NULL;
    ee_decision decision;
    round_draw(&round_now, 21, 60, 6, 3);
    calls = 0;
    ok(ee_snapshot_create(bandit, &snapshot, NULL));
    ok(ee_scratch_create(snapshot, 1, &room, NULL));
    ok(ee_snapshot_decide(snapshot, room, &round_now.sparse, &decision, NULL, NULL, NULL));
    ee_scratch_free(room);
    ee_snapshot_free(snapshot);
    return calls;
}

TEST(all_of_a_bandit_lies_in_the_users_memory)
{
    policy_case about;
    const uint64_t last = test_long(40, 300);
    for (size_t i = 0; policy_case_at(i, &about); i++) {
        pool own = {0}, none = {0};
        calls = 0;
        choose_places(i);
        ee_bandit *bandit = create_from_pool(&about, &own);
        bandit_play(bandit, 1, 20, 4, true);
        grow_from_pool(bandit, &own);
        bandit_play(bandit, 22, last, 4, false);
        assert_int_equal(calls, 0);
        assert_int_equal(ee_bandit_memory(bandit), own.bytes);

        assert_int_equal(count_allocations_in_pool(bandit), 0);
        assert_int_equal(ee_bandit_memory(bandit), own.bytes);

        ee_bandit *usual = bandit_make(about.name, 6, 1, about.options);
        bandit_play(usual, 1, 20, 4, true);
        round_draw(&round_now, 21, 60, 6, 3);
        bandit_reward(usual, bandit_choose(usual, &round_now.sparse, NULL).id, 0);
        bandit_play(usual, 22, last, 4, false);
        model saved = model_save(usual);
        assert_true(model_is_of(saved, bandit));
        assert_int_equal(ee_bandit_memory(bandit), ee_bandit_memory(usual));
        model_free(&saved);
        ee_bandit_free(usual);
        ee_bandit_free(bandit);
        own.calls = own.fail_at = 0;
        assert_memory_equal(&own, &none, sizeof none);
    }
}
