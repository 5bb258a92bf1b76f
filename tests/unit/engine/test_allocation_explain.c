/* Allocation of explaining: none once there was a round of the size, and any one may fail: a status, and nothing has
 * changed. */
#include "every_policy.h"

#include "counted_memory.h"
#include "named_play.h"

#include "engine/snapshot.h"

enum { DIM = 8, ARMS = 6 };

/* What is explained, on what. arms NULL: the round. */
typedef struct question {
    ee_bandit *bandit;
    ee_snapshot *snapshot;
    ee_scratch *scratch;
    const ee_arms *arms;
    ee_round *round;
} question;

static ee_status ask(const question *q, ee_error *error)
{
    explanation *reported;
    return snapshot_explain(q->snapshot, q->scratch, q->arms, q->round, 1, EXPLAIN_ALL, &reported, error);
}

static ee_status ask_bandit(const question *q, ee_error *error)
{
    float contributions[DIM];
    return ee_bandit_explain(q->bandit, q->arms, 0, contributions, error);
}

/* Fails allocation 1, then 2, and so on, until it succeeds; then it allocates no more. */
static void check(const question *q, ee_status (*call)(const question *q, ee_error *error))
{
    auto_model before = model_save(q->bandit);
    bool failed = true;
    for (size_t place = 1; failed; place++) {
        ee_error error = {EE_OK, ""};
        calls = 0;
        fail_at = place;
        ee_status status = call(q, &error);
        failed = calls >= place;
        fail_at = 0;
        assert_int_equal(status, failed ? EE_NO_MEMORY : EE_OK);
        assert_int_equal(error.status, status);
    }
    calls = 0;
    ok(call(q, NULL));
    assert_int_equal(calls, 0);
    assert_true(model_is_of(before, q->bandit));
}

static void open_question(question *q)
{
    ok(ee_snapshot_create(q->bandit, &q->snapshot, NULL));
    ok(ee_scratch_create(q->snapshot, 1, &q->scratch, NULL));
}

static void close_question(question *q)
{
    ee_scratch_free(q->scratch);
    ee_snapshot_free(q->snapshot);
    ee_bandit_free(q->bandit);
}

TEST(every_policy_may_fail_anywhere)
{
    static round_arms drawn;
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        for (size_t sparse = 0; sparse < 2; sparse++) {
            RELEASED_BY(close_question) question q = {.bandit = bandit_make(c->name, DIM, 3, c->options)};
            bandit_play(q.bandit, 1, 10, 2, sparse);
            round_draw(&drawn, 99, ARMS, DIM, DIM / 2);
            q.arms = sparse ? &drawn.sparse : &drawn.dense;
            open_question(&q);
            check(&q, ask);
            check(&q, ask_bandit);
        }
    }
}

TEST(named_rounds_may_fail_anywhere)
{
    const char *const hashings[] = {"names=1000", "names=30 hashes=8", "hashing=vw bits=10", "products=none"};
    for (size_t i = 0; i < 4; i++) {
        RELEASED_BY(close_question) question q = {.bandit = named_make("greedy", "f1.width=4", hashings[i])};
        ok(ee_round_create(NULL, &q.round, NULL));
        named_play(q.bandit, q.round, 1, 20);
        named_draw(q.round, 21);
        open_question(&q);
        check(&q, ask);
        ee_round_free(q.round);
    }
}
