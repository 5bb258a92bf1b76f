#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support.h"
#include "support_http.h"

static echo_server *server;
static int client; /* the first one of a test that begins with start */

static int connect_to(void)
{
    int made = raw_connect(server->port);
    assert_true(made >= 0);
    return made;
}

static int start(void **state)
{
    (void)state;
    server = echo_start(NULL);
    client = connect_to();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    echo_stop(server);
    return 0;
}

static int stop_both(void **state)
{
    raw_close(client);
    return stop(state);
}

static http_reply ask(int from, const char *request)
{
    http_reply reply;
    assert_true(raw_ask(from, request, &reply));
    return reply;
}

static void check(http_reply reply, int status, const char *body)
{
    assert_int_equal(reply.status, status);
    if (body) assert_string_equal(reply.body, body);
    free(reply.body);
}

static void expect(int from, const char *request, int status, const char *body)
{
    check(ask(from, request), status, body);
}

/* The next response, to a request that was sent before. */
static void expect_next(int status, const char *body)
{
    http_reply reply;
    assert_true(raw_read(client, &reply, false));
    check(reply, status, body);
}

#define POST(path, body_size, body) "POST " path " HTTP/1.1\r\nHost: x\r\nContent-Length: " body_size "\r\n\r\n" body
#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

TEST_WITH(requests_may_come_all_at_once, start, stop_both)
{
    assert_true(raw_send_text(client, POST("/echo", "1", "a") POST("/later", "1", "b") GET("/size?bytes=3")
                                          POST("/later", "1", "c") POST("/echo", "1", "d")));
    const char *expected[] = {"a", "b", "yyy", "c", "d"};
    for (size_t i = 0; i < 5; i++) expect_next(200, expected[i]);
}

TEST_WITH(requests_may_come_byte_by_byte, start, stop_both)
{
    const char *request = POST("/echo", "6", "pieces");
    for (size_t i = 0; request[i]; i++) assert_true(raw_send(client, request + i, 1));
    expect_next(200, "pieces");
}

TEST_WITH(bodies_that_are_too_long_are_refused, start, stop_both)
{
    /* by what the header says: nothing of the body need come */
    expect(client, POST("/echo", "100001", ""), 413,
           "{\"error\":{\"code\":\"TooLarge\",\"message\":\"the body has more than 100000 bytes, the limit for this "
           "request\"}}\n");
    assert_true(raw_is_closed(client));
    raw_close(client);
    client = connect_to();
    expect(client, POST("/echo", "18446744073709551615", ""), 413, NULL);
    raw_close(client);

    /* by what comes in chunks without an end */
    client = connect_to();
    assert_true(raw_send_text(client, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"));
    char chunk[5 + 0x1000 + 3];
    snprintf(chunk, sizeof chunk, "1000\r\n");
    memset(chunk + 6, 'x', 0x1000);
    memcpy(chunk + 6 + 0x1000, "\r", 2);
    size_t sent = 0;
    while (sent < 1000 && raw_send(client, chunk, 6 + 0x1000) && raw_send_text(client, "\r\n")) sent++;
    http_reply reply;
    assert_true(raw_read(client, &reply, false));
    assert_int_equal(reply.status, 413);
    assert_true(reply.closed);
    assert_non_null(strstr(reply.body, "TooLarge"));
    free(reply.body);
}

TEST_WITH(heads_have_no_body, start, stop_both)
{
    http_reply reply;
    assert_true(raw_ask(client, "HEAD /size?bytes=1234 HTTP/1.1\r\nHost: x\r\n\r\n", &reply));
    assert_int_equal(reply.status, 200);
    assert_non_null(strstr(reply.head, "Content-Length: 1234\n"));
    free(reply.body);
    expect(client, GET("/size?bytes=2"), 200, "yy");
}

TEST_WITH(a_refusal_does_not_close, start, stop_both)
{
    enum { LONG = 1000000 };
    char *body = calloc(LONG + 1, 1);
    memset(body, 'x', LONG);
    for (int i = 0; i < 3; i++) {
        expect(client, POST("/nowhere", "5", "hello"), 404,
               "{\"error\":{\"code\":\"NotFound\",\"message\":\"there is no such path\"}}\n");
        expect(client, POST("/echo", "5", "hello"), 200, "hello");
        assert_true(raw_send_text(client, POST("/nowhere", "1000000", "")));
        expect(client, body, 404, NULL);
    }
    free(body);
}

TEST_WITH(a_client_may_ask_whether_to_send, start, stop_both)
{
    char line[32] = "";
    assert_true(
        raw_send_text(client, "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
    assert_true(raw_read_some(client, line, 25));
    assert_string_equal(line, "HTTP/1.1 100 Continue\r\n\r\n");
    expect(client, "ok", 200, "ok");
    http_reply reply =
        ask(client, "POST /nowhere HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_int_equal(reply.status, 404);
    assert_int_equal(reply.interim, 0);
    free(reply.body);
}

TEST_WITH(streams_end_or_break, start, stop)
{
    static const size_t sizes[] = {0, 1, 1000, 3000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char request[96];
        snprintf(request, sizeof request, "GET /stream?bytes=%zu HTTP/1.1\r\nHost: x\r\n\r\n", sizes[i]);
        http_reply reply = ask(client, request);
        assert_int_equal(reply.length, sizes[i]);
        assert_non_null(strstr(reply.head, "Transfer-Encoding: chunked\n"));
        assert_non_null(strstr(reply.head, "Content-Type: text/plain\n"));
        free(reply.body);
    }
    http_reply reply;
    assert_false(raw_ask(client, GET("/stream?bytes=5000&break=1"), &reply));
    assert_int_equal(reply.status, 200);
    free(reply.body);
    raw_close(client);
    client = connect_to();
    assert_true(raw_send_text(client, "HEAD /stream?bytes=5000 HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_true(raw_read(client, &reply, true));
    free(reply.body);
    char bytes[100];
    assert_false(raw_read_some(client, bytes, 1)); /* which would be the begin of the next answer */
    raw_close(client);
    /* one that leaves in the midst */
    client = connect_to();
    assert_true(raw_send_text(client, GET("/stream?bytes=100000000")));
    assert_true(raw_read_some(client, bytes, sizeof bytes));
    raw_reset(client);
    AWAIT(atomic_load(&server->released) == 7);
    AWAIT(atomic_load(&server->ended) == 7);
}

TEST_WITH(the_path_comes_raw, start, stop_both)
{
    expect(client, "GET /seen/a%2Fb%20c//d?x=1&name=%c3%a4+%26&y HTTP/1.1\r\nHost: x\r\nx-word: of the header\r\n\r\n",
           200,
           "path=/seen/a%2Fb%20c//d query=x=1&name=%c3%a4+%26&y name=\xc3\xa4+& word=of the header peer=127.0.0.1");
    expect(client, "GET http://some.host:80/seen?name HTTP/1.1\r\nHost: Some.Host:80\r\n\r\n", 200,
           "path=/seen query=name name= word=none peer=127.0.0.1");
    expect(client, "GET http://some.host HTTP/1.1\r\nHost: some.host\r\n\r\n", 404, NULL);
    http_reply reply = ask(client, GET("/seen?name=%zz"));
    assert_string_equal(reply.body, "path=/seen query=name=%zz name=%zz word=none peer=127.0.0.1");
    assert_non_null(strstr(reply.head, "X-One: 1\n"));
    assert_non_null(strstr(reply.head, "X-Two: two words\n"));
    free(reply.body);
}

TEST_WITH(an_answer_cannot_be_split, start, stop_both)
{
    http_reply reply = ask(client, GET("/seen?name=a%0d%0aX-Evil:%201%0d%0a%0d%0ab"));
    assert_int_equal(reply.status, 200);
    assert_non_null(strstr(reply.head, "X-Name: a??X-Evil: 1????b\n"));
    free(reply.body);
    expect(client, POST("/echo", "1", "a"), 200, "a");
}

/* ---- time ---- */

/* One worker, whose clock stands still: a test lets it go on until something has happened. */
static int start_hasty(void **state)
{
    http_options options = echo_options();
    options.idle_seconds = 0.04;
    options.threads = 1;
    (void)state;
    server = echo_start(&options);
    client = connect_to();
    return 0;
}

/* Lets time pass until only `left` connections are open: those that are due are closed in one sweep. */
static void await_sweep(size_t left)
{
    AWAIT((echo_pass(server, 1), echo_connections(server)) == left);
}

/* Each sends a head, and then a little now and then, for ever. */
static const struct {
    const char *head, *drop;
} slow[] = {
    {"", ""},
    {"", "G"},
    {"GET /seen HTTP/1.1\r\nHost: x\r\n", "X"},
    {"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n", "b"},
    {"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nb\r\n"},
    {"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n", "b"},
};
enum { SLOW = sizeof slow / sizeof *slow };

static size_t drop_some(const int *clients)
{
    echo_pass(server, 0.02);
    for (size_t i = 0; i < SLOW; i++) raw_send_text(clients[i], slow[i].drop);
    return echo_connections(server);
}

TEST_WITH(slow_clients_are_cut, start_hasty, stop)
{
    int clients[SLOW];
    raw_close(client);
    for (size_t i = 0; i < SLOW; i++) {
        clients[i] = connect_to();
        assert_true(raw_send_text(clients[i], slow[i].head));
    }
    AWAIT(echo_connections(server) == SLOW);
    AWAIT(drop_some(clients) == 0);
    assert_int_equal(echo_open(server), 0);
    for (size_t i = 0; i < SLOW; i++) raw_close(clients[i]);
}

TEST_WITH(clients_that_do_not_read_are_cut, start_hasty, stop_both)
{
    char byte;
    assert_true(raw_send_text(client, GET("/stream?bytes=100000000")));
    assert_true(raw_read_some(client, &byte, 1));
    await_sweep(0);
    assert_int_equal(atomic_load(&server->ended), 1);
}

TEST_WITH(handlers_may_take_their_time, start_hasty, stop_both)
{
    int idle = connect_to();
    assert_true(raw_send_text(client, GET("/never")));
    AWAIT(echo_waiting(server) == 1);
    AWAIT(echo_connections(server) == 2);
    await_sweep(1);
    assert_true(raw_is_closed(idle));
    echo_release(server);
    expect_next(200, "at last");
    raw_close(idle);
}

/* ---- ending ---- */

TEST_WITH(clients_may_vanish, start, stop)
{
    enum { CLIENTS = 20 };
    raw_close(client);
    for (int i = 0; i < CLIENTS; i++) {
        client = connect_to();
        assert_true(raw_send_text(client, i % 2 ? GET("/never") : POST("/echo", "100", "half of")));
        if (i % 2)
            AWAIT(echo_waiting(server) == (size_t)(i + 1) / 2);
        else
            AWAIT(echo_open(server) == (size_t)i / 2 + 1);
        raw_reset(client);
        if (i % 2 == 0) AWAIT(echo_open(server) == (size_t)i / 2);
    }
    echo_release(server);
    AWAIT(atomic_load(&server->ended) == CLIENTS);
    AWAIT(echo_open(server) == 0);
    AWAIT(echo_connections(server) == 0);
}

/* The end of a connection may come with its last bytes, and is then easily missed. */
TEST_WITH(half_a_request_holds_nothing_up, start_hasty, stop_both)
{
    enum { CLIENTS = 300 };
    for (int i = 0; i < CLIENTS; i++) {
        assert_true(raw_send_text(client, POST("/echo", "100", "half of")));
        raw_close(client);
        client = connect_to();
    }
    assert_true(raw_send_text(client, GET("/never")));
    AWAIT(echo_open(server) == 1);
    /* One that says that it sends no more wants its answer nevertheless. */
    shutdown(client, SHUT_WR);
    int idle = connect_to();
    AWAIT(echo_connections(server) == 2);
    await_sweep(1);
    raw_close(idle);
    assert_int_equal(echo_open(server), 1);
    echo_release(server);
    expect_next(200, NULL);
}

TEST_WITH(draining_answers_what_is_open, start, stop_both)
{
    int idle = connect_to();
    expect(idle, POST("/echo", "1", "a"), 200, "a");
    assert_true(raw_send_text(client, GET("/never")));
    AWAIT(echo_waiting(server) == 1);
    http_drain(server->http);
    AWAIT(http_open_requests(server->http) == 1); /* a response may arrive before its request is over */
    assert_int_equal(raw_connect(server->port), -1);
    http_reply reply = ask(idle, POST("/echo", "1", "b"));
    assert_true(reply.closed);
    free(reply.body);
    echo_release(server);
    assert_true(raw_read(client, &reply, false));
    assert_string_equal(reply.body, "at last");
    assert_true(reply.closed);
    free(reply.body);
    assert_true(raw_is_closed(client) && raw_is_closed(idle));
    AWAIT(echo_open(server) == 0);
    raw_close(idle);
}

TEST_WITH(stopping_waits_for_handlers, start, stop_both)
{
    assert_true(raw_send_text(client, GET("/never")));
    AWAIT(echo_waiting(server) == 1);
    assert_true(echo_stop_http(server));
    assert_int_equal(atomic_load(&server->ended), 1);
}

/* ---- starting ---- */

TEST_WITH(addresses_that_cannot_be_are_said, start, stop_both)
{
    http_options options = echo_options();
    http_server *none;
    ee_error error;
    char sentence[128];
    options.port = server->port;
    snprintf(sentence, sizeof sentence,
             "http: port %u of 127.0.0.1 is in use by another program; choose another with --port", options.port);
    assert_int_equal(http_start(&options, &none, &error), EE_BAD_INPUT);
    assert_string_equal(error.message, sentence);
    options.address = "no address";
    assert_int_equal(http_start(&options, &none, &error), EE_BAD_INPUT);
    assert_non_null(strstr(error.message, "'no address' is not an address"));
}

TEST_WITH(one_address_has_its_share, NULL, stop)
{
    http_options options = echo_options();
    options.connections_each = 2;
    server = echo_start(&options);
    int first = connect_to(), second = connect_to();
    expect(first, POST("/echo", "1", "a"), 200, "a");
    expect(second, POST("/echo", "1", "b"), 200, "b");
    int third = connect_to();
    expect(third, POST("/echo", "1", "c"), 429, NULL);
    assert_true(raw_is_closed(third));
    raw_close(first);
    AWAIT(echo_connections(server) == 1);
    raw_close(third);
    third = connect_to();
    expect(third, POST("/echo", "1", "c"), 200, "c");
    raw_close(second);
    raw_close(third);
}

TEST_WITH(connections_above_the_limit_get_503, NULL, stop)
{
    http_options options = echo_options();
    options.connections = 4;
    server = echo_start(&options);
    int clients[5];
    for (size_t i = 0; i < 4; i++) {
        clients[i] = connect_to();
        expect(clients[i], POST("/echo", "1", "a"), 200, "a");
    }
    clients[4] = connect_to();
    http_reply reply = ask(clients[4], POST("/echo", "1", "a"));
    assert_int_equal(reply.status, 503);
    assert_string_equal(reply.body,
                        "{\"error\":{\"code\":\"Unavailable\",\"message\":\"too many connections; retry later\"}}\n");
    assert_non_null(strstr(reply.head, "Retry-After: 1\n"));
    assert_true(reply.closed);
    free(reply.body);
    assert_true(raw_is_closed(clients[4]));
    raw_close(clients[4]);
    assert_int_equal(http_connections(server->http), 4);
    for (size_t i = 0; i < 4; i++) { /* those that were there are served */
        expect(clients[i], POST("/echo", "1", "b"), 200, "b");
        raw_close(clients[i]);
    }
    AWAIT(echo_connections(server) == 0);
    clients[4] = connect_to();
    expect(clients[4], POST("/echo", "1", "c"), 200, "c");
    raw_close(clients[4]);
}

/* However many connect without a word: those within the limits are served at once. */
TEST_WITH(refused_connections_delay_nobody, NULL, stop)
{
    enum { SILENT = 100 };
    http_options options = echo_options();
    options.connections_each = 2;
    server = echo_start(&options);
    int clients[SILENT], first = connect_to(), second = connect_to();
    expect(first, POST("/echo", "1", "a"), 200, "a");
    expect(second, POST("/echo", "1", "a"), 200, "a");
    for (size_t i = 0; i < SILENT; i++) clients[i] = connect_to();
    http_reply reply;
    assert_true(raw_read(clients[SILENT - 1], &reply, false)); /* at once: all places for refused ones are taken */
    assert_int_equal(reply.status, 503);
    assert_string_equal(reply.body,
                        "{\"error\":{\"code\":\"Unavailable\",\"message\":\"too many connections; retry later\"}}\n");
    free(reply.body);
    raw_close(second);
    AWAIT(echo_connections(server) == 1);
    second = connect_to();
    expect(second, POST("/echo", "1", "b"), 200,
           "b"); /* the places of refused ones are never free: time stands still */
    for (size_t i = 0; i < SILENT; i++) raw_close(clients[i]);
    raw_close(first);
    raw_close(second);
}

TEST(open_files_are_raised)
{
    struct rlimit before, low, after;
    getrlimit(RLIMIT_NOFILE, &before);
    if (before.rlim_max < 2000) skip();
    low = before;
    low.rlim_cur = 200;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    http_options options = echo_options();
    options.connections = 1000;
    server = echo_start(&options);
    getrlimit(RLIMIT_NOFILE, &after);
    assert_true(after.rlim_cur > 1000);
    echo_stop(server);
    setrlimit(RLIMIT_NOFILE, &before);
}

static int listening_socket(int family, const void *address, socklen_t size)
{
    int made = socket(family, SOCK_STREAM, 0);
    if (made < 0 || bind(made, address, size) || listen(made, 8)) return -1;
    return made;
}

TEST_WITH(a_socket_may_be_handed_over, NULL, stop_both)
{
    http_options options = echo_options();
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}},
                       any = {.sin_family = AF_INET};
    options.listening = listening_socket(AF_INET, &four, sizeof four);
    assert_true(http_socket_is_local(options.listening));
    int open = listening_socket(AF_INET, &any, sizeof any), theirs = dup(options.listening);
    assert_false(http_socket_is_local(open));
    close(open);
    server = echo_start(&options);
    client = connect_to();
    expect(client, POST("/echo", "1", "a"), 200, "a");
    raw_close(client);
    /* The socket stays open for the next server: who comes now waits for it. */
    http_drain(server->http);
    client = connect_to();
    echo_stop(server);
    options.listening = theirs;
    server = echo_start(&options);
    expect(client, POST("/echo", "1", "b"), 200, "b");
}

TEST(the_newer_protocol_works_too)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int probe = listening_socket(AF_INET6, &six, sizeof six);
    if (probe < 0) skip();
    close(probe);
    http_options options = echo_options();
    options.address = "::1";
    server = echo_start(&options);
    client = socket(AF_INET6, SOCK_STREAM, 0);
    six.sin6_port = htons(server->port);
    assert_int_equal(connect(client, (struct sockaddr *)&six, sizeof six), 0);
    expect(client, GET("/seen"), 200, "path=/seen query= name=none word=none peer=::1");
    stop_both(NULL);
}
