/* restore EENET: a server is copied while it decides, killed, and started again on the copy, whose log gives what it
 * has by `eenet replay`. What was answered before the copy began is answered again, to the byte; what the copy does not
 * have is decided anew; rewards are not joined twice. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http_client.h"
#include "server_process.h"

enum { MOST = 100000, BEFORE = 200, COPIES = 3 };

typedef struct load {
    uint16_t port;
    char *answers[MOST];
    atomic_size_t count; /* answered */
    atomic_bool stop;
} load;

static int decide(http_client *client, size_t number)
{
    return http_client_ask(client, "POST", "/v1/bandits/shop/decide",
                           "{\"id\":\"visit-%zu\",\"actions\":[[1,%zu],[0,1],[%zu,0]]}", number, number % 7,
                           number % 5);
}

static int reward(http_client *client, size_t number)
{
    return http_client_ask(client, "POST", "/v1/bandits/shop/reward", "{\"id\":\"visit-%zu\",\"value\":%zu}", number,
                           number % 2);
}

/* Decides and rewards until it is told to stop. */
static void *drive(void *context)
{
    load *of = context;
    http_client client = http_client_start(of->port);
    for (size_t i = 0; i < MOST && !of->stop; i++) {
        if (decide(&client, i) != 200) break;
        of->answers[i] = strdup(client.answer);
        if (reward(&client, i) != 200) break;
        of->count = i + 1;
    }
    http_client_end(&client);
    return NULL;
}

static void wait_for(server_process *server, load *of, size_t count)
{
    for (; of->count < count; usleep(1000))
        if (!server_process_runs(server)) server_process_fail(server, "the server ended");
}

/* The first `sure` decisions must be there; of the others all up to some number. */
static void check_copy(const char *program, const char *copy, load *of, size_t sure)
{
    server_process server = {.program = program, .folder = copy, .from_folder = true};
    const char *const replay[] = {program, "replay", copy, NULL};
    if (server_process_run(program, "replay.log", replay) != 0)
        server_process_fail(&server, "%s: not what its log says: replay.log", copy);
    server_process_start(&server);
    http_client client = http_client_start(server.port);
    for (size_t i = 0; i < sure; i++) {
        char outcome[32] = "";
        if (decide(&client, i) != 200 || strcmp(client.answer, of->answers[i]) != 0)
            server_process_fail(&server, "%s: decision %zu is answered by %s, and was by %s", copy, i, client.answer,
                                of->answers[i]);
        if (reward(&client, i) != 200 || !http_client_text(&client, "outcome", outcome, sizeof outcome) ||
            strcmp(outcome, "repeated") != 0)
            server_process_fail(&server, "%s: reward %zu is %s", copy, i, outcome);
    }
    if (decide(&client, MOST) != 200 || reward(&client, MOST) != 200)
        server_process_fail(&server, "%s: nothing new is decided", copy);
    http_client_end(&client);
    if (server_process_end(&server, SIGTERM) != 0) server_process_fail(&server, "%s: it did not end well", copy);
}

int main(int count, char **words)
{
    if (count < 2) return 2;
    static load of;
    server_process server = {.program = words[1],
                             .folder = "store",
                             .words = {"--checkpoint-events", "100", "--checkpoints", "1"}}; /* models come and go */
    server_process_start(&server);
    of.port = server.port;
    http_client client = http_client_start(server.port);
    if (http_client_ask(&client, "POST", "/v1/bandits", "{\"name\":\"shop\",\"dim\":2}") != 201)
        server_process_fail(&server, "no bandit: %s", client.answer);
    http_client_end(&client);
    pthread_t driver;
    pthread_create(&driver, NULL, drive, &of);
    size_t sure[COPIES];
    for (size_t i = 0; i < COPIES; i++) {
        char copy[32];
        snprintf(copy, sizeof copy, "copy-%zu", i);
        wait_for(&server, &of, BEFORE * (i + 1));
        sure[i] = of.count;
        const char *const backup[] = {words[1], "backup", server_process_store("store"), copy, NULL};
        if (server_process_run(words[1], "backup.log", backup) != 0)
            server_process_fail(&server, "no copy: backup.log");
    }
    of.stop = true;
    pthread_join(driver, NULL);
    server_process_end(&server, SIGKILL);
    for (size_t i = 0; i < COPIES; i++) {
        char copy[32];
        snprintf(copy, sizeof copy, "copy-%zu", i);
        check_copy(words[1], copy, &of, sure[i]);
    }
    for (size_t i = 0; i < MOST; i++) free(of.answers[i]);
    return 0;
}
