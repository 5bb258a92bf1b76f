/* Snapshots: they decide as their bandit did when it was published, and an update copies what has changed. */
#define _DEFAULT_SOURCE
#include "every_policy.h"

#include <sys/mman.h>
#include <unistd.h>

#include "engine/snapshot.h"
#include "policy/parts/recall.h"

enum { DIM = 8, ARMS = 5 };

static round_arms round_now;

static const parameters *published(const reader *self)
{
    return &self->snapshot->copies[self->snapshot->gate->published];
}

static const ee_arms *arms_of_round(uint64_t number)
{
    round_draw(&round_now, number % 17, ARMS, DIM, 4); /* they come again, so that memories of arms have a say */
    return number % 2 ? &round_now.sparse : &round_now.dense;
}

/* The scores of the bandit and of the snapshot, both drawing as the seed says. */
static void score_both(const reader *self, uint64_t seed, ee_score *own, ee_score *its)
{
    const ee_arms *arms = arms_of_round(seed);
    decision_streams before = self->bandit->room->streams;
    self->bandit->room->streams = decision_streams_of(seed);
    ok(ee_bandit_score(self->bandit, arms, own, NULL));
    self->bandit->room->streams = before;
    ee_scratch_seed(self->scratch, seed);
    ok(ee_snapshot_score(self->snapshot, self->scratch, arms, its, NULL));
}

static bool parameters_equal(const parameters *a, const parameters *b)
{
    size_t recalled = recall_count(a->policy->recalled_arms) * sizeof *a->recalled;
    return a->policy == b->policy && a->round == b->round && a->changes == b->changes &&
           memcmp(&a->length, &b->length, sizeof a->length) == 0 && a->centre == b->centre && a->spread == b->spread &&
           a->count == b->count && memcmp(a->values, b->values, a->count * sizeof *a->values) == 0 &&
           (!recalled || memcmp(a->recalled, b->recalled, recalled) == 0);
}

/* Decision number t, and the rewards that are due then, the last decision's first; some never come. */
static void play_round(ee_bandit *bandit, uint64_t t)
{
    assert_int_equal(bandit_choose(bandit, arms_of_round(t), NULL).id, t);
    for (uint64_t id = t; id > 0 && id + 4 >= t; id--)
        if (id * 7 % 5 == t - id && id % 11 != 3) bandit_reward(bandit, id, (double)(id * id % 5) / 4);
}

/* Updates come after more and more decisions, some of which wait; in between the snapshot stays as it was. */
TEST(a_snapshot_is_the_bandit_as_it_was_published)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_reader self = reader_make(bandit_make(c->name, DIM, 3, c->options), 1);
        const policy *learner = self.bandit->policy;
        for (uint64_t t = 1, pause = 0; t <= 45; pause++) {
            ee_score own[ARMS], its[ARMS], later[ARMS];
            ok(bandit_await_pending(self.bandit, NULL));
            size_t copied = snapshot_publish(self.snapshot, &learner->parameters);
            assert_true(copied <= learner->parameters.count + recall_count(learner->recalled_arms));
            if (!parameters_equal(published(&self), &learner->parameters))
                fail_msg("%s %s: after round %d", c->name, c->options, (int)t - 1);
            score_both(&self, 1000 + t, own, its);
            assert_memory_equal(own, its, sizeof own);
            for (uint64_t k = 0; k <= pause; k++) play_round(self.bandit, t++);
            score_both(&self, 1000 + t - pause - 1, own, later);
            assert_memory_equal(its, later, sizeof its);
        }
    }
}

/* Past what is remembered of recent rewards a copy is whole again; and a loaded bandit can be published. */
TEST(long_pauses_and_loaded_bandits_are_published_whole)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_reader self = reader_make(bandit_make(c->name, DIM, 3, c->options), 1);
        uint64_t last =
            strcmp(c->name, "eenet:paper") ? test_long(300, 600) : 30; /* whose rounds become slower and slower */
        bandit_play(self.bandit, 1, last, ARMS, true);
        for (int twice = 0; twice < 2; twice++) {
            snapshot_publish(self.snapshot, &self.bandit->policy->parameters);
            assert_true(parameters_equal(published(&self), &self.bandit->policy->parameters));
        }
        auto_model saved = model_save(self.bandit);
        reader_free(&self);
        self = (reader){.bandit = model_load(saved)};
        ok(ee_snapshot_create(self.bandit, &self.snapshot, NULL));
        assert_true(parameters_equal(published(&self), &self.bandit->policy->parameters));
        for (uint64_t t = last + 1; t < last + 9; t++) {
            bandit_play(self.bandit, t, t, ARMS, false);
            snapshot_publish(self.snapshot, &self.bandit->policy->parameters);
            assert_true(parameters_equal(published(&self), &self.bandit->policy->parameters));
        }
    }
}

/* ---- what is copied ---- */

enum { WIDE = 3000, USED = 20 };

/* An arm in the first features of very many. */
static void learn_in_one_block(ee_bandit *bandit, uint64_t round)
{
    static float values[USED];
    static uint32_t indices[USED];
    const size_t starts[] = {0, USED};
    random_stream stream = random_named(round, "values");
    for (uint32_t i = 0; i < USED; i++) {
        indices[i] = i;
        values[i] = (float)random_normal(&stream);
    }
    ee_arms arm = ee_arms_sparse(starts, indices, values, 1, WIDE);
    ok(ee_bandit_learn_from(bandit, &arm, 0, values[0] > 0, NULL));
}

static size_t resident_pages(const void *block, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 0;
    uintptr_t first = (uintptr_t)block / page * page;
    size_t pages = ((uintptr_t)block + bytes - first + page - 1) / page;
    unsigned char *resident = calloc(pages, 1);
    assert_int_equal(mincore((void *)first, pages * page, resident), 0);
    for (size_t i = 0; i < pages; i++) count += resident[i] & 1;
    free(resident);
    return count * page;
}

TEST(publishing_copies_what_changed)
{
    static const char *const policies[] = {"linucb", "lints"};
    for (size_t p = 0; p < 2; p++) {
        auto_reader self = {.bandit = bandit_make(policies[p], WIDE, 1, NULL)};
        const parameters *learned = &self.bandit->policy->parameters;
        for (uint64_t t = 1; t <= 5; t++) learn_in_one_block(self.bandit, t);
        ok(ee_snapshot_create(self.bandit, &self.snapshot, NULL));
        enum { BLOCK = 2 * (USED * (USED + 2) + 1) }; /* floats: the inverse, theta, which block it is; the prior */
        for (uint64_t t = 6; t <= 10; t++) {
            learn_in_one_block(self.bandit, t);
            assert_int_equal(snapshot_publish(self.snapshot, learned), BLOCK);
        }
        snapshot_publish(self.snapshot, learned);
        assert_int_equal(snapshot_publish(self.snapshot, learned), 2); /* nothing but the prior */
        /* 72 MB are reserved for each copy, and some rows of them used. */
        for (size_t i = 0; i < 2; i++)
            assert_true(resident_pages(self.snapshot->copies[i].values, learned->count * sizeof(float)) < 3000000);
    }
    /* Of f1 with its 984,000 first weights the rows that moved, of its deep network all that is behind them, and of
     * what f2 remembers the arms that were played. */
    enum { SHALLOW = 200, DEEP = 128, BEHIND = DEEP * (DEEP + 3) + 1 };
    auto_reader self = reader_make(bandit_make("eenet", WIDE, 1, "f1.width=200 f1.deep_width=128"), 1);
    const parameters *learned = &self.bandit->policy->parameters;
    for (uint64_t t = 1; t <= 20; t++) {
        learn_in_one_block(self.bandit, t);
        assert_true(snapshot_publish(self.snapshot, learned) < 2 * USED * SHALLOW + USED * DEEP + BEHIND);
    }
    assert_true(parameters_equal(&self.snapshot->copies[self.snapshot->gate->published], learned));
    assert_true(learned->count > WIDE * (SHALLOW + DEEP));
}

TEST(a_kernel_copies_the_new_samples)
{
    auto_reader self = reader_make(bandit_make("kernelucb", DIM, 3, "max_contexts=100"), 1);
    const parameters *learned = &self.bandit->policy->parameters;
    bandit_play(self.bandit, 1, 50, ARMS, false);
    snapshot_publish(self.snapshot, learned);
    snapshot_publish(self.snapshot, learned);
    bandit_play(self.bandit, 51, 51, ARMS, false);
    assert_true(snapshot_publish(self.snapshot, learned) < 2 * (51 + DIM + 8)); /* a row of the factor, the sample */
    bandit_play(self.bandit, 52, 150, ARMS, false);
    snapshot_publish(self.snapshot, learned);
    snapshot_publish(self.snapshot, learned);
    bandit_play(self.bandit, 151, 160, ARMS, false); /* it is full: later ones change nothing */
    assert_int_equal(snapshot_publish(self.snapshot, learned), 0);
    assert_true(parameters_equal(published(&self), learned));
}

/* ---- what is refused ---- */

TEST(bad_input_is_refused)
{
    auto_reader self = reader_make(bandit_make("greedy", DIM, 3, "f1.width=4"), 1),
                other = reader_make(bandit_make("greedy", DIM, 3, "f1.width=4"), 1);
    ee_snapshot *snapshot = self.snapshot;
    ee_scratch *room = self.scratch;
    ee_decision decision;
    ee_score scores[ARMS];
    double probabilities[ARMS];
    const void *record;
    size_t size;
    auto_round *round = round_make();
    const ee_arms *arms = arms_of_round(1);
    refuses(ee_snapshot_create(NULL, &snapshot, &last_error), "snapshot: bandit and out must not be NULL");
    refuses(ee_snapshot_update(self.snapshot, other.bandit, &last_error),
            "snapshot: it was created from another bandit");
    refuses(ee_snapshot_update(NULL, other.bandit, &last_error), "snapshot: snapshot and bandit must not be NULL");
    refuses(ee_scratch_create(NULL, 1, &room, &last_error), "scratch: snapshot and out must not be NULL");
    snapshot = self.snapshot;
    room = self.scratch;
    refuses(ee_snapshot_decide(NULL, room, arms, &decision, NULL, NULL, &last_error),
            "decide: snapshot and scratch must not be NULL");
    refuses(ee_snapshot_decide(snapshot, NULL, arms, &decision, NULL, NULL, &last_error),
            "decide: snapshot and scratch must not be NULL");
    refuses(ee_snapshot_decide(snapshot, room, NULL, &decision, NULL, NULL, &last_error),
            "arms: arms must not be NULL");
    refuses(ee_snapshot_decide(snapshot, room, arms, NULL, NULL, NULL, &last_error),
            "decide: decisions must not be NULL");
    refuses(ee_snapshot_score(snapshot, room, arms, NULL, &last_error),
            "score: snapshot, scratch and scores must not be NULL");
    ee_arms wrong = ee_arms_dense(round_now.values, 1, DIM + 1);
    refuses(ee_snapshot_score(snapshot, room, &wrong, scores, &last_error),
            "arms: the dimension is 9; expected 8, the bandit's");
    refuses(ee_scratch_record(room, 0, &record, &size, &last_error),
            "record: there is no decision 0: the last call with this scratch made 0");
    refuses(ee_scratch_record(NULL, 0, &record, &size, &last_error),
            "record: scratch, bytes and size must not be NULL");
    refuses(ee_snapshot_probabilities(snapshot, room, arms, NULL, &last_error),
            "probabilities: snapshot, scratch and probabilities must not be NULL");
    refuses(ee_snapshot_probabilities(snapshot, room, NULL, probabilities, &last_error), "arms: arms must not be NULL");
    refuses(ee_snapshot_arms(snapshot, NULL, &wrong, &last_error), "arms: snapshot, round and arms must not be NULL");
    refuses(ee_snapshot_arms(snapshot, round, &wrong, &last_error),
            "arms: this bandit takes vectors; for named features, set features when you create it");
    ee_snapshot_free(NULL);
    ee_scratch_free(NULL);
    ee_scratch_seed(NULL, 1);
}
