/* The guardrails of a bandit: who gets its decisions, and what they may not do. One object in the settings, read into
 * tables (docs/guardrails.md):
 *
 *     {"control": {"share": 0.05, "baseline": "first"}, "rollout": {"share": 0.25}, "segment": "user.country",
 *      "error": 0.05, "bounds": [{"metric": "refund", "most_above": 0.1, "then": "fallback"}],
 *      "rules": [{"name": "not in Germany", "context": {"user.country": "DE"}, "action": {"kind": "loan"},
 *                 "exclude": true}],
 *      "shares": [{"name": "partners", "action": {"kind": "partner"}, "low": 0.1, "window": "1d"}],
 *      "caps": [{"name": "mails", "action": {"kind": "mail"}, "most": 3, "per": "1d", "each": "key"}],
 *      "budgets": [{"name": "coupons", "cost": "cost", "limit": 500, "per": "1d", "pace": "even"}],
 *      "sticky": {"for": "1h"}}
 *
 * Conditions are terms: a feature of the context or of an action, and the values that it may have. Rules, shares, caps
 * and budgets have a mask with a bit for each term that must hold; 0 matches every action. */
#ifndef EENET_GUARD_SETTINGS_H
#define EENET_GUARD_SETTINGS_H

#include "base/json.h"
#include "data/values/text.h"

enum {
    GUARD_TEXT_SIZE = 8192, /* of the object, with a zero */
    GUARD_NAME_SIZE = 65,
    GUARD_PATH_SIZE = 256, /* of a feature's name, with a zero: a longer one matches nothing */
    GUARD_TERMS = 64,      /* at most, in all conditions together */
    GUARD_RULES = 32,
    GUARD_SHARES = 16,
    GUARD_CAPS = 16,
    GUARD_BUDGETS = 8,
    GUARD_BOUNDS = 8,
    GUARD_STAGES = 16
};

/* One value of a term: a text, or numbers from low to high. true and false are the texts "true" and "false". */
typedef struct guard_value {
    const char *words; /* NULL: numbers */
    double low, high;  /* low <= value < high; equal ends: exactly this number */
} guard_value;

typedef struct guard_term {
    const char *path; /* "user.country"; "_id" is the name of an action */
    bool of_action;   /* a feature of an action, not of the context */
    const guard_value *values;
    size_t value_count; /* one of them has to match */
} guard_term;

typedef struct guard_rule {
    const char *name;
    uint64_t terms;
    bool excludes;
    double boost;        /* added to the score */
    int64_t from, until; /* microseconds since 1970: it applies from `from` and before `until` */
} guard_rule;

/* Shares are disjoint: an action belongs to the first that it matches. */
typedef struct guard_share {
    const char *name;
    uint64_t terms;
    double low, high;
    int64_t window; /* microseconds over which they hold; 0: in every decision */
} guard_share;

typedef struct guard_cap {
    const char *name;
    uint64_t terms;
    uint64_t most; /* decisions */
    int64_t per;   /* in any span of this many microseconds */
    bool each_key; /* for each person */
} guard_cap;

typedef struct guard_budget {
    const char *name;
    uint64_t terms;
    const char *cost_path; /* the feature of an action that is its cost; NULL: `cost` */
    double cost;           /* with a path: of an action without it; negative: all must have it */
    double limit;
    int64_t per; /* the limit holds in each span of this length, counted from 1970 */
    bool even;   /* spent evenly over the span, not first come, first served */
} guard_budget;

typedef enum guard_consequence { GUARD_ALERT, GUARD_FREEZE, GUARD_FALLBACK } guard_consequence;

/* A bound on a metric, relative to the control group. */
typedef struct guard_bound {
    const char *metric; /* "reward", or the name of a metric */
    double factor;      /* 1 + margin, or 1 - margin if `below`: see lift_log_wealth */
    bool below;
    guard_consequence then;
} guard_bound;

typedef struct guard_stage {
    double share;
    int64_t lasts; /* microseconds; of the last stage 0: it does not end */
} guard_stage;

typedef enum guard_baseline { BASELINE_FIRST, BASELINE_UNIFORM, BASELINE_ACTION } guard_baseline;

/* Read once, then shared by threads, never changed. */
typedef struct guard_settings {
    memory owner; /* of everything here */
    guard_term terms[GUARD_TERMS];
    size_t term_count;

    bool has_groups; /* decisions have a group: there is a control group or a rollout */
    double control;  /* share of the keys */
    guard_baseline baseline;
    const char *baseline_action;      /* only for BASELINE_ACTION */
    guard_stage stages[GUARD_STAGES]; /* of the rollout; one that does not end if there is no schedule */
    size_t stage_count;
    int64_t stages_since; /* when the first stage begins; INT64_MIN: it always was */

    const char *segment; /* the path of a context feature; NULL: none */
    double error;        /* lifetime false-alarm rate of all bounds together */
    guard_bound bounds[GUARD_BOUNDS];
    guard_rule rules[GUARD_RULES];
    guard_share shares[GUARD_SHARES];
    guard_cap caps[GUARD_CAPS];
    guard_budget budgets[GUARD_BUDGETS];
    size_t bound_count, rule_count, share_count, cap_count, budget_count;
    int64_t sticky;       /* how long a key keeps its action, microseconds; 0: it does not */
    double sticky_change; /* it ends early if the action's probability falls below this times what it was; 0: never */
} guard_settings;

/* Reads the object. EE_BAD_INPUT with a sentence such as "guardrails: caps[1]: most must be ...". Release *out, on
 * failure too. The texts borrow nothing from json. */
ee_status guard_settings_read(guard_settings *out, const char *json, size_t size, ee_error *error);
void guard_settings_release(guard_settings *self);

/* The share of the keys that are treated at a time: the bandit decides for them. */
double guard_settings_treated(const guard_settings *self, int64_t now);

/* guard_settings_alike.c: whether rules, shares, caps, budgets and stickiness do the same to decisions from now on.
 * Names, and rules that have ended, make no difference. */
bool guard_settings_limit_alike(const guard_settings *a, const guard_settings *b, int64_t now);
/* The same for the terms of two masks, in the same order; for a cap and a budget, by their places. */
bool guard_same_terms(const guard_settings *a, uint64_t of_a, const guard_settings *b, uint64_t of_b);
bool guard_same_cap(const guard_settings *a, size_t of_a, const guard_settings *b, size_t of_b);
bool guard_same_budget(const guard_settings *a, size_t of_a, const guard_settings *b, size_t of_b);

/* Adds "since" to a schedule of the object that has none. Copies the object otherwise. */
ee_status guard_settings_begin(json_text object, int64_t now, text *into, ee_error *error);

/* Microseconds of a duration: seconds, or a string such as "10m", "4h" and "2d". false: it is none above 0. */
bool duration_parse(json_text words, double number, int64_t *microseconds);

#endif
