/* What operators and their programs rely on: request ids and traces, the log, readiness at the start and at the end,
 * the audit log, and exports that are compressed. */
#define _GNU_SOURCE
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "http_client.h"
#include "server_process.h"

static server_process server = {.folder = "data"};
static http_client client;

static void start(const char *const *words, size_t count)
{
    memset(server.words, 0, sizeof server.words);
    memcpy(server.words, words, count * sizeof *words);
    server_process_start(&server);
    client.port = server.port;
}
#define START(...)                                                                                                     \
    start((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void stop(void)
{
    int status = server_process_end(&server, SIGTERM);
    if (status != 0) server_process_fail(&server, "the server ended with %d", status);
}

static void expect(const char *method, const char *path, const char *body, int status)
{
    int got = http_client_call(&client, method, path, body, body ? strlen(body) : 0);
    if (got != status)
        server_process_fail(&server, "%s %s: expected %d, got %d %s", method, path, status, got, client.answer);
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* ---- request ids and traces ---- */

static void need_id(const char *what)
{
    char id[200];
    if (strlen(http_client_header(&client, "X-Request-Id", id, sizeof id)) != 32)
        server_process_fail(&server, "%s: the response has the request id '%s'", what, id);
}

/* A request that the client above would not send; its answer is read to the end. */
static void send_raw(const char *request, const char *expected)
{
    static char answer[1 << 16];
    size_t filled = 0;
    int connection = http_client_connect(server.port);
    if (connection < 0 || write(connection, request, strlen(request)) < 0)
        server_process_fail(&server, "no connection");
    for (ssize_t got; (got = read(connection, answer + filled, sizeof answer - 1 - filled)) > 0;) filled += (size_t)got;
    close(connection);
    answer[filled] = '\0';
    const char *end = strstr(answer, "\r\n\r\n"), *id = strcasestr(answer, "\r\nX-Request-Id: ");
    if (!end || strncmp(answer, expected, strlen(expected)) != 0 || !id || id > end)
        server_process_fail(&server, "expected %s with a request id, got %.300s", expected, answer);
}

static void every_response_has_an_id(void)
{
    expect("POST", "/v1/bandits", "{\"name\":\"shop\",\"dim\":2}", 201);
    need_id("201");
    expect("GET", "/livez", NULL, 200);
    need_id("200");
    expect("GET", "/nothing", NULL, 404);
    need_id("404");
    expect("GET", "/v1/bandits/none", NULL, 404);
    need_id("404 of a bandit");
    expect("DELETE", "/livez", NULL, 405);
    need_id("405");
    expect("GET", "/a//b", NULL, 400);
    need_id("400 of a path");
    expect("POST", "/v1/bandits/shop/decide", "{", 400);
    need_id("400 of a body");
    expect("POST", "/personalizer/v1.0/rank", "{}", 404);
    need_id("Personalizer's");
    expect("GET", "/v1/bandits/shop/log", NULL, 200);
    need_id("a stream");
    expect("GET", "/", NULL, 200);
    need_id("the dashboard");
    client.headers = "Origin: http://elsewhere.example\r\n";
    expect("GET", "/livez", NULL, 403);
    need_id("403");
    client.headers = "X-Request-Id: mine\r\n";
    char id[200];
    expect("GET", "/nothing", NULL, 404);
    if (strcmp(http_client_header(&client, "X-Request-Id", id, sizeof id), "mine") != 0)
        server_process_fail(&server, "the caller's request id became '%s'", id);
    client.headers = NULL;
    send_raw("POST /v1/bandits/shop/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n",
             "HTTP/1.1 413 ");
    send_raw("POST /v1/bandits/shop/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n"
             "\r\n",
             "HTTP/1.1 400 ");
}

static void a_trace_is_continued(void)
{
    char header[200];
    static const char trace[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-";
    expect("GET", "/livez", NULL, 200);
    if (*http_client_header(&client, "traceresponse", header, sizeof header))
        server_process_fail(&server, "a trace that nobody began: %s", header);
    client.headers = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";
    expect("GET", "/nothing", NULL, 404);
    http_client_header(&client, "traceresponse", header, sizeof header);
    if (strncmp(header, trace, sizeof trace - 1) != 0 || strlen(header) != 55 || strstr(header, "00f067aa0ba902b7"))
        server_process_fail(&server, "the trace was not continued: '%s'", header);
    client.headers = "traceparent: 00-00000000000000000000000000000000-00f067aa0ba902b7-01\r\n";
    expect("GET", "/nothing", NULL, 404);
    if (*http_client_header(&client, "traceresponse", header, sizeof header))
        server_process_fail(&server, "a trace that is not valid was continued: %s", header);
    client.headers = NULL;
}

/* ---- the log ---- */

/* How many lines of server.log are JSON objects with these members; NULL: any. begin: how the message begins. A line
 * that begins like an object and is none fails. */
static size_t count_lines(const char *message, const char *path, const char *trace, const char *begin)
{
    FILE *log = fopen("server.log", "r");
    char *line = NULL;
    size_t capacity = 0, count = 0;
    while (log && getline(&line, &capacity, log) > 0) {
        if (line[0] != '{') continue;
        json_t *object = json_loads(line, 0, NULL);
        if (!object) server_process_fail(&server, "no JSON: %s", line);
        const char *texts[] = {json_string_value(json_object_get(object, "message")),
                               json_string_value(json_object_get(object, "path")),
                               json_string_value(json_object_get(object, "trace_id"))};
        const char *wanted[] = {message, path, trace};
        bool fits = json_string_value(json_object_get(object, "time")) && json_object_get(object, "level");
        for (size_t i = 0; i < 3; i++) fits &= !wanted[i] || (texts[i] && strcmp(texts[i], wanted[i]) == 0);
        if (begin) fits &= texts[0] && strncmp(texts[0], begin, strlen(begin)) == 0;
        count += fits;
        json_decref(object);
    }
    free(line);
    if (log) fclose(log);
    return count;
}

/* The line is written after the response was sent. */
static void await_lines(size_t wanted, const char *message, const char *path, const char *trace, const char *begin)
{
    size_t count;
    double end = http_client_now() + 30;
    while ((count = count_lines(message, path, trace, begin)) < wanted && http_client_now() < end) pause_shortly();
    if (count != wanted) server_process_fail(&server, "the log has %zu lines about %s, not %zu", count, path, wanted);
}

static void the_log_is_json(void)
{
    await_lines(1, "bandit 'shop' created", NULL, NULL, NULL);
    await_lines(1, "request", "/nothing", "4bf92f3577b34da6a3ce929d0e0e4736", NULL); /* errors always have a line */
}

/* About a share of the requests that succeed has a line. */
static void a_share_of_requests_is_logged(void)
{
    enum { REQUESTS = 400 };
    for (int i = 0; i < REQUESTS; i++) expect("GET", "/v1/bandits/shop", NULL, 200);
    stop();
    size_t count = count_lines("request", "/v1/bandits/shop", NULL, NULL);
    if (count < REQUESTS / 8 || count > REQUESTS * 3 / 8)
        server_process_fail(&server, "%zu of %d requests were logged, not about 1/4", count, REQUESTS);
}

/* ---- readiness ---- */

static double member(const char *name)
{
    double value = -1;
    http_client_number(&client, name, &value);
    return value;
}

static bool is_awake(const char *path)
{
    expect("GET", path, NULL, 200);
    return strstr(client.answer, "\"awake\":true") != NULL;
}

static void await_ready(void)
{
    double end = http_client_now() + 300;
    while (http_client_call(&client, "GET", "/readyz", NULL, 0) != 200)
        if (http_client_now() > end) server_process_fail(&server, "not ready: %s", client.answer);
}

/* Until its model has taken all events, and is newer than this version. */
static void await_learned(const char *path, double version)
{
    double end = http_client_now() + 300;
    do {
        expect("GET", path, NULL, 200);
        if (http_client_now() > end) server_process_fail(&server, "it never learned all: %s", client.answer);
    } while (member("behind") > 0 || member("version") <= version);
}

/* Sends a batch of requests: one item for each of the numbers from 0 to BATCH - 1. */
static void send_batch(const char *path, const char *list, int batch, int print_item(char *, size_t, int, int))
{
    enum { BATCH = 1000, SIZE = BATCH * 200 };
    static char body[SIZE];
    int length = snprintf(body, SIZE, "{\"%s\":[", list);
    for (int i = 0; i < BATCH; i++) {
        if (i) body[length++] = ',';
        length += print_item(body + length, (size_t)(SIZE - length), batch, i);
    }
    snprintf(body + length, (size_t)(SIZE - length), "]}");
    expect("POST", path, body, 200);
}

static int print_decision(char *text, size_t size, int batch, int i)
{
    return snprintf(text, size, "{\"id\":\"%d-%d\",\"actions\":[[%d,1],[1,%d]]}", batch, i, i % 7, i % 5);
}

static int print_reward(char *text, size_t size, int batch, int i)
{
    return snprintf(text, size, "{\"id\":\"%d-%d\",\"value\":%d}", batch, i, i % 2);
}

static void active_models_are_loaded_first(void)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    enum { BATCHES = 1 }; /* training is slow enough */
#else
    enum { BATCHES = 10 };
#endif
    START("--checkpoint-events", "1000000", "--checkpoint-seconds", "100000");
    expect("POST", "/v1/bandits", "{\"name\":\"busy\",\"dim\":2}", 201);
    expect("POST", "/v1/bandits", "{\"name\":\"gone\",\"dim\":2}", 201);
    for (int i = 0; i < BATCHES; i++) { /* a restart after a kill has to learn them again */
        send_batch("/v1/bandits/busy/decide/batch", "decisions", i, print_decision);
        send_batch("/v1/bandits/busy/reward/batch", "rewards", i, print_reward);
    }
    await_learned("/v1/bandits/busy", 0);
    expect("DELETE", "/v1/bandits/gone", NULL, 200);
    server_process_end(&server, SIGKILL);
    START("--checkpoint-events", "1000000");
    /* A server of a fleet is ready when it can forward requests; models are loaded when they are used. */
    if (server_process_has_database()) {
        expect("POST", "/v1/bandits/busy/decide", "{\"actions\":[[1,2],[2,1]]}", 200);
        return;
    }
    if (http_client_call(&client, "GET", "/readyz", NULL, 0) != 503 || member("loading.total") < 1)
        server_process_fail(&server, "ready before the models are loaded: %s", client.answer);
    await_ready();
    if (!is_awake("/v1/bandits/busy") || !is_awake("/v1/bandits/shop"))
        server_process_fail(&server, "ready without an active model: %s", client.answer);
    if (is_awake("/v1/bandits/gone")) server_process_fail(&server, "an archived bandit was loaded");
}

/* An event of the log names a model whose file is lost. */
static void a_bandit_that_cannot_be_loaded_does_not_block(void)
{
    expect("GET", "/v1/bandits/shop/model", NULL, 200);
    void *model = malloc(client.size);
    size_t size = client.size;
    memcpy(model, client.answer, size);
    if (http_client_call(&client, "PUT", "/v1/bandits/shop/model", model, size) != 200)
        server_process_fail(&server, "upload: %s", client.answer);
    free(model);
    await_learned("/v1/bandits/shop", member("event"));
    server_process_end(&server, SIGKILL);
    if (system("rm data/models/1/*.model") != 0) server_process_fail(&server, "no model was stored");
    START("--log-format", "json");
    await_ready();
    await_lines(1, NULL, NULL, NULL, "bandit 'shop' could not be loaded: ");
    if (!is_awake("/v1/bandits/busy")) server_process_fail(&server, "the others were not loaded");
    expect("POST", "/v1/bandits/shop/decide", "{\"actions\":[[1,2],[2,1]]}", 503);
    stop();
}

/* ---- exports ---- */

/* The log of a bandit as it is exported: unpacked, (size) bytes, to be freed. */
static char *export_log(const char *accept, const char *coding, size_t *size)
{
    enum { CAPACITY = 64 << 20 };
    char *bytes = malloc(CAPACITY), header[100];
    client.headers = accept;
    expect("GET", "/v1/bandits/large/log", NULL, 200);
    client.headers = NULL;
    if (strcmp(http_client_header(&client, "Content-Encoding", header, sizeof header), coding) != 0)
        server_process_fail(&server, "%s: the export has the coding '%s'", accept, header);
    if (strcmp(coding, "gzip") == 0) {
        z_stream z = {.next_in = (Bytef *)(uintptr_t)client.answer,
                      .avail_in = (uInt)client.size,
                      .next_out = (Bytef *)bytes,
                      .avail_out = CAPACITY};
        if (inflateInit2(&z, 15 + 16) != Z_OK || inflate(&z, Z_FINISH) != Z_STREAM_END || z.avail_in)
            server_process_fail(&server, "the export is not gzip");
        inflateEnd(&z);
        *size = z.total_out;
    } else if (strcmp(coding, "zstd") == 0) {
        ZSTD_DStream *stream = ZSTD_createDStream();
        ZSTD_inBuffer in = {client.answer, client.size, 0};
        ZSTD_outBuffer out = {bytes, CAPACITY, 0};
        while (in.pos < in.size)
            if (ZSTD_isError(ZSTD_decompressStream(stream, &out, &in)))
                server_process_fail(&server, "the export is not zstd");
        ZSTD_freeDStream(stream);
        *size = out.pos;
    } else {
        memcpy(bytes, client.answer, client.size);
        *size = client.size;
    }
    return bytes;
}

static void exports_are_compressed_on_request(void)
{
    size_t size, packed;
    expect("POST", "/v1/bandits", "{\"name\":\"large\",\"dim\":2,\"policy\":\"linucb\"}", 201);
    for (int i = 0; i < 10; i++) {
        send_batch("/v1/bandits/large/decide/batch", "decisions", i, print_decision);
        send_batch("/v1/bandits/large/reward/batch", "rewards", i, print_reward);
    }
    char *plain = export_log(NULL, "", &size);
    static const char *const accepts[][2] = {{"Accept-Encoding: gzip\r\n", "gzip"},
                                             {"Accept-Encoding: gzip, zstd\r\n", "zstd"},
                                             {"Accept-Encoding: br, gzip;q=0\r\n", ""}};
    if (size < 1000000) server_process_fail(&server, "the export has only %zu bytes", size);
    for (size_t i = 0; i < 3; i++) {
        char *other = export_log(accepts[i][0], accepts[i][1], &packed);
        if (packed != size || memcmp(plain, other, size) != 0)
            server_process_fail(&server, "the export as '%s' has other bytes", accepts[i][1]);
        free(other);
    }
    free(plain);
}

/* Clients that do not read their export cost nobody else anything, and what they held is free when they leave. */
static void slow_exports_disturb_nobody(void)
{
    enum { EXPORTS = 8 };
    static const char request[] = "GET /v1/bandits/large/log HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int sockets[EXPORTS], small = 4096;
    for (int i = 0; i < EXPORTS; i++) {
        char byte;
        sockets[i] = http_client_connect(server.port);
        setsockopt(sockets[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        if (write(sockets[i], request, sizeof request - 1) < 0 || recv(sockets[i], &byte, 1, 0) != 1)
            server_process_fail(&server, "export %d did not begin", i);
    }
    expect("GET", "/v1/bandits/large/log?limit=1", NULL, 503);
    for (int i = 0; i < 100; i++) expect("POST", "/v1/bandits/large/decide", "{\"actions\":[[1,2],[2,1]]}", 200);
    for (int i = 0; i < EXPORTS; i++) close(sockets[i]);
    double end = http_client_now() + 60;
    while (http_client_call(&client, "GET", "/v1/bandits/large/log?limit=1", NULL, 0) != 200)
        if (http_client_now() > end)
            server_process_fail(&server, "exports of clients that left stay: %s", client.answer);
}

static void not_ready_before_it_stops(void)
{
    static const char decision[] = "{\"actions\":[[1,2],[2,1]]}";
    START("--drain", "2");
    await_ready();
    expect("POST", "/v1/bandits/busy/decide", decision, 200); /* a server of a fleet has taken it up */
    double begin = http_client_now();
    kill(server.pid, SIGTERM);
    while (http_client_call(&client, "GET", "/readyz", NULL, 0) == 200) pause_shortly();
    if (client.status != 503 || !strstr(client.answer, "the server is stopping"))
        server_process_fail(&server, "while it stops: %d %s", client.status, client.answer);
    http_client later = http_client_start(server.port); /* a new connection */
    if (http_client_call(&later, "POST", "/v1/bandits/busy/decide", decision, sizeof decision - 1) != 200)
        server_process_fail(&server, "a decision while it stops: %d %s", later.status, later.answer);
    http_client_end(&later);
    while (server_process_runs(&server)) pause_shortly();
    if (http_client_now() - begin < 2) server_process_fail(&server, "it stopped before the drain was over");

    START("--drain", "3600");
    await_ready();
    begin = http_client_now();
    kill(server.pid, SIGTERM);
    while (http_client_call(&client, "GET", "/readyz", NULL, 0) == 200) pause_shortly();
    stop(); /* a second signal ends the wait */
    if (http_client_now() - begin > 60) server_process_fail(&server, "a second signal did not end the drain");
}

/* ---- the audit log ---- */

/* The entries after a cursor, which moves behind them. To be freed. */
static json_t *audit_entries(long long *cursor, const char *query)
{
    char path[100];
    snprintf(path, sizeof path, "/v1/audit?after=%lld%s", *cursor, query);
    expect("GET", path, NULL, 200);
    json_t *page = json_loadb(client.answer, client.size, 0, NULL), *entries = json_object_get(page, "entries");
    if (!json_is_array(entries)) server_process_fail(&server, "no entries: %s", client.answer);
    *cursor = json_integer_value(json_object_get(page, "next"));
    json_incref(entries);
    json_decref(page);
    return entries;
}

/* The entry is about this change: its members before and after are these, as JSON. */
static void check_entry(json_t *entry, const char *what, const char *key, const char *before, const char *after)
{
    const char *texts[][2] = {{"what", what}, {"key", key}, {"peer", key ? "127.0.0.1" : NULL}};
    json_t *objects[] = {before ? json_loads(before, 0, NULL) : NULL, after ? json_loads(after, 0, NULL) : NULL};
    bool fits = json_object_get(entry, "time") && (!key || json_object_get(entry, "request_id"));
    for (size_t i = 0; i < 3; i++) {
        const char *got = json_string_value(json_object_get(entry, texts[i][0]));
        fits &= texts[i][1] ? got && strcmp(got, texts[i][1]) == 0 : !got;
    }
    fits &= !before || json_equal(json_object_get(entry, "before"), objects[0]);
    fits &= !after || json_equal(json_object_get(entry, "after"), objects[1]);
    if (!fits) server_process_fail(&server, "expected '%s' %s, got %s", what, after, json_dumps(entry, 0));
    json_decref(objects[0]);
    json_decref(objects[1]);
}

static char operator_key[100], reader_key[100], shop_key[100];

static void add_key(const char *name, const char *role, const char *bandit, char *key)
{
    const char *words[] = {
        server.program, "keys", "add", name, "--role", role, "--file", "keys", bandit ? "--bandit" : NULL,
        bandit,         NULL};
    if (server_process_run(server.program, "key", words) != 0) server_process_fail(&server, "no key %s", name);
    FILE *file = fopen("key", "r");
    char line[200];
    while (file && fgets(line, sizeof line, file)) {
        const char *found = strstr(line, "ee_");
        if (found) snprintf(key, 100, "%.*s", (int)strcspn(found, " \n"), found);
    }
    if (file) fclose(file);
}

static void change_everything(void)
{
    expect("POST", "/v1/bandits", "{\"name\":\"news\",\"dim\":2,\"wait\":600}", 201);
    expect("PATCH", "/v1/bandits/news", "{\"wait\":60,\"default_reward\":0.5}", 200);
    expect("PATCH", "/v1/bandits/news", "{\"wait\":-1}", 400); /* no change, no entry */
    expect("POST", "/v1/bandits/news/challengers", "{\"name\":\"linear\",\"policy\":\"linucb\"}", 201);
    expect("DELETE", "/v1/bandits/news/challengers/linear", NULL, 200);
    expect("DELETE", "/v1/bandits/news/model", NULL, 200);
    expect("POST", "/v1/bandits/news/evaluations", "{}", 201);
    expect("DELETE", "/v1/bandits/news", NULL, 200);
    expect("POST", "/v1/bandits/news/restore", NULL, 200);
    expect("PATCH", "/v1/bandits/busy", "{\"wait\":61}", 200);
}

/* As a crash in the midst of a line does. */
static void cut_off_audit_log(void)
{
    if (server_process_has_database()) return;
    FILE *log = fopen("data/audit.jsonl", "a");
    fputs("{\"time\":\"cut off", log);
    fclose(log);
}

static void changes_are_recorded(void)
{
    static const char *const whats[] = {"bandit created",     "settings changed", "challenger added",
                                        "challenger removed", "model reset",      "evaluation started",
                                        "bandit archived",    "bandit restored",  "settings changed"};
    enum { CHANGES = sizeof whats / sizeof *whats };
    long long cursor = 0, first;
    add_key("operator", "admin", NULL, operator_key);
    add_key("watcher", "reader", NULL, reader_key);
    add_key("shopkeeper", "admin", "busy", shop_key);
    START("--keys", "keys");
    client.key = operator_key;
    json_decref(audit_entries(&cursor, "&limit=1000")); /* of the servers before */
    first = cursor;
    change_everything();
    server_process_end(&server, SIGKILL); /* what was acknowledged is in the log */
    cut_off_audit_log();
    START("--keys", "keys");
    json_t *entries = audit_entries(&cursor, "");
    if (json_array_size(entries) != CHANGES)
        server_process_fail(&server, "%zu entries, not %d: %s", json_array_size(entries), CHANGES, client.answer);
    for (size_t i = 0; i < CHANGES; i++) check_entry(json_array_get(entries, i), whats[i], "operator", NULL, NULL);
    check_entry(json_array_get(entries, 1), whats[1], "operator", "{\"wait\":600,\"default_reward\":0}",
                "{\"wait\":60,\"default_reward\":0.5}");
    check_entry(json_array_get(entries, 6), whats[6], "operator", "{\"archived\":false}", "{\"archived\":true}");
    json_decref(entries);

    client.key = shop_key; /* a key of one bandit sees its changes only */
    cursor = first;
    entries = audit_entries(&cursor, "");
    if (json_array_size(entries) != 1) server_process_fail(&server, "entries of others: %s", client.answer);
    json_decref(entries);
    client.key = reader_key;
    expect("GET", "/v1/audit", NULL, 403);
    client.key = operator_key;
}

/* A reload says which settings and keys changed; the keys themselves are nowhere. */
static void a_reload_is_recorded(void)
{
    long long cursor = 0;
    char late_key[100];
    json_decref(audit_entries(&cursor, "&limit=1000"));
    add_key("late", "app", "shop", late_key);
    kill(server.pid, SIGHUP);
    json_t *entries = audit_entries(&cursor, "");
    for (double end = http_client_now() + 60; json_array_size(entries) == 0 && http_client_now() < end;) {
        pause_shortly();
        json_decref(entries);
        entries = audit_entries(&cursor, "");
    }
    check_entry(json_array_get(entries, 0), "settings, keys and certificate reloaded", NULL, "{}",
                "{\"key late\":\"app shop\"}");
    json_decref(entries);
    if (server_process_has_database()) {
        stop();
        client.key = NULL;
        return;
    }
    if (system("grep -q ee_ data/audit.jsonl") == 0) server_process_fail(&server, "a key is in the audit log");
    if (system("test $(stat -c %a data/audit.jsonl) = 600") != 0) server_process_fail(&server, "others may read it");
    stop();
    client.key = NULL;
}

static void a_backup_has_the_audit_log(void)
{
    const char *words[] = {server.program, "backup", "small", "copy", NULL};
    server.folder = "small";
    START("--drain", "0");
    expect("POST", "/v1/bandits", "{\"name\":\"shop\"}", 201);
    if (server_process_run(server.program, "out", words) != 0 || system("cmp small/audit.jsonl copy/audit.jsonl") != 0)
        server_process_fail(&server, "the backup has not the audit log");
    stop();
}

int main(int count, char **words)
{
    if (count != 2) return 2;
    signal(SIGPIPE, SIG_IGN);
    server.program = words[1];
    client = http_client_start(0);
    START("--log-format", "json", "--log-requests", "0.25");
    every_response_has_an_id();
    a_trace_is_continued();
    the_log_is_json();
    a_share_of_requests_is_logged();
    active_models_are_loaded_first();
    exports_are_compressed_on_request();
    slow_exports_disturb_nobody();
    if (!server_process_has_database()) /* it removes a file of a model */
        a_bandit_that_cannot_be_loaded_does_not_block();
    else
        stop();
    not_ready_before_it_stops();
    changes_are_recorded();
    a_reload_is_recorded();
    if (!server_process_has_database()) a_backup_has_the_audit_log();
    http_client_end(&client);
    return 0;
}
