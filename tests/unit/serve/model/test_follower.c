/* The model as the log makes it: whoever follows the log, from wherever, with or without publishing, has the same bytes
 * after each step. The log is written by hand here: steps, strides and late rewards as the test wants them. */
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

typedef struct script {
    test_folder folder;
    store *kept;
    raw_log written; /* the log is written past the rules */
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

#define SCRIPT_OK(s, call)                                                                                             \
    if (call) fail_msg("%s:%d: %s: %s", __FILE__, __LINE__, (s)->settings.policy, (s)->error.message)

/* ---- writing the log ---- */

static uint64_t append(script *s, event added)
{
    added.number = ++s->number;
    added.time = (int64_t)s->number;
    raw_append(&s->written, BANDIT, &added);
    return s->number;
}

static void change_settings(script *s)
{
    text json = text_start(NULL);
    bandit_settings_write(&s->settings, &json);
    append(s, (event){.kind = EVENT_SETTINGS, .body = json.bytes, .size = json.length});
    memory_free(json.bytes);
}

static void set_mode(script *s, learning_mode mode)
{
    s->settings.mode = mode;
    change_settings(s);
}

static void set_held(script *s, held_state held)
{
    s->settings.held = held;
    change_settings(s);
}

static saved_model save(script *s, follower *of, uint64_t version)
{
    saved_model out = {.about = {.version = version, .upto = follower_upto(of)}};
    SCRIPT_OK(s, ee_bandit_save_bytes(follower_bandit(of), &out.bytes, &out.size, &s->error));
    SCRIPT_OK(s, follower_state(of, FOLLOWER_FORMAT, &out.about.state, &out.about.state_size, &s->error));
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

static void show(script *s)
{
    ee_bandit *bandit = follower_bandit(s->live);
    if (s->shown == bandit) {
        SCRIPT_OK(s, ee_snapshot_update(s->snapshot, bandit, &s->error));
        return;
    }
    ee_scratch_free(s->scratch);
    ee_snapshot_free(s->snapshot);
    s->shown = bandit;
    SCRIPT_OK(s, ee_snapshot_create(bandit, &s->snapshot, &s->error));
    SCRIPT_OK(s, ee_scratch_create(s->snapshot, 1, &s->scratch, &s->error));
}

/* The live follower takes all, in one step, and is published. */
static void step(script *s, uint64_t stride)
{
    uint8_t body[STEP_BODY_SIZE];
    step_body taken = {s->number, stride};
    raw_commit(&s->written);
    SCRIPT_OK(s, follower_step(s->live, s->log, BANDIT, &taken, NULL, NULL, &s->error));
    s->written = raw_begin(s->folder.path);
    step_body_write(&taken, body);
    s->version = append(s, (event){.kind = EVENT_STEP, .body = body, .size = sizeof body});
    show(s);
    s->models[s->step_count] = save(s, s->live, s->version);
    s->steps[s->step_count++] = taken;
}

static void begin(script *s, const char *name, const char *options, const char *features)
{
    *s = (script){.folder = folder_make(), .settings = bandit_settings_usual(), .chance = random_named(1, "script")};
    snprintf(s->settings.policy, sizeof s->settings.policy, "%s", name);
    snprintf(s->settings.options, sizeof s->settings.options, "%s", options);
    snprintf(s->settings.features, sizeof s->settings.features, "%s", features ? features : "");
    snprintf(s->settings.propensity, sizeof s->settings.propensity, "own");
    s->settings.dim = features ? 0 : DIM;
    SCRIPT_OK(s, store_open(s->folder.path, &s->kept, &s->error));
    SCRIPT_OK(s, store_reader_create(s->kept, &s->log, &s->error));
    SCRIPT_OK(s, ee_round_create(NULL, &s->round, &s->error));
    s->written = raw_begin(s->folder.path);
    raw_add_bandit(&s->written, BANDIT, "a");
    set_mode(s, MODE_ONLINE);
    SCRIPT_OK(s, follower_create(&s->settings, &s->live, &s->error));
    show(s);
}

static void end(script *s)
{
    raw_commit(&s->written);
    for (size_t i = 0; i < s->step_count; i++) free_model(&s->models[i]);
    ee_scratch_free(s->scratch);
    ee_snapshot_free(s->snapshot);
    follower_free(s->live);
    ee_round_free(s->round);
    memory_release(&s->arms.memory);
    store_reader_free(s->log);
    store_close(s->kept);
    folder_remove(&s->folder);
}

/* A decision by the published model; the first arm is excluded now and then. Returns its number. */
static uint64_t decide(script *s, size_t *action)
{
    float values[ARMS * DIM];
    double of_arms[ARMS], probabilities[ARMS];
    uint8_t excluded[ARMS] = {0}, *bytes = NULL;
    char context[512];
    size_t size = 0, capacity = 0;
    ee_arms arms;
    ee_decision decision;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) values[i] = (float)random_unit(&s->chance);
    int used =
        snprintf(context, sizeof context, "{\"user\":{\"id\":\"u%d\"},\"_multi\":[", (int)random_below(&s->chance, 30));
    for (int i = 0; i < ARMS; i++)
        used += snprintf(context + used, sizeof context - (size_t)used, "%s{\"item\":\"i%d\",\"price\":%g}",
                         i ? "," : "", i, random_unit(&s->chance));
    snprintf(context + used, sizeof context - (size_t)used, "]}");
    excluded[0] = random_below(&s->chance, 7) == 0;
    decision_body body = {
        .version = s->version, .count = ARMS, .excluded = excluded, .seed = random_below(&s->chance, UINT32_MAX)};
    if (s->settings.dim) {
        body.dim = DIM;
        body.values = values;
    } else {
        body.context = words(context);
    }
    SCRIPT_OK(s, decision_arms_make(&s->arms, &body, s->round, &arms, &s->error));
    ee_scratch_seed(s->scratch, body.seed);
    if (body.dim) SCRIPT_OK(s, ee_snapshot_decide(s->snapshot, s->scratch, &arms, &decision, NULL, of_arms, &s->error));
    if (!body.dim)
        SCRIPT_OK(s, ee_snapshot_decide_round(s->snapshot, s->scratch, s->round, &decision, NULL, of_arms, &s->error));
    SCRIPT_OK(s, ee_scratch_record(s->scratch, 0, &body.record, &body.record_size, &s->error));
    decision_answer(&body, s->settings.mode, decision.arm, of_arms, probabilities);
    body.deferred = s->deferred;
    SCRIPT_OK(s, decision_body_write(&body, NULL, &bytes, &size, &capacity, &s->error));
    *action = body.action;
    append(s, (event){.kind = EVENT_DECISION, .id = {"x", 1}, .body = bytes, .size = size});
    memory_free(bytes);
    return s->number;
}

static void settle(script *s, uint64_t decision, double value, event_outcome outcome)
{
    append(s, (event){.kind = EVENT_SETTLED, .decision = decision, .value = value, .outcome = outcome});
}

/* So many decisions, each settled up to `late` decisions later, and steps of some stride in between. */
static void play(script *s, size_t count, size_t late, uint64_t most_stride)
{
    struct waiting {
        uint64_t number;
        size_t action, due;
    } *waiting = calloc(count, sizeof *waiting);
    for (size_t i = 0; i < count + late; i++) {
        if (i < count) {
            waiting[i].number = decide(s, &waiting[i].action);
            waiting[i].due = i + random_below(&s->chance, late + 1);
        }
        for (size_t k = 0; k < count && k <= i; k++) {
            if (waiting[k].due != i) continue;
            event_outcome outcome = (event_outcome)(SETTLED_REWARDED + random_below(&s->chance, 3));
            settle(s, waiting[k].number, (double)waiting[k].action / ARMS, outcome);
        }
        if (random_below(&s->chance, 8) == 0) step(s, (uint64_t)1 << random_below(&s->chance, most_stride));
    }
    step(s, 1);
    free(waiting);
}

/* ---- following it ---- */

static void assert_same(script *s, follower *other, size_t at)
{
    saved_model now = save(s, other, 0), *then = &s->models[at];
    if (now.size != then->size || memcmp(now.bytes, then->bytes, now.size) != 0)
        fail_msg("%s %s: the model differs after step %zu", s->settings.policy, s->settings.options, at);
    assert_int_equal(now.about.state_size, then->about.state_size);
    assert_memory_equal(now.state, then->state, now.about.state_size);
    free_model(&now);
}

/* Follows from a step on (or from the beginning) to the end, publishing nothing. */
static void follow(script *s, follower *other, size_t from)
{
    for (size_t i = from; i < s->step_count; i++) {
        SCRIPT_OK(s, follower_step(other, s->log, BANDIT, &s->steps[i], NULL, NULL, &s->error));
        assert_same(s, other, i);
    }
    follower_free(other);
}

static void assert_all_follow(script *s)
{
    follower *other;
    raw_commit(&s->written);
    SCRIPT_OK(s, follower_create(&s->settings, &other, &s->error));
    follow(s, other, 0);
    for (size_t i = 0; i < s->step_count; i += 1 + s->step_count / 4) {
        saved_model *at = &s->models[i];
        SCRIPT_OK(s, follower_load(&at->about, &s->settings, at->bytes, at->size, &other, &s->error));
        assert_same(s, other, i);
        follow(s, other, i + 1);
    }
    s->written = raw_begin(s->folder.path);
}

TEST(all_policies_are_followed)
{
    policy_case each;
    size_t followed = 0;
    for (size_t i = 0; policy_case_at(i, &each); i++) {
        script s;
        ee_bandit *bandit;
        bandit_settings settings = bandit_settings_usual();
        char options[512];
        if (strstr(each.options, "propensity")) continue; /* the settings have a member for it */
        if (strstr(each.options, "blocks")) continue;     /* of other arms */
        snprintf(options, sizeof options, "%s pending=8", each.options);
        snprintf(settings.policy, sizeof settings.policy, "%s", each.name);
        snprintf(settings.options, sizeof settings.options, "%s", options);
        snprintf(settings.propensity, sizeof settings.propensity, "own");
        settings.dim = DIM;
        ee_error error = {0};
        if (bandit_settings_create(&settings, &bandit, &error)) fail_msg("%s: %s", each.name, error.message);
        ee_bandit_free(bandit);
        begin(&s, each.name, options, NULL);
        play(&s, 24, 12, 3);
        assert_all_follow(&s);
        end(&s);
        followed++;
    }
    assert_true(followed > 15);
}

TEST(named_features_are_followed)
{
    const char *const policies[] = {"eenet", "linucb", "squarecb", "neural-ucb", "lints"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        script s;
        bool neural = i % 2 == 0 && i < 4;
        begin(&s, policies[i], neural || i == 3 ? "f1.width=6 pending=8" : "pending=8", "names=60 hashes=8");
        play(&s, 60, 20, 4);
        follower_counts counts = follower_read_counts(s.live);
        assert_int_equal(counts.decisions, 60);
        assert_true(counts.by_record > 5);
        assert_true(counts.learned > counts.by_record);
        assert_int_equal(counts.skipped, 0);
        assert_all_follow(&s);
        end(&s);
    }
}

static bool count_down(void *context)
{
    return --*(size_t *)context == 0;
}

/* Followers that end their steps at other events than they could, and those that are given the same steps. */
TEST(a_step_ends_between_any_two_events)
{
    script s;
    begin(&s, "linucb", "pending=8", NULL);
    play(&s, 40, 12, 3);
    raw_commit(&s.written);
    for (size_t events = 1; events < 40; events += 6) {
        follower *first, *second;
        size_t steps = 0;
        SCRIPT_OK(&s, follower_create(&s.settings, &first, &s.error));
        SCRIPT_OK(&s, follower_create(&s.settings, &second, &s.error));
        while (follower_upto(first) < s.steps[s.step_count - 1].upto) {
            size_t left = events;
            uint64_t before = follower_upto(first);
            step_body taken = {s.steps[s.step_count - 1].upto, 1 + steps++ % 2};
            SCRIPT_OK(&s, follower_advance(first, s.log, BANDIT, &taken, count_down, &left, &s.error));
            assert_true(taken.upto > before);
            assert_int_equal(follower_upto(first), taken.upto);
            SCRIPT_OK(&s, follower_step(second, s.log, BANDIT, &taken, NULL, NULL, &s.error));
        }
        assert_in_range(steps, s.number / events / 2, s.number / events + 1);
        saved_model one = save(&s, first, 0), other = save(&s, second, 0);
        assert_int_equal(one.size, other.size);
        assert_memory_equal(one.bytes, other.bytes, one.size);
        assert_int_equal(one.about.state_size, other.about.state_size);
        assert_memory_equal(one.state, other.state, one.about.state_size);
        free_model(&one);
        free_model(&other);
        follower_free(first);
        follower_free(second);
    }
    s.written = raw_begin(s.folder.path);
    end(&s);
}

/* ---- a log that cannot be read for a while ---- */

static struct {
    const reader_methods *real;
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

/* The step ends before what cannot be read, and one that reads nothing changes nothing. */
TEST(a_step_ends_where_the_log_cannot_be_read)
{
    script s;
    begin(&s, "linucb", "pending=8", NULL);
    play(&s, 40, 12, 3);
    raw_commit(&s.written);
    reader_methods methods = *s.log->methods;
    unread.real = s.log->methods;
    methods.read = read_some;
    methods.read_these = read_these;
    for (size_t reads = 0; reads < 4; reads++) {
        follower *first, *second;
        size_t failures = 0;
        uint64_t last = s.steps[s.step_count - 1].upto;
        SCRIPT_OK(&s, follower_create(&s.settings, &first, &s.error));
        SCRIPT_OK(&s, follower_create(&s.settings, &second, &s.error));
        for (size_t turn = 0; follower_upto(first) < last; turn++) {
            uint64_t before = follower_upto(first);
            step_body taken = {last, 1 + turn % 2};
            s.log->methods = &methods;
            unread.left = turn % 3 ? reads + turn % 4 : 0;
            ee_status status = follower_advance(first, s.log, BANDIT, &taken, NULL, NULL, &s.error);
            s.log->methods = unread.real;
            assert_int_equal(status, follower_upto(first) > before ? EE_OK : EE_FILE_ERROR);
            failures += status != EE_OK;
            if (!status) SCRIPT_OK(&s, follower_step(second, s.log, BANDIT, &taken, NULL, NULL, &s.error));
        }
        assert_true(failures > 0);
        saved_model one = save(&s, first, 0), other = save(&s, second, 0);
        assert_int_equal(one.size, other.size);
        assert_memory_equal(one.bytes, other.bytes, one.size);
        assert_memory_equal(one.state, other.state, one.about.state_size);
        free_model(&one);
        free_model(&other);
        follower_free(first);
        follower_free(second);
    }
    s.written = raw_begin(s.folder.path);
    end(&s);
}

/* ---- what was read before it was changed ---- */

enum { STOP = 11 };

static bool is_at_stop(void *context)
{
    return follower_upto(*(follower **)context) == STOP;
}

/* Steps end at STOP and at the last event. Between them `change` happens. Two followers have the same bytes: one that
 * kept what it had read in the first step, and one that was loaded after it. Returns the counts of the first. */
static follower_counts change_between(script *s, void (*change)(script *s, const uint64_t *numbers),
                                      const uint64_t *numbers)
{
    follower *kept, *fresh;
    step_body first = {s->number, 1}, last;
    SCRIPT_OK(s, follower_create(&s->settings, &kept, &s->error));
    SCRIPT_OK(s, follower_advance(kept, s->log, BANDIT, &first, is_at_stop, &kept, &s->error));
    assert_int_equal(first.upto, STOP);
    saved_model then = save(s, kept, 0);
    change(s, numbers);
    last = (step_body){s->number, 1};
    SCRIPT_OK(s, follower_load(&then.about, &s->settings, then.bytes, then.size, &fresh, &s->error));
    SCRIPT_OK(s, follower_step(kept, s->log, BANDIT, &last, NULL, NULL, &s->error));
    SCRIPT_OK(s, follower_step(fresh, s->log, BANDIT, &last, NULL, NULL, &s->error));
    follower_counts counts = follower_read_counts(kept);
    saved_model one = save(s, kept, 0), other = save(s, fresh, 0);
    assert_int_equal(one.size, other.size);
    assert_memory_equal(one.bytes, other.bytes, one.size);
    assert_int_equal(one.about.state_size, other.about.state_size);
    assert_memory_equal(one.state, other.state, one.about.state_size);
    free_model(&then);
    free_model(&one);
    free_model(&other);
    follower_free(kept);
    follower_free(fresh);
    return counts;
}

static void change_nothing(script *s, const uint64_t *numbers)
{
    (void)s, (void)numbers;
}

/* The store has to be opened again before it writes: the log was written past it. */
static void erase_both(script *s, const uint64_t *numbers)
{
    store_close(s->kept);
    SCRIPT_OK(s, store_open(s->folder.path, &s->kept, &s->error));
    SCRIPT_OK(s, store_erase(s->kept, BANDIT, numbers, 2, &s->error));
}

static void reset(script *s, const uint64_t *numbers)
{
    (void)numbers;
    s->written = raw_begin(s->folder.path);
    append(s, (event){.kind = EVENT_MODEL});
    raw_commit(&s->written);
}

/* Batches of seven events. At STOP the follower has read a decision of the first batch and one of the second, whose
 * rewards it learns from their records: unless they are erased then. */
TEST(what_was_read_does_not_outlive_an_erasure)
{
    void (*const changes[])(script * s, const uint64_t *numbers) = {change_nothing, erase_both, reset};
    const follower_counts expected[] = {{.learned = 4, .by_record = 3}, {.learned = 2, .by_record = 1}, {0}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        script s;
        size_t action;
        uint64_t made[9];
        begin(&s, "linucb", "pending=1", NULL);
        for (size_t k = 0; k < sizeof made / sizeof *made; k++) made[k] = decide(&s, &action);
        const uint64_t settled[] = {made[0], made[1], made[7], made[8]};
        for (size_t k = 0; k < 4; k++) settle(&s, settled[k], 1, SETTLED_REWARDED);
        raw_commit(&s.written);
        reader_methods methods = *s.log->methods;
        unread.real = s.log->methods;
        unread.left = SIZE_MAX;
        methods.read = read_some;
        s.log->methods = &methods;
        follower_counts counts = change_between(&s, changes[i], settled + 1);
        s.log->methods = unread.real;
        assert_int_equal(counts.learned, expected[i].learned);
        assert_int_equal(counts.by_record, expected[i].by_record);
        s.written = raw_begin(s.folder.path);
        end(&s);
    }
}

/* Another model: decisions that the one before made, before or after the event, teach it nothing. */
TEST(a_reset_begins_anew)
{
    script s;
    size_t action;
    begin(&s, "linucb", "", NULL);
    uint64_t before = decide(&s, &action);
    step(&s, 1);
    append(&s, (event){.kind = EVENT_MODEL});
    uint64_t between = decide(&s, &action);
    step(&s, 1);
    saved_model fresh = save(&s, s.live, 0);
    uint64_t after = decide(&s, &action);
    settle(&s, before, 1, SETTLED_REWARDED);
    settle(&s, between, 1, SETTLED_REWARDED);
    step(&s, 1);
    follower_counts counts = follower_read_counts(s.live);
    assert_int_equal(counts.learned, 0);
    assert_int_equal(counts.decisions, 2);
    assert_int_equal(counts.skipped, 3);
    settle(&s, after, 1, SETTLED_REWARDED);
    step(&s, 1);
    assert_int_equal(follower_read_counts(s.live).learned, 1);
    play(&s, 20, 5, 1);
    assert_all_follow(&s);
    free_model(&fresh);
    end(&s);
}

static void upload(script *s, const void *bytes, size_t size)
{
    uint8_t *body = NULL;
    size_t body_size;
    checkpoint_body about = {
        .version = 1000000 + s->number, .checksum = checkpoint_checksum(bytes, size), .size = size, .state = ""};
    SCRIPT_OK(s, blob_put(store_blobs(s->kept), blob_model(BANDIT, about.version), bytes, size, &s->error));
    SCRIPT_OK(s, checkpoint_body_write(&about, NULL, &body, &body_size, &s->error));
    append(s, (event){.kind = EVENT_MODEL, .body = body, .size = body_size});
    memory_free(body);
    step(s, 1);
}

TEST(an_upload_takes_over)
{
    script s;
    begin(&s, "linucb", "pending=16", NULL);
    play(&s, 20, 5, 1);
    saved_model taken = s.models[s.step_count / 2];
    play(&s, 20, 5, 1);
    upload(&s, taken.bytes, taken.size);
    assert_int_equal(s.models[s.step_count - 1].size, taken.size);
    assert_memory_equal(s.models[s.step_count - 1].bytes, taken.bytes, taken.size);
    play(&s, 20, 5, 2);
    assert_all_follow(&s);
    end(&s);
}

/* Of other arms than the bandit's: it is passed over, and the model stays. */
TEST(a_strange_upload_is_passed_over)
{
    script s;
    ee_bandit *other;
    void *bytes;
    size_t size;
    const ee_settings strange[] = {{.policy = "linucb", .dim = DIM + 1},
                                   {.policy = "linucb", .features = "names=4 hashes=1"}};
    begin(&s, "linucb", "pending=16", NULL);
    play(&s, 20, 5, 1);
    saved_model before = s.models[s.step_count - 1];
    for (size_t i = 0; i < 2; i++) {
        SCRIPT_OK(&s, ee_bandit_create(&strange[i], &other, &s.error));
        if (i) assert_int_equal(ee_bandit_info(other).dim, DIM);
        SCRIPT_OK(&s, ee_bandit_save_bytes(other, &bytes, &size, &s.error));
        uint64_t passed = follower_read_counts(s.live).skipped;
        upload(&s, bytes, size);
        assert_int_equal(follower_read_counts(s.live).skipped, passed + 1);
        assert_memory_equal(s.models[s.step_count - 1].bytes, before.bytes, before.size);
        ee_bytes_free(bytes);
        ee_bandit_free(other);
    }
    assert_all_follow(&s);
    end(&s);
}

TEST(modes_learn_what_they_may)
{
    script s;
    size_t action;
    begin(&s, "eenet", "f1.width=6 pending=16", "names=60");
    play(&s, 10, 3, 1);
    uint64_t learned = follower_read_counts(s.live).learned, waits = decide(&s, &action);
    set_mode(&s, MODE_APPRENTICE);
    step(&s, 1);
    for (int i = 0; i < 5; i++) {
        uint64_t decision = decide(&s, &action);
        assert_true(action <= 1); /* the baseline, or the next where that is excluded */
        settle(&s, decision, 0.3, SETTLED_REWARDED);
    }
    settle(&s, waits, 1, SETTLED_REWARDED);
    step(&s, 1);
    assert_int_equal(follower_read_counts(s.live).learned, learned + 5); /* each when it was made, not its reward */
    set_mode(&s, MODE_LOGGING);
    step(&s, 1);
    saved_model quiet = save(&s, s.live, 0);
    uint64_t logged = decide(&s, &action);
    step(&s, 1);
    assert_int_equal(s.models[s.step_count - 1].size, quiet.size);
    assert_memory_equal(s.models[s.step_count - 1].bytes, quiet.bytes, quiet.size);
    set_mode(&s, MODE_ONLINE);
    settle(&s, logged, 1, SETTLED_REWARDED);
    step(&s, 1);
    assert_int_equal(follower_read_counts(s.live).learned, learned + 5);
    play(&s, 10, 3, 1);
    assert_true(follower_read_counts(s.live).learned > learned + 5);
    assert_all_follow(&s);
    free_model(&quiet);
    end(&s);
}

/* Neither the decisions that it makes nor the rewards that come meanwhile, and later not the rewards of those
 * decisions.
 */
TEST(a_held_bandit_learns_nothing)
{
    static const held_state ways[] = {HELD_FROZEN, HELD_FALLBACK};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        script s;
        size_t action;
        begin(&s, "eenet", "f1.width=6 pending=16", "names=60");
        play(&s, 10, 3, 1);
        uint64_t learned = follower_read_counts(s.live).learned, waits = decide(&s, &action);
        set_held(&s, ways[i]);
        settle(&s, waits, 1, SETTLED_REWARDED);
        step(&s, 1);
        saved_model quiet = save(&s, s.live, 0);
        settle(&s, decide(&s, &action), 1, SETTLED_REWARDED);
        uint64_t late = decide(&s, &action);
        step(&s, 1);
        assert_int_equal(s.models[s.step_count - 1].size, quiet.size);
        assert_memory_equal(s.models[s.step_count - 1].bytes, quiet.bytes, quiet.size);
        set_held(&s, HELD_NOT);
        settle(&s, late, 1, SETTLED_REWARDED);
        step(&s, 1);
        assert_int_equal(follower_read_counts(s.live).learned, learned);
        play(&s, 10, 3, 1);
        assert_true(follower_read_counts(s.live).learned > learned);
        assert_all_follow(&s);
        free_model(&quiet);
        end(&s);
    }
}

/* What nobody saw is forgotten; in apprentice mode a deferred decision is learned once it is known that it was shown.
 */
TEST(what_was_not_shown_is_not_learned)
{
    script s;
    size_t action;
    uint64_t shown, hidden;
    begin(&s, "eenet", "f1.width=6 pending=16", "names=60");
    play(&s, 10, 3, 1);
    uint64_t learned = follower_read_counts(s.live).learned;
    s.deferred = true;
    hidden = decide(&s, &action);
    shown = decide(&s, &action);
    settle(&s, hidden, 0, SETTLED_INACTIVE);
    step(&s, 1);
    assert_int_equal(follower_read_counts(s.live).learned, learned);
    settle(&s, shown, 1, SETTLED_REWARDED);
    step(&s, 1);
    assert_int_equal(follower_read_counts(s.live).learned, learned + 1);
    set_mode(&s, MODE_APPRENTICE);
    step(&s, 1);
    hidden = decide(&s, &action);
    shown = decide(&s, &action);
    step(&s, 1);
    assert_int_equal(follower_read_counts(s.live).learned, learned + 1);
    settle(&s, hidden, 0, SETTLED_INACTIVE);
    settle(&s, shown, 0, SETTLED_NOTHING); /* its reward is nobody's matter */
    step(&s, 1);
    assert_int_equal(follower_read_counts(s.live).learned, learned + 2);
    assert_int_equal(follower_read_counts(s.live).skipped, 0);
    set_mode(&s, MODE_ONLINE); /* as it began, for those who follow */
    step(&s, 1);
    assert_all_follow(&s);
    end(&s);
}

/* Of some the answer is the model's own choice, which an online model could learn. */
TEST(what_was_logged_is_not_learned_later)
{
    script s;
    enum { LOGGED = 20 };
    uint64_t logged[LOGGED];
    size_t action;
    begin(&s, "linucb", "", NULL);
    set_mode(&s, MODE_LOGGING);
    step(&s, 1);
    for (int i = 0; i < LOGGED; i++) logged[i] = decide(&s, &action);
    set_mode(&s, MODE_ONLINE);
    step(&s, 1); /* whoever begins here knows it too */
    for (int i = 0; i < LOGGED; i++) settle(&s, logged[i], 1, SETTLED_REWARDED);
    step(&s, 1);
    assert_int_equal(follower_read_counts(s.live).learned, 0);
    assert_int_equal(follower_read_counts(s.live).skipped, LOGGED);
    assert_all_follow(&s);
    end(&s);
}

/* With stride k a network is trained for one reward in k, and all rewards are there. */
TEST(a_stride_trains_less)
{
    script s;
    size_t action;
    begin(&s, "eenet", "f1.width=6", NULL);
    step(&s, 4);
    const float *values = follower_bandit(s.live)->policy->parameters.values;
    for (int i = 0; i < 9; i++) {
        float before = values[0];
        settle(&s, decide(&s, &action), i % 2, SETTLED_REWARDED);
        step(&s, 4);
        if (i % 4 != 0) assert_true(values[0] == before);
        if (i % 4 == 0 && i) assert_true(values[0] != before);
    }
    assert_int_equal(ee_bandit_info(follower_bandit(s.live)).rewards, 9);
    assert_all_follow(&s);
    end(&s);
}

static bool now(void *context)
{
    (void)context;
    return true;
}

TEST(what_is_wrong_is_said)
{
    script s;
    follower *other;
    begin(&s, "linucb", "pending=16", NULL);
    play(&s, 40, 5, 1);
    step_body beyond = {s.number + 100, 1};
    raw_commit(&s.written);
    SCRIPT_OK(&s, follower_create(&s.settings, &other, &s.error));
    assert_int_equal(follower_step(other, s.log, BANDIT, &beyond, NULL, NULL, &s.error), EE_BAD_INPUT);
    assert_message_has(s.error.message, "the log ends with event");
    follower_free(other);
    step_body all = {s.number, 1};
    SCRIPT_OK(&s, follower_create(&s.settings, &other, &s.error));
    assert_int_equal(follower_step(other, s.log, BANDIT, &all, now, NULL, &s.error), EE_BAD_INPUT);
    follower_free(other);
    saved_model *at = &s.models[0];
    ((uint8_t *)at->bytes)[at->size / 2] ^= 1;
    assert_int_equal(follower_load(&at->about, &s.settings, at->bytes, at->size, &other, &s.error), EE_BAD_MODEL);
    ((uint8_t *)at->bytes)[at->size / 2] ^= 1;
    for (size_t size = 0; size < at->about.state_size; size++) {
        checkpoint_body cut = at->about;
        cut.state_size = size;
        assert_int_equal(follower_load(&cut, &s.settings, at->bytes, at->size, &other, &s.error), EE_BAD_MODEL);
    }
    s.written = raw_begin(s.folder.path);
    end(&s);
}
