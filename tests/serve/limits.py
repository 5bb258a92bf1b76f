"""limits.py EENET [CONNECTIONS]: a server with few file descriptors, with a full disk, and with idle connections. It refuses what
it cannot do with 503 and Retry-After; open connections, reads, health checks and a clean stop still work. When there is space
again, it recovers without a restart, and the log has exactly what was acknowledged. With CONNECTIONS the program only measures
decisions while that many connections are idle."""
import ctypes
import itertools
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import Response, Server, check, run, same, scratch_folder, wait_for  # noqa: E402

FILES, OTHERS, TOO_MANY, IDLE = 200, 160, 20, 300
CONNECTIONS = FILES - OTHERS
VECTORS = {"actions": [[1, 2], [3, 4]]}


class Kept:
    """A connection that stays open."""

    def __init__(self, server):
        self.connection = server.send("GET", "/livez")
        self.response = Response(self.connection.getresponse())

    def call(self, path, body=None):
        self.connection.request("POST" if body else "GET", path, body and json.dumps(body))
        response = Response(self.connection.getresponse())
        same(response.status, 200, f"status of {path}: {response}")
        return response

    def close(self):
        self.connection.close()


# ---- descriptors ----

def expect_busy(server, message):
    """A new client is told to come back, and the connection is closed."""
    client = Kept(server)
    got = client.response
    check(got.status == 503 and message in got.message and got.headers["Retry-After"] == "1", f"expected '{message}', got {got}")
    same(got.headers["Connection"], "close", "Connection")
    client.close()


def use_store(client):
    made = client.call("/v1/bandits/shop/decide", VECTORS).json
    client.call("/v1/bandits/shop/reward", {"id": made["id"], "value": 1})
    client.call("/v1/bandits/shop/model")
    client.call("/v1/bandits/shop/log")


def wait_for_connections(client, count):
    wait_for(lambda: f"\neenet_connections {count}\n".encode() in client.call("/metrics").bytes, f"not {count} connections")


def descriptors_run_out(program, folder):
    few = Server(program, folder / "none")
    few.prefix = ["prlimit", "--nofile=100:100"]
    few.launch()
    check(few.process.wait() and "the limit of open files is 100, but the server needs at least" in few.said(), few.said())
    server = Server(program, folder / "few")
    server.prefix = ["prlimit", f"--nofile={FILES}:{FILES}"]
    server.start()
    server.call("POST", "/v1/bandits", {"name": "shop", "dim": 2}, 201)
    first = Kept(server)
    wait_for_connections(first, 1)
    clients = [Kept(server) for _ in range(CONNECTIONS - 1)]
    for _ in range(TOO_MANY):
        expect_busy(server, "too many connections")
    use_store(first)
    for client in clients:
        client.call("/livez")
    clients.pop().close()
    wait_for_connections(first, CONNECTIONS - 1)
    # No descriptor is left at all: only the one in reserve can tell a client.
    for client in clients[4:]:
        client.close()
    wait_for_connections(first, 5)
    pid = server.process.pid
    used = {int(number) for number in os.listdir(f"/proc/{pid}/fd")}
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (next(number for number in itertools.count() if number not in used), before[1]))
    for _ in range(TOO_MANY):
        expect_busy(server, "out of file descriptors")
    for client in clients[:4]:
        client.call("/livez")
    first.call("/v1/bandits/shop/decide", VECTORS)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    same(Kept(server).response.status, 200, "status when descriptors are free again")
    use_store(first)
    server.stop()
    run(program, "replay", server.folder)


# ---- the disk ----

def disk_is_full(program, server, make_room):
    server.start()
    server.prefix = []
    server.call("POST", "/v1/bandits", {"name": "shop", "features": "names=1000", "options": "f1.width=16,units=16",
                                        "wait": 86400, "default_reward": 0}, 201)
    answers, numbers = {}, itertools.count()
    client = server.send("GET", "/livez")
    Response(client.getresponse())

    def decide(number):
        body = {"id": f"d{number}", "context": {"user": {"number": number % 100}},
                "actions": [{"id": side, "features": {"side": side}} for side in ("left", "right")]}
        client.request("POST", "/v1/bandits/shop/decide", json.dumps(body))
        got = Response(client.getresponse())
        if got.status == 200:
            answers[number] = got.bytes
        else:
            check(got.status == 503 and int(got.headers["Retry-After"]) > 0 and got.json["error"]["code"] == "Unavailable", str(got))
        return got.status

    refused = 0
    while refused < 30:  # before, the store may still find room when it tidies up
        refused = 0 if decide(next(numbers)) == 200 else refused + 1
        check(len(answers) < 100000, "the disk was never full")
    # Something small may still find a place, after which the server is ready for a moment.
    wait_for(lambda: decide(next(numbers)) == 503 and server.ask("GET", "/readyz").status == 503, "it is ready", 0)
    check(server.ask("POST", "/v1/bandits/shop/reward", {"id": "d0", "value": 1}).status in (200, 503), "reward")
    for path in ("/livez", "/metrics", "/v1/bandits", "/v1/bandits/shop", "/v1/bandits/shop/log"):
        server.call("GET", path)
    make_room(server)
    last = next(numbers)
    wait_for(lambda: decide(last) == 200, "it does not decide when there is room again")
    server.call("GET", "/readyz")
    server.call("POST", "/v1/bandits/shop/reward", {"id": "d0", "value": 1})
    server.restart()
    for number, answer in list(answers.items())[::20] + list(answers.items())[-50:]:
        body = {"id": f"d{number}", "context": {"user": {"number": number % 100}},
                "actions": [{"id": side, "features": {"side": side}} for side in ("left", "right")]}
        same(server.expect("POST", "/v1/bandits/shop/decide", body).bytes, answer, f"the answer to d{number}")
    same(server.call("GET", "/v1/bandits/shop")["decisions"], len(answers), "decisions in the log")
    server.stop()
    run(program, "replay", server.folder)


def lift_limit(server):
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)


def files_are_limited(program, folder):
    server = Server(program, folder / "limited")
    server.prefix = ["prlimit", f"--fsize={2 << 20}:"]
    disk_is_full(program, server, lift_limit)


def file_system_is_small(program, folder):
    """Seen by this program and its children alone, and gone with them."""
    small = folder / "small"
    small.mkdir()
    if os.geteuid() or ctypes.CDLL(None).unshare(0x20000):
        print("no right to mount")
        return
    for words in (["--make-rprivate", "/"], ["-t", "tmpfs", "-o", "size=16m", "tmpfs", small]):
        subprocess.run(["mount", *words], check=True)
    server = Server(program, small / "data")
    server.log = folder / "small.log"
    disk_is_full(program, server, lambda _: subprocess.run(["mount", "-o", "remount,size=256m", small], check=True))
    subprocess.run(["umount", small], check=True)


# ---- connections ----

def decide_often(server, idle):
    """While others are idle; prints how long it takes."""
    client, seconds = Kept(server), []
    for _ in range(1000):
        begin = time.perf_counter()
        client.call("/v1/bandits/shop/decide", VECTORS)
        seconds.append(time.perf_counter() - begin)
    client.close()
    seconds.sort()
    median, late = seconds[len(seconds) // 2], seconds[len(seconds) * 99 // 100]
    print(f"{idle} idle connections: {len(seconds)} decisions, one at a time, p50 {1000 * median:.3f} ms, p99 {1000 * late:.3f} ms, "
          f"the server has {server.metric('process_resident_memory_bytes') / 1e6:.0f} MB")


def idle_connections_stay(program, folder, count=IDLE):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    count = min(count, limit - 100)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100, limit))
    server = Server(program, folder / "idle", "--connections", 20000, "--connections-each", 20000, "--idle-seconds", 600).start()
    server.call("POST", "/v1/bandits", {"name": "shop", "dim": 2}, 201)
    decide_often(server, 0)
    clients = [Kept(server) for _ in range(count)]
    decide_often(server, count)
    for client in clients:
        kept = client.connection.sock
        client.call("/livez")
        check(client.connection.sock is kept, "a connection was lost")
    server.stop()


if __name__ == "__main__":
    with scratch_folder() as scratch:
        if len(sys.argv) > 2:
            idle_connections_stay(sys.argv[1], scratch, int(sys.argv[2]))
        else:
            for case in (descriptors_run_out, files_are_limited, idle_connections_stay, file_system_is_small):
                case(sys.argv[1], scratch)
                print(case.__name__, flush=True)
