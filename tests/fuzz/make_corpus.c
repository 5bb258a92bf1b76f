/* Writes what of the corpus depends on formats: make_corpus FOLDER, where FOLDER holds model/ and record/. Run it again
 * when one of the formats changes. The same library on the same machine writes the same files.
 *
 * Models are small, and so are the numbers in their options: fuzz_model does not try what asks for much, and it is a
 * failure here. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/file.h"
#include "fuzz_bandits.h"
#include "fuzz_limits.h"

static const char *corpus;
static int failures;

static void check(ee_status status, const char *name, const ee_error *error)
{
    if (!status) return;
    fprintf(stderr, "%s: %s\n", name, error->message);
    failures++;
}

static void write_input(const char *kind, const char *name, const void *bytes, size_t size)
{
    char path[4096];
    ee_error error;
    snprintf(path, sizeof path, "%s/%s/%s", corpus, kind, name);
    check(file_write(path, bytes, size, &error), name, &error);
}

/* ---- models ---- */

typedef struct seed_model {
    const char *name, *policy;
    size_t dim; /* 0: it takes rounds of named features */
    int rounds;
    bool sparse;
    const char *options;
} seed_model;

#define COMMON "pending=4 arms=3 nonzeros=4 train_late_after=20 "
#define F1 "f1.width=3 f1.steps=2 f1.batch=2 f1.history=ring:6 "
#define PAST "recall=9 "
#define EENET COMMON F1 "exploration=network f2.width=3 f2.steps=2 f2.batch=2 f2.history=ring:6 "
#define F3 "f3.width=3 f3.steps=2 f3.batch=2 f3.history=ring:6 "
#define HYBRID EENET F3 "decision=hybrid hybrid_after=5 w2_late_after=7 "
#define SMALL "f1.history=all f2.history=all f1.batch=1 f2.batch=1 "

static const seed_model models[] = {
    {"uniform", "uniform", 2, 5, false, "pending=4 arms=3 nonzeros=4"},
    {"uniform-new", "uniform", 1, 0, false, "pending=2 arms=1 nonzeros=1"},
    {"greedy", "greedy", 3, 9, false, COMMON F1 PAST},
    {"greedy-sparse", "greedy", 5, 9, true, COMMON F1 PAST "f1.history=reservoir:4 f1.optimizer=adam f1.order=shuffle"},
    {"greedy-image", "greedy", 16, 6, false, COMMON F1 PAST "f1.image=1x4x4 f1.front=conv2d:2:3+relu+pool:2"},
    {"greedy-deep", "greedy", 2, 6, false,
     COMMON F1 PAST "f1.layers=4 f1.bias=off f1.init=paper f1.loss=cross_entropy"},
    {"epsilon", "neural-epsilon", 2, 6, false, COMMON F1 PAST},
    {"neural-ucb", "neural-ucb", 2, 9, false, COMMON F1 PAST},
    {"neural-ts-full", "neural-ts", 5, 9, true, COMMON F1 PAST "memory_limit=1 covariance=full f1.width=2"},
    {"neural-linear", "neural-linear", 2, 9, false, COMMON F1 PAST "rebuild=3"},
    {"squarecb", "squarecb", 2, 6, false, COMMON F1 PAST},
    {"fastcb", "neural-fastcb", 2, 6, false, COMMON F1 PAST},
    {"ensemble", "neural-ensemble", 5, 9, true, COMMON F1 PAST "members=2 prior_width=2 decision=thompson"},
    {"linucb", "linucb", 5, 12, true, "pending=4 arms=3 nonzeros=4 refresh=4"},
    {"linucb-late", "linucb", 3, 14, false, "pending=4 arms=3 nonzeros=4 wait=2.5 default_reward=0.5"},
    {"greedy-late", "greedy", 5, 14, true, COMMON F1 PAST "wait=2.5"},
    {"lints", "lints", 3, 9, false, "pending=4 arms=3 nonzeros=4 refresh=4"},
    {"kernelucb", "kernelucb", 5, 9, true, "pending=4 arms=3 nonzeros=4 max_contexts=6"},
    {"kernelts", "kernelts", 2, 9, false, "pending=4 arms=3 nonzeros=4 max_contexts=20"},
    {"ucb1", "ucb1", 2, 9, false, "pending=4 arms=3 nonzeros=4 positions=2"},
    {"thompson", "thompson", 6, 9, true, "pending=4 arms=3 nonzeros=4 blocks=3"},
    {"eenet-new", "eenet", 3, 0, false, HYBRID "features=sketch:4"},
    {"eenet-sketch", "eenet", 3, 9, false, HYBRID "features=sketch:4"},
    {"eenet-sparse", "eenet", 5, 9, true, EENET F3 "features=sketch:3 extra_until=30 decision=neural"},
    {"eenet-normalized", "eenet", 2, 9, false, EENET "features=normalized label=abs decision=linear recall=9"},
    {"eenet-pooled", "eenet", 3, 9, false, HYBRID "features=pooled:3 label=relu extra_until=4 f2.front=conv1d:2:3:1"},
    {"eenet-lle", "eenet", 2, 20, false, HYBRID "features=lle:2 lle_window=8 lle_neighbors=4"},
    {"eenet-ridge", "eenet", 3, 9, false, COMMON F1 "units=2 recall=9"},
    {"eenet-ridge-sparse", "eenet", 5, 9, true,
     COMMON F1 F3 "scale=off units=2 recent_units=2 refresh=2 decision=neural"},
    {"eenet-reservoir", "eenet", 3, 9, false, HYBRID "features=sketch:2 keep=reservoir:2"},
    {"paper", "eenet:paper", 2, 7, false,
     COMMON "hybrid_after=3 w2_late_after=7 f1.width=3 f2.width=3 f3.width=3 f1.steps=2 f2.steps=2 "
            "f3.steps=2"},
    {"authors", "eenet:authors", 6, 12, false,
     EENET SMALL
     "f1.order=shuffle train_every=2 train_late_every=3 w2_late_after=7 extra_until=6 f2.front=conv1d:1:5:2 "
     "f2.decay_until=9"},
    {"eenet-blocks", "eenet", 6, 9, true, COMMON F1 "blocks=3 units=2 recall=9 exclusive=on f1.others=0.1"},
    {"neural-ucb-blocks", "neural-ucb", 6, 9, true, COMMON F1 PAST "blocks=3 f1.heads=0 scale=on"},
    {"named", "linucb", 0, 9, true, "pending=4 arms=3 nonzeros=4"},
    {"named-full", "greedy", 0, 9, true, COMMON F1 PAST},
    {"named-vw", "greedy", 0, 9, true, COMMON F1 PAST},
    {"named-new", "uniform", 0, 0, false, "pending=2 arms=1 nonzeros=1"},
};

enum { MODELS = sizeof models / sizeof *models, ARMS = 3, MOST_DIM = 16, SEED = 7 };

/* The options of its named features; NULL where it takes vectors. */
static const char *features_of(const seed_model *m)
{
    if (m->dim) return NULL;
    if (strcmp(m->name, "named-full") == 0) return "names=8 hashes=6";
    return strcmp(m->name, "named-vw") == 0 ? "hashing=vw bits=5" : "names=40 hashes=8";
}

/* The arms of a round of named features, which lie in it. */
static ee_arms name_arms(ee_bandit *bandit, const seed_model *m, int number, ee_round *round)
{
    char json[256];
    ee_arms arms = {0};
    ee_error error;
    ee_round_clear(round);
    snprintf(json, sizeof json, "{\"u\":{\"n\":%d},\"w\":\"v%d\",\"_multi\":[{\"a\":1},{\"b\":%d},{\"v\":[1,%d]}]}",
             number * 100, number % 3, number % 2, number);
    check(ee_round_read(round, json, strlen(json), &error), m->name, &error);
    check(ee_bandit_arms(bandit, round, &arms, &error), m->name, &error);
    return arms;
}

static void play(ee_bandit *bandit, const seed_model *m, int round, ee_round *named)
{
    float values[ARMS * MOST_DIM];
    size_t starts[ARMS + 1] = {0, 2, 3, 4};
    uint32_t indices[4] = {0, 3, 1, 4};
    for (size_t i = 0; i < ARMS * MOST_DIM; i++) values[i] = (float)((i * 5 + (size_t)round * 7) % 13) / 8;
    ee_arms arms =
        m->sparse ? ee_arms_sparse(starts, indices, values, ARMS, m->dim) : ee_arms_dense(values, ARMS, m->dim);
    if (features_of(m)) arms = name_arms(bandit, m, round, named);
    ee_decision decision;
    ee_error error;
    check(ee_bandit_set_time(bandit, round, &error), m->name, &error);
    check(ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &error), m->name, &error);
    if (round % 4 != 3) check(ee_bandit_learn(bandit, decision.id, round % 2, &error), m->name, &error);
}

/* The model's bytes, to be freed with ee_bytes_free; NULL where that failed. */
static uint8_t *save_model(const seed_model *m, size_t *size)
{
    ee_settings settings = {.policy = m->policy, .dim = m->dim, .seed = SEED, .options = m->options};
    settings.features = features_of(m);
    ee_bandit *bandit;
    ee_round *named = NULL;
    ee_error error;
    void *bytes = NULL;
    check(ee_round_create(NULL, &named, &error), m->name, &error);
    check(ee_bandit_create(&settings, &bandit, &error), m->name, &error);
    for (int round = 0; bandit && named && round < m->rounds; round++) play(bandit, m, round, named);
    ee_round_free(named);
    if (!bandit) return NULL;
    check(ee_bandit_save_bytes(bandit, &bytes, size, &error), m->name, &error);
    if (bytes && fuzz_asks_for_much(bytes, *size)) {
        fprintf(stderr, "%s: fuzz_model would not try it: %s\n", m->name, ee_bandit_info(bandit).options);
        failures++;
    }
    ee_bandit_free(bandit);
    return bytes;
}

/* The model with count bytes at place made all `value`. */
static void write_changed(const seed_model *m, const char *change, size_t place, int value, size_t count)
{
    char name[64];
    size_t size = 0;
    uint8_t *bytes = save_model(m, &size);
    snprintf(name, sizeof name, "%s-%s", m->name, change);
    if (!bytes || place > size || count > size - place) {
        fprintf(stderr, "%s: there is nothing to change at byte %zu\n", name, place);
        failures++;
    } else {
        memset(bytes + place, value, count);
        write_input("model", name, bytes, size);
    }
    ee_bytes_free(bytes);
}

static void write_model(const seed_model *m, bool damaged)
{
    size_t size = 0;
    uint8_t *bytes = save_model(m, &size);
    if (bytes) write_input("model", m->name, bytes, size);
    if (bytes && damaged) {
        char name[64];
        snprintf(name, sizeof name, "%s-cut", m->name);
        write_input("model", name, bytes, size * 3 / 4);
        write_changed(m, "flipped", size * 5 / 6, bytes[size * 5 / 6] ^ 0x10, 1);
        write_changed(m, "large", size - 24, 0xff, 8);
    }
    ee_bytes_free(bytes);
}

/* ---- records ---- */

/* The byte that names the bandit, and the record of a decision on a snapshot of it. */
static void write_record(size_t kind, int round)
{
    char name[32];
    float values[FUZZ_ARMS * FUZZ_DIM];
    ee_arms arms = fuzz_bandit_arms(round, values);
    ee_error error;
    ee_snapshot *snapshot = NULL;
    ee_scratch *room = NULL;
    ee_decision decision;
    const void *record;
    size_t size = 0;
    uint8_t input[4096] = {(uint8_t)kind};
    snprintf(name, sizeof name, "%zu-%s-%s", kind, fuzz_bandits[kind].policy, round % 2 ? "sparse" : "dense");
    ee_bandit *bandit = fuzz_bandit_make(kind, &error);
    ee_status status = bandit ? ee_snapshot_create(bandit, &snapshot, &error) : error.status;
    if (!status) status = ee_scratch_create(snapshot, 1, &room, &error);
    if (!status) status = ee_snapshot_decide(snapshot, room, &arms, &decision, NULL, NULL, &error);
    if (!status) status = ee_scratch_record(room, 0, &record, &size, &error);
    check(status, name, &error);
    if (!status && size < sizeof input) {
        memcpy(input + 1, record, size);
        write_input("record", name, input, size + 1);
    }
    ee_scratch_free(room);
    ee_snapshot_free(snapshot);
    ee_bandit_free(bandit);
}

/* ---- models with a number that only their own kind has a use for ---- */

static size_t find_bytes(const seed_model *m, const void *wanted, size_t length)
{
    size_t size = 0, place = 0;
    uint8_t *bytes = save_model(m, &size);
    while (bytes && place + length <= size && memcmp(bytes + place, wanted, length) != 0) place++;
    ee_bytes_free(bytes);
    return place;
}

/* Counters before they overflow, and a random stream that draws zeros for ever. */
static void write_extremes(void)
{
    /* A full reservoir that has not drawn yet; what it has seen stands before its stream. */
    seed_model full = {"full", "greedy", 3, 5, false, COMMON F1 PAST "f1.history=reservoir:4"};
    random_stream draw = random_named(SEED, "f1.history");
    write_changed(&full, "seen", find_bytes(&full, &draw, sizeof draw) - 8, 0xff, 8);

    /* Behind the number of trainings stand the states of three decisions and the checksum. */
    seed_model kept = {"kept", "eenet", 3, 3, false, HYBRID "features=sketch:2 keep=reservoir:2"};
    size_t size = 0;
    ee_bytes_free(save_model(&kept, &size));
    write_changed(&kept, "trainings", size - 40, 0xff, 8);

    /* The exploration stream stands behind six numbers, of which the decisions are the first. */
    seed_model fresh = {"fresh", "uniform", 2, 0, false, "pending=4 arms=3 nonzeros=4"};
    draw = random_named(SEED, "exploration");
    size_t place = find_bytes(&fresh, &draw, sizeof draw);
    write_changed(&fresh, "zeros", place, 0, sizeof draw);
    seed_model old = {"old", "uniform", 2, 254, false, "pending=4 arms=3 nonzeros=4"};
    write_changed(&old, "decisions", place - 47, 0xff, 7); /* 2^64 - 2 */
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    corpus = argv[1];
    for (size_t i = 0; i < MODELS; i++) write_model(&models[i], i % 2 == 1);
    write_extremes();
    for (size_t kind = 0; kind < FUZZ_BANDITS; kind++) {
        write_record(kind, 20);
        write_record(kind, 21);
    }
    return failures > 0;
}
