/* Limits: a site shows each visitor one of eight articles. Three of them come from a partner, who was promised at least
 * a fifth of the places. The program plays the same visitors without and with the promise, and prints what it costs.
 *
 * cc limited_shares.c -leenet */
#include <eenet.h>
#include <stdio.h>
#include <stdlib.h>

enum { VISITS = 4000, ARTICLES = 8, PARTNERS = 3, DIM = 2 * ARTICLES };

static void stop(const ee_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static double chance(void)
{
    return (double)rand() / RAND_MAX;
}

/* Young visitors like the articles with even numbers, the others those with odd numbers. The last three are the
 * partner's, and are liked less. */
static double appeal(int young, size_t article)
{
    double liked = (article % 2 == 0) == young ? 0.6 : 0.1;
    return article >= ARTICLES - PARTNERS ? liked / 2 : liked;
}

/* Plays all visits and returns the clicks; *shown becomes the number of the partner's articles that were shown. */
static int play(const ee_limits *limits, int *shown)
{
    /* With the default, the best article has probability 1, and the promised share would be spread evenly over the
     * partner's articles. With softmax, better ones get more of it. */
    ee_settings settings = {.policy = "eenet", .dim = DIM, .seed = 1, .options = "propensity=softmax"};
    ee_bandit *bandit;
    ee_error error;
    int clicks = 0;
    *shown = 0;
    srand(1);
    if (ee_bandit_create(&settings, &bandit, &error)) stop(&error);
    for (int visit = 0; visit < VISITS; visit++) {
        float features[ARTICLES * DIM] = {0}; /* which article it is, for a young visitor or another */
        int young = rand() % 2;
        for (int i = 0; i < ARTICLES; i++) features[i * DIM + 2 * i + young] = 1;
        ee_arms arms = ee_arms_dense(features, ARTICLES, DIM);
        ee_decision decision;
        arms.limits = limits;
        if (ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &error)) stop(&error);
        int click = chance() < appeal(young, decision.arm);
        if (ee_bandit_learn(bandit, decision.id, click, &error)) stop(&error);
        clicks += click;
        *shown += decision.arm >= ARTICLES - PARTNERS;
    }
    ee_bandit_free(bandit);
    return clicks;
}

int main(void)
{
    uint32_t groups[ARTICLES];
    double low[] = {0.2}, high[] = {1};
    ee_limits limits = {.groups = groups, .low = low, .high = high, .group_count = 1};
    int shown, shown_free;
    for (int i = 0; i < ARTICLES; i++) groups[i] = i >= ARTICLES - PARTNERS ? 0 : EE_NO_GROUP;
    int clicks = play(&limits, &shown), clicks_free = play(NULL, &shown_free);
    printf("%d clicks in %d visits; the partner has 20%% by promise and got %.1f%% by chance\n", clicks, VISITS,
           100.0 * shown / VISITS);
    printf("%d clicks without the promise; the partner got %.1f%%\n", clicks_free, 100.0 * shown_free / VISITS);
    printf("The promise costs %.1f%% of the clicks\n", 100 * (1 - (double)clicks / clicks_free));
    return 0;
}
