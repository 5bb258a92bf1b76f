/* idle EENET [CONNECTIONS]: so many connections are open and idle while others decide: the answers come as quickly as
 * ever, and each idle connection still works afterwards. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "http_client.h"
#include "server_process.h"

enum { ROUNDS = 2000 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void decide_often(server_process *server, size_t idle)
{
    static double seconds[ROUNDS];
    http_client client = http_client_start(server->port);
    for (size_t i = 0; i < ROUNDS; i++) {
        double start = now();
        int status = http_client_ask(&client, "POST", "/v1/bandits/shop/decide",
                                     "{\"actions\":[[0.1,0.2],[0.3,0.1],[0.2,0.5]]}");
        if (status != 200) server_process_fail(server, "decide: %d %s", status, client.answer);
        seconds[i] = now() - start;
    }
    qsort(seconds, ROUNDS, sizeof *seconds, by_size);
    http_client_call(&client, "GET", "/metrics", NULL, 0);
    const char *memory = strstr(client.answer, "\nprocess_resident_memory_bytes ");
    printf("%zu idle connections: %d decisions, one at a time, p50 %.3f ms, p99 %.3f ms, the server has %.0f MB\n",
           idle, ROUNDS, 1000 * seconds[ROUNDS / 2], 1000 * seconds[ROUNDS * 99 / 100],
           memory ? atof(memory + 31) / 1e6 : 0.0);
    http_client_end(&client);
}

int main(int count, char **words)
{
    signal(SIGPIPE, SIG_IGN);
    if (count != 2 && count != 3) {
        fprintf(stderr, "usage: idle EENET [CONNECTIONS]\n");
        return 2;
    }
    size_t idle = count == 3 ? strtoul(words[2], NULL, 10) : 500;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < idle + 100) {
        printf("only %zu files may be open\n", (size_t)limit.rlim_max);
        return 77;
    }
    server_process server = {
        .program = words[1],
        .folder = "data",
        .words = {"--connections", "20000", "--connections-each", "20000", "--idle-seconds", "600"}};
    server_process_start(&server);
    http_client *clients = calloc(idle + 1, sizeof *clients);
    clients[idle] = http_client_start(server.port);
    int status = http_client_ask(&clients[idle], "POST", "/v1/bandits", "{\"name\":\"shop\",\"dim\":2}");
    if (status != 201) server_process_fail(&server, "create: %d %s", status, clients[idle].answer);
    decide_often(&server, 0);
    for (size_t i = 0; i < idle; i++) {
        clients[i] = http_client_start(server.port);
        if (http_client_call(&clients[i], "GET", "/livez", NULL, 0) != 200)
            server_process_fail(&server, "connection %zu: %d %s", i, clients[i].status, clients[i].answer);
    }
    decide_often(&server, idle);
    for (size_t i = 0; i < idle; i++) {
        int kept = clients[i].socket;
        if (http_client_call(&clients[i], "GET", "/livez", NULL, 0) != 200 || clients[i].socket != kept)
            server_process_fail(&server, "connection %zu was lost", i);
    }
    for (size_t i = 0; i <= idle; i++) http_client_end(&clients[i]);
    free(clients);
    status = server_process_end(&server, SIGTERM);
    return status == 0 ? 0 : 1;
}
