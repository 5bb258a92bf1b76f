/* full_disk EENET: the disk of the real server is full, and then has room again. Meanwhile what cannot be stored is
 * refused with 503 and Retry-After and is not stored; health and reading go on. Afterwards it works again by itself,
 * and the log has exactly what was acknowledged.
 *
 * Twice: a limit on the size of its files, which is then lifted, and a small file system of its own, which is then made
 * larger; the second only where a test may mount. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "http_client.h"
#include "ledger.h"
#include "server_process.h"

enum { ROUNDS_MOST = 100000, REFUSED_ENOUGH = 100 };

static const ledger_bandit shop = {"shop", LOG_REWARD_FIRST, 0};

static void must(server_process *server, const http_client *client, bool good, const char *what)
{
    if (!good) server_process_fail(server, "%s: %d %s", what, client->status, client->answer);
}

static int decide(http_client *client, ledger *told, uint64_t number)
{
    int status = http_client_ask(
        client, "POST", "/v1/bandits/shop/decide",
        "{\"id\":\"d%" PRIu64 "\",\"context\":{\"user\":{\"number\":%" PRIu64 "}},\"actions\":["
        "{\"id\":\"left\",\"features\":{\"side\":\"l\"}},{\"id\":\"right\",\"features\":{\"side\":\"r\"}}]}",
        number, number % 100);
    if (status == 200) {
        told_decision *decision = ledger_add_decision(told);
        snprintf(decision->id, sizeof decision->id, "d%" PRIu64, number);
        decision->answer = strdup(client->answer);
    }
    return status;
}

/* Decides until the disk is full for good: before, the store may still find room when it tidies up. Returns the number
 * of the next decision. */
static uint64_t fill(server_process *server, http_client *client, ledger *told)
{
    int refused = 0;
    uint64_t next = 0;
    while (refused < REFUSED_ENOUGH) {
        must(server, client, next < ROUNDS_MOST, "the disk was never full");
        int status = decide(client, told, next++);
        must(server, client, status == 200 || status == 503, "decide");
        refused = status == 503 ? refused + 1 : 0;
    }
    return next;
}

static void must_refuse(server_process *server, const http_client *client, const char *what)
{
    char code[32] = "";
    http_client_text(client, "error.code", code, sizeof code);
    must(server, client, client->status == 503 && client->retry_after > 0 && strcmp(code, "Unavailable") == 0, what);
}

/* Something small may still find a place: a reward, or a step of the trainer, after which the server is ready for a
 * moment. */
static void look_while_full(server_process *server, http_client *client, uint64_t *next, ledger *told)
{
    int ready = 200;
    for (int turns = 0; ready != 503 && turns < 1000; turns++) {
        if (decide(client, told, (*next)++) == 200) continue;
        must_refuse(server, client, "decide on the full disk");
        ready = http_client_call(client, "GET", "/readyz", NULL, 0);
    }
    must(server, client, ready == 503, "/readyz on the full disk");
    if (http_client_ask(client, "POST", "/v1/bandits/shop/reward", "{\"id\":\"d0\",\"value\":1}") != 200)
        must_refuse(server, client, "reward on the full disk");
    static const char *const reads[] = {"/livez", "/metrics", "/v1/bandits", "/v1/bandits/shop",
                                        "/v1/bandits/shop/log"};
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
        must(server, client, http_client_call(client, "GET", reads[i], NULL, 0) == 200, reads[i]);
}

/* As a caller that tries again would see it. */
static void wait_until_healed(server_process *server, http_client *client, uint64_t number, ledger *told)
{
    int status = 503;
    for (int turns = 0; status == 503 && turns < 30000; turns++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        status = decide(client, told, number);
    }
    must(server, client, status == 200, "decide when there is room again");
    must(server, client, http_client_call(client, "GET", "/readyz", NULL, 0) == 200,
         "/readyz when there is room again");
    status = http_client_ask(client, "POST", "/v1/bandits/shop/reward", "{\"id\":\"d0\",\"value\":1}");
    must(server, client, status == 200, "reward when there is room again");
}

static int end_and_check(server_process *server, ledger *told)
{
    int status = server_process_end(server, SIGTERM);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        server_process_fail(server, "SIGTERM: the status of the server is %d, not 0", status);
    ledger_sums sums = ledger_check(server->folder, &shop, 1, told, 1);
    printf("%s: %" PRIu64 " decisions acknowledged, %" PRIu64 " in the log, %" PRIu64 " faults\n", server->folder,
           sums.decisions, sums.logged, sums.faults);
    const char *words[] = {server->program, "replay", server->folder, NULL};
    int replayed = server_process_run(server->program, "replay.log", words);
    ledger_end(told);
    return sums.faults || sums.logged != sums.decisions || replayed ? 1 : 0;
}

static int try_full(server_process *server, bool (*make_room)(const server_process *server))
{
    ledger told = {0};
    server_process_start(server);
    http_client client = http_client_start(server->port);
    int status = http_client_ask(&client, "POST", "/v1/bandits",
                                 "{\"name\":\"shop\",\"features\":\"names=1000\",\"options\":\"f1.width=16,units=16\","
                                 "\"wait\":86400,\"default_reward\":0}");
    must(server, &client, status == 201, "create");
    uint64_t next = fill(server, &client, &told);
    look_while_full(server, &client, &next, &told);
    must(server, &client, make_room(server), "make room");
    wait_until_healed(server, &client, next, &told);
    http_client_end(&client);
    return end_and_check(server, &told);
}

static bool lift_limit(const server_process *server)
{
    return prlimit(server->pid, RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}, NULL) == 0;
}

static bool enlarge(const server_process *server)
{
    (void)server;
    return mount("small", "small", "tmpfs", MS_REMOUNT, "size=256m") == 0;
}

/* Seen by this program and its children alone, and gone with them. */
static bool mount_small(void)
{
    return mkdir("small", 0755) == 0 && unshare(CLONE_NEWNS) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("small", "small", "tmpfs", 0, "size=24m") == 0;
}

int main(int count, char **words)
{
    signal(SIGPIPE, SIG_IGN);
    if (count != 2) {
        fprintf(stderr, "usage: full_disk EENET\n");
        return 2;
    }
    server_process limited = {.program = words[1], .folder = "limited", .largest_file = 6 << 20};
    int status = try_full(&limited, lift_limit);
    if (!mount_small()) {
        printf("small: no right to mount\n");
        return status;
    }
    server_process small = {.program = words[1], .folder = "small/data"};
    return try_full(&small, enlarge) | status;
}
