/* torture EENET [KILLS [plain|leaky [SEED]]]: the server is killed with SIGKILL at random moments under load, and
 * started again, KILLS times; in the end all that was acknowledged must be in its log, once, and as it was answered,
 * and a replay must find every decision, probability and model that the log has.
 *
 * The load is that of careless_caller.h, while an administrator replaces models and changes settings.
 *
 * leaky: on a disk that forgets at the end of the process what was not synced; see leaky_disk.c. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "careless_caller.h"
#include "server_process.h"

enum { CALLERS = 6 };

static void create_bandits(server_process *server)
{
    http_client client = http_client_start(server->port);
    for (size_t i = 0; i < CALLER_BANDITS; i++) {
        if (http_client_ask(&client, "POST", "/v1/bandits", "{\"name\":\"%s\",%s}", caller_bandits[i].name,
                            caller_settings[i]) != 201)
            server_process_fail(server, "create %s: %d %s", caller_bandits[i].name, client.status, client.answer);
    }
    http_client_end(&client);
}

typedef struct progress {
    server_process *server;
    caller_stage *shared;
    uint64_t enough;
} progress;

static bool has_answers(void *context)
{
    progress *self = context;
    if (!server_process_runs(self->server)) server_process_fail(self->server, "the server ended by itself");
    return atomic_load(&self->shared->answers) >= self->enough;
}

/* Until so many more answers came. */
static void wait_for_answers(server_process *server, caller_stage *shared, uint64_t count)
{
    progress wanted = {server, shared, atomic_load(&shared->answers) + count};
    await(server, has_answers, &wanted, "answers");
}

/* What an administrator may do at any time: another model, other settings (the same, as far as joining goes). */
static void meddle(server_process *server, random_stream *chance)
{
    static const char *const modes[] = {"online", "apprentice", "logging"};
    http_client client = http_client_start(server->port);
    char path[64];
    snprintf(path, sizeof path, "/v1/bandits/%s/model", caller_bandits[random_below(chance, CALLER_BANDITS)].name);
    uint64_t what = random_below(chance, 10);
    int status = 200;
    if (what == 0)
        status = http_client_call(&client, "DELETE", path, NULL, 0);
    else if (what == 1)
        status = http_client_ask(&client, "PATCH", "/v1/bandits/sum", "{\"wait\":1}");
    else if (what == 2)
        status = http_client_call(&client, "GET", path, NULL, 0);
    else if (what == 3)
        status = http_client_ask(&client, "PATCH", "/v1/bandits/apprentice", "{\"mode\":\"%s\"}",
                                 modes[random_below(chance, 3)]);
    if (status == 200 && what == 2) {
        char *model = malloc(client.size);
        size_t size = client.size;
        memcpy(model, client.answer, size);
        status = http_client_call(&client, "PUT", path, model, size);
        free(model);
    }
    if (status != 200) server_process_fail(server, "%s: %d %s", path, status, client.answer);
    http_client_end(&client);
}

static bool counts_down(void *context)
{
    uint64_t *turns = context;
    return *turns == 0 || --*turns == 0;
}

/* Kills at random moments, now and then while the server is still starting. */
static void kill_often(server_process *server, caller_stage *shared, uint64_t kills, random_stream *chance)
{
    caller_announce(shared, server->port, false);
    for (uint64_t i = 0; i < kills; i++) {
        meddle(server, chance);
        wait_for_answers(server, shared, random_below(chance, 1000));
        server_process_end(server, SIGKILL);
        server->luck = random_below(chance, 2) ? "0" : "0.3";
        if (random_below(chance, 10) == 0) {
            server_process_spawn(server);
            uint64_t turns = random_below(chance, 50);
            await(server, counts_down, &turns, "some milliseconds");
            server_process_end(server, SIGKILL);
        }
        server_process_start(server);
        caller_announce(shared, server->port, false);
    }
}

/* Whether decisions of a bandit are settled soon. */
static bool waits_briefly(size_t bandit)
{
    return strstr(caller_settings[bandit], "\"wait\":1,");
}

static bool nothing_waits(void *context)
{
    server_process *server = context;
    http_client client = http_client_start(server->port);
    double waiting, sum = 0;
    for (size_t i = 0; i < CALLER_BANDITS; i++) {
        char path[64];
        snprintf(path, sizeof path, "/v1/bandits/%s/activity", caller_bandits[i].name);
        if (http_client_call(&client, "GET", path, NULL, 0) != 200 || !http_client_number(&client, "waiting", &waiting))
            server_process_fail(server, "%s: %d %s", path, client.status, client.answer);
        if (waits_briefly(i)) sum += waiting;
    }
    http_client_end(&client);
    return sum == 0;
}

/* Decisions whose wait is long over, and that are not settled. */
static uint64_t count_forgotten(const char *store)
{
    uint64_t forgotten = 0;
    for (size_t i = 0; i < CALLER_BANDITS; i++)
        if (waits_briefly(i)) forgotten += ledger_open_decisions(store, caller_bandits[i].name);
    if (forgotten) printf("fault: %" PRIu64 " decisions were never settled\n", forgotten);
    return forgotten;
}

/* Gives their ledgers, and how often they got the same answer again. */
static uint64_t end_callers(careless_caller *callers, ledger *ledgers)
{
    uint64_t repeats = 0;
    for (size_t i = 0; i < CALLERS; i++) {
        caller_end(&callers[i]);
        repeats += callers[i].repeats;
        ledgers[i] = callers[i].ledger;
    }
    return repeats;
}

/* Whether the store has what it should have, and can be replayed. */
static bool judge(const server_process *server, uint64_t kills, ledger *ledgers, uint64_t repeats)
{
    const char *store = server_process_store(server->folder);
    ledger_sums sums = ledger_check(store, caller_bandits, CALLER_BANDITS, ledgers, CALLERS);
    for (size_t i = 0; i < CALLERS; i++) ledger_end(&ledgers[i]);
    printf("%s, %" PRIu64 " kills: %" PRIu64 " decisions and %" PRIu64 " rewards acknowledged, %" PRIu64
           " repeated with the same answer; %" PRIu64 " events in the log, %" PRIu64 " decisions settled; %" PRIu64
           " faults\n",
           server->folder, kills, sums.decisions, sums.rewards, repeats, sums.events, sums.settled, sums.faults);
    const char *words[] = {server->program, "replay", store, "--from-beginning", NULL};
    int replayed = server_process_run(server->program, "replay.log", words);
    if (system("cat replay.log") || replayed) printf("fault: eenet replay ended with %d\n", replayed);
    return count_forgotten(store) == 0 && sums.faults == 0 && replayed == 0;
}

static int torture(const char *program, uint64_t kills, const char *disk, uint64_t seed)
{
    random_stream chance = random_named(seed, "kills");
    char folder[64];
    snprintf(folder, sizeof folder, "%s/data", disk);
    mkdir(disk, 0755);
    server_process server = {.program = program,
                             .folder = folder,
                             .words = {"--publish-interval", "0.02", "--checkpoint-events", "2000", "--sleep-seconds",
                                       "0.1", "--trainers", "1", "--most-behind", "200"},
                             .disk = strcmp(disk, "leaky") == 0 ? disk : NULL,
                             .luck = "0"};
    caller_stage shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    careless_caller callers[CALLERS];
    ledger ledgers[CALLERS];
    server_process_start(&server);
    create_bandits(&server);
    for (size_t i = 0; i < CALLERS; i++) caller_start(&callers[i], &shared, i, seed * CALLERS + i);
    kill_often(&server, &shared, kills, &chance);
    wait_for_answers(&server, &shared, 500);
    caller_announce(&shared, server.port, true);
    uint64_t repeats = end_callers(callers, ledgers);
    /* The store is not looked into meanwhile: on the disk that forgets other processes do not see all of it. */
    await(&server, nothing_waits, &server, "decisions to be settled");
    int status = server_process_end(&server, SIGTERM);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        server_process_fail(&server, "SIGTERM: the status of the server is %d, not 0", status);
    return judge(&server, kills, ledgers, repeats) ? 0 : 1;
}

int main(int count, char **words)
{
    signal(SIGPIPE, SIG_IGN);
    if (count < 2) {
        fprintf(stderr, "usage: torture EENET [KILLS [plain|leaky [SEED]]]\n");
        return 2;
    }
    uint64_t kills = count > 2 ? strtoull(words[2], NULL, 10) : 5;
    uint64_t seed = count > 4 ? strtoull(words[4], NULL, 10) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", seed);
    int status = 0;
    if (count < 4 || strcmp(words[3], "plain") == 0) status |= torture(words[1], kills, "plain", seed);
    const char *leaky = getenv("EENET_LEAKY_DISK");
    if (count > 3 && strcmp(words[3], "leaky")) return status;
    if (server_process_has_database()) return status;
    if (leaky && *leaky) return status | torture(words[1], kills, "leaky", seed);
    printf("EENET_LEAKY_DISK does not say where the disk that forgets is: not tried\n");
    return status;
}
