/* Threads decide and reward while bandits learn, fall asleep, wake, are changed, reset and added. Whatever came first:
 * every decision has the version that made it, or the replay would not make it again. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "serve/model/replay.h"
#include "serve/served_play.h"

enum { THREADS = 4, ROUNDS = 60, BANDITS = 3 };

typedef struct player {
    served_bandit *bandits[BANDITS];
    uint64_t first;
    pthread_t thread;
} player;

static void *decide_and_reward(void *context)
{
    player *self = context;
    ee_error error;
    for (uint64_t t = self->first; t < self->first + ROUNDS; t++) {
        served_bandit *bandit = self->bandits[t % BANDITS];
        size_t action = play_decide(bandit, t, &error);
        if (t % 4 != 0) play_reward(bandit, t, action == play_best(t), &error);
    }
    return NULL;
}

static void *look_on(void *context)
{
    player *self = context;
    ee_error error;
    for (int i = 0; i < 20; i++) {
        void *bytes;
        size_t size;
        uint64_t version;
        served_bandit *bandit = self->bandits[i % BANDITS], *found;
        if (!served_bandit_save(bandit, &bytes, &size, &version, &error)) ee_bytes_free(bytes);
        for (size_t k = 0; (found = served_bandits_at(play.bandits, k)); k++) served_bandit_standing(found);
        served_bandits_find(play.bandits, words("late"));
    }
    return NULL;
}

static void play_together(uint64_t first)
{
    player players[THREADS + 1];
    for (size_t i = 0; i <= THREADS; i++) {
        players[i] = (player){.first = first + i * ROUNDS};
        for (size_t k = 0; k < BANDITS; k++) players[i].bandits[k] = served_bandits_at(play.bandits, k);
        pthread_create(&players[i].thread, NULL, i < THREADS ? decide_and_reward : look_on, &players[i]);
    }
    play_model(players[0].bandits[0], NULL, 0);
    play_change(players[0].bandits[1], "{\"mode\":\"apprentice\"}", false);
    play_create(first > 1 ? "later" : "late", "{\"policy\":\"uniform\",\"dim\":5}");
    play_change(players[0].bandits[1], "{\"mode\":\"online\"}", false);
    play_model(players[0].bandits[1], NULL, 0);
    for (size_t i = 0; i <= THREADS; i++) pthread_join(players[i].thread, NULL);
}

TEST(all_is_made_again)
{
    play_start();
    replay_result result;
    play.options.trainers = 2;
    play.options.sleep_seconds = 0.02;
    play.options.memory = 1; /* all but one, again and again */
    play.options.checkpoint_events = 50;
    play.options.step_events = 32;
    play_open();
    play_create("shop", "{\"policy\":\"linucb\",\"dim\":5}");
    play_create("news", "{\"policy\":\"eenet\",\"features\":\"\",\"options\":\"f1.width=8 pending=16\"}");
    play_create("ads", "{\"policy\":\"neural-ucb\",\"dim\":5,\"options\":\"f1.width=8\"}");
    play_together(1);
    play_close(true);
    play_open();
    play_together(1 + THREADS * ROUNDS);
    for (size_t k = 0; k < BANDITS; k++) play_catch_up(served_bandits_at(play.bandits, k));
    play_close(false);
    replay_request request = {.folder = play.folder.path, .until = INT64_MAX};
    PLAY_OK(replay_run(&request, &result, &play.error));
    if (result.first[0]) fail_msg("%s", result.first);
    assert_int_equal(result.decisions, 2 * THREADS * ROUNDS);
    play_end();
}
