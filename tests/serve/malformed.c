/* malformed EENET: sends requests that are not valid HTTP/1.1 to the real server, plain and through TLS. Each is
 * followed by a valid request, as an attacker would hide one. There must be exactly one response, with the expected
 * status and our JSON, and the server must close the connection. Then requests that are unusual but valid must all be
 * answered. */
#define _GNU_SOURCE /* memmem */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "http_client.h"
#include "server_process.h"
#include "support_http.h"
#include "support_tls.h"

typedef struct request_case {
    int status;
    const char *bytes;
    size_t size;
} request_case;

#define CASE(status, bytes)                                                                                            \
    {                                                                                                                  \
        status, bytes, sizeof(bytes) - 1                                                                               \
    }
#define START "POST /v1/bandits/shop/decide HTTP/1.1\r\nHost: localhost\r\n"
#define BODY "{\"actions\":[[1,2],[3,4]]}"
#define LENGTH "Content-Length: 25\r\n"
#define DECIDE START LENGTH "\r\n" BODY
#define CHUNKED START "Transfer-Encoding: chunked\r\n\r\n"
#define LIVE "GET /livez HTTP/1.1\r\nHost: localhost\r\n"
#define TEN(x) x x x x x x x x x x

static const request_case malformed[] = {
    /* names of headers */
    CASE(400, START "Content-Length : 25\r\n\r\n" BODY),
    CASE(400, START "Content-Length\t: 25\r\n\r\n" BODY),
    CASE(400, START "Content-Length  : 25\r\n\r\n" BODY),
    CASE(400, START "Transfer-Encoding : chunked\r\n" LENGTH "\r\n" BODY),
    CASE(400, START "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
    CASE(400, START " Content-Length: 25\r\n\r\n" BODY),
    CASE(400, START "\tContent-Length: 25\r\n\r\n" BODY),
    CASE(400, START "Content-Length\r\n\r\n" BODY),
    CASE(400, START "Content Length: 25\r\n\r\n" BODY),
    CASE(400, START "Content\0-Length: 25\r\n\r\n" BODY),
    CASE(400, START "\0Content-Length: 25\r\n\r\n" BODY),
    CASE(400, START "Content-Length\xa0: 25\r\n\r\n" BODY),
    CASE(400, LIVE ": no name\r\n\r\n"),
    CASE(400, LIVE "X-A\r\n\r\n"),
    CASE(400, LIVE "X(A): b\r\n\r\n"),
    CASE(400, LIVE "X\"A: b\r\n\r\n"),
    CASE(400, LIVE "X,A: b\r\n\r\n"),
    CASE(400, LIVE "X/A: b\r\n\r\n"),
    CASE(400, LIVE "X[A]: b\r\n\r\n"),
    CASE(400, LIVE "X@A: b\r\n\r\n"),
    CASE(400, LIVE "X\x7f: b\r\n\r\n"),
    CASE(400, LIVE "\xc3\xa4: b\r\n\r\n"),
    /* values of headers */
    CASE(400, LIVE "X-A: b\0c\r\n\r\n"),
    CASE(400, LIVE "X-A: \0\r\n\r\n"),
    CASE(400, LIVE "X-A: b\x01\r\n\r\n"),
    CASE(400, LIVE "X-A: b\x08\r\n\r\n"),
    CASE(400, LIVE "X-A: b\x0b\r\n\r\n"),
    CASE(400, LIVE "X-A: b\x0c\r\n\r\n"),
    CASE(400, LIVE "X-A: b\x1b[2J\r\n\r\n"),
    CASE(400, LIVE "X-A: b\x7f\r\n\r\n"),
    CASE(400, LIVE "X-A: b\r\n c\r\n\r\n"),
    CASE(400, LIVE "X-A: b\r\n\tc\r\n\r\n"),
    CASE(400, LIVE "X-A:\r\n chunked\r\n\r\n"),
    CASE(400, START "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"),
    CASE(400, START "Content-Length:\r\n 25\r\n\r\n" BODY),
    /* line ends */
    CASE(400, "GET /livez HTTP/1.1\nHost: localhost\n\n"),
    CASE(400, "GET /livez HTTP/1.1\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1\r\nHost: localhost\n\r\n"),
    CASE(400, LIVE "\n"),
    CASE(400, LIVE "X-A: b\n\r\n"),
    CASE(400, LIVE "X-A: b\nContent-Length: 25\r\n\r\n"),
    CASE(400, LIVE "X-A: b\r\r\n\r\n"),
    CASE(400, LIVE "X-A: b\rX-C: d\r\n\r\n"),
    CASE(400, LIVE "\r\r\n"),
    CASE(400, LIVE "X-A: b\n\n"),
    CASE(400, START LENGTH "\n" BODY),
    CASE(400, "\n" LIVE "\r\n"),
    CASE(400, "\r" LIVE "\r\n"),
    CASE(400, "\r\n\r\n" LIVE "\r\n"),
    /* Content-Length */
    CASE(400, START LENGTH "Content-Length: 25\r\n\r\n" BODY),
    CASE(400, START LENGTH "Content-Length: 5\r\n\r\n" BODY),
    CASE(400, START LENGTH "content-length: 0\r\n\r\n" BODY),
    CASE(400, START "Content-Length: 25, 25\r\n\r\n" BODY),
    CASE(400, START "Content-Length: 25,5\r\n\r\n" BODY),
    CASE(400, START "Content-Length: +25\r\n\r\n" BODY),
    CASE(400, START "Content-Length: -25\r\n\r\n" BODY),
    CASE(400, START "Content-Length: 0x19\r\n\r\n" BODY),
    CASE(400, START "Content-Length: 25.0\r\n\r\n" BODY),
    CASE(400, START "Content-Length: 2 5\r\n\r\n" BODY),
    CASE(400, START "Content-Length: 25;\r\n\r\n" BODY),
    CASE(400, START "Content-Length: \"25\"\r\n\r\n" BODY),
    CASE(400, START "Content-Length: 1e1\r\n\r\n" BODY),
    CASE(400, START "Content-Length: 25x\r\n\r\n" BODY),
    CASE(400, START "Content-Length:\r\n\r\n" BODY),
    CASE(400, START "Content-Length: \xd9\xa5\r\n\r\n" BODY),
    CASE(400, START "Content-Length: 25\0\r\n\r\n" BODY),
    CASE(413, START "Content-Length: 18446744073709551641\r\n\r\n" BODY),
    CASE(413, START "Content-Length: 9223372036854775808\r\n\r\n" BODY),
    CASE(413, START "Content-Length: 99999999999999999999999999999999\r\n\r\n" BODY),
    CASE(413, START "Content-Length: 999999999999999999\r\n\r\n" BODY),
    /* Transfer-Encoding */
    CASE(400, START LENGTH "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    CASE(400, START "Transfer-Encoding: chunked\r\n" LENGTH "\r\n0\r\n\r\n"),
    CASE(400, START "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n"),
    CASE(400, START "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    CASE(400, START "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
    CASE(400, START "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
    CASE(400, START "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    CASE(400, START "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
    CASE(400, START "Transfer-Encoding: identity\r\n\r\n" BODY),
    CASE(400, START "Transfer-Encoding: gzip\r\n\r\n" BODY),
    CASE(400, START "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    CASE(400, START "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n"),
    CASE(400, START "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"),
    CASE(400, START "Transfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n"),
    CASE(400, START "Transfer-Encoding: \x0b"
                    "chunked\r\n\r\n0\r\n\r\n"),
    CASE(400, START "Transfer-Encoding:\r\n\r\n0\r\n\r\n"),
    CASE(400,
         "POST /v1/bandits/shop/decide HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    CASE(400, "POST /v1/bandits/shop/decide HTTP/1.0\r\nConnection: keep-alive\r\n" LENGTH
              "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    /* chunks */
    CASE(400, CHUNKED "x\r\n"),
    CASE(400, CHUNKED "\r\n0\r\n\r\n"),
    CASE(400, CHUNKED "-1\r\n" BODY),
    CASE(400, CHUNKED "+19\r\n" BODY),
    CASE(400, CHUNKED "0x19\r\n" BODY "\r\n0\r\n\r\n"),
    CASE(400, CHUNKED " 19\r\n" BODY "\r\n0\r\n\r\n"),
    CASE(400, CHUNKED "19 \r\n" BODY "\r\n0\r\n\r\n"),
    CASE(400, CHUNKED "19\n" BODY "\r\n0\r\n\r\n"),
    CASE(400, CHUNKED "19\r" BODY "\r\n0\r\n\r\n"),
    CASE(400, CHUNKED "19\r\n" BODY "\n0\r\n\r\n"),
    CASE(400, CHUNKED "19\r\n" BODY "0\r\n\r\n"),
    CASE(400, CHUNKED "18\r\n" BODY "\r\n0\r\n\r\n"),
    CASE(400, CHUNKED "1a\r\n" BODY "\r\n0\r\n\r\n"),
    CASE(400, CHUNKED "19\r\n" BODY "\r\n0\r\n\n"),
    CASE(400, CHUNKED "19\r\n" BODY "\r\n0\n\r\n"),
    CASE(400, CHUNKED "19;a\nb\r\n" BODY "\r\n0\r\n\r\n"),
    CASE(400, CHUNKED "19;a\0b\r\n" BODY "\r\n0\r\n\r\n"),
    CASE(400, CHUNKED "FFFFFFFFFFFFFFFFF\r\n" BODY),
    CASE(400, CHUNKED "10000000000000019\r\n" BODY "\r\n0\r\n\r\n"),
    CASE(400, CHUNKED "1_9\r\n" BODY "\r\n0\r\n\r\n"),
    CASE(400, CHUNKED "19,19\r\n" BODY "\r\n0\r\n\r\n"),
    CASE(400, CHUNKED "19\r\n" BODY "\r\n0\r\nno trailer\r\n\r\n"),
    CASE(400, CHUNKED "19\r\n" BODY "\r\n0\r\n: x\r\n\r\n"),
    CASE(400, CHUNKED "19\r\n" BODY "\r\n0\r\nX : y\r\n\r\n"),
    CASE(400, CHUNKED "19\r\n" BODY "\r\n0\r\nX: y\n\r\n"),
    CASE(400, CHUNKED "19\r\n" BODY "\r\n0\r\nX: y\r\n z\r\n\r\n"),
    CASE(400, CHUNKED "19\r\n" BODY "\r\n0\r\nX: \0\r\n\r\n"),
    CASE(413, CHUNKED "FFFFFFF\r\n" BODY),
    /* Host */
    CASE(400, "GET /livez HTTP/1.1\r\n\r\n"),
    CASE(400, LIVE "Host: localhost\r\n\r\n"),
    CASE(400, LIVE "host: other\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.0\r\nHost: localhost\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1\r\nHost: local host\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1\r\nHost: localhost, other\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1\r\nHost: localhost/x\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1\r\nHost: user@localhost\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1\r\nHost: http://localhost\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1\r\nHost: localhost:80x\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1\r\nHost: localhost:80:80\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1\r\nHost: [::1\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1\r\nHost: [localhost]\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1\r\nHost: ::1\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1\r\nHost: l\xc3\xb6"
              "calhost\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1\r\nHost : localhost\r\n\r\n"),
    /* the request line */
    CASE(400, "GET /livez\r\n"),
    CASE(400, "GET /livez\r\n\r\n"),
    CASE(400, "GET\r\n\r\n"),
    CASE(400, "/livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, " GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET  /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez  HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1 \r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET\t/livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez\tHTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /li vez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.1 x\r\nHost: localhost\r\n\r\n"),
    CASE(400, "G@T /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "G\0T /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET: /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez\0 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /liv\xc3\xa9z HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez\x7f HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez#x HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET ?x HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET * HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET ftp://localhost/livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET http://other/livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET http://user@localhost/livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET http:///livez HTTP/1.1\r\nHost:\r\n\r\n"),
    CASE(400, "GET http://localhost/livez HTTP/1.0\r\n\r\n"),
    CASE(400, "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n"),
    CASE(400, "GET localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n"),
    /* versions */
    CASE(505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    CASE(505, "GET /livez HTTP/2.0\r\nHost: localhost\r\n\r\n"),
    CASE(505, "GET /livez HTTP/1.2\r\nHost: localhost\r\n\r\n"),
    CASE(505, "GET /livez HTTP/0.9\r\nHost: localhost\r\n\r\n"),
    CASE(505, "GET /livez HTTP/3.0\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez HTTP/11\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1.10\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez HTTP/01.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez HTTP/1,1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez http/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez HTTP/+1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez HTTP\r\nHost: localhost\r\n\r\n"),
    CASE(400, "GET /livez XTTP/1.1\r\nHost: localhost\r\n\r\n"),
    /* expectations and amounts */
    CASE(417, START "Expect: 200-ok\r\n" LENGTH "\r\n" BODY),
    CASE(417, START "Expect:\r\n" LENGTH "\r\n" BODY),
    CASE(431, LIVE TEN(TEN("A: b\r\n")) "\r\n"),
    /* not HTTP */
    CASE(400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    CASE(400, "\0\0\0\0"),
    CASE(400, "SSH-2.0-OpenSSH_9.2\r\n"),
    CASE(400, "EHLO localhost\r\n"),
    CASE(400, "*1\r\n$4\r\nPING\r\n"),
    CASE(400, "{\"actions\":[[1,2]]}\r\n"),
};

/* Too long: the first part, then LONG bytes, then the last part. */
enum { LONG = 10000 };
static const struct {
    int status;
    const char *first, *last;
} too_long[] = {
    {431, LIVE "X: ", "\r\n\r\n"},
    {431, LIVE, ": x\r\n\r\n"},
    {414, "GET /", " HTTP/1.1\r\nHost: localhost\r\n\r\n"},
    {414, "", " / HTTP/1.1\r\nHost: localhost\r\n\r\n"},
    {414, "GET /", ""}, /* and no more */
};

/* Each is answered with its status, and so is the request after it. */
static const request_case valid[] = {
    CASE(200, DECIDE),
    CASE(200, LIVE "\r\n"),
    CASE(200, "\r\n" LIVE "\r\n"),
    CASE(200, "GET /livez HTTP/1.1\r\nhost:localhost\r\n\r\n"),
    CASE(200, "GET /livez HTTP/1.1\r\nHOST: \t localhost \t \r\n\r\n"),
    CASE(200, "GET /livez HTTP/1.1\r\nHost: LOCALHOST:8080\r\n\r\n"),
    CASE(200, "GET /livez HTTP/1.1\r\nHost: localhost:\r\n\r\n"),
    CASE(200, "GET /livez HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n"),
    CASE(200, "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
    CASE(200, "GET http://localhost/livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(200, "GET HTTPS://LocalHost:80/livez HTTP/1.1\r\nHost: localhost:80\r\n\r\n"),
    CASE(200, "GET http://localhost?x HTTP/1.1\r\nHost: localhost\r\nAccept: x\r\n\r\n"),
    CASE(200, "GET /livez? HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(200, LIVE "X-Empty:\r\nX-Blank: \t \r\n\r\n"),
    CASE(200, LIVE "X-Text: \xc3\xa4\xff\tb \"c\" (d) \\e\r\n\r\n"),
    CASE(200, LIVE "!#$%&'*+-.^_`|~09azAZ: odd name\r\n\r\n"),
    CASE(200, LIVE "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"),
    CASE(200, LIVE "Connection: keep-alive\r\n\r\n"),
    CASE(200, LIVE "Content-Length: 0\r\n\r\n"),
    CASE(200, LIVE "TE: trailers, deflate\r\n\r\n"),
    CASE(200, LIVE TEN("A: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\n") "\r\n"),
    CASE(200, "GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
    CASE(200, "GET /livez HTTP/1.0\r\nHost: localhost\r\nConnection: Keep-Alive\r\n\r\n"),
    CASE(200, START "Content-Length: 00000000000000000000025\r\n\r\n" BODY),
    CASE(200, START "Content-Length:25\r\n\r\n" BODY),
    CASE(200, START "CONTENT-LENGTH: \t25\t \r\n\r\n" BODY),
    CASE(200, START "Expect: 100-Continue\r\n" LENGTH "\r\n" BODY),
    CASE(200, START "Transfer-Encoding: Chunked\r\n\r\n19\r\n" BODY "\r\n0\r\n\r\n"),
    CASE(200, CHUNKED "19\r\n" BODY "\r\n0\r\n\r\n"),
    CASE(200, CHUNKED "00019\r\n" BODY "\r\n000\r\n\r\n"),
    CASE(200, CHUNKED "C\r\n{\"actions\":[\r\nd\r\n[1,2],[3,4]]}\r\n0\r\n\r\n"),
    CASE(200, CHUNKED "19;a=b;c=\"d e\"\r\n" BODY "\r\n0;last\r\n\r\n"),
    CASE(200, CHUNKED "19\r\n" BODY "\r\n0\r\nX-Sum: 1\r\nContent-Length: 999\r\n\r\n"),
    CASE(404, "BREW /pot HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(405, "get /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(400, "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(404, "GET /a|b{c}%7e HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    CASE(404, "POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 52\r\n\r\n"
              "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nGET /livez H"),
};

/* ---- a connection, plain or through TLS ---- */

typedef struct peer {
    bool is_tls;
    int socket;
    tls_client tls;
} peer;

static void fail_at(server_process *process, const peer *with, const request_case *of, const char *what,
                    const char *got)
{
    fprintf(stderr, "malformed%s: %s\nrequest: ", with->is_tls ? " (TLS)" : "", what);
    for (size_t i = 0; i < of->size && i < 300; i++)
        fprintf(stderr, of->bytes[i] >= ' ' && of->bytes[i] < 127 ? "%c" : "\\x%02x", (unsigned char)of->bytes[i]);
    fprintf(stderr, "\nexpected %d, got: %s\n", of->status, got);
    server_process_fail(process, "malformed");
}

static bool peer_open(peer *self, uint16_t port, bool is_tls)
{
    self->is_tls = is_tls;
    if (is_tls) return tls_connect(&self->tls, port, "NORMAL");
    self->socket = raw_connect(port);
    return self->socket >= 0;
}

static void peer_send(peer *self, const char *bytes, size_t size)
{
    if (self->is_tls)
        tls_send(&self->tls, bytes, size);
    else
        raw_send(self->socket, bytes, size); /* which may be cut: the server has seen enough */
}

/* Reads until the server closes, or until the text `last` has come if it is not NULL. false: it does neither. */
static bool peer_read(peer *self, char *bytes, size_t capacity, const char *last)
{
    size_t length = 0;
    for (;;) {
        long got = self->is_tls ? tls_read(&self->tls, bytes + length, capacity - 1 - length)
                                : (long)recv(self->socket, bytes + length, capacity - 1 - length, 0);
        if (got > 0) length += (size_t)got;
        bytes[length] = '\0';
        if (last && strstr(bytes, last)) return true;
        if (got == 0) return !last;
        if (got < 0 || length + 1 >= capacity) return false;
    }
}

static void peer_close(peer *self)
{
    if (self->is_tls)
        tls_close(&self->tls);
    else
        raw_close(self->socket);
}

/* ---- the two tables ---- */

static size_t count_responses(const char *bytes)
{
    size_t count = 0;
    for (const char *at = bytes; (at = strstr(at, "HTTP/1.1 ")); at++)
        count += strncmp(at, "HTTP/1.1 100", 12) != 0 && (at == bytes || at[-1] == '\n');
    return count;
}

static int status_of(const char *bytes)
{
    const char *go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    if (strncmp(bytes, go_on, strlen(go_on)) == 0) bytes += strlen(go_on);
    return strncmp(bytes, "HTTP/1.1 ", 9) == 0 ? atoi(bytes + 9) : 0;
}

static void expect_refusal(server_process *process, bool is_tls, const request_case *of)
{
    static const char *const parts[] = {"\r\nConnection: close\r\n", "\r\nContent-Type: application/json\r\n",
                                        "\r\nX-Request-Id: ", "\r\n\r\n{\"error\":{\"code\":\"", "\"}}\n"};
    char got[65536];
    peer with;
    if (!peer_open(&with, process->port, is_tls)) fail_at(process, &with, of, "no connection", "");
    peer_send(&with, of->bytes, of->size);
    peer_send(&with, DECIDE, sizeof DECIDE - 1);
    if (!peer_read(&with, got, sizeof got, NULL)) fail_at(process, &with, of, "the connection stays open", got);
    if (status_of(got) != of->status) fail_at(process, &with, of, "wrong status", got);
    if (count_responses(got) != 1) fail_at(process, &with, of, "more than one response", got);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(got, parts[i])) fail_at(process, &with, of, parts[i], got);
    peer_close(&with);
}

static void expect_answer(server_process *process, bool is_tls, const request_case *of)
{
    static const char last[] = "GET /v1/bandits/last HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char got[65536];
    peer with;
    if (!peer_open(&with, process->port, is_tls)) fail_at(process, &with, of, "no connection", "");
    peer_send(&with, of->bytes, of->size);
    peer_send(&with, last, sizeof last - 1);
    if (!peer_read(&with, got, sizeof got, "there is no bandit 'last'"))
        fail_at(process, &with, of, "the next request is not answered", got);
    if (status_of(got) != of->status) fail_at(process, &with, of, "wrong status", got);
    if (count_responses(got) != 2) fail_at(process, &with, of, "not two responses", got);
    peer_close(&with);
}

static void expect_length_refusals(server_process *process, bool is_tls)
{
    for (size_t i = 0; i < sizeof too_long / sizeof *too_long; i++) {
        char bytes[LONG + 256];
        size_t first = strlen(too_long[i].first), last = strlen(too_long[i].last);
        memcpy(bytes, too_long[i].first, first);
        memset(bytes + first, 'x', LONG);
        memcpy(bytes + first + LONG, too_long[i].last, last);
        expect_refusal(process, is_tls, &(request_case){too_long[i].status, bytes, first + LONG + last});
    }
}

/* ---- the server ---- */

static void create_bandit(server_process *process, bool is_tls)
{
    static const request_case create = CASE(
        201, "POST /v1/bandits HTTP/1.1\r\nHost: localhost\r\nContent-Length: 23\r\n\r\n{\"name\":\"shop\",\"dim\":2}");
    char got[8192];
    peer with;
    if (!peer_open(&with, process->port, is_tls)) fail_at(process, &with, &create, "no connection", "");
    peer_send(&with, create.bytes, create.size);
    if (!peer_read(&with, got, sizeof got, "}\n") || status_of(got) != 201)
        fail_at(process, &with, &create, "no bandit", got);
    peer_close(&with);
}

/* The value of a metric, read through the same kind of connection. */
static double metric(server_process *process, bool is_tls, const char *name)
{
    static const request_case ask = CASE(200, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    static char got[1 << 20];
    char line[64];
    peer with;
    if (!peer_open(&with, process->port, is_tls)) fail_at(process, &with, &ask, "no connection", "");
    peer_send(&with, ask.bytes, ask.size);
    peer_read(&with, got, sizeof got, NULL);
    peer_close(&with);
    snprintf(line, sizeof line, "\n%s", name);
    const char *found = strstr(got, line);
    while (found && found[strlen(line)] != ' ' && found[strlen(line)] != '{') found = strstr(found + 1, line);
    const char *value = found ? strchr(found + 1, ' ') : NULL;
    return value ? atof(value) : -1;
}

static void run(const char *program, bool is_tls)
{
    const size_t bad_count = sizeof malformed / sizeof *malformed, count = sizeof valid / sizeof *valid;
    server_process process = {.program = program, .folder = is_tls ? "tls_data" : "data"};
    if (is_tls) {
        tls_write_certificate("certificate.pem", "certificate.key", "localhost");
        const char *words[] = {"--certificate", "certificate.pem", "--certificate-key", "certificate.key"};
        memcpy(process.words, words, sizeof words);
    }
    server_process_start(&process);
    create_bandit(&process, is_tls);
    for (size_t i = 0; i < bad_count; i++) expect_refusal(&process, is_tls, &malformed[i]);
    expect_length_refusals(&process, is_tls);
    if (metric(&process, is_tls, "eenet_decisions_total") != 0)
        server_process_fail(&process, "a request hidden behind a malformed one was executed");
    for (size_t i = 0; i < count; i++) expect_answer(&process, is_tls, &valid[i]);
    if (metric(&process, is_tls, "eenet_decisions_total") <= 0) server_process_fail(&process, "no decisions");
    int status = server_process_end(&process, SIGTERM);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) server_process_fail(&process, "the server did not end well");
    printf("%s: %zu malformed requests refused, %zu unusual ones answered\n", is_tls ? "TLS" : "plain",
           bad_count + sizeof too_long / sizeof *too_long, count);
}

int main(int count, char **words)
{
    if (count != 2) {
        fprintf(stderr, "usage: malformed EENET\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    run(words[1], false);
    run(words[1], true);
    return 0;
}
