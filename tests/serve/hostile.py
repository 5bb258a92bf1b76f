"""hostile.py EENET: a client that does everything wrong, on purpose and at random. After each kind of attack a good request must
be answered, and in the end no connection and no request may be left over, and the server must end well."""
import contextlib
import random
import re
import socket
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import LIMIT, Server, check, same, scratch_folder, wait_for  # noqa: E402

HOST = b" HTTP/1.1\r\nHost: localhost\r\n"
GOOD = b"GET /livez" + HOST + b"\r\n"
POST = b"POST /v1/bandits/shop/decide" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


class Attacker:
    def __init__(self, server):
        self.server, self.chance = server, random.Random(1)

    def join(self, *sent):
        """A connection, on which as much is sent as the socket takes without waiting."""
        client = socket.create_connection(("127.0.0.1", self.server.port), timeout=LIMIT)
        for part in sent:
            self.push(client, part)
        return client

    @staticmethod
    def push(client, data):
        """False: the socket takes no more, or is gone."""
        with contextlib.suppress(OSError):
            while data:
                data = data[client.send(data, socket.MSG_DONTWAIT):]
            return True
        return False

    def leave(self, client):
        """With or without an error for the other side."""
        if self.chance.random() < 0.5:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()

    def status_of(self, client):
        """The status of the answer; 0: none came."""
        got = b""
        with contextlib.suppress(OSError):
            while b"\r\n" not in got:
                more = client.recv(4096)
                if not more:
                    break
                got += more
        found = re.match(rb"HTTP/1\.1 (\d+)", got)
        return int(found[1]) if found else 0

    def ask(self, request):
        with self.join(request) as client:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_WR)
            return self.status_of(client)

    # ---- the attacks ----

    def half_requests(self):
        request = POST + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n" + b'{"actions": [[1, 2]'
        for size in range(0, len(request), 3):
            self.leave(self.join(request[:size]))

    def huge_headers(self):
        line = b"GET /" + HOST
        for head in (b"GET /", b"GET / HTTP/1.1\r\nHost: ", line + b"X-A: ", line + b"Content-Length: ", b"", b"\r\n"):
            for filling in (b"x", b"a: b\r\n", b"\r\n", b" ", b"%", b"9"):
                self.leave(self.join(head, (filling * (1 << 20))[:1 << 20]))

    def chunk_bombs(self):
        for chunk in (b"FFFFFFFFFFFFFFFF\r\nx", b"FFFFFFFFFFFFFFFFF\r\nx", b"-1\r\nx", b"1\r\nxx\r\n",
                      b"1;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\nx\r\n", b"\r\n", b"1\r\nx\r\n", b"7fffffff\r\nx",
                      b"0\r\nTrailer: x\r\n", b"0x1\r\nx\r\n", b"1000\r\n"):
            self.leave(self.join(CHUNKED, *[chunk * 100] * 200))

    def floods(self):
        """Endless requests whose responses are not read."""
        clients = [self.join() for _ in range(8)]
        for _ in range(300):
            for client in clients:
                self.push(client, GOOD * 20)
        for client in clients:
            self.leave(client)

    def vanishing(self):
        for _ in range(300):
            self.leave(self.join(*[GOOD] * self.chance.randrange(5)))

    def random_bytes(self):
        heads = (b"", b"GET ", b"POST /", b"GET / HTTP/1.1\r\n", b"\x16\x03\x01\x02", b"PRI * HTTP/2.0\r\n\r\n")
        for _ in range(300):
            self.leave(self.join(self.chance.choice(heads), self.chance.randbytes(self.chance.randrange(4096))))

    def changed_bytes(self):
        """A good request in which some bytes are others."""
        request = CHUNKED + b'14\r\n{"actions":[[1,2]]}\n\r\n0\r\n\r\n'
        for _ in range(500):
            changed = bytearray(request)
            for _ in range(self.chance.randrange(5)):
                changed[self.chance.randrange(len(changed))] = self.chance.randrange(256)
            check(self.ask(changed) in (0, *range(200, 500), 501, 505), f"{changed}")

    def strange_paths(self):
        paths = (b"*", b"//", b"/../../etc/passwd", b"/%2e%2e/%2e%2e/etc/passwd", b"/v1/bandits/%00", b"/%", b"/%zz", b"/v1//",
                 b"/v1/bandits/../bandits", b"http://x", b"http://", b"?", b"/?x=%00", b"/\\..\\", b"/v1/bandits/%2F/decide",
                 b"/v1/bandits/%c0%ae/decide", b"x", b"/v1/bandits/a;b", b"/#", b"/v1/bandits/%ff%fe", b"https://x/v1/%2e/",
                 b"/v1/bandits/.", b"/\x01", b"/\xff", b"/v1/bandits/" + b"a" * 100)
        for method in (b"GET", b"POST", b"HEAD", b"DELETE", b"OPTIONS", b"CONNECT", b"TRACE", b"get", b"G E T", b"A" * 67):
            for path in paths:
                check(self.ask(method + b" " + path + HOST + b"\r\n") in (0, *range(200, 500), 505), f"{method} {path}")

    def a_thousand_at_once(self):
        """As many as one may have, each with a request, and all the answers."""
        clients = [self.join(GOOD) for _ in range(1000)]
        same({self.status_of(client) for client in clients}, {200}, "statuses of a thousand")
        for client in clients:
            self.leave(client)

    # ---- those that take their time ----

    def dawdlers(self):
        heads = (b"", b"GET /" + HOST + b"X-Long: ", POST + b"Content-Length: 90000\r\n\r\n")
        return [self.join(heads[index % 3]) for index in range(40)]

    def dawdle(self, clients):
        """A byte of each; whether all were cut."""
        for client in clients[:]:
            self.push(client, b"x")
            try:
                client.recv(1, socket.MSG_DONTWAIT)
            except BlockingIOError:
                continue
            except OSError:
                pass
            client.close()
            clients.remove(client)
        return not clients

    def attack(self):
        slow = self.dawdlers()
        for case in (self.half_requests, self.huge_headers, self.chunk_bombs, self.floods, self.vanishing,
                     self.random_bytes, self.changed_bytes, self.strange_paths, self.a_thousand_at_once):
            self.dawdle(slow)
            case()
            self.server.call("GET", "/livez")
            print(case.__name__, flush=True)
        wait_for(lambda: self.dawdle(slow), "slow clients are not cut", 0.05)
        wait_for(lambda: self.server.metric("eenet_connections") <= 1 and self.server.metric("eenet_open_requests") <= 1,
                 "connections or requests are left over")


if __name__ == "__main__":
    with scratch_folder() as scratch, Server(sys.argv[1], scratch / "data", "--idle-seconds", 1) as eenet:
        eenet.call("POST", "/v1/bandits", {"name": "shop", "dim": 2}, 201)
        Attacker(eenet).attack()
        eenet.stop()
