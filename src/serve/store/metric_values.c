#include "metric_values.h"

#include <math.h>
#include <string.h>

enum { FORMAT = 1 };

/* ---- bytes ---- */

static uint8_t *put(uint8_t *at, uint64_t value, int size)
{
    for (int i = 0; i < size; i++) at[i] = (uint8_t)(value >> 8 * i);
    return at + size;
}

static uint8_t *put_double(uint8_t *at, double value)
{
    uint64_t bits;
    value = isnan(value) ? NAN : value + 0.0; /* one NaN, and no -0 */
    memcpy(&bits, &value, sizeof bits);
    return put(at, bits, 8);
}

static uint8_t *put_value(uint8_t *at, const metric_value *from)
{
    size_t length = strlen(from->name);
    *at++ = (uint8_t)length;
    memcpy(at, from->name, length);
    return put_double(put(at + length, from->count, 4), from->value);
}

size_t metric_values_write(const metric_values *from, uint8_t bytes[METRIC_VALUES_SIZE])
{
    const metric_value *sorted[MOST_METRICS];
    for (size_t i = 0; i < from->count; i++) {
        size_t place = i;
        for (; place && strcmp(sorted[place - 1]->name, from->list[i].name) > 0; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = &from->list[i];
    }
    bytes[0] = FORMAT;
    bytes[1] = (uint8_t)from->count;
    uint8_t *at = put_double(bytes + 2, from->reward);
    for (size_t i = 0; i < from->count; i++) at = put_value(at, sorted[i]);
    return (size_t)(at - bytes);
}

typedef struct cursor {
    const uint8_t *at, *end;
    bool damaged;
} cursor;

static uint64_t get(cursor *from, size_t size)
{
    uint64_t value = 0;
    if ((size_t)(from->end - from->at) < size) from->damaged = true;
    if (from->damaged) return 0;
    for (size_t i = 0; i < size; i++) value |= (uint64_t)from->at[i] << 8 * i;
    from->at += size;
    return value;
}

static double get_double(cursor *from)
{
    uint64_t bits = get(from, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Names are in order, so none comes twice. */
static void get_value(cursor *from, metric_value *out, const char *before)
{
    size_t length = (size_t)get(from, 1);
    if (!length || length >= METRIC_NAME_SIZE || (size_t)(from->end - from->at) < length) from->damaged = true;
    if (from->damaged) return;
    *out = (metric_value){.count = 0};
    memcpy(out->name, from->at, length);
    from->at += length;
    out->count = (uint32_t)get(from, 4);
    out->value = get_double(from);
    if (!out->count || !isfinite(out->value) || strlen(out->name) != length || strcmp(out->name, before) <= 0)
        from->damaged = true;
}

ee_status metric_values_read(const void *bytes, size_t size, metric_values *out, ee_error *error)
{
    cursor from = {bytes, size ? (const uint8_t *)bytes + size : bytes, false};
    *out = (metric_values){.reward = NAN};
    bool known = get(&from, 1) == FORMAT;
    size_t count = (size_t)get(&from, 1);
    double reward = get_double(&from);
    if (!known || count > MOST_METRICS || isinf(reward)) from.damaged = true;
    for (size_t i = 0; i < count && !from.damaged; i++) get_value(&from, &out->list[i], i ? out->list[i - 1].name : "");
    if (from.damaged || from.at != from.end)
        return status_fail(error, EE_BAD_INPUT, "log: the metrics of a reward or a decision are damaged");
    out->count = count;
    out->reward = reward;
    return EE_OK;
}

/* ---- totals ---- */

static size_t place_in(const joining_rules *rules, const char *name)
{
    return metric_find(rules, (json_text){name, strlen(name)});
}

/* The place of a metric's total; a new one may take that of a metric that the bandit no longer has. */
static metric_value *total_of(metric_values *totals, const joining_rules *rules, const char *name)
{
    size_t place = 0;
    while (place < totals->count && strcmp(totals->list[place].name, name) != 0) place++;
    if (place < totals->count) return &totals->list[place];
    if (place == MOST_METRICS)
        for (place = 0; place_in(rules, totals->list[place].name) < rules->metric_count;) place++;
    else
        totals->count++;
    totals->list[place] = (metric_value){.count = 0};
    memcpy(totals->list[place].name, name, strlen(name));
    return &totals->list[place];
}

bool metric_values_join(metric_values *totals, const joining_rules *rules, const metric_values *reward)
{
    bool counted = false;
    for (size_t i = 0; i < reward->count; i++) {
        const metric_value *one = &reward->list[i];
        size_t place = place_in(rules, one->name);
        if (place == rules->metric_count) continue;
        metric_value *total = total_of(totals, rules, one->name);
        log_aggregation aggregation = rules->metrics[place].aggregation;
        if (total->count && aggregation == LOG_REWARD_FIRST) continue;
        total->count++;
        total->value = joining_worth(aggregation, total->value, one->value, total->count);
        counted = true;
    }
    return counted;
}

bool metric_values_has(const metric_values *of, const joining_rules *rules)
{
    for (size_t i = 0; i < of->count; i++)
        if (place_in(rules, of->list[i].name) < rules->metric_count) return true;
    return false;
}

double metric_values_objective(const metric_values *of, const joining_rules *rules)
{
    double values[MOST_METRICS];
    for (size_t i = 0; i < MOST_METRICS; i++) values[i] = NAN;
    for (size_t i = 0; i < of->count; i++) {
        size_t place = place_in(rules, of->list[i].name);
        if (place < rules->metric_count) values[place] = of->list[i].value;
    }
    return metric_objective(rules, isnan(of->reward) ? 0 : of->reward, values);
}

double settled_objective(const event *settled, const joining_rules *rules)
{
    metric_values totals;
    if (!settled->size || metric_values_read(settled->body, settled->size, &totals, NULL)) return settled->value;
    return metric_values_objective(&totals, rules);
}

double reward_id_value(const event *reward)
{
    enum { DROPPED_BITS = 12, FIRST_POWER = 8 }; /* of a double's 52: 2^52 + 52 bits, times 2^8 */
    if (!reward->size) return reward->value;
    uint64_t bits = event_seed(FORMAT, (json_text){reward->body, reward->size}) >> DROPPED_BITS;
    return ldexp((double)(((uint64_t)1 << 52) + bits), FIRST_POWER);
}
