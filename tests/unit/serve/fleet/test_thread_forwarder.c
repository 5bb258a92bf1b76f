/* The forwarder against the server's own HTTP, and against peers that misbehave. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/random.h"
#include "serve/fleet/certificate_fingerprint.h"
#include "serve/fleet/forwarder.h"
#include "serve/system/latch.h"
#include "support.h"
#include "support_files.h"
#include "support_http.h"
#include "support_tls.h"

static struct {
    echo_server *server;
    forwarder *forwarder;
    char address[FORWARD_ADDRESS_SIZE]; /* of the server */
    atomic_int_least64_t clock;         /* of timeouts, microseconds; it stands still */
} world;

/* ---- a request whose result is copied ---- */

typedef struct asked {
    forward_request request;
    latch *latch;
    char target[64], header[64];
    char *response; /* (request.response.length); to be freed with free */
    size_t length;
} asked;

static asked request; /* most tests send one after the other */

static void keep_result(forward_request *of)
{
    asked *self = of->context;
    json_text header = forward_header(of, "x-one");
    self->length = of->response.length;
    self->response = malloc(self->length + 1);
    if (self->length) memcpy(self->response, of->response.bytes, self->length);
    self->response[self->length] = '\0';
    snprintf(self->header, sizeof self->header, "%.*s", (int)header.length, header.bytes ? header.bytes : "");
    latch_count_down(self->latch);
}

static void prepare(asked *self, const char *address, const char *method, const char *target)
{
    *self = (asked){.request = {.method = method, .seconds = RAW_PATIENCE, .done = keep_result}};
    snprintf(self->request.address, sizeof self->request.address, "%s", address);
    snprintf(self->target, sizeof self->target, "%s", target);
    self->request.target = (json_text){self->target, strlen(self->target)};
    self->request.context = self;
}

static void send_and_wait(asked *self)
{
    latch ended;
    latch_start(&ended, 1);
    self->latch = &ended;
    assert_true(forwarder_send(world.forwarder, &self->request));
    latch_wait(&ended);
}

/* Sends a request and checks the response; body NULL: any. */
static void expect(asked *self, int status, const char *body)
{
    send_and_wait(self);
    if (self->request.status != status) print_message("%s\n", self->request.error.message);
    assert_int_equal(self->request.status, status);
    assert_int_equal(self->request.error.status, EE_OK);
    if (body) assert_string_equal(self->response, body);
    free(self->response);
}

static void expect_failure(asked *self, bool sent, const char *message)
{
    send_and_wait(self);
    assert_int_equal(self->request.status, 0);
    assert_int_equal(self->request.sent, sent);
    assert_int_not_equal(self->request.error.status, EE_OK);
    if (!strstr(self->request.error.message, message)) fail_msg("%s", self->request.error.message);
    free(self->response);
}

static void set_body(asked *self, const char *body, size_t size)
{
    self->request.body = (json_text){body, size};
}

static int64_t read_clock(void *context)
{
    (void)context;
    return atomic_load(&world.clock);
}

/* Whether all requests have ended; time goes on. */
static bool pass(double seconds)
{
    atomic_fetch_add(&world.clock, (int64_t)(seconds * 1e6));
    return !forwarder_count(world.forwarder).open;
}

static void start_world(const forwarder_options *options, const http_options *http)
{
    ee_error error;
    forwarder_options used = options ? *options : (forwarder_options){0};
    used.clock = read_clock;
    world.server = echo_start(http);
    snprintf(world.address, sizeof world.address, "http://127.0.0.1:%u", world.server->port);
    if (forwarder_start(&used, &world.forwarder, &error)) fail_msg("%s", error.message);
}

static int start(void **state)
{
    (void)state;
    start_world(NULL, NULL);
    return 0;
}

static int start_small(void **state)
{
    (void)state;
    start_world(&(forwarder_options){.most_connections_each = 4, .most_response_bytes = 1000}, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    forwarder_stop(world.forwarder);
    echo_stop(world.server);
    return 0;
}

/* Prepares a request, sends it, and checks the response. */
static void ask(const char *address, const char *method, const char *target, int status, const char *body)
{
    prepare(&request, address, method, target);
    expect(&request, status, body);
}

static void ask_in_vain(const char *address, const char *method, const char *target, bool sent, const char *message)
{
    prepare(&request, address, method, target);
    expect_failure(&request, sent, message);
}

/* ---- responses ---- */

TEST_WITH(connections_are_reused, start, stop)
{
    for (int i = 0; i < 100; i++) {
        prepare(&request, world.address, "POST", i % 2 ? "/later" : "/echo");
        set_body(&request, "hello", 5);
        expect(&request, 200, "hello");
        assert_true(request.request.sent);
    }
    forwarder_counts counts = forwarder_count(world.forwarder);
    assert_int_equal(counts.requests, 100);
    assert_int_equal(counts.failures, 0);
    assert_int_equal(counts.connected, 1);
    assert_int_equal(counts.connections, 1);
    assert_int_equal(counts.open, 0);
    assert_int_equal(counts.waiting, 0);
    assert_int_equal(echo_connections(world.server), 1);
}

TEST_WITH(requests_arrive_as_given, start, stop)
{
    prepare(&request, world.address, "GET", "/seen/a%20b?name=c%2Bd");
    request.request.headers = (json_text){"X-Word: word\r\nX-Other: x\r\n", 26};
    expect(&request, 200, "path=/seen/a%20b query=name=c%2Bd name=c+d word=word peer=127.0.0.1");
    assert_string_equal(request.header, "1");
    ask(world.address, "HEAD", "/size?bytes=1234", 200, "");
    ask(world.address, "GET", "/nowhere", 404, NULL);
    assert_string_equal(request.header, "");
    assert_int_equal(forwarder_count(world.forwarder).connected, 1);
}

TEST_WITH(names_are_resolved, start, stop)
{
    char address[64];
    snprintf(address, sizeof address, "http://localhost:%u", world.server->port);
    for (int i = 0; i < 3; i++) { /* the server does not listen on ::1, which may come first */
        ask(address, "GET", "/size?bytes=3", 200, "yyy");
    }
    assert_int_equal(forwarder_count(world.forwarder).connected, 1);
    ask_in_vain("http://two..dots:80", "GET", "/", false, "could not resolve the name");
}

/* Sends body (size) to /echo. */
static void expect_echo(const char *body, size_t size)
{
    prepare(&request, world.address, "POST", "/echo");
    set_body(&request, body, size);
    send_and_wait(&request);
    assert_int_equal(request.request.status, 200);
    assert_int_equal(request.length, size);
    assert_memory_equal(request.response, body, size);
    free(request.response);
}

static void check_long_bodies(void)
{
    enum { LONG = 8000000 };
    char *body = malloc(LONG);
    for (size_t i = 0; i < LONG; i++) body[i] = (char)('a' + i * i % 26);
    static const size_t sizes[] = {0, 1, 4095, 12 << 10, (12 << 10) + 1, 65536, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) expect_echo(body, sizes[i]);
    static const char *const targets[] = {"/size?bytes=3000000", "/stream?bytes=3000000", "/stream?bytes=0"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        prepare(&request, world.address, "GET", targets[i]);
        send_and_wait(&request);
        assert_int_equal(request.request.status, 200);
        assert_int_equal(request.length, i < 2 ? 3000000 : 0);
        for (size_t k = 0; k < request.length; k++) assert_true(request.response[k] == (i ? 'x' : 'y'));
        free(request.response);
    }
    assert_int_equal(forwarder_count(world.forwarder).connected, 1);
    prepare(&request, world.address, "POST", "/echo"); /* refused before all of it was sent */
    set_body(&request, body, LONG);
    expect(&request, 413, NULL);
    expect_echo(body, 10);
    free(body);
}

TEST_WITH(long_bodies_come_whole, start, stop)
{
    check_long_bodies();
}

TEST_WITH(responses_that_are_too_long_fail, start_small, stop)
{
    static const char *const targets[] = {"/size?bytes=1000", "/stream?bytes=1000", "/size?bytes=1001",
                                          "/stream?bytes=1001", "/stream?bytes=500000"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        prepare(&request, world.address, "GET", targets[i]);
        if (i < 2)
            expect(&request, 200, NULL);
        else
            expect_failure(&request, true, "invalid response: the body is too large");
    }
    assert_int_equal(forwarder_count(world.forwarder).failures, 3);
}

TEST_WITH(streams_that_break_fail, start, stop)
{
    ask(world.address, "GET", "/size?bytes=1", 200, "y");
    prepare(&request, world.address, "GET", "/stream?bytes=5000&break=1");
    request.request.safe = true; /* but a part of the response has arrived */
    expect_failure(&request, true, "closed in the middle of the response");
    assert_false(request.request.timed_out);
    assert_int_equal(forwarder_count(world.forwarder).connected, 1);
}

/* ---- many at once ---- */

enum { SENDERS = 4, ROUNDS = SANITIZED ? 5 : 20, AT_ONCE = 50, MOST_BODY = 3000 };

typedef struct sender {
    unsigned number;
    size_t wrong;
} sender;

static void *send_many(void *context)
{
    sender *self = context;
    random_stream random = random_named(self->number, "sender");
    static const char *const targets[] = {"/echo", "/later", "/later"};
    asked *requests = calloc(AT_ONCE, sizeof *requests);
    char *bodies = malloc(AT_ONCE * MOST_BODY);
    for (size_t i = 0; i < AT_ONCE * MOST_BODY; i++) bodies[i] = (char)('a' + random_below(&random, 26));
    for (int round = 0; round < ROUNDS; round++) {
        latch ended;
        latch_start(&ended, AT_ONCE);
        for (size_t i = 0; i < AT_ONCE; i++) {
            prepare(&requests[i], world.address, "POST", targets[random_below(&random, 3)]);
            set_body(&requests[i], bodies + i * MOST_BODY, random_below(&random, MOST_BODY));
            requests[i].latch = &ended;
            if (!forwarder_send(world.forwarder, &requests[i].request)) abort();
        }
        latch_wait(&ended);
        for (size_t i = 0; i < AT_ONCE; i++) {
            const asked *each = &requests[i];
            bool is_right = each->request.status == 200 && each->length == each->request.body.length &&
                            memcmp(each->response, each->request.body.bytes, each->length) == 0;
            if (!is_right) self->wrong++;
            free(each->response);
        }
    }
    free(bodies);
    free(requests);
    return NULL;
}

TEST_WITH(every_response_finds_its_request, NULL, stop)
{
    pthread_t threads[SENDERS];
    sender senders[SENDERS];
    start_world(&(forwarder_options){.most_connections_each = 16}, NULL);
    for (unsigned i = 0; i < SENDERS; i++) {
        senders[i] = (sender){i, 0};
        pthread_create(&threads[i], NULL, send_many, &senders[i]);
    }
    for (size_t i = 0; i < SENDERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(senders[i].wrong, 0);
    }
    forwarder_counts counts = forwarder_count(world.forwarder);
    assert_int_equal(counts.requests, SENDERS * ROUNDS * AT_ONCE);
    assert_int_equal(counts.failures, 0);
    assert_in_range(counts.connected, 2, 16);
    assert_int_equal(counts.open + counts.waiting, 0);
}

/* Sends `count` requests to /never, and waits until the server has `there` of them. */
static void send_to_never(asked *requests, size_t count, size_t there, latch *ended)
{
    latch_start(ended, count);
    for (size_t i = 0; i < count; i++) {
        prepare(&requests[i], world.address, "GET", "/never");
        requests[i].request.seconds = 1e9; /* while others time out */
        requests[i].latch = ended;
        assert_true(forwarder_send(world.forwarder, &requests[i].request));
    }
    AWAIT(echo_waiting(world.server) == there);
}

TEST_WITH(requests_wait_for_connections, start_small, stop)
{
    asked requests[10], late;
    latch ended;
    send_to_never(requests, 10, 4, &ended);
    assert_int_equal(forwarder_count(world.forwarder).connections, 4);
    assert_int_equal(forwarder_count(world.forwarder).waiting, 6);
    assert_int_equal(forwarder_count(world.forwarder).open, 10);
    prepare(&late, world.address, "POST", "/echo");
    late.request.seconds = 1;
    latch over;
    latch_start(&over, 1);
    late.latch = &over;
    assert_true(forwarder_send(world.forwarder, &late.request));
    AWAIT((pass(1), forwarder_count(world.forwarder).open) == 10);
    latch_wait(&over);
    assert_true(late.request.timed_out && !late.request.sent);
    assert_message_has(late.request.error.message, "no response within 1 s");
    free(late.response);
    AWAIT((echo_release(world.server), !forwarder_count(world.forwarder).open)); /* each lets another one arrive */
    latch_wait(&ended);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(requests[i].request.status, 200);
        assert_string_equal(requests[i].response, "at last");
        free(requests[i].response);
    }
    assert_int_equal(forwarder_count(world.forwarder).connected, 4);
}

/* ---- time ---- */

static double extend_twice(const forward_request *of)
{
    return of->seconds < 3 ? 1.5 : 0;
}

/* A request to /never that has arrived there, and then times out. */
static void time_out(asked *of, size_t waiting, const char *message)
{
    latch ended;
    latch_start(&ended, 1);
    of->latch = &ended;
    assert_true(forwarder_send(world.forwarder, &of->request));
    AWAIT(echo_waiting(world.server) == waiting + 1);
    AWAIT((pass(0.5), forwarder_count(world.forwarder).open) == waiting);
    latch_wait(&ended);
    assert_true(of->request.timed_out && of->request.sent);
    assert_message_has(of->request.error.message, message);
    free(of->response);
}

TEST_WITH(a_timeout_is_extended, start, stop)
{
    prepare(&request, world.address, "GET", "/never");
    request.request.seconds = 1;
    request.request.extend = extend_twice;
    time_out(&request, 0, "no response within 4 s");
    echo_release(world.server);
}

TEST_WITH(a_peer_that_hangs_stops_nobody, start, stop)
{
    enum { HANG = 10 };
    asked hanging[HANG];
    latch ended;
    send_to_never(hanging, HANG, HANG, &ended);
    prepare(&request, world.address, "GET", "/never");
    request.request.seconds = 2;
    request.request.safe = true;
    time_out(&request, HANG, "no response within 2 s");
    ask(world.address, "GET", "/size?bytes=2", 200, "yy");
    echo_release(world.server);
    latch_wait(&ended);
    for (size_t i = 0; i < HANG; i++) free(hanging[i].response);
}

TEST_WITH(unused_connections_are_closed, NULL, stop)
{
    start_world(&(forwarder_options){.idle_seconds = 1}, NULL);
    prepare(&request, world.address, "GET", "/size?bytes=2");
    expect(&request, 200, "yy");
    AWAIT((pass(1), echo_connections(world.server)) == 0);
    expect(&request, 200, "yy");
    assert_int_equal(forwarder_count(world.forwarder).connected, 2);
}

/* ---- peers that misbehave ---- */

static int listen_raw(int backlog, uint16_t *port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof name;
    int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(made, (struct sockaddr *)&name, sizeof name), 0);
    if (backlog >= 0) assert_int_equal(listen(made, backlog), 0);
    assert_int_equal(getsockname(made, (struct sockaddr *)&name, &size), 0);
    *port = ntohs(name.sin_port);
    return made;
}

TEST_WITH(a_peer_that_does_not_listen, start, stop)
{
    uint16_t port;
    char address[64];
    int taken = listen_raw(-1, &port); /* bound, so that nobody else listens there */
    snprintf(address, sizeof address, "http://127.0.0.1:%u", port);
    for (int i = 0; i < 3; i++) ask_in_vain(address, "GET", "/", false, "could not connect: Connection refused");
    assert_int_equal(forwarder_count(world.forwarder).connections, 0);
    close(taken);
}

TEST_WITH(a_peer_that_does_not_accept, NULL, stop)
{
    uint16_t port;
    char address[64];
    int full[8], listening = listen_raw(0, &port);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    for (size_t i = 0; i < 8; i++) { /* the queue of the socket is full: the system drops further attempts */
        full[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        connect(full[i], (struct sockaddr *)&to, sizeof to);
    }
    start_world(&(forwarder_options){.connect_seconds = 3}, NULL);
    snprintf(address, sizeof address, "http://127.0.0.1:%u", port);
    for (int is_late = 0; is_late < 2; is_late++) {
        latch ended;
        latch_start(&ended, 1);
        prepare(&request, address, "GET", "/");
        request.request.seconds = is_late ? 1 : 1e9;
        request.latch = &ended;
        assert_true(forwarder_send(world.forwarder, &request.request));
        pass(2);
        AWAIT(pass(is_late ? 0 : 1));
        latch_wait(&ended);
        assert_message_has(request.request.error.message,
                           is_late ? "no response within 1 s" : "no connection within 3 s");
        assert_true(request.request.timed_out == is_late && !request.request.sent);
        free(request.response);
    }
    for (size_t i = 0; i < 8; i++) close(full[i]);
    close(listening);
}

TEST_WITH(invalid_addresses, start, stop)
{
    static const char *const addresses[] = {
        "",
        "127.0.0.1:80",
        "ftp://127.0.0.1:80",
        "http://",
        "http://:80",
        "http://127.0.0.1:0",
        "http://127.0.0.1:65536",
        "http://127.0.0.1:8x",
        "http://127.0.0.1/",
        "http://[::1:80",
        "http://[name]:80",
        "https://127.0.0.1:1#",
        "https://127.0.0.1:1#0123",
        "http://127.0.0.1:1#0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    };
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        ask_in_vain(addresses[i], "GET", "/", false, "invalid address");
        assert_int_equal(request.request.error.status, EE_BAD_INPUT);
    }
    assert_int_equal(forwarder_count(world.forwarder).waiting, 0);
}

/* What a peer does: reads a request, sends this, and closes or not. */
typedef struct step {
    const char *sends;
    bool closes;
} step;

/* A peer that accepts connections, one after the other, and takes its steps. */
typedef struct raw_peer {
    int listening;
    char address[64];
    const step *steps; /* (count) */
    size_t count;
    pthread_t thread;
    latch *closed; /* counts the closed connections down; NULL: nothing waits for them */
    size_t connections;
    char last[256]; /* the last request */
} raw_peer;

static raw_peer peer;

static bool read_request(raw_peer *self, int client)
{
    size_t length = 0;
    while (length + 1 < sizeof self->last && raw_read_some(client, self->last + length, 1)) {
        self->last[++length] = '\0';
        if (length >= 4 && memcmp(self->last + length - 4, "\r\n\r\n", 4) == 0) return true;
    }
    return false;
}

static void *act(void *context)
{
    raw_peer *self = context;
    int client = -1;
    for (size_t i = 0; i < self->count;) {
        if (client < 0) {
            client = accept(self->listening, NULL, NULL);
            self->connections++;
        }
        bool is_there = read_request(self, client);
        if (is_there) raw_send_text(client, self->steps[i].sends);
        if (!is_there || self->steps[i].closes) {
            raw_close(client);
            client = -1;
            if (self->closed) latch_count_down(self->closed);
        }
        if (is_there) i++;
    }
    if (client >= 0) raw_close(client);
    return NULL;
}

static void peer_start(const step *steps, size_t count, latch *closed)
{
    uint16_t port;
    peer = (raw_peer){.steps = steps, .count = count, .closed = closed};
    peer.listening = listen_raw(8, &port);
    snprintf(peer.address, sizeof peer.address, "http://127.0.0.1:%u", port);
    pthread_create(&peer.thread, NULL, act, &peer);
}

/* Waits until it has taken all of its steps. */
static void peer_end(size_t connections)
{
    pthread_join(peer.thread, NULL);
    close(peer.listening);
    assert_int_equal(peer.connections, connections);
}

#define OK(body, size) "HTTP/1.1 200 OK\r\nContent-Length: " size "\r\n\r\n" body
#define STEPS(...) (const step[]){__VA_ARGS__}, sizeof((const step[]){__VA_ARGS__}) / sizeof(step)

static const step closes_later[] = {{OK("one", "3"), false}, {"", true}, {OK("two", "3"), false}};

TEST_WITH(a_request_is_sent_once, start, stop)
{
    peer_start(closes_later, 3, NULL);
    ask(peer.address, "GET", "/a", 200, "one");
    expect_failure(&request, true, "closed before the response");
    expect(&request, 200, "two");
    peer_end(2);
    assert_int_equal(forwarder_count(world.forwarder).failures, 1);
}

TEST_WITH(a_safe_request_is_sent_again, start, stop)
{
    peer_start(closes_later, 3, NULL);
    prepare(&request, peer.address, "GET", "/a");
    request.request.safe = true;
    expect(&request, 200, "one");
    expect(&request, 200, "two");
    peer_end(2);
    assert_int_equal(forwarder_count(world.forwarder).failures, 0);
}

TEST_WITH(a_safe_request_is_sent_twice_at_most, start, stop)
{
    peer_start(STEPS({OK("one", "3"), false}, {"", true}, {"", true}), NULL);
    prepare(&request, peer.address, "GET", "/a");
    request.request.safe = true;
    expect(&request, 200, "one");
    expect_failure(&request, true, "closed before the response");
    peer_end(2);
}

static void take_and_answer(int client, const char *answer)
{
    char byte[5] = "";
    while (strcmp(byte, "\r\n\r\n") != 0) {
        memmove(byte, byte + 1, 3);
        assert_true(raw_read_some(client, byte + 3, 1));
    }
    if (answer) assert_true(raw_send_text(client, answer));
}

/* Waits until one of them has bytes to read, or a client. */
static int wait_for_any(const int *sockets, size_t count)
{
    struct pollfd waits[4];
    for (size_t i = 0; i < count; i++) waits[i] = (struct pollfd){.fd = sockets[i], .events = POLLIN};
    assert_true(poll(waits, count, RAW_PATIENCE * 1000) > 0);
    for (size_t i = 0; i < count; i++)
        if (waits[i].revents) return sockets[i];
    return -1;
}

/* If the peer closes one idle connection, the others are not to be trusted either. */
TEST_WITH(a_request_is_sent_again_on_a_new_connection, start, stop)
{
    asked requests[3];
    latch two, one;
    uint16_t port;
    char address[64];
    int listening = listen_raw(8, &port), clients[3];
    snprintf(address, sizeof address, "http://127.0.0.1:%u", port);
    for (size_t i = 0; i < 3; i++) {
        prepare(&requests[i], address, "GET", "/");
        requests[i].latch = i < 2 ? &two : &one;
        requests[i].request.safe = true;
    }
    latch_start(&two, 2);
    latch_start(&one, 1);
    for (size_t i = 0; i < 2; i++) assert_true(forwarder_send(world.forwarder, &requests[i].request));
    for (size_t i = 0; i < 2; i++) clients[i] = accept(listening, NULL, NULL);
    for (size_t i = 0; i < 2; i++) take_and_answer(clients[i], OK("one", "3"));
    latch_wait(&two);
    assert_true(forwarder_send(world.forwarder, &requests[2].request));
    int used = wait_for_any(clients, 2), other = used == clients[0] ? clients[1] : clients[0];
    take_and_answer(used, NULL);
    raw_close(used);
    assert_int_equal(wait_for_any((const int[]){listening, other}, 2), listening);
    clients[2] = accept(listening, NULL, NULL);
    take_and_answer(clients[2], OK("two", "3"));
    latch_wait(&one);
    assert_string_equal(requests[2].response, "two");
    for (size_t i = 0; i < 3; i++) free(requests[i].response);
    raw_close(other);
    raw_close(clients[2]);
    raw_close(listening);
}

/* A connection that is known to be closed is not used, even if the peer had promised to keep it open. */
TEST_WITH(closed_connections_are_not_used, start, stop)
{
    for (int i = 0; i < 5; i++) {
        latch closed;
        latch_start(&closed, 1);
        peer_start(STEPS({OK("one", "3"), true}, {OK("two", "3"), false}), &closed);
        ask(peer.address, "GET", "/a", 200, "one");
        latch_wait(&closed);
        expect(&request, 200, "two");
        peer_end(2);
    }
    assert_int_equal(forwarder_count(world.forwarder).failures, 0);
}

TEST_WITH(peers_may_close_after_a_response, start, stop)
{
    peer_start(STEPS({"HTTP/1.1 100 Continue\r\n\r\n" OK("one", "3"), false},
                     {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\ntwo", false},
                     {OK("three, and more", "5"), false}, {"HTTP/1.1 204 No Content\r\n\r\n", false}),
               NULL);
    ask(peer.address, "POST", "/a?b", 200, "one");
    expect(&request, 200, "two");
    expect(&request, 200, "three"); /* what follows no request asked for */
    expect(&request, 204, "");
    peer_end(3);
    char expected[256];
    snprintf(expected, sizeof expected, "POST /a?b HTTP/1.1\r\nHost: %.64s\r\nContent-Length: 0\r\n\r\n",
             peer.address + strlen("http://"));
    assert_string_equal(peer.last, expected);
}

TEST_WITH(broken_responses_fail, start, stop)
{
    static const step steps[] = {{"SSH-2.0-OpenSSH_9\r\n\r\n", false},
                                 {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", true},
                                 {"HTTP/1.1 200 OK\r\nContent-Le", true},
                                 {"", true},
                                 {OK("good", "4"), false}};
    static const char *const messages[] = {"invalid response: invalid status line", "closed in the middle",
                                           "closed in the middle", "closed before the response"};
    peer_start(steps, 5, NULL);
    prepare(&request, peer.address, "GET", "/");
    for (size_t i = 0; i < 4; i++) expect_failure(&request, true, messages[i]);
    expect(&request, 200, "good");
    peer_end(5);
}

/* ---- TLS ---- */

static struct {
    test_folder folder;
    char certificate[256], key[256], fingerprint[FINGERPRINT_SIZE];
} tls;

static int start_tls(void **state)
{
    (void)state;
    tls.folder = folder_make();
    snprintf(tls.certificate, sizeof tls.certificate, "%s", folder_path(&tls.folder, "peer.pem"));
    snprintf(tls.key, sizeof tls.key, "%s", folder_path(&tls.folder, "peer.key"));
    tls_write_certificate(tls.certificate, tls.key, "peer.example");
    http_options http = echo_options();
    http.certificate = tls.certificate;
    http.key = tls.key;
    start_world(NULL, &http);
    ok(certificate_fingerprint(tls.certificate, tls.fingerprint, NULL));
    snprintf(world.address, sizeof world.address, "https://127.0.0.1:%u#%s", world.server->port, tls.fingerprint);
    return 0;
}

static int stop_tls(void **state)
{
    stop(state);
    folder_remove(&tls.folder);
    return 0;
}

TEST_WITH(the_fingerprint_decides, start_tls, stop_tls)
{
    char address[FORWARD_ADDRESS_SIZE], other[FINGERPRINT_SIZE];
    unsigned port = world.server->port;
    memcpy(other, tls.fingerprint, sizeof other);
    other[63] = other[63] == '0' ? '1' : '0';

    snprintf(address, sizeof address, "%s", world.address);
    for (int i = 0; i < 10; i++) {
        prepare(&request, address, "POST", i % 2 ? "/echo" : "/later");
        set_body(&request, "hello", 5);
        expect(&request, 200, "hello");
    }
    assert_int_equal(forwarder_count(world.forwarder).connected, 1);
    for (char *at = strchr(address, '#'); *at; at++)
        if (*at >= 'a' && *at <= 'f') *at = (char)(*at - 'a' + 'A');
    prepare(&request, address, "GET", "/size?bytes=1");
    expect(&request, 200, "y");

    snprintf(address, sizeof address, "https://127.0.0.1:%u#%s", port, other);
    prepare(&request, address, "GET", "/size?bytes=1");
    expect_failure(&request, false, "the certificate has another fingerprint");
    snprintf(address, sizeof address, "https://localhost:%u", port); /* signed by itself: the system trusts others */
    prepare(&request, address, "GET", "/size?bytes=1");
    expect_failure(&request, false, "The certificate is NOT trusted");
    snprintf(address, sizeof address, "http://127.0.0.1:%u", port); /* the server expects TLS */
    prepare(&request, address, "GET", "/size?bytes=1");
    expect_failure(&request, true, "");
}

TEST_WITH(long_bodies_come_whole_with_tls, start_tls, stop_tls)
{
    check_long_bodies();
}

TEST_WITH(a_peer_without_tls, start, stop)
{
    char address[64];
    snprintf(address, sizeof address, "https://127.0.0.1:%u", world.server->port);
    ask_in_vain(address, "GET", "/size?bytes=1", false, "the TLS handshake failed");
}

TEST_WITH(fingerprints_of_files, start_tls, stop_tls)
{
    char hex[FINGERPRINT_SIZE];
    ee_error error;
    assert_int_equal(strlen(tls.fingerprint), 64);
    assert_int_equal(strspn(tls.fingerprint, "0123456789abcdef"), 64);
    assert_int_equal(certificate_fingerprint(tls.key, hex, &error), EE_BAD_INPUT);
    assert_non_null(strstr(error.message, "peer.key is not a certificate in PEM"));
    assert_int_equal(certificate_fingerprint("nowhere", hex, &error), EE_FILE_ERROR);
}

/* ---- stopping ---- */

typedef struct restless {
    asked asked;
    forwarder *forwarder;
    bool could_send;
} restless;

static void send_again(forward_request *of)
{
    restless *self = of->context;
    self->could_send = forwarder_send(self->forwarder, of);
    if (!self->could_send) latch_count_down(self->asked.latch);
}

TEST(stopping_ends_all_requests)
{
    asked requests[10];
    restless busy = {.could_send = true};
    latch ended, busy_ended;
    start_world(&(forwarder_options){.most_connections_each = 4}, NULL);
    send_to_never(requests, 10, 4, &ended);
    char other[64];
    snprintf(other, sizeof other, "http://localhost:%u", world.server->port); /* another pool */
    latch_start(&busy_ended, 1);
    prepare(&busy.asked, other, "GET", "/size?bytes=1");
    busy.forwarder = world.forwarder;
    busy.asked.latch = &busy_ended;
    busy.asked.request.done = send_again; /* as long as it can */
    busy.asked.request.context = &busy;
    assert_true(forwarder_send(world.forwarder, &busy.asked.request));
    forwarder_stop(world.forwarder);
    latch_wait(&busy_ended);
    latch_wait(&ended);
    size_t sent = 0;
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(requests[i].request.status, 0);
        assert_non_null(strstr(requests[i].request.error.message, "this server is stopping"));
        if (requests[i].request.sent) sent++;
        free(requests[i].response);
    }
    assert_int_equal(sent, 4);
    echo_stop(world.server);
}

TEST(stopping_at_once)
{
    forwarder *made;
    forwarder_stop(NULL);
    ok(forwarder_start(NULL, &made, NULL));
    forwarder_stop(made);
}
