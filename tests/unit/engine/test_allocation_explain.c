/* Allocation of explaining: none once there was a round of the size, and any one may fail: a status, and nothing has
 * changed. */
#include "every_policy.h"

#include "counted_memory.h"
#include "named_play.h"

#include "engine/snapshot.h"

enum { DIM = 8, ARMS = 6 };

/* What is explained: a reader's round or, if they are not NULL, these arms. */
typedef struct question {
    reader of;
    const ee_arms *arms;
} question;

static ee_status ask(const question *q, ee_error *error)
{
    explanation *reported;
    return snapshot_explain(q->of.snapshot, q->of.scratch, q->arms, q->of.round, 1, EXPLAIN_ALL, &reported, error);
}

static ee_status ask_bandit(const question *q, ee_error *error)
{
    float contributions[DIM];
    return ee_bandit_explain(q->of.bandit, q->arms, 0, contributions, error);
}

/* Fails allocation 1, then 2, and so on, until it succeeds; then it allocates no more. */
static void check(const question *q, ee_status (*call)(const question *q, ee_error *error))
{
    auto_model before = model_save(q->of.bandit);
    bool failed = true;
    for (size_t place = 1; failed; place++) {
        ee_error error = {EE_OK, ""};
        memory_fail(place);
        failed = memory_failed(call(q, &error));
        assert_int_equal(error.status, failed ? EE_NO_MEMORY : EE_OK);
    }
    calls = 0;
    ok(call(q, NULL));
    assert_int_equal(calls, 0);
    assert_true(model_is_of(before, q->of.bandit));
}

TEST(every_policy_may_fail_anywhere)
{
    static round_arms drawn;
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        for (size_t sparse = 0; sparse < 2; sparse++) {
            ee_bandit *bandit = bandit_make(c->name, DIM, 3, c->options);
            bandit_play(bandit, 1, 10, 2, sparse);
            round_draw(&drawn, 99, ARMS, DIM, DIM / 2);
            auto_reader self = reader_make(bandit, 1);
            const question q = {self, sparse ? &drawn.sparse : &drawn.dense};
            check(&q, ask);
            check(&q, ask_bandit);
        }
    }
}

TEST(named_rounds_may_fail_anywhere)
{
    const char *const hashings[] = {"names=1000", "names=30 hashes=8", "hashing=vw bits=10", "products=none"};
    for (size_t i = 0; i < 4; i++) {
        ee_bandit *bandit = named_make("greedy", "f1.width=4", hashings[i]);
        ee_round *round = round_make();
        named_play(bandit, round, 1, 20);
        named_draw(round, 21);
        auto_reader self = reader_make(bandit, 1);
        self.round = round;
        check(&(question){self, NULL}, ask);
    }
}
