/* Logs of decisions with their probabilities and rewards. A log of any format is read once, event by event, in constant
 * memory:
 *
 *     log_reader *log;
 *     if (log_open("last-month.dsjson.gz", &options, &log, &error)) ...
 *     log_event event;
 *     bool found;
 *     while (!(status = log_next(log, &event, &found, &error)) && found) ...
 *     log_close(log);
 *
 * A log is named by a file (the format is detected from its first bytes; gzip and zstd are decompressed), "-" for
 * standard input, or a format with a place and options, as data sets are: "open-bandit:DIR",
 * "csv:FILE,action=item,probability=p,reward=click", "vw:FILE,format=cb_adf". */
#ifndef EENET_LOG_H
#define EENET_LOG_H

#include <stdbool.h>

#include "base/json.h"
#include "base/options.h"

typedef struct log_reader log_reader;

/* How the observations of an event become its reward. LABEL: as logged, before any change by apprentice mode. */
typedef enum log_aggregation {
    LOG_REWARD_LABEL,
    LOG_REWARD_FIRST,
    LOG_REWARD_LAST,
    LOG_REWARD_SUM,
    LOG_REWARD_MEAN,
    LOG_REWARD_MAX
} log_aggregation;

typedef struct log_options {
    bool strict; /* a line that is not a usable event is an error; otherwise it is counted and left out */
    bool bare;   /* the caller needs no features: arms and context may stay empty */
    log_aggregation aggregation;
    double default_reward; /* reward of an event without observations, unless aggregation is LABEL */
    double from,
        until; /* seconds since 1970: only events in [from, until); NaN: no limit. Events without a time are kept */
} log_options;

log_options log_options_usual(void);

/* What bounded the draw besides the policy: a candidate that takes the place of the logging policy decides within it
 * too. Only the decisions in a server's store have it: files of logs do not. Actions are numbered as in the event. */
typedef struct log_limits {
    const uint8_t *excluded; /* (actions) not 0: it could not be chosen; NULL: none, or a slot, which leaves them out */
    const float *boosts;     /* (actions) added to the scores; NULL: none */
    const uint32_t *shares;  /* (actions) the share of each; share_count or above: none. NULL: there are no shares */
    const double *low, *high; /* (share_count) least and greatest probability of the actions of a share together */
    size_t share_count;
} log_limits;

/* One of several slots of an event (CCB: each has a reward; slates: the event has one). Actions count from 0. */
typedef struct log_slot {
    json_text id;
    size_t count;
    const size_t *actions;       /* (count) the available actions, the chosen one first */
    const double *probabilities; /* (count) of them, in that order; NaN after the first if only its is known */
    double reward;               /* NaN in a slate */
    bool skipped;                /* its reward is unknown: count it, but do not learn from it or evaluate it */
    size_t baseline;             /* SIZE_MAX: unknown */
    const size_t *allowed;       /* (allowed_count) actions allowed in it, regardless of earlier slots; NULL: all */
    size_t allowed_count;
    json_text features;       /* features of the slot, an object; may be empty. See slot_context.h */
    const log_limits *limits; /* NULL: none, or unknown */
} log_slot;

/* Whether only the probability of the chosen action is known. */
bool log_slot_is_partial(const log_slot *slot);

/* A number that a decision received besides its reward. */
typedef struct log_metric {
    json_text name; /* 1 to LOG_METRIC_NAME bytes, different from the others of the event */
    double value;   /* -1e9 to 1e9 */
} log_metric;

enum { LOG_METRIC_NAME = 63, LOG_METRICS = 64 /* of an event, at most */ };

/* Who decided: the bandit, for persons who are treated, or the baseline, for the others (docs/guardrails.md). */
typedef enum log_group {
    LOG_GROUP_NONE, /* there were no groups */
    LOG_GROUP_TREATED,
    LOG_GROUP_CONTROL,
    LOG_GROUP_WAITING,
    LOG_GROUP_FALLBACK
} log_group;

/* What guardrails did to a decision. All of {0}: nothing. */
typedef struct log_guard {
    log_group group;
    double treated_share; /* of the persons, at that time; only if there are groups */
    bool uniform;         /* the baseline draws among all actions: its decisions are randomised too */
    json_text key;        /* of the person */
    json_text segment;
    json_text rules;   /* names of the rules that applied, as a JSON array; empty: none */
    json_text repeats; /* the id of the decision whose action it repeats; empty: it was drawn */
} log_guard;

/* One event. The pointers are valid until the next one. */
typedef struct log_event {
    size_t line; /* in its file, from 1 */
    json_text id;
    double time;                 /* seconds since 1970; NaN: unknown */
    size_t count;                /* actions */
    size_t action;               /* the chosen one, from 0 */
    double probability;          /* its propensity, above 0 and at most 1 */
    const double *probabilities; /* (count) of each action, by its number; NULL if only the propensity of the chosen one
                                    is known */
    double reward;               /* finite */
    double copies;               /* events that this one represents: 1, or 1 / (1 - pdrop) if the logger dropped some */
    bool skipped;    /* deferred and never activated, so not shown. Count it, but do not learn from it or evaluate it */
    size_t baseline; /* the action without a bandit: usually the first */
    const json_text *actions; /* (count) names of the actions, from _tag; NULL if they have none */

    /* What the policy saw: arms if the log has vectors (arms.count > 0), else named features in VW's JSON: shared ones
     * next to "_multi", the array of actions. A slot's additional features are in the slot. */
    ee_arms arms;
    json_text context;

    const log_slot *slots; /* (slot_count); count, action, probability and reward above are those of the first slot */
    size_t slot_count;
    bool slate;

    log_guard guard;
    const log_limits *limits;  /* of an event without slots; NULL: none, or unknown */
    const log_metric *metrics; /* (metric_count) */
    size_t metric_count;
} log_event;

/* Whether this action could not be chosen. */
static inline bool log_event_excludes(const log_event *of, size_t action)
{
    return of->limits && of->limits->excluded && of->limits->excluded[action];
}

/* Whether its action was drawn with the logged probabilities, so that it can be used for estimates. False for repeats
 * of a sticky decision, which depend on the first one, and for decisions of a baseline that does not draw. */
bool log_event_is_randomised(const log_event *event);

/* Whether the logging policy itself drew it, so that it says what this policy is worth: no baseline, even one that
 * draws. */
bool log_event_is_drawn(const log_event *event);

/* Counts of lines and events so far, read and left out. */
typedef struct log_counts {
    size_t lines;
    size_t events;   /* returned by log_next, including skipped ones */
    size_t skipped;  /* see log_event */
    size_t outside;  /* outside [from, until) */
    size_t timeless; /* of events: those without a readable time, which no limit leaves out */
    size_t broken;   /* invalid JSON, or truncated */
    size_t foreign;  /* JSON, but not a decision: dangling rewards, checkpoints, continuous actions */
    size_t invalid;  /* impossible decisions: a probability of 0 or above 1, an unknown action, ... */
    size_t repeated; /* events with an earlier id: only the first is returned. The last million ids are remembered */
    size_t first_lines[8]; /* line numbers of the first lines left out */
    char first_reasons[8][120];
    size_t first_count;
    size_t first_bad; /* place in first_lines of the first broken or invalid line; first_count: none */
    uint64_t bytes;   /* read so far, as stored on disk; and the total, 0 if unknown */
    uint64_t total_bytes;
} log_counts;

ee_status log_open(const char *text, const log_options *options, log_reader **out, ee_error *error);

/* Whether the text names standard input or a pipe, which can be read only once. */
bool log_is_pipe(const char *text);

void log_close(log_reader *log);

/* The next event; *found is false after the last. */
ee_status log_next(log_reader *log, log_event *event, bool *found, ee_error *error);

const log_counts *log_read(const log_reader *log);

/* Dimension of the arms if the log has vectors; 0 if it has named features. Known once the log is open. */
size_t log_dim(const log_reader *log);

/* Doubts about how the log was read, as sentences: the one with this number, from 0; NULL after the last. */
enum { LOG_REMARKS = 8, LOG_REMARK_SIZE = 256 };
const char *log_remark(const log_reader *log, size_t number);

/* A column of a CSV log and its use. */
typedef struct log_column {
    const char *name;
    const char *role;   /* "action", "reward", ...; NULL: none */
    bool context;       /* it is a feature of the context */
    const char *reason; /* why it is not, or a note about its role; NULL: none */
} log_column;

/* The columns of a CSV log, valid until it is closed; *count is 0 for other formats. */
const log_column *log_columns_used(const log_reader *log, size_t *count);

/* The same as a sentence: "Columns: action=item (5 names), ...; context: age; left out: user_id (a key). ..."; "" for
 * other formats. Long names and lists are shortened. */
enum { LOG_COLUMN_NAME = 48, LOG_COLUMNS_TEXT = 1200 };
void log_columns_format(const log_reader *log, char text[LOG_COLUMNS_TEXT]);

/* Whether it can be opened again: false for standard input and pipes. */
bool log_can_repeat(const log_reader *log);

/* A checksum of the text and of its files' sizes and modification times, to recognise the same log. */
uint64_t log_fingerprint(const log_reader *log);

/* ---- writing ---- */

typedef enum log_format { LOG_DSJSON, LOG_COMPACT, LOG_CSV } log_format;
typedef struct log_writer log_writer;

/* The end of the name selects the format: .dsjson or .json, .eelog (compact), .csv, optionally followed by .gz or .zst;
 * "-": dsjson to standard output. dim is the dimension of all arms, 0 for named features. */
ee_status log_create(const char *path, size_t dim, log_writer **out, ee_error *error);
ee_status log_write(log_writer *log, const log_event *event, ee_error *error);

/* A CSV log names its columns first. Call log_expect with every event before the first log_write: it makes columns for
 * the event's groups and metrics. Without it, the first event decides, and log_write fails for an event that has more.
 */
bool log_names_columns(const log_writer *log);
ee_status log_expect(log_writer *log, const log_event *event, ee_error *error);

/* Flushes, syncs and renames the file from its temporary name. NULL is allowed; keep false: discards it. */
ee_status log_end(log_writer *log, bool keep, ee_error *error);

#endif
