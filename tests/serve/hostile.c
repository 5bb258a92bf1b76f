/* hostile EENET: a client that does everything wrong, on purpose and at random. After each kind of
 * attack a good request must be answered at once, and in the end no connection and no request may be left over.
 *
 * First against a little server in this process, where a sanitizer sees all, then against the real one, which must end
 * well afterwards. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/random.h"
#include "http_client.h"
#include "server_process.h"
#include "support_http.h"

/* Whom it is against. */
typedef struct victim {
    const char *name;
    uint16_t port;
    const char *good;        /* a request that is answered with 200 */
    const char *post;        /* the path of a POST that takes a body */
    echo_server *echo;       /* NULL: not in this process */
    server_process *process; /* NULL: in this process */
    random_stream random;
} victim;

__attribute__((noreturn)) static void give_up(const victim *self, const char *attack, const char *what)
{
    fprintf(stderr, "hostile: %s, %s: %s\n", self->name, attack, what);
    if (self->process) server_process_fail(self->process, "%s", what);
    exit(1);
}

static int join(const victim *self, const char *attack)
{
    int client = raw_connect(self->port);
    if (client < 0) give_up(self, attack, "no connection");
    return client;
}

/* Sends what the socket takes without waiting; false where it takes no more, or is gone. */
static bool push(int client, const char *bytes, size_t size)
{
    while (size) {
        ssize_t sent = send(client, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0) return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

static bool push_text(int client, const char *words)
{
    return push(client, words, strlen(words));
}

static void leave(victim *self, int client)
{
    if (random_below(&self->random, 2))
        raw_reset(client);
    else
        raw_close(client);
}

/* The status of the answer, 0 where the connection ends without one. */
static int status_of(int client, bool is_head)
{
    http_reply reply;
    bool is_there = raw_read(client, &reply, is_head);
    free(reply.body);
    return is_there || reply.status >= 400 ? reply.status : 0;
}

static int ask(const victim *self, const char *attack, const char *request, size_t size)
{
    int client = join(self, attack);
    push(client, request, size);
    shutdown(client, SHUT_WR);
    int status = status_of(client, size > 5 && memcmp(request, "HEAD ", 5) == 0);
    raw_close(client);
    return status;
}

/* ---- the attacks ---- */

static void half_requests(victim *self)
{
    char request[512];
    size_t length = (size_t)snprintf(request, sizeof request,
                                     "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                     "Content-Length: 100\r\n\r\n{\"actions\": [[1, 2]",
                                     self->post);
    for (size_t size = 0; size <= length; size += 3) {
        int client = join(self, "half requests");
        push(client, request, size);
        leave(self, client);
    }
}

static void huge_headers(victim *self)
{
    enum { SIZE = 1 << 20 };
    static const char *const heads[] = {"GET /",
                                        "GET / HTTP/1.1\r\nHost: ",
                                        "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ",
                                        "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ",
                                        "",
                                        "\r\n"};
    static const char *const fillings[] = {"x", "a: b\r\n", "\r\n", " ", "%", "9"};
    char *bytes = malloc(SIZE);
    if (!bytes) abort();
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        for (size_t j = 0; j < sizeof fillings / sizeof *fillings; j++) {
            size_t length = strlen(fillings[j]);
            for (size_t k = 0; k < SIZE; k++) bytes[k] = fillings[j][k % length];
            int client = join(self, "huge headers");
            push_text(client, heads[i]);
            push(client, bytes, SIZE);
            leave(self, client);
        }
    }
    free(bytes);
}

static void wrong_lengths(victim *self)
{
    static const char *const rest[] = {
        "Content-Length: 99999999999999999999999999\r\n\r\nx",
        "Content-Length: -5\r\n\r\nhello",
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: identity\r\n\r\nhello",
        "Content-Length: 0x10\r\n\r\nhello",
        "Content-Length: 5 5\r\n\r\nhello",
        "Content-Length:\r\n\r\nhello",
        "Content-Length: 1\r\n\r\n{POST / HTTP/1.1\r\n\r\n",
        "Content-Length: 4294967296\r\n\r\n{}",
        "Content-Length : 2\r\n\r\n{}",
    };
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
        char request[512];
        int length =
            snprintf(request, sizeof request, "POST %s HTTP/1.1\r\nHost: localhost\r\n%s", self->post, rest[i]);
        int status = ask(self, "wrong lengths", request, (size_t)length);
        bool echoes = self->echo && status == 200; /* which takes any body */
        if (status >= 500 || (status && status < 400 && !echoes)) give_up(self, "wrong lengths", rest[i]);
    }
}

static void chunk_bombs(victim *self)
{
    static const char *const chunks[] = {"FFFFFFFFFFFFFFFF\r\nx",
                                         "FFFFFFFFFFFFFFFFF\r\nx",
                                         "-1\r\nx",
                                         "1\r\nxx\r\n",
                                         "1;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\nx\r\n",
                                         "\r\n",
                                         "1\r\nx\r\n",
                                         "7fffffff\r\nx",
                                         "0\r\nTrailer: x\r\n",
                                         "0x1\r\nx\r\n",
                                         "1000\r\n"};
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        char head[256];
        int client = join(self, "chunk bombs");
        snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
                 self->post);
        push_text(client, head);
        for (int k = 0; k < 20000 && push_text(client, chunks[i]); k++) continue;
        leave(self, client);
    }
}

/* Requests without an end, whose answers nobody reads. */
static void floods(victim *self)
{
    enum { CLIENTS = 8 };
    int clients[CLIENTS];
    for (size_t i = 0; i < CLIENTS; i++) clients[i] = join(self, "floods");
    for (int turns = 0; turns < 5000; turns++)
        for (size_t i = 0; i < CLIENTS; i++) push_text(clients[i], self->good);
    for (size_t i = 0; i < CLIENTS; i++) leave(self, clients[i]);
}

static void vanishing(victim *self)
{
    for (int i = 0; i < 300; i++) {
        int client = join(self, "vanishing");
        for (uint64_t k = random_below(&self->random, 4); k < 4; k++) push_text(client, self->good);
        raw_reset(client);
    }
}

static void random_bytes(victim *self)
{
    enum { SIZE = 4096 };
    static const char *const heads[] = {
        "", "GET ", "POST /", "GET / HTTP/1.1\r\n", "\x16\x03\x01\x02", "PRI * HTTP/2.0\r\n\r\n"};
    char bytes[SIZE];
    for (int i = 0; i < 300; i++) {
        size_t size = random_below(&self->random, SIZE);
        for (size_t k = 0; k < size; k++) bytes[k] = (char)random_bits(&self->random);
        int client = join(self, "random bytes");
        push_text(client, heads[random_below(&self->random, sizeof heads / sizeof *heads)]);
        push(client, bytes, size);
        leave(self, client);
    }
}

/* A good request in which some bytes are others. */
static void changed_bytes(victim *self)
{
    char request[600];
    size_t length = (size_t)snprintf(request, sizeof request,
                                     "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                     "Transfer-Encoding: chunked\r\n\r\n14\r\n{\"actions\":[[1,2]]}\n\r\n0\r\n\r\n",
                                     self->post);
    for (int i = 0; i < 500; i++) {
        char changed[sizeof request];
        memcpy(changed, request, length);
        for (uint64_t k = random_below(&self->random, 4); k < 4; k++)
            changed[random_below(&self->random, length)] = (char)random_bits(&self->random);
        int status = ask(self, "changed bytes", changed, length);
        if (status >= 500 && status != 505 && status != 501) give_up(self, "changed bytes", changed);
    }
}

static void strange_paths(victim *self)
{
    static const char *const paths[] = {
        "*",
        "//",
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/v1/bandits/%00",
        "/%",
        "/%zz",
        "/v1//",
        "/v1/bandits/../bandits",
        "http://x",
        "http://",
        "?",
        "/?x=%00",
        "/\\..\\",
        "/v1/bandits/%2F/decide",
        "/v1/bandits/%c0%ae/decide",
        "x",
        "/v1/bandits/a;b",
        "/#",
        "/v1/bandits/%ff%fe",
        "https://x/v1/%2e/",
        "/v1/bandits/.",
        "/\x01",
        "/\xff",
        "/v1/bandits/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    static const char *const methods[] = {
        "GET",     "POST",  "HEAD", "DELETE", "OPTIONS",
        "CONNECT", "TRACE", "get",  "G E T",  "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        for (size_t j = 0; j < sizeof methods / sizeof *methods; j++) {
            char request[512];
            int length =
                snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: localhost\r\n\r\n", methods[j], paths[i]);
            int status = ask(self, "strange paths", request, (size_t)length);
            if (status >= 500 && status != 505) give_up(self, "strange paths", request);
        }
    }
}

/* As many as one may have, each with a request, and all the answers. */
static void thousand_at_once(victim *self)
{
    enum { CLIENTS = 1000 };
    static int clients[CLIENTS];
    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = join(self, "a thousand at once");
        push_text(clients[i], self->good);
    }
    for (size_t i = 0; i < CLIENTS; i++)
        if (status_of(clients[i], false) != 200) give_up(self, "a thousand at once", "one was not answered");
    for (size_t i = 0; i < CLIENTS; i++) leave(self, clients[i]);
}

/* ---- and those that take their time ---- */

enum { DAWDLERS = 40 };

static void start_dawdling(const victim *self, int clients[DAWDLERS])
{
    for (size_t i = 0; i < DAWDLERS; i++) {
        char head[256] = "";
        clients[i] = join(self, "dawdling");
        if (i % 3 == 1) snprintf(head, sizeof head, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ");
        if (i % 3 == 2)
            snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n",
                     self->post);
        push_text(clients[i], head);
    }
}

/* A byte of each; whether all were cut. */
static bool dawdle(int clients[DAWDLERS])
{
    bool all_cut = true;
    for (size_t i = 0; i < DAWDLERS; i++) {
        char byte;
        if (clients[i] < 0) continue;
        push(clients[i], "x", 1);
        if (recv(clients[i], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN) {
            all_cut = false;
            continue;
        }
        raw_close(clients[i]);
        clients[i] = -1;
    }
    return all_cut;
}

static bool are_cut(void *context)
{
    static int turns;
    return turns++ % 50 == 0 && dawdle(context); /* slowly: a byte in 50 milliseconds */
}

/* ---- what must hold all the time ---- */

static void expect_good(victim *self, const char *attack)
{
    int client = join(self, attack);
    push_text(client, self->good);
    int status = status_of(client, false);
    raw_close(client);
    if (status != 200) give_up(self, attack, "a good request is not answered any more");
}

/* The one that asks is itself among them. */
static bool is_all_over(void *context)
{
    const victim *self = context;
    if (self->echo) return !echo_open(self->echo) && !echo_connections(self->echo);
    http_client client = http_client_start(self->port);
    bool over = server_process_metric(self->process, &client, "eenet_connections") <= 1 &&
                server_process_metric(self->process, &client, "eenet_open_requests") <= 1;
    http_client_end(&client);
    return over;
}

static void attack(victim *self)
{
    static const struct {
        const char *name;
        void (*run)(victim *self);
    } attacks[] = {{"half requests", half_requests},
                   {"huge headers", huge_headers},
                   {"wrong lengths", wrong_lengths},
                   {"chunk bombs", chunk_bombs},
                   {"floods", floods},
                   {"vanishing", vanishing},
                   {"random bytes", random_bytes},
                   {"changed bytes", changed_bytes},
                   {"strange paths", strange_paths},
                   {"a thousand at once", thousand_at_once}};
    int dawdlers[DAWDLERS];
    self->random = random_named(1, self->name);
    start_dawdling(self, dawdlers);
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        dawdle(dawdlers);
        attacks[i].run(self);
        expect_good(self, attacks[i].name);
        printf("%s: %s\n", self->name, attacks[i].name);
    }
    server_process nobody = {0};
    await(self->process ? self->process : &nobody, are_cut, dawdlers, "slow clients to be cut");
    await(self->process ? self->process : &nobody, is_all_over, self, "connections and requests to end");
    expect_good(self, "the end");
    printf("%s: nothing is left over\n", self->name);
}

/* ---- the victims ---- */

static const char *const live = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";

static void attack_echo(void)
{
    http_options options = echo_options();
    options.idle_seconds = 1;
    echo_server *server = echo_start(&options);
    victim self = {.name = "a little server",
                   .port = echo_port(server),
                   .good = "POST /later HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
                   .post = "/echo",
                   .echo = server};
    attack(&self);
    echo_stop(server);
}

static void attack_eenet(const char *program)
{
    server_process process = {.program = program, .folder = "data", .words = {"--idle-seconds", "1"}};
    server_process_start(&process);
    http_client client = http_client_start(process.port);
    if (http_client_ask(&client, "POST", "/v1/bandits", "{\"name\":\"shop\",\"dim\":2}") != 201)
        server_process_fail(&process, "no bandit: %s", client.answer);
    http_client_end(&client);
    victim self = {.name = "eenet serve",
                   .port = process.port,
                   .good = live,
                   .post = "/v1/bandits/shop/decide",
                   .process = &process};
    attack(&self);
    int status = server_process_end(&process, SIGTERM);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) give_up(&self, "the end", "the server did not end well");
}

int main(int count, char **words)
{
    if (count != 2) {
        fprintf(stderr, "usage: hostile EENET\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    attack_echo();
    attack_eenet(words[1]);
    return 0;
}
