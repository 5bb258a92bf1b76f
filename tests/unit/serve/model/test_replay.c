/* The replay of a log: all is equal, whatever happened, and what somebody changes is found. */
#define _POSIX_C_SOURCE 200809L
#include "serve/model/replay.h"

#include <sqlite3.h>

#include "base/archive.h"
#include "serve/served_play.h"
#include "serve/store/row_checksum.h"

static replay_result replay(const replay_request *wanted)
{
    replay_result result;
    replay_request request = *wanted;
    request.folder = play.folder.path;
    if (!request.until) request.until = INT64_MAX;
    PLAY_OK(replay_run(&request, &result, &play.error));
    return result;
}

static replay_result assert_equal_replay(const replay_request *wanted)
{
    replay_result result = replay(wanted);
    if (result.first[0]) fail_msg("%s", result.first);
    return result;
}

static int set_up(void **state)
{
    play_start();
    play.options.checkpoint_events = 60;
    (void)state;
    play_open();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    play_end();
    return 0;
}

TEST_WITH(a_day_is_made_again, set_up, tear_down)
{
    served_bandit *shop = play_create("shop", "{\"policy\":\"linucb\",\"dim\":5,\"wait\":60}");
    served_bandit *news = play_create("news", "{\"policy\":\"eenet\",\"options\":\"f1.width=8\",\"features\":\"\","
                                              "\"default_reward\":0}");
    play_learn(shop, 1, 40, 3);
    play_learn(news, 1, 40, 5);
    assert_equal_replay(&(replay_request){0}); /* beside the server */
    play_close(true);
    play_open();
    shop = served_bandits_find(play.bandits, words("shop"));
    news = served_bandits_find(play.bandits, words("news"));
    play_pass(1000);
    play_learn(news, 41, 60, 2);
    play_model(shop, NULL, 0);
    play_learn(shop, 41, 60, 2);
    static const char *const modes[] = {"{\"mode\":\"apprentice\"}", "{\"mode\":\"logging\"}", "{\"mode\":\"online\"}"};
    for (uint64_t i = 0; i < 3; i++) {
        play_change(news, modes[i], false);
        play_learn(news, 61 + 20 * i, 80 + 20 * i, 2);
    }
    play_close(false);
    replay_result result = assert_equal_replay(&(replay_request){0});
    assert_int_equal(result.bandits, 2);
    assert_int_equal(result.decisions, 60 + 120);
    assert_true(result.checkpoints >= 4);
    assert_true(result.steps >= 7); /* one at least for each time that the model has caught up */
    assert_equal_replay(&(replay_request){.bandit = "news", .from = 1000 * 1000000LL});
    assert_equal_replay(&(replay_request){.from = 1000 * 1000000LL, .from_beginning = true});
    assert_equal_replay(&(replay_request){.until = 1000 * 1000000LL});
    assert_int_equal(replay_run(&(replay_request){.folder = play.folder.path, .bandit = "shoe"}, &result, &play.error),
                     EE_BAD_INPUT);
}

/* The first checkpoint that is kept is where it begins then, for a restart too. */
TEST_WITH(what_is_no_longer_kept_is_passed_over, set_up, tear_down)
{
    served_bandit *shop = play_create("shop", "{\"policy\":\"linucb\",\"dim\":5,\"options\":\"pending=4\"}");
    void *before, *after;
    size_t size, size_after;
    uint64_t version;
    store_reader *log;
    const event *first;
    play_rounds(shop, 1, 50, 6);
    play_pass(1000);
    play_learn(shop, 51, 100, 6);
    PLAY_OK(store_reader_create(play.kept, &log, &play.error));
    journal_forget_before(play.written, 1, 900 * 1000000LL);
    while (!store_read_one(log, 1, 1, &first, NULL)) play_reward(shop, 0, 0, &play.error);
    store_reader_free(log);
    PLAY_OK(served_bandit_save(shop, &before, &size, &version, &play.error));
    play_close(true);
    play_open();
    shop = served_bandits_find(play.bandits, words("shop"));
    PLAY_OK(served_bandit_save(shop, &after, &size_after, &version, &play.error));
    assert_int_equal(size, size_after);
    assert_memory_equal(before, after, size);
    ee_bytes_free(before);
    ee_bytes_free(after);
    play_learn(shop, 101, 110, 6);
    play_close(false);
    replay_result result = assert_equal_replay(&(replay_request){0});
    assert_true(result.skipped > 0);
    assert_true(result.decisions > 0 && result.decisions + result.skipped < 110);
}

/* ---- what somebody changes ---- */

/* With the checksums of the change: what a bad disk changes is found before, by the check. */
static void change_store(const char *sql)
{
    sqlite3 *database;
    char *why = NULL;
    assert_int_equal(sqlite3_open(folder_path(&play.folder, "eenet.db"), &database), SQLITE_OK);
    assert_int_equal(row_checksum_register(database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, &why)) fail_msg("%s", why);
    assert_int_equal(sqlite3_changes(database), 1);
    if (sqlite3_exec(database,
                     "UPDATE events SET checksum ="
                     " row_checksum(place, kind, time, id, decision, value, outcome, reward_id, body)",
                     NULL, NULL, &why))
        fail_msg("%s", why);
    sqlite3_close(database);
}

typedef struct decision_change {
    size_t action, own;
    bool probability, record;
} decision_change;

static void put_last_decision(const uint8_t *bytes, size_t size)
{
    char *sql = malloc(2 * size + 200), *at = sql;
    at += sprintf(at, "UPDATE events SET body = x'");
    for (size_t i = 0; i < size; i++) at += sprintf(at, "%02x", bytes[i]);
    sprintf(at, "' WHERE place = (SELECT max(place) FROM events WHERE kind = 1)");
    change_store(sql);
    free(sql);
}

/* Changes the last decision of bandit 1, and gives it back as it was. */
static void assert_change_is_found(const decision_change *change)
{
    store_reader *log;
    uint64_t number;
    const event *last;
    decision_body body;
    event_room room = {0};
    double probabilities[PLAY_ARMS];
    uint8_t record[4096], *bytes = NULL;
    size_t size = 0, capacity = 0;
    PLAY_OK(store_open_reader(play.folder.path, &log, &play.error));
    PLAY_OK(store_last(log, 1, EVENT_DECISION, UINT64_MAX, &number, &play.error));
    PLAY_OK(store_read_one(log, 1, number, &last, &play.error));
    PLAY_OK(decision_body_read(last->body, last->size, &room, &body, &play.error));
    memcpy(probabilities, body.probabilities, sizeof probabilities);
    memcpy(record, body.record, body.record_size);
    body.probabilities = probabilities;
    body.record = record;
    body.action = (body.action + change->action) % PLAY_ARMS;
    body.choice = (body.choice + change->own) % PLAY_ARMS;
    if (change->probability) probabilities[0] += 1e-16;
    if (change->record) record[body.record_size / 2] ^= 1;
    PLAY_OK(decision_body_write(&body, NULL, &bytes, &size, &capacity, &play.error));
    put_last_decision(bytes, size);
    replay_result result = replay(&(replay_request){0});
    assert_int_equal(result.other_decisions, 1);
    assert_message_has(result.first, "bandit shop: decision");
    put_last_decision(last->body, last->size);
    assert_equal_replay(&(replay_request){0});
    store_reader_free(log);
    memory_free(room.names);
    memory_free(room.probabilities);
    memory_free(room.values);
    memory_free(bytes);
}

static void play_a_little(void)
{
    served_bandit *shop = play_create("shop", "{\"policy\":\"linucb\",\"dim\":5}");
    for (uint64_t t = 1; t <= 30; t += 10)
        play_learn(shop, t, t + 9, 3); /* later decisions are made by what was learned */
    play_close(false);
    assert_equal_replay(&(replay_request){0});
}

/* Decisions, a model that was damaged or replaced by another one whose checksum is right, a reward, and a lost event.
 */
TEST_WITH(changes_are_found, set_up, tear_down)
{
    static const char *const sentences[] = {": the model file cannot be read: models/", ": the model file differs"};
    store_reader *log;
    uint64_t version;
    uint8_t *bytes;
    size_t size;
    char name[64];
    replay_result result;
    play_a_little();
    assert_change_is_found(&(decision_change){.probability = true});
    assert_change_is_found(&(decision_change){.action = 1});
    assert_change_is_found(&(decision_change){.own = 1});
    assert_change_is_found(&(decision_change){.record = true});
    PLAY_OK(store_open_reader(play.folder.path, &log, &play.error));
    PLAY_OK(store_last(log, 1, EVENT_STEP, UINT64_MAX, &version, &play.error));
    PLAY_OK(blob_get(store_reader_blobs(log), blob_model(1, version), &bytes, &size, &play.error));
    store_reader_free(log);
    snprintf(name, sizeof name, "models/1/%llu.model", (unsigned long long)version);
    for (int again = 0; again < 3; again++) {
        if (again != 1) bytes[size / 2] ^= 1;
        uint64_t checksum = archive_checksum(bytes, size - 8);
        for (size_t i = 0; again && i < 8; i++) bytes[size - 8 + i] = (uint8_t)(checksum >> 8 * i);
        folder_write(&play.folder, name, bytes, size);
        result = replay(&(replay_request){0});
        assert_int_equal(result.other_decisions, 0);
        assert_int_equal(result.other_models, again < 2);
        assert_message_has(result.first, again < 2 ? sentences[again] : "");
    }
    memory_free(bytes);
    change_store("UPDATE events SET value = value + 1e-7 WHERE place = (SELECT min(place) FROM events WHERE kind = 3)");
    result = replay(&(replay_request){0});
    assert_true(result.other_decisions > 0 && result.other_models > 0);
    /* By its place, where the store looks there, or by what the model is without it. */
    change_store("DELETE FROM events WHERE place = (SELECT min(place) FROM events WHERE kind = 3)");
    replay_request request = {.folder = play.folder.path, .until = INT64_MAX};
    ee_status status = replay_run(&request, &result, &play.error);
    assert_true(status == EE_FILE_ERROR || (result.other_decisions > 0 && result.other_models > 0));
}
