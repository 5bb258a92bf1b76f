/* Several slots: each visitor sees three of eight articles, one below the other. Visitors click on what they like, but
 * look at lower places less often. Each slot is a separate decision with its own reward.
 *
 * cc top_three.c -leenet */
#include <eenet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VISITS = 1000, ARTICLES = 8, SLOTS = 3 };
static const char *const topics[] = {"music", "politics", "sport", "cooking"};
static const double seen[SLOTS] = {1, 0.7, 0.4}; /* share of visitors who look at a place */

static void stop(const ee_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static double chance(void)
{
    return (double)rand() / RAND_MAX;
}

/* Makes the round of one slot: its context has the features of the user and of the slot. */
static void describe(ee_round *round, int age, int slot)
{
    char json[128];
    ee_error error;
    ee_round_clear(round);
    snprintf(json, sizeof json, "{\"user\": {\"young\": %s}, \"slot\": {\"place\": \"%d\"}}",
             age < 40 ? "true" : "false", slot);
    if (ee_round_context(round, json, strlen(json), &error)) stop(&error);
    for (int i = 0; i < ARTICLES; i++) {
        snprintf(json, sizeof json, "{\"article\": {\"id\": \"a%d\", \"topic\": \"%s\"}}", i, topics[i % 4]);
        if (ee_round_action(round, json, strlen(json), &error)) stop(&error);
    }
}

/* Young visitors like music and sport, the others politics and cooking. */
static int clicks(int age, size_t article, int slot)
{
    int likes = (article % 2 == 0) == (age < 40);
    return chance() < seen[slot] * (likes ? 0.8 : 0.1);
}

int main(void)
{
    ee_settings settings = {.policy = "eenet", .seed = 1, .features = "names=200 hashes=10"};
    ee_bandit *bandit;
    ee_round *rounds[SLOTS]; /* one per slot: its arms are valid until the next call with it */
    ee_error error;
    int clicked = 0;
    if (ee_bandit_create(&settings, &bandit, &error)) stop(&error);
    for (int k = 0; k < SLOTS; k++)
        if (ee_round_create(NULL, &rounds[k], &error)) stop(&error);
    for (int visit = 0; visit < VISITS; visit++) {
        int age = 18 + rand() % 60;
        ee_arms arms[SLOTS];
        ee_decision decisions[SLOTS];
        for (int k = 0; k < SLOTS; k++) {
            describe(rounds[k], age, k);
            if (ee_bandit_arms(bandit, rounds[k], &arms[k], &error)) stop(&error);
        }
        if (ee_bandit_decide_slots(bandit, arms, SLOTS, NULL, decisions, NULL, NULL, &error)) stop(&error);
        for (int k = 0; k < SLOTS; k++) {
            int click = clicks(age, decisions[k].arm, k);
            if (ee_bandit_learn(bandit, decisions[k].id, click, &error)) stop(&error);
            clicked += click;
        }
    }
    printf("%d clicks in %d visits to a page of %d; random choices would get about %d\n", clicked, VISITS, SLOTS,
           (int)(VISITS * (seen[0] + seen[1] + seen[2]) * 0.45));
    for (int k = 0; k < SLOTS; k++) ee_round_free(rounds[k]);
    ee_bandit_free(bandit);
    return 0;
}
