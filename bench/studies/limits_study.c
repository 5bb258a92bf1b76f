#include "limits_study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "serve/guard/limits.h"

enum { TYPES = 8, ACTIONS = 4, FEATURES = TYPES * ACTIONS };
static const double DAY = 86400e6;
static const double costs[ACTIONS] = {0, 1, 2, 4};

typedef struct world {
    double frequency[TYPES];
    double mean[TYPES][ACTIONS];
    double limit;
} world;

static size_t best_action(const double *mean)
{
    size_t best = 0;
    for (size_t a = 1; a < ACTIONS; a++)
        if (mean[a] > mean[best]) best = a;
    return best;
}

/* Costly actions help some types much, and others little or not at all. Without a budget they are worse for most. */
static world make_world(const limits_plan *plan)
{
    world self = {.limit = 0};
    random_stream random = random_named(plan->seed, "world");
    double sum = 0, spending = 0, help = plan->pace ? 0.25 : 0.15, loss = plan->pace ? 0.05 : 0.15;
    for (size_t t = 0; t < TYPES; t++) sum += self.frequency[t] = 0.5 + random_unit(&random);
    for (size_t t = 0; t < TYPES; t++) {
        double plain = 0.1 + 0.3 * random_unit(&random), gain = help * random_unit(&random);
        self.frequency[t] /= sum;
        self.mean[t][0] = plan->scale * plain;
        for (size_t a = 1; a < ACTIONS; a++)
            self.mean[t][a] =
                plan->scale * fmax(0, plain + gain * sqrt(costs[a]) * (0.5 + random_unit(&random)) - loss);
        spending += self.frequency[t] * costs[best_action(self.mean[t])];
    }
    self.limit = floor(0.4 * spending * (double)plan->per_day);
    return self;
}

/* ---- the optimum ---- */

/* A step of a type from an action to a costlier one. */
typedef struct upgrade {
    double visitors, reward, cost;
} upgrade;

static int by_ratio(const void *left, const void *right)
{
    const upgrade *a = left, *b = right;
    double difference = b->reward * a->cost - a->reward * b->cost;
    return (difference > 0) - (difference < 0);
}

/* The upgrades of a type along the upper concave hull of (cost, reward): each is less worth its cost than the last. */
static size_t add_upgrades(const double *mean, double visitors, upgrade *out)
{
    size_t count = 0, from = 0;
    for (;;) {
        size_t next = 0;
        double best = 0;
        for (size_t a = from + 1; a < ACTIONS; a++) {
            double ratio = (mean[a] - mean[from]) / (costs[a] - costs[from]);
            if (ratio <= best) continue;
            best = ratio;
            next = a;
        }
        if (!next) return count;
        out[count++] = (upgrade){visitors, mean[next] - mean[from], costs[next] - costs[from]};
        from = next;
    }
}

/* The linear program of a day: take the upgrades that are most worth their cost until the budget is used up. */
static double budget_optimum(const world *of, const double *visitors)
{
    upgrade upgrades[TYPES * ACTIONS];
    size_t count = 0;
    double reward = 0, rest = of->limit;
    for (size_t t = 0; t < TYPES; t++) {
        reward += visitors[t] * of->mean[t][0];
        count += add_upgrades(of->mean[t], visitors[t], upgrades + count);
    }
    qsort(upgrades, count, sizeof *upgrades, by_ratio);
    for (size_t i = 0; i < count; i++) {
        double taken = fmin(upgrades[i].visitors, rest / upgrades[i].cost);
        reward += taken * upgrades[i].reward;
        rest -= taken * upgrades[i].cost;
    }
    return reward;
}

/* With a least share: the types that lose least give way, until it is filled. */
static double share_optimum(const world *of, const double *visitors, double low)
{
    upgrade losses[TYPES];
    double reward = 0, missing = 0;
    for (size_t t = 0; t < TYPES; t++) {
        double costly = of->mean[t][1];
        for (size_t a = 2; a < ACTIONS; a++) costly = fmax(costly, of->mean[t][a]);
        double gain = costly - of->mean[t][0];
        reward += visitors[t] * fmax(costly, of->mean[t][0]);
        missing += low * visitors[t] - (gain > 0 ? visitors[t] : 0);
        losses[t] = (upgrade){gain > 0 ? 0 : visitors[t], gain, 1};
    }
    qsort(losses, TYPES, sizeof *losses, by_ratio);
    for (size_t t = 0; t < TYPES && missing > 0; t++) {
        double taken = fmin(losses[t].visitors, missing);
        reward += taken * losses[t].reward;
        missing -= taken;
    }
    return reward;
}

/* ---- traffic ---- */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Times within a day, 0 to 1. */
static void draw_times(random_stream *random, bool waves, double *times, size_t count)
{
    for (size_t i = 0; i < count;) {
        double time = random_unit(random), rate = waves ? 1 + 0.8 * sin(6.283185307 * (time - 0.4)) : 1.8;
        if (random_unit(random) * 1.8 < rate) times[i++] = time;
    }
    qsort(times, count, sizeof *times, by_value);
}

/* ---- one decision ---- */

typedef struct player {
    const limits_plan *plan;
    const world *of;
    guard_settings settings;
    limit_state *limits;
    ee_bandit *bandit;
    random_stream random;
    limits_day *day;
    double *masses; /* (days * per_day) the costly actions' probability in each decision */
    double *moments;
    size_t count;
} player;

static void fill_arms(size_t type, float *values)
{
    memset(values, 0, sizeof(float) * ACTIONS * FEATURES);
    for (size_t a = 0; a < ACTIONS; a++) values[a * FEATURES + type * ACTIONS + a] = 1;
}

static ee_status score(const player *self, size_t type, const ee_arms *arms, double *scores, ee_error *error)
{
    ee_score found[ACTIONS];
    if (self->plan->knows) {
        memcpy(scores, self->of->mean[type], sizeof self->of->mean[type]);
        return EE_OK;
    }
    ee_status status = ee_bandit_score(self->bandit, arms, found, error);
    for (size_t a = 0; a < ACTIONS && !status; a++) scores[a] = (double)found[a].score;
    return status;
}

/* The best score, and a uniform part. Then the share within its bounds, the others in proportion. */
static void draw_probabilities(const player *self, const double *scores, const uint8_t *excluded, bool bounded,
                               double low, double high, double *probabilities)
{
    size_t best = ACTIONS, left = 0;
    double mass = 0, top = -INFINITY, second = -INFINITY;
    size_t costly = 0;
    for (size_t a = 0; a < ACTIONS; a++) {
        probabilities[a] = 0;
        if (excluded[a]) continue;
        left++;
        if (scores[a] > top) top = scores[best = a];
        if (a && scores[a] > second) second = scores[costly = a];
    }
    for (size_t a = 0; a < ACTIONS; a++)
        if (!excluded[a]) probabilities[a] = self->plan->epsilon / (double)left;
    probabilities[best] += 1 - self->plan->epsilon;
    for (size_t a = 1; a < ACTIONS; a++) mass += probabilities[a];
    if (!bounded || !costly || excluded[0] || (mass >= low && mass <= high)) return;
    if (mass < low) {
        probabilities[costly] += low - mass;
        probabilities[0] = 1 - low;
    } else {
        for (size_t a = 1; a < ACTIONS; a++) probabilities[a] *= high / mass;
        probabilities[0] = 1 - high;
    }
}

static size_t draw(random_stream *random, const double *probabilities)
{
    double point = random_unit(random);
    size_t chosen = ACTIONS;
    for (size_t a = 0; a < ACTIONS; a++) {
        if (!(probabilities[a] > 0)) continue;
        chosen = a;
        if (point < probabilities[a]) break;
        point -= probabilities[a];
    }
    return chosen;
}

static ee_status decide(player *self, int64_t now, size_t type, bool first_half, ee_error *error)
{
    static const uint64_t matches[ACTIONS] = {0, 1, 1, 1};
    uint8_t excluded[ACTIONS] = {0};
    float boosts[ACTIONS] = {0}, values[ACTIONS * FEATURES];
    uint32_t shares[ACTIONS];
    bool any_boost = false, any_share = false;
    double low = 0, high = 1, scores[ACTIONS], probabilities[ACTIONS], mass = 0;
    limits_round round = {.now = now, .count = ACTIONS, .matches = matches, .costs = costs, .excluded = excluded};
    fill_arms(type, values);
    ee_arms arms = ee_arms_dense(values, ACTIONS, FEATURES);
    ee_status status = score(self, type, &arms, scores, error);
    if (!status)
        status =
            limits_apply(self->limits, &round, excluded, boosts, &any_boost, shares, &low, &high, &any_share, error);
    if (status) return status;
    for (size_t a = 0; a < ACTIONS; a++) scores[a] += (double)boosts[a];
    draw_probabilities(self, scores, excluded, any_share, low, high, probabilities);
    size_t action = draw(&self->random, probabilities);
    status = limits_decided(self->limits, &round, action, probabilities, error);
    for (size_t a = 1; a < ACTIONS; a++) mass += probabilities[a];
    self->masses[self->count] = mass;
    self->moments[self->count++] = (double)now;
    self->day->reward += self->of->mean[type][action];
    self->day->used += costs[action];
    if (first_half) self->day->half += costs[action];
    self->day->share += mass / (double)self->plan->per_day;
    if (status || self->plan->knows) return status;
    double chance = self->of->mean[type][action] / self->plan->scale;
    double reward = random_unit(&self->random) < chance ? self->plan->scale : 0;
    return ee_bandit_learn_from(self->bandit, &arms, action, reward, error);
}

/* ---- days ---- */

static size_t draw_type(player *self)
{
    double point = random_unit(&self->random);
    size_t type = 0;
    while (type + 1 < TYPES && point >= self->of->frequency[type]) point -= self->of->frequency[type++];
    return type;
}

static ee_status play_day(player *self, size_t day, double *times, ee_error *error)
{
    double visitors[TYPES] = {0};
    ee_status status = EE_OK;
    self->day->least = 1;
    draw_times(&self->random, self->plan->waves, times, self->plan->per_day);
    for (size_t i = 0; i < self->plan->per_day && !status; i++) {
        size_t type = draw_type(self);
        visitors[type]++;
        status =
            decide(self, (int64_t)((20000 + (double)day + times[i]) * DAY), type, 2 * i < self->plan->per_day, error);
    }
    self->day->free = share_optimum(self->of, visitors, 0);
    self->day->optimum =
        self->plan->pace ? budget_optimum(self->of, visitors) : share_optimum(self->of, visitors, self->plan->low);
    self->day->half /= fmax(1e-9, self->day->used);
    self->day->used /= self->of->limit;
    return status;
}

/* The share in every window of a day, from the second day on. */
static void measure_windows(const player *self, limits_day *days)
{
    double sum = 0;
    size_t from = 0;
    for (size_t i = 0; i < self->count; i++) {
        size_t day = i / self->plan->per_day;
        sum += self->masses[i];
        while (self->moments[from] <= self->moments[i] - DAY) sum -= self->masses[from++];
        if (day) days[day].least = fmin(days[day].least, sum / (double)(i - from + 1));
    }
}

static ee_status read_settings(const limits_plan *plan, const world *of, guard_settings *out, ee_error *error)
{
    char words[400];
    int length = snprintf(words, sizeof words, "{\"shares\":[");
    if (plan->low > 0)
        length += snprintf(words + length, sizeof words - (size_t)length,
                           "{\"name\":\"costly\",\"action\":{\"kind\":\"costly\"},\"low\":%g%s}", plan->low,
                           plan->window ? ",\"window\":\"1d\"" : "");
    length += snprintf(words + length, sizeof words - (size_t)length, "],\"budgets\":[");
    if (plan->pace)
        length += snprintf(words + length, sizeof words - (size_t)length,
                           "{\"name\":\"coupons\",\"cost\":\"cost\",\"limit\":%.0f,\"per\":\"1d\",\"pace\":\"%s\"}",
                           of->limit, plan->pace == LIMITS_EVEN ? "even" : "first");
    length += snprintf(words + length, sizeof words - (size_t)length, "]}");
    return guard_settings_read(out, words, (size_t)length, error);
}

ee_status limits_play(const limits_plan *plan, limits_day *days, ee_error *error)
{
    world problem = make_world(plan);
    player self = {.plan = plan, .of = &problem, .random = random_named(plan->seed, "visitors")};
    ee_settings settings = {.policy = "eenet", .dim = FEATURES, .seed = plan->seed};
    double *times = NULL;
    memset(days, 0, LIMITS_DAYS * sizeof *days);
    ee_status status = read_settings(plan, &problem, &self.settings, error);
    if (!status) status = limits_create(&self.settings, NULL, &self.limits, error);
    if (!status && !plan->knows) status = ee_bandit_create(&settings, &self.bandit, error);
    if (!status) status = memory_create(NULL, &times, plan->per_day, sizeof *times, error);
    if (!status) status = memory_create(NULL, &self.masses, LIMITS_DAYS * plan->per_day, sizeof(double), error);
    if (!status) status = memory_create(NULL, &self.moments, LIMITS_DAYS * plan->per_day, sizeof(double), error);
    for (size_t day = 0; day < LIMITS_DAYS && !status; day++) {
        self.day = &days[day];
        status = play_day(&self, day, times, error);
    }
    if (!status) measure_windows(&self, days);
    memory_free(times);
    memory_free(self.masses);
    memory_free(self.moments);
    ee_bandit_free(self.bandit);
    limits_free(self.limits);
    guard_settings_release(&self.settings);
    return status;
}

/* ---- caps ---- */

enum { PERSON_MOST = 3 };
static const int64_t HOUR = (int64_t)3600 * 1000000;

typedef struct written {
    int64_t time;
    uint64_t key;
} written;

typedef struct burst {
    guard_settings settings;
    limit_state *limits;
    random_stream random;
    uint64_t persons;
    written *log;
    size_t count;
} burst;

/* Every decision has an action without a cap, and one that both caps concern. */
static const uint64_t capped[2] = {0, 3};

static limits_round capped_round(int64_t now, uint64_t key)
{
    return (limits_round){.now = now, .has_key = true, .key = key, .count = 2, .matches = capped};
}

/* Starts again from the log. */
static ee_status restart(burst *self, int64_t now, ee_error *error)
{
    static const double probabilities[2] = {0.5, 0.5};
    size_t from = self->count;
    limits_free(self->limits);
    ee_status status = limits_create(&self->settings, NULL, &self->limits, error);
    while (!status && from && self->log[from - 1].time > now - limits_span(self->limits)) from--;
    for (; from < self->count && !status; from++) {
        limits_round round = capped_round(self->log[from].time, self->log[from].key);
        status = limits_decided(self->limits, &round, 1, probabilities, error);
    }
    return status;
}

/* One decision at this time; a few are not written. */
static ee_status decide_capped(burst *self, int64_t now, ee_error *error)
{
    static const double probabilities[2] = {0.5, 0.5};
    uint8_t excluded[2] = {0};
    float boosts[2] = {0};
    uint32_t shares[2];
    bool any_boost = false, any_share = false;
    limits_round round = capped_round(now, random_below(&self->random, self->persons));
    ee_status status =
        limits_apply(self->limits, &round, excluded, boosts, &any_boost, shares, NULL, NULL, &any_share, error);
    if (status || excluded[1]) return status;
    status = limits_decided(self->limits, &round, 1, probabilities, error);
    if (!status && random_unit(&self->random) < 0.05)
        limits_undo(self->limits, &round, 1, probabilities);
    else if (!status)
        self->log[self->count++] = (written){now, round.key};
    return status;
}

/* The most decisions of a person (`persons`: of all) in any span of an hour. */
static size_t most_in_span(const burst *self, uint64_t key)
{
    size_t most = 0, inside = 0;
    for (size_t i = 0, from = 0; i < self->count; i++) {
        if (key != self->persons && self->log[i].key != key) continue;
        for (inside++; self->log[from].time <= self->log[i].time - HOUR; from++)
            inside -= key == self->persons || self->log[from].key == key;
        if (inside > most) most = inside;
    }
    return most;
}

ee_status limits_burst(uint64_t seed, size_t count, uint64_t most, limits_caps *out, ee_error *error)
{
    /* So many persons and decisions that both caps are reached. */
    burst self = {.random = random_named(seed, "burst"), .persons = most < 100 ? 50 : most / 2};
    uint64_t gap = (uint64_t)HOUR / (most + 20);
    char words[300];
    int64_t now = (int64_t)(20000 * DAY);
    int length = snprintf(words, sizeof words,
                          "{\"caps\":[{\"name\":\"all\",\"action\":{\"kind\":\"a\"},\"most\":%llu,\"per\":\"1h\"},"
                          "{\"name\":\"person\",\"action\":{\"kind\":\"a\"},\"most\":%d,\"per\":\"1h\","
                          "\"each\":\"key\"}]}",
                          (unsigned long long)most, PERSON_MOST);
    *out = (limits_caps){0};
    ee_status status = guard_settings_read(&self.settings, words, (size_t)length, error);
    if (!status) status = limits_create(&self.settings, NULL, &self.limits, error);
    if (!status) status = memory_create(NULL, &self.log, count, sizeof *self.log, error);
    for (size_t i = 0; i < count && !status; i++) {
        /* Mostly bursts, in which many decisions have the same time; pauses of up to two hours between them. */
        double pause = random_unit(&self.random);
        if (pause < 0.4 / (double)(most + 40)) now += (int64_t)random_below(&self.random, 2 * (uint64_t)HOUR);
        if (pause > 0.5) now += (int64_t)random_below(&self.random, gap);
        if (random_unit(&self.random) < 0.001) {
            status = restart(&self, now, error);
            out->restarts++;
        }
        if (!status) status = decide_capped(&self, now, error);
    }
    out->decisions = self.count;
    out->all = (double)most_in_span(&self, self.persons) / (double)most;
    for (uint64_t key = 0; key < self.persons; key++)
        out->person = fmax(out->person, (double)most_in_span(&self, key) / PERSON_MOST);
    memory_free(self.log);
    limits_free(self.limits);
    guard_settings_release(&self.settings);
    return status;
}
