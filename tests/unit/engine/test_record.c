/* Records: a decision on a snapshot, stored as bytes and learned later, here or in another process, leaves the same
 * bytes; and what is no whole record of the model changes nothing. */
#define _DEFAULT_SOURCE
#include "every_policy.h"

#include <sys/wait.h>
#include <unistd.h>

#include "learned.h"
#include "support_files.h"

enum { DIM = 8, ARMS = 5, RECORDS = 7 };

static round_arms round_now;

static const ee_arms *arms_of_round(uint64_t number)
{
    round_draw(&round_now, number, ARMS, DIM, 4);
    return number % 2 ? &round_now.sparse : &round_now.dense;
}

/* A record of its own of the decision for a round. *reward: what came of it. */
static model record_make(ee_bandit *bandit, uint64_t round, double *reward)
{
    auto_snapshot *snapshot = snapshot_make(bandit);
    ee_decision decision;
    const void *bytes = NULL;
    size_t size = 0;
    auto_scratch *room = scratch_make(snapshot, 1);
    assert_int_equal(ee_scratch_record(room, 0, &bytes, &size, NULL), EE_BAD_INPUT);
    const ee_arms *arms = arms_of_round(round);
    ee_scratch_seed(room, round);
    ok(ee_snapshot_decide(snapshot, room, arms, &decision, NULL, NULL, NULL));
    ok(ee_scratch_record(room, 0, &bytes, &size, NULL));
    model made = {NULL, size};
    ok(memory_create(NULL, &made.bytes, size, 1, &last_error));
    memcpy(made.bytes, bytes, size);
    *reward = round_reward(&round_now, decision.arm);
    return made;
}

static ee_status learn(ee_bandit *bandit, model record, double reward, ee_error *error)
{
    return ee_bandit_learn_record(bandit, record.bytes, record.size, reward, error);
}

static void name_file(char *path, size_t size, const char *folder, const char *name, int number)
{
    snprintf(path, size, "%s/%s%d", folder, name, number);
}

/* What the other process does: loads the model, learns the records, the last first, and saves. Returns its exit
 * status. */
static int learn_elsewhere(const char *folder)
{
    char path[256];
    ee_bandit *bandit;
    name_file(path, sizeof path, folder, "model", 0);
    if (ee_bandit_load(path, NULL, &bandit, NULL)) return 2;
    for (int i = RECORDS - 1; i >= 0; i--) {
        uint8_t *bytes;
        size_t size = 0;
        name_file(path, sizeof path, folder, "record", i);
        if (file_read(path, &bytes, &size, NULL)) return 3;
        if (ee_bandit_learn_record(bandit, bytes, size, i % 2, NULL)) return 4;
        memory_free(bytes);
    }
    name_file(path, sizeof path, folder, "model", 1);
    ee_status status = ee_bandit_save(bandit, path, NULL);
    ee_bandit_free(bandit);
    _exit(status ? 5 : 0); /* without a search for leaks, which takes seconds */
}
TEST_COMMAND(learn_elsewhere)

static void start_other_process(const char *folder)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        execl("/proc/self/exe", "unit_engine", "test_record", "--run", folder, (char *)NULL);
        _exit(9);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* played: rounds before the snapshot; with 0 of them the first record brings the length of the arms too. */
static void learn_here_and_elsewhere(policy_case c, uint64_t played, const test_folder *folder)
{
    char path[256], name[32];
    model records[RECORDS];
    double unused;
    auto_bandit *bandit = bandit_make(c.name, DIM, 3, c.options);
    if (played) bandit_play(bandit, 1, played, ARMS, false);
    name_file(path, sizeof path, folder->path, "model", 0);
    ok(ee_bandit_save(bandit, path, NULL));
    for (int i = 0; i < RECORDS; i++) {
        records[i] = record_make(bandit, 100 + (uint64_t)i, &unused);
        snprintf(name, sizeof name, "record%d", i);
        folder_write(folder, name, records[i].bytes, records[i].size);
    }
    start_other_process(folder->path);
    for (int i = RECORDS - 1; i >= 0; i--) {
        ok(learn(bandit, records[i], i % 2, NULL));
        model_free(&records[i]);
    }
    auto_model own = model_save(bandit);
    model elsewhere = {NULL, 0};
    auto_memory uint8_t *bytes;
    name_file(path, sizeof path, folder->path, "model", 1);
    ok(file_read(path, &bytes, &elsewhere.size, NULL));
    elsewhere.bytes = bytes;
    if (!model_equal(own, elsewhere)) fail_msg("%s %s: other bytes", c.name, c.options);
    assert_int_equal(ee_bandit_info(bandit).rewards, played + RECORDS);
    assert_int_equal(ee_bandit_info(bandit).decisions, played);
}

TEST_IN_FOLDER(another_process_learns_the_same_bytes)
{
    policy_case c;
    for (size_t i = 0; policy_case_at(i, &c); i++) {
        if (i % 2 || test_long(0, 1)) learn_here_and_elsewhere(c, 15, &here);
        if (i % 2 == 0 || test_long(0, 1)) learn_here_and_elsewhere(c, 0, &here);
    }
}

/* A bandit that decides and learns at once, and its twin that learns records of the same decisions. */
TEST(a_record_teaches_what_the_decision_itself_does)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_bandit *bandit = bandit_make(c->name, DIM, 3, c->options),
                    *twin = bandit_make(c->name, DIM, 3, c->options);
        bandit_play(bandit, 1, 1, ARMS, false); /* now both know the length of the arms */
        bandit_play(twin, 1, 1, ARMS, false);
        for (uint64_t t = 2; t <= 40; t++) {
            double reward;
            auto_model record = record_make(twin, t, &reward);
            bandit->room->streams = decision_streams_of(t);
            bandit_reward(bandit, bandit_choose(bandit, arms_of_round(t), NULL).id, reward);
            ok(learn(twin, record, reward, NULL));
            if (!learned_the_same(bandit, twin)) fail_msg("%s %s: round %d", c->name, c->options, (int)t);
        }
    }
}

TEST(what_is_no_record_is_not_taken_in)
{
    double reward;
    ee_decision decision = {5, 6, 0.7};
    auto_bandit *bandit = bandit_make("greedy", DIM, 3, "f1.width=6");
    auto_model record = record_make(bandit, 101, &reward), before = model_save(bandit);
    static const char sentence[] = "record: bandit, record and decision must not be NULL";
    refuses(ee_bandit_take_record(NULL, record.bytes, record.size, &decision, &last_error), sentence);
    refuses(ee_bandit_take_record(bandit, NULL, 9, &decision, &last_error), sentence);
    refuses(ee_bandit_take_record(bandit, record.bytes, record.size, NULL, &last_error), sentence);
    assert_int_equal(ee_bandit_take_record(bandit, record.bytes, record.size - 1, &decision, NULL), EE_BAD_RECORD);
    assert_true(model_is_of(before, bandit));
    assert_int_equal(decision.id, 5);
}

/* A record that was made before the bandit knew of a length, learned after it does: the arm is scaled anew. */
TEST(an_arm_of_another_length_is_scaled_anew)
{
    static const float two[] = {3, 4, 6, 8}, one[] = {1, 0, 0, 1};
    ee_arms long_arms = ee_arms_dense(two, 1, 4), short_arms = ee_arms_dense(one, 1, 4);
    auto_bandit *bandit = bandit_make("linucb", 4, 1, "scale=on"), *twin = bandit_make("linucb", 4, 1, "scale=on");
    auto_snapshot *snapshot = snapshot_make(bandit);
    ee_decision decision;
    const void *record;
    size_t size;
    auto_scratch *room = scratch_make(snapshot, 1);
    ok(ee_snapshot_decide(snapshot, room, &long_arms, &decision, NULL, NULL, NULL));
    ok(ee_scratch_record(room, 0, &record, &size, NULL));
    /* Now it knows a length, which is not the record's. */
    bandit_reward(bandit, bandit_choose(bandit, &short_arms, NULL).id, 0);
    double length = bandit->policy->parameters.length.value;
    assert_float_equal(length, sqrt(2), 1e-12);
    ok(ee_bandit_learn_record(bandit, record, size, 1, NULL));
    assert_true(bandit->policy->parameters.length.value == length);
    bandit_reward(twin, bandit_choose(twin, &short_arms, NULL).id, 0);
    bandit_reward(twin, bandit_choose(twin, &long_arms, NULL).id, 1);
    ee_score mine, its;
    ok(ee_bandit_score(bandit, &long_arms, &mine, NULL));
    ok(ee_bandit_score(twin, &long_arms, &its, NULL));
    assert_float_equal(mine.score, its.score, 1e-5);
    assert_true(mine.exploitation > 0.5f);
}

/* ---- what is no record ---- */

static void assert_refused(ee_bandit *bandit, model record, const char *sentence)
{
    ee_error error = {EE_OK, ""};
    auto_model before = model_save(bandit);
    ee_status status = learn(bandit, record, 1, &error);
    if (sentence) assert_string_equal(error.message, sentence);
    assert_int_equal(status, EE_BAD_RECORD);
    assert_int_equal(error.status, EE_BAD_RECORD);
    assert_memory_equal(error.message, "record: ", 8);
    assert_true(model_is_of(before, bandit));
}

static const char some_eenet[] = "f1.width=6 exploration=network f2.width=6 features=sketch:8 extra_until=100";

TEST(no_damaged_or_impossible_record_is_learned)
{
    double reward;
    auto_bandit *bandit = bandit_make("eenet", DIM, 3, some_eenet);
    bandit_play(bandit, 1, 5, ARMS, false);
    auto_model record = record_make(bandit, 101, &reward);
    uint8_t *bytes = record.bytes;
    for (size_t i = 0; i < record.size; i++) {
        bytes[i] ^= 1;
        assert_refused(bandit, record, i < 8 ? "record: not a decision record" : NULL);
        bytes[i] ^= 1;
        assert_refused(bandit, (model){bytes, i}, i < 8 ? "record: not a decision record" : NULL);
    }
    assert_int_equal(learn(bandit, record, NAN, NULL), EE_BAD_INPUT);
    assert_int_equal(ee_bandit_learn_record(bandit, NULL, 10, 1, NULL), EE_BAD_INPUT);
    assert_int_equal(ee_bandit_learn_record(NULL, bytes, record.size, 1, NULL), EE_BAD_INPUT);
    ok(learn(bandit, record, reward, NULL)); /* it was whole */
    /* Behind a sound checksum: the bytes of the head in turn, and of the arm. */
    static const char impossible[] = "record: invalid contents despite a correct checksum";
    static const struct {
        size_t place;
        uint64_t value;
        size_t size;
        const char *sentence;
    } cases[] = {
        {8, 1, 8, "record: version 1 is not supported; this library reads version 2"},
        {8, 3, 8, "record: version 3 is not supported; this library reads version 2"},
        {16, 5, 8, "record: from another model: its policy, options or dimension differ from this bandit's"},
        {24, UINT64_C(0x7ff8000000000000), 8, impossible}, /* length: not a number */
        {24, UINT64_C(0xbff0000000000000), 8, impossible}, /* -1 */
        {40, 0, 8, impossible},                            /* no arms */
        {40, UINT64_MAX, 8, impossible},
        {40, 4, 8, impossible},          /* another number of them: phi of one is too much */
        {48, 3, 4, impossible},          /* entries */
        {52, 2, 4, impossible},          /* sparse, dense, or what? */
        {56, 0x7f800000, 4, impossible}, /* scores */
        {68, 2, 4, impossible},          /* an id, none, or what? */
        {80, 0x7fc00000, 4, "record: its arm does not have 8 features"},
        {80 + 4 * 4, 8, 4, "record: its arm does not have 8 features"}, /* index of the first of four entries */
        {80 + 8 * 4, 0x7f800000, 4, "record: a number that the policy keeps is not finite"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_free uint8_t *changed = malloc(record.size);
        memcpy(changed, record.bytes, record.size);
        memcpy(changed + cases[i].place, &cases[i].value, cases[i].size);
        uint64_t checksum = archive_checksum(changed, record.size - 8);
        memcpy(changed + record.size - 8, &checksum, sizeof checksum);
        assert_refused(bandit, (model){changed, record.size}, cases[i].sentence);
    }
}

static void assert_foreign(const char *name, size_t dim, const char *options, model record)
{
    auto_bandit *other = bandit_make(name, dim, 3, options);
    assert_refused(other, record,
                   "record: from another model: its policy, options or dimension differ from this bandit's");
}

static void assert_learns(const char *name, uint64_t seed, const char *options, model record)
{
    auto_bandit *other = bandit_make(name, DIM, seed, options);
    ee_error error = {EE_OK, ""};
    if (learn(other, record, 1, &error)) fail_msg("%s %s: %s", name, options, error.message);
}

TEST(a_record_of_another_model_is_refused)
{
    double reward;
    auto_bandit *bandit = bandit_make("neural-ucb", DIM, 3, "f1.width=6");
    auto_bandit *scaling = bandit_make("linucb", DIM, 3, "scale=on"); /* its arms are divided by their length */
    auto_model record = record_make(bandit, 101, &reward), scaled = record_make(scaling, 101, &reward);
    assert_foreign("neural-ucb", DIM, "f1.width=7", record); /* it keeps f1's activations */
    assert_foreign("neural-ucb", DIM + 1, "f1.width=6", record);
    assert_foreign("neural-ts", DIM, "f1.width=6", record);
    assert_foreign("linucb", DIM, "scale=off", scaled);
    /* The seed and options that do not change the meaning of a record may differ. */
    auto_bandit *plain = bandit_make("eenet", DIM, 3, "f1.width=6"); /* it keeps nothing */
    auto_model other = record_make(plain, 101, &reward);
    assert_learns("neural-ucb", 4, "f1.width=6", record);
    assert_learns("neural-ucb", 3, "f1.width=6 pending=7 arms=3 nonzeros=9 wait=5 default_reward=0", record);
    assert_learns("neural-ucb", 3, "f1.width=6 recall=0 propensity=softmax", record);
    assert_learns("eenet", 3, "f1.width=9 f1.rate=0.01 units=3", other);
}

/* A decision that was taken in and expired, or was forgotten, has been counted as tried. Its reward, which comes with
 * the record, leaves what it would have left in time. */
TEST(a_late_record_counts_once)
{
    enum { MADE = 5 };
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        char options[256];
        snprintf(options, sizeof options, "%s pending=3", c->options);
        auto_bandit *patient = bandit_make(c->name, DIM, 3, c->options), *hasty = bandit_make(c->name, DIM, 3, options);
        if (!patient->policy->class->await) continue; /* nothing is counted before the reward */
        model records[MADE];
        double rewards[MADE];
        ee_decision decision;
        for (uint64_t t = 0; t < MADE; t++) {
            records[t] = record_make(patient, 100 + t, &rewards[t]);
            auto_model copy = record_make(hasty, 100 + t, &rewards[t]);
            for (int k = 0; k < 2; k++)
                ok(ee_bandit_take_record(k ? hasty : patient, k ? copy.bytes : records[t].bytes, records[t].size,
                                         &decision, NULL));
        }
        ee_snapshot_free(snapshot_make(patient)); /* counts the last one as tried */
        ee_snapshot_free(snapshot_make(hasty));
        assert_int_equal(ee_bandit_info(hasty).expired, 2);
        ok(ee_bandit_forget(hasty, 4, NULL));
        ok(ee_bandit_take_record(hasty, records[3].bytes, records[3].size, &decision, NULL));
        assert_int_equal(decision.id, 6); /* and the third expires */
        hasty = bandit_reload(hasty);
        for (uint64_t t = 0; t < MADE; t++) {
            bool gone = t < 3;
            bandit_reward(patient, t + 1, rewards[t]);
            if (gone)
                ok(learn(hasty, records[t], rewards[t], NULL));
            else
                bandit_reward(hasty, t == 3 ? decision.id : t + 1, rewards[t]);
            if (!learned_the_same(patient, hasty)) fail_msg("%s %s: reward %d", c->name, options, (int)t);
            model_free(&records[t]);
        }
    }
}

/* Not a byte of a record is left to chance: what the room held before does not show. */
TEST(the_same_decision_is_the_same_record)
{
    for (const policy_case *c = NULL; (c = policy_case_next(c));) {
        auto_bandit *bandit = bandit_make(c->name, DIM, 3, c->options);
        bandit_play(bandit, 1, 15, ARMS, true);
        auto_snapshot *snapshot = snapshot_make(bandit);
        ee_decision decision;
        const void *record;
        size_t size;
        double reward;
        auto_model first = record_make(bandit, 101, &reward);
        auto_scratch *room = scratch_make(snapshot, 1);
        for (uint64_t t = 90; t <= 101; t++) {
            const ee_arms *arms = arms_of_round(t);
            ee_scratch_seed(room, t);
            ok(ee_snapshot_decide(snapshot, room, arms, &decision, NULL, NULL, NULL));
        }
        ok(ee_scratch_record(room, 0, &record, &size, NULL));
        assert_true(model_equal(first, (model){(void *)(uintptr_t)record, size}));
    }
}
