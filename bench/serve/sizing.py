#!/usr/bin/env python3
"""sizing.py EENET: memory, checkpoint and loading time of bandits.

For each setup: gives a bandit decisions and rewards until it has so many feature names, waits until it was unloaded, and
measures a decision that has to load it again (median of five). The store is in a temporary folder under $TMPDIR, which is removed
at the end.
"""

import http.client
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ACTIONS = 10
# name, settings, users (0: vectors of 20 numbers), decisions
SETUPS = [
    ("linucb, 20 numbers", {"policy": "linucb", "dim": 20}, 0, 2000),
    ("default, 20 numbers", {"dim": 20}, 0, 2000),
    ("default, 1,000 names", {}, 1000, 2000),
    ("default, 8,000 names", {}, 8000, 8000),
    ("linucb, 1,000 names", {"policy": "linucb"}, 1000, 1000),
    ("linucb, 2,000 names", {"policy": "linucb"}, 2000, 2000),
]


def ask(connection, method, path, body=None):
    connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    data = answer.read()
    if answer.status >= 300:
        raise RuntimeError(f"{method} {path}: {answer.status} {data[:300]!r}")
    return json.loads(data)


def decision(draw, users, number):
    if not users:
        return {"actions": [[round(draw.random(), 3) for _ in range(20)] for _ in range(ACTIONS)]}
    user = number % users  # all of them, then again
    return {
        "context": {"user": {"id": f"u{user}", "plan": draw.choice(["free", "paid", "team"])}},
        "actions": [{"id": f"a{i}", "features": {"kind": f"k{i % 3}", "price": i}} for i in range(ACTIONS)],
    }


def train(connection, path, users, count):
    draw, batch = random.Random(3), 50
    for first in range(0, count, batch):
        asked = {"decisions": [decision(draw, users, first + i) for i in range(batch)]}
        made = ask(connection, "POST", path + "/decide/batch", asked)["decisions"]
        ask(connection, "POST", path + "/reward/batch",
            {"rewards": [{"id": each["id"], "value": draw.randrange(2)} for each in made]})
    memory = 0
    while True:
        told = ask(connection, "GET", path)
        memory = max(memory, told["memory"])
        if not told["behind"]:
            return memory
        time.sleep(0.1)


def measure(connection, folder, number, name, settings, users, count):
    path = f"/v1/bandits/b{number}"
    ask(connection, "POST", "/v1/bandits", {"name": f"b{number}", "wait": 3600, "default_reward": None, **settings})
    memory = train(connection, path, users, count)
    seconds, draw = [], random.Random(4)
    for _ in range(5):
        while ask(connection, "GET", path)["awake"]:
            time.sleep(0.1)
        begin = time.monotonic()
        ask(connection, "POST", path + "/decide", decision(draw, users, 1))
        seconds.append(time.monotonic() - begin)
    models = os.path.join(folder, "models", str(number))
    saved = max(os.path.getsize(os.path.join(models, each)) for each in os.listdir(models))
    print(f"{name:24} {memory / 1e6:8.1f} MB {saved / 1e6:8.1f} MB {1e3 * statistics.median(seconds):8.0f} ms", flush=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = tempfile.mkdtemp()
    folder, log = os.path.join(root, "data"), open(os.path.join(root, "log"), "w", encoding="utf-8")
    server = subprocess.Popen([sys.argv[1], "serve", "--port", "0", "--folder", folder, "--sleep-seconds", "1"],
                              stdout=log, stderr=log)
    try:
        found = None
        while not found and server.poll() is None:
            found = re.search(r"listening on http://[^ ]*:(\d+)", open(log.name, encoding="utf-8").read())
            time.sleep(0.05)
        connection = http.client.HTTPConnection("127.0.0.1", int(found.group(1)), timeout=600)
        print(f"{'':24} {'memory':>11} {'checkpoint':>11} {'loading':>11}")
        for number, setup in enumerate(SETUPS, 1):
            measure(connection, folder, number, *setup)
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
