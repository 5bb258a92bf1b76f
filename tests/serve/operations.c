/* What operators and their programs rely on: request ids and traces, the log, readiness at the start and at the end,
 * the audit log, and exports that are compressed. */
#define _GNU_SOURCE
#include <ctype.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

/* How many lines of server.log are JSON objects whose members have these texts; NULL: not asked for. Any other line
 * after the first that is an object fails, but what is printed for people. */
static size_t count_lines(const char *message, const char *path, const char *trace)
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
        count += fits;
        json_decref(object);
    }
    free(line);
    if (log) fclose(log);
    return count;
}

/* The line is written after the response was sent. */
static void await_lines(size_t wanted, const char *message, const char *path, const char *trace)
{
    size_t count;
    double end = http_client_now() + 60;
    while ((count = count_lines(message, path, trace)) < wanted && http_client_now() < end) pause_shortly();
    if (count != wanted) server_process_fail(&server, "the log has %zu lines about %s, not %zu", count, path, wanted);
}

static void the_log_is_json(void)
{
    await_lines(1, "bandit 'shop' created", NULL, NULL);
    await_lines(1, "request", "/nothing", "4bf92f3577b34da6a3ce929d0e0e4736"); /* errors always have a line */
}

/* About a share of the requests that succeed has a line. */
static void a_share_of_requests_is_logged(void)
{
    enum { REQUESTS = 400 };
    for (int i = 0; i < REQUESTS; i++) expect("GET", "/v1/bandits/shop", NULL, 200);
    stop();
    size_t count = count_lines("request", "/v1/bandits/shop", NULL);
    if (count < REQUESTS / 8 || count > REQUESTS * 3 / 8)
        server_process_fail(&server, "%zu of %d requests were logged, not about 1/4", count, REQUESTS);
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
    http_client_end(&client);
    return 0;
}
