#include "bandit_settings.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "data/values/json_members.h"

static const char *const aggregations[] = {
    [LOG_REWARD_FIRST] = "first", [LOG_REWARD_LAST] = "last", [LOG_REWARD_SUM] = "sum",
    [LOG_REWARD_MEAN] = "mean",   [LOG_REWARD_MAX] = "max",
};
static const char *const modes[] = {
    [MODE_ONLINE] = "online",
    [MODE_APPRENTICE] = "apprentice",
    [MODE_LOGGING] = "logging",
};

static const char *const outsides[] = {
    [OUTSIDE_ACCEPT] = "accept", [OUTSIDE_REJECT] = "reject", [OUTSIDE_CLIP] = "clip"};

static const char *const held_states[] = {[HELD_NOT] = "no", [HELD_FROZEN] = "frozen", [HELD_FALLBACK] = "fallback"};

static const char *const promotions[] = {[PROMOTE_OFFER] = "offer", [PROMOTE_AUTO] = "auto"};

bandit_settings bandit_settings_usual(void)
{
    return (bandit_settings){
        .policy = "eenet",
        .propensity = "floor:0.05",
        .joining = {.wait = 600 * (int64_t)1000000, .aggregation = LOG_REWARD_FIRST},
        .reward_high = 1,
        .confidence = 0.95,
    };
}

/* ---- reading ---- */

/* The object while it is read. */
typedef struct reading {
    bandit_settings *into;
    json_reader *reader;
    unsigned seen; /* a bit for each member that it named */
} reading;

/* Reads member number `which`. One that reads on, into an array or object, leaves its last token in *token. */
typedef ee_status read_member(reading *self, size_t which, json_token *token, ee_error *error);
static read_member read_text, read_whole, read_word, read_wait, read_default_reward, read_rewards, read_confidence,
    read_challengers, read_metrics, read_guardrails, read_retention, read_personalizer;

#define PLACE(member) offsetof(bandit_settings, member)
#define TEXT(member) PLACE(member), sizeof(((bandit_settings *)0)->member)
#define WORDS(array) sizeof array / sizeof *array, array

static const struct {
    const char *name;
    bool may_change;
    read_member *read;
    size_t at, size;          /* where a text, a whole number or a word lies; bytes of the text, lowest number, words */
    const char *const *words; /* (size) the first may be NULL */
    const char *hint;         /* of a text, for messages */
} members[] = {
    {"name", false, NULL, 0, 0, NULL, NULL}, /* next to the settings of a new bandit, and read elsewhere */
    {"policy", false, read_text, TEXT(policy), NULL, ""},
    {"options", false, read_text, TEXT(options), NULL, ""},
    {"features", false, read_text, TEXT(features), NULL, "; \"\" means named features"},
    {"dim", false, read_whole, PLACE(dim), 1, NULL, NULL},
    {"seed", false, read_whole, PLACE(seed), 0, NULL, NULL},
    {"propensity", false, read_text, TEXT(propensity), NULL, " such as \"floor:0.1\""},
    {"wait", true, read_wait, 0, 0, NULL, NULL},
    {"default_reward", true, read_default_reward, 0, 0, NULL, NULL},
    {"aggregation", true, read_word, PLACE(joining.aggregation), WORDS(aggregations), NULL},
    {"mode", true, read_word, PLACE(mode), WORDS(modes), NULL},
    {"rewards", true, read_rewards, 0, 0, NULL, NULL},
    {"outside", true, read_word, PLACE(outside), WORDS(outsides), NULL},
    {"confidence", true, read_confidence, 0, 0, NULL, NULL},
    {"promote", true, read_word, PLACE(promote), WORDS(promotions), NULL},
    {"challengers", true, read_challengers, 0, 0, NULL, NULL},
    {"tests", false, read_whole, PLACE(tests), 0, NULL, NULL},
    {"metrics", true, read_metrics, 0, 0, NULL, NULL},
    {"guardrails", true, read_guardrails, TEXT(guardrails), NULL, NULL},
    {"held", true, read_word, PLACE(held), WORDS(held_states), NULL},
    {"held_because", true, read_text, TEXT(held_because), NULL, ""},
    {"retention_days", true, read_retention, 0, 0, NULL, NULL},
    {"personalizer", true, read_personalizer, TEXT(personalizer), NULL, NULL},
};
enum { MEMBERS = sizeof members / sizeof *members };

static bool has_named(const reading *self, const char *name)
{
    size_t place = 0;
    while (strcmp(members[place].name, name) != 0) place++;
    return self->seen & 1u << place;
}

static ee_status read_text(reading *self, size_t which, json_token *token, ee_error *error)
{
    const char *name = members[which].name;
    char *into = (char *)self->into + members[which].at;
    size_t size = members[which].size;
    json_text from = token->text;
    if (token->kind != JSON_KIND_TEXT)
        return status_fail(error, EE_BAD_INPUT, "%s must be a string%s", name, members[which].hint);
    if (from.length >= size)
        return status_fail(error, EE_BAD_INPUT, "%s has %zu bytes; the maximum is %zu", name, from.length, size - 1);
    if (memchr(from.bytes, 0, from.length)) return status_fail(error, EE_BAD_INPUT, "%s contains a zero byte", name);
    memset(into, 0, size);
    memcpy(into, from.bytes, from.length);
    return EE_OK;
}

/* A whole number; larger ones than 2^53 are none that every JSON reader takes. */
static ee_status read_whole(reading *self, size_t which, json_token *token, ee_error *error)
{
    double low = (double)members[which].size;
    if (token->kind != JSON_KIND_NUMBER || token->number != floor(token->number) || token->number < low ||
        token->number > 0x1p53)
        return status_fail(error, EE_BAD_INPUT, "%s must be an integer from %.0f to 2^53", members[which].name, low);
    uint64_t number = (uint64_t)token->number;
    memcpy((char *)self->into + members[which].at, &number, sizeof number);
    return EE_OK;
}

/* One of the words, as an enumeration. */
static ee_status read_word(reading *self, size_t which, json_token *token, ee_error *error)
{
    char list[80] = "";
    size_t length = 0;
    for (size_t i = 0; i < members[which].size; i++) {
        const char *word = members[which].words[i];
        if (!word) continue;
        if (token->kind == JSON_KIND_TEXT && json_is(token->text, word)) {
            unsigned pick = (unsigned)i;
            memcpy((char *)self->into + members[which].at, &pick, sizeof pick);
            return EE_OK;
        }
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", length ? ", " : "", word);
    }
    return status_fail(error, EE_BAD_INPUT, "%s must be one of %s", members[which].name, list);
}
_Static_assert(sizeof(learning_mode) == sizeof(unsigned), "read_word writes enumerations");

static ee_status read_wait(reading *self, size_t which, json_token *token, ee_error *error)
{
    (void)which;
    bool is_text = token->kind == JSON_KIND_TEXT;
    if ((is_text || token->kind == JSON_KIND_NUMBER) &&
        duration_parse(is_text ? token->text : (json_text){0}, token->number, &self->into->joining.wait))
        return EE_OK;
    return status_fail(error, EE_BAD_INPUT,
                       "wait must be seconds, or a string such as \"10m\", \"4h\" or \"2d\"; above 0, at most 366d");
}

static ee_status read_default_reward(reading *self, size_t which, json_token *token, ee_error *error)
{
    (void)which;
    bool none = token->kind == JSON_KIND_NULL || (token->kind == JSON_KIND_TEXT && json_is(token->text, "none"));
    if (!none && !(token->kind == JSON_KIND_NUMBER && fabs(token->number) <= 1e9))
        return status_fail(error, EE_BAD_INPUT, "default_reward must be a number from -1e9 to 1e9, or null for none");
    self->into->joining.default_reward = none ? NAN : token->number;
    return EE_OK;
}

static ee_status read_rewards(reading *self, size_t which, json_token *token, ee_error *error)
{
    (void)which;
    double ends[2] = {NAN, NAN};
    ee_status status = EE_OK;
    bool good = token->kind == JSON_KIND_ARRAY;
    for (size_t i = 0; good && i < 2 && !status; i++) {
        status = json_next(self->reader, token, error);
        good = !status && token->kind == JSON_KIND_NUMBER && fabs(token->number) <= 1e9;
        if (good) ends[i] = token->number;
    }
    if (good) status = json_next(self->reader, token, error);
    if (status) return status;
    if (!good || token->kind != JSON_KIND_ARRAY_END || !(ends[0] < ends[1]))
        return status_fail(error, EE_BAD_INPUT, "rewards must be [LOWEST, HIGHEST], for example [0, 1]");
    self->into->reward_low = ends[0];
    self->into->reward_high = ends[1];
    return EE_OK;
}

static ee_status read_confidence(reading *self, size_t which, json_token *token, ee_error *error)
{
    (void)which;
    if (token->kind != JSON_KIND_NUMBER || !(token->number >= 0.5 && token->number <= 0.9999))
        return status_fail(error, EE_BAD_INPUT, "confidence must be a number from 0.5 to 0.9999");
    self->into->confidence = token->number;
    return EE_OK;
}

static ee_status read_challengers(reading *self, size_t which, json_token *token, ee_error *error)
{
    (void)which;
    bandit_settings *into = self->into;
    ee_status status = EE_OK;
    if (token->kind != JSON_KIND_ARRAY) return status_fail(error, EE_BAD_INPUT, "challengers must be an array");
    memset(into->challengers, 0, sizeof into->challengers);
    into->challenger_count = 0;
    while (!(status = json_next(self->reader, token, error)) && token->kind != JSON_KIND_ARRAY_END) {
        if (token->kind != JSON_KIND_OBJECT)
            return status_fail(error, EE_BAD_INPUT, "challengers: each must be an object");
        if (into->challenger_count == MOST_CHALLENGERS)
            return status_fail(error, EE_BAD_INPUT, "challengers: expected at most %d", MOST_CHALLENGERS);
        status = challenger_settings_read(&into->challengers[into->challenger_count++], self->reader, error);
        if (status) return status;
    }
    return status;
}

static ee_status read_retention(reading *self, size_t which, json_token *token, ee_error *error)
{
    (void)which;
    double days = token->kind == JSON_KIND_NULL ? 0 : token->kind == JSON_KIND_NUMBER ? token->number : NAN;
    if (!(days >= -1 && days <= 100000 && days == floor(days)))
        return status_fail(
            error, EE_BAD_INPUT,
            "retention_days must be 1 to 100000, -1 to keep events forever, or null for the server's setting");
    self->into->retention_days = (int64_t)days;
    return EE_OK;
}

/* Any object, or null for none: kept as it came. */
static ee_status keep_object(reading *self, size_t which, json_token *token, ee_error *error)
{
    const char *name = members[which].name;
    char *into = (char *)self->into + members[which].at;
    size_t size = members[which].size;
    json_text span = {0};
    bool none = token->kind == JSON_KIND_NULL;
    if (!none && token->kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "%s must be an object", name);
    ee_status status = none ? EE_OK : json_skip(self->reader, token, &span, error);
    if (status) return status;
    if (span.length >= size)
        return status_fail(error, EE_BAD_INPUT, "%s has %zu bytes; the maximum is %zu", name, span.length, size - 1);
    memset(into, 0, size);
    if (!none) memcpy(into, span.bytes, span.length);
    token->kind = JSON_KIND_OBJECT_END;
    return EE_OK;
}

static ee_status read_personalizer(reading *self, size_t which, json_token *token, ee_error *error)
{
    return keep_object(self, which, token, error);
}

static ee_status read_guardrails(reading *self, size_t which, json_token *token, ee_error *error)
{
    ee_status status = keep_object(self, which, token, error);
    const char *kept = self->into->guardrails;
    guard_settings tables;
    if (status) return status;
    status = guard_settings_read(&tables, kept, strlen(kept), error);
    guard_settings_release(&tables);
    return status;
}

static ee_status read_metrics(reading *self, size_t which, json_token *token, ee_error *error)
{
    (void)which;
    if (token->kind != JSON_KIND_ARRAY) return status_fail(error, EE_BAD_INPUT, "metrics must be an array");
    ee_status status = metric_settings_read(&self->into->joining, self->reader, error);
    token->kind = JSON_KIND_ARRAY_END;
    return status;
}

static ee_status fail_unknown(json_text key, ee_error *error)
{
    const char *names[MEMBERS];
    for (size_t i = 0; i < MEMBERS; i++) names[i] = members[i].name;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(key.length < sizeof word ? key.length : sizeof word - 1), key.bytes);
    const char *nearest = options_nearest(word, names, MEMBERS);
    return status_fail(error, EE_BAD_INPUT, "settings: unknown setting '%s'%s%s%s", word,
                       nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static ee_status take_member(reading *self, json_token *token, bool changing, ee_error *error)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        if (!json_is(token->key, members[i].name)) continue;
        if (changing && !members[i].may_change)
            return status_fail(error, EE_BAD_INPUT,
                               "%s cannot be changed; wait, default_reward, aggregation, mode, rewards, outside, "
                               "confidence, promote, challengers, metrics, guardrails, held and retention_days "
                               "can. Create another bandit",
                               members[i].name);
        self->seen |= 1u << i;
        return members[i].read ? members[i].read(self, i, token, error) : EE_OK;
    }
    return fail_unknown(token->key, error);
}

static ee_status take_object(reading *self, json_reader *reader, bool changing, ee_error *error)
{
    json_token token;
    ee_status status = json_next(reader, &token, error);
    if (!status && token.kind != JSON_KIND_OBJECT)
        return status_fail(error, EE_BAD_INPUT, "settings must be a JSON object");
    while (!status && !(status = json_next(reader, &token, error)) && token.kind != JSON_KIND_OBJECT_END) {
        status = take_member(self, &token, changing, error);
        if (!status) status = json_skip(reader, &token, NULL, error);
    }
    return status ? status : json_next(reader, &token, error);
}

/* Guardrails may only name metrics that there are. */
static ee_status check_bounds(const bandit_settings *of, ee_error *error)
{
    guard_settings tables;
    ee_status status = guard_settings_read(&tables, of->guardrails, strlen(of->guardrails), error);
    for (size_t i = 0; i < tables.bound_count && !status; i++) {
        const char *name = tables.bounds[i].metric;
        if (strcmp(name, "reward") == 0) continue;
        if (metric_find(&of->joining, (json_text){name, strlen(name)}) == of->joining.metric_count)
            status = status_fail(error, EE_BAD_INPUT, "guardrails: bounds[%zu]: there is no metric '%.40s' in metrics",
                                 i, name);
    }
    guard_settings_release(&tables);
    return status;
}

static ee_status check_default_reward(const bandit_settings *of, ee_error *error)
{
    double reward = of->joining.default_reward;
    if (isnan(reward) || bandit_settings_reward(of, reward) == reward) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "default_reward: %g is outside \"rewards\", %g to %g", reward,
                       of->reward_low, of->reward_high);
}

double bandit_settings_reward(const bandit_settings *of, double reward)
{
    return of->outside == OUTSIDE_ACCEPT ? reward : fmin(of->reward_high, fmax(of->reward_low, reward));
}

ee_status bandit_settings_read(bandit_settings *into, const char *json, size_t size, settings_source source,
                               ee_error *error)
{
    bool changing = source == SETTINGS_CHANGES;
    memory escapes = {0};
    json_room room = {.owner = &escapes};
    json_reader reader = json_start(json, size, &room);
    bandit_settings settings = *into;
    reading self = {.into = &settings, .reader = &reader};
    ee_status status = take_object(&self, &reader, changing, error);
    memory_release(&escapes);
    if (status) return status;
    if (has_named(&self, "dim") && has_named(&self, "features"))
        return status_fail(error, EE_BAD_INPUT, "settings: give dim (vectors) or features (named features), not both");
    /* Policies that sample their scores have only their own rule. */
    if (!changing && !has_named(&self, "propensity") && !policy_has_option(settings.policy, "propensity"))
        memcpy(settings.propensity, (char[sizeof settings.propensity]){"own"}, sizeof settings.propensity);
    bool states_range = has_named(&self, "rewards") && !has_named(&self, "outside");
    if (source != SETTINGS_STORED && states_range && settings.outside == OUTSIDE_ACCEPT)
        settings.outside = OUTSIDE_REJECT;
    status = challenger_settings_complete(&settings, error);
    if (!status && has_named(&self, "default_reward") && source != SETTINGS_STORED)
        status = check_default_reward(&settings, error);
    if (!status && (has_named(&self, "guardrails") || has_named(&self, "metrics")))
        status = check_bounds(&settings, error);
    if (!status) *into = settings;
    return status;
}

/* Settings of live evaluation, retention and Personalizer. */
static void write_live(const bandit_settings *from, text *into)
{
    text_add(into, ",\"rewards\":[");
    text_double(into, from->reward_low);
    text_bytes(into, ",", 1);
    text_double(into, from->reward_high);
    text_add(into, "]");
    text_member(into, "outside", outsides[from->outside]);
    text_member_number(into, "confidence", from->confidence);
    text_member(into, "promote", promotions[from->promote]);
    if (from->tests) text_member_count(into, "tests", from->tests);
    for (size_t i = 0; i < from->challenger_count; i++) {
        text_add(into, i ? "," : ",\"challengers\":[");
        challenger_settings_write(&from->challengers[i], into);
    }
    if (from->challenger_count) text_add(into, "]");
    metric_settings_write(&from->joining, into);
    if (from->guardrails[0]) text_add(into, ",\"guardrails\":%s", from->guardrails);
    if (from->held) text_member(into, "held", held_states[from->held]);
    if (from->held && from->held_because[0]) text_member(into, "held_because", from->held_because);
    if (from->retention_days) text_add(into, ",\"retention_days\":%lld", (long long)from->retention_days);
    if (from->personalizer[0]) text_add(into, ",\"personalizer\":%s", from->personalizer);
}

void bandit_settings_write(const bandit_settings *from, text *into)
{
    text_bytes(into, "{", 1);
    text_member(into, "policy", from->policy);
    text_member(into, "options", from->options);
    if (from->dim)
        text_member_count(into, "dim", from->dim);
    else
        text_member(into, "features", from->features);
    text_member_count(into, "seed", from->seed);
    write_live(from, into);
    text_member(into, "propensity", from->propensity);
    text_member_number(into, "wait", (double)from->joining.wait / 1e6);
    text_member_number(into, "default_reward", from->joining.default_reward);
    text_member(into, "aggregation", aggregations[from->joining.aggregation]);
    text_member(into, "mode", modes[from->mode]);
    text_add(into, "}");
}

/* ---- comparing ---- */

/* The value of a setting in settings that were written, as JSON; of length 0: it is not there. */
static json_text written_value(const text *from, json_text key)
{
    json_reader reader = json_start(from->bytes, from->length, NULL);
    json_token token;
    json_text value;
    if (json_next(&reader, &token, NULL)) return (json_text){"", 0};
    while (!json_next(&reader, &token, NULL) && token.kind != JSON_KIND_OBJECT_END) {
        json_text name = token.key;
        if (json_skip(&reader, &token, &value, NULL)) break;
        if (name.length == key.length && memcmp(name.bytes, key.bytes, key.length) == 0) return value;
    }
    return (json_text){"", 0};
}

/* Compares the settings that `from` has with those of `with`. "tests" only counts challengers, past ones too. */
static bool find_difference(const text *from, const text *with, bool tests, json_text *key)
{
    json_reader reader = json_start(from->bytes, from->length, NULL);
    json_token token;
    json_text value;
    if (json_next(&reader, &token, NULL)) return false;
    while (!json_next(&reader, &token, NULL) && token.kind != JSON_KIND_OBJECT_END) {
        *key = token.key;
        if (json_skip(&reader, &token, &value, NULL)) return false;
        json_text other = written_value(with, *key);
        bool same = value.length == other.length && memcmp(value.bytes, other.bytes, value.length) == 0;
        if (!same && json_is(*key, "tests") == tests) return true;
    }
    return false;
}

static void write_difference(const text *there, const text *asked, json_text key, char *into, size_t size)
{
    enum { SHOWN = 60 };
    json_text left = written_value(there, key), right = written_value(asked, key);
    const char *name = key.bytes;
    int length = (int)key.length, shown = (int)(left.length < SHOWN ? left.length : SHOWN),
        other = (int)(right.length < SHOWN ? right.length : SHOWN);
    if (!left.length)
        snprintf(into, size, "no %.*s, not %.*s", length, name, other, right.bytes);
    else if (!right.length)
        snprintf(into, size, "%.*s %.*s, which this request does not have", length, name, shown, left.bytes);
    else
        snprintf(into, size, "%.*s %.*s, not %.*s", length, name, shown, left.bytes, other, right.bytes);
}

static bool may_be_changed(json_text key)
{
    for (size_t i = 0; i < MEMBERS; i++)
        if (json_is(key, members[i].name)) return members[i].may_change;
    return false;
}

bool bandit_settings_difference(const bandit_settings *there, const bandit_settings *asked, char *into, size_t size,
                                bool *may_change)
{
    text first = text_start(NULL), second = text_start(NULL);
    json_text key = {"", 0};
    bandit_settings_write(there, &first);
    bandit_settings_write(asked, &second);
    bool failed = first.status || second.status, differs = false;
    for (int tests = 0; tests < 2 && !failed && !differs; tests++)
        differs = find_difference(&first, &second, tests, &key) || find_difference(&second, &first, tests, &key);
    if (failed)
        snprintf(into, size, "other settings");
    else if (differs)
        write_difference(&first, &second, key, into, size);
    *may_change = differs && may_be_changed(key);
    memory_free(first.bytes);
    memory_free(second.bytes);
    return failed || differs;
}

double joining_worth(log_aggregation aggregation, double before, double reward, uint32_t count)
{
    if (count == 1) return reward;
    switch (aggregation) {
    case LOG_REWARD_SUM:
        return before + reward;
    case LOG_REWARD_MEAN:
        return before + (reward - before) / count;
    case LOG_REWARD_MAX:
        return fmax(before, reward);
    default:
        return reward; /* the last */
    }
}
