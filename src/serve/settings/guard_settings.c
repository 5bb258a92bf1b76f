#include "guard_settings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/options.h"
#include "data/values/json_tree.h"
#include "data/values/log_time.h"

static const int64_t DAY = (int64_t)86400 * 1000000;

/* ---- messages ---- */

/* Where the reader is: "caps[1]". */
typedef struct place {
    const char *member;
    size_t index;
} place;

__attribute__((format(printf, 3, 4))) static ee_status refuse(place at, ee_error *error, const char *format, ...)
{
    char what[180];
    va_list values;
    va_start(values, format);
    vsnprintf(what, sizeof what, format, values);
    va_end(values);
    if (at.index == SIZE_MAX) return status_fail(error, EE_BAD_INPUT, "guardrails: %s: %s", at.member, what);
    return status_fail(error, EE_BAD_INPUT, "guardrails: %s[%zu]: %s", at.member, at.index, what);
}

static place single(const char *member)
{
    return (place){member, SIZE_MAX};
}

/* Refuses members that are not in names, with the nearest one. */
static ee_status check_members(place at, const json_value *object, const char *const *names, size_t count,
                               ee_error *error)
{
    if (!json_has_kind(object, JSON_KIND_OBJECT)) return refuse(at, error, "expected an object");
    for (const json_value *member = object->first; member; member = member->next) {
        bool known = false;
        for (size_t i = 0; i < count; i++) known |= strcmp(member->key, names[i]) == 0;
        if (known) continue;
        const char *nearest = options_nearest(member->key, names, count);
        return refuse(at, error, "unknown member '%.40s'%s%s%s", member->key, nearest ? "; did you mean '" : "",
                      nearest ? nearest : "", nearest ? "'?" : "");
    }
    return EE_OK;
}
#define CHECK_MEMBERS(at, object, error, ...)                                                                          \
    check_members(at, object, (const char *const[]){__VA_ARGS__},                                                      \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), error)

/* ---- values ---- */

bool duration_parse(json_text words, double number, int64_t *microseconds)
{
    static const struct {
        char unit;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    double seconds = words.bytes ? NAN : number;
    if (words.bytes && words.length >= 2) {
        json_reader reader = json_start(words.bytes, words.length - 1, NULL);
        json_token token, end;
        bool plain = !json_next(&reader, &token, NULL) && token.kind == JSON_KIND_NUMBER &&
                     !json_next(&reader, &end, NULL) && end.kind == JSON_KIND_END;
        for (size_t i = 0; plain && i < sizeof units / sizeof *units; i++)
            if (words.bytes[words.length - 1] == units[i].unit) seconds = token.number * units[i].seconds;
    }
    if (!(seconds >= 1e-6 && seconds <= 366 * 86400.0)) return false;
    *microseconds = llround(seconds * 1e6);
    return true;
}

static ee_status read_duration(place at, const json_value *of, const char *name, int64_t *into, ee_error *error)
{
    const json_value *value = json_member(of, name);
    const char *words = json_text_of(value);
    json_text given = {words, words ? strlen(words) : 0};
    if (!value) return EE_OK;
    if ((words || value->kind == JSON_KIND_NUMBER) && duration_parse(given, value->number, into)) return EE_OK;
    return refuse(at, error, "%s must be seconds, or a string such as \"10m\", \"4h\" or \"2d\"; above 0, at most 366d",
                  name);
}

static ee_status read_number(place at, const json_value *of, const char *name, double low, double high, double *into,
                             ee_error *error)
{
    const json_value *value = json_member(of, name);
    if (!value) return EE_OK;
    if (value->kind != JSON_KIND_NUMBER || !(value->number >= low && value->number <= high))
        return refuse(at, error, "%s must be a number from %g to %g", name, low, high);
    *into = value->number;
    return EE_OK;
}

static ee_status read_moment(place at, const json_value *of, const char *name, int64_t *into, ee_error *error)
{
    const json_value *value = json_member(of, name);
    const char *words = json_text_of(value);
    double seconds;
    if (!value) return EE_OK;
    if (!words || !log_time_parse((json_text){words, strlen(words)}, &seconds))
        return refuse(at, error, "%s must be a time such as \"2026-12-01T00:00:00Z\"", name);
    *into = llround(seconds * 1e6);
    return EE_OK;
}

static ee_status keep_text(guard_settings *self, const char *words, const char **out, ee_error *error)
{
    char *copy;
    size_t size = strlen(words) + 1;
    ee_status status = memory_create(&self->owner, &copy, size, 1, error);
    if (status) return status;
    memcpy(copy, words, size);
    *out = copy;
    return EE_OK;
}

static ee_status read_name(guard_settings *self, place at, const json_value *of, const char **out, ee_error *error)
{
    const char *words = json_text_of(json_member(of, "name"));
    if (!words || !words[0] || strlen(words) >= GUARD_NAME_SIZE)
        return refuse(at, error, "name must be a string of 1 to %d bytes", GUARD_NAME_SIZE - 1);
    for (const char *c = words; *c; c++)
        if ((unsigned char)*c < ' ') return refuse(at, error, "name contains a control character");
    return keep_text(self, words, out, error);
}

/* ---- conditions ---- */

static ee_status read_value(guard_settings *self, place at, const char *path, const json_value *from, guard_value *out,
                            ee_error *error)
{
    const char *words = json_text_of(from);
    *out = (guard_value){0};
    if (json_is_flag(from)) words = from->kind == JSON_KIND_TRUE ? "true" : "false";
    if (words) return keep_text(self, words, &out->words, error);
    if (json_has_kind(from, JSON_KIND_NUMBER)) {
        out->low = out->high = from->number;
        return EE_OK;
    }
    if (!json_has_kind(from, JSON_KIND_OBJECT))
        return refuse(at, error,
                      "%.40s: expected a string, a number, true, false, {\"from\": 1, \"below\": 2}, or an "
                      "array of them",
                      path);
    out->low = -INFINITY;
    out->high = INFINITY;
    ee_status status = CHECK_MEMBERS(at, from, error, "from", "below");
    if (!status) status = read_number(at, from, "from", -1e300, 1e300, &out->low, error);
    if (!status) status = read_number(at, from, "below", -1e300, 1e300, &out->high, error);
    if (!status && !(out->low < out->high)) return refuse(at, error, "%.40s: from must be less than below", path);
    return status;
}

static ee_status read_term(guard_settings *self, place at, const json_value *member, bool of_action, guard_term *out,
                           ee_error *error)
{
    bool several = member->kind == JSON_KIND_ARRAY;
    guard_value *values;
    if (!member->key[0] || (several && !member->count))
        return refuse(at, error, "a condition needs a feature and a value");
    *out = (guard_term){.of_action = of_action, .value_count = several ? member->count : 1};
    ee_status status = keep_text(self, member->key, &out->path, error);
    if (!status) status = memory_create(&self->owner, &values, out->value_count, sizeof *values, error);
    if (status) return status;
    out->values = values;
    for (size_t i = 0; i < out->value_count && !status; i++)
        status = read_value(self, at, member->key, several ? json_element(member, i) : member, &values[i], error);
    return status;
}

static ee_status read_terms(guard_settings *self, place at, const json_value *of, const char *side, uint64_t *mask,
                            ee_error *error)
{
    const json_value *conditions = json_member(of, side);
    if (!conditions) return EE_OK;
    if (conditions->kind != JSON_KIND_OBJECT)
        return refuse(at, error, "%s must be an object of features and values", side);
    for (const json_value *member = conditions->first; member; member = member->next) {
        if (self->term_count == GUARD_TERMS) return refuse(at, error, "more than %d conditions in all", GUARD_TERMS);
        ee_status status =
            read_term(self, at, member, strcmp(side, "action") == 0, &self->terms[self->term_count], error);
        if (status) return status;
        *mask |= (uint64_t)1 << self->term_count++;
    }
    return EE_OK;
}

/* The conditions of a rule, share, cap or budget. */
static ee_status read_conditions(guard_settings *self, place at, const json_value *of, uint64_t *mask, ee_error *error)
{
    ee_status status = read_terms(self, at, of, "context", mask, error);
    return status ? status : read_terms(self, at, of, "action", mask, error);
}

/* ---- rules, shares, caps, budgets, bounds ---- */

static ee_status read_rule(guard_settings *self, place at, const json_value *from, ee_error *error)
{
    guard_rule *rule = &self->rules[at.index];
    *rule = (guard_rule){.from = INT64_MIN, .until = INT64_MAX};
    const json_value *exclude = json_member(from, "exclude");
    ee_status status = CHECK_MEMBERS(at, from, error, "name", "context", "action", "exclude", "boost", "from", "until");
    if (!status) status = read_name(self, at, from, &rule->name, error);
    if (!status) status = read_conditions(self, at, from, &rule->terms, error);
    if (!status) status = read_number(at, from, "boost", -1e6, 1e6, &rule->boost, error);
    if (!status) status = read_moment(at, from, "from", &rule->from, error);
    if (!status) status = read_moment(at, from, "until", &rule->until, error);
    if (status) return status;
    if (exclude && !json_is_flag(exclude)) return refuse(at, error, "exclude must be true or false");
    rule->excludes = json_has_kind(exclude, JSON_KIND_TRUE);
    if (rule->excludes == (rule->boost != 0)) return refuse(at, error, "expected exclude or boost, one of both");
    if (!(rule->from < rule->until)) return refuse(at, error, "from must be before until");
    if (rule->excludes && !rule->terms) return refuse(at, error, "it would exclude every action: add a condition");
    return EE_OK;
}

static ee_status read_share(guard_settings *self, place at, const json_value *from, ee_error *error)
{
    guard_share *share = &self->shares[at.index];
    *share = (guard_share){.high = 1};
    ee_status status = CHECK_MEMBERS(at, from, error, "name", "context", "action", "low", "high", "window");
    if (!status) status = read_name(self, at, from, &share->name, error);
    if (!status) status = read_conditions(self, at, from, &share->terms, error);
    if (!status) status = read_number(at, from, "low", 0, 1, &share->low, error);
    if (!status) status = read_number(at, from, "high", 0, 1, &share->high, error);
    if (!status) status = read_duration(at, from, "window", &share->window, error);
    if (status) return status;
    if (share->low > share->high) return refuse(at, error, "low must not be above high");
    if (!share->terms) return refuse(at, error, "it would be the share of all actions: add a condition");
    return EE_OK;
}

static ee_status read_cap(guard_settings *self, place at, const json_value *from, ee_error *error)
{
    guard_cap *cap = &self->caps[at.index];
    *cap = (guard_cap){.per = DAY};
    const char *each = json_text_of(json_member(from, "each"));
    double most = 0;
    ee_status status = CHECK_MEMBERS(at, from, error, "name", "context", "action", "most", "per", "each");
    if (!status) status = read_name(self, at, from, &cap->name, error);
    if (!status) status = read_conditions(self, at, from, &cap->terms, error);
    if (!status) status = read_number(at, from, "most", 1, 1e12, &most, error);
    if (!status) status = read_duration(at, from, "per", &cap->per, error);
    if (status) return status;
    if (most < 1 || most != floor(most)) return refuse(at, error, "most must be an integer from 1 to 1e12");
    if (json_member(from, "each") && (!each || strcmp(each, "key") != 0))
        return refuse(at, error, "each must be \"key\", or missing for all persons together");
    cap->most = (uint64_t)most;
    cap->each_key = each;
    if (!cap->terms) return refuse(at, error, "it would cap every action: add a condition");
    return EE_OK;
}

static ee_status read_budget(guard_settings *self, place at, const json_value *from, ee_error *error)
{
    guard_budget *budget = &self->budgets[at.index];
    *budget = (guard_budget){.per = DAY, .even = true, .cost = 1};
    const char *pace = json_text_of(json_member(from, "pace"));
    const char *path = json_text_of(json_member(from, "cost"));
    ee_status status =
        CHECK_MEMBERS(at, from, error, "name", "context", "action", "cost", "default_cost", "limit", "per", "pace");
    if (!status) status = read_name(self, at, from, &budget->name, error);
    if (!status) status = read_conditions(self, at, from, &budget->terms, error);
    if (!status && path) status = keep_text(self, path, &budget->cost_path, error);
    if (path) budget->cost = -1;
    if (!status) status = read_number(at, from, path ? "default_cost" : "cost", 0, 1e9, &budget->cost, error);
    if (!status) status = read_number(at, from, "limit", 0, 1e12, &budget->limit, error);
    if (!status) status = read_duration(at, from, "per", &budget->per, error);
    if (status) return status;
    if (json_member(from, "pace") && (!pace || (strcmp(pace, "even") != 0 && strcmp(pace, "first") != 0)))
        return refuse(at, error, "pace must be \"even\" or \"first\"");
    budget->even = !pace || strcmp(pace, "even") == 0;
    if (!json_member(from, "limit")) return refuse(at, error, "limit is missing");
    if (!path && json_member(from, "default_cost"))
        return refuse(at, error, "default_cost is for a cost that is a path");
    if (!budget->terms && !path) return refuse(at, error, "every action would cost the same: add a condition");
    return EE_OK;
}

static ee_status read_bound(guard_settings *self, place at, const json_value *from, ee_error *error)
{
    static const char *const consequences[] = {
        [GUARD_ALERT] = "alert", [GUARD_FREEZE] = "freeze", [GUARD_FALLBACK] = "fallback"};
    guard_bound *bound = &self->bounds[at.index];
    *bound = (guard_bound){0};
    const char *metric = json_text_of(json_member(from, "metric")), *then = json_text_of(json_member(from, "then"));
    bool above = json_member(from, "most_above"), below = json_member(from, "most_below"), known = !then;
    double margin = 0;
    ee_status status = CHECK_MEMBERS(at, from, error, "metric", "most_above", "most_below", "then");
    if (!status) status = read_number(at, from, "most_above", 0, 1000, &margin, error);
    if (!status) status = read_number(at, from, "most_below", 0, 1, &margin, error);
    if (status) return status;
    if (!metric || !metric[0]) return refuse(at, error, "metric must be \"reward\" or the name of a metric");
    if (above == below) return refuse(at, error, "expected most_above or most_below, one of both");
    for (size_t i = 0; then && i < sizeof consequences / sizeof *consequences; i++) {
        if (strcmp(then, consequences[i]) != 0) continue;
        known = true;
        bound->then = (guard_consequence)i;
    }
    if (!known || (json_member(from, "then") && !then))
        return refuse(at, error, "then must be \"alert\", \"freeze\" or \"fallback\"");
    bound->below = below;
    bound->factor = below ? 1 - margin : 1 + margin;
    return keep_text(self, metric, &bound->metric, error);
}

/* ---- groups ---- */

static ee_status read_control(guard_settings *self, const json_value *from, ee_error *error)
{
    place at = single("control");
    const json_value *baseline = json_member(from, "baseline");
    const char *words = json_text_of(baseline), *action = json_text_of(json_member(baseline, "action"));
    ee_status status = CHECK_MEMBERS(at, from, error, "share", "baseline");
    if (!status) status = read_number(at, from, "share", 0, 1, &self->control, error);
    if (status || !baseline) return status;
    if (words && strcmp(words, "uniform") == 0) {
        self->baseline = BASELINE_UNIFORM;
        return EE_OK;
    }
    if (words && strcmp(words, "first") == 0) return EE_OK;
    if (!json_has_kind(baseline, JSON_KIND_OBJECT) || baseline->count != 1 || !action || !action[0])
        return refuse(at, error, "baseline must be \"first\", \"uniform\" or {\"action\": ID}");
    self->baseline = BASELINE_ACTION;
    return keep_text(self, action, &self->baseline_action, error);
}

static ee_status read_stage(guard_settings *self, const json_value *from, size_t place_of, bool last, ee_error *error)
{
    place at = {"rollout.schedule", place_of};
    guard_stage *stage = &self->stages[place_of];
    *stage = (guard_stage){.share = -1};
    ee_status status = CHECK_MEMBERS(at, from, error, "share", "for");
    if (!status) status = read_number(at, from, "share", 0, 1, &stage->share, error);
    if (!status) status = read_duration(at, from, "for", &stage->lasts, error);
    if (status) return status;
    if (stage->share < 0) return refuse(at, error, "share is missing");
    if (!last && !stage->lasts) return refuse(at, error, "for is missing: only the last stage has no end");
    if (last) stage->lasts = 0;
    return EE_OK;
}

static ee_status read_rollout(guard_settings *self, const json_value *from, ee_error *error)
{
    place at = single("rollout");
    const json_value *schedule = json_member(from, "schedule");
    bool has_share = json_member(from, "share");
    ee_status status = CHECK_MEMBERS(at, from, error, "share", "schedule", "since");
    if (!status) status = read_number(at, from, "share", 0, 1, &self->stages[0].share, error);
    if (!status) status = read_moment(at, from, "since", &self->stages_since, error);
    if (status) return status;
    if (has_share == (schedule != NULL)) return refuse(at, error, "expected share or schedule, one of both");
    if (!schedule) return EE_OK;
    if (schedule->kind != JSON_KIND_ARRAY || !schedule->count || schedule->count > GUARD_STAGES)
        return refuse(at, error, "schedule must be an array of 1 to %d stages", GUARD_STAGES);
    self->stage_count = schedule->count;
    for (size_t i = 0; i < schedule->count && !status; i++)
        status = read_stage(self, json_element(schedule, i), i, i + 1 == schedule->count, error);
    return status;
}

static ee_status read_sticky(guard_settings *self, const json_value *from, ee_error *error)
{
    place at = single("sticky");
    ee_status status = CHECK_MEMBERS(at, from, error, "for", "change");
    if (!status) status = read_duration(at, from, "for", &self->sticky, error);
    if (!status) status = read_number(at, from, "change", 0, 1, &self->sticky_change, error);
    if (!status && !self->sticky) return refuse(at, error, "for is missing");
    return status;
}

/* ---- the object ---- */

typedef ee_status read_item(guard_settings *self, place at, const json_value *from, ee_error *error);

/* Explanations, the log and the dashboard tell items apart by their names. Bounds have none. */
static ee_status check_name_is_new(const json_value *items, place at, ee_error *error)
{
    const char *name = json_text_of(json_member(json_element(items, at.index), "name"));
    for (size_t i = 0; name && i < at.index; i++)
        if (strcmp(json_text_of(json_member(json_element(items, i), "name")), name) == 0)
            return refuse(at, error, "there is another with the name '%s'", name);
    return EE_OK;
}

static ee_status read_items(guard_settings *self, const json_value *root, const char *member, size_t most,
                            read_item *read, size_t *count, ee_error *error)
{
    const json_value *items = json_member(root, member);
    if (!items) return EE_OK;
    if (items->kind != JSON_KIND_ARRAY || items->count > most)
        return refuse(single(member), error, "expected an array of at most %zu objects", most);
    for (; *count < items->count; ++*count) {
        place at = {member, *count};
        ee_status status = read(self, at, json_element(items, *count), error);
        if (!status) status = check_name_is_new(items, at, error);
        if (status) return status;
    }
    return EE_OK;
}

static ee_status read_groups(guard_settings *self, const json_value *root, ee_error *error)
{
    const json_value *control = json_member(root, "control"), *rollout = json_member(root, "rollout");
    ee_status status = control ? read_control(self, control, error) : EE_OK;
    if (!status && rollout) status = read_rollout(self, rollout, error);
    self->has_groups = control || rollout;
    return status;
}

static ee_status read_root(guard_settings *self, const json_value *root, ee_error *error)
{
    place whole = single("settings");
    const json_value *segment = json_member(root, "segment"), *sticky = json_member(root, "sticky");
    ee_status status = CHECK_MEMBERS(whole, root, error, "control", "rollout", "segment", "error", "bounds", "rules",
                                     "shares", "caps", "budgets", "sticky");
    if (!status) status = read_groups(self, root, error);
    const char *path = json_text_of(segment);
    if (!status && segment && !(path && path[0] && strlen(path) < GUARD_PATH_SIZE))
        return refuse(single("segment"), error, "expected a feature of the context such as \"user.country\"");
    if (!status && segment) status = keep_text(self, path, &self->segment, error);
    if (!status) status = read_number(whole, root, "error", 1e-6, 0.5, &self->error, error);
    if (!status) status = read_items(self, root, "bounds", GUARD_BOUNDS, read_bound, &self->bound_count, error);
    if (!status) status = read_items(self, root, "rules", GUARD_RULES, read_rule, &self->rule_count, error);
    if (!status) status = read_items(self, root, "shares", GUARD_SHARES, read_share, &self->share_count, error);
    if (!status) status = read_items(self, root, "caps", GUARD_CAPS, read_cap, &self->cap_count, error);
    if (!status) status = read_items(self, root, "budgets", GUARD_BUDGETS, read_budget, &self->budget_count, error);
    if (!status && sticky) status = read_sticky(self, sticky, error);
    if (!status && self->bound_count && !(self->control > 0))
        return refuse(single("bounds"), error, "they compare with a control group: set control.share");
    return status;
}

ee_status guard_settings_read(guard_settings *out, const char *json, size_t size, ee_error *error)
{
    json_tree tree;
    *out = (guard_settings){.stages = {{.share = 1}}, .stage_count = 1, .stages_since = INT64_MIN, .error = 0.05};
    if (!size) return EE_OK;
    if (size >= GUARD_TEXT_SIZE)
        return status_fail(error, EE_BAD_INPUT, "guardrails has %zu bytes; the maximum is %d", size,
                           GUARD_TEXT_SIZE - 1);
    ee_status status = json_tree_read(&tree, json, size, error);
    if (!status) status = read_root(out, tree.root, error);
    json_tree_release(&tree);
    return status;
}

void guard_settings_release(guard_settings *self)
{
    memory_release(&self->owner);
}

double guard_settings_treated(const guard_settings *self, int64_t now)
{
    size_t stage = 0;
    int64_t ends = self->stages_since;
    for (; stage + 1 < self->stage_count; stage++) {
        if (ends == INT64_MIN) break;
        ends += self->stages[stage].lasts;
        if (now < ends) break;
    }
    return (1 - self->control) * self->stages[stage].share;
}

ee_status guard_settings_begin(json_text object, int64_t now, text *into, ee_error *error)
{
    json_room room = {0};
    json_reader reader = json_start(object.bytes, object.length, &room);
    json_token token;
    json_text span;
    char since[LOG_TIME_SIZE];
    memory escapes = {0};
    room.owner = &escapes;
    reader = json_start(object.bytes, object.length, &room);
    ee_status status = json_next(&reader, &token, error);
    while (!status && !(status = json_next(&reader, &token, error)) && token.kind != JSON_KIND_OBJECT_END) {
        bool is_rollout = json_is(token.key, "rollout") && token.kind == JSON_KIND_OBJECT;
        status = json_skip(&reader, &token, &span, error);
        if (status || !is_rollout) continue;
        json_tree tree;
        status = json_tree_read(&tree, span.bytes, span.length, error);
        bool begins = !status && json_member(tree.root, "schedule") && !json_member(tree.root, "since");
        json_tree_release(&tree);
        if (!begins) continue;
        size_t before = (size_t)(span.bytes + span.length - 1 - object.bytes);
        log_time_format((double)now / 1e6, since);
        text_bytes(into, object.bytes, before);
        text_add(into, ",\"since\":\"%s\"", since);
        text_bytes(into, object.bytes + before, object.length - before);
        memory_release(&escapes);
        return into->status;
    }
    memory_release(&escapes);
    if (!status) text_bytes(into, object.bytes, object.length);
    return status ? status : into->status;
}
