/* objectives EENET: a bandit whose best action depends on the weight of a metric. One action earns 1 and is often
 * returned, the other earns 0.5 and never is. The truth is known: with a weight of -0.1 the first is better (0.92 to
 * 0.5), with -2 the second (-0.6 to 0.5). After a change of the weight the model has learned the log again and prefers
 * the other action; so it does after kill -9, and by its log. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_client.h"
#include "server_process.h"

static server_process server;
static http_client client;

#define CHECK(holds, ...)                                                                                              \
    do {                                                                                                               \
        if (!(holds)) server_process_fail(&server, __VA_ARGS__);                                                       \
    } while (0)

static void ask(const char *method, const char *path, const char *body, int expected)
{
    int status = http_client_call(&client, method, path, body, body ? strlen(body) : 0);
    CHECK(status == expected, "%s %s %s: %d %s", method, path, body ? body : "", status, client.answer);
}

static int decide(int number)
{
    char body[128];
    double index;
    snprintf(body, sizeof body, "{\"id\":\"%d\",\"actions\":[[1,0],[0,1]]}", number);
    ask("POST", "/v1/bandits/shop/decide", body, 200);
    CHECK(http_client_number(&client, "index", &index), "no index: %s", client.answer);
    return (int)index;
}

/* Every fifth of the first action is kept, the others are returned. The value and the metric come separately. */
static void reward(int number, int action)
{
    char body[160];
    snprintf(body, sizeof body, "{\"id\":\"%d\",\"value\":%g,\"reward_id\":\"v\"}", number, action ? 0.5 : 1.0);
    ask("POST", "/v1/bandits/shop/reward", body, 200);
    if (action || number % 5 == 0) return;
    snprintf(body, sizeof body, "{\"id\":\"%d\",\"metrics\":{\"refund\":1},\"reward_id\":\"m\"}", number);
    for (int again = 0; again < 2; again++) ask("POST", "/v1/bandits/shop/reward", body, 200);
}

/* The settled decisions are learned at the end of their wait. */
static void wait_for(const char *member, double least)
{
    double there = -1;
    while (there < least) {
        ask("GET", "/v1/bandits/shop", NULL, 200);
        CHECK(http_client_number(&client, member, &there), "no %s: %s", member, client.answer);
    }
}

static void wait_for_model(void)
{
    double behind = 1;
    while (behind > 0) {
        ask("GET", "/v1/bandits/shop", NULL, 200);
        CHECK(http_client_number(&client, "behind", &behind), "behind: %s", client.answer);
    }
}

/* Decisions of the present model, without rewards. */
static void prefers(int action, int *number)
{
    enum { TRIES = 60 };
    int chosen = 0;
    wait_for_model();
    for (int i = 0; i < TRIES; i++) chosen += decide((*number)++) == action;
    CHECK(chosen >= TRIES * 2 / 3, "action %d was chosen %d times of %d", action, chosen, TRIES);
}

static void change_weight(double weight, bool relearns)
{
    char body[160];
    double event;
    snprintf(body, sizeof body,
             "{\"metrics\":[{\"name\":\"refund\",\"aggregation\":\"sum\",\"missing\":0,\"weight\":%g}]}", weight);
    ask("PATCH", "/v1/bandits/shop", body, 200);
    CHECK(http_client_number(&client, "relearned", &event) == relearns, "relearned: %s", client.answer);
}

static void restart(void)
{
    http_client_end(&client);
    server_process_end(&server, SIGKILL);
    server_process_start(&server);
    client = http_client_start(server.port);
}

static void refuses_what_it_does_not_know(void)
{
    ask("POST", "/v1/bandits/shop/reward", "{\"id\":\"0\",\"metrics\":{\"refnd\":1}}", 400);
    CHECK(strstr(client.answer, "there is no metric") && strstr(client.answer, "the bandit has refund"), "%s",
          client.answer);
    ask("POST", "/v1/bandits/shop/reward", "{\"id\":\"0\",\"metrics\":{\"refund\":1e10}}", 400);
    ask("POST", "/v1/bandits/shop/reward", "{\"id\":\"0\",\"metrics\":{}}", 400);
    ask("POST", "/v1/bandits/shop/reward", "{\"id\":\"1\",\"metrics\":{\"refund\":7},\"reward_id\":\"n\"}", 409);
}

int main(int count, char **values)
{
    enum { DECISIONS = 200 };
    int number = 0;
    if (count < 2) return 2;
    server = (server_process){.program = values[1], .folder = "objectives"};
    server_process_start(&server);
    client = http_client_start(server.port);
    ask("POST", "/v1/bandits",
        "{\"name\":\"shop\",\"policy\":\"linucb\",\"dim\":2,\"seed\":1,\"wait\":5,\"propensity\":\"floor:0.2\","
        "\"default_reward\":null,\"metrics\":[{\"name\":\"refund\",\"missing\":0,\"weight\":-0.1}]}",
        201);
    for (; number < DECISIONS; number++) {
        int action = decide(number);
        reward(number, action);
        if (number == DECISIONS / 2) restart();
    }
    ask("POST", "/v1/bandits/shop/reward", "{\"id\":\"1\",\"metrics\":{\"refund\":0},\"reward_id\":\"n\"}", 200);
    refuses_what_it_does_not_know();
    wait_for("learned", DECISIONS * 3 / 4); /* on a slow machine some rewards are late */
    prefers(0, &number);
    change_weight(-0.1, false);
    change_weight(-2, true);
    prefers(1, &number);
    restart();
    prefers(1, &number);
    change_weight(-0.1, true);
    prefers(0, &number);
    http_client_end(&client);
    CHECK(server_process_end(&server, SIGTERM) == 0, "it did not end well");
    const char *const words[][4] = {{server.program, "check", server_process_store("objectives"), NULL},
                                    {server.program, "replay", server_process_store("objectives"), NULL}};
    for (int i = 0; i < 2; i++)
        CHECK(server_process_run(server.program, "command.log", words[i]) == 0, "eenet %s: command.log", words[i][1]);
    printf("the best action follows the weights, after kill -9 too; replay repeats it\n");
    return 0;
}
