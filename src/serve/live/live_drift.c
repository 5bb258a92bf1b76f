#include "live_drift.h"

#include <math.h>
#include <stdio.h>

#include "base/checksum.h"
#include "data/values/plain_number.h"

static const char *const fixed[DRIFT_NUMBER] = {[DRIFT_REWARD] = "reward",
                                                [DRIFT_DELAY] = "delay",
                                                [DRIFT_SEGMENT] = "segment",
                                                [DRIFT_ACTIONS] = "actions",
                                                [DRIFT_FEATURES] = "features"};

static uint64_t hash_of(const char *bytes, size_t length)
{
    return checksum_64(length ? bytes : "", length);
}

/* ---- one watch ---- */

static bool is_mean(size_t subject)
{
    return subject <= DRIFT_DELAY;
}

static void watch_start(drift_watch *self, size_t subject, uint64_t from)
{
    uint64_t seed = hash_of(self->name, strlen(self->name)) + from;
    self->from = from;
    self->collects = false;
    if (is_mean(subject))
        self->mean = drift_mean_start(0, seed);
    else if (subject < DRIFT_NUMBER)
        self->shares = drift_shares_start(0, seed);
    else
        self->range = drift_range_start(0, seed);
}

static double watch_end_block(drift_watch *self, size_t subject)
{
    if (is_mean(subject)) {
        drift_mean_end_block(&self->mean);
        return drift_mean_log_wealth(&self->mean);
    }
    if (subject < DRIFT_NUMBER) {
        drift_shares_end_block(&self->shares);
        return drift_shares_log_wealth(&self->shares);
    }
    drift_range_end_block(&self->range);
    return drift_range_log_wealth(&self->range);
}

static void write_sentence(live_alarm *alarm, size_t subject)
{
    static const char *const changes[DRIFT_NUMBER] = {
        [DRIFT_REWARD] = "the mean reward has changed",
        [DRIFT_DELAY] = "rewards come sooner or later than before",
        [DRIFT_SEGMENT] = "the shares of the segments have changed",
        [DRIFT_ACTIONS] = "requests offer other actions, or in other shares",
        [DRIFT_FEATURES] = "contexts have other feature names, or in other shares"};
    char change[160];
    if (subject < DRIFT_NUMBER)
        snprintf(change, sizeof change, "%s", changes[subject]);
    else
        snprintf(change, sizeof change, "%s has more values outside its usual range", alarm->metric);
    snprintf(alarm->sentence, sizeof alarm->sentence, "drift: %s; false with probability at most %s", change,
             plain_number_of(alarm->alpha, 3).text);
}

/* ---- all of them ---- */

static uint64_t run_of(const live_drift *self, const drift_watch *watch)
{
    return self->restarts + watch->runs + 1;
}

static double level_of(const live_drift *self, const drift_watch *watch)
{
    double j = (double)run_of(self, watch);
    return self->error / DRIFT_WATCHES / (j * (j + 1.0));
}

/* Numeric features keep their place only if the log has an alarm of them: their others are found again. */
static void keep_numbers(live_drift *self)
{
    size_t kept = DRIFT_NUMBER;
    for (size_t i = DRIFT_NUMBER; i < self->count; i++)
        if (self->watches[i].alarms) self->watches[kept++] = self->watches[i];
    self->count = kept;
}

void live_drift_start(live_drift *self, double error, uint64_t from)
{
    if (self->count) {
        self->restarts++;
        keep_numbers(self);
    } else {
        for (size_t i = 0; i < DRIFT_NUMBER; i++)
            snprintf(self->watches[i].name, sizeof self->watches[i].name, "%s", fixed[i]);
        self->count = DRIFT_NUMBER;
    }
    self->error = error;
    self->from = from;
    self->in_block = 0;
    for (size_t i = 0; i < self->count; i++) {
        self->watches[i].pending = (live_alarm){0};
        watch_start(&self->watches[i], i, from);
    }
}

void live_drift_release(live_drift *self)
{
    memory_release(&self->owner);
    *self = (live_drift){0};
}

void live_drift_restart(live_drift *self, drift_subject subject, uint64_t from)
{
    drift_watch *watch = &self->watches[subject];
    watch->runs++;
    watch->pending = (live_alarm){0};
    watch_start(watch, subject, from);
}

/* NULL: there is no room for another. */
static drift_watch *find_number(live_drift *self, const char *name, uint64_t from)
{
    for (size_t i = DRIFT_NUMBER; i < self->count; i++)
        if (strcmp(self->watches[i].name, name) == 0) return &self->watches[i];
    if (self->count == DRIFT_WATCHES) return NULL;
    drift_watch *made = &self->watches[self->count];
    *made = (drift_watch){0};
    snprintf(made->name, sizeof made->name, "%s", name);
    watch_start(made, self->count++, from);
    return made;
}

/* ---- blocks ---- */

/* Decision `number` begins a new block. */
static void end_block(live_drift *self, uint64_t number)
{
    for (size_t i = 0; i < self->count; i++) {
        drift_watch *watch = &self->watches[i];
        if (!watch->collects) {
            watch->collects = number >= watch->from;
            continue;
        }
        double alpha = level_of(self, watch), wealth = watch_end_block(watch, i);
        if (watch->pending.decision || !(wealth >= -log(alpha))) continue;
        watch->pending = (live_alarm){
            .kind = ALARM_DRIFT, .test = run_of(self, watch), .alpha = alpha, .decision = number, .then = GUARD_ALERT};
        snprintf(watch->pending.metric, sizeof watch->pending.metric, "%s", watch->name);
        write_sentence(&watch->pending, i);
        watch_start(watch, i, number);
        watch->collects = true;
    }
}

static void enter_block(live_drift *self, double time, uint64_t number)
{
    const double seconds = 86400;
    int64_t day = fabs(time) < 1e15 ? (int64_t)floor(time / seconds) : self->day;
    if (!self->in_block) {
        self->day = day;
    } else if (day > self->day && self->in_block >= DRIFT_BLOCK_LEAST) {
        end_block(self, number);
        self->day = day;
        self->in_block = 0;
    }
    self->in_block++;
}

/* ---- decisions ---- */

static void add_name(live_drift *self, drift_subject subject, uint64_t name)
{
    drift_watch *watch = &self->watches[subject];
    if (watch->collects) drift_shares_add(&watch->shares, name);
}

static void add_number(live_drift *self, const char *path, double value)
{
    char name[ALARM_METRIC_SIZE];
    snprintf(name, sizeof name, "feature %.90s", path);
    drift_watch *watch = find_number(self, name, self->from);
    if (watch && watch->collects) drift_range_add(&watch->range, value);
}

static void take_actions(live_drift *self, const log_event *decided)
{
    uint64_t count = decided->count;
    if (!decided->actions) add_name(self, DRIFT_ACTIONS, count);
    for (size_t i = 0; decided->actions && i < count; i++)
        add_name(self, DRIFT_ACTIONS, hash_of(decided->actions[i].bytes, decided->actions[i].length));
}

static void take_vectors(live_drift *self, const ee_arms *arms)
{
    float low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < arms->count * arms->dim; i++) {
        float value = arms->values[i];
        if (value < low) low = value;
        if (value > high) high = value;
    }
    add_number(self, "vectors", low);
    add_number(self, "vectors", high);
}

/* Names that begin with _ belong to the format. */
static void take_members(live_drift *self, json_reader *reader, const char *parent)
{
    json_token token;
    while (!json_next(reader, &token, NULL) && token.kind != JSON_KIND_OBJECT_END && token.kind != JSON_KIND_END) {
        char path[96];
        bool is_feature = token.key.length && token.key.bytes[0] != '_';
        snprintf(path, sizeof path, "%s%s%.*s", parent, parent[0] ? "." : "", json_shown(token.key), token.key.bytes);
        if (is_feature) add_name(self, DRIFT_FEATURES, hash_of(path, strlen(path)));
        if (is_feature && token.kind == JSON_KIND_NUMBER) add_number(self, path, token.number);
        if (is_feature && token.kind == JSON_KIND_OBJECT && !parent[0])
            take_members(self, reader, path);
        else if (json_skip(reader, &token, NULL, NULL))
            return;
    }
}

static void take_context(live_drift *self, json_text context)
{
    json_token token;
    self->room.owner = &self->owner;
    json_reader reader = json_start(context.bytes, context.length, &self->room);
    if (!json_next(&reader, &token, NULL) && token.kind == JSON_KIND_OBJECT) take_members(self, &reader, "");
}

static void add_mean(live_drift *self, drift_subject subject, double value)
{
    drift_watch *watch = &self->watches[subject];
    if (watch->collects) drift_mean_add(&watch->mean, value);
}

void live_drift_take(live_drift *self, const log_event *decided, const drift_facts *facts)
{
    const double least_delay = 1e-3;
    log_group group = decided->guard.group;
    bool is_measured = facts->has_control ? group == LOG_GROUP_CONTROL : group != LOG_GROUP_TREATED;
    json_text segment = decided->guard.segment;
    if (facts->number <= self->from) return;
    enter_block(self, decided->time, facts->number);
    if (is_measured) add_mean(self, DRIFT_REWARD, facts->reward);
    if (is_measured && !isnan(facts->delay)) add_mean(self, DRIFT_DELAY, log(fmax(facts->delay, least_delay)));
    if (facts->has_segment) add_name(self, DRIFT_SEGMENT, hash_of(segment.bytes, segment.length));
    take_actions(self, decided);
    if (decided->arms.count && !decided->arms.starts)
        take_vectors(self, &decided->arms);
    else if (decided->context.length)
        take_context(self, decided->context);
}

/* ---- alarms ---- */

const live_alarm *live_drift_alarm(const live_drift *self)
{
    const live_alarm *first = NULL;
    for (size_t i = 0; i < self->count; i++) {
        const live_alarm *one = &self->watches[i].pending;
        if (one->decision && (!first || one->decision < first->decision)) first = one;
    }
    return first;
}

/* The log may be read again from its start: then the alarm comes before the decision that raised it. */
void live_drift_logged(live_drift *self, const live_alarm *alarm)
{
    drift_watch *watch = NULL;
    for (size_t i = 0; i < DRIFT_NUMBER && !watch; i++)
        if (strcmp(alarm->metric, fixed[i]) == 0) watch = &self->watches[i];
    if (!watch) watch = find_number(self, alarm->metric, self->from);
    if (!watch || alarm->decision < watch->from) return;
    watch->runs++;
    watch->alarms++;
    if (watch->pending.decision)
        watch->pending = (live_alarm){0};
    else
        watch_start(watch, (size_t)(watch - self->watches), alarm->decision);
}

/* ---- saving ---- */

static void archive_watch(archive *a, drift_watch *self, size_t subject)
{
    size_t collects = self->collects;
    archive_text(a, self->name, sizeof self->name, "watch");
    archive_u64(a, &self->from);
    archive_u64(a, &self->runs);
    archive_u64(a, &self->alarms);
    archive_size(a, &collects, 0, 1, "watch");
    self->collects = collects;
    live_alarm_archive(a, &self->pending);
    if (is_mean(subject))
        drift_mean_archive(a, &self->mean);
    else if (subject < DRIFT_NUMBER)
        drift_shares_archive(a, &self->shares);
    else
        drift_range_archive(a, &self->range);
}

void live_drift_archive(archive *a, live_drift *self)
{
    uint64_t day = (uint64_t)self->day;
    archive_bytes(a, &self->error, sizeof self->error);
    archive_u64(a, &self->from);
    archive_u64(a, &self->restarts);
    archive_u64(a, &day);
    self->day = (int64_t)day;
    archive_u64(a, &self->in_block);
    archive_size(a, &self->count, 0, DRIFT_WATCHES, "watches");
    for (size_t i = 0; i < self->count && !a->status; i++) archive_watch(a, &self->watches[i], i);
}
