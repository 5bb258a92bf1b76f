#!/usr/bin/env python3
"""fairness.py EENET [SECONDS [RATE [TOLERANCE]]]: does an expensive bandit delay a cheap one?

Bandit f is linucb with named features and a user id out of 100,000: it cannot be trained as fast as its rewards arrive. Bandit
v is linucb with ten numbers. Both get RATE decisions per second (default: 400), each with its reward, for SECONDS (default:
600). A reader downloads the model of f all the time, and an administrator changes a setting of v every second. At the end the
server gets SIGTERM under this load.

Prints what was measured, and exits with 1 if a limit is exceeded: v at most 2 s behind, a write-ahead log below 64 MB, changes
of v within 1 s, and SIGTERM within 5 s. TOLERANCE (default: 1) multiplies the limits of time, for slow machines. The store is
in a temporary folder under $TMPDIR, which is removed at the end.
"""

import http.client
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

LIMITS = {"lag": 2.0, "wal": 64.0, "change": 1.0, "stop": 5.0}
BATCH = 25
USERS = 100000


def ask(connection, method, path, body=None):
    connection.request(method, path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    data = answer.read()
    if answer.status >= 300:
        raise RuntimeError(f"{method} {path}: {answer.status} {data[:300]!r}")
    return data


def connect(port):
    return http.client.HTTPConnection("127.0.0.1", port, timeout=600)


def named_decision(draw):
    user = draw.randrange(USERS)
    return {
        "context": {"user": {"id": f"u{user}", "age": user % 60, "plan": draw.choice(["free", "paid", "team"])}},
        "actions": [{"id": f"a{i}", "features": {"kind": f"k{i % 3}", "price": i}} for i in range(5)],
    }


def plain_decision(draw):
    return {"actions": [[round(draw.random(), 3) for _ in range(10)] for _ in range(5)]}


def load(port, bandit, rate, seed):
    """Decides and rewards in batches, RATE decisions per second, until the process ends."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    draw = random.Random(seed)
    make = named_decision if bandit == "f" else plain_decision
    bodies = [json.dumps({"decisions": [make(draw) for _ in range(BATCH)]}) for _ in range(USERS // BATCH // 4)]
    connection = connect(port)
    begin, sent = time.monotonic(), 0
    try:
        while True:
            wait = begin + sent / rate - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            sent += BATCH
            answer = json.loads(ask(connection, "POST", f"/v1/bandits/{bandit}/decide/batch", draw.choice(bodies)))
            rewards = [{"id": made["id"], "value": draw.randrange(2)} for made in answer["decisions"]]
            ask(connection, "POST", f"/v1/bandits/{bandit}/reward/batch", json.dumps({"rewards": rewards}))
    except (OSError, http.client.HTTPException, RuntimeError):
        pass  # the server is stopping


class Watch:
    """What an observer outside the server sees of v."""

    def __init__(self):
        self.seen = []  # (time, events of the log), as they were first seen
        self.behind = self.lag = self.age = self.wal = 0.0
        self.reported = None

    def look(self, connection, folder):
        told = json.loads(ask(connection, "GET", "/v1/bandits/v"))
        now = time.monotonic()
        taken = told["events"] - told["behind"]
        if not self.seen or told["events"] > self.seen[-1][1]:
            self.seen.append((now, told["events"]))
        while self.seen and self.seen[0][1] <= taken:
            self.seen.pop(0)
        lag = now - self.seen[0][0] if self.seen else 0.0
        self.behind = max(self.behind, told["behind"])
        self.lag = max(self.lag, lag)
        self.age = max(self.age, told["age"])
        if "lag_seconds" in told:
            self.reported = max(self.reported or 0.0, told["lag_seconds"])
        wal = os.path.join(folder, "eenet.db-wal")
        self.wal = max(self.wal, os.path.getsize(wal) / 1e6 if os.path.exists(wal) else 0.0)


class Repeated(threading.Thread):
    """Sends one request again and again, and keeps how long each took."""

    def __init__(self, port, pause, request):
        super().__init__(daemon=True)
        self.port, self.pause, self.request = port, pause, request
        self.seconds = []
        self.begun = None  # the request that has not been answered yet
        self.ends = threading.Event()

    def run(self):
        connection = connect(self.port)
        while not self.ends.wait(self.pause):
            self.begun = time.monotonic()
            try:
                ask(connection, *self.request(len(self.seconds)))
            except (OSError, http.client.HTTPException, RuntimeError):
                return  # the server is stopping
            self.seconds.append(time.monotonic() - self.begun)
            self.begun = None

    def longest(self):
        begun = self.begun
        return max(self.seconds + [time.monotonic() - begun if begun else 0.0])


def start_server(eenet, folder, log):
    server = subprocess.Popen([eenet, "serve", "--port", "0", "--folder", folder], stdout=log, stderr=log)
    for _ in range(600):
        text = open(log.name, encoding="utf-8").read()
        found = re.search(r"listening on http://[^ ]*:(\d+)", text)
        if found:
            return server, int(found.group(1))
        if server.poll() is not None:
            break
        time.sleep(0.05)
    sys.exit("the server did not start:\n" + text)


def measure(port, folder, seconds, rate):
    watch, connection = Watch(), connect(port)
    common = {"wait": 3600, "default_reward": None}
    ask(connection, "POST", "/v1/bandits", json.dumps({"name": "f", "policy": "linucb", **common}))
    ask(connection, "POST", "/v1/bandits", json.dumps({"name": "v", "policy": "linucb", "dim": 10, **common}))
    loads = [multiprocessing.Process(target=load, args=(port, name, rate, 7), daemon=True) for name in "fv"]
    changes = Repeated(port, 1.0, lambda i: ("PATCH", "/v1/bandits/v", json.dumps({"wait": 3600 + i % 2})))
    downloads = Repeated(port, 0.2, lambda i: ("GET", "/v1/bandits/f/model"))
    for each in [*loads, changes, downloads]:
        each.start()
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        watch.look(connection, folder)
        time.sleep(0.1)
    if not all(each.is_alive() for each in loads):
        raise RuntimeError("a load ended before its time")
    f, v = (json.loads(ask(connection, "GET", f"/v1/bandits/{name}")) for name in "fv")
    changes.ends.set()
    downloads.ends.set()
    return watch, loads, changes, downloads, f, v


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    eenet = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 600.0
    rate = float(sys.argv[3]) if len(sys.argv) > 3 else 400.0
    tolerance = float(sys.argv[4]) if len(sys.argv) > 4 else 1.0
    root = tempfile.mkdtemp()
    folder = os.path.join(root, "data")
    log = open(os.path.join(root, "server.log"), "w", encoding="utf-8")
    server, port = start_server(eenet, folder, log)
    loads = []
    try:
        watch, loads, changes, downloads, f, v = measure(port, folder, seconds, rate)
        begin = time.monotonic()
        server.send_signal(signal.SIGTERM)
        code = server.wait(600)
        stop = time.monotonic() - begin
    finally:
        for each in loads:
            each.kill()
        if server.poll() is None:
            server.kill()
        shutil.rmtree(root)
    print(f"{os.cpu_count()} processors, {seconds:g} s, {rate:g} decisions and rewards per second for each bandit")
    for name, of in (("f", f), ("v", v)):
        print(
            f"{name}: {of['events']} events, {of['behind']} behind, stride {of['stride']}, "
            f"{of['train_seconds']:.2f} s of training, {of['memory'] / 1e6:.1f} MB"
        )
    print(f"downloads of f's model: {len(downloads.seconds)}, longest {downloads.longest():.2f} s")
    results = [
        ("lag", "v behind the log, at most", watch.lag, "s"),
        ("wal", "write-ahead log, at most", watch.wal, "MB"),
        ("change", f"changes of v ({len(changes.seconds)}), longest", changes.longest(), "s"),
        ("stop", "SIGTERM to the end", stop, "s"),
    ]
    failed = code != 0
    for key, what, value, unit in results:
        limit = LIMITS[key] * (tolerance if unit == "s" else 1)
        over = value > limit
        failed = failed or over
        print(f"{what:36} {value:9.2f} {unit:3} (limit {limit:g} {unit}){'  EXCEEDED' if over else ''}")
    print(f"{'v behind the log, at most':36} {watch.behind:9.0f} events")
    print(f"{'age of v, at most':36} {watch.age:9.2f} s")
    if watch.reported is not None:
        print(f"{'lag_seconds of v, at most':36} {watch.reported:9.2f} s")
    if code != 0:
        print(f"the server's exit status is {code}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
