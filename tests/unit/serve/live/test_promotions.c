/* How often live evaluation promotes by mistake, and how soon by right. Bandits without a better challenger, whose
 * tests are looked at after every decision: copies, others that earn exactly as much, those that run after luck, worse
 * ones; an operator replaces one now and then. And bandits with a challenger that is better by so much.
 *
 * make promotions prints a table. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "serve/live/live_track.h"

enum { CONTEXTS = 4, MOST_ACTIONS = 10, CHALLENGERS = MOST_CHALLENGERS, REPLACED_EACH = 2500 };
static const double confidence = 0.95;
static bool plain_test; /* by the gain's own sequence, to compare with */

/* What a decision can be about: contexts that are alike often, actions with an expected reward in each. */
typedef struct world {
    size_t actions;
    double reward[CONTEXTS][MOST_ACTIONS];
    double floor; /* of the online policy: the share that is left to chance */
    random_stream chance;
    evaluation_request request; /* as live_track has it */
} world;

/* A policy that prefers one action in each context. */
typedef struct preferring {
    size_t favourite[CONTEXTS];
    double floor;
    bool chases; /* what had the best rewards in the log so far */
    double seen[CONTEXTS][MOST_ACTIONS], sum[CONTEXTS][MOST_ACTIONS];
} preferring;

static void world_start(world *self, size_t actions, double floor, uint64_t seed)
{
    *self = (world){.actions = actions, .floor = floor, .chance = random_named(seed, "promotions")};
    self->request = evaluation_usual();
    self->request.estimators[0] = (estimator_request){ESTIMATOR_IPS, false};
    self->request.estimator_count = 1;
    self->request.tests_gain = true;
    self->request.alpha = 1.0 - confidence;
}

static void probabilities_of(const preferring *who, size_t context, size_t actions, double *out)
{
    for (size_t a = 0; a < actions; a++)
        out[a] = who->floor / (double)actions + (a == who->favourite[context] ? 1.0 - who->floor : 0.0);
}

/* A decision of the online policy, which prefers action 0. */
typedef struct decided {
    size_t context;
    double probabilities[MOST_ACTIONS];
    log_event event;
} decided;

static void decide(world *self, decided *out)
{
    const preferring online = {.floor = self->floor};
    size_t action = 0;
    out->context = (size_t)random_below(&self->chance, CONTEXTS);
    probabilities_of(&online, out->context, self->actions, out->probabilities);
    for (double left = random_unit(&self->chance); action + 1 < self->actions; action++) {
        left -= out->probabilities[action];
        if (left < 0.0) break;
    }
    out->event = (log_event){.count = self->actions,
                             .action = action,
                             .probability = out->probabilities[action],
                             .probabilities = out->probabilities,
                             .reward = random_unit(&self->chance) < self->reward[out->context][action],
                             .copies = 1.0};
}

/* ---- a challenger and its test ---- */

typedef struct challenger {
    preferring who;
    uint64_t test;
    tally sums;
} challenger;

static void challenger_start(challenger *self, const world *of, preferring who, uint64_t test)
{
    self->who = who;
    self->test = test;
    tally_start(&self->sums, &of->request, (value_range){0.0, 1.0, INFINITY});
}

static void learn(preferring *who, const decided *from, size_t actions)
{
    size_t z = from->context, best = who->favourite[z];
    who->seen[z][from->event.action] += 1.0;
    who->sum[z][from->event.action] += from->event.reward;
    for (size_t a = 0; a < actions; a++)
        if (who->sum[z][a] * who->seen[z][best] > who->sum[z][best] * who->seen[z][a]) best = a;
    who->favourite[z] = best;
}

/* Judged before it learns. Returns whether its test is passed now. */
static bool challenger_take(challenger *self, const decided *from)
{
    double pi[MOST_ACTIONS];
    probabilities_of(&self->who, from->context, from->event.count, pi);
    tally_round round = {.event = &from->event, .pi = pi};
    if (tally_add(&self->sums, &round, NULL)) abort();
    if (self->who.chases) learn(&self->who, from, from->event.count);
    double target = -log(live_alpha(confidence, self->test));
    return plain_test ? one_sided_log_wealth(&self->sums.gain.below, 0.5) > target
                      : gain_test_log_wealth(&self->sums.test) > target;
}

/* ---- nobody is better ---- */

/* All actions earn the same in a context but the last, which earns less; where the online policy takes any action
 * alike, all of them. */
static void make_equal_world(world *self, size_t number)
{
    static const size_t actions[] = {2, 4, 10};
    static const double floors[] = {0.05, 0.2, 1.0}, means[] = {0.05, 0.5, 0.9};
    world_start(self, actions[number % 3], floors[number / 3 % 3], number);
    for (size_t z = 0; z < CONTEXTS; z++) {
        double mean = means[number / 9 % 3] * (1.0 + 0.1 * (double)z / CONTEXTS);
        for (size_t a = 0; a < self->actions; a++) self->reward[z][a] = mean;
        if (self->actions > 2 && self->floor < 1.0) self->reward[z][self->actions - 1] = 0.8 * mean;
    }
}

/* None of them is better than the online policy: they choose among actions that earn as much, or the one that earns
 * less; and what is left to chance is never better. */
static preferring make_rival(const world *of, size_t kind, size_t turn)
{
    size_t other = 1 + turn % (of->actions > 2 ? of->actions - 2 : 1);
    preferring made = {.floor = of->floor < 1.0 ? of->floor : 0.05};
    for (size_t z = 0; z < CONTEXTS && kind != 0; z++)
        if (kind != 1 || z == turn % CONTEXTS) made.favourite[z] = other;
    if (kind == 2) made.chases = true;
    if (kind == 3 && of->actions > 2) made.favourite[0] = of->actions - 1;
    if (kind == 4) made.floor = 0.5 + 0.5 * of->floor;
    return made;
}

/* Whether it promotes one, ever; *naive becomes whether a plain 95% interval would have. */
static bool promotes_by_mistake(size_t number, size_t events, bool *naive)
{
    enum { KINDS = 6, NAIVE_EACH = 50, NAIVE_FROM = 200 };
    static challenger all[CHALLENGERS];
    world w;
    uint64_t tests = 0;
    make_equal_world(&w, number);
    for (size_t i = 0; i < CHALLENGERS; i++) challenger_start(&all[i], &w, make_rival(&w, i % KINDS, i), ++tests);
    *naive = false;
    bool mistake = false;
    for (size_t t = 1; t <= events && !mistake; t++) {
        decided now;
        decide(&w, &now);
        for (size_t i = 0; i < CHALLENGERS; i++) {
            mistake = challenger_take(&all[i], &now) || mistake;
            if (*naive || t < NAIVE_FROM || t % NAIVE_EACH != 0 ||
                all[i].sums.views[VIEW_PLAIN].sums.events < NAIVE_FROM)
                continue;
            interval plain = interval_of_sums(INTERVAL_NORMAL, ESTIMATOR_DR, &all[i].sums.views[VIEW_PLAIN].gains,
                                              all[i].sums.range, 1.0 - confidence);
            *naive = plain.low > 0.0;
        }
        if (t % REPLACED_EACH != 0) continue;
        size_t place = t / REPLACED_EACH % CHALLENGERS;
        tally_release(&all[place].sums);
        challenger_start(&all[place], &w, make_rival(&w, 1 + t / REPLACED_EACH % (KINDS - 1), t / REPLACED_EACH),
                         ++tests);
    }
    for (size_t i = 0; i < CHALLENGERS; i++) tally_release(&all[i].sums);
    return mistake;
}

/* ---- one is better ---- */

typedef struct better_case {
    size_t actions;
    double online_floor, own_floor;
    size_t contexts; /* in which it chooses otherwise */
    double better;   /* its value is 1 + better times the online policy's, which is near 0.5 */
} better_case;

/* The reward above 0.5 of the action that it prefers in those contexts. */
static double extra_reward(const better_case *of)
{
    double chance = of->online_floor / (double)of->actions;
    double own = 1.0 - of->own_floor + of->own_floor / (double)of->actions, share = (double)of->contexts / CONTEXTS;
    return 0.5 * of->better / (share * (own - (1.0 + of->better) * chance));
}

/* Decisions until it is promoted; `most` + 1: it was not. */
static size_t promoted_after(const better_case *of, size_t number, size_t most)
{
    static challenger one;
    world w;
    preferring who = {.floor = of->own_floor};
    world_start(&w, of->actions, of->online_floor, 1000000 + number);
    for (size_t z = 0; z < CONTEXTS; z++) {
        for (size_t a = 0; a < w.actions; a++) w.reward[z][a] = 0.5;
        if (z < of->contexts) who.favourite[z] = 1;
        if (z < of->contexts) w.reward[z][1] += extra_reward(of);
    }
    challenger_start(&one, &w, who, 1);
    size_t t = 1;
    for (decided now; t <= most; t++) {
        decide(&w, &now);
        if (challenger_take(&one, &now)) break;
    }
    tally_release(&one.sums);
    return t;
}

/* ---- many of them ---- */

static size_t count_mistakes(size_t bandits, size_t events, size_t *naive)
{
    size_t mistakes = *naive = 0;
    for (size_t i = 0; i < bandits; i++) {
        bool is_naive;
        mistakes += promotes_by_mistake(i, events, &is_naive);
        *naive += is_naive;
    }
    return mistakes;
}

static int compare_sizes(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return a < b ? -1 : a > b;
}

/* The share that is promoted within so many decisions, and the median of how many it takes. */
static double share_promoted(const better_case *of, size_t bandits, size_t events, size_t *median)
{
    size_t *after = calloc(bandits, sizeof *after), promoted = 0;
    if (!after) abort();
    for (size_t i = 0; i < bandits; i++) after[i] = promoted_after(of, i, events);
    qsort(after, bandits, sizeof *after, compare_sizes);
    while (promoted < bandits && after[promoted] <= events) promoted++;
    *median = after[bandits / 2];
    free(after);
    return (double)promoted / (double)bandits;
}

static const better_case cases[] = {
    {2, 1.0, 0.05, 4, 0.05}, {2, 1.0, 0.05, 4, 0.10},  {2, 1.0, 0.05, 4, 0.20},  {4, 0.2, 0.2, 4, 0.05},
    {4, 0.2, 0.2, 4, 0.10},  {4, 0.2, 0.2, 4, 0.20},   {4, 0.2, 0.2, 1, 0.05},   {4, 0.2, 0.2, 1, 0.10},
    {4, 0.2, 0.2, 1, 0.20},  {4, 0.05, 0.05, 1, 0.05}, {4, 0.05, 0.05, 1, 0.10}, {4, 0.05, 0.05, 1, 0.20},
    {10, 0.2, 0.2, 1, 0.05}, {10, 0.2, 0.2, 1, 0.10},  {10, 0.2, 0.2, 1, 0.20},
};

static void print_cases(size_t bandits, size_t events)
{
    printf("\n%-8s %-8s %-9s %-7s %-9s %s\n", "actions", "floor", "otherwise", "better", "promoted",
           "median decisions");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const better_case *one = &cases[i];
        size_t median;
        double share = share_promoted(one, bandits, events, &median);
        printf("%-8zu %-8g %7.0f%% %6.0f%% %8.0f%%  ", one->actions, one->online_floor,
               100.0 * (double)one->contexts / CONTEXTS, 100.0 * one->better, 100.0 * share);
        printf(median > events ? "more than %zu\n" : "%zu\n", median > events ? events : median);
        fflush(stdout);
    }
}

static const size_t usual_events = 20000;

/* The table of make promotions, of so many bandits of each kind; "plain": by the gain's own sequence alone. */
static int print_table(const char *word)
{
    enum { BETTER_EVENTS = 200000 };
    plain_test = strcmp(word, "plain") == 0;
    size_t bandits = plain_test ? 400 : (size_t)strtoul(word, NULL, 10), naive;
    size_t mistakes = count_mistakes(bandits, usual_events, &naive);
    printf("%zu bandits without a better challenger, %zu decisions each, looked at after every one: %zu promote one\n",
           bandits, usual_events, mistakes);
    printf("a plain 95%% interval, looked at every 50 decisions: %zu\n", naive);
    print_cases(bandits / 4 | 1, BETTER_EVENTS);
    return (double)mistakes < (1.0 - confidence) * (double)bandits && 10 * naive > bandits ? 0 : 1;
}
TEST_COMMAND(print_table)

TEST(worse_challengers_are_rarely_promoted)
{
    size_t bandits = test_long(60, 400), naive;
    size_t mistakes = count_mistakes(bandits, test_long(4000, usual_events), &naive);
    assert_true((double)mistakes < (1.0 - confidence) * (double)bandits);
    assert_true(10 * naive > bandits); /* they could have been */
}

TEST(better_challengers_are_promoted)
{
    size_t median;
    assert_true(share_promoted(&cases[8], 11, usual_events, &median) == 1.0);
}
