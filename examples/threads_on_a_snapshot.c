/* Threads on a snapshot: four threads decide while one learns and publishes, as in a server.
 *
 * cc threads_on_a_snapshot.c -leenet -lpthread */
#define _POSIX_C_SOURCE 200809L
#include <eenet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DECIDERS = 4, ROUNDS = 500, ARMS = 4, DIM = 3, MOST_BYTES = 256, QUEUE_SIZE = 32 };

/* A decision and its reward, sent from the deciding thread to the learner. */
typedef struct message {
    char record[MOST_BYTES];
    size_t size;
    double reward;
} message;

/* A bounded queue: deciding threads wait while it is full, the learner while it is empty. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t change;
    message messages[QUEUE_SIZE];
    size_t put, taken;
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};

static ee_snapshot *snapshot;

static void stop(const ee_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static void put(const void *record, size_t size, double reward)
{
    pthread_mutex_lock(&queue.mutex);
    while (queue.put == queue.taken + QUEUE_SIZE) pthread_cond_wait(&queue.change, &queue.mutex);
    message *next = &queue.messages[queue.put++ % QUEUE_SIZE];
    memcpy(next->record, record, size);
    next->size = size;
    next->reward = reward;
    pthread_cond_broadcast(&queue.change);
    pthread_mutex_unlock(&queue.mutex);
}

static message take(void)
{
    pthread_mutex_lock(&queue.mutex);
    while (queue.put == queue.taken) pthread_cond_wait(&queue.change, &queue.mutex);
    message oldest = queue.messages[queue.taken++ % QUEUE_SIZE];
    pthread_cond_broadcast(&queue.change);
    pthread_mutex_unlock(&queue.mutex);
    return oldest;
}

static void *decide(void *number)
{
    unsigned seed = *(unsigned *)number;
    ee_scratch *scratch; /* one per thread */
    ee_error error;
    if (ee_scratch_create(snapshot, seed, &scratch, &error)) stop(&error);
    for (unsigned round = 0; round < ROUNDS; round++) {
        float features[ARMS * DIM]; /* an arm's reward is 1 if its first feature is above 0.5 */
        for (int i = 0; i < ARMS * DIM; i++) features[i] = (float)rand_r(&seed) / (float)RAND_MAX;
        ee_arms arms = ee_arms_dense(features, ARMS, DIM);
        ee_decision decision;
        double probabilities[ARMS];
        const void *record;
        size_t size;
        if (ee_snapshot_decide(snapshot, scratch, &arms, &decision, NULL, probabilities, &error)) stop(&error);
        if (ee_scratch_record(scratch, 0, &record, &size, &error)) stop(&error);
        if (size > MOST_BYTES) abort();
        put(record, size, features[decision.arm * DIM] > 0.5f);
    }
    ee_scratch_free(scratch);
    return NULL;
}

int main(void)
{
    ee_settings settings = {.policy = "eenet", .dim = DIM, .seed = 1, .options = "propensity=floor"};
    ee_bandit *bandit;
    ee_error error;
    pthread_t threads[DECIDERS];
    unsigned numbers[DECIDERS];
    int late = 0; /* rewards of the second half */
    if (ee_bandit_create(&settings, &bandit, &error)) stop(&error);
    if (ee_snapshot_create(bandit, &snapshot, &error)) stop(&error);
    for (unsigned i = 0; i < DECIDERS; i++) {
        numbers[i] = i + 1;
        if (pthread_create(&threads[i], NULL, decide, &numbers[i])) return 1;
    }
    for (int i = 0; i < DECIDERS * ROUNDS; i++) {
        message next = take();
        if (ee_bandit_learn_record(bandit, next.record, next.size, next.reward, &error)) stop(&error);
        if (i % 10 == 9 && ee_snapshot_update(snapshot, bandit, &error)) stop(&error); /* publishes what was learned */
        if (i >= DECIDERS * ROUNDS / 2) late += next.reward > 0;
    }
    for (int i = 0; i < DECIDERS; i++) pthread_join(threads[i], NULL);
    printf("%d of the last %d decisions were rewarded\n", late, DECIDERS * ROUNDS / 2);
    ee_snapshot_free(snapshot); /* before its bandit */
    ee_bandit_free(bandit);
    return 0;
}
