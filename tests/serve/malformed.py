"""malformed.py EENET: sends requests that are not valid HTTP/1.1 to the real server, plain and through TLS. Each is followed by a
valid request, as an attacker would hide one. There must be exactly one response, with the expected status and our JSON, and the
server must close the connection. Then requests that are unusual but valid must all be answered."""
import contextlib
import re
import socket
import ssl
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import LIMIT, Server, check, make_certificate, same, scratch_folder  # noqa: E402

START = b"POST /v1/bandits/shop/decide HTTP/1.1\r\nHost: localhost\r\n"
BODY = b'{"actions":[[1,2],[3,4]]}'
CHUNKED = START + b"Transfer-Encoding: chunked\r\n\r\n"
LINE = b"GET /livez HTTP/1.1\r\n"
HOST = b"\r\nHost: localhost\r\n\r\n"
LIVE = LINE + b"Host: localhost\r\n"
END, LAST = b"\r\n\r\n", b"0\r\n\r\n"
LONG = b"x" * 10000

# (status, what is before each part, what is behind it, parts); <BODY> in a part stands for BODY.
MALFORMED = [
    (400, START, END + BODY, [
        b'Content-Length : 25', b'Content-Length\t: 25', b'Content-Length  : 25',
        b'Transfer-Encoding : chunked\r\nContent-Length: 25', b' Content-Length: 25', b'\tContent-Length: 25',
        b'Content-Length', b'Content Length: 25', b'Content\x00-Length: 25', b'\x00Content-Length: 25',
        b'Content-Length\xa0: 25', b'Content-Length:\r\n 25', b'Content-Length: 25\r\nContent-Length: 25',
        b'Content-Length: 25\r\nContent-Length: 5', b'Content-Length: 25\r\ncontent-length: 0', b'Content-Length: 25, 25',
        b'Content-Length: 25,5', b'Content-Length: +25', b'Content-Length: -25', b'Content-Length: 0x19',
        b'Content-Length: 25.0', b'Content-Length: 2 5', b'Content-Length: 25;', b'Content-Length: "25"',
        b'Content-Length: 1e1', b'Content-Length: 25x', b'Content-Length:', b'Content-Length: \xd9\xa5',
        b'Content-Length: 25\x00', b'Transfer-Encoding: identity', b'Transfer-Encoding: gzip']),
    (400, START, END + LAST, [
        b'Transfer-Encoding : chunked', b'Transfer-Encoding:\r\n chunked',
        b'Content-Length: 25\r\nTransfer-Encoding: chunked', b'Transfer-Encoding: chunked\r\nContent-Length: 25',
        b'Transfer-Encoding: chunked\r\nContent-Length: 0', b'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
        b'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', b'Transfer-Encoding: chunked, chunked',
        b'Transfer-Encoding: gzip, chunked', b'Transfer-Encoding: chunked, identity', b'Transfer-Encoding: xchunked',
        b'Transfer-Encoding: chunked;q=1', b'Transfer-Encoding: "chunked"', b'Transfer-Encoding: ,chunked',
        b'Transfer-Encoding: \x0bchunked', b'Transfer-Encoding:', b'Transfer-Encoding: chunked\r\n']),
    (400, LIVE, END, [
        b': no name', b'X-A', b'X(A): b', b'X"A: b', b'X,A: b', b'X/A: b', b'X[A]: b', b'X@A: b', b'X\x7f: b',
        b'\xc3\xa4: b', b'X-A: b\x00c', b'X-A: \x00', b'X-A: b\x01', b'X-A: b\x08', b'X-A: b\x0b', b'X-A: b\x0c',
        b'X-A: b\x1b[2J', b'X-A: b\x7f', b'X-A: b\r\n c', b'X-A: b\r\n\tc', b'X-A:\r\n chunked',
        b'X-A: b\nContent-Length: 25', b'X-A: b\r', b'X-A: b\rX-C: d', b'Host: localhost', b'host: other']),
    (400, b"", b"", [
        b'GET /livez HTTP/1.1\nHost: localhost\n\n', b'GET /livez HTTP/1.1\nHost: localhost\r\n\r\n',
        b'GET /livez HTTP/1.1\r\nHost: localhost\n\r\n',
        b'POST /v1/bandits/shop/decide HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        b'POST /v1/bandits/shop/decide HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 25\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        b'GET /livez HTTP/1.1\r\n\r\n', b'GET /livez\r\n', b'GET /livez\r\n\r\n', b'GET\r\n\r\n',
        b'GET http:///livez HTTP/1.1\r\nHost:\r\n\r\n', b'GET http://localhost/livez HTTP/1.0\r\n\r\n',
        b'CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n',
        b'GET localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n', b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
        b'\x00\x00\x00\x00', b'SSH-2.0-OpenSSH_9.2\r\n', b'EHLO localhost\r\n', b'*1\r\n$4\r\nPING\r\n',
        b'{"actions":[[1,2]]}\r\n']),
    (400, LIVE, b"", [b'\n', b'X-A: b\n\r\n', b'\r\r\n', b'X-A: b\n\n']),
    (400, START, b"", [b'Content-Length: 25\r\n\n<BODY>']),
    (400, b"", HOST, [
        b'\nGET /livez HTTP/1.1', b'\rGET /livez HTTP/1.1', b'\r\n\r\nGET /livez HTTP/1.1',
        b'GET /livez HTTP/1.0\r\nHost: localhost', b'/livez HTTP/1.1', b' GET /livez HTTP/1.1', b'GET  /livez HTTP/1.1',
        b'GET /livez  HTTP/1.1', b'GET /livez HTTP/1.1 ', b'GET\t/livez HTTP/1.1', b'GET /livez\tHTTP/1.1',
        b'GET /li vez HTTP/1.1', b'GET /livez HTTP/1.1 x', b'G@T /livez HTTP/1.1', b'G\x00T /livez HTTP/1.1',
        b'GET: /livez HTTP/1.1', b'GET /livez\x00 HTTP/1.1', b'GET /liv\xc3\xa9z HTTP/1.1', b'GET /livez\x7f HTTP/1.1',
        b'GET /livez#x HTTP/1.1', b'GET livez HTTP/1.1', b'GET ?x HTTP/1.1', b'GET * HTTP/1.1',
        b'GET ftp://localhost/livez HTTP/1.1', b'GET http://other/livez HTTP/1.1',
        b'GET http://user@localhost/livez HTTP/1.1', b'GET /livez HTTP/11', b'GET /livez HTTP/1.10', b'GET /livez HTTP/01.1',
        b'GET /livez HTTP/1,1', b'GET /livez http/1.1', b'GET /livez HTTP/+1.1', b'GET /livez HTTP', b'GET /livez XTTP/1.1']),
    (413, START, END + BODY, [
        b'Content-Length: 18446744073709551641', b'Content-Length: 9223372036854775808',
        b'Content-Length: 99999999999999999999999999999999', b'Content-Length: 999999999999999999', b'Content-Length: 4294967296']),
    (400, CHUNKED, b"", [
        b'x\r\n', b'-1\r\n<BODY>', b'+19\r\n<BODY>',
        b'19\r\n<BODY>\r\n0\r\n\n', b'19\r\n<BODY>\r\n0\n\r\n',
        b'FFFFFFFFFFFFFFFFF\r\n<BODY>', b'19\r\n<BODY>\r\n0\r\nno trailer\r\n\r\n',
        b'19\r\n<BODY>\r\n0\r\n: x\r\n\r\n', b'19\r\n<BODY>\r\n0\r\nX : y\r\n\r\n',
        b'19\r\n<BODY>\r\n0\r\nX: y\n\r\n', b'19\r\n<BODY>\r\n0\r\nX: y\r\n z\r\n\r\n',
        b'19\r\n<BODY>\r\n0\r\nX: \x00\r\n\r\n']),
    (400, CHUNKED, LAST, [
        b'0x19\r\n<BODY>\r\n', b' 19\r\n<BODY>\r\n',
        b'19 \r\n<BODY>\r\n', b'19\n<BODY>\r\n', b'19\r<BODY>\r\n',
        b'19\r\n<BODY>\n', b'19\r\n<BODY>', b'18\r\n<BODY>\r\n',
        b'1a\r\n<BODY>\r\n', b'19;a\nb\r\n<BODY>\r\n',
        b'19;a\x00b\r\n<BODY>\r\n', b'10000000000000019\r\n<BODY>\r\n',
        b'1_9\r\n<BODY>\r\n', b'19,19\r\n<BODY>\r\n']),
    (413, CHUNKED, b"", [b'FFFFFFF\r\n<BODY>']),
    (400, LINE, END, [
        b'Host: local host', b'Host: localhost, other', b'Host: localhost/x', b'Host: user@localhost',
        b'Host: http://localhost', b'Host: localhost:80x', b'Host: localhost:80:80', b'Host: [::1', b'Host: [localhost]',
        b'Host: ::1', b'Host: l\xc3\xb6calhost', b'Host : localhost']),
    (505, b"", b"", [b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']),
    (505, b"", HOST, [b'GET /livez HTTP/2.0', b'GET /livez HTTP/1.2', b'GET /livez HTTP/0.9', b'GET /livez HTTP/3.0']),
    (417, START, END + BODY, [b'Expect: 200-ok\r\nContent-Length: 25', b'Expect:\r\nContent-Length: 25']),
    (431, LIVE, END, [b"A: b\r\n" * 99 + b"A: b"]),
    (431, LIVE, END, [b"X: " + LONG, LONG + b": x"]), (414, b"", b"", [b"GET /" + LONG + b" HTTP/1.1" + HOST, LONG + b" / HTTP/1.1" + HOST]),
    (414, b"GET /", b"", [LONG]),
]

# Each is answered with its status, and so is the request after it.
VALID = [
    (200, START, END + BODY, [
        b'Content-Length: 25', b'Content-Length: 00000000000000000000025', b'Content-Length:25', b'CONTENT-LENGTH: \t25\t ',
        b'Expect: 100-Continue\r\nContent-Length: 25']),
    (200, LIVE, b"", [b'\r\n']),
    (200, b"", HOST, [b'\r\nGET /livez HTTP/1.1', b'GET http://localhost/livez HTTP/1.1', b'GET /livez? HTTP/1.1']),
    (200, LINE, END, [
        b'host:localhost', b'HOST: \t localhost \t ', b'Host: LOCALHOST:8080', b'Host: localhost:', b'Host: [::1]:8080',
        b'Host: 127.0.0.1']),
    (200, b"", b"", [
        b'GET HTTPS://LocalHost:80/livez HTTP/1.1\r\nHost: localhost:80\r\n\r\n',
        b'GET http://localhost?x HTTP/1.1\r\nHost: localhost\r\nAccept: x\r\n\r\n',
        b'GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
        b'GET /livez HTTP/1.0\r\nHost: localhost\r\nConnection: Keep-Alive\r\n\r\n']),
    (200, LIVE, END, [
        b'X-Empty:\r\nX-Blank: \t ', b'X-Text: \xc3\xa4\xff\tb "c" (d) \\e', b"!#$%&'*+-.^_`|~09azAZ: odd name",
        b'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk', b'Connection: keep-alive',
        b'Content-Length: 0', b'TE: trailers, deflate',
        b"A: b\r\n" * 89 + b"A: b"]),
    (200, START, b"", [b'Transfer-Encoding: Chunked\r\n\r\n19\r\n<BODY>\r\n0\r\n\r\n']),
    (200, CHUNKED, LAST, [
        b'19\r\n<BODY>\r\n', b'00019\r\n<BODY>\r\n00',
        b'C\r\n{"actions":[\r\nd\r\n[1,2],[3,4]]}\r\n']),
    (200, CHUNKED, b"", [
        b'19;a=b;c="d e"\r\n<BODY>\r\n0;last\r\n\r\n',
        b'19\r\n<BODY>\r\n0\r\nX-Sum: 1\r\nContent-Length: 999\r\n\r\n']),
    (404, b"", HOST, [b'BREW /pot HTTP/1.1', b'GET /a|b{c}%7e HTTP/1.1']),
    (405, b"", HOST, [b'get /livez HTTP/1.1']),
    (400, b"", HOST, [b'OPTIONS * HTTP/1.1']),
    (404, b"", b"", [b'POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 52\r\n\r\nGET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nGET /livez H']),
]


def cases(table):
    return [(status, (before + part + after).replace(b"<BODY>", BODY)) for status, before, after, parts in table for part in parts]


@contextlib.contextmanager
def connection(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT) as plain:
        if not server.tls:
            yield plain
            return
        with ssl._create_unverified_context().wrap_socket(plain) as secure:  # pylint: disable=protected-access
            yield secure


def answer(with_, request, last=None):
    """What comes until the server closes, or until the text `last` has come."""
    with contextlib.suppress(OSError):  # it may close before the end: it has seen enough
        with_.sendall(request)
    got = b""
    with contextlib.suppress(ConnectionError):
        while not last or last not in got:
            more = with_.recv(65536)
            check(more or not last, lambda: f"{request[:300]!r}: the next request is not answered: {got!r}")
            if not more:
                break
            got += more
    return got.decode("latin-1")


def try_all(server):
    server.call("POST", "/v1/bandits", {"name": "shop", "dim": 2}, 201)
    decided = "eenet_decisions_total"
    for status, request in cases(MALFORMED):
        with connection(server) as with_:
            got = answer(with_, request + START + b"Content-Length: 25\r\n\r\n" + BODY)
        same(re.findall(r"^HTTP/1.1 (?!100)(\d+)", got, re.MULTILINE), [str(status)], f"statuses of {request[:300]!r}")
        for part in ("\r\nConnection: close\r\n", "\r\nContent-Type: application/json\r\n", "\r\nX-Request-Id: ",
                     '\r\n\r\n{"error":{"code":"', '"}}\n'):
            check(part in got, f"{request[:300]!r}: no {part!r} in {got}")
    same(server.metric(decided), 0, "requests hidden behind malformed ones that were executed")
    for status, request in cases(VALID):
        with connection(server) as with_:
            got = answer(with_, request + b"GET /v1/bandits/last" + b" HTTP/1.1" + HOST, b"there is no bandit 'last'")
        same(re.findall(r"^HTTP/1.1 (?!100)(\d+)", got, re.MULTILINE), [str(status), "404"], f"statuses of {request[:300]!r}")
    check(server.metric(decided) > 0, "no decisions")
    server.stop()


def main():
    with scratch_folder() as folder:
        try_all(Server(sys.argv[1], folder / "plain").start())
        try_all(Server(sys.argv[1], folder / "tls", *make_certificate(folder)).start())
        print(f"{len(cases(MALFORMED))} malformed requests refused, {len(cases(VALID))} unusual ones answered, plain and through TLS")


if __name__ == "__main__":
    main()
