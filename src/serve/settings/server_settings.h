/* The settings of the server. One table defines the settings file (name = value), flags (--name value), environment
 * variables (EENET_NAME, with underscores for dashes), the help and the example. Flags override variables, and
 * variables override the file. */
#ifndef EENET_SERVER_SETTINGS_H
#define EENET_SERVER_SETTINGS_H

#include "base/options.h"
#include "data/values/text.h"

typedef struct server_settings {
    option_path folder;
    option_path store;         /* a database: "postgresql://..."; "": the folder */
    option_text advertise;     /* where other servers of the fleet reach this one; "": where it listens */
    option_choice replication; /* synchronous|any: what the database must do */
    double store_wait_seconds; /* for which a start waits for the database */
    option_text address;
    int64_t port;             /* 0: any */
    option_path keys;         /* the keys file; "": none */
    option_text personalizer; /* the bandit behind /personalizer */
    option_path certificate, certificate_key;
    option_choice page;                    /* on|off */
    int64_t threads, trainers;             /* 0: by the cores */
    int64_t connections, connections_each; /* in total; per address, 0: no limit */
    double idle_seconds;
    double drain;          /* seconds that /readyz returns 503 before the listener closes */
    double finish_seconds; /* for open requests after that; once called drain-seconds */
    int64_t header_bytes, body_bytes, model_bytes, batch; /* limits: bytes of headers, of a body, of an uploaded model;
                                                             decisions or rewards of a batch */
    int64_t actions, features;                            /* maximum per decision */
    int64_t bandits;                                      /* at most */
    double rate;        /* requests per second per key, or per address without keys; 0: no limit */
    double bandit_rate; /* the same per bandit */
    double publish_interval;
    int64_t most_behind, step_events, checkpoint_events, checkpoints; /* checkpoints: to keep per bandit */
    double lag_seconds; /* a model further behind is reported in the log; 0: never */
    double checkpoint_seconds, sleep_seconds;
    int64_t memory;             /* megabytes for models; 0: half of what the process may use */
    int64_t retention_days;     /* 0: events are never removed */
    int64_t most_days_off;      /* maximum days between the last event and the clock at the start; 0: no limit */
    option_choice accept_clock; /* no|elapsed|corrected: how to start if the clock is in doubt */
    double spool_seconds;       /* for which a server without its database accepts events; 0: it does not */
    option_choice log_level;    /* error|warning|info|debug */
    option_choice log_format;   /* a server_log_format: text|json */
    double log_requests;        /* share of requests, 0 to 1 */
} server_settings;

extern const option_schema server_settings_schema;

/* name: as in the table, "idle-seconds". */
ee_status server_settings_set(const char *name, const char *value, server_settings *into, ee_error *error);

/* Reads lines "name = value"; # at the start of a line or after white space begins a comment. Errors state the line. */
ee_status server_settings_parse(const char *bytes, size_t size, server_settings *into, ee_error *error);
ee_status server_settings_read(const char *path, server_settings *into, ee_error *error);

/* Reads the variables EENET_NAME of environment (like `environ`). A name that looks like a misspelled setting is
 * refused. */
ee_status server_settings_environment(char *const *environment, server_settings *into, ee_error *error);

/* A settings file with every setting, its meaning and its default, commented out. */
void server_settings_example(text *into);

/* Whether only this machine can reach the address. */
bool server_settings_is_local(const server_settings *settings);

/* Refuses combinations: an address that others can reach without keys, a certificate without its key, ... */
ee_status server_settings_check(const server_settings *settings, ee_error *error);

#endif
