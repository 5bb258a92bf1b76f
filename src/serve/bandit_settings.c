#include "bandit_settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double LONGEST_WAIT = 366 * 86400.0; /* seconds */
enum { USUAL_DRAWS = 100 }; /* by which the probabilities of a policy that draws its scores are estimated */

static const char *const aggregations[] = {
    [LOG_REWARD_FIRST] = "first", [LOG_REWARD_LAST] = "last", [LOG_REWARD_SUM] = "sum",
    [LOG_REWARD_MEAN] = "mean",   [LOG_REWARD_MAX] = "max",
};
static const char *const modes[] = {
    [MODE_ONLINE] = "online",
    [MODE_APPRENTICE] = "apprentice",
    [MODE_LOGGING] = "logging",
};

bool bandit_name_is_valid(json_text name)
{
    if (name.length < 1 || name.length >= BANDIT_NAME_SIZE) return false;
    for (size_t i = 0; i < name.length; i++) {
        char c = name.bytes[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && (i == 0 || (c != '-' && c != '_' && c != '.'))) return false;
    }
    return true;
}

bandit_settings bandit_settings_usual(void)
{
    return (bandit_settings){
        .policy = "eenet",
        .propensity = "floor:0.05",
        .joining = {.wait = 600 * (int64_t)1000000, .aggregation = LOG_REWARD_FIRST},
    };
}

/* ---- reading ---- */

/* The object while it is read. */
typedef struct reading {
    bandit_settings *into;
    bool dim, features, propensity; /* whether it named them */
} reading;

typedef ee_status read_member(reading *self, const json_token *token, ee_error *error);

static ee_status read_text(const json_token *token, const char *name, char *into, size_t size, ee_error *error)
{
    if (token->kind != JSON_KIND_TEXT) return status_fail(error, EE_BAD_INPUT, "%s: must be a text", name);
    json_text from = token->text;
    if (from.length >= size)
        return status_fail(error, EE_BAD_INPUT, "%s: %zu bytes are too long; at most %zu", name, from.length, size - 1);
    if (memchr(from.bytes, 0, from.length)) return status_fail(error, EE_BAD_INPUT, "%s: has a zero byte", name);
    memset(into, 0, size);
    memcpy(into, from.bytes, from.length);
    return EE_OK;
}

/* A whole number; larger ones than 2^53 are none that every JSON reader takes. */
static ee_status read_whole(const json_token *token, const char *name, double low, uint64_t *into, ee_error *error)
{
    if (token->kind != JSON_KIND_NUMBER || token->number != floor(token->number) || token->number < low ||
        token->number > 0x1p53)
        return status_fail(error, EE_BAD_INPUT, "%s: must be a whole number, %.0f to 2^53", name, low);
    *into = (uint64_t)token->number;
    return EE_OK;
}

/* One of the words; the first of the list may have no word. */
static ee_status read_word(const json_token *token, const char *name, const char *const *words, size_t count, int *into,
                           ee_error *error)
{
    char list[80] = "";
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        if (!words[i]) continue;
        if (token->kind == JSON_KIND_TEXT && json_is(token->text, words[i])) {
            *into = (int)i;
            return EE_OK;
        }
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", length ? ", " : "", words[i]);
    }
    return status_fail(error, EE_BAD_INPUT, "%s: must be one of %s", name, list);
}

static ee_status read_policy(reading *self, const json_token *token, ee_error *error)
{
    return read_text(token, "policy", self->into->policy, sizeof self->into->policy, error);
}

static ee_status read_options(reading *self, const json_token *token, ee_error *error)
{
    return read_text(token, "options", self->into->options, sizeof self->into->options, error);
}

static ee_status read_features(reading *self, const json_token *token, ee_error *error)
{
    self->features = true;
    return read_text(token, "features", self->into->features, sizeof self->into->features, error);
}

static ee_status read_propensity(reading *self, const json_token *token, ee_error *error)
{
    self->propensity = true;
    return read_text(token, "propensity", self->into->propensity, sizeof self->into->propensity, error);
}

static ee_status read_dim(reading *self, const json_token *token, ee_error *error)
{
    self->dim = true;
    return read_whole(token, "dim", 1, &self->into->dim, error);
}

static ee_status read_seed(reading *self, const json_token *token, ee_error *error)
{
    return read_whole(token, "seed", 0, &self->into->seed, error);
}

/* Seconds that a text as "10m" means; not a number where it means none. */
static double seconds_of(json_text words)
{
    static const struct {
        char unit;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    if (words.length < 2) return NAN;
    json_reader reader = json_start(words.bytes, words.length - 1, NULL);
    json_token number;
    if (json_next(&reader, &number, NULL) || number.kind != JSON_KIND_NUMBER) return NAN;
    json_token end;
    if (json_next(&reader, &end, NULL) || end.kind != JSON_KIND_END) return NAN;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (words.bytes[words.length - 1] == units[i].unit) return number.number * units[i].seconds;
    return NAN;
}

static ee_status read_wait(reading *self, const json_token *token, ee_error *error)
{
    double seconds = token->kind == JSON_KIND_NUMBER ? token->number
                     : token->kind == JSON_KIND_TEXT ? seconds_of(token->text)
                                                     : NAN;
    if (!(seconds >= 1e-6 && seconds <= LONGEST_WAIT))
        return status_fail(error, EE_BAD_INPUT,
                           "wait: must be seconds, or a text as 10m, 4h, 2d; above 0 and at most 366d");
    self->into->joining.wait = llround(seconds * 1e6);
    return EE_OK;
}

static ee_status read_default_reward(reading *self, const json_token *token, ee_error *error)
{
    bool none = token->kind == JSON_KIND_NULL || (token->kind == JSON_KIND_TEXT && json_is(token->text, "none"));
    if (!none && !(token->kind == JSON_KIND_NUMBER && fabs(token->number) <= 1e9))
        return status_fail(error, EE_BAD_INPUT, "default_reward: must be a number, -1e9 to 1e9, or null for none");
    self->into->joining.default_reward = none ? NAN : token->number;
    return EE_OK;
}

static ee_status read_aggregation(reading *self, const json_token *token, ee_error *error)
{
    int pick = 0;
    ee_status status =
        read_word(token, "aggregation", aggregations, sizeof aggregations / sizeof *aggregations, &pick, error);
    if (!status) self->into->joining.aggregation = (log_aggregation)pick;
    return status;
}

static ee_status read_mode(reading *self, const json_token *token, ee_error *error)
{
    int pick = 0;
    ee_status status = read_word(token, "mode", modes, sizeof modes / sizeof *modes, &pick, error);
    if (!status) self->into->mode = (learning_mode)pick;
    return status;
}

/* The bandit's name stands beside its settings; whoever wants it reads it. */
static ee_status read_nothing(reading *self, const json_token *token, ee_error *error)
{
    (void)self;
    (void)token;
    (void)error;
    return EE_OK;
}

static const struct {
    const char *name;
    read_member *read;
    bool may_change;
} members[] = {
    {"name", read_nothing, false},
    {"policy", read_policy, false},
    {"options", read_options, false},
    {"features", read_features, false},
    {"dim", read_dim, false},
    {"seed", read_seed, false},
    {"propensity", read_propensity, false},
    {"wait", read_wait, true},
    {"default_reward", read_default_reward, true},
    {"aggregation", read_aggregation, true},
    {"mode", read_mode, true},
};
enum { MEMBERS = sizeof members / sizeof *members };

static ee_status fail_unknown(json_text key, ee_error *error)
{
    const char *names[MEMBERS];
    for (size_t i = 0; i < MEMBERS; i++) names[i] = members[i].name;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(key.length < sizeof word ? key.length : sizeof word - 1), key.bytes);
    const char *nearest = options_nearest(word, names, MEMBERS);
    return status_fail(error, EE_BAD_INPUT, "settings: there is no '%s'%s%s%s", word, nearest ? "; did you mean '" : "",
                       nearest ? nearest : "", nearest ? "'?" : "");
}

static ee_status take_member(reading *self, const json_token *token, bool changing, ee_error *error)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        if (!json_is(token->key, members[i].name)) continue;
        if (changing && !members[i].may_change)
            return status_fail(error, EE_BAD_INPUT,
                               "%s: cannot change while the bandit lives; wait, default_reward, aggregation and mode "
                               "can. Make another bandit",
                               members[i].name);
        return members[i].read(self, token, error);
    }
    return fail_unknown(token->key, error);
}

static ee_status take_object(reading *self, json_reader *reader, bool changing, ee_error *error)
{
    json_token token;
    ee_status status = json_next(reader, &token, error);
    if (!status && token.kind != JSON_KIND_OBJECT)
        return status_fail(error, EE_BAD_INPUT, "settings: must be a JSON object");
    while (!status && !(status = json_next(reader, &token, error)) && token.kind != JSON_KIND_OBJECT_END) {
        status = take_member(self, &token, changing, error);
        if (!status) status = json_skip(reader, &token, NULL, error);
    }
    return status ? status : json_next(reader, &token, error);
}

/* ---- the options of the library ---- */

/* Whether the policy has an option of this name; false where there is no such policy. */
static bool policy_has(const char *policy, const char *name)
{
    ee_option known;
    for (size_t i = 0; !ee_option_describe(policy, i, &known, NULL); i++)
        if (strcmp(known.name, name) == 0) return true;
    return false;
}

ee_status bandit_settings_read(bandit_settings *into, const char *json, size_t size, bool changing, ee_error *error)
{
    memory escapes = {0};
    json_room room = {.owner = &escapes};
    json_reader reader = json_start(json, size, &room);
    bandit_settings settings = *into;
    reading self = {.into = &settings};
    ee_status status = take_object(&self, &reader, changing, error);
    memory_release(&escapes);
    if (status) return status;
    if (self.dim && self.features)
        return status_fail(error, EE_BAD_INPUT,
                           "settings: dim is for vectors and features for named features; give one of them");
    /* What draws its scores has no other rule than its own. */
    if (!changing && !self.propensity && !policy_has(settings.policy, "propensity"))
        memcpy(settings.propensity, (char[sizeof settings.propensity]){"own"}, sizeof settings.propensity);
    *into = settings;
    return EE_OK;
}

static void write_text(text *into, const char *name, const char *words)
{
    text_add(into, "\"%s\":", name);
    text_json(into, (json_text){words, strlen(words)});
    text_bytes(into, ",", 1);
}

void bandit_settings_write(const bandit_settings *from, text *into)
{
    text_bytes(into, "{", 1);
    write_text(into, "policy", from->policy);
    write_text(into, "options", from->options);
    if (from->dim)
        text_add(into, "\"dim\":%llu,", (unsigned long long)from->dim);
    else
        write_text(into, "features", from->features);
    text_add(into, "\"seed\":%llu,", (unsigned long long)from->seed);
    write_text(into, "propensity", from->propensity);
    text_add(into, "\"wait\":");
    text_double(into, (double)from->joining.wait / 1e6);
    text_add(into, ",\"default_reward\":");
    if (isnan(from->joining.default_reward))
        text_add(into, "null");
    else
        text_double(into, from->joining.default_reward);
    text_add(into, ",\"aggregation\":\"%s\",\"mode\":\"%s\"}", aggregations[from->joining.aggregation],
             modes[from->mode]);
}

/* The names in the options that are not the user's to set; *draws becomes whether probability_draws is among them. */
static ee_status check_options(const char *options, bool *draws, ee_error *error)
{
    static const char separators[] = ", \t\r\n";
    *draws = false;
    for (const char *at = options + strspn(options, separators); *at; at += strspn(at, separators)) {
        size_t length = strcspn(at, separators), name = strcspn(at, "=");
        if (name > length) name = length;
        json_text word = {at, name};
        at += length;
        if (json_is(word, "wait") || json_is(word, "default_reward"))
            return status_fail(error, EE_BAD_OPTION,
                               "options: the server joins rewards itself: %.*s is a setting of the bandit, beside "
                               "options",
                               (int)name, word.bytes);
        if (name >= 10 && memcmp(word.bytes, "propensity", 10) == 0)
            return status_fail(error, EE_BAD_OPTION,
                               "options: %.*s is said by the setting propensity, beside options, as floor:0.05",
                               (int)name, word.bytes);
        if (!json_is(word, "probability_draws")) continue;
        *draws = true;
        if (name < length && strtoll(word.bytes + name + 1, NULL, 10) == 0)
            return status_fail(error, EE_BAD_OPTION,
                               "options: probability_draws must be above 0: the server logs the probability of every "
                               "decision");
    }
    return EE_OK;
}

/* "floor:0.1" as "propensity=floor propensity_epsilon=0.1". */
static ee_status add_rule(const char *rule, text *into, ee_error *error)
{
    static const struct {
        const char *word, *amount;
    } rules[] = {{"floor", "propensity_epsilon"},
                 {"softmax", "propensity_temperature"},
                 {"igw", "propensity_gamma"},
                 {"own", NULL},
                 {"argmax", NULL},
                 {"first", NULL}};
    size_t length = strcspn(rule, ":");
    bool has_amount = rule[length] == ':';
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!json_is((json_text){rule, length}, rules[i].word)) continue;
        if (has_amount && (!rules[i].amount || !rule[length + 1] || strpbrk(rule, ", \t\r\n="))) break;
        text_add(into, " propensity=%s", rules[i].word);
        if (has_amount) text_add(into, " %s=%s", rules[i].amount, rule + length + 1);
        return EE_OK;
    }
    return status_fail(error, EE_BAD_OPTION,
                       "propensity: must be floor:EPSILON, softmax:TEMPERATURE, igw:GAMMA, own, argmax or first, "
                       "got '%s'",
                       rule);
}

static ee_status add_draw(const bandit_settings *from, text *into, ee_error *error)
{
    bool draws;
    ee_status status = check_options(from->options, &draws, error);
    if (status) return status;
    if (policy_has(from->policy, "propensity")) return add_rule(from->propensity, into, error);
    if (strcmp(from->propensity, "own") != 0)
        return status_fail(error, EE_BAD_OPTION, "propensity: %s has no rule but its own: say own", from->policy);
    if (!draws && policy_has(from->policy, "probability_draws")) text_add(into, " probability_draws=%d", USUAL_DRAWS);
    return EE_OK;
}

ee_status bandit_settings_create(const bandit_settings *from, ee_bandit **out, ee_error *error)
{
    ee_option any;
    ee_status status = ee_option_describe(from->policy, 0, &any, error); /* an unknown policy says so itself */
    if (status) return status;
    text options = text_start(error);
    text_add(&options, "%s", from->options);
    status = add_draw(from, &options, error);
    if (!status) status = options.status;
    ee_settings settings = {.policy = from->policy, .dim = from->dim, .seed = from->seed, .options = options.bytes};
    if (!from->dim) settings.features = from->features;
    if (!status) status = ee_bandit_create(&settings, out, error);
    memory_free(options.bytes);
    return status;
}
