/* Bandits while they are served: they learn, sleep, wake, and are what they were after a restart. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include "serve/model/replay.h"
#include "serve/model/restoring.h"
#include "serve/served_play.h"

#define LINEAR "{\"policy\":\"linucb\",\"dim\":5,\"propensity\":\"argmax\"}"
#define NAMED "{\"policy\":\"eenet\",\"features\":\"\",\"options\":\"f1.width=8\"}"

static int set_up(void **state)
{
    (void)state;
    play_start();
    return 0;
}

/* What it has logged is what it did. */
static int tear_down(void **state)
{
    (void)state;
    replay_result result;
    play_close(false);
    replay_request request = {.folder = play.folder.path, .until = INT64_MAX};
    PLAY_OK(replay_run(&request, &result, &play.error));
    if (result.first[0]) fail_msg("%s", result.first);
    play_end();
    return 0;
}

static served_bandit *find(const char *name)
{
    served_bandit *found = served_bandits_find(play.bandits, words(name));
    assert_non_null(found);
    return found;
}

static served_bandit *shop; /* of most tests */

static void open_shop(void)
{
    play_open();
    shop = play_create("shop", LINEAR);
}

static void restart(bool hurry)
{
    play_close(hurry);
    play_open();
}

/* The version of the model that a restart restores up to an event. */
static uint64_t restored_at(store_reader *log, uint64_t upto)
{
    uint64_t version;
    follower *loaded;
    bandit_settings settings = bandit_settings_usual();
    PLAY_OK(restore_at(log, 1, &settings, upto, &loaded, &version, &play.error));
    follower_free(loaded);
    return version;
}

/* The file of a model, valid until the next call. */
static const char *model_file(uint64_t version)
{
    static char name[64];
    snprintf(name, sizeof name, "models/1/%llu.model", (unsigned long long)version);
    return name;
}

typedef struct saved_bytes {
    void *bytes;
    size_t size;
    uint64_t version;
} saved_bytes;

static saved_bytes save(served_bandit *bandit)
{
    saved_bytes out;
    PLAY_OK(served_bandit_save(bandit, &out.bytes, &out.size, &out.version, &play.error));
    return out;
}

/* Both are freed. */
static void assert_same(saved_bytes a, saved_bytes b)
{
    assert_int_equal(a.version, b.version);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.bytes, b.bytes, a.size);
    ee_bytes_free(a.bytes);
    ee_bytes_free(b.bytes);
}

static void until_asleep(served_bandit *bandit)
{
    AWAIT(!served_bandit_standing(bandit).awake && !served_bandit_standing(bandit).memory);
}

TEST_WITH(learns, set_up, tear_down)
{
    open_shop();
    served_bandit *news = play_create("news", NAMED);
    assert_ptr_equal(served_bandits_at(play.bandits, 0), shop);
    assert_ptr_equal(served_bandits_at(play.bandits, 1), news);
    assert_null(served_bandits_at(play.bandits, 2));
    assert_null(served_bandits_find(play.bandits, words("shoe")));
    assert_string_equal(served_bandit_name(news), "news");
    play_learn(shop, 1, 60, 3);
    assert_true(play_rounds(shop, 61, 80, 1) > 16);
    play_rounds(news, 1, 20, 3);
    served_standing standing = play_catch_up(shop);
    assert_true(standing.awake);
    assert_int_equal(standing.counts.decisions, 80);
    assert_int_equal(standing.counts.learned, 72);
    assert_int_equal(standing.counts.skipped, 0);
    assert_true(standing.version > 0 && standing.memory > 0 && standing.train_seconds > 0);
}

TEST_WITH(many_bandits_are_found, set_up, tear_down)
{
    char name[16];
    play_open();
    bandit_settings settings = bandit_settings_usual();
    settings.dim = PLAY_DIM;
    for (uint32_t i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "b%u", i);
        PLAY_OK(served_bandits_set(play.bandits, i + 1, words(name), &settings, false, &play.error));
    }
    for (uint32_t i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "b%u", i);
        assert_int_equal(served_bandit_number(find(name)), i + 1);
        assert_string_equal(served_bandit_name(served_bandits_at(play.bandits, i)), name);
    }
}

TEST_WITH(sleeps_and_wakes_as_it_was, set_up, tear_down)
{
    play.options.sleep_seconds = 0.05;
    play_open();
    served_bandit *news = play_create("news", NAMED);
    play_learn(news, 1, 20, 3);
    saved_bytes before = save(news);
    until_asleep(news);
    served_standing asleep = served_bandit_standing(news);
    assert_true(asleep.checkpoints > 0 && asleep.sleeps > 0);
    assert_int_equal(asleep.memory, 0);
    assert_same(before, save(news));
    assert_true(served_bandit_standing(news).wakes > asleep.wakes);
    play_rounds(news, 21, 25, 1);
}

TEST_WITH(is_the_same_after_a_restart, set_up, tear_down)
{
    play_open();
    served_bandit *news = play_create("news", NAMED);
    play_learn(news, 1, 15, 3);
    saved_bytes before = save(news);
    restart(true); /* no checkpoint: the log has all */
    news = find("news");
    assert_int_equal(served_bandit_standing(news).version, before.version);
    assert_false(served_bandit_standing(news).awake); /* nothing to do */
    assert_same(before, save(news));
    play_learn(news, 16, 25, 3);
    before = save(news);
    restart(false);
    news = find("news");
    assert_same(before, save(news));
    assert_int_equal(served_bandit_standing(news).counts.decisions, 25);
}

static size_t count_models(void)
{
    size_t count = 0;
    DIR *folder = opendir(folder_path(&play.folder, "models/1"));
    for (struct dirent *entry; folder && (entry = readdir(folder));) count += entry->d_name[0] != '.';
    if (folder) closedir(folder);
    return count;
}

/* A checkpoint whose file is damaged is passed over for the one before. */
TEST_WITH(keeps_the_last_checkpoints, set_up, tear_down)
{
    play.options.checkpoint_events = 10;
    play.options.checkpoints = 2;
    open_shop();
    /* One that is behind takes what has gathered in one step, with one checkpoint. */
    for (uint64_t t = 1; t <= 30; t += 6) play_learn(shop, t, t + 5, 1);
    saved_bytes before = save(shop);
    assert_true(served_bandit_standing(shop).checkpoints > 3);
    play_close(false);
    assert_int_equal(count_models(), 2);
    store_reader *log;
    uint64_t checkpoint;
    uint8_t *good;
    size_t size;
    PLAY_OK(store_open_reader(play.folder.path, &log, &play.error));
    PLAY_OK(store_last(log, 1, EVENT_CHECKPOINT, UINT64_MAX, &checkpoint, &play.error));
    uint64_t version = restored_at(log, checkpoint);
    PLAY_OK(blob_get(store_reader_blobs(log), blob_model(1, version), &good, &size, &play.error));
    folder_write(&play.folder, model_file(version), "broken", 6);
    uint64_t older = restored_at(log, checkpoint);
    assert_true(older > 0 && older < version);
    store_reader_free(log);
    play_open();
    assert_same(before, save(find("shop")));
    folder_write(&play.folder, model_file(version), good, size);
    memory_free(good);
}

/* Saved again, the version takes the place of the one that was damaged. */
TEST_WITH(a_damaged_checkpoint_is_saved_again, set_up, tear_down)
{
    play.options.checkpoints = 1;
    open_shop();
    play_rounds(shop, 1, 10, 1);
    uint64_t version = play_catch_up(shop).version;
    restart(false);
    assert_int_equal(count_models(), 1);
    folder_write(&play.folder, model_file(version), "broken", 6);
    ok(play_wake(find("shop")));
    restart(false);
    assert_int_equal(count_models(), 1);
    store_reader *log;
    PLAY_OK(store_reader_create(play.kept, &log, &play.error));
    assert_int_equal(restored_at(log, UINT64_MAX), version);
    store_reader_free(log);
}

/* Else it would wake without what it has to learn from the events between. */
TEST_WITH(a_log_that_does_not_go_on_is_no_model, set_up, NULL)
{
    open_shop();
    play_learn(shop, 1, 2, 0);
    play_close(false);
    bool more;
    PLAY_OK(store_open(play.folder.path, &play.kept, &play.error));
    PLAY_OK(store_remove(play.kept, 1, INT64_MAX, INT64_MAX, 1000, &more, &play.error));
    store_close(play.kept);
    play_open();
    served_bandit *lost = find("shop");
    assert_int_equal(play_wake(lost), EE_BAD_MODEL);
    play_model(lost, NULL, 0); /* a reset needs nothing of what was before it */
    AWAIT(!play_wake(lost));
    play_rounds(lost, 3, 9, 0);
    assert_int_equal(play_catch_up(lost).counts.decisions, 7);
    saved_bytes before = save(lost);
    restart(true);
    AWAIT(!play_wake(find("shop")));
    play_catch_up(find("shop"));
    assert_same(before, save(find("shop")));
    play_close(true);
    play_end();
}

/* A bandit whose model was uploaded, as PLAY_UPLOAD. */
static void open_with_upload(void)
{
    open_shop();
    play_learn(shop, 1, 3, 0);
    saved_bytes model = save(shop);
    play_model(shop, model.bytes, model.size);
    ee_bytes_free(model.bytes);
    play_catch_up(shop);
}

TEST_WITH(one_that_does_not_wake_is_tried_now_and_then, set_up, tear_down)
{
    open_with_upload();
    play_close(true);
    uint8_t *bytes;
    size_t size;
    PLAY_OK(store_open(play.folder.path, &play.kept, &play.error));
    PLAY_OK(blob_get(store_blobs(play.kept), blob_model(1, PLAY_UPLOAD), &bytes, &size, &play.error));
    PLAY_OK(blob_remove(store_blobs(play.kept), blob_model(1, PLAY_UPLOAD), &play.error));
    store_close(play.kept);
    play_open();
    shop = find("shop");
    assert_int_equal(play_wake(shop), EE_NO_FILE);
    PLAY_OK(blob_put(store_blobs(play.kept), blob_model(1, PLAY_UPLOAD), bytes, size, &play.error));
    memory_free(bytes);
    AWAIT(!play_wake(shop));
    assert_string_equal(served_bandit_standing(shop).trouble, "");
}

/* There is room for two of three: the one that was asked longest ago leaves, saved, and is as it was when it comes
 * back. */
TEST_WITH(the_least_recently_used_leaves, set_up, tear_down)
{
    const char *const names[] = {"a", "b", "c"};
    served_bandit *bandits[3];
    play_open();
    for (size_t i = 0; i < 3; i++) {
        bandits[i] = play_create(names[i], LINEAR);
        play_learn(bandits[i], 1, 5, 0);
    }
    uint64_t one = served_bandit_standing(bandits[0]).memory;
    assert_true(served_bandits_memory(play.bandits) >= 3 * one && one > 0);
    play_close(false);
    play.options.memory = 2 * one + one / 2;
    play_open();
    for (size_t i = 0; i < 3; i++) bandits[i] = find(names[i]);
    play_learn(bandits[1], 6, 7, 0); /* one that is behind is not idle */
    play_decide(bandits[0], 8, &play.error);
    play_catch_up(bandits[0]);
    play_decide(bandits[2], 8, &play.error);
    until_asleep(bandits[1]);
    served_standing left = served_bandit_standing(bandits[1]);
    assert_int_equal(left.memory, 0);
    assert_int_equal(left.checkpoints, 1);
    assert_true(served_bandit_standing(bandits[0]).awake && served_bandit_standing(bandits[2]).awake);
    assert_true(served_bandits_memory(play.bandits) <= play.options.memory);
    play_catch_up(bandits[2]);
    play_decide(bandits[1], 8, &play.error);
    until_asleep(bandits[0]);
    assert_int_equal(play_catch_up(bandits[1]).counts.decisions, 8);
}

TEST_WITH(an_archived_one_sleeps, set_up, tear_down)
{
    void *bytes;
    size_t size;
    uint64_t version;
    open_shop();
    play_rounds(shop, 1, 5, 1);
    play_change(shop, "{}", true);
    until_asleep(shop);
    assert_true(served_bandit_is_archived(shop));
    assert_int_equal(play_wake(shop), EE_BAD_INPUT);
    assert_int_equal(served_bandit_save(shop, &bytes, &size, &version, &play.error), EE_BAD_INPUT);
    assert_message_has(play.error.message, "shop is archived");
    play_change(shop, "{}", false);
    ok(play_wake(shop));
    play_learn(shop, 6, 10, 1);
}

/* Whoever comes after it was restored is not told that it is archived, though the trainer is still busy with that. */
TEST_WITH(a_restored_one_refuses_nobody, set_up, tear_down)
{
    open_shop();
    for (uint64_t t = 1; t <= test_long(40, 200); t++) {
        play_rounds(shop, t, t, 0); /* so that there is something to save */
        play_change(shop, "{}", true);
        play_change(shop, "{}", false);
        ok(play_wake(shop));
    }
}

/* Some eighty events behind, in steps of twenty: strides double while it is more than forty, and halve below ten. */
TEST_WITH(strides_grow_where_it_is_behind, set_up, tear_down)
{
    play.options.publish_interval = 1000;
    open_shop();
    play_decide(shop, 1, &play.error);
    /* The first step takes it, after the bandit's settings; the next is a thousand seconds later. */
    AWAIT(served_bandit_standing(shop).taken >= 2);
    play_rounds(shop, 2, 31, 0);
    play_close(true);
    play.options.publish_interval = 0.001;
    play.options.step_events = 20;
    play.options.most_behind = 40;
    play_open();
    shop = find("shop");
    play_catch_up(shop);
    store_reader *log;
    event_batch steps = {0};
    uint64_t most = 0;
    PLAY_OK(store_reader_create(play.kept, &log, &play.error));
    PLAY_OK(store_read(log, 1, 0, 1U << EVENT_STEP, 64, &steps, &play.error));
    for (size_t i = 0; i < steps.count; i++) {
        step_body step;
        PLAY_OK(step_body_read(steps.events[i].body, steps.events[i].size, &step, &play.error));
        if (step.stride > most) most = step.stride;
    }
    event_batch_free(&steps);
    store_reader_free(log);
    assert_int_equal(most, 8);
    for (uint64_t t = 32; t < 37; t++) {
        play_decide(shop, t, &play.error);
        play_catch_up(shop);
    }
    assert_int_equal(served_bandit_standing(shop).stride, 1);
}

/* The lag is the age of the first event that the published model has not taken. */
TEST_WITH(the_lag_is_the_age_of_the_first_event, set_up, tear_down)
{
    play.options.publish_interval = 1000;
    open_shop();
    assert_true(served_bandit_standing(shop).lag_seconds == 0);
    play_decide(shop, 1, &play.error);
    AWAIT(served_bandit_standing(shop).taken >= 2);
    assert_true(served_bandit_standing(shop).lag_seconds == 0);
    play_decide(shop, 2, &play.error); /* the next step is a thousand seconds later */
    double lag = served_bandit_standing(shop).lag_seconds;
    play_decide(shop, 3, &play.error);
    assert_true(served_bandit_standing(shop).lag_seconds >= lag && lag >= 0);
    play_close(true);
    play_pass(3600);
    play.options.step_events = 1;
    play.options.most_behind = 1;
    play.options.trainers = 1;
    play_open(); /* by the wall clock, since the journal has not started: the events are of 1970 */
    shop = find("shop");
    assert_true(served_bandit_standing(shop).lag_seconds > 3600 || !served_bandit_standing(shop).behind);
    play_change(shop, "{}", true);
    assert_true(served_bandit_standing(shop).lag_seconds == 0); /* an archived bandit does not learn */
}

static void limit_files(bool full)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = full ? 1 : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* A step cannot be written. */
static served_standing fill_disk(void)
{
    signal(SIGXFSZ, SIG_IGN);
    play.options.publish_interval = 0.2;
    open_shop();
    play_learn(shop, 1, 3, 0);
    play_rounds(shop, 4, 6, 0);
    limit_files(true);
    AWAIT(served_bandit_standing(shop).trouble[0]);
    return served_bandit_standing(shop);
}

/* The step that could not be written is written when there is room again. */
TEST_WITH(a_full_disk_heals, set_up, tear_down)
{
    served_standing troubled = fill_disk();
    assert_true(troubled.awake && troubled.behind > 0);
    void *bytes;
    size_t size;
    uint64_t version;
    assert_int_equal(served_bandit_save(shop, &bytes, &size, &version, &play.error), EE_FILE_ERROR);
    limit_files(false);
    AWAIT(!served_bandit_standing(shop).behind);
    served_standing healed = served_bandit_standing(shop);
    assert_string_equal(healed.trouble, "");
    assert_true(healed.version > troubled.version);
    assert_int_equal(healed.counts.decisions, 6);
}

/* A model that has more in it than its version says must not become a checkpoint of it. */
TEST_WITH(a_step_that_was_not_written_is_not_saved, set_up, tear_down)
{
    uint64_t version = fill_disk().version;
    limit_files(false);
    restart(false);
    shop = find("shop");
    ok(play_wake(shop));
    assert_int_equal(play_catch_up(shop).counts.decisions, 6);
    assert_true(served_bandit_standing(shop).version > version);
}

/* ---- waiting ---- */

typedef struct order {
    atomic_int count;
    atomic_bool started, goes_on;
    int numbers[3];
} order;

typedef struct ordered {
    order *in;
    int number;
} ordered;

static void block(void *context, const ee_error *error)
{
    order *self = context;
    (void)error;
    atomic_store(&self->started, true);
    AWAIT(atomic_load(&self->goes_on));
}

static void note(void *context, const ee_error *error)
{
    const ordered *self = context;
    (void)error;
    self->in->numbers[atomic_load(&self->in->count)] = self->number;
    atomic_fetch_add(&self->in->count, 1);
}

/* The only training thread is busy. */
static void block_trainer(order *all)
{
    open_shop();
    assert_false(served_bandit_is_awake(play_create("busy", LINEAR), block, all));
    AWAIT(atomic_load(&all->started));
}

TEST_WITH(requests_that_wait_are_called_in_their_order, set_up, tear_down)
{
    order all = {0};
    ordered each[3];
    block_trainer(&all);
    for (int i = 0; i < 3; i++) {
        each[i] = (ordered){&all, i};
        assert_false(served_bandit_is_awake(shop, note, &each[i]));
    }
    atomic_store(&all.goes_on, true);
    AWAIT(atomic_load(&all.count) == 3);
    for (int i = 0; i < 3; i++) assert_int_equal(all.numbers[i], i);
}

/* ---- guardrails ---- */

/* Decides for action 1 if the guardrails let it. The log does not get it. */
static bool take_in(served_room *room, decision_group *group)
{
    static const float values[PLAY_ARMS * PLAY_DIM];
    static const double probabilities[PLAY_ARMS] = {0, 1};
    guardrails_room guarding = {0};
    guardrails_question asked = {.id = words("unlogged"), .key = words("u"), .now = 1000000};
    decision_body body = {.count = PLAY_ARMS, .dim = PLAY_DIM, .values = values, .probabilities = probabilities};
    ok(guardrails_begin(room->guard, &guarding, &asked, &body, NULL));
    bool taken = !body.excluded || !body.excluded[1];
    body.action = taken;
    ok(guardrails_end(room->guard, &guarding, &asked, &body, taken, NULL));
    if (group) *group = body.guard.group;
    guardrails_room_release(&guarding);
    return taken;
}

static bool take_first(served_bandit *bandit)
{
    served_room *room = served_bandit_enter_awake(bandit, NULL);
    bool taken = take_in(room, NULL);
    served_bandit_leave(bandit, room);
    return taken;
}

static size_t take_all(served_bandit *bandit)
{
    size_t count = 0;
    while (take_first(bandit)) count++;
    return count;
}

/* Until decisions follow the settings. */
static void until_guarded(served_bandit *bandit)
{
    play_waiting waiting = {0};
    if (served_bandit_is_guarded(bandit, play_ready, &waiting)) return;
    AWAIT(atomic_load(&waiting.done));
}

static void change_guard(served_bandit *bandit, const char *json)
{
    play_change(bandit, json, false);
    until_guarded(bandit);
}

/* The state of these caps is not in the log: what is read again is lost. */
TEST_WITH(a_change_of_guardrails_keeps_the_other_limits, set_up, tear_down)
{
    static const char one[] = "{\"name\":\"one\",\"action\":{\"_id\":\"1\"},\"most\":5}";
    char json[512];
    open_shop();
    snprintf(json, sizeof json, "{\"guardrails\":{\"caps\":[%s],\"rollout\":{\"share\":0.5}}}", one);
    change_guard(shop, json);
    assert_true(take_first(shop));
    snprintf(json, sizeof json, "{\"guardrails\":{\"caps\":[%s],\"control\":{\"share\":0.1}}}", one);
    change_guard(shop, json);
    assert_true(take_first(shop));
    change_guard(shop, "{\"held\":\"fallback\"}");
    assert_true(take_first(shop));
    change_guard(shop, "{\"held\":\"no\"}");
    snprintf(json, sizeof json,
             "{\"guardrails\":{\"rules\":[{\"name\":\"r\",\"action\":{\"_id\":\"0\"},\"boost\":1}],\"caps\":[{\"name\":"
             "\"other\",\"action\":{\"_id\":\"2\"},\"most\":1},%s]}}",
             one);
    change_guard(shop, json);
    assert_int_equal(take_all(shop), 2);
    /* Another cap, which counts what is in the log. */
    change_guard(shop, "{\"guardrails\":{\"caps\":[{\"name\":\"one\",\"action\":{\"_id\":\"1\"},\"most\":4}]}}");
    assert_int_equal(take_all(shop), 4);
    play_model(shop, NULL, 0); /* nor does another model read it */
    play_decide(shop, 1, &play.error);
    play_catch_up(shop);
    assert_false(take_first(shop));
}

TEST_WITH(a_change_of_guardrails_waits_for_decisions_in_progress, set_up, tear_down)
{
    play_waiting waiting = {0};
    open_shop();
    served_room *room = served_bandit_enter_awake(shop, NULL);
    assert_null(room->guard);
    play_change(shop, "{\"guardrails\":{\"control\":{\"share\":1}}}", false);
    assert_false(served_bandit_is_guarded(shop, play_ready, &waiting));
    assert_false(atomic_load(&waiting.done));
    served_bandit_leave(shop, room);
    AWAIT(atomic_load(&waiting.done));
    assert_int_equal(waiting.status, EE_OK);
    room = served_bandit_enter_awake(shop, NULL);
    assert_non_null(room->guard);
    served_bandit_leave(shop, room);
    assert_true(served_bandit_is_guarded(shop, play_ready, &waiting));
}

static decision_group group_in(served_room *room)
{
    decision_group group;
    take_in(room, &group);
    return group;
}

/* The room is not left meanwhile, so its guardrails stay. */
TEST_WITH(a_bandit_falls_back_at_once_and_is_released_with_its_rollout, set_up, tear_down)
{
    open_shop();
    change_guard(shop, "{\"guardrails\":{\"rollout\":{\"share\":1}}}");
    served_room *room = served_bandit_enter_awake(shop, NULL);
    assert_int_equal(group_in(room), GROUP_TREATED);
    play_change(shop, "{\"held\":\"fallback\"}", false);
    assert_int_equal(group_in(room), GROUP_FALLBACK);
    play_change(shop, "{\"held\":\"no\"}", false);
    assert_int_equal(group_in(room), GROUP_TREATED);
    play_change(shop, "{\"held\":\"fallback\"}", false);
    play_change(shop, "{\"held\":\"no\",\"guardrails\":{\"rollout\":{\"share\":0}}}", false);
    assert_int_equal(group_in(room), GROUP_FALLBACK);
    served_bandit_leave(shop, room);
    until_guarded(shop);
    room = served_bandit_enter_awake(shop, NULL);
    assert_int_equal(group_in(room), GROUP_WAITING);
    served_bandit_leave(shop, room);
}

typedef struct attempt {
    served_bandit *bandit;
    bool decided;
    atomic_bool ended;
} attempt;

static void change_again(void *context, const ee_error *error)
{
    const attempt *self = context;
    bandit_settings settings = served_bandit_settings(self->bandit);
    (void)error;
    settings.held = settings.held == HELD_FALLBACK ? HELD_NOT : HELD_FALLBACK;
    served_bandits_change(play.bandits, served_bandit_number(self->bandit), &settings, false);
}

static void decide_now(void *context, const ee_error *error)
{
    attempt *self = context;
    served_room *room = error ? NULL : served_bandit_enter(self->bandit, NULL);
    self->decided = room;
    if (room) served_bandit_leave(self->bandit, room);
}

static void end_attempt(void *context, const ee_error *error)
{
    attempt *self = context;
    (void)error;
    atomic_store(&self->ended, true);
}

/* Those that waited decide before the next change of guardrails, however soon it comes. */
TEST_WITH(changes_of_guardrails_do_not_starve_decisions, set_up, tear_down)
{
    order all = {0};
    block_trainer(&all);
    attempt one = {.bandit = shop};
    assert_false(served_bandit_is_awake(shop, change_again, &one));
    assert_false(served_bandit_is_awake(shop, decide_now, &one));
    assert_false(served_bandit_is_awake(shop, change_again, &one));
    assert_false(served_bandit_is_awake(shop, end_attempt, &one));
    atomic_store(&all.goes_on, true);
    AWAIT(atomic_load(&one.ended));
    until_guarded(shop);
    assert_true(one.decided);
}
