#include "server_settings.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

/* ---- the table ---- */

#define MEGABYTES(count) (count) * 1048576.0
#define PATH(...) OPTION_ROW_PATH(server_settings, __VA_ARGS__)
#define TEXT(...) OPTION_ROW_TEXT(server_settings, __VA_ARGS__)
#define INTEGER(...) OPTION_ROW_INTEGER(server_settings, __VA_ARGS__)
#define REAL(...) OPTION_ROW_REAL(server_settings, __VA_ARGS__)
#define CHOICE(...) OPTION_ROW_CHOICE(server_settings, __VA_ARGS__)

static const option place_rows[] = {
    PATH(folder, "folder", "eenet-data", "DIR", "folder for all data: bandits, logs and models"),
    PATH(store, "store", "", "URL", "database of a fleet of servers, instead of a folder: postgresql://..."),
    TEXT(advertise, "advertise", "", "URL", "where other servers of the fleet reach this one"),
    CHOICE(replication, "replication", "synchronous", "synchronous|any",
           "what the database must do; with 'any' its loss loses acknowledged events"),
    REAL(store_wait_seconds, "store-wait-seconds", "60", 0, 1e9,
         "seconds that a start waits for a database that cannot be reached; 0: none"),
    REAL(spool_seconds, "spool-seconds", "0", 0, 1e9,
         "seconds to accept events without the database, in a spool; 0: none"),
    TEXT(address, "address", "127.0.0.1", "ADDRESS",
         "address to listen on; keys are required if other machines can reach it"),
    INTEGER(port, "port", "8080", 0, 65535, "port to listen on; 0: any free port"),
    PATH(keys, "keys", "", "FILE", "keys file, written by 'eenet keys'"),
    TEXT(personalizer, "personalizer", "personalizer", "BANDIT",
         "bandit that serves clients of Azure Personalizer, at /personalizer"),
    PATH(certificate, "certificate", "", "FILE", "TLS certificate with its chain, PEM"),
    PATH(certificate_key, "certificate-key", "", "FILE", "private key of the certificate, PEM"),
    CHOICE(page, "page", "on", "on|off", "dashboard at /"),
};

static const option limit_rows[] = {
    INTEGER(connections, "connections", "10000", 16, 1000000, "maximum number of open connections; 503 if exceeded"),
    INTEGER(connections_each, "connections-each", "2000", 0, 1000000,
            "maximum connections per client address; 429 if exceeded; 0: no limit"),
    REAL(idle_seconds, "idle-seconds", "60", 0.1, 86400,
         "seconds a client may take to send a request, or to read the response"),
    REAL(drain, "drain", "0", 0, 3600, "seconds of 503 from /readyz before a stopping server closes its listener"),
    REAL(finish_seconds, "finish-seconds", "1.5", 0, 3600,
         "seconds to finish open requests after that; 2 more are for saving models"),
    INTEGER(header_bytes, "header-bytes", "8192", 2048, MEGABYTES(1),
            "maximum size of request headers; 431 if exceeded"),
    INTEGER(body_bytes, "body-bytes", "4194304", 1024, MEGABYTES(1024),
            "maximum size of a request body; 413 if exceeded"),
    INTEGER(model_bytes, "model-bytes", "268435456", 1024, MEGABYTES(65536),
            "maximum size of an uploaded model; 413 if exceeded"),
    INTEGER(batch, "batch", "1000", 1, 100000, "maximum number of decisions or rewards in one batch; 413 if exceeded"),
    INTEGER(actions, "actions", "1000", 1, 1000000, "maximum number of actions in one decision; 413 if exceeded"),
    INTEGER(features, "features", "200000", 1, 100000000,
            "maximum number of features in one decision; 413 if exceeded"),
    INTEGER(bandits, "bandits", "1000", 1, 1000000, "maximum number of bandits, archived ones included"),
    REAL(rate, "rate", "0", 0, 1e9, "requests per second per key, or per address without keys; 0: no limit"),
    REAL(bandit_rate, "bandit-rate", "0", 0, 1e9, "requests per second per bandit; 0: no limit"),
};

static const option work_rows[] = {
    INTEGER(threads, "threads", "0", 0, 1024, "threads that answer requests; 0: one per core"),
    INTEGER(trainers, "trainers", "0", 0, 1024, "threads that train models; 0: half the cores, at least 2"),
    REAL(publish_interval, "publish-interval", "0.1", 0, 3600,
         "minimum seconds between two published versions of a model"),
    INTEGER(step_events, "step-events", "4096", 1, 1000000,
            "maximum events in a training step of 50 ms CPU time (database: 100 ms)"),
    INTEGER(most_behind, "most-behind", "20000", 1, 1e12, "events; a model further behind trains on fewer rewards"),
    REAL(lag_seconds, "lag-seconds", "10", 0, 1e9,
         "seconds; a model further behind is reported in the server's log; 0: never"),
    INTEGER(checkpoint_events, "checkpoint-events", "100000", 1, 1e12,
            "events after which a model is saved; a restart relearns at most this many"),
    REAL(checkpoint_seconds, "checkpoint-seconds", "300", 1, 1e9, "seconds after which a changed model is saved"),
    INTEGER(checkpoints, "checkpoints", "5", 1, 10000, "number of checkpoints to keep per bandit"),
    REAL(sleep_seconds, "sleep-seconds", "3600", 0, 1e9,
         "seconds without requests until a bandit leaves memory; 0: never"),
    INTEGER(memory, "memory", "0", 0, 1e9, "megabytes for models; above, idle ones are unloaded; 0: half of all"),
    INTEGER(retention_days, "retention-days", "0", 0, 100000, "days after which events are removed; 0: never"),
    INTEGER(most_days_off, "most-days-off", "100", 0, 100000,
            "maximum days between the last event and a start; 0: no limit"),
    CHOICE(accept_clock, "accept-clock", "no", "no|elapsed|corrected",
           "how to start with a clock far from the last event"),
    CHOICE(log_level, "log-level", "info", "error|warning|info|debug", "lowest level that is logged"),
    CHOICE(log_format, "log-format", "text", "text|json", "format of the log's lines"),
    REAL(log_requests, "log-requests", "0", 0, 1,
         "share of requests to log; if above 0, also all refused and failed ones"),
};

static const option_table place_table = OPTION_TABLE(place_rows), limit_table = OPTION_TABLE(limit_rows),
                          work_table = OPTION_TABLE(work_rows);
static const option_group groups[] = {
    OPTION_GROUP_OWN(place_table, "address, storage and access"),
    OPTION_GROUP_OWN(limit_table, "limits"),
    OPTION_GROUP_OWN(work_table, "training and storage"),
};
const option_schema server_settings_schema = OPTION_SCHEMA("serve", groups, server_settings, NULL);

/* ---- values ---- */

/* Settings keep working under the names that they had. */
static const char *current_name(const char *name)
{
    return strcmp(name, "drain-seconds") == 0 ? "finish-seconds" : name;
}

/* A setting of earlier versions. */
static bool was_removed(const char *name)
{
    return strcmp(name, "most-awake") == 0;
}

ee_status server_settings_set(const char *name, const char *value, server_settings *into, ee_error *error)
{
    if (was_removed(name))
        return status_fail(
            error, EE_BAD_OPTION,
            "options: '%s' was removed; remove it, or limit the memory of models with 'memory' (megabytes)", name);
    name = current_name(name);
    return options_set(&server_settings_schema, name, value, into, error);
}

/* "options: serve.port must be ..." becomes "WHERE: serve.port must be ...". */
static ee_status fail_at(ee_error *error, const char *where, size_t line, const ee_error *reason)
{
    const char *message = reason->message, *colon = strstr(message, ": ");
    char place[32] = "";
    if (line) snprintf(place, sizeof place, "line %zu", line);
    return status_fail(error, reason->status, "settings: %s%s: %s", where, place, colon ? colon + 2 : message);
}

/* The text without the white space around it; it is changed. */
static char *trimmed(char *line)
{
    char *end = line + strlen(line);
    while (end > line && isspace((unsigned char)end[-1])) *--end = '\0';
    while (isspace((unsigned char)*line)) line++;
    return line;
}

static void cut_comment(char *line)
{
    char *at = line;
    while (*at && !(*at == '#' && (at == line || isspace((unsigned char)at[-1])))) at++;
    *at = '\0';
}

static ee_status take_line(char *line, size_t number, server_settings *into, ee_error *error)
{
    ee_error reason;
    cut_comment(line);
    line = trimmed(line);
    if (!*line) return EE_OK;
    char *equals = strchr(line, '=');
    if (!equals)
        return status_fail(error, EE_BAD_OPTION, "settings: line %zu: expected name = value, got '%.60s'", number,
                           line);
    *equals = '\0';
    if (!server_settings_set(trimmed(line), trimmed(equals + 1), into, &reason)) return EE_OK;
    return fail_at(error, "", number, &reason);
}

ee_status server_settings_parse(const char *bytes, size_t size, server_settings *into, ee_error *error)
{
    enum { LINE_SIZE = 2048 };
    const char *end = bytes + size;
    for (size_t number = 1; bytes < end; number++) {
        char line[LINE_SIZE];
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t length = (size_t)((newline ? newline : end) - bytes);
        if (length >= sizeof line || memchr(bytes, '\0', length))
            return status_fail(error, EE_BAD_OPTION, "settings: line %zu is too long or not text", number);
        memcpy(line, bytes, length);
        line[length] = '\0';
        ee_status status = take_line(line, number, into, error);
        if (status) return status;
        bytes += length + (newline != NULL);
    }
    return EE_OK;
}

ee_status server_settings_read(const char *path, server_settings *into, ee_error *error)
{
    uint8_t *bytes;
    size_t size;
    ee_status status = file_read(path, &bytes, &size, error);
    if (status) return status;
    status = server_settings_parse((const char *)bytes, size, into, error);
    memory_free(bytes);
    return status;
}

/* ---- variables ---- */

/* Row number index of all groups; NULL past the last. */
static const option *row_at(size_t index)
{
    for (size_t g = 0; g < server_settings_schema.count; g++) {
        const option_table *table = server_settings_schema.groups[g].table;
        if (index < table->count) return &table->rows[index];
        index -= table->count;
    }
    return NULL;
}

/* Refuses an unknown name that resembles a setting: the same first letter, and most of the others. */
static ee_status check_stranger(const char *name, const char *variable, ee_error *error)
{
    enum { MOST = 64 };
    const char *names[MOST];
    size_t count = 0;
    for (const option *row; count < MOST && (row = row_at(count)); count++) names[count] = row->name;
    const char *nearest = strcmp(name, "data") == 0 ? NULL : options_nearest(name, names, count);
    if (!nearest || nearest[0] != name[0]) return EE_OK;
    return status_fail(error, EE_BAD_OPTION, "settings: unknown setting '%.60s'; did you mean '%s'?", variable,
                       nearest);
}

static bool is_setting(const char *name)
{
    const option *row;
    name = current_name(name);
    for (size_t i = 0; (row = row_at(i)); i++)
        if (strcmp(row->name, name) == 0) return true;
    return was_removed(name); /* server_settings_set says so */
}

ee_status server_settings_environment(char *const *environment, server_settings *into, ee_error *error)
{
    for (; *environment; environment++) {
        char name[64], variable[64];
        size_t length = strcspn(*environment, "=");
        if (strncmp(*environment, "EENET_", 6) != 0 || length - 6 >= sizeof name || !(*environment)[length]) continue;
        for (size_t i = 6; i <= length; i++) {
            char letter = (char)tolower((unsigned char)(*environment)[i]);
            name[i - 6] = i == length ? '\0' : letter == '_' ? '-' : letter;
        }
        snprintf(variable, sizeof variable, "%.*s", (int)length, *environment);
        ee_error reason;
        ee_status status = EE_OK;
        if (!is_setting(name))
            status = check_stranger(name, variable, error);
        else if (server_settings_set(name, *environment + length + 1, into, &reason))
            status = fail_at(error, variable, 0, &reason);
        if (status) return status;
    }
    return EE_OK;
}

/* ---- all of them ---- */

void server_settings_example(text *into)
{
    server_settings defaults;
    ee_option entry;
    const char *part = "";
    options_set_defaults(&server_settings_schema, &defaults);
    text_add(
        into,
        "# Settings of 'eenet serve', with their defaults. Environment variables (EENET_PUBLISH_INTERVAL) override\n"
        "# this file, and flags (--publish-interval) override both.\n");
    for (size_t i = 0; !options_describe(&server_settings_schema, &defaults, i, &entry, NULL); i++) {
        if (strcmp(part, entry.part) != 0) text_add(into, "\n# ---- %s ----\n", entry.part);
        part = entry.part;
        text_add(into, "\n# %s (%s)\n#%s =%s%s\n", entry.meaning, entry.range, entry.name, entry.value[0] ? " " : "",
                 entry.value);
    }
}

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 || strcmp(address, "localhost") == 0;
}

bool server_settings_is_local(const server_settings *settings)
{
    return is_loopback(settings->address);
}

/* The keys of a fleet may be in its database: they are checked when it is joined. */
ee_status server_settings_check(const server_settings *settings, ee_error *error)
{
    const char *store = settings->store;
    if (store[0] && strncmp(store, "postgresql://", 13) != 0 && strncmp(store, "postgres://", 11) != 0)
        return status_fail(error, EE_BAD_OPTION,
                           "settings: store must be a database, such as postgresql://HOST/NAME; for a folder use "
                           "'folder'");
    if (!settings->folder[0]) return status_fail(error, EE_BAD_OPTION, "settings: folder must not be empty");
    if (!settings->address[0])
        return status_fail(error, EE_BAD_OPTION, "settings: address must not be empty; 0.0.0.0 means every address");
    if (!settings->keys[0] && !store[0] && !is_loopback(settings->address))
        return status_fail(error, EE_BAD_OPTION,
                           "settings: other machines can reach the address %s, so keys are required: create one with "
                           "'eenet keys add NAME --role admin --file FILE' and start with --keys FILE",
                           settings->address);
    if (!settings->certificate[0] != !settings->certificate_key[0])
        return status_fail(error, EE_BAD_OPTION,
                           "settings: certificate and certificate-key are needed together; %s is missing",
                           settings->certificate[0] ? "certificate-key" : "certificate");
    return EE_OK;
}
