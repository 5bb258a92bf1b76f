/* The whole API on the real server, each answer as it should be: bandits, decisions, rewards, batches, modes, models,
 * the log, keys and roles, limits, signals, and everything as before after a restart. */
#define _POSIX_C_SOURCE 200809L
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http_client.h"
#include "serve/api/openapi.h"
#include "serve/routes.h"
#include "server_process.h"

/* On a busy machine a large model takes long to make: those who wait for it are not to be given up meanwhile. */
static server_process server = {.folder = "data", .words = {"--idle-seconds", "600"}};
static http_client client;

/* Whether words are the pattern, in which '*' stands for anything. */
static bool matches(const char *pattern, const char *words)
{
    if (!*pattern) return !*words;
    if (*pattern != '*') return *pattern == *words && matches(pattern + 1, words + 1);
    for (;; words++) {
        if (matches(pattern + 1, words)) return true;
        if (!*words) return false;
    }
}

static http_method method_of(const char *word)
{
    static const char *const words[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
    int found = 0;
    while (strcmp(words[found], word) != 0) found++;
    return (http_method)found;
}

/* Every status that a route answers with is one that the description of the API has for it. */
static bool is_described(http_method method, const char *path, int status)
{
    static const char *const methods[] = {"get", "head", "post", "put", "patch", "delete"};
    static json_t *description;
    char allowed[64], code[16];
    route_match match;
    if (!description) description = json_loadb(openapi_json, openapi_size, 0, NULL);
    json_text plain = {path, strcspn(path, "?")};
    if (router_find(&all_routes[ROUTES_V1], method, plain, &match, allowed) != ROUTE_FOUND) return true;
    snprintf(code, sizeof code, "%d", status);
    json_t *paths = json_object_get(description, "paths");
    json_t *operation = json_object_get(json_object_get(paths, match.route->pattern), methods[method]);
    return json_object_get(json_object_get(operation, "responses"), code) != NULL;
}

/* Asks, and fails unless the status and the answer are these. body NULL: none. */
static void expect(const char *method, const char *path, const char *body, int status, const char *answer)
{
    int got = http_client_call(&client, method, path, body, body ? strlen(body) : 0);
    if (!is_described(method_of(method), path, got))
        server_process_fail(&server, "%s %s answers %d, which /openapi.json does not say", method, path, got);
    if (got == status && matches(answer, client.answer ? client.answer : "")) return;
    server_process_fail(&server, "%s %s %.300s\n  expected %d %s\n  got      %d %s", method, path, body ? body : "",
                        status, answer, got, client.answer ? client.answer : "");
}

static void refuse(const char *method, const char *path, const char *body, int status, const char *code,
                   const char *message)
{
    char answer[1024];
    snprintf(answer, sizeof answer, "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}\n", code, message);
    expect(method, path, body, status, answer);
}

static char *kept_answer(void)
{
    char *copy = malloc(client.size + 1);
    if (!copy) abort();
    memcpy(copy, client.answer, client.size + 1);
    return copy;
}

static void start(void)
{
    server_process_start(&server);
    client.port = server.port;
}

static void stop(int signal_number)
{
    int status = server_process_end(&server, signal_number);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    fprintf(stderr, "api: the server did not end well: status %d\n", status);
    exit(1);
}

/* ---- bandits ---- */

static void try_bandits(void)
{
    expect("GET", "/livez", NULL, 200, "{\"live\":true}\n");
    expect("GET", "/readyz", NULL, 200, "{\"ready\":true}\n");
    expect("GET", "/openapi.json", NULL, 200, "{*\"openapi\": \"3.1.0\"*}\n");
    expect("GET", "/v1/bandits", NULL, 200, "{\"bandits\":[]}\n");
    const char *shop = "{\"name\":\"shop\",\"features\":\"\",\"seed\":7,\"wait\":\"1h\"}";
    expect("POST", "/v1/bandits", shop, 201,
           "{\"name\":\"shop\",\"archived\":false,\"settings\":{*\"wait\":3600*},*\"version\":0,*\"trouble\":\"\"}\n");
    expect("POST", "/v1/bandits", shop, 200, "{\"name\":\"shop\",*");
    refuse("POST", "/v1/bandits", "{\"name\":\"shop\",\"features\":\"\",\"seed\":8}", 409, "Conflict",
           "the bandit 'shop' already exists with seed 7, not 8; use another name");
    refuse("POST", "/v1/bandits", "{\"name\":\"shop\",\"dim\":3,\"seed\":7,\"wait\":\"1h\"}", 409, "Conflict",
           "the bandit 'shop' already exists with features \\\"\\\", which this request does not have;*");
    refuse("POST", "/v1/bandits", "{\"features\":\"\"}", 400, "BadRequest", "missing \\\"name\\\"");
    refuse("POST", "/v1/bandits", "{\"name\":\"a b\",\"dim\":2}", 400, "BadRequest", "name must be 1 to 64 *");
    refuse("POST", "/v1/bandits", "{\"name\":\"x\",\"dims\":2}", 400, "BadRequest", "*dims*dim*");
    refuse("POST", "/v1/bandits", "{\"name\":\"x\"", 400, "BadRequest", "*byte 12*");
    refuse("POST", "/v1/bandits", "{\"name\":\"x\",\"dim\":2,\"policy\":\"no-such\"}", 400, "BadRequest", "*no-such*");
    expect("POST", "/v1/bandits", "{\"name\":\"vectors\",\"dim\":3,\"policy\":\"linucb\"}", 201,
           "*\"policy\":\"linucb\"*\"dim\":3*");
    expect("GET", "/v1/bandits", NULL, 200, "{\"bandits\":[{\"name\":\"shop\"*,\n{\"name\":\"vectors\"*}]}\n");
    expect("GET", "/v1/bandits/shop", NULL, 200, "{\"name\":\"shop\"*");
    refuse("GET", "/v1/bandits/nobody", NULL, 404, "NotFound", "there is no bandit 'nobody';*");
    refuse("GET", "/v1/nothing", NULL, 404, "NotFound", "no such path; see /openapi.json");
    refuse("PUT", "/v1/bandits", "{}", 405, "MethodNotAllowed", "*this path takes GET, HEAD, POST");
    refuse("GET", "/v1//bandits", NULL, 400, "BadRequest", "invalid path*");
    expect("PATCH", "/v1/bandits/shop", "{\"default_reward\":-1,\"aggregation\":\"sum\"}", 200,
           "*\"default_reward\":-1*\"aggregation\":\"sum\"*");
    expect("PATCH", "/v1/bandits/shop", "{\"default_reward\":0,\"aggregation\":\"first\"}", 200, "*\"first\"*");
    refuse("PATCH", "/v1/bandits/shop", "{\"seed\":9}", 400, "BadRequest", "*seed*");
}

/* ---- decisions ---- */

#define TWO "\"actions\":[{\"id\":\"a\",\"features\":{\"x\":1}},{\"id\":\"b\",\"features\":{\"x\":0}}]"

static void try_decisions(void)
{
    const char *decide = "/v1/bandits/shop/decide";
    const char *first = "{\"id\":\"d1\",\"context\":{\"u\":{\"age\":31}}," TWO "}";
    expect(
        "POST", decide, first, 200,
        "{\"id\":\"d1\",\"action\":\"*\",\"index\":*,\"probability\":0.*,\"probabilities\":[0.*,0.*],\"version\":*}\n");
    char *answer = kept_answer();
    for (int i = 0; i < 3; i++) expect("POST", decide, first, 200, answer);
    refuse("POST", decide, "{\"id\":\"d1\"," TWO "}", 409, "Conflict", "*this id*");
    expect("POST", decide, "{\"id\":\"d2\"," TWO ",\"exclude\":[\"a\"]}", 200,
           "{\"id\":\"d2\",\"action\":\"b\",\"index\":1,\"probability\":1,\"probabilities\":[0,1],\"version\":*}\n");
    expect("POST", decide, "{" TWO "}", 200, "{\"id\":\"*\",*");
    char id[64];
    if (!http_client_text(&client, "id", id, sizeof id) || strlen(id) != 32)
        server_process_fail(&server, "an id of the server: %s", client.answer);
    refuse("POST", decide, "{" TWO ",\"exclude\":[\"a\",\"b\"]}", 400, "BadRequest",
           "no action is left: all 2 are excluded");
    refuse("POST", decide, "{\"actions\":[[1]]}", 400, "BadRequest", "actions[0] is a vector, *");
    refuse("POST", decide, "{\"actions\":[]}", 400, "BadRequest", "actions: expected at least one");
    refuse("POST", decide, "[]", 400, "BadRequest", "the body must be a JSON object");
    refuse("POST", decide, "", 400, "BadRequest", "*byte 1*");
    refuse("POST", decide, "{" TWO "} x", 400, "BadRequest", "*unexpected text after*");
    refuse("POST", decide, "{\"actions\":[{\"id\":\"a\",\"features\":{\"x\":[[1]]}}]}", 400, "BadRequest", "*");
    const char *vectors = "/v1/bandits/vectors/decide";
    expect("POST", vectors, "{\"id\":\"v1\",\"actions\":[[1,0,0],[0,1,0],[0,0,1]]}", 200,
           "{\"id\":\"v1\",\"action\":\"*\",\"index\":*,\"probabilities\":[*,*,*],\"version\":*}\n");
    refuse("POST", vectors, "{\"actions\":[[1,0,0],[0,1]]}", 400, "BadRequest",
           "actions[1] has 2 numbers, but the bandit takes 3");
    expect(
        "POST", "/v1/bandits/shop/decide/batch",
        "{\"decisions\":[{\"id\":\"b1\"," TWO "},{\"id\":7},{\"id\":\"d1\"," TWO "}," /* an error, a conflict */
        "{\"id\":\"b1\"," TWO "},7]}",
        200,
        "{\"decisions\":[{\"id\":\"b1\",*},{\"error\":{\"code\":\"BadRequest\",\"message\":\"id must be a string\"}},"
        "{\"error\":{\"code\":\"Conflict\",*}},{\"id\":\"b1\",*},{\"error\":{\"code\":\"BadRequest\",*}}]}\n");
    expect("POST", "/v1/bandits/shop/decide/batch", "{\"decisions\":[]}", 200, "{\"decisions\":[]}\n");
    refuse("POST", "/v1/bandits/shop/decide/batch", "{\"decision\":[]}", 400, "BadRequest", "*did you mean*");
    refuse("POST", "/v1/bandits/shop/decide/batch", "{\"decisions\":[{]}", 400, "BadRequest",
           "invalid JSON at byte 16*");
    free(answer);
}

/* ---- rewards ---- */

static void try_rewards(void)
{
    const char *reward = "/v1/bandits/shop/reward";
    expect("POST", reward, "{\"id\":\"d1\",\"value\":1,\"reward_id\":\"r1\"}", 200, "{\"outcome\":\"joined\"}\n");
    expect("POST", reward, "{\"id\":\"d1\",\"value\":1,\"reward_id\":\"r1\"}", 200,
           "{\"outcome\":\"joined\",\"repeated\":true}\n");
    refuse("POST", reward, "{\"id\":\"d1\",\"value\":2,\"reward_id\":\"r1\"}", 409, "Conflict", "*reward_id*");
    expect("POST", reward, "{\"id\":\"d1\",\"value\":1}", 200, "{\"outcome\":\"repeated\"}\n");
    expect("POST", reward, "{\"id\":\"later\",\"value\":0.5}", 200, "{\"outcome\":\"unknown\"}\n");
    expect("POST", "/v1/bandits/shop/decide", "{\"id\":\"later\"," TWO "}", 200, "{\"id\":\"later\",*");
    refuse("POST", reward, "{\"id\":\"d1\",\"value\":1e300}", 400, "BadRequest",
           "value must be -1e9 to 1e9, got 1e+300");
    refuse("POST", reward, "{\"id\":\"d1\"}", 400, "BadRequest", "missing \\\"value\\\"");
    expect("POST", "/v1/bandits/shop/reward/batch",
           "{\"rewards\":[{\"id\":\"d2\",\"value\":1},{\"value\":1},{\"id\":\"d2\",\"value\":1}]}", 200,
           "{\"rewards\":[{\"outcome\":\"joined\"},{\"error\":{\"code\":\"BadRequest\",\"message\":\"missing "
           "\\\"id\\\"\"}},{\"outcome\":\"repeated\"}]}\n");
}

/* ---- modes, archives ---- */

static void try_modes(void)
{
    expect("POST", "/v1/bandits", "{\"name\":\"quiet\",\"features\":\"\",\"mode\":\"logging\"}", 201, "*\"logging\"*");
    for (int i = 0; i < 5; i++)
        expect("POST", "/v1/bandits/quiet/decide", "{" TWO "}", 200,
               "{*\"action\":\"a\",\"index\":0,\"probability\":1,\"probabilities\":[1,0],*");
    expect("POST", "/v1/bandits/quiet/decide", "{" TWO ",\"exclude\":[\"a\"]}", 200,
           "{*\"action\":\"b\",\"index\":1,\"probability\":1,\"probabilities\":[0,1],*");
    expect("PATCH", "/v1/bandits/quiet", "{\"mode\":\"apprentice\"}", 200, "*\"apprentice\"*");
    expect("POST", "/v1/bandits/quiet/decide", "{" TWO "}", 200, "{*\"action\":\"a\",\"index\":0,\"probability\":1,*");
    expect("DELETE", "/v1/bandits/quiet", NULL, 200, "{\"name\":\"quiet\",\"archived\":true,*");
    refuse("POST", "/v1/bandits/quiet/decide", "{" TWO "}", 410, "Gone", "the bandit 'quiet' is archived;*");
    refuse("PATCH", "/v1/bandits/quiet", "{}", 410, "Gone", "*");
    refuse("GET", "/v1/bandits/quiet/model", NULL, 410, "Gone", "*");
    expect("GET", "/v1/bandits/quiet", NULL, 200, "{\"name\":\"quiet\",\"archived\":true,*");
    expect("POST", "/v1/bandits/quiet/restore", NULL, 200, "{\"name\":\"quiet\",\"archived\":false,*");
    expect("POST", "/v1/bandits/quiet/decide", "{" TWO "}", 200, "{*\"action\":\"a\",*");
}

/* ---- models ---- */

static void try_models(void)
{
    char *model;
    size_t size;
    await_model(&server, &client, "vectors");
    expect("POST", "/v1/bandits/vectors/reward", "{\"id\":\"v1\",\"value\":1}", 200, "*joined*");
    await_model(&server, &client, "vectors");
    expect("GET", "/v1/bandits/vectors", NULL, 200, "*\"learned\":1,*");
    if (http_client_call(&client, "GET", "/v1/bandits/vectors/model", NULL, 0) != 200 || client.size < 100)
        server_process_fail(&server, "no model: %d", client.status);
    size = client.size;
    model = kept_answer();
    expect("DELETE", "/v1/bandits/vectors/model", NULL, 200, "{\"event\":*}\n");
    await_model(&server, &client, "vectors");
    expect("GET", "/v1/bandits/vectors", NULL, 200, "*\"learned\":0,*");
    refuse("PUT", "/v1/bandits/vectors/model", "no model", 400, "BadRequest", "*");
    if (http_client_call(&client, "PUT", "/v1/bandits/shop/model", model, size) != 400)
        server_process_fail(&server, "a model of vectors was taken for one of names: %d", client.status);
    if (http_client_call(&client, "PUT", "/v1/bandits/vectors/model", model, size) != 200)
        server_process_fail(&server, "the model was not taken: %d %s", client.status, client.answer);
    await_model(&server, &client, "vectors");
    if (http_client_call(&client, "GET", "/v1/bandits/vectors/model", NULL, 0) != 200 || client.size != size ||
        memcmp(client.answer, model, size) != 0)
        server_process_fail(&server, "what was uploaded is not what is served");
    expect("POST", "/v1/bandits/vectors/decide", "{\"actions\":[[1,0,0],[0,1,0],[0,0,1]]}", 200, "*");
    expect("GET", "/v1/bandits/vectors/model/versions", NULL, 200, "{\"current\":*,\"versions\":[*]}\n");
    refuse("GET", "/v1/bandits/vectors/model?version=99999", NULL, 404, "NotFound", "version 99999 is not stored*");
    refuse("GET", "/v1/bandits/vectors/model?versoin=1", NULL, 400, "BadRequest", "*did you mean 'version'?");
    refuse("GET", "/v1/bandits/vectors/model?version=x", NULL, 400, "BadRequest", "version must be an integer*");
    free(model);
}

/* A model with room for another number of names would be passed over later: it is refused at once. */
static void try_models_of_names(void)
{
    size_t size;
    expect("POST", "/v1/bandits", "{\"name\":\"few\",\"policy\":\"linucb\",\"features\":\"names=50\"}", 201, "*");
    expect("POST", "/v1/bandits", "{\"name\":\"many\",\"policy\":\"linucb\",\"features\":\"names=60\"}", 201, "*");
    http_client_call(&client, "GET", "/v1/bandits/few/model", NULL, 0);
    size = client.size;
    char *model = kept_answer();
    if (http_client_call(&client, "PUT", "/v1/bandits/many/model", model, size) != 400 ||
        !strstr(client.answer, "the model has room for") || !strstr(client.answer, "names=60"))
        server_process_fail(&server, "a model of another size was taken: %d %s", client.status, client.answer);
    if (http_client_call(&client, "PUT", "/v1/bandits/few/model", model, size) != 200)
        server_process_fail(&server, "the model was not taken: %d %s", client.status, client.answer);
    free(model);
    expect("DELETE", "/v1/bandits/few", NULL, 200, "*");
    expect("DELETE", "/v1/bandits/many", NULL, 200, "*");
}

/* ---- the log ---- */

static int ask_for_model(void)
{
    static const char request[] = "GET /v1/bandits/large/model HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int taker = http_client_connect(server.port);
    if (write(taker, request, sizeof request - 1) < 0) server_process_fail(&server, "a taker was cut");
    return taker;
}

/* A range that the settings state: outside it nothing is learned, or the nearest end. */
static void try_reward_range(void)
{
    const char *decide = "/v1/bandits/range/decide", *reward = "/v1/bandits/range/reward";
    expect("POST", "/v1/bandits", "{\"name\":\"range\",\"dim\":1,\"policy\":\"linucb\",\"rewards\":[0,1]}", 201,
           "*\"rewards\":[0,1],\"outside\":\"reject\"*");
    expect("POST", decide, "{\"id\":\"r1\",\"actions\":[[1]]}", 200, "*");
    refuse("POST", reward, "{\"id\":\"r1\",\"value\":1e9}", 400, "BadRequest",
           "the reward 1e+09 is outside the bandit's \\\"rewards\\\", 0 to 1; *");
    expect("POST", reward, "{\"id\":\"r1\",\"value\":1}", 200, "{\"outcome\":\"joined\"}\n");
    expect("PATCH", "/v1/bandits/range", "{\"outside\":\"clip\"}", 200, "*\"outside\":\"clip\"*");
    expect("POST", decide, "{\"id\":\"r2\",\"actions\":[[1]]}", 200, "*");
    expect("POST", reward, "{\"id\":\"r2\",\"value\":1e9}", 200, "{\"outcome\":\"joined\"}\n");
    await_model(&server, &client, "range");
    expect("POST", "/v1/bandits/range/explain", "{\"actions\":[[1]]}", 200, "*");
    const char *at = strstr(client.answer, "\"f1\":");
    double expected = at ? strtod(at + strlen("\"f1\":"), NULL) : 0;
    if (!(expected > 0 && expected < 2))
        server_process_fail(&server, "a reward beyond the range was learned as it is: %s", client.answer);
    if (server_process_metric(&server, &client, "eenet_bandit_rewards_total{bandit=\"range\",outcome=\"rejected\"}") !=
            1 ||
        server_process_metric(&server, &client, "eenet_bandit_rewards_total{bandit=\"range\",outcome=\"clipped\"}") !=
            1)
        server_process_fail(&server, "rewards outside the range are not counted");
    expect("GET", "/v1/bandits/range/activity", NULL, 200, "*\"rejected\":1,\"clipped\":1*");
}

static bool can_download(void *context)
{
    (void)context;
    return http_client_call(&client, "GET", "/v1/bandits/vectors/model", NULL, 0) == 200;
}

/* Clients that ask for a model and do not take it: so many, and no more, are given memory for it. One may be refused
 * while a download of our own is not over yet, and does not ask again: so another asks until there are enough. */
static void try_downloads(void)
{
    enum { MOST = 100 };
    int takers[MOST], count = 0;
    /* A model that no buffer of a connection holds. */
    expect("POST", "/v1/bandits", "{\"name\":\"large\",\"dim\":8000,\"policy\":\"greedy\"}", 201,
           "{\"name\":\"large\",*");
    while (count < 8) takers[count++] = ask_for_model();
    while (http_client_call(&client, "GET", "/v1/bandits/large/model", NULL, 0) != 503) {
        if (count == MOST)
            server_process_fail(&server, "downloads have no limit: %d, %zu bytes", client.status, client.size);
        takers[count++] = ask_for_model();
    }
    refuse("GET", "/v1/bandits/vectors/model", NULL, 503, "Unavailable", "8 models are being downloaded*");
    for (int i = 0; i < count; i++) close(takers[i]);
    await(&server, can_download, NULL, "downloads that were given up to end");
}

static void try_log(void)
{
    const char *words[] = {server.program, "evaluate", "log.dsjson", "-p", "uniform", NULL};
    expect("GET", "/v1/bandits/shop/log", NULL, 200, "{*\"_cursor\":*}\n*{*}\n");
    FILE *file = fopen("log.dsjson", "w");
    if (!file || fwrite(client.answer, 1, client.size, file) != client.size || fclose(file)) abort();
    if (server_process_run(server.program, "evaluate.out", words) != 0)
        server_process_fail(&server, "the log cannot be evaluated: see evaluate.out");
    expect("GET", "/v1/bandits/shop/log?limit=1", NULL, 200, "{*}\n");
    if (strchr(client.answer, '\n') != client.answer + client.size - 1)
        server_process_fail(&server, "more than one line: %s", client.answer);
    double cursor;
    char path[128];
    if (!http_client_number(&client, "_cursor", &cursor)) server_process_fail(&server, "no cursor");
    snprintf(path, sizeof path, "/v1/bandits/shop/log?after=%.0f", cursor);
    char *first = kept_answer();
    expect("GET", path, NULL, 200, "{*}\n");
    if (strstr(client.answer, first)) server_process_fail(&server, "the cursor does not go on");
    expect("GET", "/v1/bandits/shop/log?until=2001-01-01", NULL, 200, "");
    expect("GET", "/v1/bandits/shop/log?from=2001-01-01", NULL, 200, "{*}\n");
    refuse("GET", "/v1/bandits/shop/log?from=yesterday", NULL, 400, "BadRequest", "*from*yesterday*");
    refuse("GET", "/v1/bandits/shop/log?limt=1", NULL, 400, "BadRequest",
           "unknown query parameter 'limt'; did you mean 'limit'?");
    refuse("GET", "/v1/bandits/shop/log?limit=1&&zzzzzzzz", NULL, 400, "BadRequest",
           "unknown query parameter 'zzzzzzzz'; expected 'from', 'until', 'after', 'limit'");
    refuse("GET", "/v1/bandits/shop/log?limit=0", NULL, 400, "BadRequest", "*limit*");
    refuse("GET", "/v1/bandits/shop/log?limit=%zz", NULL, 400, "BadRequest", "*limit*%zz*");
    refuse("GET", "/v1/bandits/shop/log?after=18446744073709551615", NULL, 400, "BadRequest", "*after*");
    expect("GET", "/v1/bandits/shop/log?after=9223372036854775807", NULL, 200, "");
    free(first);
}

/* ---- evaluations ---- */

static bool is_over(void *context)
{
    expect("GET", context, NULL, 200, "{\"id\":*");
    return strstr(client.answer, "\"state\":\"done\"") || strstr(client.answer, "\"state\":\"failed\"");
}

static void try_evaluations(void)
{
    static const char all[] = "/v1/bandits/shop/evaluations";
    char path[128], id[40] = "";
    expect("GET", all, NULL, 200, "{\"evaluations\":[]}\n");
    expect("POST", all, "{\"name\":\"a \\\"b\\\"\",\"candidates\":[{\"policy\":\"uniform\"},{\"policy\":\"linucb\"}]}",
           201, "{\"id\":\"*\",*\"name\":\"a \\\"b\\\"\",*}\n");
    if (sscanf(client.answer, "{\"id\":\"%32[0-9a-f]", id) != 1) server_process_fail(&server, "no id");
    snprintf(path, sizeof path, "%s/%s", all, id);
    await(&server, is_over, path, path);
    expect("GET", path, NULL, 200,
           "{*\"state\":\"done\"*\"results\":[{\"name\":\"uniform\"*{\"name\":\"linucb\"*}]}\n");
    expect("GET", all, NULL, 200, "{\"evaluations\":[{\"id\":*\"state\":\"done\"*}]}\n");
    stop(SIGTERM);
    start();
    expect("GET", path, NULL, 200, "{*\"state\":\"done\"*\"results\":[*\"estimator\":\"ips\",\"value\":*}\n");
    expect("DELETE", path, NULL, 200, "{\"deleted\":\"*\"}\n");
    refuse("GET", path, NULL, 404, "NotFound", "there is no evaluation *");
    refuse("DELETE", "/v1/bandits/shop/evaluations/..%2Fx", NULL, 404, "NotFound", "there is no evaluation *");
    refuse("POST", all, "{\"candidates\":[{\"policy\":\"model:/etc/passwd\"}]}", 400, "BadRequest", "candidate*");
    refuse("POST", all, "{\"candidates\":7}", 400, "BadRequest", "candidates must be an array");
    refuse("POST", all, "{\"estimators\":[\"x\"]}", 400, "BadRequest", "estimators: unknown estimator 'x'");
    refuse("POST", all, "{\"from\":\"soon\"}", 400, "BadRequest", "from must be a time*");
    refuse("POST", all, "{\"upto\":1}", 400, "BadRequest", "*upto*");
    refuse("POST", all, "{} {}", 400, "BadRequest", "*");
    refuse("POST", all, "{", 400, "BadRequest", "*");
}

/* ---- numbers ---- */

static void try_metrics(void)
{
    static const char *const names[] = {
        "eenet_decisions_total ",
        "eenet_rewards_total{outcome=\"joined\"} ",
        "eenet_bandit_behind_events{bandit=\"shop\"} ",
        "eenet_bandit_lag_seconds{bandit=\"shop\"} ",
        "eenet_request_seconds_bucket{route=\"POST /v1/bandits/{name}/decide\",le=\"+Inf\"} ",
        "eenet_requests_total{route=\"POST /v1/bandits/{name}/decide\",code=\"200\"} ",
        "eenet_sync_seconds_count ",
        "process_resident_memory_bytes ",
        "eenet_build_info{version=",
    };
    expect("GET", "/metrics", NULL, 200, "# HELP *\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strstr(client.answer, names[i])) server_process_fail(&server, "no %s in /metrics", names[i]);
}

/* ---- the same after a restart ---- */

static void try_restart(int signal_number)
{
    const char *again = "{\"id\":\"d1\",\"context\":{\"u\":{\"age\":31}}," TWO "}";
    expect("POST", "/v1/bandits/shop/decide", again, 200, "*");
    char *answer = kept_answer();
    await_model(&server, &client, "shop");
    http_client_call(&client, "GET", "/v1/bandits/shop/model", NULL, 0);
    char *model = kept_answer();
    size_t size = client.size;
    if (signal_number == SIGKILL)
        server_process_end(&server, SIGKILL);
    else
        stop(signal_number);
    start();
    expect("POST", "/v1/bandits/shop/decide", again, 200, answer);
    expect("POST", "/v1/bandits/shop/reward", "{\"id\":\"d1\",\"value\":1,\"reward_id\":\"r1\"}", 200,
           "{\"outcome\":\"joined\",\"repeated\":true}\n");
    await_model(&server, &client, "shop");
    http_client_call(&client, "GET", "/v1/bandits/shop/model", NULL, 0);
    if (client.size != size || memcmp(client.answer, model, size) != 0)
        server_process_fail(&server, "another model after a restart");
    free(answer);
    free(model);
}

/* ---- load: asleep and awake, and a stop in the midst ---- */

/* Bandits that leave the memory for each other are woken again and again, and all is answered. */
static void try_sleep(void)
{
    server.words[2] = "--memory";
    server.words[3] = "1";
    stop(SIGTERM);
    start();
    for (int i = 0; i < 10; i++) {
        expect("POST", "/v1/bandits/shop/decide", "{" TWO "}", 200, "{\"id\":*");
        expect("POST", "/v1/bandits/vectors/decide", "{\"actions\":[[1,0,0],[0,1,0],[0,0,1]]}", 200, "{\"id\":*");
    }
    server.words[2] = NULL;
}

enum { ASKERS = 4, FEW_ASKED = 50, MOST_ASKED = 20000 };

typedef struct asker {
    int number;
    atomic_int answered;
    char *answers[MOST_ASKED];
    pthread_t thread;
} asker;

static void ask_one(http_client *by, int asker_number, int i)
{
    http_client_ask(by, "POST", "/v1/bandits/vectors/decide", "{\"id\":\"load-%d-%d\",\"actions\":[[1,0,%d],[0,1,0]]}",
                    asker_number, i, i % 7);
}

/* Asks until the server is gone, and keeps what it answered. */
static void *ask(void *context)
{
    asker *self = context;
    http_client own = http_client_start(client.port);
    for (int i = 0; i < MOST_ASKED; i++) {
        ask_one(&own, self->number, i);
        if (own.status != 200) break;
        self->answers[self->answered] = strdup(own.answer);
        self->answered++;
    }
    http_client_end(&own);
    return NULL;
}

static bool has_few_answers(void *context)
{
    return ((asker *)context)->answered >= FEW_ASKED;
}

/* SIGTERM under load: it ends with 0, and every answer that was given is given again. */
static void try_stop_under_load(void)
{
    static asker askers[ASKERS];
    for (int i = 0; i < ASKERS; i++) {
        askers[i].number = i;
        pthread_create(&askers[i].thread, NULL, ask, &askers[i]);
    }
    for (int i = 0; i < ASKERS; i++) await(&server, has_few_answers, &askers[i], "answers");
    stop(SIGTERM);
    for (int i = 0; i < ASKERS; i++) pthread_join(askers[i].thread, NULL);
    start();
    for (int i = 0; i < ASKERS; i++) {
        for (int k = 0; k < askers[i].answered; k++) {
            ask_one(&client, i, k);
            if (client.status != 200 || strcmp(client.answer, askers[i].answers[k]) != 0)
                server_process_fail(&server, "answered %s, and after a stop %d %s", askers[i].answers[k], client.status,
                                    client.answer);
            free(askers[i].answers[k]);
        }
    }
}

/* ---- changes at the same time ---- */

static void *change_often(void *context)
{
    const atomic_bool *archived = context;
    http_client own = http_client_start(server.port);
    for (bool last = false; !last && own.status != 410;) {
        last = atomic_load(archived);
        http_client_ask(&own, "PATCH", "/v1/bandits/brief", "{\"wait\":20}");
    }
    if (own.status != 410) server_process_fail(&server, "PATCH while it is archived: %d", own.status);
    http_client_end(&own);
    return NULL;
}

/* A change that was on its way does not bring an archived bandit back. */
static void try_archive_while_changed(void)
{
    enum { TIMES = 20 };
    expect("POST", "/v1/bandits", "{\"name\":\"brief\",\"dim\":2}", 201, "*");
    for (int i = 0; i < TIMES; i++) {
        pthread_t threads[2];
        atomic_bool archived = false;
        for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, change_often, &archived);
        expect("DELETE", "/v1/bandits/brief", NULL, 200, "*\"archived\":true*");
        atomic_store(&archived, true);
        for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
        expect("GET", "/v1/bandits/brief", NULL, 200, "*\"archived\":true*");
        expect("POST", "/v1/bandits/brief/restore", NULL, 200, "*\"archived\":false*");
    }
}

int main(int count, char **words)
{
    if (count < 2) return 2;
    server.program = words[1];
    client = http_client_start(0);
    start();
    try_bandits();
    try_decisions();
    try_rewards();
    try_modes();
    try_models();
    try_models_of_names();
    try_reward_range();
    try_downloads();
    try_log();
    try_metrics();
    try_evaluations();
    try_restart(SIGTERM);
    try_restart(SIGKILL);
    try_sleep();
    try_archive_while_changed();
    try_stop_under_load();
    stop(SIGINT);
    http_client_end(&client);
    return 0;
}
