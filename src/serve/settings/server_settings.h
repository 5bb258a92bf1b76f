/* The settings of the server: one table, from which come the settings file (name = value), the flags (--name value),
 * the variables (EENET_NAME, a dash as an underscore), the help and the example. A flag counts more than a variable,
 * and that more than the file. */
#ifndef EENET_SERVER_SETTINGS_H
#define EENET_SERVER_SETTINGS_H

#include "base/options.h"
#include "data/values/text.h"

typedef struct server_settings {
    option_path folder;
    option_text address;
    int64_t port;             /* 0: any */
    option_path keys;         /* the keys file; "": none */
    option_text personalizer; /* the bandit behind /personalizer */
    option_path certificate, certificate_key;
    option_choice page;                    /* on|off */
    int64_t threads, trainers;             /* 0: by the cores */
    int64_t connections, connections_each; /* in all; of one address, 0: as many as there are */
    double idle_seconds;
    double drain;          /* seconds that /readyz returns 503 before the listener closes */
    double finish_seconds; /* for open requests after that; once called drain-seconds */
    int64_t header_bytes, body_bytes, model_bytes, batch; /* limits: bytes of headers, of a body, of an uploaded model;
                                                             decisions or rewards of a batch */
    int64_t actions, features;                            /* of a decision, at most */
    int64_t bandits;                                      /* at most */
    double rate;        /* requests a second of one key, or of one address where there are no keys; 0: no limit */
    double bandit_rate; /* the same of one bandit */
    double publish_interval;
    int64_t most_behind, step_events, checkpoint_events, checkpoints; /* checkpoints: kept of each bandit */
    double lag_seconds; /* a model further behind is reported in the log; 0: never */
    double checkpoint_seconds, sleep_seconds;
    int64_t memory;             /* megabytes for models; 0: half of what the process may use */
    int64_t retention_days;     /* 0: for ever */
    int64_t most_days_off;      /* that the clock may be later than the last event at the start; 0: any number */
    option_choice accept_clock; /* no|elapsed|corrected: what to do if that, or the clock's state, is in doubt */
    option_choice log_level;    /* error|warning|info|debug */
    option_choice log_format;   /* a server_log_format: text|json */
    double log_requests;        /* share of requests, 0 to 1 */
} server_settings;

extern const option_schema server_settings_schema;

/* The name is as in the table: "idle-seconds". */
ee_status server_settings_set(const char *name, const char *value, server_settings *into, ee_error *error);

/* The file's lines: "name = value", # at the beginning or after white space begins a comment. What is wrong is said
 * with its line. */
ee_status server_settings_parse(const char *bytes, size_t size, server_settings *into, ee_error *error);
ee_status server_settings_read(const char *path, server_settings *into, ee_error *error);

/* From the variables EENET_NAME of environment (as `environ`). Another EENET_ name that looks like one of ours,
 * misspelled, is refused with it; EENET_DATA is another's. */
ee_status server_settings_environment(char *const *environment, server_settings *into, ee_error *error);

/* A settings file with every setting, its meaning and its default, commented out. */
void server_settings_example(text *into);

/* What cannot be: an address that is not loopback's without keys, a certificate without its key, ... */
ee_status server_settings_check(const server_settings *settings, ee_error *error);

#endif
