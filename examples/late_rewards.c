/* Delayed rewards: clicks come minutes after the decisions, or never. The program stores its decisions as records and
 * ends; the next run learns their rewards.
 *
 *     late_rewards MODEL RECORDS     run it several times: each run learns the clicks of the run before it
 *
 * The file RECORDS takes the place of a database. It holds the decisions and their clicks.
 *
 * Do not learn only the clicks: the bandit would conclude that everything is clicked. The options `wait` and
 * `default_reward` make the bandit learn the reward 0 for a decision without a click after WAIT minutes. */
#include <eenet.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 200, ARMS = 4, DIM = 3, MOST_BYTES = 4096, WAIT = 30 };

/* The header of a stored record. Times are in minutes. */
typedef struct stored {
    size_t size;    /* bytes of the record */
    double made;    /* when the decision was made */
    double clicked; /* when the click came; 0: never */
} stored;

static void stop(const ee_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

/* Loads the model, or creates one if there is no file. If the file cannot be read, the program stops: a new bandit
 * would overwrite it. */
static ee_bandit *load_or_create(const char *path)
{
    ee_settings settings = {.policy = "eenet", .dim = DIM, .seed = 1, .options = "wait=30 default_reward=0"};
    ee_bandit *bandit;
    ee_error error;
    ee_status status = ee_bandit_load(path, &settings, &bandit, &error);
    if (status == EE_NO_FILE) status = ee_bandit_create(&settings, &bandit, &error);
    if (status) stop(&error);
    return bandit;
}

/* Learns the clicks that came until a given time. Returns their number. */
static int learn_clicks(ee_bandit *bandit, const uint64_t *ids, double *clicked, int count, double until)
{
    ee_error error;
    int learned = 0;
    for (int i = 0; i < count; i++) {
        if (clicked[i] == 0 || clicked[i] > until) continue;
        if (ee_bandit_learn(bandit, ids[i], 1, &error)) stop(&error);
        clicked[i] = 0;
        learned++;
    }
    return learned;
}

/* Replays the stored decisions in order of time. Each becomes a pending decision of the bandit, which counts as tried.
 * After WAIT minutes without a click, ee_bandit_set_time makes the bandit learn 0. Returns the number of clicks. */
static int learn_stored(ee_bandit *bandit, const char *path)
{
    FILE *store = fopen(path, "rb");
    stored next;
    char record[MOST_BYTES];
    uint64_t ids[ROUNDS];
    double clicked[ROUNDS], last = 0;
    ee_error error;
    int count = 0, clicks = 0;
    if (!store) return 0; /* the first run */
    while (count < ROUNDS && fread(&next, sizeof next, 1, store) == 1 && next.size <= MOST_BYTES &&
           fread(record, 1, next.size, store) == next.size) {
        ee_decision decision;
        last = next.made;
        clicks += learn_clicks(bandit, ids, clicked, count, last);
        if (ee_bandit_set_time(bandit, last, &error)) stop(&error);
        if (ee_bandit_take_record(bandit, record, next.size, &decision, &error)) stop(&error);
        ids[count] = decision.id;
        clicked[count++] = next.clicked;
    }
    fclose(store);
    clicks += learn_clicks(bandit, ids, clicked, count, last + WAIT);
    if (ee_bandit_set_time(bandit, last + WAIT + 1, &error)) stop(&error);
    return clicks;
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
    if (ee_scratch_create(snapshot, made, &scratch, &error)) stop(&error);
    srand((unsigned)made + 1);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        float features[ARMS * DIM]; /* an arm is clicked if its first feature is above 0.5 */
        for (int i = 0; i < ARMS * DIM; i++) features[i] = (float)rand() / (float)RAND_MAX;
        ee_arms arms = ee_arms_dense(features, ARMS, DIM);
        ee_decision decision;
        const void *record;
        stored next = {.made = (double)made + 0.5 * (double)round}; /* two visitors a minute */
        if (ee_snapshot_decide(snapshot, scratch, &arms, &decision, NULL, NULL, &error)) stop(&error);
        if (ee_scratch_record(scratch, 0, &record, &next.size, &error)) stop(&error);
        if (features[decision.arm * DIM] > 0.5f) next.clicked = next.made + 1 + rand() % 20;
        fwrite(&next, sizeof next, 1, store);
        fwrite(record, 1, next.size, store);
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
    int clicks = learn_stored(bandit, words[2]);
    if (ee_bandit_save(bandit, words[1], &error)) stop(&error);
    decide_and_store(bandit, words[2]);
    ee_info info = ee_bandit_info(bandit);
    printf("%llu rewards learned in all, %d of the last %d decisions were rewarded\n", (unsigned long long)info.rewards,
           clicks, ROUNDS);
    printf("%llu of the rewards are missing clicks, learned as 0\n", (unsigned long long)info.defaulted);
    ee_bandit_free(bandit);
    return 0;
}
