/* descriptors EENET: the real server with few file descriptors. New clients get 503; those that are connected, the
 * store and a clean stop keep working. */
#define _GNU_SOURCE /* prlimit */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http_client.h"
#include "server_process.h"
#include "support_http.h"

enum { FILES = 200, OTHERS = 160, CONNECTIONS = FILES - OTHERS, TOO_MANY = 20 };

static const char live[] = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";

static int connect_to(server_process *process)
{
    int client = raw_connect(process->port);
    if (client < 0) server_process_fail(process, "no connection");
    return client;
}

static void expect_live(server_process *process, int client, const char *when)
{
    http_reply reply;
    if (!raw_ask(client, live, &reply) || reply.status != 200)
        server_process_fail(process, "%s: status %d: %s", when, reply.status, reply.body);
    free(reply.body);
}

/* A new client is told to come back, and the connection is closed. */
static void expect_busy(server_process *process, const char *message)
{
    http_reply reply;
    int client = connect_to(process);
    if (!raw_ask(client, live, &reply) || reply.status != 503 || !reply.closed || !strstr(reply.body, message) ||
        !strstr(reply.head, "Retry-After: 1\n") || !strstr(reply.head, "Content-Type: application/json\n"))
        server_process_fail(process, "expected 503 with '%s', got %d\n%s\n%s", message, reply.status, reply.head,
                            reply.body);
    free(reply.body);
    if (!raw_is_closed(client, RAW_PATIENCE)) server_process_fail(process, "the connection stays open after 503");
    raw_close(client);
}

static void expect_status(server_process *process, const http_client *client, int wanted)
{
    if (client->status != wanted)
        server_process_fail(process, "expected %d, got %d: %s", wanted, client->status, client->answer);
}

/* Decisions, rewards and the model, on a connection that was open before. */
static void use_store(server_process *process, http_client *client)
{
    char id[128], body[256];
    http_client_ask(client, "POST", "/v1/bandits/shop/decide", "{\"actions\":[[1,2],[3,4]]}");
    expect_status(process, client, 200);
    if (!http_client_text(client, "id", id, sizeof id)) server_process_fail(process, "no id: %s", client->answer);
    snprintf(body, sizeof body, "{\"id\":\"%s\",\"value\":1}", id);
    http_client_call(client, "POST", "/v1/bandits/shop/reward", body, strlen(body));
    expect_status(process, client, 200);
    http_client_call(client, "GET", "/v1/bandits/shop/model", NULL, 0);
    expect_status(process, client, 200);
    http_client_call(client, "GET", "/v1/bandits/shop/log", NULL, 0);
    expect_status(process, client, 200);
}

/* Whether the server has this many connections, soon. */
static bool waits_for_connections(http_client *client, double wanted)
{
    for (double start = raw_now(); raw_now() - start < RAW_PATIENCE; poll(NULL, 0, 5)) {
        http_client_call(client, "GET", "/metrics", NULL, 0);
        const char *found = client->answer ? strstr(client->answer, "\neenet_connections ") : NULL;
        if (found && atof(found + strlen("\neenet_connections ")) == wanted) return true;
    }
    return false;
}

/* The lowest descriptor of the server that is free. */
static rlim_t free_descriptor(const server_process *process)
{
    for (rlim_t number = 0;; number++) {
        char path[64], to[256];
        snprintf(path, sizeof path, "/proc/%d/fd/%llu", (int)process->pid, (unsigned long long)number);
        if (readlink(path, to, sizeof to) < 0) return number;
    }
}

/* The limit of connections is reached. */
static void fill_up(server_process *process, http_client *first, int *clients)
{
    for (size_t i = 0; i + 1 < CONNECTIONS; i++) {
        clients[i] = connect_to(process);
        expect_live(process, clients[i], "within the limit");
    }
    for (int i = 0; i < TOO_MANY; i++) expect_busy(process, "too many connections");
    use_store(process, first);
    for (size_t i = 0; i + 1 < CONNECTIONS; i++) expect_live(process, clients[i], "connected before");
    raw_close(clients[0]);
    if (!waits_for_connections(first, CONNECTIONS - 1)) server_process_fail(process, "a closed connection counts");
    clients[0] = connect_to(process);
    expect_live(process, clients[0], "after another has left");
}

/* No descriptor is left at all: only the one in reserve can tell a client. */
static void use_up(server_process *process, http_client *first, int *clients)
{
    size_t left = 4; /* of the connections: more are allowed, by number */
    for (size_t i = left; i + 1 < CONNECTIONS; i++) raw_close(clients[i]);
    if (!waits_for_connections(first, (double)left + 1)) server_process_fail(process, "closed connections count");
    struct rlimit before, low;
    if (prlimit(process->pid, RLIMIT_NOFILE, NULL, &before)) server_process_fail(process, "no limit to set");
    low = (struct rlimit){free_descriptor(process), before.rlim_max};
    if (prlimit(process->pid, RLIMIT_NOFILE, &low, NULL)) server_process_fail(process, "the limit cannot be set");
    for (int i = 0; i < TOO_MANY; i++) expect_busy(process, "out of file descriptors");
    for (size_t i = 0; i < left; i++) expect_live(process, clients[i], "connected before");
    http_client_ask(first, "POST", "/v1/bandits/shop/decide", "{\"actions\":[[1,2],[3,4]]}");
    expect_status(process, first, 200);
    prlimit(process->pid, RLIMIT_NOFILE, &before, NULL);
    int client = connect_to(process);
    expect_live(process, client, "after descriptors are free again");
    raw_close(client);
    for (size_t i = 0; i < left; i++) raw_close(clients[i]);
}

/* With too few to work at all, the server says so instead of starting. */
static void expect_no_start(const char *program)
{
    server_process process = {.program = program, .folder = "none", .files = 100};
    int status;
    server_process_spawn(&process);
    if (waitpid(process.pid, &status, 0) != process.pid || !WIFEXITED(status) || WEXITSTATUS(status) == 0 ||
        system("grep -q 'the limit of open files is 100, but the server needs at least' server.log") != 0) {
        fprintf(stderr, "descriptors: a server with 100 descriptors should not start\n");
        exit(1);
    }
}

int main(int count, char **words)
{
    if (count != 2) {
        fprintf(stderr, "usage: descriptors EENET\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    expect_no_start(words[1]);
    int clients[CONNECTIONS];
    server_process process = {.program = words[1], .folder = "data", .files = FILES};
    server_process_start(&process);
    http_client first = http_client_start(process.port);
    http_client_ask(&first, "POST", "/v1/bandits", "{\"name\":\"shop\",\"dim\":2}");
    expect_status(&process, &first, 201);
    fill_up(&process, &first, clients);
    use_up(&process, &first, clients);
    use_store(&process, &first);
    http_client_end(&first);
    int status = server_process_end(&process, SIGTERM);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) server_process_fail(&process, "the server did not end well");
    const char *replay[] = {words[1], "replay", "data", NULL};
    if (server_process_run(words[1], "replay.log", replay))
        server_process_fail(&process, "replay fails: see replay.log");
    printf("%d connections of %d descriptors; 503 above, and everything else goes on\n", CONNECTIONS, FILES);
    return 0;
}
