/* Late rewards: decisions are stored as plain bytes, the program ends, and another run learns what came of them.
 *
 *     late_rewards MODEL RECORDS     run it again and again: each run learns the rewards of the run before it
 *
 * RECORDS stands for a database: it holds a size, a reward and a record for each decision. */
#include <eenet.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 200, ARMS = 4, DIM = 3, MOST_BYTES = 4096 };

static void stop(const ee_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

/* Loads the model, or creates one where there is none yet. A model that is there and cannot be read is no reason to
 * begin anew: the program stops. */
static ee_bandit *load_or_create(const char *path)
{
    ee_settings settings = {.policy = "eenet", .dim = DIM, .seed = 1};
    ee_bandit *bandit;
    ee_error error;
    ee_status status = ee_bandit_load(path, &settings, &bandit, &error);
    if (status == EE_NO_FILE) status = ee_bandit_create(&settings, &bandit, &error);
    if (status) stop(&error);
    return bandit;
}

/* Learns the stored decisions, whose rewards are known by now. Returns how many were rewarded. */
static int learn_stored(ee_bandit *bandit, const char *path)
{
    FILE *store = fopen(path, "rb");
    size_t size;
    double reward;
    char record[MOST_BYTES];
    ee_error error;
    int rewarded = 0;
    if (!store) return 0; /* the first run */
    while (fread(&size, sizeof size, 1, store) == 1 && size <= MOST_BYTES &&
           fread(&reward, sizeof reward, 1, store) == 1 && fread(record, 1, size, store) == size) {
        if (ee_bandit_learn_record(bandit, record, size, reward, &error)) stop(&error);
        rewarded += reward > 0;
    }
    fclose(store);
    return rewarded;
}

static void decide_and_store(ee_bandit *bandit, const char *path)
{
    FILE *store = fopen(path, "wb");
    ee_snapshot *snapshot;
    ee_scratch *scratch;
    ee_error error;
    uint64_t made = ee_bandit_info(bandit).rewards;
    if (!store) exit(1);
    if (ee_snapshot_create(bandit, &snapshot, &error)) stop(&error);
    if (ee_scratch_create(snapshot, &scratch, &error)) stop(&error);
    srand((unsigned)made + 1);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        float features[ARMS * DIM]; /* an arm's reward is 1 if its first feature is above 0.5 */
        for (int i = 0; i < ARMS * DIM; i++) features[i] = (float)rand() / (float)RAND_MAX;
        ee_arms arms = ee_arms_dense(features, ARMS, DIM);
        ee_decision decision;
        const void *record;
        size_t size;
        if (ee_snapshot_decide(snapshot, scratch, &arms, made + round, &decision, NULL, NULL, &error)) stop(&error);
        if (ee_scratch_record(scratch, &record, &size, &error)) stop(&error);
        double reward = features[decision.arm * DIM] > 0.5f; /* which in earnest comes hours later */
        fwrite(&size, sizeof size, 1, store);
        fwrite(&reward, sizeof reward, 1, store);
        fwrite(record, 1, size, store);
    }
    ee_scratch_free(scratch);
    ee_snapshot_free(snapshot);
    if (fclose(store)) exit(1);
}

int main(int count, char **words)
{
    ee_error error;
    if (count != 3) return fprintf(stderr, "usage: late_rewards MODEL RECORDS\n"), 2;
    ee_bandit *bandit = load_or_create(words[1]);
    int rewarded = learn_stored(bandit, words[2]);
    if (ee_bandit_save(bandit, words[1], &error)) stop(&error);
    decide_and_store(bandit, words[2]);
    printf("%llu rewards learned in all, %d of the last %d decisions were rewarded\n",
           (unsigned long long)ee_bandit_info(bandit).rewards, rewarded, ROUNDS);
    ee_bandit_free(bandit);
    return 0;
}
