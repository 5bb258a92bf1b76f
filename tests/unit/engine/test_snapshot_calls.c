/* Calls that decide on a snapshot: what the bandit itself would have decided, with the same draws, and a record of each
 * decision; a scratch has a random stream, which only decisions move. */
#include "every_policy.h"

#include "engine/snapshot.h"

enum { DIM = 8, ARMS = 6, ROUNDS = 7, SLOTS = 3 };

static round_arms rounds[ROUNDS];

typedef struct outcome {
    ee_decision decisions[ROUNDS];
    ee_score scores[ROUNDS * ARMS];
    double probabilities[ROUNDS * ARMS];
} outcome;

typedef struct fixture {
    ee_bandit *bandit;
    ee_snapshot *snapshot;
    ee_scratch *scratch;
} fixture;

static fixture fixture_make(const policy_case *c, uint64_t seed)
{
    fixture self = {.bandit = bandit_make(c->name, DIM, 3, c->options)};
    bandit_play(self.bandit, 1, 12, ARMS, false);
    ok(ee_snapshot_create(self.bandit, &self.snapshot, NULL));
    ok(ee_scratch_create(self.snapshot, seed, &self.scratch, NULL));
    return self;
}

static void fixture_free(fixture *self)
{
    ee_scratch_free(self->scratch);
    ee_snapshot_free(self->snapshot);
    ee_bandit_free(self->bandit);
}

/* A call: several rounds or slots, with or without exclusions. */
typedef struct problem {
    ee_arms arms[ROUNDS];
    size_t count;
    bool slots, excludes;
    uint8_t excluded[ROUNDS * ARMS];
} problem;

static problem draw_problem(uint64_t number)
{
    random_stream stream = random_named(number, "calls");
    problem p = {.slots = number % 2, .excludes = number % 4 > 1};
    p.count = p.slots ? SLOTS : ROUNDS;
    for (size_t r = 0; r < p.count; r++) {
        round_draw(&rounds[r], 100 * number + r, ARMS, DIM, 4);
        size_t from = p.slots && number % 3 == 0 ? 0 : r;
        p.arms[r] = number % 5 == 4 ? rounds[from].sparse : rounds[from].dense;
    }
    for (size_t r = 0; r < p.count; r++)
        for (size_t a = 0; a + SLOTS < ARMS; a++) p.excluded[r * ARMS + a] = random_below(&stream, 3) == 0;
    return p;
}

static ee_status decide(ee_bandit *bandit, const problem *p, outcome *out)
{
    const uint8_t *excluded = p->excludes ? p->excluded : NULL;
    memset(out, 0, sizeof *out);
    return p->slots ? ee_bandit_decide_slots(bandit, p->arms, p->count, excluded, out->decisions, out->scores,
                                             out->probabilities, NULL)
                    : ee_bandit_decide_many(bandit, p->arms, p->count, excluded, out->decisions, out->scores,
                                            out->probabilities, NULL);
}

static ee_status decide_on_snapshot(fixture *self, const problem *p, outcome *out)
{
    const uint8_t *excluded = p->excludes ? p->excluded : NULL;
    memset(out, 0, sizeof *out);
    return p->slots ? ee_snapshot_decide_slots(self->snapshot, self->scratch, p->arms, p->count, excluded,
                                               out->decisions, out->scores, out->probabilities, NULL)
                    : ee_snapshot_decide_many(self->snapshot, self->scratch, p->arms, p->count, excluded,
                                              out->decisions, out->scores, out->probabilities, NULL);
}

/* The bandit takes in the records of the last call. */
static void take_records(const fixture *self, const problem *p, ee_bandit *bandit)
{
    for (size_t i = 0; i < p->count; i++) {
        const void *record;
        size_t size;
        ee_decision decision;
        ok(ee_scratch_record(self->scratch, i, &record, &size, NULL));
        ok(ee_bandit_take_record(bandit, record, size, &decision, NULL));
    }
}

TEST(a_snapshot_decides_what_its_bandit_would)
{
    static outcome expected, got;
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        fixture self = fixture_make(&c, 1);
        for (uint64_t seed = 1; seed <= 8; seed++) {
            problem p = draw_problem(seed);
            model before = model_save(self.bandit);
            ee_bandit *copy = model_load(before);
            copy->room->streams = decision_streams_of(seed);
            ok(decide(copy, &p, &expected));
            ee_scratch_seed(self.scratch, seed);
            ok(decide_on_snapshot(&self, &p, &got));
            for (size_t r = 0; r < p.count; r++) expected.decisions[r].id = 0;
            if (memcmp(&expected, &got, sizeof got) != 0) fail_msg("%s %s: call %d", c.name, c.options, (int)seed);
            /* Learning by the records is learning what the bandit would have kept itself. */
            ee_bandit *other = model_load(before);
            take_records(&self, &p, other);
            other->room->streams = copy->room->streams; /* a record draws nothing */
            model kept = model_save(copy);
            if (!model_is_of(kept, other)) fail_msg("%s %s: records of call %d", c.name, c.options, (int)seed);
            model_free(&kept);
            model_free(&before);
            ee_bandit_free(copy);
            ee_bandit_free(other);
        }
        fixture_free(&self);
    }
}

/* Arms are divided by the length of the first round that has one, also if that comes within a call. */
TEST(records_know_the_length_of_their_own_round)
{
    ee_bandit *bandit = bandit_make("greedy", DIM, 3, "f1.width=6"),
              *twin = bandit_make("greedy", DIM, 3, "f1.width=6");
    fixture self = {.bandit = twin};
    problem p = {.count = 3};
    outcome expected, got;
    ok(ee_snapshot_create(twin, &self.snapshot, NULL));
    ok(ee_scratch_create(self.snapshot, 3, &self.scratch, NULL));
    for (size_t r = 0; r < 3; r++) {
        round_draw(&rounds[r], 1 + r, ARMS, DIM, 4);
        for (size_t v = 0; v < ARMS * DIM; v++) rounds[r].values[v] *= r ? 100 : 0;
        p.arms[r] = rounds[r].dense;
    }
    ok(decide(bandit, &p, &expected));
    assert_true(bandit->policy->parameters.length.value > 1);
    ok(decide_on_snapshot(&self, &p, &got));
    take_records(&self, &p, twin);
    twin->room->streams = bandit->room->streams;
    model kept = model_save(bandit);
    assert_true(model_is_of(kept, twin));
    model_free(&kept);
    ee_bandit_free(bandit);
    fixture_free(&self);
}

/* ---- a look ---- */

TEST(a_look_shows_what_the_next_decision_sees)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        fixture self = fixture_make(&c, 5);
        for (uint64_t t = 1; t <= 6; t++) {
            ee_score scores[ARMS], seen[ARMS];
            double probabilities[ARMS], drawn[ARMS];
            ee_decision decision;
            round_draw(&rounds[0], t, ARMS, DIM, 4);
            const ee_arms *arms = &rounds[0].dense;
            decision_streams before = self.scratch->room.streams;
            ok(ee_snapshot_score(self.snapshot, self.scratch, arms, scores, NULL));
            ok(ee_snapshot_probabilities(self.snapshot, self.scratch, arms, probabilities, NULL));
            assert_memory_equal(&before, &self.scratch->room.streams, sizeof before);
            ok(ee_snapshot_decide(self.snapshot, self.scratch, arms, &decision, seen, drawn, NULL));
            assert_memory_equal(scores, seen, sizeof seen);
            assert_memory_equal(probabilities, drawn, sizeof drawn);
        }
        fixture_free(&self);
    }
}

TEST(a_constant_bandit_can_be_asked)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        fixture self = fixture_make(&c, 5);
        const ee_bandit *asked = self.bandit;
        ee_score scores[ARMS];
        double probabilities[ARMS];
        float contributions[DIM];
        model before = model_save(asked);
        round_draw(&rounds[0], 40, ARMS, DIM, 4);
        ok(ee_bandit_score(asked, &rounds[0].dense, scores, NULL));
        ok(ee_bandit_probabilities(asked, &rounds[0].dense, probabilities, NULL));
        ok(ee_bandit_explain(asked, &rounds[0].dense, 1, contributions, NULL));
        assert_true(model_is_of(before, asked));
        model_free(&before);
        fixture_free(&self);
    }
}

/* ---- the stream ---- */

/* A scratch draws on: its decisions are those of a bandit whose streams begin with the same seed. */
TEST(a_scratch_draws_on_from_its_seed)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        fixture self = fixture_make(&c, 9);
        ee_scratch *twin;
        ok(ee_scratch_create(self.snapshot, 1, &twin, NULL));
        ee_scratch_seed(twin, 9);
        decision_streams streams = decision_streams_of(9);
        for (uint64_t t = 1; t <= 6; t++) {
            ee_decision own = {0}, its = {0}, expected = {0};
            round_draw(&rounds[0], t, ARMS, DIM, 4);
            model before = model_save(self.bandit);
            ee_bandit *copy = model_load(before);
            copy->room->streams = streams;
            ok(ee_bandit_decide(copy, &rounds[0].dense, &expected, NULL, NULL, NULL));
            streams = copy->room->streams;
            expected.id = 0;
            ok(ee_snapshot_decide(self.snapshot, self.scratch, &rounds[0].dense, &own, NULL, NULL, NULL));
            ok(ee_snapshot_decide(self.snapshot, twin, &rounds[0].dense, &its, NULL, NULL, NULL));
            assert_memory_equal(&own, &expected, sizeof own);
            assert_memory_equal(&its, &expected, sizeof its);
            model_free(&before);
            ee_bandit_free(copy);
        }
        ee_scratch_free(twin);
        fixture_free(&self);
    }
}

/* ---- what fails ---- */

static void assert_no_record(const fixture *self)
{
    const void *record;
    size_t size;
    ee_error error = {EE_OK, ""};
    assert_int_equal(ee_scratch_record(self->scratch, 0, &record, &size, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, "record: there is no decision 0: the last call with this scratch made 0");
}

TEST(a_failed_decision_leaves_no_record)
{
    const policy_case c = {"neural-epsilon", "f1.width=4 epsilon=0.5"};
    fixture self = fixture_make(&c, 1);
    outcome out;
    const void *record;
    size_t size;
    ee_error error = {EE_OK, ""};
    problem p = {.count = 2};
    for (size_t r = 0; r < 2; r++) {
        round_draw(&rounds[r], 1 + r, ARMS, DIM, 4);
        p.arms[r] = rounds[r].dense;
    }
    problem wrong = p, all_excluded = p, none_left = p;
    wrong.arms[1].count = 0;
    all_excluded.excludes = true;
    memset(all_excluded.excluded + ARMS, 1, ARMS);
    none_left.slots = none_left.excludes = true;
    memset(none_left.excluded, 1, ARMS);
    const problem *const failing[] = {&wrong, &all_excluded, &none_left};
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
        ok(decide_on_snapshot(&self, &p, &out));
        ok(ee_scratch_record(self.scratch, 1, &record, &size, NULL));
        assert_int_equal(ee_scratch_record(self.scratch, 2, &record, &size, &error), EE_BAD_INPUT);
        assert_string_equal(error.message, "record: there is no decision 2: the last call with this scratch made 2");
        decision_streams before = self.scratch->room.streams;
        assert_int_equal(decide_on_snapshot(&self, failing[i], &out), EE_BAD_INPUT);
        assert_memory_equal(&before, &self.scratch->room.streams, sizeof before);
        assert_no_record(&self);
    }
    ee_decision decision;
    ok(ee_snapshot_decide(self.snapshot, self.scratch, p.arms, &decision, NULL, NULL, NULL));
    assert_int_equal(ee_snapshot_decide(self.snapshot, self.scratch, NULL, &decision, NULL, NULL, NULL), EE_BAD_INPUT);
    assert_no_record(&self);
    ok(ee_snapshot_decide(self.snapshot, self.scratch, p.arms, &decision, NULL, NULL, NULL));
    assert_int_equal(ee_snapshot_decide_round(self.snapshot, self.scratch, NULL, &decision, NULL, NULL, NULL),
                     EE_BAD_INPUT);
    assert_no_record(&self);
    ok(ee_snapshot_decide_many(self.snapshot, self.scratch, NULL, 0, NULL, NULL, NULL, NULL, NULL));
    assert_no_record(&self);
    fixture_free(&self);
}

TEST(bad_input_is_refused)
{
    const policy_case c = {"linucb", ""};
    fixture self = fixture_make(&c, 1);
    double probabilities[ARMS];
    ee_arms arms;
    ee_round *round;
    ee_error error = {EE_OK, ""};
    round_draw(&rounds[0], 1, ARMS, DIM, 4);
    assert_int_equal(ee_snapshot_probabilities(self.snapshot, self.scratch, &rounds[0].dense, NULL, &error),
                     EE_BAD_INPUT);
    assert_string_equal(error.message, "probabilities: snapshot, scratch and probabilities must not be NULL");
    assert_int_equal(ee_snapshot_probabilities(self.snapshot, self.scratch, NULL, probabilities, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, "arms: arms must not be NULL");
    assert_int_equal(ee_snapshot_arms(self.snapshot, NULL, &arms, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, "arms: snapshot, round and arms must not be NULL");
    ok(ee_round_create(NULL, &round, NULL));
    assert_int_equal(ee_snapshot_arms(self.snapshot, round, &arms, &error), EE_BAD_INPUT);
    assert_string_equal(error.message,
                        "arms: this bandit takes vectors; for named features, set features when you create it");
    ee_round_free(round);
    ee_scratch_seed(NULL, 1);
    fixture_free(&self);
}
