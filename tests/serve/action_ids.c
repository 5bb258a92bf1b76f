/* action_ids EENET: the server knows an action by its id. Actions without any feature are learned, and whatever order
 * they come in, which are excluded and which slot they fill, a reward counts for the action that got it. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/random.h"
#include "data/values/text.h"
#include "http_client.h"
#include "server_process.h"

enum { DECISIONS = 600, BATCH = 30, LAST = 120, ACTIONS = 4 };

static server_process server = {.folder = "data", .words = {"--publish-interval", "0"}};
static http_client client;

static const char *const ids[ACTIONS] = {"red", "green", "blue", "white"};
static const double means[ACTIONS] = {0.1, 0.1, 0.9, 0.4};

/* A bandit, and what its requests look like. */
typedef struct trial {
    const char *name, *settings;
    const char *action;  /* of a request, a format for the id */
    const char *context; /* members of a request before its actions */
    bool certain;        /* red is always rewarded, and nothing else */
    bool excludes, slots;
} trial;

static const trial trials[] = {
    {"ids", "\"features\":\"\"", "{\"id\":\"%s\"}", "", true, false, false},
    {"plans", "\"features\":\"\"", "{\"id\":\"%s\",\"features\":{}}", "\"context\":{\"plan\":\"free\"},", true, true,
     false},
    {"ucb1", "\"features\":\"\",\"policy\":\"ucb1\"", "{\"id\":\"%s\"}", "", false, true, false},
    {"thompson", "\"features\":\"\",\"policy\":\"thompson\",\"propensity\":\"own\"", "{\"id\":\"%s\"}", "", false, true,
     false},
    {"vectors", "\"dim\":1,\"policy\":\"ucb1\"", "{\"id\":\"%s\",\"vector\":[1]}", "", false, true, false},
    {"slots", "\"features\":\"\",\"policy\":\"ucb1\"", "{\"id\":\"%s\"}", "", false, false, true},
    {"vector-slots", "\"dim\":1,\"policy\":\"ucb1\"", "{\"id\":\"%s\",\"vector\":[1]}", "", false, false, true},
};

static void must(int status, const char *what)
{
    if (client.status != status)
        server_process_fail(&server, "%s: %d %s", what, client.status, client.answer ? client.answer : "");
}

static void wait_for_model(const char *name)
{
    char path[128];
    double behind = 1;
    snprintf(path, sizeof path, "/v1/bandits/%s", name);
    while (behind > 0) {
        http_client_call(&client, "GET", path, NULL, 0);
        must(200, path);
        if (!http_client_number(&client, "behind", &behind)) must(0, path);
    }
}

/* The actions in another order each time; but for the best, one may be excluded. */
static void add_request(text *into, const trial *of, int number)
{
    random_stream stream = random_named((uint64_t)number, "actions");
    size_t first = (size_t)random_below(&stream, ACTIONS);
    text_add(into, "{\"id\":\"%d\",%s\"actions\":[", number, of->context);
    for (size_t i = 0; i < ACTIONS; i++) {
        char action[128];
        snprintf(action, sizeof action, of->action, ids[(first + i) % ACTIONS]);
        text_add(into, "%s%s", i ? "," : "", action);
    }
    text_add(into, "]");
    if (of->excludes && number % 2) text_add(into, ",\"exclude\":[\"%s\"]", ids[number % 4 == 1 ? 1 : 3]);
    if (of->slots) text_add(into, ",\"slots\":[{\"id\":\"top\",\"exclude\":[\"green\"]},{\"id\":\"side\"}]");
    text_add(into, "}");
}

static void add_reward(text *into, const trial *of, int number, const char *slot, size_t action)
{
    random_stream stream = random_named((uint64_t)number, slot);
    double value = of->certain ? action == 0 : random_unit(&stream) < means[action];
    text_add(into, "{\"id\":\"%d\",", number);
    if (of->slots) text_add(into, "\"slot\":\"%s\",", slot);
    text_add(into, "\"value\":%g}", value);
}

static void post(const trial *of, const char *call, text *body)
{
    char path[128];
    snprintf(path, sizeof path, "/v1/bandits/%s/%s/batch", of->name, call);
    text_add(body, "]}");
    http_client_call(&client, "POST", path, body->bytes, body->length);
    must(200, path);
    if (strstr(client.answer, "\"error\"")) must(0, path);
    body->length = 0;
}

/* The action that the answer names next. */
static size_t next_action(const char **at)
{
    static const char key[] = "\"action\":\"";
    *at = strstr(*at, key);
    if (!*at) must(0, "an answer without an action");
    *at += strlen(key);
    for (size_t i = 0; i < ACTIONS; i++)
        if (strncmp(*at, ids[i], strlen(ids[i])) == 0) return i;
    server_process_fail(&server, "no action is called %.20s", *at);
}

/* Decides and rewards BATCH decisions from number first on: how many got the best action that they could have. */
static int play(const trial *of, int first, text *requests, text *rewards)
{
    static const char *const slots[] = {"top", "side"};
    int right = 0;
    text_add(requests, "{\"decisions\":[");
    text_add(rewards, "{\"rewards\":[");
    for (int i = 0; i < BATCH; i++) {
        if (i) text_add(requests, ",");
        add_request(requests, of, first + i);
    }
    post(of, "decide", requests);
    const char *at = client.answer;
    for (int i = 0; i < BATCH; i++) {
        for (int k = 0; k < (of->slots ? 2 : 1); k++) {
            size_t action = next_action(&at);
            right += action == (size_t)(of->certain ? 0 : k ? 3 : 2);
            if (i + k) text_add(rewards, ",");
            add_reward(rewards, of, first + i, slots[k], action);
        }
    }
    post(of, "reward", rewards);
    wait_for_model(of->name);
    return right;
}

static void try_one(const trial *of)
{
    text requests = text_start(NULL), rewards = text_start(NULL);
    int right = 0, count = of->slots ? 2 : 1;
    http_client_ask(&client, "POST", "/v1/bandits", "{\"name\":\"%s\",\"seed\":3,%s,\"wait\":86400}", of->name,
                    of->settings);
    must(201, of->name);
    for (int i = 0; i < DECISIONS; i += BATCH) {
        int these = play(of, i, &requests, &rewards);
        if (i >= DECISIONS - LAST) right += these;
    }
    if (right < LAST * count * 7 / 10)
        server_process_fail(&server, "%s: %d of the last %d are right", of->name, right, LAST * count);
    memory_free(requests.bytes);
    memory_free(rewards.bytes);
}

int main(int count, char **words)
{
    if (count < 2) return 2;
    server.program = words[1];
    server_process_start(&server);
    client = http_client_start(server.port);
    client.seconds = 60; /* a sanitizer is slow */
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) try_one(&trials[i]);
    int status = server_process_end(&server, SIGTERM);
    http_client_end(&client);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
