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
    *state = play_start();
    return 0;
}

/* What it has logged is what it did. */
static int tear_down(void **state)
{
    served_play *play = *state;
    replay_result result;
    play_close(play, false);
    replay_request request = {.folder = play->folder.path, .until = INT64_MAX};
    PLAY_OK(play, replay_run(&request, &result, &play->error));
    if (result.first[0]) fail_msg("%s", result.first);
    play_end(play);
    return 0;
}

static served_bandit *find(served_play *play, const char *name)
{
    served_bandit *found = served_bandits_find(play->bandits, words(name));
    assert_non_null(found);
    return found;
}

static void restart(served_play *play, bool hurry)
{
    play_close(play, hurry);
    play_open(play);
}

typedef struct saved_bytes {
    void *bytes;
    size_t size;
    uint64_t version;
} saved_bytes;

static saved_bytes save(served_play *play, served_bandit *bandit)
{
    saved_bytes out;
    PLAY_OK(play, served_bandit_save(bandit, &out.bytes, &out.size, &out.version, &play->error));
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
    served_play *play = *state;
    play_open(play);
    served_bandit *shop = play_create(play, "shop", LINEAR), *news = play_create(play, "news", NAMED);
    assert_ptr_equal(served_bandits_at(play->bandits, 0), shop);
    assert_ptr_equal(served_bandits_at(play->bandits, 1), news);
    assert_null(served_bandits_at(play->bandits, 2));
    assert_null(served_bandits_find(play->bandits, words("shoe")));
    assert_string_equal(served_bandit_name(news), "news");
    play_rounds(play, shop, 1, 60, 3);
    play_catch_up(play, shop);
    assert_true(play_rounds(play, shop, 61, 80, 1) > 16);
    play_rounds(play, news, 1, 20, 3);
    served_standing standing = play_catch_up(play, shop);
    assert_true(standing.awake);
    assert_int_equal(standing.counts.decisions, 80);
    assert_int_equal(standing.counts.learned, 72);
    assert_int_equal(standing.counts.skipped, 0);
    assert_true(standing.version > 0 && standing.memory > 0 && standing.train_seconds > 0);
}

TEST_WITH(many_bandits_are_found, set_up, tear_down)
{
    served_play *play = *state;
    char name[16];
    play_open(play);
    bandit_settings settings = bandit_settings_usual();
    settings.dim = PLAY_DIM;
    for (uint32_t i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "b%u", i);
        PLAY_OK(play, served_bandits_set(play->bandits, i + 1, words(name), &settings, false, &play->error));
    }
    for (uint32_t i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "b%u", i);
        assert_int_equal(served_bandit_number(find(play, name)), i + 1);
        assert_string_equal(served_bandit_name(served_bandits_at(play->bandits, i)), name);
    }
}

TEST_WITH(sleeps_and_wakes_as_it_was, set_up, tear_down)
{
    served_play *play = *state;
    play->options.sleep_seconds = 0.05;
    play_open(play);
    served_bandit *news = play_create(play, "news", NAMED);
    play_rounds(play, news, 1, 20, 3);
    play_catch_up(play, news);
    saved_bytes before = save(play, news);
    until_asleep(news);
    served_standing asleep = served_bandit_standing(news);
    assert_true(asleep.checkpoints > 0 && asleep.sleeps > 0);
    assert_int_equal(asleep.memory, 0);
    assert_same(before, save(play, news));
    assert_true(served_bandit_standing(news).wakes > asleep.wakes);
    play_rounds(play, news, 21, 25, 1);
}

TEST_WITH(is_the_same_after_a_restart, set_up, tear_down)
{
    served_play *play = *state;
    play_open(play);
    served_bandit *news = play_create(play, "news", NAMED);
    play_rounds(play, news, 1, 15, 3);
    play_catch_up(play, news);
    saved_bytes before = save(play, news);
    restart(play, true); /* no checkpoint: the log has all */
    news = find(play, "news");
    assert_int_equal(served_bandit_standing(news).version, before.version);
    assert_false(served_bandit_standing(news).awake); /* nothing to do */
    assert_same(before, save(play, news));
    play_rounds(play, news, 16, 25, 3);
    play_catch_up(play, news);
    before = save(play, news);
    restart(play, false);
    news = find(play, "news");
    assert_same(before, save(play, news));
    assert_int_equal(served_bandit_standing(news).counts.decisions, 25);
}

static size_t count_models(served_play *play)
{
    size_t count = 0;
    DIR *folder = opendir(folder_path(&play->folder, "models/1"));
    for (struct dirent *entry; folder && (entry = readdir(folder));) count += entry->d_name[0] != '.';
    if (folder) closedir(folder);
    return count;
}

/* A checkpoint whose file is damaged is passed over for the one before. */
TEST_WITH(keeps_the_last_checkpoints, set_up, tear_down)
{
    served_play *play = *state;
    play->options.checkpoint_events = 10;
    play->options.checkpoints = 2;
    play_open(play);
    served_bandit *shop = play_create(play, "shop", LINEAR);
    /* One that is behind takes what has gathered in one step, with one checkpoint. */
    for (uint64_t t = 1; t <= 30; t += 6) {
        play_rounds(play, shop, t, t + 5, 1);
        play_catch_up(play, shop);
    }
    saved_bytes before = save(play, shop);
    assert_true(served_bandit_standing(shop).checkpoints > 3);
    play_close(play, false);
    assert_int_equal(count_models(play), 2);
    char name[64];
    store_reader *log;
    uint64_t checkpoint, version;
    follower *loaded;
    bandit_settings settings = bandit_settings_usual();
    PLAY_OK(play, store_open_reader(play->folder.path, &log, &play->error));
    PLAY_OK(play, store_last(log, 1, EVENT_CHECKPOINT, UINT64_MAX, &checkpoint, &play->error));
    PLAY_OK(play, restore_at(log, 1, &settings, checkpoint, &loaded, &version, &play->error));
    follower_free(loaded);
    uint8_t *good;
    size_t size;
    PLAY_OK(play, blob_get(store_reader_blobs(log), blob_model(1, version), &good, &size, &play->error));
    snprintf(name, sizeof name, "models/1/%llu.model", (unsigned long long)version);
    folder_write(&play->folder, name, "broken", 6);
    uint64_t older;
    PLAY_OK(play, restore_at(log, 1, &settings, checkpoint, &loaded, &older, &play->error));
    follower_free(loaded);
    assert_true(older > 0 && older < version);
    store_reader_free(log);
    play_open(play);
    shop = find(play, "shop");
    assert_same(before, save(play, shop));
    folder_write(&play->folder, name, good, size);
    memory_free(good);
}

/* Saved again, the version takes the place of the one that was damaged. */
TEST_WITH(a_damaged_checkpoint_is_saved_again, set_up, tear_down)
{
    served_play *play = *state;
    play->options.checkpoints = 1;
    play_open(play);
    served_bandit *shop = play_create(play, "shop", LINEAR);
    play_rounds(play, shop, 1, 10, 1);
    uint64_t version = play_catch_up(play, shop).version;
    restart(play, false);
    assert_int_equal(count_models(play), 1);
    char name[64];
    snprintf(name, sizeof name, "models/1/%llu.model", (unsigned long long)version);
    folder_write(&play->folder, name, "broken", 6);
    ok(play_wake(find(play, "shop")));
    restart(play, false);
    assert_int_equal(count_models(play), 1);
    store_reader *log;
    follower *loaded;
    uint64_t saved;
    bandit_settings settings = bandit_settings_usual();
    PLAY_OK(play, store_reader_create(play->kept, &log, &play->error));
    PLAY_OK(play, restore_at(log, 1, &settings, UINT64_MAX, &loaded, &saved, &play->error));
    assert_int_equal(saved, version);
    follower_free(loaded);
    store_reader_free(log);
}

/* Else it would wake without what it has to learn from the events between. */
TEST_WITH(a_log_that_does_not_go_on_is_no_model, set_up, NULL)
{
    served_play *play = *state;
    play_open(play);
    served_bandit *shop = play_create(play, "shop", LINEAR);
    play_rounds(play, shop, 1, 2, 0);
    play_catch_up(play, shop);
    play_close(play, false);
    bool more;
    PLAY_OK(play, store_open(play->folder.path, &play->kept, &play->error));
    PLAY_OK(play, store_remove(play->kept, 1, INT64_MAX, INT64_MAX, 1000, &more, &play->error));
    store_close(play->kept);
    play_open(play);
    served_bandit *lost = find(play, "shop");
    assert_int_equal(play_wake(lost), EE_BAD_MODEL);
    play_model(play, lost, NULL, 0); /* a reset needs nothing of what was before it */
    AWAIT(!play_wake(lost));
    play_rounds(play, lost, 3, 9, 0);
    assert_int_equal(play_catch_up(play, lost).counts.decisions, 7);
    saved_bytes before = save(play, lost);
    restart(play, true);
    AWAIT(!play_wake(find(play, "shop")));
    play_catch_up(play, find(play, "shop"));
    saved_bytes after = save(play, find(play, "shop"));
    assert_same(before, after);
    play_close(play, true);
    play_end(play);
}

/* A bandit whose model was uploaded, as PLAY_UPLOAD. */
static served_bandit *open_with_upload(served_play *play)
{
    play_open(play);
    served_bandit *shop = play_create(play, "shop", LINEAR);
    play_rounds(play, shop, 1, 3, 0);
    play_catch_up(play, shop);
    saved_bytes model = save(play, shop);
    play_model(play, shop, model.bytes, model.size);
    ee_bytes_free(model.bytes);
    play_catch_up(play, shop);
    return shop;
}

TEST_WITH(one_that_does_not_wake_is_tried_now_and_then, set_up, tear_down)
{
    served_play *play = *state;
    open_with_upload(play);
    play_close(play, true);
    uint8_t *bytes;
    size_t size;
    PLAY_OK(play, store_open(play->folder.path, &play->kept, &play->error));
    PLAY_OK(play, blob_get(store_blobs(play->kept), blob_model(1, PLAY_UPLOAD), &bytes, &size, &play->error));
    PLAY_OK(play, blob_remove(store_blobs(play->kept), blob_model(1, PLAY_UPLOAD), &play->error));
    store_close(play->kept);
    play_open(play);
    served_bandit *shop = find(play, "shop");
    assert_int_equal(play_wake(shop), EE_NO_FILE);
    PLAY_OK(play, blob_put(store_blobs(play->kept), blob_model(1, PLAY_UPLOAD), bytes, size, &play->error));
    memory_free(bytes);
    AWAIT(!play_wake(shop));
    assert_string_equal(served_bandit_standing(shop).trouble, "");
}

/* There is room for two of three: the one that was asked longest ago leaves, saved, and is as it was when it comes
 * back. */
TEST_WITH(the_least_recently_used_leaves, set_up, tear_down)
{
    served_play *play = *state;
    const char *const names[] = {"a", "b", "c"};
    served_bandit *bandits[3];
    play_open(play);
    for (size_t i = 0; i < 3; i++) {
        bandits[i] = play_create(play, names[i], LINEAR);
        play_rounds(play, bandits[i], 1, 5, 0);
        play_catch_up(play, bandits[i]);
    }
    uint64_t one = served_bandit_standing(bandits[0]).memory;
    assert_true(served_bandits_memory(play->bandits) >= 3 * one && one > 0);
    play_close(play, false);
    play->options.memory = 2 * one + one / 2;
    play_open(play);
    for (size_t i = 0; i < 3; i++) bandits[i] = find(play, names[i]);
    play_rounds(play, bandits[1], 6, 7, 0);
    play_catch_up(play, bandits[1]); /* one that is behind is not idle */
    play_decide(play, bandits[0], 8, &play->error);
    play_catch_up(play, bandits[0]);
    play_decide(play, bandits[2], 8, &play->error);
    until_asleep(bandits[1]);
    served_standing left = served_bandit_standing(bandits[1]);
    assert_int_equal(left.memory, 0);
    assert_int_equal(left.checkpoints, 1);
    assert_true(served_bandit_standing(bandits[0]).awake && served_bandit_standing(bandits[2]).awake);
    assert_true(served_bandits_memory(play->bandits) <= play->options.memory);
    play_catch_up(play, bandits[2]);
    play_decide(play, bandits[1], 8, &play->error);
    until_asleep(bandits[0]);
    assert_int_equal(play_catch_up(play, bandits[1]).counts.decisions, 8);
}

TEST_WITH(an_archived_one_sleeps, set_up, tear_down)
{
    served_play *play = *state;
    void *bytes;
    size_t size;
    uint64_t version;
    play_open(play);
    served_bandit *shop = play_create(play, "shop", LINEAR);
    play_rounds(play, shop, 1, 5, 1);
    play_change(play, shop, "{}", true);
    until_asleep(shop);
    assert_true(served_bandit_is_archived(shop));
    assert_int_equal(play_wake(shop), EE_BAD_INPUT);
    assert_int_equal(served_bandit_save(shop, &bytes, &size, &version, &play->error), EE_BAD_INPUT);
    assert_message_has(play->error.message, "shop is archived");
    play_change(play, shop, "{}", false);
    ok(play_wake(shop));
    play_rounds(play, shop, 6, 10, 1);
    play_catch_up(play, shop);
}

/* Whoever comes after it was restored is not told that it is archived, though the trainer is still busy with that. */
TEST_WITH(a_restored_one_refuses_nobody, set_up, tear_down)
{
    served_play *play = *state;
    play_open(play);
    served_bandit *shop = play_create(play, "shop", LINEAR);
    for (uint64_t t = 1; t <= test_long(40, 200); t++) {
        play_rounds(play, shop, t, t, 0); /* so that there is something to save */
        play_change(play, shop, "{}", true);
        play_change(play, shop, "{}", false);
        ok(play_wake(shop));
    }
}

static ee_status find_most(void *context, const event *from, ee_error *error)
{
    uint64_t *most = context;
    step_body step;
    ee_status status = step_body_read(from->body, from->size, &step, error);
    if (step.stride > *most) *most = step.stride;
    return status;
}

/* Some eighty events behind, in steps of twenty: strides double while it is more than forty, and halve below ten. */
TEST_WITH(strides_grow_where_it_is_behind, set_up, tear_down)
{
    served_play *play = *state;
    play->options.publish_interval = 1000;
    play_open(play);
    served_bandit *shop = play_create(play, "shop", LINEAR);
    play_decide(play, shop, 1, &play->error);
    /* The first step takes it, after the bandit's settings; the next is a thousand seconds later. */
    AWAIT(served_bandit_standing(shop).taken >= 2);
    play_rounds(play, shop, 2, 31, 0);
    play_close(play, true);
    play->options.publish_interval = 0.001;
    play->options.step_events = 20;
    play->options.most_behind = 40;
    play_open(play);
    shop = find(play, "shop");
    play_catch_up(play, shop);
    store_reader *log;
    event_batch steps = {0};
    uint64_t most = 0;
    PLAY_OK(play, store_reader_create(play->kept, &log, &play->error));
    PLAY_OK(play, store_read(log, 1, 0, 1U << EVENT_STEP, 64, &steps, &play->error));
    for (size_t i = 0; i < steps.count; i++) PLAY_OK(play, find_most(&most, &steps.events[i], &play->error));
    event_batch_free(&steps);
    store_reader_free(log);
    assert_int_equal(most, 8);
    for (uint64_t t = 32; t < 37; t++) {
        play_decide(play, shop, t, &play->error);
        play_catch_up(play, shop);
    }
    assert_int_equal(served_bandit_standing(shop).stride, 1);
}

/* The lag is the age of the first event that the published model has not taken. */
TEST_WITH(the_lag_is_the_age_of_the_first_event, set_up, tear_down)
{
    served_play *play = *state;
    play->options.publish_interval = 1000;
    play_open(play);
    served_bandit *shop = play_create(play, "shop", LINEAR);
    assert_true(served_bandit_standing(shop).lag_seconds == 0);
    play_decide(play, shop, 1, &play->error);
    AWAIT(served_bandit_standing(shop).taken >= 2);
    assert_true(served_bandit_standing(shop).lag_seconds == 0);
    play_decide(play, shop, 2, &play->error); /* the next step is a thousand seconds later */
    double lag = served_bandit_standing(shop).lag_seconds;
    play_decide(play, shop, 3, &play->error);
    assert_true(served_bandit_standing(shop).lag_seconds >= lag && lag >= 0);
    play_close(play, true);
    play_pass(play, 3600);
    play->options.step_events = 1;
    play->options.most_behind = 1;
    play->options.trainers = 1;
    play_open(play); /* by the wall clock, since the journal has not started: the events are of 1970 */
    shop = find(play, "shop");
    assert_true(served_bandit_standing(shop).lag_seconds > 3600 || !served_bandit_standing(shop).behind);
    play_change(play, shop, "{}", true);
    assert_true(served_bandit_standing(shop).lag_seconds == 0); /* an archived bandit does not learn */
}

static void limit_files(bool full)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = full ? 1 : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* The step that could not be written is written when there is room again. */
TEST_WITH(a_full_disk_heals, set_up, tear_down)
{
    served_play *play = *state;
    signal(SIGXFSZ, SIG_IGN);
    play->options.publish_interval = 0.2;
    play_open(play);
    served_bandit *shop = play_create(play, "shop", LINEAR);
    play_rounds(play, shop, 1, 3, 0);
    play_catch_up(play, shop);
    play_rounds(play, shop, 4, 6, 0);
    limit_files(true);
    AWAIT(served_bandit_standing(shop).trouble[0]);
    served_standing troubled = served_bandit_standing(shop);
    assert_true(troubled.awake && troubled.behind > 0);
    void *bytes;
    size_t size;
    uint64_t version;
    assert_int_equal(served_bandit_save(shop, &bytes, &size, &version, &play->error), EE_FILE_ERROR);
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
    served_play *play = *state;
    signal(SIGXFSZ, SIG_IGN);
    play->options.publish_interval = 0.2;
    play_open(play);
    served_bandit *shop = play_create(play, "shop", LINEAR);
    play_rounds(play, shop, 1, 3, 0);
    uint64_t version = play_catch_up(play, shop).version;
    play_rounds(play, shop, 4, 6, 0);
    limit_files(true);
    AWAIT(served_bandit_standing(shop).trouble[0]);
    limit_files(false);
    restart(play, false);
    shop = find(play, "shop");
    ok(play_wake(shop));
    assert_int_equal(play_catch_up(play, shop).counts.decisions, 6);
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

TEST_WITH(requests_that_wait_are_called_in_their_order, set_up, tear_down)
{
    served_play *play = *state;
    order all = {0};
    ordered each[3];
    play_open(play); /* one training thread */
    served_bandit *busy = play_create(play, "busy", LINEAR), *shop = play_create(play, "shop", LINEAR);
    assert_false(served_bandit_is_awake(busy, block, &all));
    AWAIT(atomic_load(&all.started));
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
static bool take_first(served_bandit *bandit)
{
    static const float values[PLAY_ARMS * PLAY_DIM];
    static const double probabilities[PLAY_ARMS] = {0, 1};
    guardrails_room guarding = {0};
    guardrails_question asked = {.id = words("unlogged"), .key = words("u"), .now = 1000000};
    decision_body body = {.count = PLAY_ARMS, .dim = PLAY_DIM, .values = values, .probabilities = probabilities};
    served_room *room = served_bandit_enter_awake(bandit, NULL);
    ok(guardrails_begin(room->guard, &guarding, &asked, &body, NULL));
    bool taken = !body.excluded[1];
    body.action = taken;
    ok(guardrails_end(room->guard, &guarding, &asked, &body, taken, NULL));
    served_bandit_leave(bandit, room);
    guardrails_room_release(&guarding);
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

static void change_guard(served_play *play, served_bandit *bandit, const char *json)
{
    play_change(play, bandit, json, false);
    until_guarded(bandit);
}

/* The state of these caps is not in the log: what is read again is lost. */
TEST_WITH(a_change_of_guardrails_keeps_the_other_limits, set_up, tear_down)
{
    static const char one[] = "{\"name\":\"one\",\"action\":{\"_id\":\"1\"},\"most\":5}";
    char json[512];
    served_play *play = *state;
    play_open(play);
    served_bandit *shop = play_create(play, "shop", LINEAR);
    snprintf(json, sizeof json, "{\"guardrails\":{\"caps\":[%s],\"rollout\":{\"share\":0.5}}}", one);
    change_guard(play, shop, json);
    assert_true(take_first(shop));
    snprintf(json, sizeof json, "{\"guardrails\":{\"caps\":[%s],\"control\":{\"share\":0.1}}}", one);
    change_guard(play, shop, json);
    assert_true(take_first(shop));
    change_guard(play, shop, "{\"held\":\"fallback\"}");
    assert_true(take_first(shop));
    change_guard(play, shop, "{\"held\":\"no\"}");
    snprintf(json, sizeof json,
             "{\"guardrails\":{\"rules\":[{\"name\":\"r\",\"action\":{\"_id\":\"0\"},\"boost\":1}],\"caps\":[{\"name\":"
             "\"other\",\"action\":{\"_id\":\"2\"},\"most\":1},%s]}}",
             one);
    change_guard(play, shop, json);
    assert_int_equal(take_all(shop), 2);
    /* Another cap, which counts what is in the log. */
    change_guard(play, shop, "{\"guardrails\":{\"caps\":[{\"name\":\"one\",\"action\":{\"_id\":\"1\"},\"most\":4}]}}");
    assert_int_equal(take_all(shop), 4);
    play_model(play, shop, NULL, 0); /* nor does another model read it */
    play_decide(play, shop, 1, &play->error);
    play_catch_up(play, shop);
    assert_false(take_first(shop));
}

TEST_WITH(a_change_of_guardrails_waits_for_decisions_in_progress, set_up, tear_down)
{
    served_play *play = *state;
    play_waiting waiting = {0};
    play_open(play);
    served_bandit *shop = play_create(play, "shop", LINEAR);
    served_room *room = served_bandit_enter_awake(shop, NULL);
    assert_null(room->guard);
    play_change(play, shop, "{\"guardrails\":{\"control\":{\"share\":1}}}", false);
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
    static const float values[PLAY_ARMS * PLAY_DIM];
    guardrails_room guarding = {0};
    guardrails_question asked = {.id = words("any"), .key = words("u"), .now = 1000000};
    decision_body body = {.count = PLAY_ARMS, .dim = PLAY_DIM, .values = values};
    ok(guardrails_begin(room->guard, &guarding, &asked, &body, NULL));
    ok(guardrails_end(room->guard, &guarding, &asked, &body, false, NULL));
    guardrails_room_release(&guarding);
    return body.guard.group;
}

/* The room is not left meanwhile, so its guardrails stay. */
TEST_WITH(a_bandit_falls_back_at_once_and_is_released_with_its_rollout, set_up, tear_down)
{
    served_play *play = *state;
    play_open(play);
    served_bandit *shop = play_create(play, "shop", LINEAR);
    change_guard(play, shop, "{\"guardrails\":{\"rollout\":{\"share\":1}}}");
    served_room *room = served_bandit_enter_awake(shop, NULL);
    assert_int_equal(group_in(room), GROUP_TREATED);
    play_change(play, shop, "{\"held\":\"fallback\"}", false);
    assert_int_equal(group_in(room), GROUP_FALLBACK);
    play_change(play, shop, "{\"held\":\"no\"}", false);
    assert_int_equal(group_in(room), GROUP_TREATED);
    play_change(play, shop, "{\"held\":\"fallback\"}", false);
    play_change(play, shop, "{\"held\":\"no\",\"guardrails\":{\"rollout\":{\"share\":0}}}", false);
    assert_int_equal(group_in(room), GROUP_FALLBACK);
    served_bandit_leave(shop, room);
    until_guarded(shop);
    room = served_bandit_enter_awake(shop, NULL);
    assert_int_equal(group_in(room), GROUP_WAITING);
    served_bandit_leave(shop, room);
}

typedef struct attempt {
    served_play *play;
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
    served_bandits_change(self->play->bandits, served_bandit_number(self->bandit), &settings, false);
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
    served_play *play = *state;
    order all = {0};
    play_open(play); /* one training thread */
    served_bandit *busy = play_create(play, "busy", LINEAR), *shop = play_create(play, "shop", LINEAR);
    attempt one = {.play = play, .bandit = shop};
    assert_false(served_bandit_is_awake(busy, block, &all));
    AWAIT(atomic_load(&all.started));
    assert_false(served_bandit_is_awake(shop, change_again, &one));
    assert_false(served_bandit_is_awake(shop, decide_now, &one));
    assert_false(served_bandit_is_awake(shop, change_again, &one));
    assert_false(served_bandit_is_awake(shop, end_attempt, &one));
    atomic_store(&all.goes_on, true);
    AWAIT(atomic_load(&one.ended));
    until_guarded(shop);
    assert_true(one.decided);
}
