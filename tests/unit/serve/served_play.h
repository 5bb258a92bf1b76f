/* A server without HTTP: a store in a folder of the test's own, the journal and the bandits, and somebody who decides
 * and rewards. The number of a round decides all of it. */
#ifndef EENET_SERVED_PLAY_H
#define EENET_SERVED_PLAY_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "serve/model/decision_arms.h"
#include "serve/model/served_bandit.h"
#include "support_files.h"

enum { PLAY_ARMS = 4, PLAY_DIM = 5, PLAY_UPLOAD = 1000000000 /* number of an uploaded model's file */ };

static struct {
    test_folder folder;
    served_options options;
    store *kept;
    journal *written;
    served_bandits *bandits;
    atomic_int_fast64_t now; /* microseconds: what the journal's clock says */
    ee_error error;
} play;

#define PLAY_OK(call)                                                                                                  \
    if (call) fail_msg("%s:%d: %s", __FILE__, __LINE__, play.error.message)

static int64_t play_clock(void *context)
{
    (void)context;
    return atomic_fetch_add(&play.now, 1);
}

static void play_appended(void *context, uint32_t bandit, uint64_t last)
{
    (void)context;
    served_bandits_appended(play.bandits, bandit, last);
}

/* Opens what the folder has. */
static inline void play_open(void)
{
    journal_options written = {.clock = play_clock, .appended = play_appended, .checkpoints = play.options.checkpoints};
    PLAY_OK(store_open(play.folder.path, &play.kept, &play.error));
    PLAY_OK(served_bandits_create(play.kept, &play.options, &play.bandits, &play.error));
    PLAY_OK(journal_start(play.kept, &written, &play.written, &play.error));
    PLAY_OK(served_bandits_run(play.bandits, play.written, &play.error));
}

/* hurry: as if it were killed, but that all was written. */
static inline void play_close(bool hurry)
{
    served_bandits_stop(play.bandits, hurry ? 0 : 60);
    journal_stop(play.written);
    served_bandits_free(play.bandits);
    store_close(play.kept);
}

static inline void play_start(void)
{
    memset(&play, 0, sizeof play);
    play.folder = folder_make();
    play.options = served_options_usual();
    play.options.publish_interval = 0.001;
    play.options.trainers = 1;
    play.now = 1000000;
}

static inline void play_end(void)
{
    folder_remove(&play.folder);
}

/* ---- bandits ---- */

static inline void play_set(uint32_t number, const char *name, const bandit_settings *settings, bool archived)
{
    text json = text_start(NULL);
    bandit_settings_write(settings, &json);
    journal_entry entry = {.bandit = number,
                           .event = {.kind = EVENT_SETTINGS, .body = json.bytes, .size = json.length},
                           .settings = settings,
                           .archived = archived,
                           .name = words(name)};
    PLAY_OK(journal_write(play.written, &entry, &play.error));
    PLAY_OK(served_bandits_set(play.bandits, entry.bandit, words(name), settings, archived, &play.error));
    memory_free(json.bytes);
}

/* A new one by these settings, as JSON. */
static inline served_bandit *play_create(const char *name, const char *json)
{
    bandit_settings settings = bandit_settings_usual();
    PLAY_OK(bandit_settings_read(&settings, json, strlen(json), SETTINGS_NEW, &play.error));
    play_set(0, name, &settings, false);
    return served_bandits_find(play.bandits, words(name));
}

static inline void play_change(served_bandit *bandit, const char *json, bool archived)
{
    bandit_settings settings = served_bandit_settings(bandit);
    PLAY_OK(bandit_settings_read(&settings, json, strlen(json), SETTINGS_CHANGES, &play.error));
    play_set(served_bandit_number(bandit), served_bandit_name(bandit), &settings, archived);
}

/* Another model: (size) bytes, or a reset. */
static inline void play_model(served_bandit *bandit, const void *bytes, size_t size)
{
    uint8_t *body = NULL;
    size_t body_size = 0;
    uint32_t number = served_bandit_number(bandit);
    if (bytes) {
        checkpoint_body about = {
            .version = PLAY_UPLOAD, .checksum = checkpoint_checksum(bytes, size), .size = size, .state = ""};
        PLAY_OK(blob_put(store_blobs(play.kept), blob_model(number, about.version), bytes, size, &play.error));
        PLAY_OK(checkpoint_body_write(&about, NULL, &body, &body_size, &play.error));
    }
    journal_entry entry = {.bandit = number, .event = {.kind = EVENT_MODEL, .body = body, .size = body_size}};
    PLAY_OK(journal_write(play.written, &entry, &play.error));
    memory_free(body);
}

/* ---- waiting ---- */

typedef struct play_waiting {
    atomic_bool done;
    ee_status status;
} play_waiting;

static void play_ready(void *context, const ee_error *error)
{
    play_waiting *self = context;
    self->status = error ? error->status : EE_OK;
    atomic_store(&self->done, true);
}

static inline ee_status play_wake(served_bandit *bandit)
{
    play_waiting waiting = {0};
    if (served_bandit_is_awake(bandit, play_ready, &waiting)) return EE_OK;
    AWAIT(atomic_load(&waiting.done));
    return waiting.status;
}

/* ---- deciding and rewarding ---- */

static inline size_t play_best(uint64_t number)
{
    return (size_t)(number * 7 % PLAY_ARMS);
}

/* Of a round: one-hot of the best in noise, or names. Every ninth excludes an arm that is not the best. */
static inline void play_round(uint64_t number, float *values, char *context, size_t size, uint8_t *excluded)
{
    random_stream stream = random_named(number, "play");
    size_t best = play_best(number);
    for (size_t i = 0; i < (size_t)PLAY_ARMS * PLAY_DIM; i++)
        values[i] = (float)(0.2 * random_unit(&stream)) + (i % PLAY_DIM == 0 && i / PLAY_DIM == best ? 1.0f : 0.0f);
    int used = snprintf(context, size, "{\"user\":{\"wants\":\"i%zu\",\"age\":%d},\"_multi\":[", best,
                        (int)(20 + 50 * random_unit(&stream)));
    for (int i = 0; i < PLAY_ARMS; i++)
        used +=
            snprintf(context + used, size - (size_t)used, "%s{\"item\":{\"id\":\"i%d\",\"price\":%.2f,\"seen%d\":1}}",
                     i ? "," : "", i, random_unit(&stream), (int)(number / 20));
    snprintf(context + used, size - (size_t)used, "]}");
    memset(excluded, 0, PLAY_ARMS);
    if (number % 9 == 0) excluded[(best + 1) % PLAY_ARMS] = 1;
}

/* The answer to round number `number`, written; its id is rNUMBER. Returns the action. */
static inline size_t play_decide(served_bandit *bandit, uint64_t number, ee_error *error)
{
    float values[PLAY_ARMS * PLAY_DIM];
    double probabilities[PLAY_ARMS];
    uint8_t excluded[PLAY_ARMS], *bytes = NULL;
    char context[1024], id[32];
    size_t size = 0, capacity = 0;
    served_room *room = NULL;
    decision_arms arms_room = {0};
    ee_arms arms;
    snprintf(id, sizeof id, "r%llu", (unsigned long long)number);
    play_round(number, values, context, sizeof context, excluded);
    while (!room) {
        if (play_wake(bandit)) fail_msg("it does not wake");
        room = served_bandit_enter(bandit, error);
        if (!room && error->status) fail_msg("%s", error->message);
    }
    decision_body body = {.count = PLAY_ARMS, .excluded = excluded, .seed = event_seed(room->seed, words(id))};
    if (room->dim) {
        body.dim = PLAY_DIM;
        body.values = values;
    } else {
        body.context = words(context);
    }
    ee_status status = decision_arms_make(&arms_room, &body, room->round, &arms, error);
    if (!status) status = served_bandit_decide(bandit, room, body.dim ? &arms : NULL, body.seed, error);
    if (!status) {
        decision_answer(&body, room->mode, room->choice, room->probabilities, probabilities);
        body.version = room->version;
        body.record = room->record;
        body.record_size = room->record_size;
        status = decision_body_write(&body, NULL, &bytes, &size, &capacity, error);
    }
    served_bandit_leave(bandit, room);
    memory_release(&arms_room.memory);
    journal_entry entry = {.bandit = served_bandit_number(bandit),
                           .event = {.kind = EVENT_DECISION, .id = words(id), .body = bytes, .size = size},
                           .generated_id = true};
    if (!status) status = journal_write(play.written, &entry, error);
    memory_free(bytes);
    if (status) fail_msg("decide: %s", error->message);
    return body.action;
}

static inline void play_reward(served_bandit *bandit, uint64_t number, double value, ee_error *error)
{
    char id[32];
    snprintf(id, sizeof id, "r%llu", (unsigned long long)number);
    journal_entry entry = {.bandit = served_bandit_number(bandit),
                           .event = {.kind = EVENT_REWARD, .id = words(id), .value = value}};
    if (journal_write(play.written, &entry, error)) fail_msg("reward: %s", error->message);
}

/* Until the model has taken all. What was written before is known to the bandits once another write is done. */
static inline served_standing play_catch_up(served_bandit *bandit)
{
    play_reward(bandit, 0, 0, &play.error);
    served_standing standing;
    AWAIT(!(standing = served_bandit_standing(bandit)).behind || standing.trouble[0]);
    if (standing.behind) fail_msg("%s", standing.trouble);
    return standing;
}

/* Rounds first to last, each rewarded `late` rounds later. Returns how many were the best. */
static inline size_t play_rounds(served_bandit *bandit, uint64_t first, uint64_t last, uint64_t late)
{
    size_t best = 0, *actions = calloc(last + 1, sizeof *actions);
    for (uint64_t t = first; t <= last + late; t++) {
        if (t <= last) {
            actions[t] = play_decide(bandit, t, &play.error);
            best += actions[t] == play_best(t);
        }
        if (t < first + late) continue;
        uint64_t rewarded = t - late;
        if (rewarded % 10 == 3) continue; /* it never comes */
        play_reward(bandit, rewarded, actions[rewarded] == play_best(rewarded), &play.error);
    }
    free(actions);
    return best;
}

/* The same, and all of it is learned. */
static inline void play_learn(served_bandit *bandit, uint64_t first, uint64_t last, uint64_t late)
{
    play_rounds(bandit, first, last, late);
    play_catch_up(bandit);
}

static inline void play_pass(double seconds)
{
    atomic_fetch_add(&play.now, (int64_t)(seconds * 1e6));
}

#endif
