/* Logs: what was decided, with which probability, and what came of it. A log is read once, event by event, in constant
 * memory, whatever its format:
 *
 *     log_reader *log;
 *     if (log_open("last-month.dsjson.gz", &options, &log, &error)) ...
 *     log_event event;
 *     bool found;
 *     while (!(status = log_next(log, &event, &found, &error)) && found) ...
 *     log_close(log);
 *
 * A text that names a log is a file, whose format is told by its first bytes (gzip and zstd are unpacked on the way),
 * "-" for standard input, or a kind with a place and options as data sets have them: "open-bandit:DIR",
 * "csv:FILE,action=item,probability=p,reward=click". */
#ifndef EENET_LOG_H
#define EENET_LOG_H

#include <stdbool.h>

#include "base/json.h"
#include "base/options.h"

typedef struct log_reader log_reader;

/* How several observations of one event become its reward. LABEL: as the writer of the log has put them together; where
 * apprentice mode has changed that, as it was before. */
typedef enum log_aggregation {
    LOG_REWARD_LABEL,
    LOG_REWARD_FIRST,
    LOG_REWARD_LAST,
    LOG_REWARD_SUM,
    LOG_REWARD_MEAN,
    LOG_REWARD_MAX
} log_aggregation;

typedef struct log_options {
    bool strict; /* a line that is broken or no event is an error; else it is counted and passed over */
    bool bare;   /* nobody wants the features: arms and context may stay empty, where making them is work */
    log_aggregation aggregation;
    double default_reward; /* of an event without observations, where they are aggregated here */
    double from, until; /* seconds since 1970: events at or after, and before; NaN: all. What has no time is let by */
} log_options;

log_options log_options_usual(void);

/* One of several slots that an event filled (CCB: each has a reward; slates: the event has one). Actions from 0. */
typedef struct log_slot {
    json_text id;
    size_t count;
    const size_t *actions;       /* (count) that were possible, the chosen one first */
    const double *probabilities; /* (count) of them, in that order */
    double reward;               /* NaN for a slate's */
    bool skipped;                /* its reward is not known: to be counted, not learned or evaluated */
    size_t baseline;             /* SIZE_MAX: not known */
    const size_t *allowed;       /* (allowed_count) that may fill it, whatever the slots before took; NULL: any */
    size_t allowed_count;
    json_text features; /* of the slot, an object; empty where it has none. See slot_context.h */
} log_slot;

/* One event. The pointers are valid until the next one. */
typedef struct log_event {
    size_t line; /* in its file, from 1 */
    json_text id;
    double time;                 /* seconds since 1970; NaN: unknown */
    size_t count;                /* actions */
    size_t action;               /* the one taken, from 0 */
    double probability;          /* with which it was taken, above 0 and at most 1 */
    const double *probabilities; /* (count) of each action, by its number; NULL where only the taken one's is known */
    double reward;               /* finite */
    double copies;   /* events that this one stands for: 1, or 1 / (1 - pdrop) where some were dropped on purpose */
    bool skipped;    /* deferred and never activated: nobody saw it. To be counted, not learned or evaluated */
    size_t baseline; /* the action that would have been taken without a bandit: the first, mostly */
    const json_text *actions; /* (count) names of the actions, as _tag; NULL where they have none */

    /* What the policy saw: arms where the log has vectors (arms.count > 0), else named features, as VW's JSON: shared
     * ones beside "_multi", the array of actions. What a slot has besides is in its features. */
    ee_arms arms;
    json_text context;

    const log_slot *slots; /* (slot_count); count, action, probability and reward above are those of the first slot */
    size_t slot_count;
    bool slate;
} log_event;

/* What was read so far, and what was not. */
typedef struct log_counts {
    size_t lines;
    size_t events;   /* that log_next gave, those skipped among them */
    size_t skipped;  /* see log_event */
    size_t outside;  /* of the time that was asked for */
    size_t broken;   /* lines that are no JSON, or are cut */
    size_t foreign;  /* JSON, but no decision: dangling rewards, checkpoints, continuous actions */
    size_t invalid;  /* decisions that cannot be: a probability of 0 or above 1, an action that is not there, ... */
    size_t repeated; /* events whose id came before: only the first is given. Ids of the last million are known */
    size_t first_lines[8]; /* where the first of what was passed over stand */
    char first_reasons[8][120];
    size_t first_count;
    uint64_t bytes; /* of the file, as it is on the disk; and how many in all, 0 where that is not known */
    uint64_t total_bytes;
} log_counts;

ee_status log_open(const char *text, const log_options *options, log_reader **out, ee_error *error);

/* Whether the text names standard input or a pipe, of which nothing can be looked at without losing it. */
bool log_is_pipe(const char *text);

void log_close(log_reader *log);

/* The next event; *found false after the last. */
ee_status log_next(log_reader *log, log_event *event, bool *found, ee_error *error);

const log_counts *log_read(const log_reader *log);

/* Dimension of the arms, where the log has vectors; 0 where it has named features. Known once the log is open. */
size_t log_dim(const log_reader *log);

/* Whether it can be opened again: not standard input, nor a pipe. */
bool log_can_repeat(const log_reader *log);

/* A checksum of the text, the size and the time of change of its files: whether it is still the same log. */
uint64_t log_fingerprint(const log_reader *log);

/* ---- writing ---- */

typedef enum log_format { LOG_DSJSON, LOG_COMPACT, LOG_CSV } log_format;
typedef struct log_writer log_writer;

/* The end of the name says how: .dsjson or .json, .eelog (compact), .csv, each perhaps with .gz or .zst; "-": dsjson to
 * standard output. dim: of the arms of all events, 0 for named features. */
ee_status log_create(const char *path, size_t dim, log_writer **out, ee_error *error);
ee_status log_write(log_writer *log, const log_event *event, ee_error *error);

/* Writes what is left, syncs, and gives the file its name: a log that was not ended is under a temporary one. NULL is
 * allowed; keep false: throws it away. */
ee_status log_end(log_writer *log, bool keep, ee_error *error);

#endif
