#include "live_guard.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/checksum.h"
#include "data/values/plain_number.h"

/* ---- what is measured ---- */

static void forget_part(guard_part *part)
{
    memory_free(part->lifts);
    *part = (guard_part){0};
}

static void restart_comparison(live_guard *self, uint64_t from)
{
    for (size_t i = 0; i < self->part_count; i++) forget_part(&self->parts[i]);
    forget_part(&self->other);
    self->part_count = 0;
    memset(self->groups, 0, sizeof self->groups);
    self->from = from;
}

/* Rewards have a range only if it is enforced: otherwise it may be that nobody has thought of it. */
static lift start_lift(const bandit_settings *settings, size_t place)
{
    bool limited = !place && settings->outside != OUTSIDE_ACCEPT;
    return limited ? lift_start(settings->reward_low, settings->reward_high) : lift_start(0, 0);
}

static void name_part(guard_part *part, json_text segment, uint64_t hash)
{
    size_t length = segment.length < sizeof part->name ? segment.length : sizeof part->name - 1;
    while (length < segment.length && length && ((unsigned char)segment.bytes[length] & 0xc0) == 0x80) length--;
    if (length) memcpy(part->name, segment.bytes, length);
    part->name[length] = '\0';
    part->hash = hash;
}

static guard_part *find_segment(live_guard *self, json_text segment)
{
    uint64_t hash = checksum_64(segment.length ? segment.bytes : "", segment.length);
    for (size_t i = 1; i < self->part_count; i++)
        if (self->parts[i].hash == hash) return &self->parts[i];
    if (self->part_count > GUARD_SEGMENTS) return &self->other;
    guard_part *made = &self->parts[self->part_count++];
    name_part(made, segment, hash);
    return made;
}

/* A decision of a person. */
typedef struct observation {
    uint64_t key;
    bool treated;
    double share;
    double values[GUARD_VALUES + 1]; /* as live_guard_values counts them, and NaN after the last */
} observation;

static ee_status add_to_part(live_guard *self, guard_part *part, const observation *from, ee_error *error)
{
    size_t count = live_guard_values(self);
    if (!part->lifts) {
        ee_status status = memory_create(NULL, &part->lifts, count, sizeof *part->lifts, error);
        if (status) return status;
        for (size_t i = 0; i < count; i++) part->lifts[i] = start_lift(&self->known, i);
    }
    part->decisions++;
    for (size_t i = 0; i < count; i++)
        lift_add(&part->lifts[i], from->key, from->treated, from->share, from->values[i]);
    return EE_OK;
}

/* ---- tests ---- */

/* A share of the absolute control mean. */
static double margin_of(const live_alarm *bound)
{
    return fabs(bound->factor - 1.0);
}

double live_guard_evidence(const guard_test *test)
{
    const live_alarm *bound = &test->alarm;
    if (bound->decision) return 1.0;
    return lift_violation(test->measured, margin_of(bound), bound->below, bound->alpha);
}

static void write_sentence(live_alarm *alarm, const lift *measured)
{
    lift_estimate now = lift_now(measured, 0.05);
    uint64_t decisions = now.treated.decisions + now.control.decisions;
    snprintf(
        alarm->sentence, sizeof alarm->sentence,
        "%.40s: the mean of treated people, %.16s, is more than %.16s%% %s that of the others, %.16s, after %" PRIu64
        " decisions; false with probability at most %.16s",
        alarm->metric, plain_number_of(now.treated.mean, 4).text, plain_number_of(100 * margin_of(alarm), 4).text,
        alarm->below ? "below" : "above", plain_number_of(now.control.mean, 4).text, decisions,
        plain_number_of(alarm->alpha, 3).text);
}

static size_t value_place(const live_guard *self, const char *metric)
{
    return strcmp(metric, "reward") == 0 ? 0
                                         : 1 + metric_find(&self->known.joining, (json_text){metric, strlen(metric)});
}

static void add_to_test(const live_guard *self, guard_test *test, const observation *from, uint64_t number)
{
    live_alarm *alarm = &test->alarm;
    double value = from->values[value_place(self, alarm->metric)];
    if (number <= test->from || !isfinite(value)) return;
    lift_add(test->measured, from->key, from->treated, from->share, value);
    if (alarm->decision || live_guard_evidence(test) < 1.0) return;
    alarm->decision = number;
    write_sentence(alarm, test->measured);
}

static ee_status start_test(guard_test *test, const bandit_settings *settings, const guard_bound *bound, uint64_t from,
                            ee_error *error)
{
    *test = (guard_test){.from = from, .alarm = {.kind = ALARM_BOUND, .factor = bound->factor, .below = bound->below}};
    snprintf(test->alarm.metric, sizeof test->alarm.metric, "%s", bound->metric);
    ee_status status = memory_create(NULL, &test->measured, 1, sizeof *test->measured, error);
    if (!status) *test->measured = start_lift(settings, strcmp(bound->metric, "reward") != 0);
    return status;
}

static bool is_about(const guard_test *test, const char *metric, double factor, bool below)
{
    return strcmp(test->alarm.metric, metric) == 0 && test->alarm.factor == factor && test->alarm.below == below;
}

/* A test of the bound that is not taken; NULL: none. */
static guard_test *find_test(live_guard *self, const guard_bound *bound)
{
    for (size_t i = 0; i < self->test_count; i++)
        if (self->tests[i].measured && is_about(&self->tests[i], bound->metric, bound->factor, bound->below))
            return &self->tests[i];
    return NULL;
}

static void forget_tests(live_guard *self)
{
    for (size_t i = 0; i < self->test_count; i++) memory_free(self->tests[i].measured);
    self->test_count = 0;
}

/* Divides the level of this start among the tests that start with it. */
static void level_tests(live_guard *self, double error, uint64_t from)
{
    size_t fresh = 0;
    double j = (double)self->starts;
    for (size_t i = 0; i < self->test_count; i++) fresh += self->tests[i].from == from;
    for (size_t i = 0; i < self->test_count; i++) {
        live_alarm *alarm = &self->tests[i].alarm;
        if (self->tests[i].from != from) continue;
        alarm->alpha = error / (j * (j + 1.0)) / (double)fresh;
        alarm->test = ++self->numbered;
    }
    self->last_start = from;
}

/* The tests of new settings. continues: those of the same bounds go on; released: but not after an alarm. */
static ee_status change_tests(live_guard *self, const bandit_settings *next, const guard_settings *tables,
                              bool continues, bool released, uint64_t from, ee_error *error)
{
    guard_test made[GUARD_BOUNDS] = {0};
    size_t count = tables ? tables->bound_count : 0;
    bool any = false;
    ee_status status = EE_OK;
    for (size_t i = 0; i < count && !status; i++) {
        const guard_bound *bound = &tables->bounds[i];
        guard_test *before = continues ? find_test(self, bound) : NULL;
        if (before && !(released && before->logged)) {
            made[i] = *before;
            before->measured = NULL;
        } else {
            status = start_test(&made[i], next, bound, from, error);
            any = true;
        }
        made[i].alarm.then = bound->then;
    }
    forget_tests(self);
    memcpy(self->tests, made, sizeof made);
    self->test_count = count;
    if (status || !any) return status;
    self->starts++;
    level_tests(self, tables->error, from);
    return EE_OK;
}

/* ---- settings ---- */

ee_status live_guard_read_tables(const bandit_settings *of, guard_settings **out, ee_error *error)
{
    *out = NULL;
    if (!of->guardrails[0]) return EE_OK;
    ee_status status = memory_create(NULL, out, 1, sizeof **out, error);
    if (status) return status;
    status = guard_settings_read(*out, of->guardrails, strlen(of->guardrails), error);
    if (!status) return EE_OK;
    guard_settings_release(*out);
    memory_free(*out);
    *out = NULL;
    return status;
}

static void forget_tables(live_guard *self)
{
    if (self->tables) guard_settings_release(self->tables);
    memory_free(self->tables);
    self->tables = NULL;
}

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool same_words(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool join_alike(const joining_rules *a, const joining_rules *b)
{
    bool same = a->wait == b->wait && same_number(a->default_reward, b->default_reward) &&
                a->aggregation == b->aggregation && a->metric_count == b->metric_count;
    for (size_t i = 0; i < a->metric_count && same; i++) {
        const metric_settings *left = &a->metrics[i], *right = &b->metrics[i];
        same = strcmp(left->name, right->name) == 0 && left->aggregation == right->aggregation &&
               same_number(left->missing, right->missing) && left->weight == right->weight;
    }
    return same;
}

/* Whether the same is measured, of decisions that the same policy makes. */
static bool measure_alike(const live_guard *self, const bandit_settings *next, const guard_settings *tables)
{
    const guard_settings *before = self->tables;
    return before && tables && bandit_settings_decide_alike(&self->known, next) &&
           self->known.outside == next->outside && join_alike(&self->known.joining, &next->joining) &&
           before->control == tables->control && before->baseline == tables->baseline &&
           same_words(before->baseline_action, tables->baseline_action);
}

/* They depend on the rules of joining, and without groups on what the bandit does. */
static void restart_means(live_guard *self, uint64_t number)
{
    live_drift_restart(&self->drift, DRIFT_REWARD, number);
    live_drift_restart(&self->drift, DRIFT_DELAY, number);
}

static void change_drift(live_guard *self, const guard_settings *tables, bool measured, uint64_t number)
{
    const guard_settings *before = self->tables;
    if (!tables) return;
    if (!before || before->error != tables->error) {
        live_drift_start(&self->drift, tables->error, number);
        return;
    }
    if (!measured) restart_means(self, number);
    if (!same_words(before->segment, tables->segment)) live_drift_restart(&self->drift, DRIFT_SEGMENT, number);
}

/* from: the event that changes them. */
static ee_status change_settings(live_guard *self, const bandit_settings *next, const event *from, ee_error *error)
{
    guard_settings *tables;
    uint64_t number = from->number;
    ee_status status = live_guard_read_tables(next, &tables, error);
    if (status) return status;
    bool measured = self->started && measure_alike(self, next, tables);
    bool alike = measured && guard_settings_limit_alike(self->tables, tables, from->time);
    bool continues = alike && self->tables->error == tables->error;
    bool released = self->known.held != HELD_NOT && next->held == HELD_NOT;
    if (!alike || !same_words(self->tables->segment, tables->segment)) restart_comparison(self, number);
    change_drift(self, tables, measured, number);
    status = change_tests(self, next, tables, continues, released, number, error);
    forget_tables(self);
    self->tables = tables;
    self->known = *next;
    self->started = true;
    return status;
}

/* A promotion writes SETTINGS and then MODEL: there is no decision between the two, and one start is enough. */
static void change_model(live_guard *self, uint64_t number)
{
    if (!self->tables) return;
    restart_comparison(self, number);
    restart_means(self, number);
    if (!self->test_count) return;
    if (number != self->last_start + 1 || !self->starts) self->starts++;
    for (size_t i = 0; i < self->test_count; i++) {
        guard_test *test = &self->tests[i];
        const char *metric = test->alarm.metric;
        test->from = number;
        test->logged = test->alarm.decision = 0;
        *test->measured = start_lift(&self->known, value_place(self, metric));
    }
    level_tests(self, self->tables->error, number);
}

/* ---- events ---- */

static void count_alarm(live_guard *self, const event *from)
{
    live_alarm alarm;
    self->alarms++;
    if (!live_alarm_read(&alarm, from)) return;
    if (alarm.kind == ALARM_DRIFT && self->drift.count) live_drift_logged(&self->drift, &alarm);
    for (size_t i = 0; i < self->test_count && alarm.kind == ALARM_BOUND; i++)
        if (is_about(&self->tests[i], alarm.metric, alarm.factor, alarm.below) && !self->tests[i].logged)
            self->tests[i].logged = from->number;
}

static ee_status follow_event(live_guard *self, store_reader *log, uint32_t bandit, const event *from, ee_error *error)
{
    bandit_settings next;
    ee_status status = EE_OK;
    if (from->kind == EVENT_MODEL) change_model(self, from->number);
    if (from->kind == EVENT_ALARM) count_alarm(self, from);
    if (from->kind == EVENT_SETTINGS) {
        status = store_read_settings(log, bandit, from->number, &next, error);
        if (!status) status = change_settings(self, &next, from, error);
    }
    if (!status) self->followed = from->number;
    return status;
}

ee_status live_guard_follow(live_guard *self, store_reader *log, uint32_t bandit, const bandit_settings *in_force,
                            uint64_t last, bool *changed, ee_error *error)
{
    const unsigned kinds = 1U << EVENT_SETTINGS | 1U << EVENT_MODEL | 1U << EVENT_ALARM;
    event_batch batch = {0};
    ee_status status = EE_OK;
    while (!status && self->followed < last) {
        uint64_t before = self->followed;
        status = store_read(log, bandit, before, kinds, 16, &batch, error);
        for (size_t i = 0; i < batch.count && !status; i++)
            status = follow_event(self, log, bandit, &batch.events[i], error);
        if (self->followed == before) break; /* retention has removed it since */
        *changed = true;
    }
    event_batch_free(&batch);
    if (status || self->started) return status;
    *changed = true;
    return change_settings(self, in_force, &(event){0}, error); /* the log has no settings */
}

void live_guard_release(live_guard *self)
{
    restart_comparison(self, 0);
    forget_tests(self);
    forget_tables(self);
    live_drift_release(&self->drift);
    *self = (live_guard){0};
}

/* ---- decisions ---- */

/* Of a round: the mean of its slots. NaN: none was received, and there is no default. */
static double reward_of(const log_event *decided, event_outcome outcome)
{
    double sum = 0.0, count = 0.0;
    if (!decided->slot_count) return outcome == SETTLED_NOTHING ? (double)NAN : decided->reward;
    for (size_t i = 0; i < decided->slot_count; i++) {
        if (decided->slots[i].skipped) continue;
        sum += decided->slots[i].reward;
        count++;
    }
    return count > 0.0 ? sum / count : (double)NAN;
}

static double metric_of(const log_event *decided, const metric_settings *metric)
{
    for (size_t i = 0; i < decided->metric_count; i++)
        if (json_is(decided->metrics[i].name, metric->name)) return decided->metrics[i].value;
    return metric->missing;
}

static ee_status compare(live_guard *self, const log_event *decided, double reward, uint64_t number, ee_error *error)
{
    const log_guard *guard = &decided->guard;
    json_text person = guard->key.length ? guard->key : decided->id;
    observation seen = {.key = checksum_64(person.bytes, person.length),
                        .treated = guard->group == LOG_GROUP_TREATED,
                        .share = guard->treated_share,
                        .values = {reward}};
    for (size_t i = 0; i < self->known.joining.metric_count; i++)
        seen.values[1 + i] = metric_of(decided, &self->known.joining.metrics[i]);
    seen.values[live_guard_values(self)] = NAN;
    for (size_t i = 0; i < self->test_count; i++) add_to_test(self, &self->tests[i], &seen, number);
    if (number <= self->from) return EE_OK;
    if (!self->part_count) self->part_count = 1;
    ee_status status = add_to_part(self, &self->parts[0], &seen, error);
    if (!status && self->tables->segment) status = add_to_part(self, find_segment(self, guard->segment), &seen, error);
    return status;
}

ee_status live_guard_take(live_guard *self, const log_event *decided, const settled_decision *facts, ee_error *error)
{
    log_group group = decided->guard.group;
    if (facts->number <= self->taken) return EE_OK;
    self->taken = facts->number;
    if (!self->tables || facts->outcome == SETTLED_INACTIVE) return EE_OK;
    double reward = reward_of(decided, facts->outcome);
    if (facts->number > self->from) self->groups[group]++;
    drift_facts seen = {facts->number, reward, facts->delay, self->tables->segment != NULL, self->tables->control > 0};
    live_drift_take(&self->drift, decided, &seen);
    if (group != LOG_GROUP_TREATED && group != LOG_GROUP_CONTROL && group != LOG_GROUP_WAITING) return EE_OK;
    return compare(self, decided, reward, facts->number, error);
}

const live_alarm *live_guard_alarm(const live_guard *self)
{
    const live_alarm *first = self->tables ? live_drift_alarm(&self->drift) : NULL;
    for (size_t i = 0; i < self->test_count; i++) {
        const guard_test *test = &self->tests[i];
        bool is_new = test->alarm.decision && !test->logged;
        if (is_new && (!first || test->alarm.decision < first->decision)) first = &test->alarm;
    }
    return first;
}
