/* The model as the log makes it: whoever follows the log, from wherever, with or without publishing, has the same bytes
 * after each step. The log is written by hand here: steps, strides and late rewards as the test wants them. */
#define _POSIX_C_SOURCE 200809L
#include "serve/model/follower.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/every_policy.h"
#include "engine/snapshot.h"
#include "serve/model/decision_arms.h"
#include "serve/store_writer.h"

enum { ARMS = 4, DIM = 5, MOST_STEPS = 64, BANDIT = 1 };

/* A model with what a checkpoint says of it. */
typedef struct saved_model {
    checkpoint_body about;
    void *bytes;
    size_t size;
    uint8_t *state;
} saved_model;

static struct script {
    test_folder folder;
    store *kept;
    raw_log written; /* the log is written past the rules, in a transaction that append begins */
    store_reader *log;
    bandit_settings settings;
    follower *live;
    ee_bandit *shown;
    ee_snapshot *snapshot;
    ee_scratch *scratch;
    ee_round *round;
    decision_arms arms;
    uint64_t number, version; /* last event; that of the model */
    random_stream chance;
    bool deferred; /* what is decided */
    step_body steps[MOST_STEPS];
    saved_model models[MOST_STEPS]; /* after each step */
    size_t step_count;
    ee_error error;
} script;

#define SCRIPT_OK(call)                                                                                                \
    if (call) fail_msg("%s:%d: %s: %s", __FILE__, __LINE__, script.settings.policy, script.error.message)

/* ---- writing the log ---- */

static uint64_t append(event added)
{
    if (!script.written.database) script.written = raw_begin(script.folder.path);
    added.number = ++script.number;
    added.time = (int64_t)script.number;
    raw_append(&script.written, BANDIT, &added);
    return script.number;
}

static void commit(void)
{
    if (script.written.database) raw_commit(&script.written);
}

static void change_settings(void)
{
    text json = text_start(NULL);
    bandit_settings_write(&script.settings, &json);
    append((event){.kind = EVENT_SETTINGS, .body = json.bytes, .size = json.length});
    memory_free(json.bytes);
}

static saved_model save(follower *of, uint64_t version)
{
    saved_model out = {.about = {.version = version, .upto = follower_upto(of)}};
    SCRIPT_OK(ee_bandit_save_bytes(follower_bandit(of), &out.bytes, &out.size, &script.error));
    SCRIPT_OK(follower_state(of, FOLLOWER_FORMAT, &out.about.state, &out.about.state_size, &script.error));
    out.state = malloc(out.about.state_size);
    memcpy(out.state, out.about.state, out.about.state_size);
    out.about.state = out.state;
    out.about.size = out.size;
    out.about.checksum = checkpoint_checksum(out.bytes, out.size);
    return out;
}

static void free_model(saved_model *saved)
{
    ee_bytes_free(saved->bytes);
    free(saved->state);
}

/* The model of a follower has the same bytes as one that was saved. at: for the message. */
static void assert_same(follower *other, const saved_model *then, size_t at)
{
    saved_model now = save(other, 0);
    if (now.size != then->size || memcmp(now.bytes, then->bytes, now.size) != 0)
        fail_msg("%s %s: the model differs after step %zu", script.settings.policy, script.settings.options, at);
    assert_int_equal(now.about.state_size, then->about.state_size);
    assert_memory_equal(now.state, then->state, now.about.state_size);
    free_model(&now);
}

/* Frees two followers, whose models have the same bytes. */
static void end_alike(follower *first, follower *second)
{
    saved_model one = save(first, 0);
    assert_same(second, &one, 0);
    free_model(&one);
    follower_free(first);
    follower_free(second);
}

static void show(void)
{
    ee_bandit *bandit = follower_bandit(script.live);
    if (script.shown == bandit) {
        SCRIPT_OK(ee_snapshot_update(script.snapshot, bandit, &script.error));
        return;
    }
    ee_scratch_free(script.scratch);
    ee_snapshot_free(script.snapshot);
    script.shown = bandit;
    SCRIPT_OK(ee_snapshot_create(bandit, &script.snapshot, &script.error));
    SCRIPT_OK(ee_scratch_create(script.snapshot, 1, &script.scratch, &script.error));
}

/* The live follower takes all, in one step, and is published. */
static void step(uint64_t stride)
{
    uint8_t body[STEP_BODY_SIZE];
    step_body taken = {script.number, stride};
    commit();
    SCRIPT_OK(follower_step(script.live, script.log, BANDIT, &taken, NULL, NULL, &script.error));
    step_body_write(&taken, body);
    script.version = append((event){.kind = EVENT_STEP, .body = body, .size = sizeof body});
    show();
    script.models[script.step_count] = save(script.live, script.version);
    script.steps[script.step_count++] = taken;
}

static void begin(const char *name, const char *options, const char *features)
{
    script = (struct script){
        .folder = folder_make(), .settings = bandit_settings_usual(), .chance = random_named(1, "script")};
    snprintf(script.settings.policy, sizeof script.settings.policy, "%s", name);
    snprintf(script.settings.options, sizeof script.settings.options, "%s", options);
    snprintf(script.settings.features, sizeof script.settings.features, "%s", features ? features : "");
    snprintf(script.settings.propensity, sizeof script.settings.propensity, "own");
    script.settings.dim = features ? 0 : DIM;
    SCRIPT_OK(store_open(script.folder.path, &script.kept, &script.error));
    SCRIPT_OK(store_reader_create(script.kept, &script.log, &script.error));
    SCRIPT_OK(ee_round_create(NULL, &script.round, &script.error));
    script.written = raw_begin(script.folder.path);
    raw_add_bandit(&script.written, BANDIT, "a");
    change_settings();
    SCRIPT_OK(follower_create(&script.settings, &script.live, &script.error));
    show();
}

static int end(void **state)
{
    (void)state;
    commit();
    for (size_t i = 0; i < script.step_count; i++) free_model(&script.models[i]);
    ee_scratch_free(script.scratch);
    ee_snapshot_free(script.snapshot);
    follower_free(script.live);
    ee_round_free(script.round);
    memory_release(&script.arms.memory);
    store_reader_free(script.log);
    store_close(script.kept);
    folder_remove(&script.folder);
    return 0;
}

/* A decision by the published model; the first arm is excluded now and then. Returns its number. */
static uint64_t decide(size_t *action)
{
    float values[ARMS * DIM];
    double of_arms[ARMS], probabilities[ARMS];
    uint8_t excluded[ARMS] = {0}, *bytes = NULL;
    char context[512];
    size_t size = 0, capacity = 0;
    ee_arms arms;
    ee_decision decision;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) values[i] = (float)random_unit(&script.chance);
    int used = snprintf(context, sizeof context, "{\"user\":{\"id\":\"u%d\"},\"_multi\":[",
                        (int)random_below(&script.chance, 30));
    for (int i = 0; i < ARMS; i++)
        used += snprintf(context + used, sizeof context - (size_t)used, "%s{\"item\":\"i%d\",\"price\":%g}",
                         i ? "," : "", i, random_unit(&script.chance));
    snprintf(context + used, sizeof context - (size_t)used, "]}");
    excluded[0] = random_below(&script.chance, 7) == 0;
    decision_body body = {.version = script.version,
                          .count = ARMS,
                          .excluded = excluded,
                          .seed = random_below(&script.chance, UINT32_MAX)};
    if (script.settings.dim) {
        body.dim = DIM;
        body.values = values;
    } else {
        body.context = words(context);
    }
    SCRIPT_OK(decision_arms_make(&script.arms, &body, script.round, &arms, &script.error));
    ee_scratch_seed(script.scratch, body.seed);
    if (body.dim)
        SCRIPT_OK(ee_snapshot_decide(script.snapshot, script.scratch, &arms, &decision, NULL, of_arms, &script.error));
    if (!body.dim)
        SCRIPT_OK(ee_snapshot_decide_round(script.snapshot, script.scratch, script.round, &decision, NULL, of_arms,
                                           &script.error));
    SCRIPT_OK(ee_scratch_record(script.scratch, 0, &body.record, &body.record_size, &script.error));
    decision_answer(&body, script.settings.mode, decision.arm, of_arms, probabilities);
    body.deferred = script.deferred;
    SCRIPT_OK(decision_body_write(&body, NULL, &bytes, &size, &capacity, &script.error));
    *action = body.action;
    append((event){.kind = EVENT_DECISION, .id = {"x", 1}, .body = bytes, .size = size});
    memory_free(bytes);
    return script.number;
}

static const saved_model *last_model(void)
{
    return &script.models[script.step_count - 1];
}

static void assert_same_bytes(const saved_model *expected)
{
    assert_int_equal(last_model()->size, expected->size);
    assert_memory_equal(last_model()->bytes, expected->bytes, expected->size);
}

static void settle(uint64_t decision, double value, event_outcome outcome)
{
    append((event){.kind = EVENT_SETTLED, .decision = decision, .value = value, .outcome = outcome});
}

/* So many decisions, each settled up to `late` decisions later, and steps of some stride in between. */
static void play(size_t count, size_t late, uint64_t most_stride)
{
    struct waiting {
        uint64_t number;
        size_t action, due;
    } *waiting = calloc(count, sizeof *waiting);
    for (size_t i = 0; i < count + late; i++) {
        if (i < count) {
            waiting[i].number = decide(&waiting[i].action);
            waiting[i].due = i + random_below(&script.chance, late + 1);
        }
        for (size_t k = 0; k < count && k <= i; k++) {
            if (waiting[k].due != i) continue;
            event_outcome outcome = (event_outcome)(SETTLED_REWARDED + random_below(&script.chance, 3));
            settle(waiting[k].number, (double)waiting[k].action / ARMS, outcome);
        }
        if (random_below(&script.chance, 8) == 0) step((uint64_t)1 << random_below(&script.chance, most_stride));
    }
    step(1);
    free(waiting);
}

/* ---- following it ---- */

/* Follows from a step on (or from the beginning) to the end, publishing nothing. */
static void follow(follower *other, size_t from)
{
    for (size_t i = from; i < script.step_count; i++) {
        SCRIPT_OK(follower_step(other, script.log, BANDIT, &script.steps[i], NULL, NULL, &script.error));
        assert_same(other, &script.models[i], i);
    }
    follower_free(other);
}

static void assert_all_follow(void)
{
    follower *other;
    commit();
    SCRIPT_OK(follower_create(&script.settings, &other, &script.error));
    follow(other, 0);
    for (size_t i = 0; i < script.step_count; i += 1 + script.step_count / 4) {
        saved_model *at = &script.models[i];
        SCRIPT_OK(follower_load(&at->about, &script.settings, at->bytes, at->size, &other, &script.error));
        assert_same(other, &script.models[i], i);
        follow(other, i + 1);
    }
}

TEST(all_policies_are_followed)
{
    policy_case each;
    size_t followed = 0;
    for (size_t i = 0; policy_case_at(i, &each); i++) {
        char options[512];
        if (strstr(each.options, "propensity")) continue; /* the settings have a member for it */
        if (strstr(each.options, "blocks")) continue;     /* of other arms */
        snprintf(options, sizeof options, "%s pending=8", each.options);
        begin(each.name, options, NULL);
        play(24, 12, 3);
        assert_all_follow();
        end(NULL);
        followed++;
    }
    assert_true(followed > 15);
}

TEST(named_features_are_followed)
{
    const char *const policies[] = {"eenet", "linucb", "squarecb", "neural-ucb", "lints"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        bool neural = i % 2 == 0 && i < 4;
        begin(policies[i], neural || i == 3 ? "f1.width=6 pending=8" : "pending=8", "names=60 hashes=8");
        play(60, 20, 4);
        follower_counts counts = follower_read_counts(script.live);
        assert_int_equal(counts.decisions, 60);
        assert_true(counts.by_record > 5);
        assert_true(counts.learned > counts.by_record);
        assert_int_equal(counts.skipped, 0);
        assert_all_follow();
        end(NULL);
    }
}

static bool count_down(void *context)
{
    return --*(size_t *)context == 0;
}

/* Followers that end their steps at other events than they could, and those that are given the same steps. */
TEST_WITH(a_step_ends_between_any_two_events, NULL, end)
{
    begin("linucb", "pending=8", NULL);
    play(40, 12, 3);
    commit();
    for (size_t events = 1; events < 40; events += 6) {
        follower *first, *second;
        size_t steps = 0;
        uint64_t last = script.steps[script.step_count - 1].upto;
        SCRIPT_OK(follower_create(&script.settings, &first, &script.error));
        SCRIPT_OK(follower_create(&script.settings, &second, &script.error));
        while (follower_upto(first) < last) {
            size_t left = events;
            uint64_t before = follower_upto(first);
            step_body taken = {last, 1 + steps++ % 2};
            SCRIPT_OK(follower_advance(first, script.log, BANDIT, &taken, count_down, &left, &script.error));
            assert_true(taken.upto > before);
            assert_int_equal(follower_upto(first), taken.upto);
            SCRIPT_OK(follower_step(second, script.log, BANDIT, &taken, NULL, NULL, &script.error));
        }
        assert_in_range(steps, script.number / events / 2, script.number / events + 1);
        end_alike(first, second);
    }
}

/* ---- a log that cannot be read for a while ---- */

static struct {
    const reader_methods *real;
    reader_methods methods;
    size_t left; /* reads that succeed */
} unread;

static ee_status read_some(store_reader *self, uint32_t bandit, uint64_t after, unsigned kinds, size_t limit,
                           event_batch *out, ee_error *error)
{
    if (!unread.left) return status_fail(error, EE_FILE_ERROR, "store: the database is away");
    unread.left--;
    return unread.real->read(self, bandit, after, kinds, limit < 7 ? limit : 7, out, error);
}

static ee_status read_these(store_reader *self, uint32_t bandit, const uint64_t *numbers, size_t count,
                            event_batch *out, ee_error *error)
{
    if (!unread.left) return status_fail(error, EE_FILE_ERROR, "store: the database is away");
    unread.left--;
    return unread.real->read_these(self, bandit, numbers, count, out, error);
}

static void limit_reads(void)
{
    unread.real = script.log->methods;
    unread.methods = *unread.real;
    unread.methods.read = read_some;
    unread.methods.read_these = read_these;
    script.log->methods = &unread.methods;
}

/* The step ends before what cannot be read, and one that reads nothing changes nothing. */
TEST_WITH(a_step_ends_where_the_log_cannot_be_read, NULL, end)
{
    begin("linucb", "pending=8", NULL);
    play(40, 12, 3);
    commit();
    limit_reads();
    for (size_t reads = 0; reads < 4; reads++) {
        follower *first, *second;
        size_t failures = 0;
        uint64_t last = script.steps[script.step_count - 1].upto;
        SCRIPT_OK(follower_create(&script.settings, &first, &script.error));
        SCRIPT_OK(follower_create(&script.settings, &second, &script.error));
        for (size_t turn = 0; follower_upto(first) < last; turn++) {
            uint64_t before = follower_upto(first);
            step_body taken = {last, 1 + turn % 2};
            unread.left = turn % 3 ? reads + turn % 4 : 0;
            ee_status status = follower_advance(first, script.log, BANDIT, &taken, NULL, NULL, &script.error);
            unread.left = SIZE_MAX;
            assert_int_equal(status, follower_upto(first) > before ? EE_OK : EE_FILE_ERROR);
            failures += status != EE_OK;
            if (!status) SCRIPT_OK(follower_step(second, script.log, BANDIT, &taken, NULL, NULL, &script.error));
        }
        assert_true(failures > 0);
        end_alike(first, second);
    }
    script.log->methods = unread.real;
}

/* ---- what was read before it was changed ---- */

enum { STOP = 11 };

static bool is_at_stop(void *context)
{
    return follower_upto(*(follower **)context) == STOP;
}

/* Steps end at STOP and at the last event. Between them `change` happens. Two followers have the same bytes: one that
 * kept what it had read in the first step, and one that was loaded after it. Returns the counts of the first. */
static follower_counts change_between(void (*change)(const uint64_t *numbers), const uint64_t *numbers)
{
    follower *kept, *fresh;
    step_body first = {script.number, 1}, last;
    SCRIPT_OK(follower_create(&script.settings, &kept, &script.error));
    SCRIPT_OK(follower_advance(kept, script.log, BANDIT, &first, is_at_stop, &kept, &script.error));
    assert_int_equal(first.upto, STOP);
    saved_model then = save(kept, 0);
    change(numbers);
    last = (step_body){script.number, 1};
    SCRIPT_OK(follower_load(&then.about, &script.settings, then.bytes, then.size, &fresh, &script.error));
    SCRIPT_OK(follower_step(kept, script.log, BANDIT, &last, NULL, NULL, &script.error));
    SCRIPT_OK(follower_step(fresh, script.log, BANDIT, &last, NULL, NULL, &script.error));
    follower_counts counts = follower_read_counts(kept);
    end_alike(kept, fresh);
    free_model(&then);
    return counts;
}

static void change_nothing(const uint64_t *numbers)
{
    (void)&script, (void)numbers;
}

/* The store has to be opened again before it writes: the log was written past it. */
static void erase_both(const uint64_t *numbers)
{
    store_close(script.kept);
    SCRIPT_OK(store_open(script.folder.path, &script.kept, &script.error));
    SCRIPT_OK(store_erase(script.kept, BANDIT, numbers, 2, &script.error));
}

static void reset(const uint64_t *numbers)
{
    (void)numbers;
    append((event){.kind = EVENT_MODEL});
    commit();
}

/* Batches of seven events. At STOP the follower has read a decision of the first batch and one of the second, whose
 * rewards it learns from their records: unless they are erased then. */
TEST(what_was_read_does_not_outlive_an_erasure)
{
    void (*const changes[])(const uint64_t *numbers) = {change_nothing, erase_both, reset};
    const follower_counts expected[] = {{.learned = 4, .by_record = 3}, {.learned = 2, .by_record = 1}, {0}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        size_t action;
        uint64_t made[9];
        begin("linucb", "pending=1", NULL);
        for (size_t k = 0; k < sizeof made / sizeof *made; k++) made[k] = decide(&action);
        const uint64_t settled[] = {made[0], made[1], made[7], made[8]};
        for (size_t k = 0; k < 4; k++) settle(settled[k], 1, SETTLED_REWARDED);
        commit();
        limit_reads();
        unread.left = SIZE_MAX;
        follower_counts counts = change_between(changes[i], settled + 1);
        script.log->methods = unread.real;
        assert_int_equal(counts.learned, expected[i].learned);
        assert_int_equal(counts.by_record, expected[i].by_record);
        end(NULL);
    }
}

static void upload(const void *bytes, size_t size)
{
    uint8_t *body = NULL;
    size_t body_size;
    checkpoint_body about = {
        .version = 1000000 + script.number, .checksum = checkpoint_checksum(bytes, size), .size = size, .state = ""};
    SCRIPT_OK(blob_put(store_blobs(script.kept), blob_model(BANDIT, about.version), bytes, size, &script.error));
    SCRIPT_OK(checkpoint_body_write(&about, NULL, &body, &body_size, &script.error));
    append((event){.kind = EVENT_MODEL, .body = body, .size = body_size});
    memory_free(body);
    step(1);
}

TEST_WITH(an_upload_takes_over, NULL, end)
{
    begin("linucb", "pending=16", NULL);
    play(20, 5, 1);
    const saved_model *taken = &script.models[script.step_count / 2];
    play(20, 5, 1);
    upload(taken->bytes, taken->size);
    assert_same_bytes(taken);
    play(20, 5, 2);
    assert_all_follow();
}

/* Of other arms than the bandit's: it is passed over, and the model stays. */
TEST_WITH(a_strange_upload_is_passed_over, NULL, end)
{
    ee_bandit *other;
    void *bytes;
    size_t size;
    const ee_settings strange[] = {{.policy = "linucb", .dim = DIM + 1},
                                   {.policy = "linucb", .features = "names=4 hashes=1"}};
    begin("linucb", "pending=16", NULL);
    play(20, 5, 1);
    const saved_model *before = last_model();
    for (size_t i = 0; i < 2; i++) {
        SCRIPT_OK(ee_bandit_create(&strange[i], &other, &script.error));
        if (i) assert_int_equal(ee_bandit_info(other).dim, DIM);
        SCRIPT_OK(ee_bandit_save_bytes(other, &bytes, &size, &script.error));
        uint64_t passed = follower_read_counts(script.live).skipped;
        upload(bytes, size);
        assert_int_equal(follower_read_counts(script.live).skipped, passed + 1);
        assert_same_bytes(before);
        ee_bytes_free(bytes);
        ee_bandit_free(other);
    }
    assert_all_follow();
}

/* ---- what is learned: scripts. A decision is named by a letter:
 *
 *     da fa      it is made; f: deferred
 *     sa ia na   it is settled with a reward; i: as inactive; n: without a reward
 *     m0 h1 R    another mode, or hold; a reset
 *     |          a step; =: it has left the model as it was
 *     P          ten decisions with their rewards, and steps
 *     +2 >2      so many were learned since the first P; >: more
 *     ~2 #2      so many were skipped; #: made ---- */

static uint64_t run_word(const char *word, uint64_t base)
{
    static uint64_t numbers[32];
    uint64_t *number = &numbers[word[1] & 31], expected = (uint64_t)atoi(word + 1);
    follower_counts counts = follower_read_counts(script.live);
    size_t action;
    switch (word[0]) {
    case 'd':
    case 'f':
        script.deferred = word[0] == 'f';
        *number = decide(&action);
        /* The baseline, or the next where that is excluded. */
        if (script.settings.mode == MODE_APPRENTICE) assert_true(action <= 1);
        break;
    case 's':
    case 'i':
    case 'n':
        settle(*number, word[0] == 's',
               word[0] == 's'   ? SETTLED_REWARDED
               : word[0] == 'i' ? SETTLED_INACTIVE
                                : SETTLED_NOTHING);
        break;
    case 'm':
    case 'h':
        if (word[0] == 'm') script.settings.mode = (learning_mode)expected;
        if (word[0] == 'h') script.settings.held = (held_state)expected;
        change_settings();
        break;
    case 'R':
        append((event){.kind = EVENT_MODEL});
        break;
    case '|':
        step(1);
        break;
    case '=':
        assert_same_bytes(&script.models[script.step_count - 2]);
        break;
    case 'P':
        script.deferred = false;
        play(10, 3, 1);
        return base ? base : follower_read_counts(script.live).learned;
    case '>':
        assert_true(counts.learned > base + expected);
        break;
    default:
        assert_int_equal(word[0] == '+'   ? counts.learned - base
                         : word[0] == '~' ? counts.skipped
                                          : counts.decisions,
                         expected);
    }
    return base;
}

TEST(each_mode_learns_what_it_may)
{
    static const char *const cases[][2] = {
        /* Decisions of another model teach nothing, whether they were made before or after the reset. */
        {"linucb", "da | R db | dc sa sb | +0 #2 ~3 sc | +1 P"},
        /* An apprentice learns when a decision is made, not its reward. */
        {"eenet", "P dw m1 | da sa db sb dc sc dd sd de se sw | +5 m2 | dl | = m0 sl | +5 P >5"},
        /* Of a held bandit neither the decisions that it makes nor the rewards that come meanwhile, and later not the
         * rewards of those decisions. */
        {"eenet", "P dw h1 sw | da sa dl | = h0 sl | +0 P >0"},
        {"eenet", "P dw h2 sw | da sa dl | = h0 sl | +0 P >0"},
        /* What nobody saw is forgotten; an apprentice learns a deferred decision once it is known that it was shown,
         * whatever its reward. */
        {"eenet", "P fh fs ih | +0 ss | +1 m1 | fh fs | +1 ih ns | +2 ~0 m0 |"},
        /* What was logged is not learned later. Of some the answer is the model's own choice, which an online model
         * could learn. */
        {"linucb", "m2 | da db dc dd de df dg dh di dj dk dl dm dn do dp dq dr ds dt m0 |"
                   " sa sb sc sd se sf sg sh si sj sk sl sm sn so sp sq sr ss st | +0 ~20"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool neural = strcmp(cases[i][0], "eenet") == 0;
        char words[300], *rest = words;
        uint64_t learned = 0;
        begin(cases[i][0], neural ? "f1.width=6 pending=16" : "", neural ? "names=60" : NULL);
        snprintf(words, sizeof words, "%s", cases[i][1]);
        for (char *word; (word = strtok_r(rest, " ", &rest));) learned = run_word(word, learned);
        assert_all_follow();
        end(NULL);
    }
}

/* With stride k a network is trained for one reward in k, and all rewards are there. */
TEST_WITH(a_stride_trains_less, NULL, end)
{
    size_t action;
    begin("eenet", "f1.width=6", NULL);
    step(4);
    const float *values = follower_bandit(script.live)->policy->parameters.values;
    for (int i = 0; i < 9; i++) {
        float before = values[0];
        settle(decide(&action), i % 2, SETTLED_REWARDED);
        step(4);
        if (i % 4 != 0) assert_true(values[0] == before);
        if (i % 4 == 0 && i) assert_true(values[0] != before);
    }
    assert_int_equal(ee_bandit_info(follower_bandit(script.live)).rewards, 9);
    assert_all_follow();
}

static bool now(void *context)
{
    (void)context;
    return true;
}

TEST_WITH(what_is_wrong_is_said, NULL, end)
{
    follower *other;
    begin("linucb", "pending=16", NULL);
    play(40, 5, 1);
    step_body beyond = {script.number + 100, 1};
    commit();
    SCRIPT_OK(follower_create(&script.settings, &other, &script.error));
    assert_fails(follower_step(other, script.log, BANDIT, &beyond, NULL, NULL, &script.error), EE_BAD_INPUT,
                 script.error, "the log ends with event");
    follower_free(other);
    step_body all = {script.number, 1};
    SCRIPT_OK(follower_create(&script.settings, &other, &script.error));
    assert_int_equal(follower_step(other, script.log, BANDIT, &all, now, NULL, &script.error), EE_BAD_INPUT);
    follower_free(other);
    saved_model *at = &script.models[0];
    ((uint8_t *)at->bytes)[at->size / 2] ^= 1;
    assert_int_equal(follower_load(&at->about, &script.settings, at->bytes, at->size, &other, &script.error),
                     EE_BAD_MODEL);
    ((uint8_t *)at->bytes)[at->size / 2] ^= 1;
    for (size_t size = 0; size < at->about.state_size; size++) {
        checkpoint_body cut = at->about;
        cut.state_size = size;
        assert_int_equal(follower_load(&cut, &script.settings, at->bytes, at->size, &other, &script.error),
                         EE_BAD_MODEL);
    }
}
