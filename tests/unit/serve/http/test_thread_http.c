/* Many clients at once, and answers that come from other threads at any moment. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "support.h"
#include "support_http.h"

enum { CLIENTS = 8, REQUESTS = 60 };

typedef struct player {
    echo_server *server;
    unsigned number;
    bool is_vain; /* the server may stop at any time */
    size_t answered;
} player;

/* A request whose answer is known; of /never, the other thread answers. */
static size_t write_request(random_stream *random, char *out, size_t capacity, char *expected, size_t expected_size)
{
    static const char *const paths[] = {"/echo", "/later", "/later", "/later", "/never"};
    const char *path = paths[random_below(random, 5)];
    size_t size = random_below(random, expected_size - 1);
    for (size_t i = 0; i < size; i++) expected[i] = (char)('a' + random_below(random, 26));
    expected[size] = '\0';
    int length =
        snprintf(out, capacity, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s", path, size, expected);
    if (strcmp(path, "/never") == 0) snprintf(expected, expected_size, "at last");
    return (size_t)length;
}

/* Asks several things at once, and reads the answers, unless it goes away before. */
static bool ask_some(player *self, random_stream *random, int client)
{
    enum { MOST = 4, SIZE = 3000 };
    char request[SIZE + 200], expected[MOST][SIZE];
    size_t count = 1 + random_below(random, MOST);
    for (size_t i = 0; i < count; i++) {
        size_t length = write_request(random, request, sizeof request, expected[i], SIZE);
        if (!raw_send(client, request, length)) return false;
    }
    if (random_below(random, 20) == 0) return false;
    for (size_t i = 0; i < count; i++) {
        http_reply reply;
        bool is_there = raw_read(client, &reply, false);
        bool is_right = is_there && (strcmp(reply.body, expected[i]) == 0 || (self->is_vain && reply.status == 503));
        bool goes_on = is_there && !reply.closed;
        free(reply.body);
        if (is_there && !is_right) abort();
        if (is_there) self->answered++;
        if (!is_there && !self->is_vain) abort();
        if (!goes_on) return false;
    }
    return true;
}

static void *play(void *context)
{
    player *self = context;
    random_stream random = random_named(self->number, "player");
    int client = -1;
    for (int i = 0; i < REQUESTS; i++) {
        if (client < 0) client = raw_connect(self->server->port);
        if (client < 0) break; /* it has stopped */
        if (ask_some(self, &random, client)) continue;
        if (random_below(&random, 2))
            raw_reset(client);
        else
            raw_close(client);
        client = -1;
    }
    if (client >= 0) raw_close(client);
    return NULL;
}

typedef struct releaser {
    echo_server *server;
    atomic_bool stops;
} releaser;

static void *release(void *context)
{
    releaser *self = context;
    AWAIT((echo_release(self->server), atomic_load(&self->stops)));
    return NULL;
}

static void run_players(bool is_vain)
{
    pthread_t threads[CLIENTS], releasing;
    player players[CLIENTS];
    http_options options = echo_options();
    options.threads = 3;
    echo_server *server = echo_start(&options);
    releaser other = {.server = server};
    pthread_create(&releasing, NULL, release, &other);
    for (unsigned i = 0; i < CLIENTS; i++) {
        players[i] = (player){server, i, is_vain, 0};
        pthread_create(&threads[i], NULL, play, &players[i]);
    }
    if (is_vain) { /* in the midst of it */
        AWAIT(atomic_load(&server->ended) >= 200);
        http_drain(server->http);
    }
    size_t answered = 0;
    for (size_t i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        answered += players[i].answered;
    }
    assert_true(answered > (is_vain ? 50 : CLIENTS * REQUESTS));
    AWAIT(echo_open(server) == 0);
    AWAIT(echo_connections(server) == 0);
    atomic_store(&other.stops, true);
    pthread_join(releasing, NULL);
    echo_stop(server);
}

TEST(every_answer_finds_its_request)
{
    run_players(false);
}

TEST(draining_in_the_midst)
{
    run_players(true);
}

/* http_stop waits for the handlers, and refuses what still comes. */
TEST(stopping_in_the_midst)
{
    for (unsigned round = 0; round < 3; round++) {
        pthread_t threads[CLIENTS];
        player players[CLIENTS];
        http_options options = echo_options();
        echo_server *server = echo_start(&options);
        for (unsigned i = 0; i < CLIENTS; i++) {
            players[i] = (player){server, 100 * round + i, true, 0};
            pthread_create(&threads[i], NULL, play, &players[i]);
        }
        AWAIT((echo_release(server), atomic_load(&server->ended)) >= 20);
        echo_stop_http(server);
        for (size_t i = 0; i < CLIENTS; i++) pthread_join(threads[i], NULL);
        echo_stop(server);
    }
}
